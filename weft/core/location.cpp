// Places in the user's code.
#include "weft/core/location.h"

#include <fstream>

#include "weft/core/text.h"

namespace weft {
namespace {

const Frame& nowhere() {
  static const Frame frame;
  return frame;
}

std::string trimmed(const std::string& line) {
  size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

std::string_view base_name(std::string_view file) { return file.substr(file.rfind('/') + 1); }

}  // namespace

Location::Location(std::string file, int line, std::string function, Location caller, int column)
    : frame_(std::make_shared<Frame>(Frame{std::move(file), line, column, std::move(function), std::move(caller)})) {}

const std::string& Location::file() const { return (frame_ ? *frame_ : nowhere()).file; }
int Location::line() const { return frame_ ? frame_->line : 0; }
int Location::column() const { return frame_ ? frame_->column : 0; }
const std::string& Location::function() const { return (frame_ ? *frame_ : nowhere()).function; }
Location Location::caller() const { return frame_ ? frame_->caller : Location(); }

std::string Location::text() const {
  if (!frame_) return "unknown";
  std::string out = cat(base_name(frame_->file), ":", frame_->line);
  if (frame_->column) append(out, ":", frame_->column);
  return out;
}

std::string Location::source_line() const {
  if (!frame_ || frame_->line < 1) return {};
  std::ifstream file(frame_->file);
  std::string line;
  for (int i = 0; i < frame_->line && file; ++i) std::getline(file, line);
  return file ? trimmed(line) : std::string();
}

std::string Location::trace_text() const {
  std::string out;
  for (Location at = *this; at; at = at.caller()) {
    if (!out.empty()) out += '\n';
    std::string source = at.source_line();
    append(out, "  ", at.text());
    if (!source.empty()) append(out, "   ", source);
  }
  return out;
}

}  // namespace weft
