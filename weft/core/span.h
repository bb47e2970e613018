// Spans of time that threads spend on something, recorded for profiles and written as a Chrome trace.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "weft/core/dim.h"
#include "weft/core/text.h"

namespace weft {

// How many recordings are in progress.
inline std::atomic<int> recordings{0};

// Whether spans are kept. All that a span costs where they are not.
inline bool is_recording() { return __builtin_expect(recordings.load(std::memory_order_relaxed) != 0, false); }

// "text" with quotes and JSON's escapes; bytes that are no UTF-8 become '?'.
std::string json_quoted(std::string_view text);
// A list of such, and a number: symbolic extents are texts.
std::string json_texts(const std::vector<std::string>& texts);
std::string json_size(const Dim& size);

// Nanoseconds of the steady clock.
int64_t span_clock();

// What spans are called, kept for the life of the process: equal ones are one. `arguments`: members of a JSON object,
// "\"hit\": true".
using SpanLabel = uint32_t;
SpanLabel span_label(std::string_view name, std::string_view category, std::string_view arguments = {});

// Notes what this thread did. Without a lock, and without memory past a bound for all threads: later spans are counted
// only.
void record_span(SpanLabel label, int64_t begin, int64_t end) noexcept;

// From its making to its end, while somebody records.
class Span {
 public:
  Span(std::string_view category, std::string_view name) {
    if (is_recording()) open(category, name);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (begin_) close();
  }
  // Gives it an argument; `value` is JSON.
  void add(std::string_view name, std::string_view value) {
    if (begin_) append(arguments_, arguments_.empty() ? "\"" : ", \"", name, "\": ", value);
  }

 private:
  void open(std::string_view category, std::string_view name);
  void close() noexcept;

  int64_t begin_ = 0;
  std::string category_, name_, arguments_;
};

// Begins a recording and gives its time, by which it is known from here on. Several may overlap. The knob
// WEFT_TRACE=FILE records all that a process does.
int64_t start_recording();
// What began since that time of a recording in progress and has ended, as a trace in JSON: a track for each thread, and
// a note where spans were dropped.
std::string recording_text(int64_t since);
// The same, and ends it: the next recording takes the memory of what nobody records any more.
std::string stop_recording(int64_t since);

// The file has this text from here on; whoever reads it meanwhile sees what it had before. Error(io).
void write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace weft
