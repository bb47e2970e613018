// What a device is made of.
#pragma once

#include <memory>
#include <string>

#include "weft/runtime/allocator.h"
#include "weft/runtime/queue.h"

namespace weft {

struct DeviceState {
  std::string kind, name;
  int index;
  Allocator allocator;
  std::unique_ptr<Queue> queue = std::make_unique<Queue>();

  // As Queue::push; Error(runtime, "run_dropped") while the process ends.
  Event push(std::function<void()> work, std::vector<Event> after);

  DeviceState(std::string_view kind, int index, std::unique_ptr<DeviceMemory> memory);
};

}  // namespace weft
