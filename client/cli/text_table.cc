#include "client/cli/text_table.h"

#include <algorithm>
#include <utility>

#include "client/cli/display.h"

namespace vectable {
namespace {

std::string Padded(const std::string& text, size_t width, TextTable::Align align) {
  const size_t used = DisplayWidth(text);
  const std::string fill(width > used ? width - used : 0, ' ');
  return align == TextTable::Align::kRight ? fill + text : text + fill;
}

}  // namespace

void TextTable::AddColumn(std::string title, Align align) {
  title = Printable(title);
  const size_t width = DisplayWidth(title);
  columns_.push_back({std::move(title), align, width});
}

void TextTable::AddRow(const std::vector<std::string>& cells) {
  std::vector<std::string>& row = rows_.emplace_back();
  for (size_t i = 0; i < columns_.size(); ++i) {
    row.push_back(i < cells.size() ? Printable(cells[i]) : "");
    columns_[i].width = std::max(columns_[i].width, DisplayWidth(row.back()));
  }
}

void TextTable::SetFooter(std::string label, std::string text) {
  footer_label_ = Printable(label);
  footer_text_ = Printable(text);
  has_footer_ = true;
}

std::string TextTable::Render(bool bold) const {
  std::vector<Column> columns = columns_;
  size_t spanned = 0;  // width of all columns but the first, with the lines between them
  for (size_t i = 1; i < columns.size(); ++i) spanned += columns[i].width + (i > 1 ? 3 : 0);
  if (has_footer_) {
    columns[0].width = std::max(columns[0].width, DisplayWidth(footer_label_));
    const size_t needed = DisplayWidth(footer_text_);
    if (needed > spanned) columns.back().width += needed - spanned;
    spanned = std::max(spanned, needed);
  }

  std::string rule = "+";
  for (const Column& column : columns) rule += std::string(column.width + 2, '-') + "+";
  rule += "\n";

  std::string out = rule;
  for (const Column& column : columns) {
    const std::string title = Padded(column.title, column.width, column.align);
    out += bold ? "| \x1b[1m" + title + "\x1b[0m " : "| " + title + " ";
  }
  out += "|\n" + rule;
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < columns.size(); ++i) {
      out += "| " + Padded(row[i], columns[i].width, columns[i].align) + " ";
    }
    out += "|\n";
  }
  if (has_footer_) {
    if (!rows_.empty()) out += rule;
    out += "| " + Padded(footer_label_, columns[0].width, Align::kLeft) + " | " +
           Padded(footer_text_, spanned, Align::kLeft) + " |\n";
    return out + "+" + std::string(columns[0].width + 2, '-') + "+" +
           std::string(spanned + 2, '-') + "+\n";
  }
  return rows_.empty() ? out : out + rule;
}

}  // namespace vectable
