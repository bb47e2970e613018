// Executables called with NumPy arrays.
#include "executable.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "numpy_array.h"
#include "weft/runtime/thread_pool.h"

namespace weft::py {
namespace {

nb::object checked(PyObject* object) {
  if (!object) throw nb::python_error();
  return nb::steal(object);
}

// The array's memory as the program wants it; `copied` when it had to be made dense.
ArrayView dense_input(const IoInfo& info, nb::object& array, bool& copied) {
  if (!is_array(array.ptr()))
    fail(ErrorKind::type, "input_type", "input '", info.name, "' must be a NumPy array, got ", shown(nb::type_name(array.type())));
  std::optional<ArrayView> seen = view(array.ptr());
  if (!seen || seen->dtype != info.type.dtype)
    fail(ErrorKind::type, "input_dtype", "input '", info.name, "' must be ", numpy_name(info.type.dtype), ", got ",
         shown(array.attr("dtype")));
  copied = !seen->dense;
  if (copied) {
    array = checked(as_dense(array.ptr()));
    seen = view(array.ptr());
  }
  return *seen;
}

}  // namespace

std::vector<nb::object> run(const Executable& executable, std::vector<nb::object>& inputs) {
  const Manifest& manifest = executable.manifest();
  size_t count = manifest.inputs.size();
  if (inputs.size() != count)
    fail(ErrorKind::type, "input_count", "'", manifest.name, "' takes ", count, " inputs, got ", inputs.size());
  std::vector<nb::object> originals(count);
  std::vector<const void*> input_memory(count);
  std::vector<Ints> dims(count);
  for (size_t i = 0; i < count; ++i) {
    bool copied = false;
    nb::object given = inputs[i];
    ArrayView seen = dense_input(manifest.inputs[i], inputs[i], copied);
    if (copied) originals[i] = std::move(given);
    input_memory[i] = seen.data;
    dims[i].assign(seen.dims, seen.dims + seen.ndim);
  }
  std::vector<int64_t> symbols(manifest.symbols.size());
  executable.bind(dims, symbols);
  std::vector<nb::object> outputs;
  std::vector<void*> output_memory;
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const IoInfo& info = manifest.outputs[i];
    if (info.alias >= 0) {
      nb::object& target = inputs[static_cast<size_t>(info.alias)];
      if (!view(target.ptr())->writable)
        fail(ErrorKind::value, "read_only", "input '", manifest.inputs[static_cast<size_t>(info.alias)].name,
             "' is written by the program, but the array given is read-only");
      outputs.push_back(target);
    } else {
      Ints shape = executable.output_dims(i, symbols);
      outputs.push_back(checked(new_array(info.type.dtype, static_cast<int>(shape.size()), shape.data())));
    }
    output_memory.push_back(data_of(outputs.back().ptr()));
  }
  {
    nb::gil_scoped_release release;
    executable.run(symbols, input_memory, output_memory);
  }
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    int alias = manifest.outputs[i].alias;
    if (alias < 0 || !originals[static_cast<size_t>(alias)]) continue;
    nb::object& original = originals[static_cast<size_t>(alias)];
    if (copy_into(original.ptr(), outputs[i].ptr()) < 0) throw nb::python_error();
    outputs[i] = original;
  }
  return outputs;
}

void bind_runtime(nb::module_& m) {
  nb::class_<PyExecutable>(m, "Executable", "A compiled program.")
      .def("run", [](const PyExecutable& self, nb::handle arrays) {
        std::vector<nb::object> inputs;
        for (nb::handle array : arrays) inputs.push_back(nb::borrow(array));
        nb::list outputs;
        for (nb::object& output : run(*self.compiled.executable, inputs)) outputs.append(output);
        return outputs;
      })
      .def_prop_ro("name", [](const PyExecutable& self) { return self.compiled.executable->manifest().name; })
      .def_prop_ro("input_infos", [](const PyExecutable& self) {
        nb::list infos;
        for (const IoInfo& info : self.compiled.executable->manifest().inputs)
          infos.append(nb::make_tuple(info.name, to_python(info.type.dtype), to_python(info.type.dims), info.alias));
        return infos;
      })
      .def_prop_ro("output_infos", [](const PyExecutable& self) {
        nb::list infos;
        for (const IoInfo& info : self.compiled.executable->manifest().outputs)
          infos.append(nb::make_tuple(info.name, to_python(info.type.dtype), to_python(info.type.dims), info.alias));
        return infos;
      })
      .def_prop_ro("kernel_infos", [](const PyExecutable& self) {
        nb::list kernels;
        for (const KernelInfo& kernel : self.compiled.executable->manifest().kernels)
          kernels.append(nb::make_tuple(kernel.name, kernel.source, kernel.ops, kernel.launches));
        return kernels;
      })
      .def_prop_ro("memory", [](const PyExecutable& self) {
        const Manifest& manifest = self.compiled.executable->manifest();
        nb::dict memory;
        memory["arena"] = to_python(manifest.arena_bytes);
        memory["persistent"] = to_python(manifest.persistent_bytes);
        memory["code"] = self.compiled.executable->code_bytes();
        return memory;
      })
      .def_prop_ro("times", [](const PyExecutable& self) {
        nb::dict times;
        for (const StageTime& time : self.compiled.times) times[time.stage.c_str()] = time.milliseconds;
        return times;
      })
      .def_prop_ro("cuts", [](const PyExecutable& self) { return self.compiled.cuts; });
  m.def("compile", [](const std::shared_ptr<Graph>& graph, std::string target, nb::object keep) {
    CompileOptions options;
    options.target = std::move(target);
    Compiled compiled;
    {
      nb::gil_scoped_release release;
      compiled = compile(*graph, options);
    }
    return PyExecutable{std::move(compiled), std::move(keep)};
  }, nb::arg("graph"), nb::arg("target") = "native", nb::arg("keep").none() = nb::none());
  m.def("set_num_threads", &set_num_threads, nb::arg("n"), "Threads that runs use from here on; 0: one for each CPU.");
  m.def("num_threads", &num_threads);
}

}  // namespace weft::py
