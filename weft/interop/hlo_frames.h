// Stack frames of the user's code, each stored once.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "weft/core/location.h"
#include "weft/interop/wire.h"

namespace weft {

// Gathers places and their callers for xla.StackFrameIndexProto, where all numbers start at 1.
class HloFrames {
 public:
  // The number of the frame at that place; 0 for an unknown one.
  int64_t add(const Location& loc);
  // xla.StackFrameIndexProto of all frames that were added.
  const Message& index() const { return index_; }

 private:
  int64_t file(const std::string& name);
  int64_t function(const std::string& name);

  std::map<std::string, int64_t> files_, functions_;
  std::map<std::tuple<int64_t, int64_t, int, int>, int64_t> places_;  // file, function, line, column
  std::map<std::pair<int64_t, int64_t>, int64_t> frames_;             // place, frame of the caller
  Message index_;
};

}  // namespace weft
