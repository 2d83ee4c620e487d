#include "server/state_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "common/metric.h"
#include "common/precision.h"
#include "server/allocator.h"

namespace vectable {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

// Families in the order of their first figure.
class Gauges {
 public:
  void Add(const std::string& name, const char* help, double value, Labels labels = {},
           prometheus::MetricType type = prometheus::MetricType::Gauge) {
    const auto [place, is_new] = places_.emplace(name, families_.size());
    if (is_new) families_.push_back({name, help, type, {}});
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    (type == prometheus::MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
    families_[place->second].metric.push_back(std::move(metric));
  }

  void AddCounter(const std::string& name, const char* help, double value) {
    Add(name, help, value, {}, prometheus::MetricType::Counter);
  }

  std::vector<prometheus::MetricFamily> Take() { return std::move(families_); }

 private:
  std::map<std::string, size_t> places_;
  std::vector<prometheus::MetricFamily> families_;
};

// Adds a figure for each part of something.
void AddParts(Gauges& gauges, const char* name, const char* help, const Labels& labels,
              std::initializer_list<std::pair<const char*, uint64_t>> parts) {
  for (const auto& [part, bytes] : parts) {
    Labels all = labels;
    all.push_back({"part", part});
    gauges.Add(name, help, static_cast<double>(bytes), std::move(all));
  }
}

void AddSegments(Gauges& gauges, const Labels& labels,
                 const std::vector<SegmentDescription>& segments) {
  std::map<const char*, int> counts = {{"growing", 0}, {"sealed", 0}, {"graph", 0}};
  uint64_t dead_rows = 0;
  uint64_t scanned_rows = 0;
  for (const SegmentDescription& segment : segments) {
    ++counts[segment.graph ? "graph" : segment.sealed ? "sealed" : "growing"];
    dead_rows += segment.dead_rows;
    if (!segment.graph) scanned_rows += segment.rows;
  }
  for (const auto& [kind, count] : counts) {
    Labels all = labels;
    all.push_back({"kind", kind});
    gauges.Add("vectable_table_segments",
               "Segments of the table's index: growing (they take new rows), sealed (scanned), and "
               "with a graph.",
               count, std::move(all));
  }
  gauges.Add("vectable_table_dead_rows", "Replaced or deleted rows that the index still holds.",
             static_cast<double>(dead_rows), labels);
  gauges.Add("vectable_table_scanned_rows", "Live rows in segments without a graph.",
             static_cast<double>(scanned_rows), labels);
}

void AddTable(Gauges& gauges, const TableState& state) {
  const TableDescription& table = state.table;
  const Labels labels = {{"table", table.spec.name}};
  Labels facts = labels;
  facts.push_back({"precision", std::string(PrecisionName(table.spec.precision))});
  facts.push_back({"metric", std::string(MetricName(table.spec.metric))});
  gauges.Add("vectable_table_dimensions", "Dimensions of the table's vectors.",
             table.spec.dimensions, std::move(facts));
  gauges.Add("vectable_table_rows", "Live rows.", static_cast<double>(table.rows), labels);
  gauges.Add("vectable_table_parameters", "Live rows times dimensions.",
             static_cast<double>(table.parameters), labels);
  gauges.Add("vectable_table_searchable", "1 where searches are answered, 0 while the table loads.",
             table.searchable ? 1 : 0, labels);
  AddSegments(gauges, labels, state.segments);
  AddParts(gauges, "vectable_table_disk_bytes", "The table's files, by what they hold.", labels,
           {{"rows", state.files.row_files},
            {"blobs", state.files.blob_files},
            {"words", state.files.word_files},
            {"index", state.files.index_files}});
  const IndexMemory memory = state.index.value_or(IndexMemory());
  AddParts(gauges, "vectable_table_memory_bytes", "What the table takes in memory.", labels,
           {{"memtables", state.files.memtables},
            {"codes", memory.codes},
            {"search_codes", memory.search_codes},
            {"words", memory.words},
            {"id_maps", memory.id_maps},
            {"row_state", memory.row_state},
            {"graph", memory.graph}});
  gauges.Add("vectable_table_mapped_bytes",
             "Segment files that are mapped, in memory as far as "
             "they were read.",
             static_cast<double>(memory.mapped), labels);
}

void AddStore(Gauges& gauges, const StoreUsage& store) {
  uint64_t tables = 0;
  for (const auto& [id, table] : store.tables) tables += table.disk();
  AddParts(gauges, "vectable_store_disk_bytes",
           "All files of the data directory, by what they hold.", {},
           {{"tables", tables},
            {"write_ahead_log", store.write_ahead_log},
            {"mutation_log", store.mutation_log},
            {"catalogue", store.catalogue},
            {"obsolete", store.obsolete_files},
            {"other", store.other_files},
            {"snapshots", store.snapshots},
            {"reserve", store.reserve}});
  AddParts(gauges, "vectable_store_memory_bytes", "What RocksDB takes in memory.", {},
           {{"memtables", store.memtables},
            {"block_cache", store.block_cache},
            {"table_readers", store.table_readers}});
  const StoreActivity& activity = store.activity;
  gauges.Add("vectable_store_flushes_running", "RocksDB's flushes that run.",
             static_cast<double>(activity.flushes));
  gauges.Add("vectable_store_compactions_running", "RocksDB's compactions that run.",
             static_cast<double>(activity.compactions));
  gauges.Add("vectable_store_compaction_backlog_bytes",
             "What compactions have to rewrite: an estimate.",
             static_cast<double>(activity.compaction_backlog));
  gauges.Add("vectable_store_writes_delayed", "1 where RocksDB slows writes down to catch up.",
             activity.writes_delayed ? 1 : 0);
  gauges.Add("vectable_store_writes_stopped", "1 where RocksDB takes no writes.",
             activity.writes_stopped ? 1 : 0);
  gauges.AddCounter("vectable_store_background_errors_total",
                    "Failed flushes and compactions of RocksDB.",
                    static_cast<double>(activity.background_errors));
}

void AddLoad(Gauges& gauges, const ServerLoad& load) {
  gauges.Add("vectable_requests_in_flight", "Calls that aren't answered yet, streams too.",
             load.calls_under_way);
  gauges.Add("vectable_queue_tasks", "Pieces of work that wait for a thread.",
             static_cast<double>(load.waiting.tasks));
  gauges.Add("vectable_queue_bytes", "Bytes of the requests that wait for a thread.",
             static_cast<double>(load.waiting.bytes));
  gauges.Add("vectable_parked_requests", "Searches that wait for tables that load.",
             static_cast<double>(load.parked));
}

double OpenFiles() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), &closedir);
  if (folder == nullptr) return 0;
  int count = 0;
  while (readdir(folder.get()) != nullptr) ++count;
  return count - 3;  // ".", ".." and the folder itself
}

double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0;
  double resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// By the names that Prometheus' own libraries give them.
void AddProcess(Gauges& gauges, double start_seconds) {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  gauges.AddCounter("process_cpu_seconds_total", "User and system processor time.",
                    seconds(usage.ru_utime) + seconds(usage.ru_stime));
  gauges.Add("process_resident_memory_bytes", "Resident memory.", ResidentBytes());
  gauges.Add("process_open_fds", "Open file descriptors.", OpenFiles());
  rlimit most = {};
  getrlimit(RLIMIT_NOFILE, &most);
  gauges.Add("process_max_fds", "Most open file descriptors.", static_cast<double>(most.rlim_cur));
  gauges.Add("process_start_time_seconds", "When the server started, in seconds since 1970.",
             start_seconds);
  gauges.Add("vectable_allocator_free_bytes", "Memory of the heap that is not in use: an estimate.",
             static_cast<double>(AllocatorFreeBytes()));
}

}  // namespace

StateMetrics::StateMetrics(const Database& database, std::function<ServerLoad()> load,
                           std::string version)
    : database_(database),
      load_(std::move(load)),
      version_(std::move(version)),
      start_seconds_(absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch())) {}

std::vector<prometheus::MetricFamily> StateMetrics::Collect() const {
  Gauges gauges;
  gauges.Add("vectable_build_info", "1; the label is the server's version.", 1,
             {{"version", version_}});
  const absl::StatusOr<DatabaseReport> report = database_.Report();
  gauges.Add("vectable_up", "1 where the database could be measured.", report.ok() ? 1 : 0);
  if (report.ok()) {
    gauges.Add("vectable_tables", "Tables.", static_cast<double>(report->tables.size()));
    for (const TableState& table : report->tables) AddTable(gauges, table);
    AddStore(gauges, report->store);
  }
  AddLoad(gauges, load_());
  AddProcess(gauges, start_seconds_);
  return gauges.Take();
}

}  // namespace vectable
