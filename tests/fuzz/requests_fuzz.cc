// Requests as bytes, validated and carried out on a real database: whatever a client sends, the
// call ends with an answer or an error, and the counts stay right.
#include <memory>

#include "absl/time/clock.h"
#include "engine/database.h"
#include "google/protobuf/stubs/logging.h"
#include "index/faiss_backend.h"
#include "server/access_tokens.h"
#include "server/enums.h"
#include "server/model_messages.h"
#include "server/row_messages.h"
#include "server/scan_token.h"
#include "server/search_messages.h"
#include "server/table_messages.h"
#include "storage/rocks_store.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_events.h"
#include "vectable/v1/model.pb.h"
#include "vectable/v1/row.pb.h"
#include "vectable/v1/search.pb.h"
#include "vectable/v1/table.pb.h"

namespace vectable {
namespace {

constexpr uint64_t kMostRows = 500;

// Lives as long as the process.
struct World {
  TempDir folder;
  TestEvents events;
  std::unique_ptr<BatchBackend> backend = MakeFaissBackend();
  std::unique_ptr<Database> database;
  std::shared_ptr<Table> table;

  World() {
    google::protobuf::SetLogHandler(nullptr);
    RocksStoreOptions options;
    options.directory = folder.path();
    options.sync = false;
    auto store = OpenRocksStore(options);
    Require(store.ok());
    DatabaseParts parts;
    parts.store = *std::move(store);
    parts.limits.max_rows = kMostRows;
    parts.limits.max_tables = 3;
    parts.events = &events;
    parts.backend = backend.get();
    auto created = Database::Create(std::move(parts));
    Require(created.ok());
    database = *std::move(created);
    Require(database->CreateTable({"t", 3, Precision::kInt8, Metric::kCosine, {}}).ok());
    table = *database->FindTable("t");
  }
};

World& TheWorld() {
  static auto* world = new World();
  return *world;
}

template <class Message>
bool Parse(std::string_view bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void CheckCounts() {
  const TableDescription now = TheWorld().table->Describe();
  Require(now.rows <= kMostRows && now.rows <= now.next_row_id);
}

void Upsert(std::string_view bytes) {
  v1::UpsertRequest request;
  if (!Parse(bytes, request)) return;
  if (!UpsertModeFromProto(request.mode()).ok()) return;
  (void)TheWorld()
      .table->Upsert(RowInputsFromProto(request.rows()), *UpsertModeFromProto(request.mode()))
      .ok();
  CheckCounts();
}

void UpsertSkipping(std::string_view bytes) {
  v1::UpsertStreamRequest request;
  if (!Parse(bytes, request)) return;
  if (!UpsertModeFromProto(request.mode()).ok()) return;
  (void)TheWorld()
      .table
      ->UpsertSkippingBad(RowInputsFromProto(request.rows()), *UpsertModeFromProto(request.mode()))
      .ok();
  CheckCounts();
}

void DeleteAndGet(std::string_view bytes) {
  v1::DeleteRequest request;
  if (!Parse(bytes, request)) return;
  const auto keys = KeysFromProto(request);
  if (!keys.ok()) return;
  const auto got = TheWorld().table->Get(*keys);
  const auto deleted = TheWorld().table->Delete(*keys);
  if (got.ok() && deleted.ok()) {
    Require(deleted->deleted <= got->rows.size() + got->missing.size());
  }
  CheckCounts();
}

void Nearest(std::string_view bytes) {
  v1::NearestRequest request;
  if (!Parse(bytes, request)) return;
  std::vector<QueryTarget> queries;
  for (const v1::Query& query : request.queries()) queries.push_back(TargetFromProto(query));
  SearchOptions options;
  options.k = request.k();
  options.min_score =
      request.has_min_score() ? std::optional<double>(request.min_score()) : std::nullopt;
  options.exact = request.exact();
  options.deadline = absl::Now() + absl::Seconds(5);
  const auto answer = TheWorld().table->Nearest(queries, options);
  if (answer.ok()) Require(answer->queries.size() == queries.size());
}

void Scan(std::string_view bytes) {
  v1::ScanRequest request;
  if (!Parse(bytes, request)) return;
  ScanRange range = ScanRangeFromProto(request);
  ScanTokens tokens(1, range);
  if (!request.resume_token().empty()) {
    auto rest = tokens.Rest(request.resume_token());
    if (!rest.ok()) return;
    range = *std::move(rest);
  }
  const auto scan = TheWorld().table->Scan(range, request.include_vectors());
  if (!scan.ok()) return;
  while (true) {
    const auto row = (*scan)->Next();
    Require(row.ok());
    if (!row->has_value()) break;
  }
}

void Create(std::string_view bytes) {
  v1::CreateTableRequest request;
  if (!Parse(bytes, request)) return;
  const auto spec = TableSpecFromProto(request, 4 << 20);
  if (!spec.ok()) return;
  const auto made = TheWorld().database->CreateTable(*spec);
  if (made.ok()) Require(TheWorld().database->DropTable(spec->name).ok());
}

}  // namespace
}  // namespace vectable

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = vectable::InputOf(data + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      vectable::Upsert(bytes);
      break;
    case 1:
      vectable::UpsertSkipping(bytes);
      break;
    case 2:
      vectable::DeleteAndGet(bytes);
      break;
    case 3:
      vectable::Nearest(bytes);
      break;
    case 4:
      vectable::Scan(bytes);
      break;
    default:
      vectable::Create(bytes);
  }
  return 0;
}
