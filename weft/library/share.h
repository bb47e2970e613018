// How routines let threads take part in their work.
#pragma once

#include <cstdint>

namespace weft {

// Runs body(args, begin, end) over disjoint parts of [0, count), each item once, and waits. `cost`: rough time of one
// item in units of 10 ps.
using Share = void (*)(int64_t count, int64_t cost, void (*body)(void** args, int64_t begin, int64_t end), void** args);

// On this thread alone.
inline void by_caller(int64_t count, int64_t, void (*body)(void** args, int64_t begin, int64_t end), void** args) {
  body(args, 0, count);
}

// The same for anything that is called with (begin, end).
template <class Body>
void shared(Share share, int64_t count, int64_t cost, const Body& body) {
  void* args[] = {const_cast<Body*>(&body)};
  share(
      count, cost, [](void** args, int64_t begin, int64_t end) { (*static_cast<const Body*>(args[0]))(begin, end); },
      args);
}

}  // namespace weft
