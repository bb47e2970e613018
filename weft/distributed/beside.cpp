// One thread for each thread that runs programs, made when it first has something to do.
#include "weft/distributed/beside.h"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace weft {
namespace {

class Beside {
 public:
  Beside() : thread_([this] { work(); }) {}
  ~Beside() {
    {
      std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  void begin(Communicator& communicator, CollectiveCall call) {
    {
      std::lock_guard lock(mutex_);
      calls_.push_back({&communicator, std::move(call)});
    }
    changed_.notify_all();
  }

  bool is_idle() const {
    std::lock_guard lock(mutex_);
    return calls_.empty();
  }

  // The error of the first call that has not ended.
  std::exception_ptr end() {
    std::unique_lock lock(mutex_);
    if (calls_.empty()) return nullptr;
    changed_.wait(lock, [&] { return calls_.front().is_done; });
    std::exception_ptr error = calls_.front().error;
    calls_.pop_front();
    --next_;
    return error;
  }

 private:
  struct Call {
    Communicator* communicator;
    CollectiveCall call;
    bool is_done = false;
    std::exception_ptr error = nullptr;
  };

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return is_over_ || next_ < calls_.size(); });
      if (next_ == calls_.size()) return;
      Call& call = calls_[next_];  // references into a deque last while its ends grow and shrink
      lock.unlock();
      std::exception_ptr error;
      try {
        call.communicator->run(std::move(call.call));
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      call.error = error;
      call.is_done = true;
      ++next_;
      changed_.notify_all();
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Call> calls_;  // that have not ended
  size_t next_ = 0;         // of those, which is run next
  bool is_over_ = false;
  std::thread thread_;
};

// This thread's; null where it began none. A child of fork has the memory of the parent's, but no thread for it.
struct Own {
  std::unique_ptr<Beside> beside;
  pid_t process = getpid();
  ~Own() {
    if (getpid() != process) (void)beside.release();
  }
};
thread_local Own own;

Beside* found() {
  if (own.beside && getpid() != own.process) (void)own.beside.release();
  return own.beside.get();
}

}  // namespace

void begin_beside(Communicator& communicator, CollectiveCall call) {
  if (!communicator.runs_beside()) {
    drain_beside();
    return communicator.run(std::move(call));
  }
  if (!found()) {
    own.process = getpid();
    own.beside = std::make_unique<Beside>();
  }
  own.beside->begin(communicator, std::move(call));
}

void end_beside() {
  Beside* beside = found();
  if (std::exception_ptr error = beside ? beside->end() : nullptr) std::rethrow_exception(error);
}

void end_all_beside() noexcept {
  for (Beside* beside = found(); beside && !beside->is_idle();) beside->end();
}

void drain_beside() {
  std::exception_ptr first;
  for (Beside* beside = found(); beside && !beside->is_idle();)
    if (std::exception_ptr error = beside->end(); error && !first) first = error;
  if (first) std::rethrow_exception(first);
}

}  // namespace weft
