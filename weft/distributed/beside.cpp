#include "weft/distributed/beside.h"

#include <algorithm>
#include <future>
#include <system_error>

namespace weft {
namespace {

struct Begun {
  const void* result;
  std::shared_future<void> done;
};
thread_local std::vector<Begun> begun;

}  // namespace

void begin_beside(Communicator& communicator, CollectiveCall call) {
  std::shared_future<void> before;
  if (!begun.empty()) before = begun.back().done;
  const void* result = call.result;
  try {
    begun.push_back({result, std::async(std::launch::async, [&communicator, before, call] {
                               if (before.valid()) before.wait();
                               communicator.run(call);
                             }).share()});
  } catch (const std::system_error&) {
    // There is no thread to be had.
    if (before.valid()) before.wait();
    communicator.run(std::move(call));
  }
}

void await_beside(const void* result) {
  auto found = std::ranges::find(begun, result, &Begun::result);
  if (found == begun.end()) return;
  std::shared_future<void> done = std::move(found->done);
  begun.erase(found);
  done.get();
}

void wait_beside() {
  // They are done in order.
  if (!begun.empty()) begun.back().done.wait();
}

void settle_beside() noexcept {
  wait_beside();
  begun.clear();
}

}  // namespace weft
