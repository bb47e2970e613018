// Kernels as machine code, the order to run them in, the memory plan and the signature: a program that runs.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/core/type.h"

namespace weft {

// What the machine code calls back; its first argument everywhere is the pool it was given.
struct Services {
  // Runs body(args, begin, end) over disjoint parts of [0, count), in parallel when `cost` (of one item, in units of
  // 10 ps) times count is worth it.
  void (*parallel_for)(void* pool, int64_t count, int64_t cost, void (*body)(void** args, int64_t begin, int64_t end),
                       void** args);
  void* pool;
  // Runs body(args, begin, end, memory) over disjoint parts of [0, count) in parallel; `memory`: `bytes` for this part.
  void (*parallel_turns)(void* pool, int64_t count, int64_t bytes, void (*body)(void** args, int64_t begin, int64_t end, void* memory),
                         void** args);
};

// The entry of a program: `weft_run`, and `weft_setup` which fills persistent memory once. `buffers`: inputs, outputs,
// constants, then arena and persistent. Symbols in the order of the program.
using Entry = void (*)(const int64_t* symbols, void* const* buffers, const Services* services);

struct IoInfo {
  std::string name;
  Type type;
  int alias = -1;  // outputs: the input whose memory the result lands in
};

struct KernelInfo {
  std::string name;
  std::string source;             // the user's line, "model.py:14"
  std::vector<std::string> ops;
  int64_t launches = 0;
};

// Everything about a program but its code; what a compiler hands over.
struct Manifest {
  std::string name;
  std::vector<IoInfo> inputs, outputs;
  std::vector<Symbol> symbols;
  struct Constant {
    Type type;
    const void* bytes;
    std::shared_ptr<const void> owner;
  };
  std::vector<Constant> constants;
  Dim arena_bytes, persistent_bytes;
  std::vector<KernelInfo> kernels;
  std::vector<std::string> cuts;  // why fusion stopped where it did
};

// Thread-safe: any number of threads may run one executable at once.
class Executable {
 public:
  // `objects`: ELF relocatable objects that define weft_run and weft_setup between them. Error on bytes that are no such
  // thing.
  static std::shared_ptr<const Executable> load(Manifest manifest, std::span<const std::string> objects);
  ~Executable();

  const Manifest& manifest() const;
  // Bytes of machine code.
  int64_t code_bytes() const;

  // Binds the symbols from the inputs' dims. Error naming the input, the extent and its range.
  void bind(std::span<const Ints> input_dims, std::span<int64_t> symbols) const;
  // Dims of output `i` with the symbols bound.
  Ints output_dims(size_t i, std::span<const int64_t> symbols) const;
  // Runs: `inputs` and `outputs` are dense row-major memory of the types bound; an aliased output is given as the
  // memory of its input (which is then written). Blocks until done.
  void run(std::span<const int64_t> symbols, std::span<const void* const> inputs, std::span<void* const> outputs) const;

 private:
  struct State;
  explicit Executable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft
