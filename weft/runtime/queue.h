// Work that is done in order by a thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "weft/runtime/event.h"

namespace weft {

// Thread-safe. The thread begins with the first work.
class Queue {
 public:
  ~Queue() { stop(); }
  // Does it when what was pushed before and the events are done; where one of those failed, its error is this work's
  // too. Error(runtime, "run_dropped") once it is stopped.
  Event push(std::function<void()> work, std::vector<Event> after);
  // Of the work that was pushed last.
  Event last();
  // Waits for the work that is being done and drops the rest; not while another thread stops it.
  void stop();

 private:
  struct Item {
    std::function<void()> work;
    std::vector<Event> after;
    std::shared_ptr<EventState> event;
  };
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  Event last_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace weft
