#include "sizing/presets.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

TEST(PresetsTest, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const ModelPreset& preset : AllPresets()) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    EXPECT_FALSE(preset.source.empty()) << preset.name;
    ASSERT_THAT(FindPreset(preset.name), IsOk());
    EXPECT_EQ((*FindPreset(preset.name))->name, preset.name);
  }
}

TEST(PresetsTest, UnknownNamesGetNearOnesOrAll) {
  constexpr auto kNotFound = absl::StatusCode::kNotFound;
  EXPECT_THAT(FindPreset("Llama-3_8B"), StatusIs(kNotFound, "near it are llama3-8b"));
  EXPECT_THAT(FindPreset("gpt3"), StatusIs(kNotFound, "no preset 'gpt3'; near it are gpt2"));
  EXPECT_THAT(FindPreset("bert"), StatusIs(kNotFound, "bert-base-cased, bert-base-uncased"));
  EXPECT_THAT(FindPreset(""), StatusIs(kNotFound, "known are gpt2, gpt2-medium"));
  EXPECT_THAT(FindPreset("quux"), StatusIs(kNotFound, "pytorch-embedding"));
  EXPECT_THAT(FindPreset(std::string(1 << 20, 'x')), StatusIs(kNotFound, "known are"));
}

}  // namespace
}  // namespace vectable
