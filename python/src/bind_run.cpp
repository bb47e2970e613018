// Calls of executables with arrays of any kind, at once or later.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "buffers.h"
#include "executable.h"
#include "numpy_array.h"
#include "weft/core/error.h"
#include "weft/core/interrupt.h"
#include "weft/runtime/neuron.h"

namespace weft::py {
namespace {

// Long enough to cost nothing, short enough for someone who presses Ctrl-C.
constexpr double between_signals = 0.05;

// Threads that will ask for the GIL: once the interpreter is being taken down that ends a thread, and C++ with it.
std::atomic<int> waiting{0};
constexpr int most_milliseconds = 1000;

void stop_queues_and_waiting() {
  nb::gil_scoped_release release;
  stop_queues();
  for (int i = 0; i < most_milliseconds && waiting > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Waits without the GIL, while Python's signal handlers run.
void wait_for(const Event& event) {
  struct Waiting {
    Waiting() { ++waiting; }
    ~Waiting() { --waiting; }
  } here;
  for (bool done = event.is_done(); !done;) {
    {
      nb::gil_scoped_release release;
      done = event.wait_for(between_signals);
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

// Ends what runs or compiles for long, where a signal's handler raises: Python runs handlers on its main thread, which
// is the process's.
void look_for_signals() {
  if (gettid() != getpid()) return;
  nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

bool is_buffer(nb::handle object) { return nb::isinstance<Buffer>(object); }

// What NumPy makes an array of where it is none of those that buffers are made of: lists and numbers.
nb::object array_like(nb::handle object) {
  if (is_array(object.ptr()) || is_buffer(object) || nb::hasattr(object, "__dlpack__") ||
      PyObject_CheckBuffer(object.ptr()))
    return nb::borrow(object);
  return nb::module_::import_("numpy").attr("asarray")(object);
}

struct Arguments {
  std::vector<nb::object> given;
  std::vector<Buffer> buffers;
  bool wants_buffers = false;  // results are what the arguments were
};

// `written`: what may be done to those that the program writes.
Arguments arguments_of(const Executable& executable, nb::handle arrays, Copying written) {
  Arguments arguments;
  for (nb::handle array : arrays) {
    size_t i = arguments.given.size();
    Copying copying = Copying::where_needed;
    for (const IoInfo& output : executable.outputs())
      if (output.alias == static_cast<int>(i)) copying = written;
    arguments.given.push_back(array_like(array));
    arguments.buffers.push_back(to_buffer(arguments.given.back(), executable.device(), copying));
    arguments.wants_buffers |= is_buffer(array);
  }
  return arguments;
}

nb::object one_or_all(std::vector<nb::object> results) {
  if (results.size() == 1) return std::move(results[0]);
  nb::list list;
  for (nb::object& result : results) list.append(std::move(result));
  return nb::tuple(list);
}

nb::object results_of(const Executable& executable, const Arguments& arguments, const std::vector<Buffer>& outputs) {
  std::vector<nb::object> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    int alias = executable.outputs()[i].alias;
    if (alias >= 0)
      results.push_back(arguments.given[static_cast<size_t>(alias)]);
    else if (arguments.wants_buffers)
      results.push_back(nb::cast(outputs[i]));
    else
      results.push_back(
          numpy_view(nb::cast(executable.device().is_host() ? outputs[i] : outputs[i].to(Device::cpu()))));
  }
  return one_or_all(std::move(results));
}

nb::object call(const PyExecutable& self, nb::handle arrays) {
  const Executable& executable = self.compiled.executable;
  bool any_buffer = false;
  std::vector<nb::object> inputs;
  for (nb::handle array : arrays) {
    any_buffer |= !is_array(array.ptr()) && is_buffer(array);
    inputs.push_back(nb::borrow(array));
  }
  if (any_buffer) {
    Arguments arguments = arguments_of(executable, arrays, Copying::never);
    std::vector<Buffer> outputs;
    {
      nb::gil_scoped_release release;
      outputs = executable.run(arguments.buffers);
    }
    return results_of(executable, arguments, outputs);
  }
  for (nb::object& input : inputs) {
    if (is_array(input.ptr())) continue;
    bool foreign = nb::hasattr(input, "__dlpack__") &&
                   !nb::isinstance(input, nb::module_::import_("numpy").attr("ndarray")) &&
                   !is_numpy_scalar(input.ptr());
    input = foreign ? numpy_view(nb::cast(to_buffer(input, {}, Copying::where_needed)))
                    : nb::module_::import_("numpy").attr("asarray")(input);
  }
  return one_or_all(run(executable, inputs));
}

// A run that was begun: what it needs is held until it is done, or this goes.
struct PendingCall {
  Executable executable;
  Arguments arguments;
  PendingRun run;
  nb::object results;

  nb::object wait() {
    wait_for(run.done);
    run.done.wait();
    if (!results) results = results_of(executable, arguments, run.outputs);
    return results;
  }
};

PendingCall begin(const PyExecutable& self, nb::handle arrays) {
  const Executable& executable = self.compiled.executable;
  PendingCall pending{executable, arguments_of(executable, arrays, Copying::never), {}, {}};
  nb::gil_scoped_release release;
  pending.run = executable.run_async(pending.arguments.buffers);
  return pending;
}

nb::dict benchmark(const PyExecutable& self, nb::handle arrays, int warmup, int iterations) {
  Arguments arguments = arguments_of(self.compiled.executable, arrays, Copying::where_needed);
  Timing timing;
  {
    nb::gil_scoped_release release;
    timing = self.compiled.executable.benchmark(arguments.buffers, warmup, iterations);
  }
  nb::dict seconds;
  seconds["min"] = timing.min;
  seconds["mean"] = timing.mean;
  seconds["median"] = timing.p50;
  seconds["p90"] = timing.p90;
  seconds["p99"] = timing.p99;
  seconds["max"] = timing.max;
  return seconds;
}

}  // namespace

std::vector<nb::object> run_elsewhere(const Executable& executable, const std::vector<nb::object>& inputs) {
  std::vector<Buffer> buffers, outputs;
  for (const nb::object& input : inputs) buffers.push_back(to_buffer(input, executable.device(), Copying::always));
  {
    nb::gil_scoped_release release;
    outputs = executable.run(buffers);
    for (Buffer& output : outputs) output = output.to(Device::cpu());
  }
  std::vector<nb::object> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(numpy_view(nb::cast(outputs[i])));
    int alias = executable.outputs()[i].alias;
    if (alias < 0) continue;
    nb::object original = inputs[static_cast<size_t>(alias)];
    if (copy_into(original.ptr(), results.back().ptr()) < 0) throw nb::python_error();
    results.back() = std::move(original);
  }
  return results;
}

void bind_run(nb::module_& m) {
  set_interrupt(look_for_signals);
  m.def(
      "load_neff",
      [](nb::bytes neff, const Device& device, const std::shared_ptr<Graph>& graph) {
        std::string_view content(neff.c_str(), neff.size());
        Manifest signature;
        if (graph) {
          signature.name = graph->name();
          for (NodeId id : graph->parameters())
            signature.inputs.push_back({graph->node(id).attrs.text(Attr::name), graph->node(id).type(), -1});
          for (const Output& output : graph->outputs())
            signature.outputs.push_back({output.name, output.value.type(), output.alias});
        }
        Compiled compiled;
        {
          nb::gil_scoped_release release;
          compiled.executable = load_neff(content, device, graph ? &signature : nullptr);
        }
        return PyExecutable{std::move(compiled), {}, graph, nullptr};
      },
      nb::arg("neff"), nb::arg("device"), nb::arg("graph").none() = nb::none());
  m.def("call", &call, "One result, or a tuple of them.");
  m.def("run_async", &begin);
  m.def("benchmark", &benchmark);
  m.def("synchronize", [](const Device& device) { wait_for(device.pending()); });
  m.def("stop_queues", &stop_queues_and_waiting);
  nb::class_<PendingCall>(m, "PendingRun",
                          "A run that :meth:`weftwork.Executable.run_async` began; ``await`` it, or call ``wait()``.")
      .def("wait", &PendingCall::wait,
           "Waits, and returns what the call would; raises what it would, every time. Ctrl-C ends the waiting, not the "
           "run.")
      .def(
          "done", [](const PendingCall& self) { return self.run.done.is_done(); },
          "Whether the run is over, by an error or not.")
      .def("__await__", [](nb::handle self) { return nb::module_::import_("weftwork.device").attr("awaited")(self); })
      .def("__repr__", [](const PendingCall& self) {
        return "<weftwork.PendingRun of " + self.executable.name() + (self.run.done.is_done() ? ": done>" : ">");
      });
}

}  // namespace weft::py
