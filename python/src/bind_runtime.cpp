// Executables called with NumPy arrays.
#include "executable.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "buffers.h"
#include "numpy_array.h"
#include "weft/codegen/llvm/disassemble.h"
#include "weft/compiler/cache.h"
#include "weft/compiler/export.h"
#include "weft/core/cpu.h"
#include "weft/core/span.h"
#include "weft/library/linalg.h"
#include "weft/runtime/listen.h"
#include "weft/runtime/thread_pool.h"
#include "without_gil.h"

namespace weft::py {
namespace {

// The array's memory as the program wants it; `copied` when it had to be made dense.
ArrayView dense_input(const IoInfo& info, nb::object& array, bool& copied) {
  if (!is_array(array.ptr()))
    fail(ErrorKind::type, "input_type", "input '", info.name, "' must be a NumPy array, got ",
         shown(nb::type_name(array.type())));
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

bool share_elements(nb::handle lhs, nb::handle rhs) {
  if (!ranges_overlap(lhs.ptr(), rhs.ptr())) return false;
  try {
    return nb::cast<bool>(nb::module_::import_("numpy").attr("shares_memory")(lhs, rhs, nb::arg("max_work") = 1 << 20));
  } catch (nb::python_error&) {
    return true;  // too hard to tell
  }
}

// Error where input `target`, which the program writes, cannot be: it is read-only, two of its elements are one, or
// another input shares elements with it and would change under the program's feet.
template <class NameOf>
void require_writable(const NameOf& name_of, std::span<const nb::object> inputs, size_t target) {
  PyObject* array = inputs[target].ptr();
  if (!is_array(array)) return;
  std::optional<ArrayView> seen = view(array);
  if (seen && !seen->writable)
    fail(ErrorKind::value, "read_only", "input '", name_of(target),
         "' is written by the program, but the array given is read-only: assignment destination is read-only");
  if (may_overlap_itself(array))
    fail(ErrorKind::value, "overlap", "input '", name_of(target),
         "' is written by the program, but elements of the array given overlap: its shape is ",
         shown(inputs[target].attr("shape")), ", its strides are ", shown(inputs[target].attr("strides")));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (i != target && is_array(inputs[i].ptr()) && share_elements(inputs[target], inputs[i]))
      fail(ErrorKind::value, "overlap", "inputs '", name_of(target), "' and '", name_of(i),
           "' share memory and the first is written by the program");
}

nb::list tuples_of(const std::vector<IoInfo>& infos) {
  nb::list tuples;
  for (const IoInfo& info : infos)
    tuples.append(nb::make_tuple(info.name, to_python(info.type.dtype), to_python(info.type.dims), info.alias));
  return tuples;
}

}  // namespace

std::vector<nb::object> run(const Executable& executable, std::vector<nb::object>& inputs) {
  const Manifest& manifest = executable.manifest();
  size_t count = manifest.inputs.size();
  if (inputs.size() != count)
    fail(ErrorKind::type, "input_count", "'", manifest.name, "' takes ", count, " inputs, got ", inputs.size());
  for (const IoInfo& output : manifest.outputs)
    if (output.alias >= 0)
      require_writable([&](size_t i) { return manifest.inputs[i].name; }, inputs, static_cast<size_t>(output.alias));
  if (!executable.device().is_host()) return run_elsewhere(executable, inputs);
  std::vector<nb::object> originals(count);
  std::vector<const void*> input_memory(count);
  std::vector<Extents> dims(count);
  for (size_t i = 0; i < count; ++i) {
    bool copied = false;
    if (PyFloat_CheckExact(inputs[i].ptr())) {
      // The program reads the number where it lies.
      input_memory[i] = &reinterpret_cast<PyFloatObject*>(inputs[i].ptr())->ob_fval;
      continue;
    }
    nb::object given = inputs[i];
    ArrayView seen = dense_input(manifest.inputs[i], inputs[i], copied);
    if (copied) originals[i] = std::move(given);
    input_memory[i] = seen.data;
    dims[i] = {seen.dims, static_cast<size_t>(seen.ndim)};
  }
  std::vector<int64_t> symbols(manifest.symbols.size());
  executable.bind(dims, symbols);
  std::vector<nb::object> outputs;
  std::vector<void*> output_memory;
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const IoInfo& info = manifest.outputs[i];
    if (info.alias >= 0) {
      nb::object& target = inputs[static_cast<size_t>(info.alias)];
      outputs.push_back(target);
    } else {
      Ints shape = executable.output_dims(i, symbols);
      outputs.push_back(
          checked(new_array(info.type.dtype, static_cast<int>(shape.size()), shape.data(), executable.device())));
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

namespace {

// Those of all launches of a kernel, each once.
std::vector<std::string> lines_of(const Manifest& manifest, const KernelInfo& kernel) {
  std::vector<std::string> lines;
  auto add = [&](const std::string& line) {
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  };
  for (const LaunchInfo& launch : manifest.launches)
    if (launch.name == kernel.name) std::ranges::for_each(launch.lines, add);
  if (lines.empty()) add(kernel.source);
  return lines;
}

nb::list kernels_of(const Manifest& manifest) {
  nb::list tuples;
  for (const KernelInfo& kernel : manifest.kernels)
    tuples.append(nb::make_tuple(kernel.name, kernel.source, nb::tuple(nb::cast(kernel.ops)), kernel.launches,
                                 nb::tuple(nb::cast(lines_of(manifest, kernel)))));
  return tuples;
}

nb::list texts_of(const std::vector<CutInfo>& cuts) {
  nb::list texts;
  for (const CutInfo& cut : cuts) texts.append(cat(cut.op, " (", cut.source, "): ", cut.reason));
  return texts;
}

// What one kind of CPU has in a file: (target, features, feature that this CPU lacks, bytes of code, …) by name.
nb::dict dict_of(const Build& build) {
  const Manifest& manifest = build.manifest;
  int64_t code = 0, constants = 0;
  for (const std::string& object : build.objects) code += static_cast<int64_t>(object.size());
  for (const Manifest::Constant& constant : manifest.constants)
    constants += constant.type.count().value() * size_of(constant.type.dtype);
  nb::dict row;
  row["target"] = build.target;
  row["features"] = build.features;
  row["missing"] = missing_feature(build.features);
  row["name"] = manifest.name;
  row["inputs"] = tuples_of(manifest.inputs);
  row["outputs"] = tuples_of(manifest.outputs);
  row["kernels"] = kernels_of(manifest);
  row["cuts"] = texts_of(manifest.cuts);
  row["arena"] = to_python(manifest.arena_bytes);
  row["persistent"] = to_python(manifest.persistent_bytes);
  row["code"] = code;
  row["constants"] = constants;
  return row;
}

nb::bytes to_bytes(const std::string& content) { return nb::bytes(content.data(), content.size()); }

// What package_bytes wrote, in memory of its own.
Package to_package(const nb::bytes& content) {
  std::string_view bytes(content.c_str(), content.size());
  constexpr std::align_val_t alignment{64};
  std::shared_ptr<char[]> memory(static_cast<char*>(::operator new[](bytes.size(), alignment)),
                                 [](char* p) { ::operator delete[](p, alignment); });
  std::ranges::copy(bytes, memory.get());
  return parse_package({memory.get(), bytes.size()}, memory);
}

void bind_package(nb::module_& m) {
  nb::class_<Package>(m, "Package", "What an executable's file holds; none of its machine code is loaded.")
      .def_prop_ro("builds",
                   [](const Package& self) {
                     nb::list rows;
                     for (const Build& build : self.builds) rows.append(dict_of(build));
                     return rows;
                   })
      .def("graph", [](const Package& self) { return std::const_pointer_cast<Graph>(graph_of(self)); })
      .def(
          "assembly",
          [](const Package& self, size_t build) {
            nb::list functions;
            for (const std::string& object : self.builds.at(build).objects)
              for (const Assembly& each : disassemble(object))
                functions.append(nb::make_tuple(each.function, each.text));
            return functions;
          },
          "(function, text) for each function of a build's machine code.");
  m.def("read_package", [](const std::filesystem::path& path) { return read_package(path); });
  m.def(
      "graph_content", [](const std::shared_ptr<Graph>& graph) { return to_bytes(package_bytes(package_of(*graph))); },
      "The bytes that graph_of_content makes the program of.");
  m.def("graph_of_content",
        [](const nb::bytes& content) { return std::const_pointer_cast<Graph>(graph_of(to_package(content))); });
}

// What is told of launches, before and after they ran.
void bind_launches(nb::class_<PyExecutable>& executable) {
  executable
      .def(
          "profile",
          [](const PyExecutable& self, const nb::callable& runs) {
            self.compiled.executable.finish();
            LaunchTimes times(self.compiled.executable.manifest());
            int64_t begin = span_clock();
            runs();
            double seconds = static_cast<double>(span_clock() - begin) / 1e9;
            nb::list launches;
            for (const LaunchTime& time : times.times())
              launches.append(nb::make_tuple(time.count, time.total, time.min));
            return nb::make_tuple(seconds, launches);
          },
          "(seconds, [(count, total, min) of each launch]) of the runs that a function makes on this thread.")
      .def_prop_ro("launch_infos",
                   [](const PyExecutable& self) {
                     nb::list launches;
                     auto size = [](const Dim& bytes) { return bytes.is(-1) ? nb::none() : to_python(bytes); };
                     for (const LaunchInfo& launch : self.compiled.executable.manifest().launches)
                       launches.append(nb::make_tuple(launch.name, launch.source, launch.ops, launch.lines,
                                                      size(launch.read_bytes), size(launch.written_bytes),
                                                      size(launch.flops), launch.is_setup));
                     return launches;
                   })
      .def_prop_ro("cut_infos", [](const PyExecutable& self) {
        nb::list cuts;
        for (const CutInfo& cut : self.compiled.executable.manifest().cuts)
          cuts.append(nb::make_tuple(cut.op, cut.source, cut.reason, cut.readers));
        return cuts;
      });
}

void require_code(const PyExecutable& self) {
  if (!self.package && !self.compiled.build)
    fail(ErrorKind::unsupported, "neuron_file",
         "a program on a Neuron device is saved as its NEFF: wf.compile(f, x, target='neuron').save(path)");
}

nb::bytes content_of(const PyExecutable& self) {
  std::string content;
  {
    WithoutGil release;
    require_code(self);
    content = package_bytes(self.package ? *self.package : package_of(*self.graph, self.compiled));
  }
  return to_bytes(content);
}

void bind_executable(nb::module_& m) {
  nb::class_<PyExecutable> executable(m, "Executable", "A compiled program.");
  bind_launches(executable);
  executable
      .def("save",
           [](const PyExecutable& self, const std::filesystem::path& path, const std::vector<std::string>& targets) {
             WithoutGil release;
             require_code(self);
             if (self.package && targets.empty()) return write_package(path, *self.package);
             GraphPtr graph = self.package ? graph_of(*self.package) : nullptr;
             write_package(path, package_of(graph ? *graph : *self.graph, self.compiled, targets));
           })
      .def("package",
           [](const PyExecutable& self) {
             require_code(self);
             return self.package ? *self.package : package_of(*self.graph, self.compiled);
           })
      .def("content", &content_of, "The bytes that its file would have.")
      .def_prop_ro(
          "graph",
          [](const PyExecutable& self) {
            return self.package ? graph_of(*self.package) : std::const_pointer_cast<Graph>(self.graph);
          },
          "What it was compiled from.")
      .def_prop_ro(
          "target",
          [](const PyExecutable& self) { return self.compiled.build ? self.compiled.build()->target : "neuron"; })
      .def_prop_ro("device", [](const PyExecutable& self) { return self.compiled.executable.device(); })
      .def_prop_ro("name", [](const PyExecutable& self) { return self.compiled.executable.manifest().name; })
      .def_prop_ro("input_infos",
                   [](const PyExecutable& self) { return tuples_of(self.compiled.executable.manifest().inputs); })
      .def_prop_ro("output_infos",
                   [](const PyExecutable& self) { return tuples_of(self.compiled.executable.manifest().outputs); })
      .def_prop_ro("kernel_infos",
                   [](const PyExecutable& self) { return kernels_of(self.compiled.executable.manifest()); })
      .def_prop_ro("memory",
                   [](const PyExecutable& self) {
                     const Manifest& manifest = self.compiled.executable.manifest();
                     nb::dict memory;
                     memory["arena"] = to_python(manifest.arena_bytes);
                     memory["persistent"] = to_python(manifest.persistent_bytes);
                     memory["code"] = self.compiled.executable.code_bytes();
                     return memory;
                   })
      .def_prop_ro("times", [](const PyExecutable& self) {
        nb::dict times;
        for (const StageTime& time : self.compiled.times) times[time.stage.c_str()] = time.milliseconds;
        return times;
      });
}

void bind_spans(nb::module_& m) {
  m.def("is_recording", &is_recording);
  m.def("span_clock", &span_clock);
  m.def(
      "record_span",
      [](const std::string& category, const std::string& name, const std::string& arguments, int64_t begin) {
        record_span(span_label(name, category, arguments), begin, span_clock());
      },
      nb::arg("category"), nb::arg("name"), nb::arg("arguments"), nb::arg("begin"));
  m.def("start_recording", &start_recording);
  m.def(
      "stop_recording",
      [](const std::filesystem::path& path, int64_t since) {
        nb::gil_scoped_release release;
        write_whole(path, stop_recording(since));
      },
      nb::arg("path"), nb::arg("since"));
  m.def(
      "write_file",
      [](const std::filesystem::path& path, const nb::bytes& content) {
        std::string_view text(content.c_str(), content.size());
        nb::gil_scoped_release release;
        write_whole(path, text);
      },
      "Writes a file that appears whole or not at all.");
}

void bind_compile(nb::module_& m) {
  m.def(
      "compile",
      [](const std::shared_ptr<Graph>& graph, std::string target, nb::object keep, nb::handle device, bool tiered,
         bool checks) {
        CompileOptions options;
        options.checks = checks;
        options.tiered = tiered;
        options.target = std::move(target);
        options.device = to_device(device);
        Compiled compiled;
        {
          WithoutGil release;
          compiled = compile(*graph, options);
        }
        return PyExecutable{std::move(compiled), std::move(keep), graph, nullptr};
      },
      nb::arg("graph"), nb::arg("target") = "native", nb::arg("keep").none() = nb::none(),
      nb::arg("device") = nb::none(), nb::arg("tiered") = false, nb::arg("checks") = true);
  m.def(
      "export_object",
      [](const std::shared_ptr<Graph>& graph, const std::string& name, const std::string& target) {
        ExportedProgram exported;
        {
          WithoutGil release;
          exported = export_program(*graph, name, target);
        }
        return nb::make_tuple(nb::bytes(exported.object.data(), exported.object.size()), exported.header);
      },
      nb::arg("graph"), nb::arg("name"), nb::arg("target") = "native",
      "The bytes of an ELF object file, and the text of its C header.");
}

void bind_load(nb::module_& m) {
  m.def(
      "load",
      [](const std::filesystem::path& path, const std::string& target, nb::handle device) {
        Device where = to_device(device);
        WithoutGil release;
        auto package = std::make_shared<const Package>(read_package(path));
        return PyExecutable{load(*package, {.target = target, .device = where}), {}, nullptr, package};
      },
      nb::arg("path"), nb::arg("target") = "native", nb::arg("device") = nb::none());
  m.def(
      "load_content",
      [](const nb::bytes& content, const std::string& target, nb::handle device) {
        Device where = to_device(device);
        auto package = std::make_shared<const Package>(to_package(content));
        WithoutGil release;
        return PyExecutable{load(*package, {.target = target, .device = where}), {}, nullptr, package};
      },
      nb::arg("content"), nb::arg("target") = "native", nb::arg("device") = nb::none(),
      "The executable whose content it is.");
}

}  // namespace

void bind_runtime(nb::module_& m) {
  bind_executable(m);
  bind_spans(m);
  bind_package(m);
  bind_compile(m);
  bind_load(m);
  m.def(
      "check_written",
      [](const Graph& graph, nb::handle arrays) {
        std::vector<nb::object> inputs;
        for (nb::handle array : arrays) inputs.push_back(nb::borrow(array));
        auto name_of = [&](size_t i) { return graph.node(graph.parameters()[i]).attrs.text(Attr::name); };
        for (const Output& output : graph.outputs())
          if (output.alias >= 0) require_writable(name_of, inputs, static_cast<size_t>(output.alias));
      },
      "Raises where an array that the program writes cannot be written.");
  m.def("cache_info", [] {
    CacheInfo info = cache_info();
    return nb::make_tuple(info.directory, info.problem, info.entries, info.bytes, info.limit, info.hits, info.misses);
  });
  m.def("clear_cache", &clear_cache);
  m.def("set_num_threads", &set_num_threads, nb::arg("n"), "Threads that runs use from here on; 0: one for each CPU.");
  m.def("num_threads", &num_threads);
  m.def("use_lapack", &linalg::use_lapack, nb::arg("path"),
        "Whether the library at this path has a LAPACK, to which large matrices are left from here on.");
}

}  // namespace weft::py
