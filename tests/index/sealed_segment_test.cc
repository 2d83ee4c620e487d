// Sealed segments: what they hold, how they are searched, and the files that they lie in.
#include "index/sealed_segment.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/bytes.h"
#include "common/vector_math.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "index/segment_builder.h"
#include "tests/common/test_seed.h"
#include "tests/index/segment_rows.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPage = 4096;

SegmentBuildOptions GraphFrom(size_t graph_rows, std::string path = "") {
  SegmentBuildOptions options;
  options.path = std::move(path);
  options.graph_rows = graph_rows;
  options.graph.degree = 16;
  options.graph.width = 60;
  return options;
}

absl::StatusOr<std::shared_ptr<SealedSegment>> OpenSegment(const std::string& path, Metric metric,
                                                           const VectorCodec& codec) {
  absl::StatusOr<SegmentReader> reader = SegmentReader::Open(path);
  if (!reader.ok()) return reader.status();
  return SealedSegment::Open(*std::move(reader), metric, codec);
}

std::string BytesOfFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class SealedSegmentTest : public testing::TestWithParam<std::tuple<Metric, Precision>> {
 protected:
  static constexpr size_t kDimensions = 7;  // an odd one: codes end within a byte or a word

  SealedSegmentTest() { rows_.Fill(3, 120); }

  Metric metric() const { return rows_.metric(); }
  const VectorCodec& codec() const { return rows_.codec(); }
  std::shared_ptr<SealedSegment> Built(const SegmentBuildOptions& options) {
    auto built = rows_.Build(options);
    EXPECT_THAT(built, IsOk());
    return *std::move(built);
  }

  // Checks that the segment holds the live rows and nothing else.
  void CheckHolds(const SealedSegment& segment) {
    ASSERT_EQ(segment.slots(), rows_.live().size());
    ASSERT_THAT(segment.CheckCodes(), IsOk());
    std::set<uint64_t> seen;
    for (uint32_t slot = 0; slot < segment.slots(); ++slot) {
      const IndexedRow row = segment.Row(slot);
      ASSERT_TRUE(seen.insert(row.row_id).second);
      const auto expected = rows_.live().find(row.row_id);
      ASSERT_NE(expected, rows_.live().end()) << row.row_id;
      ASSERT_EQ(row.word, expected->second.word);
      ASSERT_EQ(std::string_view(row.codes, codec().row_bytes()), expected->second.codes);
      ASSERT_NO_FATAL_FAILURE(CheckColumns(segment, slot));
      ASSERT_TRUE(segment.IsLive(slot, kLatestVersion));
      ASSERT_EQ(segment.FindWord(row.word, segment.slots(), 1), slot);
      ASSERT_EQ(segment.FindRowId(row.row_id, segment.slots(), 1), slot);
    }
    ASSERT_EQ(segment.FindWord("unknown", segment.slots(), 1), kNoSlot);
    ASSERT_EQ(segment.FindWord("", segment.slots(), 1), kNoSlot);
    for (const uint64_t row_id : rows_.erased()) {
      ASSERT_EQ(segment.FindRowId(row_id, segment.slots(), 1), kNoSlot);
    }
  }

  // What was computed when the row came in is kept bit by bit.
  void CheckColumns(const SealedSegment& segment, uint32_t slot) {
    const RowColumns is = segment.Columns(slot);
    const auto [grown, grown_slot] = rows_.Find(*is.row_ids);
    ASSERT_NE(grown, nullptr);
    const RowColumns was = grown->Columns(grown_slot);
    ASSERT_EQ(*is.squared_norms, *was.squared_norms);
    const SearchCoder& coder = segment.coder();
    ASSERT_EQ(std::memcmp(is.coarse.row(0), was.coarse.row(0), coder.coarse_stride()), 0);
    ASSERT_EQ(std::memcmp(is.fine.row(0), was.fine.row(0), coder.fine_stride()), 0);
    ASSERT_EQ(is.norm(0), was.norm(0));
    ASSERT_LE(metric() == Metric::kCosine ? 0 : is.norm(0), segment.MaxNorm());
  }

  const TempDir folder_;
  const std::string path_ = folder_.path() + "/1.segment";
  SegmentRows rows_{std::get<0>(GetParam()), {std::get<1>(GetParam()), kDimensions}, TestSeed()};
};

TEST_P(SealedSegmentTest, HoldsTheLiveRowsAndNothingElse) {
  for (const size_t graph_rows : {200, 100'000}) {
    const auto segment = Built(GraphFrom(graph_rows));
    EXPECT_EQ(segment->has_graph(), graph_rows == 200);
    ASSERT_NO_FATAL_FAILURE(CheckHolds(*segment));
    EXPECT_EQ(segment->Memory(segment->slots()).mapped, 0U);
  }
}

TEST_P(SealedSegmentTest, IsTheSameAfterItsFileIsOpenedAgain) {
  std::vector<RecallPoint> points;
  {
    const auto segment = Built(GraphFrom(200, path_));
    ASSERT_NO_FATAL_FAILURE(CheckHolds(*segment));
    points = segment->curve().points();
    EXPECT_EQ(segment->file_bytes(), fs::file_size(path_));
    EXPECT_GT(segment->Memory(segment->slots()).mapped, 0U);
  }
  const auto opened = OpenSegment(path_, metric(), codec());
  ASSERT_THAT(opened, IsOk());
  ASSERT_NO_FATAL_FAILURE(CheckHolds(**opened));
  ASSERT_TRUE((*opened)->has_graph());
  ASSERT_EQ((*opened)->curve().points().size(), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ((*opened)->curve().points()[i].width, points[i].width);
    EXPECT_EQ((*opened)->curve().points()[i].at_10, points[i].at_10);
    EXPECT_EQ((*opened)->curve().points()[i].at_100, points[i].at_100);
  }
}

TEST_P(SealedSegmentTest, TheSameRowsGiveTheSameFile) {
  Built(GraphFrom(200, path_));
  Built(GraphFrom(200, path_ + "2"));
  EXPECT_TRUE(BytesOfFile(path_) == BytesOfFile(path_ + "2"));
}

TEST_P(SealedSegmentTest, ADeathIsSeenFromItsVersionOn) {
  const auto segment = Built(GraphFrom(200));
  const IndexedRow row = segment->Row(5);
  segment->MarkDead(5, 9);
  EXPECT_EQ(segment->dead_slots(), 1U);
  EXPECT_EQ(segment->FindWord(row.word, segment->slots(), 8), 5U);
  EXPECT_EQ(segment->FindRowId(row.row_id, segment->slots(), 8), 5U);
  EXPECT_EQ(segment->FindWord(row.word, segment->slots(), 9), kNoSlot);
  EXPECT_EQ(segment->FindRowId(row.row_id, segment->slots(), 9), kNoSlot);
  EXPECT_EQ(segment->FindLiveRowId(row.row_id), kNoSlot);
  EXPECT_TRUE(segment->IsLive(5, 8));
  EXPECT_FALSE(segment->IsLive(5, 9));
  EXPECT_TRUE(segment->IsLive(4, 9));
}

TEST_P(SealedSegmentTest, SlotsBelowHoldEveryRowBelow) {
  const auto segment = Built(GraphFrom(200));
  ASSERT_GT(segment->sorted_slots(), segment->slots() / 2);
  const uint64_t last = rows_.live().rbegin()->first;
  for (const uint64_t end :
       {uint64_t{0}, uint64_t{1}, uint64_t{50}, last, last + 1, ~uint64_t{0}}) {
    std::set<uint64_t> below;
    size_t beyond = 0;
    for (const SlotRun& run : segment->SlotsBelow(end)) {
      ASSERT_LT(run.begin, run.end);
      ASSERT_LE(run.end, segment->slots());
      for (size_t slot = run.begin; slot < run.end; ++slot) {
        const uint64_t row_id = *segment->Columns(slot).row_ids;
        ASSERT_TRUE(row_id >= end || below.insert(row_id).second);
        beyond += row_id >= end ? 1 : 0;
      }
    }
    const auto expected = std::distance(rows_.live().begin(), rows_.live().lower_bound(end));
    EXPECT_EQ(below.size(), static_cast<size_t>(expected));
    EXPECT_LE(beyond, segment->slots() - segment->sorted_slots());
  }
}

TEST_P(SealedSegmentTest, TheCurveIsOfAscendingWidths) {
  const auto segment = Built(GraphFrom(200));
  const std::vector<RecallPoint>& points = segment->curve().points();
  ASSERT_FALSE(points.empty());
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_GE(points[i].at_10, 0.0F);
    EXPECT_LE(points[i].at_10, 1.0F);
    EXPECT_GE(points[i].at_100, 0.0F);
    EXPECT_LE(points[i].at_100, 1.0F);
    if (i > 0) {
      EXPECT_GT(points[i].width, points[i - 1].width);
    }
  }
  EXPECT_GE(points.back().at_10, 0.9F);
}

TEST_P(SealedSegmentTest, AWalkReturnsAllowedRowsWithTheirScores) {
  const auto segment = Built(GraphFrom(200));
  for (uint32_t slot = 0; slot < segment->slots(); slot += 3) segment->MarkDead(slot, 5 + slot % 2);
  constexpr uint64_t kVersion = 5;
  const uint64_t first_n = 250;
  for (int round = 0; round < 10; ++round) {
    const Vector vector = rows_.NextVector();
    IndexQuery query;
    query.vector = vector;
    for (uint64_t row_id = 1; row_id < 60; row_id += 7) query.excluded_row_ids.push_back(row_id);
    IndexSearchOptions options;
    options.k = 20;
    options.first_n = first_n;
    const RowFilter filter(query, options, kVersion);
    TopHits top(options.k);
    EXPECT_TRUE(segment->Walk(query, CodedQuery(metric(), vector), filter, 60, options.k, top));
    const std::vector<IndexHit> hits = top.Take();
    ASSERT_EQ(hits.size(), options.k);
    std::set<uint64_t> seen;
    for (const IndexHit& hit : hits) {
      ASSERT_TRUE(seen.insert(hit.row.row_id).second);
      ASSERT_LT(hit.row.row_id, first_n);
      ASSERT_FALSE(hit.row.row_id < 60 && hit.row.row_id % 7 == 1);
      ASSERT_NE(segment->FindRowId(hit.row.row_id, segment->slots(), kVersion), kNoSlot);
      const Vector row = VectorOf(codec(), rows_.live().at(hit.row.row_id).codes.data());
      ASSERT_EQ(hit.row.word, rows_.live().at(hit.row.row_id).word);
      ASSERT_EQ(hit.score, Score(metric(), vector, SquaredNormInDouble(vector), row,
                                 SquaredNormInDouble(row)));
    }
  }
}

TEST_P(SealedSegmentTest, AWalkSaysWhenTooFewRowsCameBack) {
  const auto segment = Built(GraphFrom(200));
  for (uint32_t slot = 3; slot < segment->slots(); ++slot) segment->MarkDead(slot, 1);
  const Vector vector = rows_.NextVector();
  const IndexQuery query{vector, {}};
  IndexSearchOptions options;
  options.k = 4;
  TopHits top(options.k);
  EXPECT_FALSE(segment->Walk(query, CodedQuery(metric(), vector), RowFilter(query, options, 1), 10,
                             options.k, top));
  EXPECT_LE(top.Take().size(), 3U);
}

TEST_P(SealedSegmentTest, NoRowsMakeASegmentToo) {
  const auto built = BuildSegment(metric(), codec(), {}, 1, GraphFrom(0, path_));
  ASSERT_THAT(built, IsOk());
  const auto opened = OpenSegment(path_, metric(), codec());
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ((*opened)->slots(), 0U);
  EXPECT_EQ((*opened)->FindWord("w", 0, 1), kNoSlot);
  EXPECT_EQ((*opened)->FindRowId(0, 0, 1), kNoSlot);
  EXPECT_TRUE((*opened)->SlotsBelow(10).empty());
  EXPECT_THAT((*opened)->CheckCodes(), IsOk());
}

TEST_P(SealedSegmentTest, ABuildThatIsStoppedLeavesNoFile) {
  for (const int looks : {0, 5, 8}) {
    SegmentBuildOptions options = GraphFrom(200, path_);
    int asked = 0;
    options.graph.stop = [&] { return asked++ == looks; };
    EXPECT_THAT(rows_.Build(options), StatusIs(absl::StatusCode::kCancelled, "stopped")) << looks;
    EXPECT_TRUE(fs::is_empty(folder_.path()));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SealedSegmentTest,
                         testing::Combine(testing::Values(Metric::kCosine, Metric::kDot,
                                                          Metric::kEuclidean),
                                          testing::ValuesIn(kAllPrecisions)),
                         [](const testing::TestParamInfo<SealedSegmentTest::ParamType>& test) {
                           return absl::StrCat(std::string(MetricName(std::get<0>(test.param))),
                                               "_",
                                               std::string(PrecisionName(std::get<1>(test.param))));
                         });

// A small file of every kind of section, and where its bytes lie.
class SegmentFileTest : public testing::TestWithParam<std::tuple<Metric, Precision>> {
 protected:
  struct Part {
    uint32_t kind;
    uint64_t begin;
    uint64_t end;
  };

  SegmentFileTest() {
    rows_.Fill(2, 150);
    const auto built = rows_.Build(GraphFrom(200, path_));
    EXPECT_THAT(built, IsOk());
    bytes_ = BytesOfFile(path_);
    ByteReader in(std::string_view(bytes_).substr(kSectionCount));
    const uint32_t count = *in.U32Le();
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t kind = *in.U32Le();
      const uint64_t begin = *in.U64Le();
      parts_.push_back({kind, begin, begin + *in.U64Le()});
      EXPECT_TRUE(in.U64Le().ok());
    }
  }

  Metric metric() const { return rows_.metric(); }
  void WriteBytes(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  void Overwrite(uint64_t offset, char byte) const {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }
  // The part that the byte lies in, or null for one between parts.
  const Part* PartAt(uint64_t offset) const {
    const auto at = std::find_if(parts_.begin(), parts_.end(), [offset](const Part& part) {
      return part.begin <= offset && offset < part.end;
    });
    return at == parts_.end() ? nullptr : &*at;
  }

  // Changes one byte and checks that this is noticed, where the byte means anything.
  void CheckDamage(uint64_t offset, int flip) {
    Overwrite(offset, static_cast<char>(bytes_[offset] ^ flip));
    const auto opened = OpenSegment(path_, metric(), rows_.codec());
    const absl::StatusCode code = opened.status().code();
    const Part* const part = PartAt(offset);
    if (offset < kPage) {
      const bool in_version = 8 <= offset && offset < 12;
      EXPECT_TRUE(code == absl::StatusCode::kDataLoss ||
                  (in_version && code == absl::StatusCode::kFailedPrecondition))
          << "header byte " << offset << ": " << opened.status();
    } else if (part == nullptr) {
      ASSERT_THAT(opened, IsOk()) << "byte " << offset;
      EXPECT_THAT((*opened)->CheckCodes(), IsOk());
    } else if (part->kind == static_cast<uint32_t>(SegmentSection::kCodes)) {
      ASSERT_THAT(opened, IsOk()) << "byte " << offset;
      EXPECT_FALSE((*opened)->damaged());
      EXPECT_FALSE((*opened)->IsWhole((offset - part->begin) / rows_.codec().row_bytes()));
      EXPECT_TRUE((*opened)->damaged());
      EXPECT_THAT((*opened)->CheckCodes(), StatusIs(absl::StatusCode::kDataLoss, "damaged"));
    } else {
      EXPECT_EQ(code, absl::StatusCode::kDataLoss)
          << "byte " << offset << " of section " << part->kind << ": " << opened.status();
    }
    Overwrite(offset, bytes_[offset]);
  }

  static constexpr size_t kSectionCount = 62;  // where the header tells it

  const TempDir folder_;
  const std::string path_ = folder_.path() + "/1.segment";
  SegmentRows rows_{std::get<0>(GetParam()), {std::get<1>(GetParam()), 5}, TestSeed()};
  std::string bytes_;
  std::vector<Part> parts_;
};

TEST_P(SegmentFileTest, SectionsBeginOnPagesOneAfterAnother) {
  ASSERT_GE(parts_.size(), 13U);
  uint64_t end = kPage;
  for (const Part& part : parts_) {
    EXPECT_EQ(part.begin, (end + kPage - 1) / kPage * kPage);
    end = part.end;
  }
  EXPECT_EQ(bytes_.size(), (end + kPage - 1) / kPage * kPage);
}

TEST_P(SegmentFileTest, EveryChangedByteOfTheHeaderIsNoticed) {
  for (uint64_t offset = 0; offset < kPage; ++offset) {
    ASSERT_NO_FATAL_FAILURE(CheckDamage(offset, offset % 2 == 0 ? 1 : 0x80));
  }
}

TEST_P(SegmentFileTest, ChangedBytesOfSectionsAreNoticed) {
  for (const Part& part : parts_) {
    ASSERT_LT(part.begin, part.end);
    for (const uint64_t offset : {part.begin, (part.begin + part.end) / 2, part.end - 1}) {
      ASSERT_NO_FATAL_FAILURE(CheckDamage(offset, 1));
      ASSERT_NO_FATAL_FAILURE(CheckDamage(offset, 0x80));
    }
    ASSERT_NO_FATAL_FAILURE(CheckDamage(std::min<uint64_t>(part.end, bytes_.size() - 1), 1));
  }
  for (int i = 0; i < 200; ++i) {
    ASSERT_NO_FATAL_FAILURE(CheckDamage(rows_.random()() % bytes_.size(), 1 << i % 8));
  }
}

TEST_P(SegmentFileTest, ATruncatedFileIsNoticed) {
  std::set<size_t> sizes = {0, 1, 8, 100, kPage - 1, bytes_.size() - 1};
  for (size_t size = kPage; size < bytes_.size(); size += kPage) sizes.insert(size);
  for (int i = 0; i < 50; ++i) sizes.insert(rows_.random()() % bytes_.size());
  for (const size_t size : sizes) {
    WriteBytes(bytes_.substr(0, size));
    EXPECT_EQ(OpenSegment(path_, metric(), rows_.codec()).status().code(),
              absl::StatusCode::kDataLoss)
        << size;
  }
  WriteBytes(bytes_ + '\0');
  EXPECT_EQ(OpenSegment(path_, metric(), rows_.codec()).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST_P(SegmentFileTest, ATableOfAnotherShapeIsRefused) {
  const auto [metric, precision] = GetParam();
  const Metric other = metric == Metric::kDot ? Metric::kCosine : Metric::kDot;
  const Precision wider = precision == Precision::kFp16 ? Precision::kBf16 : Precision::kFp16;
  const auto refused = StatusIs(absl::StatusCode::kFailedPrecondition, "another shape");
  EXPECT_THAT(OpenSegment(path_, other, {precision, 5}), refused);
  EXPECT_THAT(OpenSegment(path_, metric, {wider, 5}), refused);
  EXPECT_THAT(OpenSegment(path_, metric, {precision, 6}), refused);
  EXPECT_THAT(OpenSegment(path_, metric, {precision, 5}), IsOk());
}

TEST_P(SegmentFileTest, ANewerFormatIsRefusedByName) {
  Overwrite(8, 3);
  EXPECT_THAT(SegmentReader::Open(path_), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                   "format version 3; this program knows 2"));
}

INSTANTIATE_TEST_SUITE_P(Some, SegmentFileTest,
                         testing::Values(std::make_tuple(Metric::kCosine, Precision::kFp16),
                                         std::make_tuple(Metric::kCosine, Precision::kInt8),
                                         std::make_tuple(Metric::kEuclidean, Precision::kFp32)),
                         [](const testing::TestParamInfo<SegmentFileTest::ParamType>& test) {
                           return absl::StrCat(std::string(MetricName(std::get<0>(test.param))),
                                               "_",
                                               std::string(PrecisionName(std::get<1>(test.param))));
                         });

class SegmentWriterTest : public testing::Test {
 protected:
  const TempDir folder_;
  const std::string path_ = folder_.path() + "/1.segment";
};

TEST_F(SegmentWriterTest, AFileThatIsNotFinishedLeavesNothing) {
  {
    auto writer = SegmentWriter::Create(path_);
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT((*writer)->Add(SegmentSection::kWords, "words", 5), IsOk());
    EXPECT_FALSE(fs::exists(path_));
    EXPECT_TRUE(fs::exists(path_ + ".new"));
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(SegmentWriterTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_THAT(SegmentWriter::Create(folder_.path() + "/missing/1.segment"),
              StatusIs(absl::StatusCode::kInternal, "missing/1.segment.new"));
  EXPECT_THAT(SegmentReader::Open(folder_.path() + "/missing/1.segment"),
              StatusIs(absl::StatusCode::kInternal, "missing/1.segment"));
}

// Sections longer than what is buffered, and empty ones.
TEST_F(SegmentWriterTest, SectionsOfAnySizeAreReadBack) {
  const std::string large(3'000'001, 'x');
  auto writer = SegmentWriter::Create(path_);
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT((*writer)->Begin(SegmentSection::kCodes), IsOk());
  for (size_t i = 0; i < large.size(); i += 1000) {
    ASSERT_THAT((*writer)->Append(&large[i], std::min<size_t>(1000, large.size() - i)), IsOk());
  }
  ASSERT_THAT((*writer)->Add(SegmentSection::kWords, "", 0), IsOk());
  ASSERT_THAT((*writer)->Add(SegmentSection::kRowIds, "12345678", 8), IsOk());
  const auto mapped = (*writer)->Map(SegmentSection::kCodes);
  ASSERT_THAT(mapped, IsOk());
  EXPECT_EQ(std::memcmp(mapped->data(), large.data(), large.size()), 0);
  ASSERT_THAT((*writer)->Finish({}), IsOk());

  const auto reader = SegmentReader::Open(path_);
  ASSERT_THAT(reader, IsOk());
  std::string read(large.size(), '\0');
  EXPECT_THAT(reader->Read(SegmentSection::kCodes, read.data(), read.size()), IsOk());
  EXPECT_TRUE(read == large);
  EXPECT_THAT(reader->Read(SegmentSection::kWords, read.data(), 0), IsOk());
  EXPECT_THAT(reader->Read(SegmentSection::kRowIds, read.data(), 8), IsOk());
  EXPECT_EQ(read.substr(0, 8), "12345678");
  EXPECT_THAT(reader->Read(SegmentSection::kRowIds, read.data(), 7),
              StatusIs(absl::StatusCode::kDataLoss, "has 8 bytes; it must have 7"));
  EXPECT_THAT(reader->Read(SegmentSection::kNorms, read.data(), 7),
              StatusIs(absl::StatusCode::kDataLoss, "is missing"));
  EXPECT_FALSE(reader->Has(SegmentSection::kNorms));
  EXPECT_EQ(reader->Bytes(SegmentSection::kCodes), large.size());
}

TEST_F(SegmentWriterTest, TheBytesOfAFileStayAsTheyAre) {
  const VectorCodec codec(Precision::kFp32, 2);
  const auto grown = std::make_shared<GrowingSegment>(Metric::kDot, codec);
  grown->Append(258, "cat", Fp32Codes({3, 4}));
  grown->Append(7, "zebra", Fp32Codes({-1, 0}));
  SegmentBuildOptions options;
  options.path = path_;
  ASSERT_THAT(BuildSegment(Metric::kDot, codec, {{grown, 2}}, 1, options), IsOk());
  const std::string bytes = BytesOfFile(path_);
  const std::string_view row_ids("\x07\0\0\0\0\0\0\0\x02\x01\0\0\0\0\0\0", 16);
  const std::string_view words("zebracat");

  // Codes, hashes of rows, squared norms, row ids, word ends, words, both maps, both halves of
  // search codes, norms.
  const std::vector<std::pair<uint32_t, uint64_t>> sections = {
      {1, 16},  {19, 8},  {6, 16},  {7, 16},  {8, 16}, {9, 8},
      {10, 16}, {11, 16}, {17, 24}, {18, 16}, {5, 8}};
  std::string header = "VTSEGMNT";
  PutU32Le(header, 2);                              // format version
  PutU64Le(header, kPage * (1 + sections.size()));  // bytes of the file
  PutU8(header, 2);                                 // metric: dot
  PutU8(header, 1);                                 // precision: fp32
  PutU32Le(header, 2);                              // dimensions
  PutU64Le(header, 2);                              // slots
  PutU64Le(header, 2);                              // of them in the order of their row ids
  for (int i = 0; i < 5; ++i) PutU32Le(header, 0);  // no graph
  PutU32Le(header, static_cast<uint32_t>(sections.size()));
  uint64_t offset = kPage;
  for (const auto& [kind, size] : sections) {
    PutU32Le(header, kind);
    PutU64Le(header, offset);
    PutU64Le(header, size);
    // XXH3 of the section, as of words in their map.
    PutU64Le(header, HashOfWord(std::string_view(bytes).substr(offset, size)));
    offset += kPage;
  }
  ASSERT_EQ(bytes.size(), offset);
  header.resize(kPage - 8);
  PutU64Le(header, HashOfWord(header));
  EXPECT_TRUE(bytes.substr(0, kPage) == header);
  std::string hashes;
  for (const size_t row : {0, 1}) {
    PutU32Le(hashes, static_cast<uint32_t>(HashOfWord(bytes.substr(kPage + 8 * row, 8))));
  }
  EXPECT_EQ(bytes.substr(2 * kPage, 8), hashes);
  EXPECT_EQ(bytes.substr(4 * kPage, 16), row_ids);
  EXPECT_EQ(bytes.substr(5 * kPage, 16), std::string("\x05\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(bytes.substr(6 * kPage, 8), words);
  // 3, 4 are the codes 95, 127, whose halves are 13, 15 and 15, 15; the scale is 4 / 127.
  EXPECT_EQ(bytes.substr(9 * kPage + 12, 4), std::string("\xFD\0\0\0", 4));
  EXPECT_EQ(bytes.substr(10 * kPage + 8, 4), std::string("\xFF\0\0\0", 4));
  // Of a known text, so that the function can't change unseen.
  EXPECT_EQ(HashOfWord("zebra"), 9'795'273'900'099'882'599U);
}

}  // namespace
}  // namespace vectable
