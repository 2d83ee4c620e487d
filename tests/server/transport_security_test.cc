// The files of a server's TLS, good and bad.
#include "server/transport_security.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_certificates.h"

namespace vectable {
namespace {

using absl::StatusCode;

class TransportSecurityTest : public ::testing::Test {
 protected:
  TransportSecurityTest() {
    ca_.Sign("server");
    ca_.Sign("other");
    ca_.Sign("expired", -1);
  }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  std::string Read(const std::string& path) const {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  TransportSecurity Good() const {
    return {ca_.certificate("server"), ca_.key("server"), ca_.certificate("ca")};
  }
  static absl::Status Try(const TransportSecurity& security) {
    return MakeServerCredentials(security).status();
  }

  TempDir folder_;
  TestCertificates ca_{folder_.path()};
};

TEST_F(TransportSecurityTest, GoodFilesAreTaken) {
  EXPECT_THAT(Try({}), IsOk());
  TransportSecurity security = Good();
  EXPECT_THAT(Try(security), IsOk());
  security.client_ca.clear();
  EXPECT_THAT(Try(security), IsOk());
  security.certificate =
      Write("chain.pem", Read(ca_.certificate("server")) + Read(ca_.certificate("ca")));
  EXPECT_THAT(Try(security), IsOk());
}

TEST_F(TransportSecurityTest, BadFilesAreNamed) {
  const std::string junk = Write("junk", "not a certificate");
  const std::string empty = Write("empty", "");
  std::string damaged = Read(ca_.certificate("server"));
  damaged.replace(damaged.size() / 2, 4, "!!!!");
  const auto with = [this](std::string TransportSecurity::*part, const std::string& path) {
    TransportSecurity security = Good();
    security.*part = path;
    return Try(security);
  };
  const auto kCertificate = &TransportSecurity::certificate;
  const auto kKey = &TransportSecurity::key;
  const auto kCa = &TransportSecurity::client_ca;
  for (const auto part : {kCertificate, kKey, kCa}) {
    EXPECT_THAT(with(part, folder_.path() + "/absent"), StatusIs(StatusCode::kNotFound, "/absent"));
    EXPECT_THAT(with(part, folder_.path()),
                StatusIs(StatusCode::kInvalidArgument, "is a directory"));
    EXPECT_THAT(with(part, junk), StatusIs(StatusCode::kInvalidArgument, "in PEM form"));
    EXPECT_THAT(with(part, empty), StatusIs(StatusCode::kInvalidArgument, "in PEM form"));
  }
  EXPECT_THAT(with(kCertificate, Write("damaged.pem", damaged)),
              StatusIs(StatusCode::kInvalidArgument, "damaged.pem"));
  EXPECT_THAT(with(kCertificate, ca_.key("server")),
              StatusIs(StatusCode::kInvalidArgument, "isn't a certificate"));
  EXPECT_THAT(with(kKey, ca_.certificate("server")),
              StatusIs(StatusCode::kInvalidArgument, "isn't a key"));
  EXPECT_THAT(with(kKey, ca_.key("other")),
              StatusIs(StatusCode::kInvalidArgument, "doesn't belong to the certificate"));
  TransportSecurity expired = Good();
  expired.certificate = ca_.certificate("expired");
  expired.key = ca_.key("expired");
  EXPECT_THAT(Try(expired), StatusIs(StatusCode::kInvalidArgument, "has expired"));
}

}  // namespace
}  // namespace vectable
