#pragma once

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "client/client.h"
#include "client/connection.h"
#include "client/grpc_status.h"
#include "common/status_util.h"
#include "vectable/v1/admin.grpc.pb.h"
#include "vectable/v1/row.grpc.pb.h"
#include "vectable/v1/search.grpc.pb.h"
#include "vectable/v1/sizing.grpc.pb.h"
#include "vectable/v1/table.grpc.pb.h"

namespace vectable {

// What Client hides: the stubs, and how a call is made.
struct Client::Impl {
  explicit Impl(ClientOptions client_options, const std::shared_ptr<grpc::Channel>& channel)
      : options(std::move(client_options)),
        tables(channel),
        rows(channel),
        search(channel),
        sizing(channel),
        admin(channel) {}

  // Says whom the client asked and how long it waited, where gRPC's text doesn't.
  absl::Status Explain(const absl::Status& status) const {
    if (absl::IsDeadlineExceeded(status)) {
      return absl::DeadlineExceededError(
          fmt::format("no answer from {} within {:g} s: {}", options.server,
                      absl::ToDoubleSeconds(options.timeout), std::string(status.message())));
    }
    if (absl::IsUnavailable(status)) return Annotate(status, "server " + options.server);
    return status;
  }

  template <typename Stub, typename Request, typename Reply>
  absl::StatusOr<Reply> Call(Stub& stub,
                             grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                          Reply*),
                             const Request& request) {
    grpc::ClientContext context;
    ShowToken(options, context);
    if (options.timeout != absl::InfiniteDuration()) {
      context.set_deadline(absl::ToChronoTime(absl::Now() + options.timeout));
    }
    Reply reply;
    VT_RETURN_IF_ERROR(Explain(FromGrpcStatus((stub.*method)(&context, request, &reply))));
    return reply;
  }

  // Defined in client_rows.cc.
  template <typename Key>
  absl::StatusOr<v1::GetResponse> Get(Client& client, const std::string& table,
                                      std::span<const Key> keys, bool with_vectors);
  template <typename Key>
  absl::StatusOr<v1::DeleteResponse> Delete(const std::string& table, std::span<const Key> keys);

  const ClientOptions options;
  v1::TableService::Stub tables;
  v1::RowService::Stub rows;
  v1::SearchService::Stub search;
  v1::SizingService::Stub sizing;
  v1::AdminService::Stub admin;
};

}  // namespace vectable
