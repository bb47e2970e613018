// Devices and buffers.
#include <algorithm>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "buffers.h"
#include "numpy_array.h"
#include "weft/core/error.h"

namespace weft::py {
namespace {

Buffer of_array(nb::object array, const Device& device, Copying copying) {
  std::optional<ArrayView> seen = view(array.ptr());
  if (!seen)
    fail(ErrorKind::type, "dtype", "dtype must be a boolean, number or ml_dtypes type, got ",
         shown(array.attr("dtype")));
  if (!seen->dense) {
    if (copying == Copying::never)
      fail(ErrorKind::value, "must_copy",
           "an array that is not row-major, aligned and of this machine's byte order must be copied: its shape is ",
           shown(array.attr("shape")), ", its strides are ", shown(array.attr("strides")), ", its dtype is ",
           shown(array.attr("dtype")));
    array = checked(as_dense(array.ptr()));
    seen = view(array.ptr());
    if (copying == Copying::always) copying = Copying::where_needed;
  }
  Ints dims(seen->dims, seen->dims + seen->ndim);
  if (copying == Copying::always || !device.is_host())
    return Buffer::copy_of(seen->data, seen->dtype, std::move(dims), device);
  if (seen->writable)
    return Buffer::adopt(seen->data, seen->dtype, std::move(dims), kept_alive(std::move(array)), device);
  return Buffer::adopt(static_cast<const void*>(seen->data), seen->dtype, std::move(dims), kept_alive(std::move(array)),
                       device);
}

// The dims of an int or a sequence of ints.
Ints to_shape(nb::handle shape) {
  if (PyIndex_Check(shape.ptr())) return to_ints(nb::make_tuple(shape));
  return to_ints(shape);
}

Buffer new_buffer(nb::handle source, nb::handle dtype, nb::handle device, nb::handle copy) {
  if (!dtype.is_none()) return Buffer(to_dtype(dtype), to_shape(source), to_device(device));
  Device where =
      device.is_none() && nb::isinstance<Buffer>(source) ? nb::cast<Buffer&>(source).device() : to_device(device);
  return to_buffer(source, where, to_copying(copy));
}

// Part of the first dimension, or with an integer one of its items.
Buffer item(const Buffer& self, nb::handle index) {
  if (PySlice_Check(index.ptr())) {
    Py_ssize_t begin, end, step;
    if (PySlice_Unpack(index.ptr(), &begin, &end, &step) < 0) throw nb::python_error();
    if (step != 1)
      fail(ErrorKind::index, "slice", "a part of a buffer is without gaps: the step must be 1, got ", step);
    Py_ssize_t extent = self.dims().empty() ? 0 : self.dims()[0];
    PySlice_AdjustIndices(extent, &begin, &end, step);
    return self.slice(begin, std::max(begin, end));
  }
  if (!PyIndex_Check(index.ptr()))
    fail(ErrorKind::index, "slice", "the first axis of a buffer is indexed by an int or a slice, got ",
         shown(nb::type_name(index.type())), ": numpy() is an array over its memory");
  Py_ssize_t i = PyNumber_AsSsize_t(index.ptr(), nullptr), extent = self.dims().empty() ? 0 : self.dims()[0];
  if (i == -1 && PyErr_Occurred()) throw nb::python_error();
  if (!self.dims().empty() && (i < -extent || i >= extent))
    fail(ErrorKind::index, "slice", "item ", shown(index), " of a first dimension of ", extent);
  if (i < 0) i += extent;
  Buffer row = self.slice(i, i + 1);
  return row.reshape(Ints(row.dims().begin() + 1, row.dims().end()));
}

Buffer reshaped(const Buffer& self, nb::args shape) {
  Ints dims = shape.size() == 1 ? to_shape(shape[0]) : to_ints(shape);
  auto open = std::ranges::find(dims, -1);
  if (open != dims.end()) {
    int64_t rest = 1;
    for (auto at = dims.begin(); at != dims.end(); ++at) rest *= at == open ? 1 : *at;
    *open = rest > 0 && self.count() % rest == 0 ? self.count() / rest : -1;
  }
  return self.reshape(std::move(dims));
}

std::string text_of(const Buffer& self) {
  std::string dims;
  for (int64_t dim : self.dims()) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
  return "<weftwork.Buffer " + std::string(numpy_name(self.dtype())) + "[" + dims + "] on " + self.device().name() +
         (self.is_writable() ? ">" : ", read-only>");
}

// NumPy's array over the memory answers, so that formats and refusals are NumPy's.
int get_view(PyObject* self, Py_buffer* out, int flags) {
  try {
    nb::object array = numpy_view(self);
    return PyObject_GetBuffer(array.ptr(), out, flags);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  out->obj = nullptr;
  return -1;
}

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_view)}, {0, nullptr}};

void bind_devices(nb::module_& m) {
  nb::class_<Device>(
      m, "Device",
      "Where programs run, and the memory there: ``wf.Device(\"cpu:1\")``. The devices of the CPU are numbered from 0 "
      "to 1023\n"
      "and come into being when they are named: each has memory statistics, a limit and a queue of asynchronous runs "
      "of\n"
      "its own, all share the CPUs and the threads. ``neuron:0`` and so on are the NeuronCores that the Neuron "
      "runtime\n"
      "shows to this process, which it holds from the first naming of one on.\n\n"
      "Raises an :class:`ArgumentValueError` that lists the devices for a name that there is not, and an\n"
      ":class:`ExecutionError` where a Neuron device is named and its runtime cannot be loaded or begun.")
      .def(
          "__init__", [](Device* self, nb::handle name) { new (self) Device(to_device(name)); },
          nb::arg("name") = "cpu:0")
      .def_prop_ro(
          "name", [](const Device& self) { return self.name(); }, "Kind and number: 'cpu:0'.")
      .def_prop_ro(
          "kind", [](const Device& self) { return std::string(self.kind()); }, "'cpu' or 'neuron'.")
      .def_prop_ro("index", &Device::index, "Its number among those of its kind.")
      .def_prop_ro(
          "memory",
          [](const Device& self) {
            MemoryStats stats = self.memory();
            nb::dict memory;
            memory["in_use"] = stats.in_use;
            memory["peak"] = stats.peak;
            memory["kept"] = stats.kept;
            memory["limit"] = stats.limit;
            memory["allocations"] = stats.allocations;
            return memory;
          },
          "Bytes: 'in_use', the 'peak' of that, 'kept' for who asks next, the 'limit' (0: none); and the number of "
          "'allocations'.")
      .def_prop_rw(
          "memory_limit", [](const Device& self) { return self.memory().limit; },
          [](const Device& self, int64_t bytes) { self.set_memory_limit(bytes); },
          "Bytes that may be in use at once, 0 for as many as there are. What does not fit raises an "
          ":class:`ExecutionError`.")
      .def(
          "synchronize", [](nb::handle self) { nb::module_::import_("weftwork._core").attr("synchronize")(self); },
          "Waits for all asynchronous runs; their errors are kept for who waits for them. Ctrl-C ends the waiting.")
      .def("release_unused", &Device::release_unused, nb::call_guard<nb::gil_scoped_release>(),
           "Gives memory that is kept for later back to the system.")
      .def("__eq__", [](const Device& self,
                        nb::handle other) { return nb::isinstance<Device>(other) && nb::cast<Device&>(other) == self; })
      .def("__hash__", [](const Device& self) { return std::hash<const void*>()(&self.state()); })
      .def("__reduce__",
           [](const Device& self) { return nb::make_tuple(nb::type<Device>(), nb::make_tuple(self.name())); })
      .def("__repr__", [](const Device& self) { return "Device('" + self.name() + "')"; });
  m.def("devices", &devices, "All devices that there are so far, those of the CPU first.");
}

constexpr const char* buffer_doc = R"(Dense row-major elements on a device.

``wf.Buffer(array)`` is the memory of a NumPy array, of an object with ``__dlpack__`` (such as a tensor of torch or an
array of jax) or with the buffer protocol, used where it lies and not written where it is read-only. What is not dense,
aligned or of this machine's byte order is copied. ``copy=True`` copies always, ``copy=False`` raises an
:class:`ArgumentValueError` instead; on a device without memory of the host elements are always copied.

``wf.Buffer(shape, dtype)`` has elements that are not set. ``device`` is a :class:`Device` or its name.

A buffer is handed on without a copy by ``numpy()``, ``memoryview(buffer)`` and ``__dlpack__``; its memory lives as
long as anyone uses it. Pickles hold the elements and are read back on ``cpu:0``.

>>> import numpy as np, weftwork as wf
>>> wf.Buffer(np.ones((4, 3), np.float32))[1:3]
<weftwork.Buffer float32[2, 3] on cpu:0>)";

Buffer moved(const Buffer& self, nb::handle device) {
  Device where = to_device(device);
  nb::gil_scoped_release release;
  return self.to(where);
}

void take_elements(const Buffer& self, nb::handle other) {
  Buffer from = to_buffer(other, Device::cpu(), Copying::where_needed);
  if (from.dims() != self.dims())
    fail(ErrorKind::value, "copy", "a buffer of shape ", self.dims(), " was to take the elements of one of shape ",
         from.dims());
  nb::gil_scoped_release release;
  self.copy_from(from);
}

void bind_buffers(nb::module_& m) {
  nb::class_<Buffer>(m, "Buffer", nb::type_slots(buffer_slots), buffer_doc)
      .def(
          "__init__",
          [](Buffer* self, nb::handle source, nb::handle dtype, nb::handle device, nb::handle copy) {
            new (self) Buffer(new_buffer(source, dtype, device, copy));
          },
          nb::arg("source").none(), nb::arg("dtype") = nb::none(), nb::kw_only(), nb::arg("device") = nb::none(),
          nb::arg("copy") = nb::none())
      .def_prop_ro(
          "shape", [](const Buffer& self) { return to_python(self.dims()); }, "The extents, a tuple of ints.")
      .def_prop_ro(
          "dtype", [](const Buffer& self) { return to_python(self.dtype()); },
          "The NumPy dtype; of ml_dtypes for what NumPy lacks.")
      .def_prop_ro("nbytes", &Buffer::bytes, "Bytes of all elements.")
      .def_prop_ro("device", &Buffer::device, "Where the elements are.")
      .def_prop_ro("writable", &Buffer::is_writable, "Whether programs may write the elements.")
      .def(
          "numpy", [](nb::handle self) { return numpy_view(self); },
          "An array over the same memory, read-only where the buffer is. TypeError for a device without memory of the "
          "host.")
      .def("reshape", &reshaped, "The same elements with another shape; -1 stands for what is left.")
      .def("to", &moved, nb::arg("device"), "A copy on a device.")
      .def("copy_from", &take_elements, nb::arg("other"),
           "Takes the elements of a buffer or array of the same shape and dtype, of any device.")
      .def("__getitem__", &item, nb::arg("index").none())
      .def("__len__",
           [](const Buffer& self) {
             if (self.dims().empty()) fail(ErrorKind::type, "slice", "a buffer without dimensions has no length");
             return self.dims()[0];
           })
      .def(
          "__array__",
          [](nb::handle self, nb::handle dtype, nb::handle copy) {
            return nb::module_::import_("numpy").attr("array")(numpy_view(self), nb::arg("dtype") = dtype,
                                                               nb::arg("copy") = copy);
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack__", &to_dlpack, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
           nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](const Buffer& self) { return dlpack_device(self.device()); })
      .def("__reduce__",
           [](const Buffer& self) {
             nb::object copy = nb::cast(self.to(Device::cpu()));
             return nb::make_tuple(nb::type<Buffer>(), nb::make_tuple(numpy_view(copy)));
           })
      .def("__repr__", &text_of);
}

}  // namespace

Device to_device(nb::handle device) {
  if (device.is_none()) return {};
  if (nb::isinstance<Device>(device)) return nb::cast<Device&>(device);
  if (!nb::isinstance<nb::str>(device))
    fail(ErrorKind::type, "device", "device must be a Device or its name, got ", shown(nb::type_name(device.type())));
  return Device::named(shown(device));
}

Copying to_copying(nb::handle copy) {
  if (copy.is_none()) return Copying::where_needed;
  bool wanted = false;
  if (!nb::try_cast(copy, wanted)) fail(ErrorKind::type, "copy", "copy must be True, False or None, got ", shown(copy));
  return wanted ? Copying::always : Copying::never;
}

Buffer to_buffer(nb::handle object, const Device& device, Copying copying) {
  if (nb::isinstance<Buffer>(object)) {
    const Buffer& buffer = nb::cast<Buffer&>(object);
    if (buffer.device() == device && copying != Copying::always) return buffer;
    if (copying == Copying::never)
      fail(ErrorKind::value, "must_copy", "a buffer on '", buffer.device().name(), "' must be copied to be on '",
           device.name(), "'");
    return buffer.to(device);
  }
  if (is_array(object.ptr())) return of_array(nb::borrow(object), device, copying);
  bool has_dlpack = nb::hasattr(object, "__dlpack__"),
       is_numpy = nb::isinstance(object, nb::module_::import_("numpy").attr("ndarray"));
  if (has_dlpack && !is_numpy && device.is_host()) return from_dlpack(object, device, copying);
  if (has_dlpack && !is_numpy) return from_dlpack(object, Device::cpu(), Copying::where_needed).to(device);
  nb::object asarray = nb::module_::import_("numpy").attr("asarray");
  if (is_numpy || is_numpy_scalar(object.ptr())) return of_array(asarray(object), device, copying);
  // NumPy would take bytes for a text.
  if (PyObject_CheckBuffer(object.ptr()))
    return of_array(asarray(checked(PyMemoryView_FromObject(object.ptr()))), device, copying);
  fail(ErrorKind::type, "array",
       "a buffer is made of an array, of an object with __dlpack__ or the buffer protocol, or of a shape and a dtype, "
       "got ",
       shown(nb::type_name(object.type())));
}

nb::object numpy_view(nb::handle object) {
  const Buffer& buffer = nb::cast<Buffer&>(object);
  const Ints& dims = buffer.dims();
  return checked(array_over(buffer.dtype(), static_cast<int>(dims.size()), dims.data(),
                            const_cast<void*>(buffer.data()), nb::borrow(object).release().ptr(),
                            buffer.is_writable()));
}

void bind_device(nb::module_& m) {
  bind_devices(m);
  bind_buffers(m);
}

}  // namespace weft::py
