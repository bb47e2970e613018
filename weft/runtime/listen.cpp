// Launches as spans and sums. A launch begins and ends on one thread; those inside of it, of programs that operations
// of users run, lie between.
#include "weft/runtime/listen.h"

#include <optional>

#include "weft/runtime/thread_pool.h"

namespace weft {
namespace {

struct Open {
  int64_t begin;
  SpanLabel outer;  // what this thread's loops were called
};
thread_local std::vector<Open> open_launches;

// Ends those that an error left open.
struct NoneStaysOpen {
  size_t outer = open_launches.size();
  ~NoneStaysOpen() {
    if (open_launches.size() == outer) return;
    name_loops(open_launches[outer].outer);
    open_launches.resize(outer);
  }
};
thread_local LaunchTimes* current = nullptr;

std::string arguments_of(const LaunchInfo& launch) {
  std::vector<std::string> ops;
  for (size_t i = 0; i < launch.ops.size(); ++i) ops.push_back(cat(launch.ops[i], " (", launch.lines[i], ")"));
  return cat("\"source\": ", json_quoted(launch.source), ", \"ops\": ", json_texts(ops),
             ", \"read_bytes\": ", json_size(launch.read_bytes),
             ", \"written_bytes\": ", json_size(launch.written_bytes));
}

}  // namespace

struct Listener {
  std::span<const SpanLabel> labels;
  LaunchTimes* times = nullptr;

  static void tell(const Services* services, int64_t launch, int64_t begins) noexcept {
    auto& listener = *static_cast<Listener*>(services->listener);
    auto at = static_cast<size_t>(launch);
    if (begins) {
      SpanLabel label = at < listener.labels.size() ? listener.labels[at] : SpanLabel{};
      open_launches.push_back({span_clock(), name_loops(label)});
      return;
    }
    Open open = open_launches.back();
    open_launches.pop_back();
    int64_t end = span_clock();
    name_loops(open.outer);
    if (at < listener.labels.size()) record_span(listener.labels[at], open.begin, end);
    if (listener.times) listener.add(at, end - open.begin);
  }

  void add(size_t launch, int64_t elapsed) const {
    LaunchTimes::Sum& sum = times->sums_[launch];
    sum.count.fetch_add(1, std::memory_order_relaxed);
    sum.total.fetch_add(elapsed, std::memory_order_relaxed);
    for (int64_t least = sum.min.load(); elapsed < least && !sum.min.compare_exchange_weak(least, elapsed);) {
    }
  }

  static LaunchTimes* times_of(const Manifest& program) {
    LaunchTimes* at = current;
    while (at && &at->program_ != &program) at = at->outer_;
    return at;
  }
};

LaunchTimes::LaunchTimes(const Manifest& program) : program_(program), sums_(program.launches.size()), outer_(current) {
  current = this;
  profiles.fetch_add(1);
}

LaunchTimes::~LaunchTimes() {
  profiles.fetch_sub(1);
  current = outer_;
}

std::vector<LaunchTime> LaunchTimes::times() const {
  std::vector<LaunchTime> times;
  for (const Sum& sum : sums_) {
    int64_t count = sum.count.load();
    times.push_back(
        {count, static_cast<double>(sum.total.load()) / 1e9, count ? static_cast<double>(sum.min.load()) / 1e9 : 0});
  }
  return times;
}

std::span<const SpanLabel> LaunchLabels::of(const Manifest& program) const {
  std::call_once(once_, [&] {
    for (const LaunchInfo& launch : program.launches)
      labels_.push_back(span_label(launch.name, "kernel", arguments_of(launch)));
  });
  return labels_;
}

void run_listened(Entry entry, const Manifest& program, const LaunchLabels& labels, const char* what,
                  std::span<const int64_t> symbols, void* const* buffers, Services services) {
  Listener listener{{}, Listener::times_of(program)};
  std::optional<Span> span;
  if (is_recording()) {
    listener.labels = labels.of(program);
    span.emplace("run", cat(what, " ", program.name));
    for (size_t i = 0; i < symbols.size(); ++i) span->add(program.symbols[i].name, cat(symbols[i]));
  }
  services.listen = Listener::tell;
  services.listener = &listener;
  NoneStaysOpen at_the_end;
  run_entry(entry, symbols.data(), buffers, services);
}

}  // namespace weft
