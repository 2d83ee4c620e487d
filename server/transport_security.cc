#include "server/transport_security.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/file_or_pipe.h"
#include "common/names.h"
#include "common/status_util.h"
#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"

namespace vectable {
namespace {

constexpr size_t kMostPemBytes = size_t{4} << 20;
constexpr unsigned kReadAgainSeconds = 300;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* value) const {
    Free(value);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

absl::Status FileError(std::string_view what, const std::string& path, const absl::Status& status) {
  return Annotate(status, absl::StrCat(std::string(what), " ", Quoted(path)));
}

// OpenSSL's own words for the last thing that went wrong.
std::string LibraryError() {
  char text[256];
  ERR_error_string_n(ERR_get_error(), text, sizeof(text));
  ERR_clear_error();
  return text;
}

// The certificates in PEM text; at least one.
absl::StatusOr<std::vector<Certificate>> ParseCertificates(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Certificate> found;
  while (Certificate one{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    found.push_back(std::move(one));
  }
  const unsigned long error = ERR_peek_last_error();  // NOLINT(google-runtime-int): OpenSSL's type
  if (!found.empty() && ERR_GET_REASON(error) == PEM_R_NO_START_LINE) {
    ERR_clear_error();  // the text's end
    return found;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("isn't a certificate in PEM form: ", LibraryError()));
}

absl::StatusOr<std::vector<Certificate>> ReadCertificates(std::string_view what,
                                                          const std::string& path) {
  const absl::StatusOr<std::string> pem = ReadFileOrPipe(path, kMostPemBytes);
  if (!pem.ok()) return FileError(what, path, pem.status());
  absl::StatusOr<std::vector<Certificate>> found = ParseCertificates(*pem);
  if (!found.ok()) return FileError(what, path, found.status());
  return found;
}

absl::StatusOr<Key> ReadKey(const std::string& path) {
  absl::StatusOr<std::string> pem = ReadFileOrPipe(path, kMostPemBytes);
  if (!pem.ok()) return FileError("TLS key", path, pem.status());
  const Bio bio(BIO_new_mem_buf(pem->data(), static_cast<int>(pem->size())));
  // No one is there to be asked for a password.
  const auto no_password = [](char*, int, int, void*) { return 0; };
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  OPENSSL_cleanse(pem->data(), pem->size());
  if (key != nullptr) return key;
  return FileError("TLS key", path,
                   absl::InvalidArgumentError(absl::StrCat(
                       "isn't a key without a password in PEM form: ", LibraryError())));
}

absl::Status CheckTime(const X509& certificate) {
  if (X509_cmp_current_time(X509_get0_notAfter(&certificate)) < 0) {
    return absl::InvalidArgumentError("has expired");
  }
  return absl::OkStatus();
}

// gRPC itself finds most faults of these files only when a client connects.
absl::Status CheckFiles(const TransportSecurity& security) {
  VT_ASSIGN_OR_RETURN(const std::vector<Certificate> chain,
                      ReadCertificates("TLS certificate", security.certificate));
  if (const absl::Status status = CheckTime(*chain.front()); !status.ok()) {
    return FileError("TLS certificate", security.certificate, status);
  }
  VT_ASSIGN_OR_RETURN(const Key key, ReadKey(security.key));
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError(absl::StrCat("TLS key ", Quoted(security.key),
                                                   " doesn't belong to the certificate ",
                                                   Quoted(security.certificate)));
  }
  if (security.client_ca.empty()) return absl::OkStatus();
  return ReadCertificates("TLS client CA", security.client_ca).status();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const TransportSecurity& security) {
  if (!security.enabled()) return grpc::InsecureServerCredentials();
  VT_RETURN_IF_ERROR(CheckFiles(security));
  const bool mutual = !security.client_ca.empty();
  const auto files =
      mutual ? std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
                   security.key, security.certificate, security.client_ca, kReadAgainSeconds)
             : std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
                   security.key, security.certificate, kReadAgainSeconds);
  grpc::experimental::TlsServerCredentialsOptions options(files);
  options.watch_identity_key_cert_pairs();
  if (mutual) options.watch_root_certs();
  options.set_cert_request_type(mutual ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                       : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace vectable
