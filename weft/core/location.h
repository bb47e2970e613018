// Where in the user's code something was written.
#pragma once

#include <memory>
#include <string>

#include "weft/core/api.h"

namespace weft WEFT_API {

struct Frame;

// A place and the chain of callers that led there; empty when unknown. Cheap to copy, immutable, never part of any
// hash, comparison of programs or cache key.
class Location {
 public:
  Location() = default;
  Location(std::string file, int line, std::string function = {}, Location caller = {}, int column = 0);

  explicit operator bool() const { return frame_ != nullptr; }
  const std::string& file() const;
  int line() const;
  int column() const;
  const std::string& function() const;
  Location caller() const;
  // "model.py:14", or "unknown"; with columns "model.mlir:3:7".
  std::string text() const;
  // The line itself, read from the file at the time of asking and trimmed; empty where it cannot be read.
  std::string source_line() const;
  // "  model.py:14   h = x + bias" and a line for each caller: for errors.
  std::string trace_text() const;

 private:
  std::shared_ptr<const Frame> frame_;
};

struct Frame {
  std::string file;
  int line = 0, column = 0;
  std::string function;
  Location caller;
};

}  // namespace weft
