// The cache of plans: a short list, the one asked for last in front.
#include "weft/library/fft_cache.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>

namespace weft {
namespace {

constexpr size_t most_plans = 64;
constexpr int64_t most_bytes = int64_t{64} << 20;

// Held for a look at the lists alone, never while another lock is waited for.
std::mutex mutex;
// A fork waits until no thread is at them, so that the child finds them whole.
void lock() { mutex.lock(); }
void unlock() { mutex.unlock(); }
[[maybe_unused]] const bool watches_forks = pthread_atfork(lock, unlock, unlock) == 0;

template <class T>
struct Entry {
  int64_t n;
  FftUse use;
  bool for_real;
  std::shared_ptr<const FftTables<T>> tables;
  int64_t bytes;
};

template <class T>
std::vector<Entry<T>>& entries() {
  static auto* all = new std::vector<Entry<T>>;  // threads may still look when the process ends
  return *all;
}

template <class T>
Entry<T> make(int64_t n, FftUse use, bool for_real) {
  FftTables<T> tables{FftPlan<T>(fft_engine<T>(), n, use), {}};
  if (for_real) {
    std::vector<T> sines;
    for (int64_t k = 0; k <= n / 2; ++k) {
      Root root = fft_root(k, 2 * n);
      tables.real_roots.push_back(static_cast<T>(root.re));
      sines.push_back(static_cast<T>(root.im));
    }
    tables.real_roots.insert(tables.real_roots.end(), sines.begin(), sines.end());
  }
  int64_t bytes = tables.plan.bytes() + static_cast<int64_t>(tables.real_roots.size() * sizeof(T));
  return {n, use, for_real, std::make_shared<const FftTables<T>>(std::move(tables)), bytes};
}

template <class T>
void drop_last(std::vector<Entry<T>>& all) {
  int64_t bytes = 0;
  size_t count = 0;
  for (; count < std::min(all.size(), most_plans); ++count) {
    bytes += all[count].bytes;
    if (count > 0 && bytes > most_bytes) break;
  }
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
}

}  // namespace

template <class T>
std::shared_ptr<const FftTables<T>> fft_tables(int64_t n, FftUse use, bool for_real) {
  {
    std::lock_guard guard(mutex);
    std::vector<Entry<T>>& all = entries<T>();
    auto found = std::ranges::find_if(
        all, [&](const Entry<T>& entry) { return entry.n == n && entry.use == use && entry.for_real == for_real; });
    if (found != all.end()) {
      std::rotate(all.begin(), found, found + 1);
      return all.front().tables;
    }
  }
  Entry<T> made = make<T>(n, use, for_real);
  std::shared_ptr<const FftTables<T>> tables = made.tables;
  std::lock_guard guard(mutex);
  entries<T>().insert(entries<T>().begin(), std::move(made));
  drop_last(entries<T>());
  return tables;
}

template <class T>
size_t kept_fft_tables() {
  std::lock_guard guard(mutex);
  return entries<T>().size();
}

template std::shared_ptr<const FftTables<float>> fft_tables(int64_t, FftUse, bool);
template std::shared_ptr<const FftTables<double>> fft_tables(int64_t, FftUse, bool);
template size_t kept_fft_tables<float>();
template size_t kept_fft_tables<double>();

}  // namespace weft
