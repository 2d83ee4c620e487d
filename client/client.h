#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/row_uploader.h"
#include "vectable/v1/admin.pb.h"
#include "vectable/v1/row.pb.h"
#include "vectable/v1/search.pb.h"
#include "vectable/v1/sizing.pb.h"
#include "vectable/v1/table.pb.h"

namespace vectable {

// Encryption of a connection; files in PEM form.
struct ClientTls {
  bool enabled = false;
  std::string ca_file;      // whose signature a server's certificate needs; empty: the system's
  std::string server_name;  // that the certificate is for; empty: the host of the address
  // Shown to a server that asks for a certificate; both or none.
  std::string certificate_file;
  std::string key_file;
};

// Where the server is, how to reach it and how long to wait for it.
struct ClientOptions {
  std::string server = "127.0.0.1:50051";      // HOST:PORT
  absl::Duration timeout = absl::Seconds(30);  // of one rpc
  // How long a server that refuses connections is tried again; one that is slow to answer is
  // waited for up to `timeout`.
  absl::Duration connect_timeout = absl::Seconds(1);
  ClientTls tls = {};
  std::string token = {};  // shown with each call; empty: none
  bool insecure = false;   // the token may be sent in plain text beyond this machine
};

// A connection to a Vectable server.
//
//   auto client = vectable::Client::Connect({.server = "127.0.0.1:50051"});
//   if (!client.ok()) ...
//   vectable::v1::NearestRequest request;
//   request.set_table("glove");
//   request.set_k(10);
//   request.add_queries()->set_word("cat");
//   auto answers = (*client)->Nearest(request);
//
// Requests and replies are the messages of proto/vectable/v1, where every field is explained.
// Errors are the server's, with its text, and besides: UNAVAILABLE (no server, connection lost),
// DEADLINE_EXCEEDED (no answer within the timeout), INVALID_ARGUMENT (text that isn't valid UTF-8,
// which can't be sent). Thread-safe.
class Client {
 public:
  // Waits for the server as the options say. UNAVAILABLE: none answers there, or not in the
  // way of the options; INVALID_ARGUMENT: the address isn't HOST:PORT, a TLS file can't be used, or
  // the token would be sent in plain text. Each call may give UNAUTHENTICATED or PERMISSION_DENIED.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const ClientOptions& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The table as created; see TableService for all of these.
  absl::StatusOr<v1::Table> CreateTable(const v1::CreateTableRequest& request);
  absl::StatusOr<v1::Table> GetTable(const std::string& name);
  // All tables, by name.
  absl::StatusOr<std::vector<v1::Table>> ListTables();
  absl::StatusOr<v1::RenameTableResponse> RenameTable(const std::string& name,
                                                      const std::string& new_name, bool replace);
  // The table as the work begins; GetTable tells when it is done.
  absl::StatusOr<v1::Table> OptimizeTable(const std::string& name);
  // Gives the number of rows that the table held, and the snapshots that keep its disk.
  absl::StatusOr<v1::DropTableResponse> DropTable(const std::string& name);

  // Writes rows in one atomic mutation. RESOURCE_EXHAUSTED, before anything is sent, for more than
  // a message holds: the error names the rows that fit; Upload takes any number.
  absl::StatusOr<v1::UpsertResponse> Upsert(const v1::UpsertRequest& request);
  // Opens a stream for any number of rows, in batches that are atomic each. The client must outlive
  // it.
  absl::StatusOr<std::unique_ptr<RowUploader>> Upload(const UploadOptions& options);

  // Reads rows by word or row id, any number of them: more than one request carries are asked for
  // in turn, so that the parts may be of different moments.
  absl::StatusOr<v1::GetResponse> Get(const std::string& table, std::span<const std::string> words,
                                      bool with_vectors = true);
  absl::StatusOr<v1::GetResponse> GetByRowId(const std::string& table,
                                             std::span<const uint64_t> row_ids,
                                             bool with_vectors = true);

  // Deletes rows by word or row id; up to 10,000 keys are one atomic mutation, more are several.
  absl::StatusOr<v1::DeleteResponse> Delete(const std::string& table,
                                            std::span<const std::string> words);
  absl::StatusOr<v1::DeleteResponse> DeleteByRowId(const std::string& table,
                                                   std::span<const uint64_t> row_ids);

  // Calls `on_row` for each row of the listing, in order, until it returns an error, which is then
  // given back. The timeout is how long the server may stay silent between two parts.
  absl::Status Scan(const v1::ScanRequest& request,
                    const std::function<absl::Status(const v1::Row&)>& on_row);

  // Answers any number of queries, in requests of at most 1,000; one result per query, in order.
  // The other fields are those of the last part, with the times added up; the method is the graph's
  // if any part's was.
  absl::StatusOr<v1::NearestResponse> Nearest(const v1::NearestRequest& request);
  // Answers requests over one stream, many of them on their way at a time. `next` fills a request
  // (empty before) and says whether there was one, on a thread of its own; `on_answer` gets each
  // answer, or a request's error, in the order asked, until it returns an error, which is then
  // given back once `next` returns. The timeout is how long the server may owe an answer in
  // silence.
  absl::Status NearestStream(
      const std::function<bool(v1::NearestRequest&)>& next,
      const std::function<absl::Status(const v1::NearestStreamResponse&)>& on_answer);
  absl::StatusOr<v1::SimilarityResponse> Similarity(const v1::SimilarityRequest& request);

  absl::StatusOr<v1::ReportTableResponse> ReportTable(const std::string& table);
  // Measures what each precision costs. Calls `on_progress` after each step of the server's work
  // until it returns an error, which is then given back. The timeout is how long the server may
  // stay silent between two steps.
  absl::StatusOr<v1::PrecisionCosts> MeasurePrecisions(
      const v1::MeasurePrecisionsRequest& request,
      const std::function<absl::Status(uint64_t done, uint64_t steps)>& on_progress);
  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo();

  // Makes a snapshot of all tables; an empty name stands for the time.
  absl::StatusOr<v1::Snapshot> CreateSnapshot(const std::string& name);
  // All snapshots, oldest first.
  absl::StatusOr<std::vector<v1::Snapshot>> ListSnapshots();
  // Gives the bytes that this gave back.
  absl::StatusOr<uint64_t> DeleteSnapshot(const std::string& name);

  const ClientOptions& options() const;

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace vectable
