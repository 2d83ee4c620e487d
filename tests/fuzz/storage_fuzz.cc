// Every decoder of stored bytes: the first byte chooses one, the others are what it reads. What is
// decoded and encoded again decodes to the same.
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/bytes.h"
#include "storage/key_format.h"
#include "storage/mutation.h"
#include "storage/snapshot_record.h"
#include "tests/fuzz/memory_file.h"

namespace vectable {
namespace {

void DecodeATable(std::string_view bytes) {
  TableRecord record;
  if (!DecodeTable(bytes, record).ok()) return;
  TableRecord again;
  Require(DecodeTable(EncodeTable(record), again).ok() && again == record);
}

void DecodeSomeCounters(std::string_view bytes) {
  TableRecord record;
  if (!DecodeCounters(bytes, record).ok()) return;
  TableRecord again;
  Require(DecodeCounters(EncodeCounters(record), again).ok() && again == record);
}

void DecodeARow(std::string_view bytes) {
  const auto row = DecodeRow(bytes);
  if (!row.ok() || row->deleted) return;
  std::string encoded;
  EncodeRow(encoded, row->word, row->codes);
  const auto again = DecodeRow(encoded);
  Require(again.ok() && again->word == row->word && again->codes == row->codes);
}

void DecodeALogEntry(std::string_view bytes) {
  const auto entry = DecodeLogEntry(bytes);
  if (!entry.ok()) return;
  Commit commit{entry->sequence, entry->kind, {}};
  for (const uint64_t row_id : entry->row_ids) commit.changes.push_back({row_id, {}, {}});
  const auto again = DecodeLogEntry(EncodeLogEntry(commit));
  Require(again.ok() && again->row_ids == entry->row_ids && again->kind == entry->kind);
}

void DecodeAMutation(std::string_view bytes) {
  const auto mutation = DecodeMutation(bytes);
  if (!mutation.ok()) return;
  const auto again = DecodeMutation(EncodeMutation(*mutation));
  Require(again.ok() && again->words == mutation->words && again->codes == mutation->codes &&
          again->row_ids == mutation->row_ids && again->explicit_ids == mutation->explicit_ids);
}

void DecodeASnapshot(std::string_view bytes) {
  (void)DecodeSnapshot(bytes).ok();
  // Behind a checksum that fits.
  std::string whole(bytes);
  PutU64Le(whole, XXH3_64bits(bytes.data(), bytes.size()));
  const auto record = DecodeSnapshot(whole);
  if (!record.ok()) return;
  const auto again = DecodeSnapshot(EncodeSnapshot(*record));
  Require(again.ok() && again->tables == record->tables);
}

void DecodeKeys(std::string_view bytes) {
  (void)DecodeTableKey(bytes).ok();
  (void)DecodeU32(bytes).ok();
  (void)DecodeWordValue(bytes).ok();
  (void)DecodeLogKey(bytes, 1).ok();
  if (const auto row_id = DecodeRowKey(bytes); row_id.ok()) Require(RowKey(*row_id) == bytes);
}

}  // namespace
}  // namespace vectable

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = vectable::InputOf(data + 1, size - 1);
  switch (data[0] % 7) {
    case 0:
      vectable::DecodeATable(bytes);
      break;
    case 1:
      vectable::DecodeSomeCounters(bytes);
      break;
    case 2:
      vectable::DecodeARow(bytes);
      break;
    case 3:
      vectable::DecodeALogEntry(bytes);
      break;
    case 4:
      vectable::DecodeAMutation(bytes);
      break;
    case 5:
      vectable::DecodeASnapshot(bytes);
      break;
    default:
      vectable::DecodeKeys(bytes);
  }
  return 0;
}
