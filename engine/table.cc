#include "engine/table.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "engine/row_checks.h"

namespace vectable {
namespace {

TableSpec SpecOf(const TableRecord& record) {
  return {record.name, record.dimensions, record.precision, record.metric, record.dimension_names};
}

// The mutation that writes the chosen rows, whose codes are given.
Mutation MakeUpsert(std::span<const RowInput> rows, const std::vector<size_t>& chosen,
                    std::string codes, UpsertMode mode) {
  Mutation mutation;
  mutation.kind = Mutation::Kind::kUpsert;
  mutation.mode = mode;
  mutation.codes = std::move(codes);
  mutation.words.reserve(chosen.size());
  bool any_id = false;
  for (const size_t i : chosen) {
    mutation.words.emplace_back(rows[i].word);
    any_id = any_id || rows[i].row_id.has_value();
  }
  if (any_id) {
    for (const size_t i : chosen) mutation.explicit_ids.push_back(rows[i].row_id);
  }
  return mutation;
}

// The mutation that deletes the keys, each once, and where in `keys` each of its keys first stands.
std::pair<Mutation, std::vector<size_t>> MakeDelete(const RowKeys& keys) {
  Mutation mutation;
  std::vector<size_t> places;
  if (const auto* words = std::get_if<std::vector<std::string_view>>(&keys)) {
    mutation.kind = Mutation::Kind::kDeleteWords;
    absl::flat_hash_set<std::string_view> seen;
    for (size_t i = 0; i < words->size(); ++i) {
      if (!seen.insert((*words)[i]).second) continue;
      mutation.words.emplace_back((*words)[i]);
      places.push_back(i);
    }
  } else {
    mutation.kind = Mutation::Kind::kDeleteRowIds;
    const auto& row_ids = std::get<std::vector<uint64_t>>(keys);
    absl::flat_hash_set<uint64_t> seen;
    for (size_t i = 0; i < row_ids.size(); ++i) {
      if (!seen.insert(row_ids[i]).second) continue;
      mutation.row_ids.push_back(row_ids[i]);
      places.push_back(i);
    }
  }
  return {std::move(mutation), std::move(places)};
}

size_t KeyCount(const RowKeys& keys) {
  return std::visit([](const auto& list) { return list.size(); }, keys);
}

absl::StatusOr<RowValue> ToRowValue(const RowView& row, const VectorCodec& codec,
                                    bool with_vector) {
  RowValue value{row.row_id, std::string(row.word), {}};
  if (with_vector) {
    VT_RETURN_IF_ERROR(Annotate(codec.CheckLength(row.codes), absl::StrCat("row id ", row.row_id)));
    value.vector.resize(codec.dimensions());
    codec.Decode(row.codes.data(), 1, value.vector.data());
  }
  return value;
}

}  // namespace

absl::StatusOr<std::optional<RowValue>> RowScan::Next() {
  VT_ASSIGN_OR_RETURN(const bool more, cursor_->Next());
  if (!more) return std::nullopt;
  VT_ASSIGN_OR_RETURN(RowValue row, ToRowValue(cursor_->row(), codec_, include_vectors_));
  return std::optional<RowValue>(std::move(row));
}

Table::Table(TableRecord record, Parts parts)
    : parts_(std::move(parts)),
      table_id_(record.table_id),
      shape_(SpecOf(record)),
      codec_(record.precision, record.dimensions),
      index_(record.metric, codec_, parts_.backend),
      writer_(
          std::move(record), parts_.store, parts_.limits, index_,
          [this](uint64_t sequence, const Mutation& mutation) {
            if (parts_.on_mutation) parts_.on_mutation(writer_.record().name, sequence, mutation);
          },
          [this] {
            parts_.events.Report(EventSink::Level::kError,
                                 absl::StrCat(Label(), ": the index failed and is loaded again"));
            parts_.on_index_lost(*this);
          }) {
  if (!parts_.index.directory.empty()) {
    directory_ = std::make_unique<IndexDirectory>(IndexFolderOf(parts_.index.directory, table_id_));
  }
}

Table::~Table() {
  if (directory_ && writer_.retired()) {
    IgnoreStatus(directory_->Remove(), "the next start removes what no table uses");
  }
}

std::string Table::Label() const { return absl::StrCat("table ", Quoted(writer_.record().name)); }

TableDescription Table::Describe() const {
  const TableRecord record = writer_.record();
  TableDescription description;
  description.spec = SpecOf(record);
  description.rows = record.rows;
  description.parameters = record.rows * record.dimensions;  // both below 2^32
  description.next_row_id = record.next_row_id;
  description.searchable = searchable();
  description.indexed_rows = index_.indexed_rows();
  description.created_unix_micros = record.created_unix_micros;
  description.applied_sequence = record.applied_sequence;
  description.optimizing = optimizing();
  return description;
}

absl::StatusOr<TableReport> Table::Report() const {
  absl::StatusOr<StoreUsage> usage = parts_.store.Usage();
  if (!usage.ok()) return Annotate(usage.status(), Label());
  std::optional<TableState> state = State(*usage);
  if (!state) return absl::NotFoundError(absl::StrCat(Label(), " was dropped"));
  return TableReport{*std::move(state), *std::move(usage)};
}

std::optional<TableState> Table::State(const StoreUsage& store) const {
  const auto files = store.tables.find(table_id_);
  if (files == store.tables.end()) return std::nullopt;
  TableState state{Describe(), files->second, std::nullopt, {}};
  const std::shared_ptr<const IndexSnapshot> snapshot = index_.snapshot();
  if (snapshot == nullptr) return state;
  state.index = snapshot->Memory();
  state.segments = snapshot->Segments();
  return state;
}

absl::StatusOr<UpsertOutcome> Table::Upsert(std::span<const RowInput> rows, UpsertMode mode) {
  VT_ASSIGN_OR_RETURN(PreparedUpsert prepared, PrepareUpsert(rows, mode, /*skip_bad=*/false));
  return CommitUpsert(std::move(prepared));
}

absl::StatusOr<UpsertOutcome> Table::UpsertSkippingBad(std::span<const RowInput> rows,
                                                       UpsertMode mode) {
  VT_ASSIGN_OR_RETURN(PreparedUpsert prepared, PrepareUpsert(rows, mode, /*skip_bad=*/true));
  return CommitUpsert(std::move(prepared));
}

absl::StatusOr<PreparedUpsert> Table::PrepareUpsert(std::span<const RowInput> rows, UpsertMode mode,
                                                    bool skip_bad) const {
  if (rows.empty())
    return absl::InvalidArgumentError(absl::StrCat(Label(), ": the batch has no rows"));
  BatchChecker checker(shape_, parts_.limits);
  checker.Reserve(rows.size());
  PreparedUpsert prepared;
  prepared.skip_bad = skip_bad;
  prepared.places.reserve(rows.size());
  std::string codes;
  codes.reserve(rows.size() * codec_.row_bytes());
  for (size_t i = 0; i < rows.size(); ++i) {
    absl::Status status = checker.Encode(i, rows[i], codes);
    if (status.ok()) {
      prepared.places.push_back(i);
    } else if (skip_bad) {
      prepared.rejected.push_back({i, std::move(status)});
    } else {
      return Annotate(status, Label());
    }
  }
  prepared.mutation = MakeUpsert(rows, prepared.places, std::move(codes), mode);
  return prepared;
}

absl::StatusOr<UpsertOutcome> Table::CommitUpsert(PreparedUpsert prepared,
                                                  std::function<void()> on_stored) {
  UpsertOutcome outcome;
  outcome.rejected = std::move(prepared.rejected);
  if (prepared.places.empty()) return outcome;
  absl::StatusOr<MutationOutcome> written =
      writer_.Submit(std::move(prepared.mutation), prepared.skip_bad, std::move(on_stored));
  if (!written.ok()) return Annotate(written.status(), Label());
  outcome.inserted = written->inserted;
  outcome.replaced = written->replaced;
  outcome.sequence = written->sequence;
  outcome.row_ids = std::move(written->row_ids);
  for (RejectedRow& row : written->rejected) {
    outcome.rejected.push_back({prepared.places[row.index], std::move(row.reason)});
  }
  std::sort(outcome.rejected.begin(), outcome.rejected.end(),
            [](const RejectedRow& a, const RejectedRow& b) { return a.index < b.index; });
  return outcome;
}

absl::StatusOr<DeleteOutcome> Table::Delete(const RowKeys& keys) {
  VT_RETURN_IF_ERROR(Annotate(CheckKeyCount(KeyCount(keys), parts_.limits), Label()));
  auto [mutation, places] = MakeDelete(keys);
  absl::StatusOr<MutationOutcome> deleted = writer_.Submit(std::move(mutation), /*skip_bad=*/false);
  if (!deleted.ok()) return Annotate(deleted.status(), Label());
  DeleteOutcome outcome{deleted->deleted, deleted->sequence, {}};
  for (const size_t i : deleted->missing) outcome.missing.push_back(places[i]);
  return outcome;
}

absl::StatusOr<std::vector<std::optional<StoredRow>>> Table::ReadRows(const RowKeys& keys) const {
  if (const auto* words = std::get_if<std::vector<std::string_view>>(&keys)) {
    return parts_.store.GetByWords(table_id_, *words);
  }
  return parts_.store.GetByRowIds(table_id_, std::get<std::vector<uint64_t>>(keys));
}

absl::StatusOr<GetOutcome> Table::Get(const RowKeys& keys) const {
  VT_RETURN_IF_ERROR(Annotate(CheckKeyCount(KeyCount(keys), parts_.limits), Label()));
  absl::StatusOr<std::vector<std::optional<StoredRow>>> rows = ReadRows(keys);
  if (!rows.ok()) return Annotate(rows.status(), Label());
  GetOutcome outcome;
  for (size_t i = 0; i < rows->size(); ++i) {
    const std::optional<StoredRow>& row = (*rows)[i];
    if (!row) {
      outcome.missing.push_back(i);
      continue;
    }
    absl::StatusOr<RowValue> value =
        ToRowValue({row->row_id, row->word, row->codes}, codec_, /*with_vector=*/true);
    if (!value.ok()) return Annotate(value.status(), Label());
    outcome.rows.push_back(*std::move(value));
  }
  return outcome;
}

absl::StatusOr<std::unique_ptr<RowScan>> Table::Scan(const ScanRange& range,
                                                     bool include_vectors) const {
  absl::StatusOr<std::unique_ptr<RowCursor>> cursor;
  if (const auto* ids = std::get_if<RowIdRange>(&range)) {
    if (ids->end && *ids->end < ids->begin) {
      return absl::InvalidArgumentError(absl::StrCat(Label(), ": the range of row ids ends at ",
                                                     *ids->end, ", before its begin ", ids->begin));
    }
    cursor = parts_.store.ScanRows(table_id_, ids->begin, ids->end);
  } else {
    const auto& words = std::get<WordPrefix>(range);
    cursor = parts_.store.ScanWords(
        table_id_, words.prefix,
        words.after ? std::optional<std::string_view>(*words.after) : std::nullopt,
        include_vectors);
  }
  if (!cursor.ok()) return Annotate(cursor.status(), Label());
  return std::make_unique<RowScan>(*std::move(cursor), codec_, include_vectors);
}

absl::Status Table::CheckMutation(const Mutation& mutation) const {
  if (mutation.kind != Mutation::Kind::kUpsert) return absl::OkStatus();
  const size_t row_bytes =
      mutation.words.empty() ? 0 : mutation.codes.size() / mutation.words.size();
  if (row_bytes * mutation.words.size() != mutation.codes.size() ||
      (!mutation.explicit_ids.empty() && mutation.explicit_ids.size() != mutation.words.size())) {
    return absl::InvalidArgumentError("the mutation's parts have different lengths");
  }
  BatchChecker checker(shape_, parts_.limits);
  std::vector<float> vector(shape_.dimensions);
  std::string codes;
  for (size_t i = 0; i < mutation.words.size(); ++i) {
    VT_RETURN_IF_ERROR(codec_.CheckLength(mutation.CodesOf(i)));
    codec_.Decode(mutation.CodesOf(i).data(), 1, vector.data());
    codes.clear();
    const std::optional<uint64_t> row_id =
        mutation.explicit_ids.empty() ? std::nullopt : mutation.explicit_ids[i];
    VT_RETURN_IF_ERROR(checker.Encode(i, {mutation.words[i], vector, row_id}, codes));
  }
  return absl::OkStatus();
}

absl::Status Table::Apply(uint64_t sequence, const Mutation& mutation) {
  VT_RETURN_IF_ERROR(Annotate(CheckMutation(mutation), Label()));
  return Annotate(writer_.Apply(sequence, mutation), Label());
}

absl::Status Table::Rename(const std::string& new_name, Table* replaced) {
  absl::Status status;
  const auto rename = [&](std::optional<uint32_t> replaced_id) {
    writer_.RunExclusive([&](TableRecord& record) {
      TableRecord renamed = record;
      renamed.name = new_name;
      status = parts_.store.RenameTable(renamed, replaced_id);
      if (status.ok()) record = std::move(renamed);
    });
  };
  if (replaced == nullptr) {
    rename(std::nullopt);
    return status;
  }
  // Catalogue changes come one at a time, so two tables' turns can be held at once.
  replaced->writer_.RunExclusive([&](TableRecord& /*record*/) {
    rename(replaced->table_id_);
    if (status.ok()) replaced->writer_.Retire();
  });
  return status;
}

absl::Status Table::Drop() {
  absl::Status status;
  writer_.RunExclusive([&](TableRecord& /*record*/) {
    status = parts_.store.DropTable(table_id_);
    if (status.ok()) writer_.Retire();
  });
  return Annotate(status, Label());
}

}  // namespace vectable
