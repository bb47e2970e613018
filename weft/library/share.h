// How routines let threads take part in their work.
#pragma once

#include <cstddef>
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

// Pieces of a long line; the same for any number of threads.
inline constexpr size_t line_pieces = 16;

// Runs body(piece, begin, end) for the pieces of [0, count). `cost`: of one of `count`.
template <class Body>
void shared_pieces(Share share, size_t count, int64_t cost, const Body& body) {
  auto begin_of = [&](size_t piece) { return count * piece / line_pieces; };
  shared(share, line_pieces, static_cast<int64_t>(count / line_pieces) * cost, [&](int64_t first, int64_t last) {
    for (auto piece = static_cast<size_t>(first); piece < static_cast<size_t>(last); ++piece)
      body(piece, begin_of(piece), begin_of(piece + 1));
  });
}

}  // namespace weft
