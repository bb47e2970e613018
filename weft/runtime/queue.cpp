#include "weft/runtime/queue.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>

#include "weft/core/error.h"
#include "weft/core/knobs.h"
#include "weft/runtime/device_state.h"

namespace weft {

struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> done{false};
  std::exception_ptr error;
  pid_t process = getpid();

  void finish(std::exception_ptr ended) {
    {
      std::lock_guard lock(mutex);
      error = std::move(ended);
      done.store(true, std::memory_order_release);
    }
    changed.notify_all();
  }
};

bool Event::is_done() const { return !state_ || state_->done.load(std::memory_order_acquire); }

void Event::wait() const {
  if (!state_) return;
  if (!is_done()) {
    if (getpid() != state_->process)
      fail(ErrorKind::runtime, "forked",
           "a run that was not done when this process was forked is done by its parent alone");
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->done.load(std::memory_order_relaxed); });
  }
  if (state_->error) std::rethrow_exception(state_->error);
}

bool Event::wait_for(double seconds) const {
  if (is_done() || getpid() != state_->process) return true;
  std::chrono::duration<double> most(seconds > 0 ? std::min(seconds, 1e9)
                                                 : 0);  // more than the clock can count is for ever
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, most, [&] { return state_->done.load(std::memory_order_relaxed); });
}

void Queue::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  // The work that ends the process is not waited for.
  if (thread_.get_id() == std::this_thread::get_id()) thread_.detach();
  if (thread_.joinable()) thread_.join();
  auto dropped = std::make_exception_ptr(
      ExecutionError({ErrorKind::runtime, "the process ended before the run began", "run_dropped"}));
  for (Item& item : items_) {
    item.work = nullptr;
    item.event->finish(dropped);
  }
  items_.clear();
}

Event Queue::push(std::function<void()> work, std::vector<Event> after) {
  auto state = std::make_shared<EventState>();
  {
    std::lock_guard lock(mutex_);
    if (stopping_) fail(ErrorKind::runtime, "run_dropped", "no run can begin while the process ends");
    items_.push_back({std::move(work), std::move(after), state});
    last_ = Event(state);
    if (!thread_.joinable()) {
      stop_queues_at_exit();
      thread_ = std::thread([this] { serve(); });
    }
  }
  changed_.notify_all();
  return Event(std::move(state));
}

Event Queue::last() {
  std::lock_guard lock(mutex_);
  return last_;
}

void Queue::serve() {
  const BesideEnvironment beside;
  for (;;) {
    Item item;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !items_.empty(); });
      if (stopping_) return;
      item = std::move(items_.front());
      items_.pop_front();
    }
    std::exception_ptr error;
    try {
      for (const Event& event : item.after) event.wait();
      item.work();
    } catch (...) {
      error = std::current_exception();
    }
    item.work = nullptr;  // lets go of the buffers before anyone hears that they are free
    item.event->finish(std::move(error));
  }
}

}  // namespace weft
