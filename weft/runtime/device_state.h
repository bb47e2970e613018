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
  bool is_host;
  Allocator allocator;
  std::unique_ptr<Queue> queue = std::make_unique<Queue>();

  DeviceState(std::string_view kind, int index, std::unique_ptr<DeviceMemory> memory);
};

// So that no run outlives what runs need: for the first that is pushed.
void stop_queues_at_exit();

}  // namespace weft
