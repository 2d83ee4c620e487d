// Every decoder of stored bytes against damage: cut, flipped, newer.
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "gtest/gtest.h"
#include "storage/key_format.h"
#include "storage/mutation.h"
#include "tests/common/test_seed.h"
#include "tests/storage/mutations.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

struct Decoder {
  std::string name;
  std::string valid;
  std::function<absl::Status(std::string_view)> decode;
  bool versioned = false;  // the first byte is a version
  bool sections = false;   // later versions may add tagged sections
};

// Decodes a copy that ends where its memory does, so that a sanitizer sees a read past it.
absl::Status DecodeCopy(const Decoder& decoder, std::string_view bytes) {
  const std::vector<char> copy(bytes.begin(), bytes.end());
  return decoder.decode({copy.data(), copy.size()});
}

TableRecord SomeTable() {
  return {.name = "some-table",
          .dimensions = 3,
          .dimension_names = {"a", "b", "c"},
          .created_unix_micros = 1,
          .rows = 2,
          .next_row_id = 3,
          .applied_sequence = 4};
}

std::string SomeRow() {
  std::string bytes;
  EncodeRow(bytes, "some word", std::string(200, 'c'));
  return bytes;
}

Commit SomeCommit() {
  Commit commit;
  for (const uint64_t id : {1000, 3, 70000}) commit.changes.push_back({id, "", ""});
  return commit;
}

absl::Status DecodeTableAlone(std::string_view bytes) {
  TableRecord record;
  return DecodeTable(bytes, record);
}

absl::Status DecodeCountersAlone(std::string_view bytes) {
  TableRecord record;
  return DecodeCounters(bytes, record);
}

absl::Status DecodeMutationAlone(std::string_view bytes) { return DecodeMutation(bytes).status(); }

std::vector<Decoder> AllDecoders() {
  const auto table_key = [](std::string_view b) { return DecodeTableKey(b).status(); };
  const auto u32 = [](std::string_view b) { return DecodeU32(b).status(); };
  const auto row = [](std::string_view b) { return DecodeRow(b).status(); };
  const auto row_key = [](std::string_view b) { return DecodeRowKey(b).status(); };
  const auto word_value = [](std::string_view b) { return DecodeWordValue(b).status(); };
  const auto log_key = [](std::string_view b) { return DecodeLogKey(b, 7).status(); };
  const auto log_entry = [](std::string_view b) { return DecodeLogEntry(b).status(); };
  const Mutation upsert =
      Upsert({"one", "two"}, std::string(80, 'c'), UpsertMode::kUpsert, {5, std::nullopt});
  return {{"TableKey", TableKey(9), table_key},
          {"U32", EncodeU32(9), u32},
          {"Table", EncodeTable(SomeTable()), DecodeTableAlone, true, true},
          {"Counters", EncodeCounters(SomeTable()), DecodeCountersAlone, true, true},
          {"RowKey", RowKey(9), row_key},
          {"Row", SomeRow(), row, true, true},
          {"DeletedRow", EncodeDeletedRow(), row, true, true},
          {"WordValue", EncodeWordValue(9), word_value},
          {"LogKey", LogKey(7, 9), log_key},
          {"LogEntry", EncodeLogEntry(SomeCommit()), log_entry, true},
          {"Upsert", EncodeMutation(upsert), DecodeMutationAlone, true},
          {"DeleteWords", EncodeMutation(DeleteWords({"one", "two"})), DecodeMutationAlone, true},
          {"DeleteRowIds", EncodeMutation(DeleteRowIds({1, 300, 5})), DecodeMutationAlone, true}};
}

class DecoderTest : public testing::TestWithParam<Decoder> {};

TEST_P(DecoderTest, EveryTruncationIsDataLoss) {
  const std::string& valid = GetParam().valid;
  EXPECT_THAT(DecodeCopy(GetParam(), valid), IsOk());
  for (size_t length = 0; length < valid.size(); ++length) {
    EXPECT_EQ(DecodeCopy(GetParam(), valid.substr(0, length)).code(), absl::StatusCode::kDataLoss)
        << length;
  }
}

TEST_P(DecoderTest, FlippedBytesGiveAValueOrAnError) {
  std::mt19937_64 random(TestSeed());
  size_t refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = GetParam().valid;
    for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % 4 == 0 ? random() % (bytes.size() + 20) : bytes.size(), 'z');
    const absl::StatusCode code = DecodeCopy(GetParam(), bytes).code();
    ASSERT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kDataLoss ||
                code == absl::StatusCode::kUnimplemented)
        << absl::StatusCodeToString(code);
    refused += code == absl::StatusCode::kOk ? 0 : 1;
  }
  EXPECT_GT(refused, 0U);
}

TEST_P(DecoderTest, NewerVersionsAreUnimplementedAndVersionZeroIsDamage) {
  std::string bytes = GetParam().valid;
  if (!GetParam().versioned) {
    bytes.push_back('x');
    EXPECT_EQ(DecodeCopy(GetParam(), bytes).code(), absl::StatusCode::kDataLoss);
    return;
  }
  bytes[0] = 2;
  EXPECT_THAT(DecodeCopy(GetParam(), bytes), StatusIs(absl::StatusCode::kUnimplemented,
                                                      "of version 2; this program reads up to 1"));
  bytes[0] = 0;
  EXPECT_EQ(DecodeCopy(GetParam(), bytes).code(), absl::StatusCode::kDataLoss);
}

TEST_P(DecoderTest, UnknownSectionsArePassedOverWhereTheyMayCome) {
  std::string bytes = GetParam().valid;
  for (const uint64_t tag : {1, 900}) {
    PutVarint(bytes, tag);
    PutString(bytes, std::string(tag, 's'));
  }
  if (!GetParam().sections) {
    EXPECT_EQ(DecodeCopy(GetParam(), bytes).code(), absl::StatusCode::kDataLoss);
    return;
  }
  EXPECT_THAT(DecodeCopy(GetParam(), bytes), IsOk());
  bytes.pop_back();
  EXPECT_EQ(DecodeCopy(GetParam(), bytes).code(), absl::StatusCode::kDataLoss);
}

INSTANTIATE_TEST_SUITE_P(All, DecoderTest, testing::ValuesIn(AllDecoders()),
                         [](const auto& test) { return test.param.name; });

TEST(SectionsTest, DoNotChangeWhatIsKnown) {
  std::string row = SomeRow();
  PutVarint(row, 5);
  PutString(row, "section");
  EXPECT_EQ(DecodeRow(row)->word, "some word");
  EXPECT_EQ(DecodeRow(row)->codes, std::string(200, 'c'));
}

TEST(TableDecoderTest, ImpossibleTablesAreDataLoss) {
  const auto code_of = [](const std::function<void(TableRecord&)>& change) {
    TableRecord record = SomeTable();
    change(record);
    return DecodeTableAlone(EncodeTable(record)).code();
  };
  constexpr auto kDataLoss = absl::StatusCode::kDataLoss;
  EXPECT_EQ(code_of([](TableRecord&) {}), absl::StatusCode::kOk);
  EXPECT_EQ(code_of([](TableRecord& r) { r.dimensions = 0; }), kDataLoss);
  EXPECT_EQ(code_of([](TableRecord& r) { r.dimensions = 65537; }), kDataLoss);
  EXPECT_EQ(code_of([](TableRecord& r) { r.precision = static_cast<Precision>(6); }), kDataLoss);
  EXPECT_EQ(code_of([](TableRecord& r) { r.metric = static_cast<Metric>(0); }), kDataLoss);
  EXPECT_EQ(code_of([](TableRecord& r) { r.dimension_names.pop_back(); }), kDataLoss);
}

}  // namespace
}  // namespace vectable
