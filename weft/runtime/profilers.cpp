#include "weft/runtime/profilers.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <mutex>

#include "weft/core/text.h"

namespace weft {
namespace {

// The clock of `perf record -k mono`.
uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

template <class... Numbers>
void add(std::string& record, Numbers... numbers) {
  (record.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
}
void add_text(std::string& record, std::string_view text) { (record += text) += '\0'; }

// With its length, which the head holds, in front.
std::string record_of(uint32_t kind, const std::string& body) {
  std::string record;
  add(record, kind, static_cast<uint32_t>(16 + body.size()), now());
  return record + body;
}

struct Line {
  std::string file;
  uint32_t number = 0;
};

// "model.py:14", or with a column "model.mlir:3:7".
Line line_of(std::string source) {
  Line line;
  for (size_t colon; (colon = source.rfind(':')) != std::string::npos;) {
    uint32_t number = 0;
    const char* end = source.data() + source.size();
    auto [at, problem] = std::from_chars(source.data() + colon + 1, end, number);
    if (problem != std::errc{} || at != end) break;
    source.resize(colon);
    line.number = number;
  }
  line.file = std::move(source);
  return line;
}

// Of the kernel that a function is, or is a part of.
Line line_of(const CodeFunction& function, const Manifest& manifest) {
  std::string_view name(function.name);
  name = name.substr(0, name.find('.'));
  for (const KernelInfo& kernel : manifest.kernels)
    if (kernel.name == name) return line_of(kernel.source);
  return {};
}

// /tmp/jit-PID.dump; null where it cannot be.
std::FILE* open_dump(int process) {
  int file =
      open(cat("/tmp/jit-", process, ".dump").c_str(), O_CREAT | O_TRUNC | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  // That it is mapped as code tells perf which process the file is of.
  mmap(nullptr, static_cast<size_t>(sysconf(_SC_PAGESIZE)), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  std::string head;
  add(head, uint32_t{0x4A695444}, uint32_t{1}, uint32_t{40}, uint32_t{EM_X86_64}, uint32_t{0},
      static_cast<uint32_t>(process), now(), uint64_t{0});
  std::FILE* dump = fdopen(file, "w");
  if (dump) std::fwrite(head.data(), 1, head.size(), dump);
  return dump;
}

void write_dump(std::FILE* dump, int process, uint64_t number, const CodeFunction& function, const Line& line) {
  auto address = reinterpret_cast<uint64_t>(function.code);
  std::string all;
  if (line.number > 0 && function.bytes > 0) {
    std::string lines;
    add(lines, address, uint64_t{2});
    for (uint64_t at : {address, address + function.bytes - 1}) {  // what lies between has the line of what is before
      add(lines, at, line.number, uint32_t{0});
      add_text(lines, line.file);
    }
    all += record_of(2, lines);  // JIT_CODE_DEBUG_INFO, before the function it is of
  }
  std::string load;
  add(load, static_cast<uint32_t>(process), static_cast<uint32_t>(syscall(SYS_gettid)), address, address,
      function.bytes, number);
  add_text(load, function.name);
  load.append(function.code, function.bytes);
  all += record_of(0, load);  // JIT_CODE_LOAD
  std::fwrite(all.data(), 1, all.size(), dump);
}

}  // namespace

void name_for_profilers(std::span<const CodeFunction> functions, const Manifest& manifest) {
  static std::mutex mutex;
  static std::FILE* dump = nullptr;
  static int owner = 0;  // a child of a fork has files of its own
  static uint64_t number = 0;
  std::lock_guard lock(mutex);
  int process = getpid();
  if (owner != process) dump = open_dump(process);
  owner = process;
  std::FILE* map = std::fopen(cat("/tmp/perf-", process, ".map").c_str(), "a");
  for (const CodeFunction& function : functions) {
    if (map)
      std::fprintf(map, "%lx %lx %s\n", reinterpret_cast<unsigned long>(function.code),
                   static_cast<unsigned long>(function.bytes), function.name.c_str());
    if (dump) write_dump(dump, process, number++, function, line_of(function, manifest));
  }
  if (map) std::fclose(map);
  if (dump) std::fflush(dump);
}

}  // namespace weft
