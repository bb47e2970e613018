// Kernels as machine code, the order to run them in, the memory plan and the signature: a program that runs.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/core/api.h"
#include "weft/core/range_check.h"
#include "weft/core/type.h"
#include "weft/runtime/buffer.h"
#include "weft/runtime/event.h"

namespace weft WEFT_API {

struct Package;
class DeviceProgram;

struct IoInfo {
  std::string name;
  Type type;
  int alias = -1;  // outputs: the input whose memory the result lands in
};

struct KernelInfo {
  std::string name;
  std::string source;  // the user's line, "model.py:14"
  std::vector<std::string> ops;
  int64_t launches = 0;
};

// One launch of a kernel or routine in the program's text, as machine code numbers them: of a run, then of setup.
struct LaunchInfo {
  std::string name;                     // of the kernel or routine
  std::string source;                   // the user's line of what it stores
  std::vector<std::string> ops, lines;  // what it does, and the user's line of each
  // Of the buffers that it reads and writes, and operations of its product; -1 where they differ from turn to turn of a
  // loop.
  Dim read_bytes, written_bytes, flops;
  bool is_setup = false;  // once, as the program is loaded
  bool is_later = false;  // of setup: in the runs after the first

  bool operator==(const LaunchInfo&) const = default;
};

// A value that was stored although it could have been computed where it is used.
struct CutInfo {
  std::string op, source, reason;
  std::vector<std::string> readers;  // "add (model.py:14)"

  bool operator==(const CutInfo&) const = default;
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
  std::vector<LaunchInfo> launches;
  std::vector<CutInfo> cuts;       // where fusion stopped
  std::vector<RangeCheck> checks;  // limits that differ from turn to turn of a loop are -1
};

// The extents of one array.
using Extents = std::span<const int64_t>;

// Seconds that runs took, those of the warm-up not counted.
struct Timing {
  double min = 0, mean = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
};

// What runs spent on one launch, in seconds.
struct LaunchTime {
  int64_t count = 0;
  double total = 0, min = 0;
};

// Results of a run that may not be done yet: they are set once the event is.
struct PendingRun {
  std::vector<Buffer> outputs;
  Event done;
};

// A program on a device. A handle: copies are the same program. Thread-safe: any number of threads may run one at once.
class Executable {
 public:
  // None.
  Executable() = default;
  explicit operator bool() const { return state_ != nullptr; }

  // Reads a file that a compiler saved: the best code in it for this CPU, or where there is none and a compiler is in
  // the process, its program compiled anew. For a Neuron device it is a NEFF (see neuron.h). Error(io) for what is no
  // such file, cut short or damaged; Error(unsupported, "cpu_feature") naming what the CPU lacks. Loading a file is
  // running code: load only files you trust.
  static Executable load(const std::filesystem::path& file, const Device& device = {});

  const std::string& name() const { return manifest().name; }
  const std::vector<IoInfo>& inputs() const { return manifest().inputs; }
  const std::vector<IoInfo>& outputs() const { return manifest().outputs; }
  const Manifest& manifest() const;
  const Device& device() const;
  // Bytes of machine code.
  int64_t code_bytes() const;

  // Runs with a buffer for each input, on the executable's device, and gives one for each output; an output that lands
  // in an input is that buffer, which is then written. Blocks until done. Error(type) for another number of buffers,
  // another dtype or device, Error(value) for extents that do not fit and for buffers that are written and may not be,
  // or share memory. Programs of NumPy end in its errors of values: Error(index) for an index out of bounds,
  // Error(value) for a singular matrix. Results, and arguments that are written, then hold what was computed with such
  // an index moved inside.
  std::vector<Buffer> run(std::span<const Buffer> inputs) const;
  std::vector<Buffer> run(std::initializer_list<Buffer> inputs) const {
    return run(std::span(inputs.begin(), inputs.size()));
  }
  // The same into buffers that there are: of the outputs' types, sharing no memory with an input or each other unless
  // the output lands there. Takes no memory of its own where extents are constants and the program needs none.
  void run(std::span<const Buffer> inputs, std::span<const Buffer> outputs) const;
  // Buffers that `run` can write for such inputs; those that land in an input are that input.
  std::vector<Buffer> new_outputs(std::span<const Buffer> inputs) const;
  // Begins a run, after those that were begun before it on this device and after the events. The buffers are held until
  // it is done; errors of the arguments are thrown at once, those of the run by Event::wait.
  PendingRun run_async(std::vector<Buffer> inputs, std::vector<Event> after = {}) const;
  // Makes runs take the time that they will take from then on: waits for better code, where that is being compiled, and
  // packs what is left of large weights, which otherwise the second to the fifth run do.
  void finish() const;
  // Runs several times, all packed. Error(value, "benchmark") for less than one iteration.
  Timing benchmark(std::span<const Buffer> inputs, int warmup = 5, int iterations = 50) const;
  // The same, launch by launch as the manifest has them.
  std::vector<LaunchTime> profile(std::span<const Buffer> inputs, int warmup = 2, int iterations = 10) const;

  // `objects`: ELF relocatable objects that define weft_run and weft_setup between them. Error on bytes that are no
  // such thing.
  static Executable load(Manifest manifest, std::span<const std::string> objects, const Device& device = {});
  // One that a device runs.
  static Executable load(Manifest manifest, std::unique_ptr<DeviceProgram> program, const Device& device);
  // Runs that begin from now on are of this code, which is the same program's and is given once.
  void improve(std::span<const std::string> objects) const;
  // What begins to compile better code: it is called after each run and, to wait for it, by finish(). To be said before
  // the first run.
  void expect_better(std::function<void(bool waits)> improvement) const;
  // Binds the symbols, which are as many as the manifest has, from the inputs' dims. Error naming the input, the extent
  // and its range.
  void bind(std::span<const Extents> input_dims, std::span<int64_t> symbols) const;
  // Dims of input or output `i` with the symbols bound.
  Ints input_dims(size_t i, std::span<const int64_t> symbols) const;
  Ints output_dims(size_t i, std::span<const int64_t> symbols) const;
  // Runs: `inputs` and `outputs` are dense row-major memory of the types bound; an aliased output is given as the
  // memory of its input (which is then written). Blocks until done. For programs on the host. Error for other numbers
  // of them, symbols out of range and null pointers; what lies at the pointers is not seen.
  void run(std::span<const int64_t> symbols, std::span<const void* const> inputs, std::span<void* const> outputs) const;

 private:
  struct State;

 public:
  // Refers to a program and does not keep it.
  class Weak {
   public:
    explicit Weak(const Executable& executable) : state_(executable.state_) {}
    // None where nobody has it any more.
    Executable lock() const { return Executable(state_.lock()); }

   private:
    std::weak_ptr<const State> state_;
  };

 private:
  explicit Executable(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const;
  void run_elsewhere(std::span<const Buffer> inputs, std::span<const Buffer> outputs) const;
  void check_run(std::span<const Buffer> inputs, std::span<const Buffer> outputs, std::span<int64_t> symbols) const;
  std::shared_ptr<const State> state_;
};

// How files are made executables where a compiler is in the process, which sets this.
using Recompile = Executable (*)(const Package& package, const Device& device);
void set_recompile(Recompile recompile);

}  // namespace weft
