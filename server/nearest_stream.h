#pragma once

#include <memory>

#include "absl/status/status.h"
#include "engine/database.h"
#include "google/protobuf/arena.h"
#include "grpcpp/server_context.h"
#include "server/parked_calls.h"
#include "server/pipelined_stream.h"
#include "vectable/v1/search.pb.h"

namespace vectable {

// One NearestStream call: at most two requests at once are searched for, each on a worker; further
// ones are read ahead. A request that fails is answered with its error, and the stream goes on.
class NearestStream final : public PipelinedStream {
 public:
  NearestStream(Database& database, const CallEnvironment& calls,
                grpc::CallbackServerContext& context);

 private:
  enum Stage { kSearching = kRead + 1 };

  struct Search : Item {
    google::protobuf::Arena arena;
    v1::NearestRequest* request = nullptr;  // in the arena; null until it is parsed
  };

  std::unique_ptr<Item> NewItem() const override { return std::make_unique<Search>(); }
  Work NextWork(const Items& items) override;

  // On a worker: answers, or parks the search until its table can answer.
  void Run(Search& search);
  absl::Status Parse(Search& search);
  bool TableCanAnswer(const Search& search) const;
  void Park(Search& search);
  void Wake(Search& search, ParkedCalls::Wake wake);
  // Fills the reply with an answer or the request's error.
  absl::Status Answer(Search& search, const absl::Status& so_far);
  absl::Status FillAnswer(const v1::NearestRequest& request, v1::NearestResponse& answer) const;

  Database& database_;
};

}  // namespace vectable
