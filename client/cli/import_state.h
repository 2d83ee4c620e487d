#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace vectable {

// How far an import came, kept in a small file of the user's
// ($XDG_STATE_HOME/vectable/imports, else ~/.local/state/vectable/imports), so that it can go on
// after it was ended, also by a crash. Not thread-safe.
class ImportState {
 public:
  // The import of `file` ("-" for standard input) into `table` of `server`. `options` is a text of
  // the options that decide what the rows become.
  ImportState(const std::string& server, const std::string& table, const std::string& file,
              std::string options);

  struct Reached {
    uint64_t place = 0;          // all rows up to it were acknowledged
    uint64_t table_created = 0;  // when the table was made: a new one of its name is another
  };
  // What was kept of an earlier run; nothing where there is nothing. FAILED_PRECONDITION when the
  // file has changed since, or the options were others.
  absl::StatusOr<std::optional<Reached>> Load() const;

  // Says which table the rows go into from now on; needed before Save.
  void set_table_created(uint64_t unix_micros) { table_created_ = unix_micros; }

  // Keeps how far it came, at most once a second unless `now`. A failure is kept for status().
  void Save(uint64_t place, bool now);
  // Nothing is left to go on with.
  void Remove();

  // Why nothing could be kept; OK when something is, or nothing had to be.
  const absl::Status& status() const { return status_; }

 private:
  absl::Status Write(uint64_t place) const;

  const std::string server_;
  const std::string table_;
  const std::string file_;      // its full path, "-" for standard input
  const std::string identity_;  // size and time of the file
  const std::string options_;
  std::string path_;  // of the state; empty where there is no place for it
  uint64_t table_created_ = 0;
  absl::Time saved_at_ = absl::Now();
  uint64_t saved_ = 0;
  absl::Status status_;
};

}  // namespace vectable
