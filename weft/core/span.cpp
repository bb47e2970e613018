// Spans: a log for each thread that only it writes, read by whoever ends a recording.
#include "weft/core/span.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/core/error.h"
#include "weft/core/knobs.h"
#include "weft/core/replace_file.h"

namespace weft {
namespace {

struct Event {
  int64_t begin, end;
  SpanLabel label;
};

struct Chunk {
  static constexpr size_t size = 512;
  Event events[size];
  std::atomic<Chunk*> next{nullptr};
};

// 48 MiB of spans over all threads, and some MiB of labels.
constexpr size_t most_chunks = 4096, most_labels = 1 << 16;

// The owner appends: an event first, then the count that tells of it. It begins anew when it sees another epoch than
// its own, which changes under the registry's lock only; who reads holds that lock and looks at logs of the present
// epoch.
struct Log {
  std::atomic<uint64_t> epoch{0};
  std::atomic<size_t> count{0}, dropped{0};
  std::atomic<bool> is_left{false};  // by its thread, which has ended
  Chunk* first = nullptr;
  Chunk* last = nullptr;
  pid_t thread = gettid();
  std::string name;

  void add(const Event& event, uint64_t present);

  ~Log() {
    for (Chunk* chunk = first; chunk;) delete std::exchange(chunk, chunk->next.load());
  }

 private:
  Chunk* chunk_for(size_t at);
};

struct Label {
  std::string name, category, arguments;
};

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<Log>> logs;
  std::atomic<uint64_t> epoch{0};
  std::atomic<size_t> chunks{0};

  std::mutex label_mutex;
  std::deque<Label> labels;
  std::unordered_map<std::string, SpanLabel> label_numbers;
};

// Never destroyed: threads may end after everything else.
Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

std::string thread_name() {
  if (gettid() == getpid()) return "main";
  char name[32] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  std::string_view given = name;
  return given.starts_with("weft-") ? std::string(given) : cat("thread ", gettid());
}

struct Owner {
  Log* log;
  Owner() {
    auto made = std::make_unique<Log>();
    made->name = thread_name();
    log = made.get();
    std::lock_guard lock(registry().mutex);
    registry().logs.push_back(std::move(made));
  }
  ~Owner() { log->is_left.store(true, std::memory_order_release); }
};

Chunk* new_chunk() {
  Registry& all = registry();
  Chunk* made = all.chunks.fetch_add(1) < most_chunks ? new (std::nothrow) Chunk : nullptr;
  if (!made) all.chunks.fetch_sub(1);
  return made;
}

// The chunk for event `at`, made where there is none; null past the bound.
Chunk* Log::chunk_for(size_t at) {
  if (!first) first = last = new_chunk();
  if (at % Chunk::size || !at || !last) return last;
  Chunk* next = last->next.load(std::memory_order_relaxed);
  if (!next && (next = new_chunk())) last->next.store(next, std::memory_order_release);
  if (next) last = next;
  return next;
}

void Log::add(const Event& event, uint64_t present) {
  if (epoch.load(std::memory_order_relaxed) != present) {
    count.store(0, std::memory_order_relaxed);
    dropped.store(0, std::memory_order_relaxed);
    last = first;
    epoch.store(present, std::memory_order_release);
  }
  size_t at = count.load(std::memory_order_relaxed);
  Chunk* chunk = chunk_for(at);
  if (chunk) {
    chunk->events[at % Chunk::size] = event;
    count.store(at + 1, std::memory_order_release);
  } else {
    dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

struct Track {
  const Log* log;
  std::vector<Event> events;
};

std::vector<Track> tracks_since(int64_t since, size_t& dropped) {
  std::vector<Track> tracks;
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  for (const auto& log : all.logs) {
    if (log->epoch.load(std::memory_order_acquire) != all.epoch.load()) continue;
    dropped += log->dropped.load();
    Track track{log.get(), {}};
    size_t count = log->count.load(std::memory_order_acquire);
    const Chunk* chunk = nullptr;
    for (size_t i = 0; i < count; ++i) {
      if (i % Chunk::size == 0) chunk = i ? chunk->next.load(std::memory_order_acquire) : log->first;
      if (chunk->events[i % Chunk::size].begin >= since) track.events.push_back(chunk->events[i % Chunk::size]);
    }
    // Outer spans first: they end last and are noted last.
    std::ranges::stable_sort(track.events, [](const Event& a, const Event& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    if (!track.events.empty()) tracks.push_back(std::move(track));
  }
  return tracks;
}

void append_microseconds(std::string& out, int64_t nanoseconds) {
  char text[32];
  out.append(text, static_cast<size_t>(std::snprintf(text, sizeof text, "%lld.%03lld",
                                                     static_cast<long long>(nanoseconds / 1000),
                                                     static_cast<long long>(nanoseconds % 1000))));
}

// WEFT_TRACE: from the loading of this library to the end of the process, unless that is a fork's.
struct WholeProcess {
  std::string path = environment_variable("WEFT_TRACE");
  pid_t process = getpid();
  int64_t since = !path.empty() ? start_recording() : 0;

  ~WholeProcess() {
    if (!since || getpid() != process) return;
    try {
      write_whole(path, recording_text(since));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "weftwork: WEFT_TRACE: %s\n", error.what());
    }
  }
} whole_process;

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    auto c = static_cast<unsigned char>(text[i]);
    size_t length = c < 0x80                ? 1
                    : c >= 0xc2 && c < 0xe0 ? 2
                    : c >= 0xe0 && c < 0xf0 ? 3
                    : c >= 0xf0 && c < 0xf5 ? 4
                                            : 0;
    bool is_whole = length && i + length <= text.size();
    for (size_t j = 1; is_whole && j < length; ++j) is_whole = (static_cast<unsigned char>(text[i + j]) & 0xc0) == 0x80;
    // Halves of surrogate pairs, numbers past the last one, and those that fewer bytes hold are no UTF-8 either.
    unsigned char second = is_whole && length > 2 ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (second && ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) || (c == 0xf0 && second < 0x90) ||
                   (c == 0xf4 && second > 0x8f)))
      is_whole = false;
    if (!is_whole) {
      out += '?';
      ++i;
      continue;
    }
    if (c == '"' || c == '\\')
      append(out, '\\', text[i]);
    else if (c == '\n')
      out += "\\n";
    else if (c < 0x20)
      append(out, "\\u00", "01"[c >> 4], "0123456789abcdef"[c & 15]);
    else
      out += text.substr(i, length);
    i += length;
  }
  return out + '"';
}

std::string json_texts(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) append(out, out.size() > 1 ? ", " : "", json_quoted(text));
  return out + "]";
}

std::string json_size(const Dim& dim) { return dim.is_static() ? cat(dim.value()) : json_quoted(cat(dim)); }

int64_t span_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

SpanLabel span_label(std::string_view name, std::string_view category, std::string_view arguments) {
  Registry& all = registry();
  std::string key = cat(name, '\0', category, '\0', arguments);
  std::lock_guard lock(all.label_mutex);
  if (all.labels.empty()) all.labels.push_back({"more than can be told apart", "", ""});
  auto [found, is_new] = all.label_numbers.try_emplace(std::move(key), 0);
  if (!is_new) return found->second;
  if (all.labels.size() >= most_labels) {
    all.label_numbers.erase(found);
    return 0;
  }
  found->second = static_cast<SpanLabel>(all.labels.size());
  all.labels.push_back({std::string(name), std::string(category), std::string(arguments)});
  return found->second;
}

void record_span(SpanLabel label, int64_t begin, int64_t end) noexcept {
  try {
    thread_local Owner owner;
    owner.log->add({begin, end, label}, registry().epoch.load(std::memory_order_acquire));
  } catch (...) {
    // No memory for a log: the span is lost, what it measured is not.
  }
}

void Span::open(std::string_view category, std::string_view name) {
  category_ = category;
  name_ = name;
  begin_ = span_clock();
}

void Span::close() noexcept {
  int64_t end = span_clock();
  try {
    record_span(span_label(name_, category_, arguments_), begin_, end);
  } catch (...) {
    // No memory for a label: as above.
  }
}

int64_t start_recording() {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  if (recordings.load() == 0) {
    for (const auto& log : all.logs)
      if (log->is_left.load(std::memory_order_acquire))
        for (const Chunk* chunk = log->first; chunk; chunk = chunk->next.load()) all.chunks.fetch_sub(1);
    std::erase_if(all.logs, [](const auto& log) { return log->is_left.load(std::memory_order_acquire); });
    all.epoch.fetch_add(1, std::memory_order_release);
  }
  recordings.fetch_add(1);
  return span_clock();
}

std::string recording_text(int64_t since) {
  size_t dropped = 0;
  std::vector<Track> tracks = tracks_since(since, dropped);
  std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  const char* between = "\n";
  auto begin_event = [&](const Track& track, const char* phase, std::string_view name) {
    append(out, between, "{\"pid\": ", getpid(), ", \"tid\": ", track.log->thread, ", \"ph\": \"", phase,
           "\", \"name\": ", json_quoted(name));
    between = ",\n";
  };
  for (const Track& track : tracks) {
    begin_event(track, "M", "thread_name");
    append(out, ", \"args\": {\"name\": ", json_quoted(track.log->name), "}}");
    for (const Event& event : track.events) {
      Label label = [&] {
        std::lock_guard lock(registry().label_mutex);
        return registry().labels[event.label];
      }();
      begin_event(track, "X", label.name);
      append(out, ", \"cat\": ", json_quoted(label.category), ", \"ts\": ");
      append_microseconds(out, event.begin - since);
      out += ", \"dur\": ";
      append_microseconds(out, event.end - event.begin);
      append(out, ", \"args\": {", label.arguments, "}}");
    }
  }
  append(out, "\n], \"otherData\": {\"dropped\": ", dropped);
  if (dropped) out += ", \"note\": \"spans past 48 MiB were dropped\"";
  return out + "}}\n";
}

std::string stop_recording(int64_t since) {
  struct Stop {
    ~Stop() { recordings.fetch_sub(1); }
  } after_the_text;
  return recording_text(since);
}

void write_whole(const std::filesystem::path& path, std::string_view text) {
  std::error_code problem = replace_file(path, [&](std::ostream& out) { out << text; });
  if (problem) fail(ErrorKind::io, "write_file", "cannot write '", path.string(), "': ", problem.message());
}

}  // namespace weft
