#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace vectable {

// Splits off the last `count` fields of `line` (separated by blanks and tabs; those at either end
// don't count) into `fields`, in order. Gives what stands before them without the blanks around it,
// or nothing when the line has fewer fields.
std::optional<std::string_view> SplitLastFields(std::string_view line, size_t count,
                                                std::vector<std::string_view>& fields);

// Reads a line as nearly all rows are written: a word without blanks, then exactly values.size()
// finite numbers. True only where SplitLastFields and ParseFloat give the same word and values;
// false, with `word` and `values` undefined, for whatever else: they tell what it is. Several times
// as fast as they are.
bool ParsePlainRow(std::string_view line, std::string_view& word, std::span<float> values);

// The number of fields in `line`.
size_t CountFields(std::string_view line);

// How many values a line seems to hold: its fields from the end that are numbers, less the word.
// 0 for a line that can't be a row.
size_t CountValues(std::string_view line);

// Two unsigned integers and nothing else, as the header of a word2vec text has them.
std::optional<std::pair<uint64_t, uint64_t>> ParseCountHeader(std::string_view line);

// The number that most of `counts` name, zeros aside; of several equally frequent ones `likely` if
// it is among them, otherwise the largest, so that a short row meets an error instead of changing
// words. 0 when there is none.
size_t MostFrequent(std::span<const size_t> counts, size_t likely);

}  // namespace vectable
