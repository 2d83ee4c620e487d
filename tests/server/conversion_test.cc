// Enums and messages between the wire and the engine.

#include <cmath>
#include <string>
#include <variant>

#include "gtest/gtest.h"
#include "server/enums.h"
#include "server/row_messages.h"
#include "server/search_messages.h"
#include "server/table_messages.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(Enums, PrecisionRoundTrip) {
  for (const Precision precision : kAllPrecisions) {
    const auto back = PrecisionFromProto(PrecisionToProto(precision));
    ASSERT_THAT(back, IsOk());
    EXPECT_EQ(*back, precision);
  }
  EXPECT_EQ(*PrecisionFromProto(v1::PRECISION_UNSPECIFIED), Precision::kFp32);
  EXPECT_THAT(PrecisionFromProto(static_cast<v1::Precision>(17)),
              StatusIs(kInvalid, "precision 17"));
  EXPECT_THAT(PrecisionFromProto(static_cast<v1::Precision>(-1)),
              StatusIs(kInvalid, "precision -1"));
}

TEST(Enums, MetricRoundTrip) {
  for (const Metric metric : {Metric::kCosine, Metric::kDot, Metric::kEuclidean}) {
    const auto back = MetricFromProto(MetricToProto(metric));
    ASSERT_THAT(back, IsOk());
    EXPECT_EQ(*back, metric);
  }
  EXPECT_EQ(*MetricFromProto(v1::METRIC_UNSPECIFIED), Metric::kCosine);
  EXPECT_THAT(MetricFromProto(static_cast<v1::Metric>(4)), StatusIs(kInvalid, "metric 4"));
}

TEST(Enums, UpsertModeAndOnBad) {
  EXPECT_EQ(*UpsertModeFromProto(v1::UPSERT_MODE_UNSPECIFIED), UpsertMode::kUpsert);
  EXPECT_EQ(*UpsertModeFromProto(v1::UPSERT_MODE_UPSERT), UpsertMode::kUpsert);
  EXPECT_EQ(*UpsertModeFromProto(v1::UPSERT_MODE_INSERT_ONLY), UpsertMode::kInsertOnly);
  EXPECT_EQ(*UpsertModeFromProto(v1::UPSERT_MODE_UPDATE_ONLY), UpsertMode::kUpdateOnly);
  EXPECT_THAT(UpsertModeFromProto(static_cast<v1::UpsertMode>(9)), StatusIs(kInvalid, "mode 9"));
  EXPECT_FALSE(*SkipsBadRows(v1::ON_BAD_UNSPECIFIED));
  EXPECT_FALSE(*SkipsBadRows(v1::ON_BAD_ERROR));
  EXPECT_TRUE(*SkipsBadRows(v1::ON_BAD_SKIP));
  EXPECT_THAT(SkipsBadRows(static_cast<v1::OnBad>(3)), StatusIs(kInvalid, "on_bad 3"));
}

TEST(Enums, ShortReasons) {
  EXPECT_EQ(ShortReasonToProto(ShortReason::kNone), v1::SHORT_REASON_UNSPECIFIED);
  EXPECT_EQ(ShortReasonToProto(ShortReason::kTableSmaller), v1::SHORT_REASON_TABLE_SMALLER);
  EXPECT_EQ(ShortReasonToProto(ShortReason::kFiltered), v1::SHORT_REASON_FILTERED);
  EXPECT_EQ(ShortReasonToProto(ShortReason::kMinScore), v1::SHORT_REASON_MIN_SCORE);
}

TEST(TableMessages, SpecHasDefaults) {
  v1::CreateTableRequest request;
  request.set_name("t");
  request.set_dimensions(2);
  request.add_dimension_names("Object");
  request.add_dimension_names("Animal");
  const auto spec = TableSpecFromProto(request, 1 << 20);
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->name, "t");
  EXPECT_EQ(spec->dimensions, 2U);
  EXPECT_EQ(spec->precision, Precision::kFp32);
  EXPECT_EQ(spec->metric, Metric::kCosine);
  EXPECT_EQ(spec->dimension_names, (std::vector<std::string>{"Object", "Animal"}));
}

TEST(TableMessages, NamesThatFillAReplyAreRefused) {
  v1::CreateTableRequest request;
  request.set_name("big");
  for (int i = 0; i < 1'000; ++i) request.add_dimension_names(std::string(100, 'x'));
  EXPECT_THAT(TableSpecFromProto(request, 200'000), IsOk());
  EXPECT_THAT(TableSpecFromProto(request, 100'000),
              StatusIs(absl::StatusCode::kResourceExhausted, "'big': its 1,000 dimension names"));
}

TEST(TableMessages, DescriptionIsComplete) {
  TableDescription table;
  table.spec = {"t", 3, Precision::kFp32, Metric::kDot, {"a", "b", "c"}};
  table.rows = 5;
  table.parameters = 15;
  table.next_row_id = 9;
  table.searchable = true;
  table.indexed_rows = 5;
  table.created_unix_micros = 123;
  table.applied_sequence = 7;
  const v1::Table proto = TableToProto(table);
  EXPECT_EQ(proto.name(), "t");
  EXPECT_EQ(proto.dimensions(), 3U);
  EXPECT_EQ(proto.precision(), v1::PRECISION_FP32);
  EXPECT_EQ(proto.metric(), v1::METRIC_DOT);
  EXPECT_EQ(proto.dimension_names_size(), 3);
  EXPECT_EQ(proto.rows(), 5U);
  EXPECT_EQ(proto.parameters(), 15U);
  EXPECT_EQ(proto.next_row_id(), 9U);
  EXPECT_TRUE(proto.searchable());
  EXPECT_EQ(proto.indexed_rows(), 5U);
  EXPECT_EQ(proto.created_unix_micros(), 123);
  EXPECT_EQ(proto.applied_sequence(), 7U);
}

TEST(RowMessages, InputsPointIntoTheRequest) {
  v1::UpsertRequest request;
  v1::UpsertRow* row = request.add_rows();
  row->set_word("cat");
  row->mutable_vector()->add_values(1);
  row->mutable_vector()->add_values(2);
  row->set_row_id(0);
  request.add_rows()->set_word("dog");
  const std::vector<RowInput> inputs = RowInputsFromProto(request.rows());
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].word, "cat");
  EXPECT_EQ(inputs[0].vector.data(), row->vector().values().data());
  EXPECT_EQ(inputs[0].vector.size(), 2U);
  EXPECT_EQ(inputs[0].row_id, 0U);
  EXPECT_TRUE(inputs[1].vector.empty());
  EXPECT_FALSE(inputs[1].row_id.has_value());
}

TEST(RowMessages, Keys) {
  v1::GetRequest request;
  request.set_table("t");
  EXPECT_THAT(KeysFromProto(request), StatusIs(kInvalid, "'t': the request has neither"));
  request.mutable_words();
  ASSERT_THAT(KeysFromProto(request), IsOk());
  EXPECT_EQ(KeyCount(*KeysFromProto(request)), 0U);
  for (const char* word : {"a", "b", "c"}) request.mutable_words()->add_words(word);
  const RowKeys keys = *KeysFromProto(request);
  EXPECT_EQ(KeyCount(keys), 3U);
  EXPECT_EQ(std::get<0>(KeyRange(keys, 1, 2)), (std::vector<std::string_view>{"b", "c"}));
  v1::DeleteRequest by_id;
  by_id.mutable_row_ids()->add_row_ids(8);
  EXPECT_EQ(std::get<1>(*KeysFromProto(by_id)), (std::vector<uint64_t>{8}));
}

TEST(RowMessages, ScanRanges) {
  v1::ScanRequest request;
  RowIdRange ids = std::get<RowIdRange>(ScanRangeFromProto(request));
  EXPECT_EQ(ids.begin, 0U);
  EXPECT_FALSE(ids.end.has_value());
  request.mutable_row_ids()->set_begin(3);
  request.mutable_row_ids()->set_end(0);
  ids = std::get<RowIdRange>(ScanRangeFromProto(request));
  EXPECT_EQ(ids.begin, 3U);
  EXPECT_EQ(ids.end, 0U);
  request.set_word_prefix("");
  const WordPrefix words = std::get<WordPrefix>(ScanRangeFromProto(request));
  EXPECT_EQ(words.prefix, "");
  EXPECT_FALSE(words.after.has_value());
}

TEST(RowMessages, WritesWhoseReplyCouldBeTooLargeAreRefusedBefore) {
  EXPECT_THAT(CheckIdsFitReply(100, 1'000), IsOk());
  EXPECT_THAT(CheckIdsFitReply(105, 1'000),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "105 rows; the ids of at most 104 fit in a reply of 1,000 bytes"));
  const std::string word(400, 'x');
  const RowKeys words = std::vector<std::string_view>{word, word};
  EXPECT_THAT(CheckKeysFitReply(words, 1'000), IsOk());
  EXPECT_THAT(CheckKeysFitReply(words, 800),
              StatusIs(absl::StatusCode::kResourceExhausted, "2 keys"));
}

TEST(RowMessages, LeftOutRowsAreListedAsFarAsTheyFit) {
  v1::UpsertStreamRequest request;
  for (int i = 0; i < 4; ++i) request.add_rows()->set_word("w" + std::to_string(i));
  UpsertOutcome outcome;
  outcome.inserted = 2;
  outcome.replaced = 1;
  outcome.rejected = {{1, absl::InvalidArgumentError("bad")},
                      {3, absl::InvalidArgumentError(std::string(500, 'x'))}};
  v1::UpsertStreamResponse response;
  EXPECT_TRUE(FillUpsertStreamResponse(outcome, request.rows(), 10'000, response));
  EXPECT_EQ(response.inserted(), 2U);
  EXPECT_EQ(response.replaced(), 1U);
  EXPECT_FALSE(response.has_sequence());
  ASSERT_EQ(response.rejected_size(), 2);
  EXPECT_EQ(response.rejected(0).index(), 1U);
  EXPECT_EQ(response.rejected(0).word(), "w1");
  EXPECT_EQ(response.rejected(0).reason(), "bad");

  v1::UpsertStreamResponse cut;
  outcome.sequence = 4;
  EXPECT_FALSE(FillUpsertStreamResponse(outcome, request.rows(), 300, cut));
  EXPECT_EQ(cut.rejected_size(), 1);
  EXPECT_EQ(cut.sequence(), 4U);
}

TEST(SearchMessages, Targets) {
  v1::Query query;
  EXPECT_TRUE(std::get<2>(TargetFromProto(query)).empty());
  query.set_word("cat");
  EXPECT_EQ(std::get<0>(TargetFromProto(query)), "cat");
  query.set_row_id(0);
  EXPECT_EQ(std::get<1>(TargetFromProto(query)), 0U);
  query.mutable_vector()->add_values(2);
  EXPECT_EQ(std::get<2>(TargetFromProto(query)).size(), 1U);
  EXPECT_THAT(TargetFromProto(v1::Term(), "b"), StatusIs(kInvalid, "side b has no word"));
}

TEST(SearchMessages, Options) {
  bool cancelled = false;
  const CallState call(absl::InfiniteFuture(), [&cancelled] { return cancelled; });
  v1::NearestRequest request;
  request.set_k(7);
  SearchOptions options = SearchOptionsFromProto(request, call);
  EXPECT_EQ(options.k, 7U);
  EXPECT_FALSE(options.min_score.has_value());
  EXPECT_FALSE(options.first_n.has_value());
  EXPECT_FALSE(options.include_self);
  EXPECT_FALSE(options.include_vectors);
  request.set_min_score(0);
  request.set_first_n(5);
  request.add_exclude_words("x");
  request.set_include_self(true);
  request.set_include_vectors(true);
  options = SearchOptionsFromProto(request, call);
  EXPECT_EQ(options.min_score, 0.0);
  EXPECT_EQ(options.first_n, 5U);
  EXPECT_EQ(options.exclude_words, (std::vector<std::string_view>{"x"}));
  EXPECT_TRUE(options.include_self);
  EXPECT_TRUE(options.include_vectors);
  EXPECT_EQ(options.deadline, absl::InfiniteFuture());
  EXPECT_FALSE(options.cancelled());
  cancelled = true;
  EXPECT_TRUE(options.cancelled());
}

TEST(SearchMessages, Results) {
  v1::Query query;
  query.set_word("cat");
  QueryOutcome outcome;
  outcome.hits.push_back({3, "dog", 0.5, std::nullopt, {}});
  outcome.hits.push_back({4, "car", -1.5, 1.5, {1, 2}});
  outcome.short_reason = ShortReason::kMinScore;
  outcome.rows_searched = 9;
  v1::QueryResult result;
  FillQueryResult(query, outcome, result);
  ASSERT_EQ(result.hits_size(), 2);
  EXPECT_EQ(result.hits(0).word(), "dog");
  EXPECT_EQ(result.hits(0).row_id(), 3U);
  EXPECT_FALSE(result.hits(0).has_distance());
  EXPECT_FALSE(result.hits(0).has_vector());
  EXPECT_EQ(result.hits(1).distance(), 1.5);
  EXPECT_EQ(result.hits(1).vector().values_size(), 2);
  EXPECT_EQ(result.short_reason(), v1::SHORT_REASON_MIN_SCORE);
  EXPECT_EQ(result.rows_searched(), 9U);
  EXPECT_EQ(result.code(), 0);

  outcome.status = absl::NotFoundError("no such word");
  v1::QueryResult failed;
  FillQueryResult(query, outcome, failed);
  EXPECT_EQ(failed.code(), 5);
  EXPECT_EQ(failed.error(), "no such word");
  EXPECT_EQ(failed.hits_size(), 0);

  v1::QueryResult no_target;
  FillQueryResult(v1::Query(), outcome, no_target);
  EXPECT_EQ(no_target.code(), 3);
  EXPECT_EQ(no_target.error(), "the query has no word, row id or vector");
}

}  // namespace
}  // namespace vectable
