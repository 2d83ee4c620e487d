#include "engine/database.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/names.h"
#include "common/status_util.h"
#include "engine/near_words.h"
#include "index/index_directory.h"
#include "storage/data_directory.h"

namespace vectable {

absl::StatusOr<std::unique_ptr<Database>> Database::Create(DatabaseParts parts) {
  VT_ASSIGN_OR_RETURN(std::vector<TableRecord> records, parts.store->Tables());
  std::sort(records.begin(), records.end(),
            [](const TableRecord& a, const TableRecord& b) { return a.rows < b.rows; });
  if (!parts.index.directory.empty()) {
    std::vector<uint32_t> table_ids;
    table_ids.reserve(records.size());
    for (const TableRecord& record : records) table_ids.push_back(record.table_id);
    RemoveOtherIndexes(parts.index.directory, table_ids);
  }
  std::unique_ptr<Database> database(new Database(std::move(parts)));
  if (database->snapshots_ != nullptr) database->snapshots_->RemoveLeftovers();
  for (TableRecord& record : records) {
    const std::string name = record.name;
    std::shared_ptr<Table> table = database->MakeTable(std::move(record));
    {
      absl::MutexLock lock(&database->mu_);
      if (!database->tables_.emplace(name, table).second) {
        return absl::DataLossError(
            absl::StrCat("the catalogue has two tables named ", Quoted(name)));
      }
    }
    database->loads_->Add(table);
  }
  return database;
}

Database::Database(DatabaseParts parts)
    : parts_(std::move(parts)),
      snapshots_(parts_.snapshots.empty() ? nullptr
                                          : std::make_unique<SnapshotFolder>(parts_.snapshots)),
      loads_(std::make_unique<LoadQueue>([this](Table& table) {
        ReportSearchable(table.Describe().spec.name, table.searchable());
      })),
      maintainer_(std::make_unique<Maintainer>([this] { return Tables(); })),
      keeper_(std::make_unique<StoreKeeper>(*parts_.store, *parts_.events,
                                            [this] { return RecoverStore(); })) {}

Database::~Database() {
  keeper_.reset();
  maintainer_.reset();
  loads_.reset();
  IgnoreStatus(parts_.store->Flush(), "the write-ahead log has all of it");
  absl::MutexLock lock(&mu_);
  tables_.clear();
}

std::shared_ptr<Table> Database::MakeTable(TableRecord record) {
  return std::make_shared<Table>(
      std::move(record),
      Table::Parts{*parts_.store, parts_.limits, *parts_.events, *parts_.backend, parts_.index,
                   publishing_, parts_.on_mutation, [this](Table& table) {
                     ReportSearchable(table.Describe().spec.name, false);
                     loads_->Add(table.weak_from_this());
                   }});
}

void Database::ReportSearchable(const std::string& name, bool searchable) const {
  if (parts_.on_searchable) parts_.on_searchable(name, searchable);
}

absl::Status Database::CheckNewTable(const TableSpec& spec) const {
  VT_RETURN_IF_ERROR(CheckTableName(spec.name));
  const std::string label = absl::StrCat("table ", Quoted(spec.name));
  if (spec.dimensions == 0 || spec.dimensions > parts_.limits.max_dimensions) {
    return absl::InvalidArgumentError(absl::StrCat(label, ": ", spec.dimensions,
                                                   " dimensions; it must be 1 to ",
                                                   parts_.limits.max_dimensions));
  }
  return Annotate(CheckDimensionNames(spec.dimension_names, spec.dimensions), label);
}

absl::StatusOr<TableDescription> Database::CreateTable(const TableSpec& spec) {
  VT_RETURN_IF_ERROR(CheckNewTable(spec));
  absl::MutexLock catalogue_lock(&catalogue_mu_);
  {
    absl::MutexLock lock(&mu_);
    if (tables_.contains(spec.name)) {
      return absl::AlreadyExistsError(absl::StrCat("table ", Quoted(spec.name), " exists already"));
    }
    if (tables_.size() >= parts_.limits.max_tables) {
      return absl::ResourceExhaustedError(absl::StrCat("table ", Quoted(spec.name), ": there are ",
                                                       tables_.size(), " tables; the limit is ",
                                                       parts_.limits.max_tables));
    }
  }
  TableRecord record;
  record.name = spec.name;
  record.dimensions = spec.dimensions;
  record.precision = spec.precision;
  record.metric = spec.metric;
  record.dimension_names = spec.dimension_names;
  record.created_unix_micros = absl::ToUnixMicros(absl::Now());
  absl::StatusOr<TableRecord> created = parts_.store->CreateTable(std::move(record));
  if (!created.ok()) return Annotate(created.status(), absl::StrCat("table ", Quoted(spec.name)));
  const std::shared_ptr<Table> table = MakeTable(*std::move(created));
  table->LoadIndex(std::atomic<bool>(false));  // nothing to read
  {
    absl::MutexLock lock(&mu_);
    tables_[spec.name] = table;
  }
  ReportSearchable(spec.name, table->searchable());
  return table->Describe();
}

absl::Status Database::NoSuchTable(std::string_view name) const {
  NearWords near(name);
  for (const auto& [other, table] : tables_) near.Offer(other);
  return absl::NotFoundError(absl::StrCat("no table ", Quoted(name), near.Hint()));
}

absl::StatusOr<std::shared_ptr<Table>> Database::FindTable(std::string_view name) const {
  absl::MutexLock lock(&mu_);
  const auto found = tables_.find(name);
  if (found == tables_.end()) return NoSuchTable(name);
  return found->second;
}

std::vector<std::shared_ptr<Table>> Database::Tables() const {
  std::vector<std::shared_ptr<Table>> tables;
  absl::MutexLock lock(&mu_);
  for (const auto& [name, table] : tables_) tables.push_back(table);
  return tables;
}

std::vector<TableDescription> Database::ListTables() const {
  const std::vector<std::shared_ptr<Table>> tables = Tables();
  std::vector<TableDescription> descriptions;
  descriptions.reserve(tables.size());
  for (const std::shared_ptr<Table>& table : tables) descriptions.push_back(table->Describe());
  return descriptions;
}

absl::StatusOr<DatabaseReport> Database::Report() const {
  DatabaseReport report;
  VT_ASSIGN_OR_RETURN(report.store, parts_.store->Usage());
  for (const std::shared_ptr<Table>& table : Tables()) {
    std::optional<TableState> state = table->State(report.store);
    if (state) report.tables.push_back(*std::move(state));
  }
  return report;
}

absl::StatusOr<Database::RenameOutcome> Database::RenameTable(std::string_view name,
                                                              std::string_view new_name,
                                                              bool replace) {
  VT_RETURN_IF_ERROR(CheckTableName(new_name));
  absl::MutexLock catalogue_lock(&catalogue_mu_);
  std::shared_ptr<Table> table;
  std::shared_ptr<Table> other;
  {
    absl::MutexLock lock(&mu_);
    const auto found = tables_.find(name);
    if (found == tables_.end()) return NoSuchTable(name);
    table = found->second;
    const auto taken = tables_.find(new_name);
    if (taken != tables_.end()) other = taken->second;
  }
  if (table == other) return RenameOutcome{table->Describe(), false};
  if (other != nullptr && !replace) {
    return absl::AlreadyExistsError(
        absl::StrCat("table ", Quoted(new_name), " exists already; ask for it to be replaced"));
  }
  VT_RETURN_IF_ERROR(Annotate(table->Rename(std::string(new_name), other.get()),
                              absl::StrCat("table ", Quoted(name))));
  {
    absl::MutexLock lock(&mu_);
    tables_.erase(tables_.find(name));
    tables_[std::string(new_name)] = table;
  }
  ReportSearchable(std::string(name), false);
  ReportSearchable(std::string(new_name), table->searchable());
  return RenameOutcome{table->Describe(), other != nullptr};
}

absl::StatusOr<Database::DropOutcome> Database::DropTable(std::string_view name) {
  absl::MutexLock catalogue_lock(&catalogue_mu_);
  VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, FindTable(name));
  VT_RETURN_IF_ERROR(table->Drop());
  DropOutcome outcome{table->Describe().rows, {}};
  if (snapshots_ != nullptr) {
    TableRecord record;
    record.table_id = table->table_id();
    record.created_unix_micros = table->Describe().created_unix_micros;
    outcome.snapshots = snapshots_->Holding(record);
  }
  {
    absl::MutexLock lock(&mu_);
    tables_.erase(tables_.find(name));
  }
  ReportSearchable(std::string(name), false);
  return outcome;
}

namespace {

absl::Status NoSnapshots() {
  return absl::FailedPreconditionError("this database has no place for snapshots");
}

}  // namespace

absl::StatusOr<SnapshotDescription> Database::CreateSnapshot(const std::string& name) {
  if (snapshots_ == nullptr) return NoSnapshots();
  absl::MutexLock catalogue_lock(&catalogue_mu_);
  return snapshots_->Create(
      name, [&](const std::string& folder) -> absl::StatusOr<std::vector<TableRecord>> {
        // The indexes first, so that none knows more than the store; and none of them is replaced
        // before the store is copied, so that the log that each still needs is there.
        absl::MutexLock publishing_lock(&publishing_);
        for (const std::shared_ptr<Table>& table : Tables()) {
          const absl::Status status = table->LinkIndex(absl::StrCat(folder, "/", kIndexFolder));
          if (status.ok()) continue;
          parts_.events->Report(
              EventSink::Level::kWarning,
              absl::StrCat("table ", Quoted(table->Describe().spec.name),
                           ": its index isn't in the snapshot, and will be made anew after a "
                           "restore: ",
                           status.ToString()));
        }
        return parts_.store->Checkpoint(absl::StrCat(folder, "/", kStoreFolder));
      });
}

absl::StatusOr<std::vector<SnapshotDescription>> Database::ListSnapshots() const {
  if (snapshots_ == nullptr) return std::vector<SnapshotDescription>();
  return snapshots_->List();
}

absl::StatusOr<uint64_t> Database::DeleteSnapshot(std::string_view name) {
  if (snapshots_ == nullptr) return NoSnapshots();
  return snapshots_->Delete(name);
}

namespace {

// Runs `work` while none of the tables from `i` on is written to.
void HoldWriters(const std::vector<std::shared_ptr<Table>>& tables, size_t i,
                 std::vector<TableRecord*>& records, const std::function<void()>& work) {
  if (i == tables.size()) {
    work();
    return;
  }
  tables[i]->RunBetweenWrites([&](TableRecord& record) {
    records.push_back(&record);
    HoldWriters(tables, i + 1, records, work);
  });
}

}  // namespace

absl::Status Database::RecoverStore() {
  absl::MutexLock catalogue_lock(&catalogue_mu_);
  const std::vector<std::shared_ptr<Table>> tables = Tables();
  std::vector<TableRecord*> records;
  absl::Status status;
  HoldWriters(tables, 0, records, [&] {
    status = parts_.store->Recover();
    if (status.ok()) status = TakeOver(tables, records);
  });
  return status;
}

absl::Status Database::TakeOver(const std::vector<std::shared_ptr<Table>>& tables,
                                const std::vector<TableRecord*>& records) {
  VT_ASSIGN_OR_RETURN(const std::vector<TableRecord> stored, parts_.store->Tables());
  std::map<uint32_t, TableRecord> by_id;
  for (const TableRecord& record : stored) by_id[record.table_id] = record;
  std::map<std::string, std::shared_ptr<Table>, std::less<>> named;
  std::vector<std::shared_ptr<Table>> to_load;
  for (size_t i = 0; i < tables.size(); ++i) {
    const auto found = by_id.find(records[i]->table_id);
    if (found == by_id.end()) {
      // A drop that wasn't acknowledged.
      ReportSearchable(records[i]->name, false);
      tables[i]->RetireFromStore();
      continue;
    }
    if (found->second.name != records[i]->name) ReportSearchable(records[i]->name, false);
    if (tables[i]->TakeOver(found->second, *records[i])) to_load.push_back(tables[i]);
    named[found->second.name] = tables[i];
    by_id.erase(found);
  }
  for (auto& [id, record] : by_id) {
    // A create that wasn't acknowledged.
    to_load.push_back(named[record.name] = MakeTable(record));
  }
  {
    absl::MutexLock lock(&mu_);
    tables_ = named;
  }
  for (const auto& [name, table] : named) ReportSearchable(name, table->searchable());
  for (const std::shared_ptr<Table>& table : to_load) loads_->Add(table);
  return absl::OkStatus();
}

}  // namespace vectable
