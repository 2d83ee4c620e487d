// The file of tokens, and who it lets do what.
#include "server/access_tokens.h"

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

using absl::StatusCode;

constexpr const char* kReader = "reader-token-0001";
constexpr const char* kWriter = "writer-token-0002";
constexpr const char* kAdmin = "admin-token-00003";

class AccessTokensTest : public ::testing::Test {
 protected:
  absl::Status Load(const std::string& text) {
    std::ofstream(path_) << text;
    return tokens_.Load(path_);
  }
  absl::Status LoadThree() {
    return Load(absl::StrCat("# who may do what\n\nr read-only ", kReader, "\n  w\tread-write  ",
                             kWriter, " \r\na admin ", kAdmin));
  }
  absl::StatusOr<std::string> Admit(const std::string& authorization,
                                    const RpcMethod& method = rpcs::kNearest) const {
    const Admission admission = tokens_.Admit(authorization, method);
    if (!admission.status.ok()) return admission.status;
    return admission.caller;
  }

  TempDir directory_;
  const std::string path_ = directory_.path() + "/tokens";
  AccessTokens tokens_;
};

TEST_F(AccessTokensTest, WithoutAFileEverybodyMayDoEverything) {
  for (const RpcMethod* method : AllRpcMethods()) EXPECT_EQ(*Admit("", *method), "");
  EXPECT_EQ(tokens_.size(), 0U);
}

TEST_F(AccessTokensTest, EachRightIncludesTheWeakerOnes) {
  ASSERT_THAT(LoadThree(), IsOk());
  EXPECT_EQ(tokens_.size(), 3U);
  const std::pair<const char*, Right> kTokens[] = {
      {kReader, Right::kReadOnly}, {kWriter, Right::kReadWrite}, {kAdmin, Right::kAdmin}};
  for (const RpcMethod* method : AllRpcMethods()) {
    for (const auto& [token, right] : kTokens) {
      const auto admitted = Admit(absl::StrCat("Bearer ", token), *method);
      if (right >= method->needs) {
        EXPECT_THAT(admitted, IsOk()) << method->Label();
      } else {
        EXPECT_THAT(admitted, StatusIs(StatusCode::kPermissionDenied, method->Label()));
        EXPECT_EQ(admitted.status().message().find(token), std::string::npos);
      }
    }
  }
  EXPECT_EQ(*Admit(absl::StrCat("bearer  ", kWriter)), "w");
}

TEST_F(AccessTokensTest, NothingElseIsAToken) {
  ASSERT_THAT(LoadThree(), IsOk());
  for (const std::string& header : {std::string(), std::string("Bearer"), std::string("Bearer "),
                                    absl::StrCat("Basic ", kAdmin), std::string(kAdmin)}) {
    EXPECT_THAT(Admit(header), StatusIs(StatusCode::kUnauthenticated, "wants a token")) << header;
  }
  const std::string admin = kAdmin;
  for (const std::string& token :
       {admin.substr(1), admin.substr(0, admin.size() - 1), admin + "x",
        std::string("ADMIN-TOKEN-00003"), admin + " " + kReader, std::string(100'000, 'a')}) {
    const auto admitted = Admit("Bearer " + token);
    EXPECT_THAT(admitted, StatusIs(StatusCode::kUnauthenticated, "doesn't know the token"));
    EXPECT_LT(admitted.status().message().size(), 200U);
  }
}

TEST_F(AccessTokensTest, ATokenThatLeavesTheFileIsRevoked) {
  ASSERT_THAT(LoadThree(), IsOk());
  ASSERT_THAT(Load(absl::StrCat("a admin ", kAdmin, "\na admin another-admin-token\n")), IsOk());
  EXPECT_THAT(Admit(absl::StrCat("Bearer ", kReader)),
              StatusIs(StatusCode::kUnauthenticated, "or no longer"));
  EXPECT_EQ(*Admit(absl::StrCat("Bearer ", kAdmin)), "a");
  EXPECT_EQ(*Admit("Bearer another-admin-token"), "a");
}

TEST_F(AccessTokensTest, ABadFileChangesNothingAndIsNotShown) {
  ASSERT_THAT(LoadThree(), IsOk());
  const std::string secret = "some-secret-token";
  const std::pair<std::string, const char*> kBad[] = {
      {"", "has no tokens"},
      {"# nothing\n", "has no tokens"},
      {"\nx admin\n", "line 2: has 2 fields"},
      {"x admin " + secret + " more", "line 1: has 4 fields"},
      {"x root " + secret, "none of read-only"},
      {"x " + secret + " admin", "none of read-only"},
      {"x/y admin " + secret, "line 1: its name"},
      {std::string(65, 'x') + " admin " + secret, "line 1: its name"},
      {"x admin short", "isn't 16 to 512 visible ASCII characters (it has 5 bytes)"},
      {"x admin " + std::string(513, 't'), "it has 513 bytes"},
      {"x admin t\xc3\xb6k" + secret, "visible ASCII"},
      {"x admin " + secret + "\ny admin " + secret, "line 2: its token is that of x too"},
  };
  for (const auto& [text, message] : kBad) {
    const absl::Status status = Load(text);
    EXPECT_THAT(status, StatusIs(StatusCode::kInvalidArgument, message)) << text;
    EXPECT_THAT(status, StatusIs(StatusCode::kInvalidArgument, path_)) << text;
    EXPECT_EQ(status.message().find(secret), std::string::npos) << text;
    EXPECT_EQ(tokens_.size(), 3U);
    EXPECT_THAT(Admit(absl::StrCat("Bearer ", kAdmin)), IsOk());
  }
  EXPECT_THAT(tokens_.Load(path_ + "-absent"), StatusIs(StatusCode::kNotFound, "cannot be opened"));
  EXPECT_THAT(tokens_.Load(directory_.path()),
              StatusIs(StatusCode::kInvalidArgument, "is a directory"));
  std::string many;
  for (size_t i = 0; i <= kMostTokens; ++i) absl::StrAppend(&many, "x admin ", secret, i, "\n");
  EXPECT_THAT(Load(many), StatusIs(StatusCode::kInvalidArgument, "more than 1,000 tokens"));
}

}  // namespace
}  // namespace vectable
