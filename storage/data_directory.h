#pragma once

namespace vectable {

// What lies in a data directory, beside what others keep there.
inline constexpr char kStoreFolder[] = "store";         // the store's files
inline constexpr char kIndexFolder[] = "index";         // segment files, a folder per table
inline constexpr char kSnapshotFolder[] = "snapshots";  // each in a folder of its name
inline constexpr char kRestoreFolder[] = "RESTORING";   // a restore that isn't finished
inline constexpr char kReserveFile[] = "RESERVE";       // see DiskRoom

}  // namespace vectable
