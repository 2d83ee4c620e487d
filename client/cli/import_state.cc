#include "client/cli/import_state.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/text_hash.h"
#include "common/names.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kSaveEvery = absl::Seconds(1);

std::string FullPath(const std::string& file) {
  std::error_code error;
  const fs::path path = fs::canonical(file, error);
  return file == "-" || error ? file : path.string();
}

std::string IdentityOf(const std::string& file) {
  struct stat info {};
  if (file == "-" || stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return fmt::format("{} bytes of {}.{:09}", info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

std::string StateFolder() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/vectable/imports";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/')
    return std::string(home) + "/.local/state/vectable/imports";
  return {};
}

}  // namespace

ImportState::ImportState(const std::string& server, const std::string& table,
                         const std::string& file, std::string options)
    : server_(server),
      table_(table),
      file_(FullPath(file)),
      identity_(IdentityOf(file)),
      options_(std::move(options)) {
  if (const std::string folder = StateFolder(); !folder.empty()) {
    const std::string key = fmt::format("{}\n{}\n{}", server_, table_, file_);
    path_ = fmt::format("{}/{:016x}.json", folder, Fnv1a64(key));
  }
}

absl::StatusOr<std::optional<ImportState::Reached>> ImportState::Load() const {
  if (path_.empty()) return std::nullopt;
  std::ifstream in(path_);
  if (!in) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const nlohmann::json kept = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto is = [&kept](const char* name, const std::string& value) {
    return kept.is_object() && kept.contains(name) && kept[name] == value;
  };
  // The name of the state tells the file, whose path may not be text.
  if (!is("server", server_) || !is("table", table_) || !kept.contains("place") ||
      !kept["place"].is_number_unsigned()) {
    return std::nullopt;
  }
  if (!is("identity", identity_)) {
    return absl::FailedPreconditionError(fmt::format(
        "{} has changed since its import was ended; import it without --resume", Quoted(file_)));
  }
  if (!is("options", options_)) {
    return absl::FailedPreconditionError(fmt::format(
        "the earlier run had other options; give the same, or import without --resume "
        "(expected {}, found {})",
        kept.contains("options") ? kept["options"].dump() : "none",
        nlohmann::json(options_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  }
  if (!kept.contains("table_created") || !kept["table_created"].is_number_unsigned()) {
    return std::nullopt;
  }
  return Reached{kept["place"].get<uint64_t>(), kept["table_created"].get<uint64_t>()};
}

absl::Status ImportState::Write(uint64_t place) const {
  if (path_.empty()) return absl::FailedPreconditionError("neither XDG_STATE_HOME nor HOME is set");
  const nlohmann::json kept = {{"server", server_},   {"table", table_},
                               {"file", file_},       {"identity", identity_},
                               {"options", options_}, {"table_created", table_created_},
                               {"place", place}};
  std::error_code error;
  fs::create_directories(fs::path(path_).parent_path(), error);
  const std::string partial = path_ + ".partial";
  {
    std::ofstream out(partial, std::ios::trunc);
    // A path may hold any bytes.
    out << kept.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    out.close();
    if (!out) return absl::UnknownError("cannot write " + partial);
  }
  fs::rename(partial, path_, error);
  if (error) return absl::UnknownError("cannot write " + path_ + ": " + error.message());
  return absl::OkStatus();
}

void ImportState::Save(uint64_t place, bool now) {
  if (place == 0 || place == saved_) return;
  // A short import leaves nothing behind, and needs nothing.
  if (!now && absl::Now() - saved_at_ < kSaveEvery) return;
  saved_at_ = absl::Now();
  saved_ = place;
  status_ = Write(place);
}

void ImportState::Remove() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
}

}  // namespace vectable
