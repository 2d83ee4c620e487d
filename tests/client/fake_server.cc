#include "tests/client/fake_server.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "vectable/v1/admin.grpc.pb.h"
#include "vectable/v1/row.grpc.pb.h"
#include "vectable/v1/search.grpc.pb.h"
#include "vectable/v1/sizing.grpc.pb.h"
#include "vectable/v1/table.grpc.pb.h"

namespace vectable {
namespace {

using grpc::ServerContext;
using grpc::Status;
using grpc::StatusCode;

Status NoTable(const std::string& name) {
  return {StatusCode::NOT_FOUND, "there is no table '" + name + "'"};
}

FakeState::Table* Find(FakeState& state, const std::string& name) {
  const auto found = state.tables.find(name);
  return found == state.tables.end() ? nullptr : &found->second;
}

void Describe(const FakeState::Table& table, v1::Table* out) {
  *out = table.info;
  out->set_rows(table.rows.size());
  out->set_parameters(table.rows.size() * table.info.dimensions());
  out->set_searchable(true);
  out->set_indexed_rows(table.rows.size());
}

void FillRow(const std::string& word, const FakeState::Row& row, bool vectors, v1::Row* out) {
  out->set_word(word);
  out->set_row_id(row.row_id);
  if (vectors) {
    out->mutable_vector()->mutable_values()->Add(row.vector.begin(), row.vector.end());
  }
}

bool IsZero(const v1::Vector& vector) {
  return std::all_of(vector.values().begin(), vector.values().end(),
                     [](float value) { return value == 0; });
}

// Gives whether the word is new.
bool Put(FakeState::Table& table, const v1::UpsertRow& row) {
  const auto [at, inserted] = table.rows.try_emplace(row.word());
  if (inserted) {
    at->second.row_id = row.has_row_id() ? row.row_id() : table.info.next_row_id();
    table.info.set_next_row_id(at->second.row_id + 1);
  }
  at->second.vector.assign(row.vector().values().begin(), row.vector().values().end());
  return inserted;
}

double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return dot / std::sqrt(aa * bb);
}

class Tables : public v1::TableService::Service {
 public:
  explicit Tables(FakeState& state) : state_(state) {}

  Status CreateTable(ServerContext*, const v1::CreateTableRequest* request,
                     v1::CreateTableResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    if (Find(state_, request->name()) != nullptr) {
      return {StatusCode::ALREADY_EXISTS, "table '" + request->name() + "' exists"};
    }
    FakeState::Table& table = state_.tables[request->name()];
    table.info.set_name(request->name());
    table.info.set_dimensions(request->dimensions());
    table.info.set_precision(request->precision());
    table.info.set_metric(request->metric());
    *table.info.mutable_dimension_names() = request->dimension_names();
    Describe(table, reply->mutable_table());
    return Status::OK;
  }

  Status GetTable(ServerContext*, const v1::GetTableRequest* request,
                  v1::GetTableResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    const FakeState::Table* table = Find(state_, request->name());
    if (table == nullptr) return NoTable(request->name());
    Describe(*table, reply->mutable_table());
    return Status::OK;
  }

  Status ListTables(ServerContext*, const v1::ListTablesRequest*,
                    v1::ListTablesResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    for (const auto& [name, table] : state_.tables) Describe(table, reply->add_tables());
    return Status::OK;
  }

  Status RenameTable(ServerContext*, const v1::RenameTableRequest* request,
                     v1::RenameTableResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    if (Find(state_, request->name()) == nullptr) return NoTable(request->name());
    reply->set_replaced(state_.tables.erase(request->new_name()) > 0);
    auto node = state_.tables.extract(request->name());
    node.key() = request->new_name();
    node.mapped().info.set_name(request->new_name());
    Describe(state_.tables.insert(std::move(node)).position->second, reply->mutable_table());
    return Status::OK;
  }

  Status DropTable(ServerContext*, const v1::DropTableRequest* request,
                   v1::DropTableResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    const FakeState::Table* table = Find(state_, request->name());
    if (table == nullptr) return NoTable(request->name());
    reply->set_dropped_rows(table->rows.size());
    state_.tables.erase(request->name());
    return Status::OK;
  }

 private:
  FakeState& state_;
};

class Rows : public v1::RowService::Service {
 public:
  explicit Rows(FakeState& state) : state_(state) {}

  Status Upsert(ServerContext*, const v1::UpsertRequest* request,
                v1::UpsertResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    FakeState::Table* table = Find(state_, request->table());
    if (table == nullptr) return NoTable(request->table());
    for (const v1::UpsertRow& row : request->rows()) {
      if (Put(*table, row)) {
        reply->set_inserted(reply->inserted() + 1);
      } else {
        reply->set_replaced(reply->replaced() + 1);
      }
      reply->add_row_ids(table->rows[row.word()].row_id);
    }
    return Status::OK;
  }

  Status UpsertStream(ServerContext* context,
                      grpc::ServerReaderWriter<v1::UpsertStreamResponse, v1::UpsertStreamRequest>*
                          stream) override {
    v1::UpsertStreamRequest request;
    for (int batch = 0; stream->Read(&request); ++batch) {
      v1::UpsertStreamResponse reply;
      {
        std::lock_guard lock(state_.mutex);
        state_.batch_rows.push_back(request.rows_size());
        if (batch == state_.fail_batch) return {StatusCode::INTERNAL, "the disk is full"};
        const Status status = TakeBatch(request, reply);
        if (!status.ok()) return status;
      }
      while (batch == state_.silent_after && !context->IsCancelled()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      stream->Write(reply);
    }
    return Status::OK;
  }

  Status Get(ServerContext*, const v1::GetRequest* request, v1::GetResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    const FakeState::Table* table = Find(state_, request->table());
    if (table == nullptr) return NoTable(request->table());
    const bool vectors = !request->omit_vectors();
    const int keys = request->words().words_size() + request->row_ids().row_ids_size();
    state_.get_keys.push_back(keys);
    if (static_cast<size_t>(keys) > state_.max_get_keys) {
      return {StatusCode::RESOURCE_EXHAUSTED, "the reply is too large"};
    }
    for (const std::string& word : request->words().words()) {
      const auto found = table->rows.find(word);
      if (found == table->rows.end()) {
        reply->add_missing_words(word);
      } else {
        FillRow(word, found->second, vectors, reply->add_rows());
      }
    }
    for (const uint64_t id : request->row_ids().row_ids()) {
      const auto found =
          std::find_if(table->rows.begin(), table->rows.end(),
                       [id](const auto& entry) { return entry.second.row_id == id; });
      if (found == table->rows.end()) {
        reply->add_missing_row_ids(id);
      } else {
        FillRow(found->first, found->second, vectors, reply->add_rows());
      }
    }
    return Status::OK;
  }

  Status Delete(ServerContext*, const v1::DeleteRequest* request,
                v1::DeleteResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    FakeState::Table* table = Find(state_, request->table());
    if (table == nullptr) return NoTable(request->table());
    for (const std::string& word : request->words().words()) {
      if (table->rows.erase(word) > 0) {
        reply->set_deleted(reply->deleted() + 1);
      } else {
        reply->add_missing_words(word);
      }
    }
    for (const uint64_t id : request->row_ids().row_ids()) reply->add_missing_row_ids(id);
    return Status::OK;
  }

  Status Scan(ServerContext*, const v1::ScanRequest* request,
              grpc::ServerWriter<v1::ScanResponse>* writer) override {
    std::lock_guard lock(state_.mutex);
    const FakeState::Table* table = Find(state_, request->table());
    if (table == nullptr) return NoTable(request->table());
    std::vector<v1::Row> rows;
    for (const auto& [word, row] : table->rows) {
      if (!word.starts_with(request->word_prefix())) continue;
      FillRow(word, row, request->include_vectors(), &rows.emplace_back());
    }
    if (!request->has_word_prefix()) {
      std::sort(rows.begin(), rows.end(),
                [](const v1::Row& a, const v1::Row& b) { return a.row_id() < b.row_id(); });
    }
    if (request->limit() > 0 && rows.size() > request->limit()) rows.resize(request->limit());
    for (v1::Row& row : rows) {
      v1::ScanResponse reply;
      *reply.add_rows() = std::move(row);
      writer->Write(reply);
    }
    return Status::OK;
  }

 private:
  Status TakeBatch(const v1::UpsertStreamRequest& request, v1::UpsertStreamResponse& reply) {
    FakeState::Table* table = Find(state_, request.table());
    if (table == nullptr) return NoTable(request.table());
    for (int i = 0; i < request.rows_size(); ++i) {
      const v1::UpsertRow& row = request.rows(i);
      if (IsZero(row.vector())) {
        if (request.on_bad() != v1::ON_BAD_SKIP) {
          return {StatusCode::INVALID_ARGUMENT, "row " + std::to_string(i) + ": zero vector"};
        }
        v1::RejectedRow& rejected = *reply.add_rejected();
        rejected.set_index(static_cast<uint32_t>(i));
        rejected.set_word(row.word());
        rejected.set_reason("zero vector");
      } else if (Put(*table, row)) {
        reply.set_inserted(reply.inserted() + 1);
      } else {
        reply.set_replaced(reply.replaced() + 1);
      }
    }
    return Status::OK;
  }

  FakeState& state_;
};

class Search : public v1::SearchService::Service {
 public:
  explicit Search(FakeState& state) : state_(state) {}

  Status Nearest(ServerContext*, const v1::NearestRequest* request,
                 v1::NearestResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    const FakeState::Table* table = Find(state_, request->table());
    if (table == nullptr) return NoTable(request->table());
    state_.query_counts.push_back(request->queries_size());
    for (const v1::Query& query : request->queries()) {
      Answer(*table, *request, query, state_.walk_width, reply->add_results());
    }
    reply->set_method(v1::SEARCH_METHOD_EXACT);
    reply->set_sequence(state_.sequence);
    reply->set_device("cpu");
    reply->set_precision(table->info.precision());
    reply->set_engine_micros(5);
    return Status::OK;
  }

  Status Similarity(ServerContext*, const v1::SimilarityRequest* request,
                    v1::SimilarityResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    const FakeState::Table* table = Find(state_, request->table());
    if (table == nullptr) return NoTable(request->table());
    for (const std::string& word : {request->a().word(), request->b().word()}) {
      if (!table->rows.contains(word)) return {StatusCode::NOT_FOUND, "no word '" + word + "'"};
    }
    reply->set_score(Cosine(table->rows.at(request->a().word()).vector,
                            table->rows.at(request->b().word()).vector));
    return Status::OK;
  }

 private:
  static void Answer(const FakeState::Table& table, const v1::NearestRequest& request,
                     const v1::Query& query, uint32_t walk_width, v1::QueryResult* result) {
    std::vector<float> target(query.vector().values().begin(), query.vector().values().end());
    if (query.has_word()) {
      const auto found = table.rows.find(query.word());
      if (found == table.rows.end()) {
        result->set_code(static_cast<int>(StatusCode::NOT_FOUND));
        result->set_error("table '" + request.table() + "' has no word '" + query.word() + "'");
        return;
      }
      target = found->second.vector;
    }
    const auto& excluded = request.exclude_words();
    for (const auto& [word, row] : table.rows) {
      if (query.has_word() && word == query.word()) continue;
      if (std::find(excluded.begin(), excluded.end(), word) != excluded.end()) continue;
      v1::Hit& hit = *result->add_hits();
      hit.set_word(word);
      hit.set_row_id(row.row_id);
      hit.set_score(Cosine(target, row.vector));
    }
    std::sort(result->mutable_hits()->begin(), result->mutable_hits()->end(),
              [](const v1::Hit& a, const v1::Hit& b) { return a.score() > b.score(); });
    const bool walked = walk_width > 0 && !request.exact();
    if (walked && result->hits_size() > 0) result->mutable_hits()->DeleteSubrange(0, 1);
    result->set_exact(!walked);
    result->set_width(walked ? walk_width : 0);
    result->set_recall(walked ? request.recall() : 1);
    const int k = static_cast<int>(request.k());
    if (result->hits_size() > k) {
      result->mutable_hits()->DeleteSubrange(k, result->hits_size() - k);
    } else if (result->hits_size() < k) {
      result->set_short_reason(v1::SHORT_REASON_TABLE_SMALLER);
    }
    result->set_rows_searched(table.rows.size());
  }

  FakeState& state_;
};

class Sizing : public v1::SizingService::Service {
 public:
  explicit Sizing(FakeState& state) : state_(state) {}

  Status ReportTable(ServerContext*, const v1::ReportTableRequest* request,
                     v1::ReportTableResponse* reply) override {
    std::lock_guard lock(state_.mutex);
    const FakeState::Table* table = Find(state_, request->table());
    if (table == nullptr) return NoTable(request->table());
    reply->set_table(request->table());
    reply->set_rows(table->rows.size());
    reply->set_dimensions(table->info.dimensions());
    reply->set_parameters(table->rows.size() * table->info.dimensions());
    reply->set_precision(table->info.precision());
    *reply->mutable_dimension_names() = table->info.dimension_names();
    v1::PrecisionBytes& bytes = *reply->add_bytes();
    bytes.set_precision(v1::PRECISION_FP32);
    bytes.set_nominal_bytes(reply->parameters() * 4);
    return Status::OK;
  }

 private:
  FakeState& state_;
};

class Admin : public v1::AdminService::Service {
 public:
  Status GetServerInfo(ServerContext*, const v1::GetServerInfoRequest*,
                       v1::GetServerInfoResponse* reply) override {
    reply->set_version("0.0.0-fake");
    reply->set_device("cpu");
    v1::LimitInfo& limit = *reply->add_limits();
    limit.set_name("max_k");
    limit.set_value(10'000);
    return Status::OK;
  }
};

}  // namespace

struct FakeServer::Services {
  explicit Services(FakeState& state) : tables(state), rows(state), search(state), sizing(state) {}
  Tables tables;
  Rows rows;
  Search search;
  Sizing sizing;
  Admin admin;
};

FakeServer::FakeServer() : services_(std::make_unique<Services>(state_)) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&services_->tables);
  builder.RegisterService(&services_->rows);
  builder.RegisterService(&services_->search);
  builder.RegisterService(&services_->sizing);
  builder.RegisterService(&services_->admin);
  server_ = builder.BuildAndStart();
  address_ = "127.0.0.1:" + std::to_string(port);
}

FakeServer::~FakeServer() { Stop(); }

void FakeServer::Stop() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
}

size_t FakeServer::RowCount(const std::string& table) {
  std::lock_guard lock(state_.mutex);
  const FakeState::Table* found = Find(state_, table);
  return found == nullptr ? 0 : found->rows.size();
}

}  // namespace vectable
