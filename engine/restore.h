#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/events.h"
#include "storage/store.h"

namespace vectable {

// Puts a snapshot in the place of what a data directory holds, which need not be anything. The
// snapshot is opened and every row of it read first; it stays as it is. What the directory held is
// moved aside, to a folder "replaced-TIME" in it. Durable on return; a crash on the way leaves the
// directory as it was, or as it shall be once FinishRestore has run. `snapshot` is the name of one
// of the directory's own, or the path (with a '/') of a snapshot's folder anywhere; files are
// linked, or copied from another disk. `open_store` opens the store of a data directory. The
// directory must not be in use. NOT_FOUND, INVALID_ARGUMENT (name), DATA_LOSS (a damaged snapshot),
// FAILED_PRECONDITION (in use), RESOURCE_EXHAUSTED (full disk).
absl::Status RestoreSnapshot(
    const std::string& directory, const std::string& snapshot,
    const std::function<absl::StatusOr<std::unique_ptr<Store>>(const std::string& directory)>&
        open_store,
    EventSink& events);

// Ends a restore that a crash cut short, if there was one. To be called before the directory's
// store is opened.
absl::Status FinishRestore(const std::string& directory, EventSink& events);

// Reads every row and word of a store: DATA_LOSS where they don't fit each other, or the catalogue.
absl::Status CheckStore(const Store& store);

}  // namespace vectable
