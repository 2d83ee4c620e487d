#include "storage/mutation.h"

#include "absl/strings/str_cat.h"
#include "common/bytes.h"
#include "common/limits.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr uint8_t kVersion = 1;

void PutWords(std::string& out, const std::vector<std::string>& words) {
  PutVarint(out, words.size());
  for (const std::string& word : words) PutString(out, word);
}

absl::StatusOr<std::vector<std::string>> ReadWords(ByteReader& reader) {
  // Each word takes at least a byte, so a count is never trusted beyond what follows.
  VT_ASSIGN_OR_RETURN(const uint64_t count, reader.VarintUpTo(reader.remaining()));
  std::vector<std::string> words;
  words.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    VT_ASSIGN_OR_RETURN(const std::string_view word, reader.String());
    words.emplace_back(word);
  }
  return words;
}

absl::StatusOr<UpsertMode> ReadMode(ByteReader& reader) {
  VT_ASSIGN_OR_RETURN(const uint8_t number, reader.U8());
  if (number < 1 || number > 3) {
    return absl::DataLossError(absl::StrCat("unknown upsert mode ", number));
  }
  return static_cast<UpsertMode>(number);
}

absl::Status ReadExplicitIds(ByteReader& reader, Mutation& mutation) {
  VT_ASSIGN_OR_RETURN(const uint8_t has_ids, reader.U8());
  if (has_ids > 1) return absl::DataLossError("bad explicit id marker");
  if (has_ids == 0) return absl::OkStatus();
  for (size_t i = 0; i < mutation.words.size(); ++i) {
    // 0 is "none", so that an id costs one number.
    VT_ASSIGN_OR_RETURN(const uint64_t plus_one, reader.VarintUpTo(kMaxRowId + 1));
    mutation.explicit_ids.push_back(plus_one == 0 ? std::nullopt
                                                  : std::optional<uint64_t>(plus_one - 1));
  }
  return absl::OkStatus();
}

absl::Status ReadUpsert(ByteReader& reader, Mutation& mutation) {
  VT_ASSIGN_OR_RETURN(mutation.mode, ReadMode(reader));
  VT_ASSIGN_OR_RETURN(mutation.words, ReadWords(reader));
  VT_RETURN_IF_ERROR(ReadExplicitIds(reader, mutation));
  VT_ASSIGN_OR_RETURN(const std::string_view codes, reader.String());
  mutation.codes = codes;
  if (mutation.words.empty() || codes.size() % mutation.words.size() != 0) {
    return absl::DataLossError(
        absl::StrCat(codes.size(), " bytes of codes for ", mutation.words.size(), " rows"));
  }
  return absl::OkStatus();
}

absl::Status ReadRowIds(ByteReader& reader, Mutation& mutation) {
  VT_ASSIGN_OR_RETURN(const uint64_t count, reader.VarintUpTo(reader.remaining()));
  mutation.row_ids.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    VT_ASSIGN_OR_RETURN(const uint64_t row_id, reader.VarintUpTo(kMaxRowId));
    mutation.row_ids.push_back(row_id);
  }
  return absl::OkStatus();
}

absl::Status ReadBody(ByteReader& reader, Mutation& mutation) {
  switch (mutation.kind) {
    case Mutation::Kind::kUpsert:
      return ReadUpsert(reader, mutation);
    case Mutation::Kind::kDeleteWords: {
      VT_ASSIGN_OR_RETURN(mutation.words, ReadWords(reader));
      return absl::OkStatus();
    }
    case Mutation::Kind::kDeleteRowIds:
      return ReadRowIds(reader, mutation);
  }
  return absl::DataLossError("unknown kind");
}

}  // namespace

std::string EncodeMutation(const Mutation& mutation) {
  std::string out;
  PutU8(out, kVersion);
  PutU8(out, static_cast<uint8_t>(mutation.kind));
  switch (mutation.kind) {
    case Mutation::Kind::kUpsert:
      PutU8(out, static_cast<uint8_t>(mutation.mode));
      PutWords(out, mutation.words);
      PutU8(out, mutation.explicit_ids.empty() ? 0 : 1);
      for (const std::optional<uint64_t>& id : mutation.explicit_ids) {
        PutVarint(out, id.has_value() ? *id + 1 : 0);
      }
      PutString(out, mutation.codes);
      break;
    case Mutation::Kind::kDeleteWords:
      PutWords(out, mutation.words);
      break;
    case Mutation::Kind::kDeleteRowIds:
      PutVarint(out, mutation.row_ids.size());
      for (const uint64_t row_id : mutation.row_ids) PutVarint(out, row_id);
      break;
  }
  return out;
}

absl::StatusOr<Mutation> DecodeMutation(std::string_view bytes) {
  ByteReader reader(bytes);
  VT_ASSIGN_OR_RETURN(const uint8_t version, reader.U8());
  if (version > kVersion) {
    return absl::UnimplementedError(
        absl::StrCat("mutation of version ", version, "; this program reads up to ", kVersion));
  }
  VT_ASSIGN_OR_RETURN(const uint8_t kind, reader.U8());
  if (version == 0 || kind < 1 || kind > 3) {
    return absl::DataLossError(absl::StrCat("mutation of version ", version, ", kind ", kind));
  }
  Mutation mutation;
  mutation.kind = static_cast<Mutation::Kind>(kind);
  VT_RETURN_IF_ERROR(ReadBody(reader, mutation));
  VT_RETURN_IF_ERROR(reader.ExpectEnd());
  return mutation;
}

}  // namespace vectable
