// Runs with buffers: what is checked before, at once or later, and how long they take.
#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>

#include "weft/core/error.h"
#include "weft/core/interrupt.h"
#include "weft/core/knobs.h"
#include "weft/runtime/buffer_state.h"
#include "weft/runtime/executable_state.h"
#include "weft/runtime/few.h"

namespace weft {
namespace {

bool fits(const Ints& dims, const Dims& wanted, const Manifest& m, std::span<const int64_t> symbols) {
  return std::ranges::equal(dims, wanted, {}, {}, [&](const Dim& dim) { return evaluate(dim, m, symbols); });
}

void require_rounds(int warmup, int iterations) {
  if (iterations < 1 || warmup < 0)
    fail(ErrorKind::value, "benchmark", "one iteration and no less than no warm-up were wanted, got ", iterations,
         " and ", warmup);
}

}  // namespace

// Binds the symbols, and refuses what does not fit.
void Executable::check_run(std::span<const Buffer> inputs, std::span<const Buffer> outputs,
                           std::span<int64_t> symbols) const {
  const State& program = state();
  const Manifest& m = program.manifest;
  auto require_count = [&](const char* what, size_t wanted, size_t got) {
    if (wanted != got) fail(ErrorKind::type, "input_count", "'", m.name, "' has ", wanted, " ", what, ", got ", got);
  };
  require_count("inputs", m.inputs.size(), inputs.size());
  require_count("outputs", m.outputs.size(), outputs.size());
  auto require = [&](const char* what, const IoInfo& info, const Buffer::State& buffer) {
    if (buffer.dtype != info.type.dtype)
      fail(ErrorKind::type, "input_dtype", what, " '", info.name, "' must be ", weft::name(info.type.dtype), ", got ",
           weft::name(buffer.dtype));
    if (buffer.device != program.device)
      fail(ErrorKind::type, "input_device", what, " '", info.name, "' must be on ", program.device.name(), ", got ",
           buffer.device.name());
  };
  Few<Extents> dims(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Buffer::State& input = inputs[i].state();
    require("input", m.inputs[i], input);
    dims[i] = input.dims;
  }
  bind(dims.span(), symbols);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const IoInfo& info = m.outputs[i];
    const Buffer::State& output = outputs[i].state();
    require("output", info, output);
    if (!output.writable) outputs[i].writable_data();
    if (!fits(output.dims, info.type.dims, m, symbols))
      fail(ErrorKind::value, "output_shape", "output '", info.name, "' must have the shape ", output_dims(i, symbols),
           ", got ", output.dims);
    for (size_t k = 0; k < inputs.size() + i; ++k) {
      const Buffer::State& other = k < inputs.size() ? *inputs[k].state_ : *outputs[k - inputs.size()].state_;
      if (static_cast<int>(k) == info.alias) {
        if (other.data() != output.data())
          fail(ErrorKind::value, "alias", "output '", info.name, "' lands in input '", m.inputs[k].name,
               "', got other memory");
      } else if (output.shares_memory(other)) {
        fail(ErrorKind::value, "overlap", "output '", info.name, "' shares memory with ",
             k < inputs.size() ? "input '" : "output '",
             k < inputs.size() ? m.inputs[k].name : m.outputs[k - inputs.size()].name,
             "' and is written by the program");
      }
    }
  }
}

void Executable::run(std::span<const Buffer> inputs, std::span<const Buffer> outputs) const {
  Few<int64_t> symbols(state().manifest.symbols.size());
  check_run(inputs, outputs, symbols.span());
  if (state().elsewhere) return run_elsewhere(inputs, outputs);
  Few<const void*> read(inputs.size());
  Few<void*> written(outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) read[i] = inputs[i].state_->data();
  for (size_t i = 0; i < outputs.size(); ++i) written[i] = outputs[i].state_->data();
  run(symbols.span(), read.span(), written.span());
}

void Executable::run_elsewhere(std::span<const Buffer> inputs, std::span<const Buffer> outputs) const {
  auto range = [](const Buffer& buffer) {
    return DeviceRange{buffer.state_->memory, buffer.state_->offset, buffer.state_->bytes};
  };
  std::vector<DeviceRange> read, written;
  std::vector<std::pair<size_t, Buffer>> landing;  // what lands in an input is written beside it, and then there
  for (const Buffer& input : inputs) read.push_back(range(input));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (manifest().outputs[i].alias >= 0)
      landing.emplace_back(i, Buffer(outputs[i].dtype(), outputs[i].dims(), device()));
    written.push_back(range(manifest().outputs[i].alias >= 0 ? landing.back().second : outputs[i]));
  }
  state().elsewhere->run(read, written);
  for (const auto& [i, buffer] : landing) outputs[i].copy_from(buffer);
}

std::vector<Buffer> Executable::new_outputs(std::span<const Buffer> inputs) const {
  const Manifest& m = manifest();
  Few<int64_t> symbols(m.symbols.size());
  Few<Extents> dims(inputs.size());
  if (inputs.size() != m.inputs.size())
    fail(ErrorKind::type, "input_count", "'", m.name, "' has ", m.inputs.size(), " inputs, got ", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) dims[i] = inputs[i].dims();
  bind(dims.span(), symbols.span());
  std::vector<Buffer> outputs;
  outputs.reserve(m.outputs.size());
  for (size_t i = 0; i < m.outputs.size(); ++i) {
    const IoInfo& info = m.outputs[i];
    if (info.alias >= 0)
      outputs.push_back(inputs[static_cast<size_t>(info.alias)]);
    else
      outputs.emplace_back(info.type.dtype, output_dims(i, symbols.span()), device());
  }
  return outputs;
}

std::vector<Buffer> Executable::run(std::span<const Buffer> inputs) const {
  std::vector<Buffer> outputs = new_outputs(inputs);
  run(inputs, outputs);
  return outputs;
}

namespace {

bool calls_ranks(const Manifest& m) {
  return std::ranges::any_of(m.launches, [](const LaunchInfo& launch) {
    return launch.name.starts_with("collective") || launch.name == "rank";
  });
}

// Of a program that waits for other ranks: of ranks that are threads those may stand behind it in the queue, and which
// rank runs it is known to this thread.
Event done_at_once(const Executable& executable, std::span<const Buffer> inputs, std::span<const Buffer> outputs,
                   const std::vector<Event>& after) {
  executable.device().synchronize();
  std::exception_ptr error;
  try {
    for (const Event& event : after) event.wait();
    executable.run(inputs, outputs);
  } catch (...) {
    error = std::current_exception();
  }
  auto end = [error] {
    if (error) std::rethrow_exception(error);
  };
  return executable.device().state().queue->push(end, {});
}

}  // namespace

PendingRun Executable::run_async(std::vector<Buffer> inputs, std::vector<Event> after) const {
  PendingRun pending{new_outputs(inputs), {}};
  std::vector<int64_t> symbols(manifest().symbols.size());
  check_run(inputs, pending.outputs, symbols);
  if (calls_ranks(manifest())) {
    pending.done = done_at_once(*this, inputs, pending.outputs, after);
    return pending;
  }
  // The scope of knobs that this thread is in holds for the run.
  std::optional<int64_t> threads = scoped_integer(Knob::threads);
  auto work = [self = *this, inputs = std::move(inputs), outputs = pending.outputs, threads] {
    std::optional<ScopedKnobs> scope;
    if (threads) scope.emplace(ScopedKnobs::Values{{Knob::threads, std::to_string(*threads)}});
    self.run(inputs, outputs);
  };
  pending.done = device().state().queue->push(std::move(work), std::move(after));
  return pending;
}

Timing Executable::benchmark(std::span<const Buffer> inputs, int warmup, int iterations) const {
  require_rounds(warmup, iterations);
  InterruptibleWork work;
  std::vector<Buffer> outputs = new_outputs(inputs);
  finish();
  for (int i = 0; i < warmup; ++i) {
    check_interrupt();
    run(inputs, outputs);
  }
  std::vector<double> seconds;
  for (int i = 0; i < iterations; ++i) {
    check_interrupt();
    auto start = std::chrono::steady_clock::now();
    run(inputs, outputs);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::sort(seconds);
  auto percentile = [&](size_t p) { return seconds[std::min(seconds.size() - 1, seconds.size() * p / 100)]; };
  double sum = 0;
  for (double each : seconds) sum += each;
  return {seconds.front(), sum / static_cast<double>(seconds.size()), percentile(50), percentile(90), percentile(99),
          seconds.back()};
}

std::vector<LaunchTime> Executable::profile(std::span<const Buffer> inputs, int warmup, int iterations) const {
  require_rounds(warmup, iterations);
  InterruptibleWork work;
  std::vector<Buffer> outputs = new_outputs(inputs);
  finish();
  for (int i = 0; i < warmup; ++i) {
    check_interrupt();
    run(inputs, outputs);
  }
  LaunchTimes times(manifest());
  for (int i = 0; i < iterations; ++i) {
    check_interrupt();
    run(inputs, outputs);
  }
  return times.times();
}

}  // namespace weft
