// What the machine can do: rates of fused multiply-adds, and of reading and writing memory, on some threads at once.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#ifdef __x86_64__
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int width = 64;
#elif defined(__AVX__)
constexpr int width = 32;
#else
constexpr int width = 16;
#endif

// Enough chains to cover the latency, few enough for 16 registers.
constexpr int chains = 12;
typedef float FloatVector __attribute__((vector_size(width)));
typedef double DoubleVector __attribute__((vector_size(width)));

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Runs work(thread) on all threads at once, again and again for the window; the least time until all are done.
template <class Work>
double seconds_per_turn(int threads, double window, const Work& work) {
  std::atomic<int64_t> turn{0}, done{0};
  auto follow = [&](int thread) {
    for (int64_t next = 1;; next++) {
      while (turn.load() < next && turn.load() >= 0) std::this_thread::yield();
      if (turn.load() < 0) return;
      work(thread);
      done++;
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; thread++) others.emplace_back(follow, thread);
  const double begin = now();
  double least = 1e9;
  for (int64_t turns = 1; turns < 4 || now() - begin < window; turns++) {
    const double start = now();
    turn = turns;
    work(0);
    while (done.load() < turns * (threads - 1)) std::this_thread::yield();
    least = std::min(least, now() - start);
  }
  turn = -1;
  for (std::thread& other : others) other.join();
  return least;
}

// Turns of `step` on each accumulator, all of them in registers.
template <class V, class Step>
void run_chains(int64_t turns, V start, const Step& step) {
  V sums[chains];
  for (V& sum : sums) {
    sum = start;
    asm volatile("" : "+v"(sum));  // or equal chains become one
  }
  for (int64_t turn = 0; turn < turns; turn++) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; i++) sums[i] = step(sums[i]);
  }
  for (V& sum : sums) asm volatile("" : "+v"(sum));
}

template <class V, class Step>
double rate(int threads, double window, double flops, V start, const Step& step) {
  constexpr int64_t turns = 20000;
  const double seconds = seconds_per_turn(threads, window, [&](int) { run_chains(turns, start, step); });
  return threads * flops * chains * static_cast<double>(turns) / seconds;
}

#if defined(__AMX_BF16__) && defined(__AMX_INT8__)
// Linux gives leave for the asking (ARCH_REQ_XCOMP_PERM).
bool may_use_amx() {
  static const bool is_allowed = syscall(SYS_arch_prctl, 0x1023, 18) == 0;
  return is_allowed;
}

// Operations a second of products of full tiles, four sums at once.
double amx_rate(bool is_bf16, int threads, double window) {
  constexpr int64_t turns = 20000;
  alignas(64) uint8_t config[64] = {1};
  for (int tile = 0; tile < 6; tile++) config[16 + 2 * tile] = 64, config[48 + tile] = 16;
  auto work = [&](int) {
    _tile_loadconfig(config);
    for (int64_t turn = 0; turn < turns; turn++) {
      if (is_bf16) {
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 5);
        _tile_dpbf16ps(2, 4, 5);
        _tile_dpbf16ps(3, 4, 5);
      } else {
        _tile_dpbssd(0, 4, 5);
        _tile_dpbssd(1, 4, 5);
        _tile_dpbssd(2, 4, 5);
        _tile_dpbssd(3, 4, 5);
      }
    }
    _tile_release();
  };
  return threads * 4.0 * 16 * 16 * (is_bf16 ? 64 : 128) * static_cast<double>(turns) /
         seconds_per_turn(threads, window, work);
}
#endif

typedef int64_t Words __attribute__((vector_size(width)));

int64_t part(int64_t bytes, int64_t index, int64_t count) { return bytes / width * index / count * width; }

// Reads and writes its arrays from front to back, side by side.
void stream(const char* read, int64_t read_bytes, char* write, int64_t write_bytes, bool past_cache) {
  const int64_t blocks = std::max<int64_t>(1, std::max(read_bytes, write_bytes) / 4096);
  Words sums[4] = {};
  for (int64_t block = 0; block < blocks; block++) {
    int64_t at = part(read_bytes, block, blocks);
    const int64_t end = part(read_bytes, block + 1, blocks);
    for (; at + 4 * width <= end; at += 4 * width)
      for (int i = 0; i < 4; i++) sums[i] += *reinterpret_cast<const Words*>(read + at + i * width);
    for (; at < end; at += width) sums[0] += *reinterpret_cast<const Words*>(read + at);
    for (int64_t to = part(write_bytes, block, blocks); to < part(write_bytes, block + 1, blocks); to += width) {
#ifdef __AVX512F__
      if (past_cache) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(write + to), reinterpret_cast<__m512i>(sums[0]));
        continue;
      }
#endif
      *reinterpret_cast<Words*>(write + to) = sums[0];
    }
  }
  for (Words& sum : sums) asm volatile("" : "+v"(sum));
}

char* memory(int64_t bytes) {
  char* address = static_cast<char*>(std::aligned_alloc(4096, static_cast<size_t>((bytes + 8191) / 4096 * 4096)));
  std::memset(address, 1, static_cast<size_t>(bytes));
  return address;
}

}  // namespace

// Operations a second; kind: 0 f32, 1 f64, 2 bf16, 3 int8; 0 where the CPU has no instruction for them.
extern "C" double fma_rate(int kind, int threads, double window) {
  if (kind == 0) {
    const FloatVector one = FloatVector{} + 1, factor = one * 0.5f;
    return rate(threads, window, 2.0 * width / 4, one, [=](FloatVector sum) { return sum * factor + one; });
  }
  if (kind == 1) {
    const DoubleVector one = DoubleVector{} + 1, factor = one * 0.5;
    return rate(threads, window, 2.0 * width / 8, one, [=](DoubleVector sum) { return sum * factor + one; });
  }
#if defined(__AMX_BF16__) && defined(__AMX_INT8__)
  if ((kind == 2 || kind == 3) && may_use_amx()) return amx_rate(kind == 2, threads, window);
#endif
#ifdef __AVX512BF16__
  if (kind == 2) {
    const __m512bh ones = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1), _mm512_set1_ps(1));
    return rate(threads, window, 64, _mm512_set1_ps(1), [=](__m512 sum) { return _mm512_dpbf16_ps(sum, ones, ones); });
  }
#endif
#ifdef __AVX512VNNI__
  if (kind == 3) {
    const __m512i ones = _mm512_set1_epi8(1);
    return rate(threads, window, 128, ones, [=](__m512i sum) { return _mm512_dpbusd_epi32(sum, ones, ones); });
  }
#endif
  return 0;
}

// Seconds to read and write so many bytes, each thread its part, again and again.
extern "C" double stream_seconds(int64_t read, int64_t write, int past_cache, int threads, double window) {
  std::vector<char*> sources, targets;
  const int64_t source_bytes = read / threads, target_bytes = write / threads;
  for (int i = 0; i < threads; i++) {
    sources.push_back(memory(source_bytes));
    targets.push_back(memory(target_bytes));
  }
  const double seconds = seconds_per_turn(threads, window, [&](int thread) {
    const auto i = static_cast<size_t>(thread);
    stream(sources[i], source_bytes, targets[i], target_bytes, past_cache != 0);
  });
  for (char* address : sources) std::free(address);
  for (char* address : targets) std::free(address);
  return seconds;
}
