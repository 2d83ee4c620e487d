#include "server/listen_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <memory>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/loopback.h"
#include "common/names.h"

namespace vectable {
namespace {

constexpr int kMaxPort = 65'535;

absl::Status CannotListen(const ListenAddress& address, std::string why) {
  if (!why.empty()) why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return absl::UnavailableError(absl::StrCat("cannot listen on ", ToString(address), ": ", why));
}

std::string ErrorText(int error) { return std::generic_category().message(error); }

class Socket {
 public:
  explicit Socket(int family) : fd_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // 0, or the error number.
  int Listen(const addrinfo& where) const {
    const int on = 1;
    if (fd_ < 0 || ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        ::bind(fd_, where.ai_addr, where.ai_addrlen) != 0 || ::listen(fd_, 1) != 0) {
      return errno;
    }
    return 0;
  }

 private:
  const int fd_;
};

}  // namespace

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
  const auto error = [text](const char* why) {
    return absl::InvalidArgumentError(absl::StrCat("address ", Quoted(text), " ", why));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return error("is not of the form HOST:PORT");
  ListenAddress address;
  address.host = std::string(text.substr(0, colon));
  if (address.host.size() >= 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (absl::StrContains(address.host, ':')) {
    return error("needs brackets around its host: [HOST]:PORT");
  }
  if (address.host.empty()) return error("has no host");
  if (!absl::SimpleAtoi(std::string(text.substr(colon + 1)), &address.port) || address.port < 0 ||
      address.port > kMaxPort) {
    return error("has no port between 0 and 65535");
  }
  return address;
}

std::string ToString(const ListenAddress& address) {
  const bool brackets = absl::StrContains(address.host, ':');
  return absl::StrCat(brackets ? "[" : "", address.host, brackets ? "]:" : ":", address.port);
}

bool IsLoopback(const ListenAddress& address) { return IsLoopbackHost(address.host); }

absl::Status CheckCanListen(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int failure =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (failure != 0) return CannotListen(address, ::gai_strerror(failure));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  int error = 0;
  for (const addrinfo* where = found; where != nullptr; where = where->ai_next) {
    error = Socket(where->ai_family).Listen(*where);
    if (error == 0) return absl::OkStatus();
  }
  return CannotListen(address, ErrorText(error));
}

}  // namespace vectable
