#include "storage/rocks_batch.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "storage/key_format.h"
#include "storage/rocks_slice.h"

namespace vectable {
namespace {

// Up to this many log entries are removed one by one, more of them by a range.
constexpr uint64_t kTrimOneByOne = 256;

// What commits do to a word's record.
struct WordChange {
  std::string_view word;
  uint64_t row_id = 0;
  RowChange::Kind kind = RowChange::Kind::kPut;
};

// The changes in the order of the family's keys, so that each finds its place in the memtable near
// that of the one before; changes of the same word stay in order.
std::vector<WordChange> WordsInOrder(std::span<const Commit> commits) {
  std::vector<WordChange> words;
  for (const Commit& commit : commits) {
    for (const RowChange& change : commit.changes) {
      words.push_back({change.word, change.row_id, commit.kind});
    }
  }
  std::stable_sort(words.begin(), words.end(),
                   [](const WordChange& a, const WordChange& b) { return a.word < b.word; });
  return words;
}

}  // namespace

void AddCommits(const RocksFamilies& all, const TableFamilies& families, const TableRecord& after,
                std::span<const Commit> commits, rocksdb::WriteBatch& batch) {
  std::string value;
  for (const Commit& commit : commits) {
    for (const RowChange& change : commit.changes) {
      value.clear();
      if (commit.kind == RowChange::Kind::kPut) {
        EncodeRow(value, change.word, change.codes);
      } else {
        value = EncodeDeletedRow();
      }
      batch.Put(families.rows(), RowKey(change.row_id), value).PermitUncheckedError();
    }
    batch.Put(all.log(), LogKey(after.table_id, commit.sequence), EncodeLogEntry(commit))
        .PermitUncheckedError();
  }
  for (const WordChange& change : WordsInOrder(commits)) {
    if (change.kind == RowChange::Kind::kPut) {
      batch.Put(families.words(), ToSlice(change.word), EncodeWordValue(change.row_id))
          .PermitUncheckedError();
    } else {
      batch.Delete(families.words(), ToSlice(change.word)).PermitUncheckedError();
    }
  }
  batch.Put(all.main(), CountersKey(after.table_id), EncodeCounters(after)).PermitUncheckedError();
}

void AddTrim(const RocksFamilies& all, uint32_t table_id, uint64_t from, uint64_t through,
             rocksdb::WriteBatch& batch) {
  if (through - from > kTrimOneByOne) {
    batch.DeleteRange(all.log(), LogKey(table_id, 0), LogKey(table_id, through + 1))
        .PermitUncheckedError();
    return;
  }
  for (uint64_t sequence = from + 1; sequence <= through; ++sequence) {
    batch.Delete(all.log(), LogKey(table_id, sequence)).PermitUncheckedError();
  }
}

void AddDrop(const RocksFamilies& all, uint32_t table_id, rocksdb::WriteBatch& batch) {
  batch.Delete(all.main(), TableKey(table_id)).PermitUncheckedError();
  batch.Delete(all.main(), CountersKey(table_id)).PermitUncheckedError();
  batch.DeleteRange(all.log(), LogKey(table_id, 0), LogKey(table_id + 1, 0)).PermitUncheckedError();
}

void AddTable(const RocksFamilies& all, const TableRecord& record, rocksdb::WriteBatch& batch) {
  batch.Put(all.main(), TableKey(record.table_id), EncodeTable(record)).PermitUncheckedError();
}

}  // namespace vectable
