#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vectable {

// An aligned table of ASCII lines, in cells of any text:
//
//   +-------+--------+
//   | Word  | Object |
//   +-------+--------+
//   | cat   |      0 |
//   +-------+--------+
//   | Total | 3 rows |
//   +-------+--------+
//
// Not thread-safe.
class TextTable {
 public:
  enum class Align { kLeft, kRight };

  // Adds a column; all of them before the first row.
  void AddColumn(std::string title, Align align = Align::kLeft);
  // Adds a row with as many cells as there are columns. Control characters are escaped.
  void AddRow(const std::vector<std::string>& cells);
  // Sets the last row: a label in the first column, and a text that spans the others.
  void SetFooter(std::string label, std::string text);

  // All lines, each with its end. `bold` makes the titles bold on a terminal.
  std::string Render(bool bold = false) const;

 private:
  struct Column {
    std::string title;
    Align align;
    size_t width;
  };

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::string footer_label_;
  std::string footer_text_;
  bool has_footer_ = false;
};

}  // namespace vectable
