#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vectable {

// Collects the few words nearest to one in spelling: case set aside (ASCII), then at most two
// inserted, dropped, replaced or swapped bytes (optimal string alignment distance). Costs a few
// hundred ns per word offered.
class NearWords {
 public:
  explicit NearWords(std::string_view word, size_t most = 3);

  // Considers a word; earlier ones win a tie.
  void Offer(std::string_view candidate);

  // The best, nearest first.
  std::vector<std::string> words() const;

  // "; did you mean 'king', 'kings'?", or nothing.
  std::string Hint() const;

 private:
  struct Found {
    size_t distance;
    std::string word;
  };

  const std::string folded_;
  const std::string word_;
  const size_t most_;
  std::vector<Found> found_;  // by distance
};

}  // namespace vectable
