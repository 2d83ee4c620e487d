#include "engine/near_words.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/names.h"

namespace vectable {
namespace {

constexpr size_t kMostEdits = 2;
constexpr size_t kLongestWord = 64;  // longer words aren't compared
constexpr size_t kTooFar = kMostEdits + 1;

// Optimal string alignment distance of two strings of at most kLongestWord bytes, or kTooFar.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::array<std::array<size_t, kLongestWord + 1>, 3> rows;
  size_t* before = rows[0].data();
  size_t* above = rows[1].data();
  size_t* row = rows[2].data();
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    size_t least = row[0];
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
      least = std::min(least, row[j]);
    }
    if (least > kMostEdits) return kTooFar;
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

NearWords::NearWords(std::string_view word, size_t most)
    : folded_(absl::AsciiStrToLower({word.data(), word.size()})), word_(word), most_(most) {}

void NearWords::Offer(std::string_view candidate) {
  if (candidate.size() > kLongestWord || folded_.size() > kLongestWord || candidate == word_)
    return;
  const size_t longer = std::max(candidate.size(), folded_.size());
  if (longer - std::min(candidate.size(), folded_.size()) > kMostEdits) return;
  const std::string folded = absl::AsciiStrToLower({candidate.data(), candidate.size()});
  const size_t distance = EditDistance(folded_, folded);
  // Two edits of a word of two bytes make any other one.
  if (distance > kMostEdits || (distance > 0 && distance * 2 >= folded_.size())) return;
  if (found_.size() == most_ && found_.back().distance <= distance) return;
  const auto place = std::upper_bound(found_.begin(), found_.end(), distance,
                                      [](size_t d, const Found& f) { return d < f.distance; });
  found_.insert(place, {distance, std::string(candidate)});
  if (found_.size() > most_) found_.pop_back();
}

std::vector<std::string> NearWords::words() const {
  std::vector<std::string> words;
  for (const Found& found : found_) words.push_back(found.word);
  return words;
}

std::string NearWords::Hint() const {
  if (found_.empty()) return "";
  return absl::StrCat(
      "; did you mean ",
      absl::StrJoin(found_, ", ",
                    [](std::string* out, const Found& found) { out->append(Quoted(found.word)); }),
      "?");
}

}  // namespace vectable
