// When something that was begun is done.
#pragma once

#include <memory>

#include "weft/core/api.h"

namespace weft WEFT_API {

struct EventState;

// A handle; copies are the same event. One made by itself is done. Thread-safe.
class Event {
 public:
  Event() = default;
  bool is_done() const;
  // Waits, and throws the error that what it stands for ended with, to everyone who asks. In a child of a fork,
  // Error(runtime, "forked") for what its parent had not done by then.
  void wait() const;
  // Waits for so many seconds at most; whether it is done, or never will be here, as in a child of a fork. Errors are
  // thrown by wait() alone.
  bool wait_for(double seconds) const;

  explicit Event(std::shared_ptr<EventState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<EventState> state_;
};

}  // namespace weft
