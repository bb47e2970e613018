// Conversions between Python objects and weft values.
#include "convert.h"

#include <cstring>

#include "numpy_array.h"
#include "weft/core/error.h"

namespace weft::py {
namespace {

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

AttrValue to_attr(const AttrSpec& spec, nb::handle value) {
  switch (spec.kind) {
    case AttrKind::flag:
      return nb::cast<bool>(value);
    case AttrKind::integer:
      return nb::cast<int64_t>(value);
    case AttrKind::number:
      return nb::cast<double>(value);
    case AttrKind::text:
      return shown(value);
    case AttrKind::ints:
      return to_ints(value);
    case AttrKind::dims:
      return to_dims(value);
    case AttrKind::dtype:
      return to_dtype(value);
    case AttrKind::literal:
      return to_literal(value);
    case AttrKind::types: {
      // (shape, dtype) pairs.
      std::vector<Type> types;
      for (nb::handle pair : value) types.push_back({to_dtype(pair[1]), to_dims(pair[0])});
      return types;
    }
  }
  return {};
}

}  // namespace

int64_t to_integer(nb::handle object) {
  nb::object index = checked(PyNumber_Index(object.ptr()));
  int64_t value = 0;
  if (!nb::try_cast(index, value))
    fail(ErrorKind::value, "integer", "an integer of 64 bits was wanted, got ", shown(index));
  return value;
}

std::string shown(nb::handle object) {
  nb::object text = checked(PyObject_Str(object.ptr()));
  nb::object bytes = checked(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

nb::object to_python(const Dim& dim) {
  if (dim.is_static()) return nb::int_(dim.value());
  return nb::cast(dim);
}

Dim to_dim(nb::handle object) {
  if (nb::isinstance<Dim>(object)) return nb::cast<Dim>(object);
  return Dim(to_integer(object));
}

nb::tuple to_python(const Dims& dims) {
  nb::list list;
  for (const Dim& dim : dims) list.append(to_python(dim));
  return nb::tuple(list);
}

Dims to_dims(nb::handle sequence) {
  Dims dims;
  for (nb::handle item : sequence) dims.push_back(to_dim(item));
  return dims;
}

nb::tuple to_python(const Ints& values) {
  nb::list list;
  for (int64_t value : values) list.append(value);
  return nb::tuple(list);
}

Ints to_ints(nb::handle sequence) {
  Ints values;
  for (nb::handle item : sequence) values.push_back(to_integer(item));
  return values;
}

nb::object to_python(DType dtype) { return checked(descr_of(dtype)); }

DType to_dtype(nb::handle dtype) {
  std::optional<DType> result = dtype_of_descr(dtype.ptr());
  if (!result) fail(ErrorKind::type, "dtype", "dtype must be a boolean, number or ml_dtypes type, got ", shown(dtype));
  return *result;
}

nb::object to_python(const Literal& literal) {
  Ints dims = literal.type().static_dims();
  nb::capsule owner(new Literal(literal), [](void* kept) noexcept { delete static_cast<Literal*>(kept); });
  return checked(array_over(literal.dtype(), static_cast<int>(dims.size()), dims.data(),
                            const_cast<std::byte*>(literal.bytes().data()), owner.release().ptr(), false));
}

std::shared_ptr<const void> kept_alive(nb::object object) {
  return {object.release().ptr(), [](const void* kept) {
            // Who asks for the GIL of an interpreter that is gone would wait forever.
            if (!nb::is_alive() || is_finalizing()) return;
            nb::gil_scoped_acquire gil;
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(kept)));
          }};
}

Literal to_literal(nb::handle object, bool live) {
  nb::object array = nb::borrow(object);
  if (!is_array(array.ptr())) array = nb::module_::import_("numpy").attr("asarray")(array);
  if (!is_array(array.ptr())) fail(ErrorKind::type, "array", "an array was wanted, got ", shown(array));
  std::optional<ArrayView> seen = view(array.ptr());
  if (!seen)
    fail(ErrorKind::type, "dtype", "dtype must be a boolean, number or ml_dtypes type, got ",
         shown(array.attr("dtype")));
  if (!seen->dense) {
    array = checked(as_dense(array.ptr()));
    seen = view(array.ptr());
    live = false;
  }
  Type type{seen->dtype, {}};
  for (int i = 0; i < seen->ndim; ++i) type.dims.emplace_back(static_cast<int64_t>(seen->dims[i]));
  const void* bytes = seen->data;
  return Literal(std::move(type), bytes, kept_alive(std::move(array)), live);
}

nb::object to_python(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> nb::object {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, std::monostate>)
          return nb::none();
        else if constexpr (std::is_same_v<V, std::string>)
          return nb::str(v.c_str());
        else if constexpr (std::is_same_v<V, bool> || std::is_same_v<V, int64_t> || std::is_same_v<V, double>)
          return nb::cast(v);
        else if constexpr (std::is_same_v<V, std::vector<Type>>) {
          nb::list types;
          for (const Type& type : v) types.append(nb::make_tuple(to_python(type.dims), to_python(type.dtype)));
          return nb::tuple(types);
        } else
          return to_python(v);
      },
      value);
}

Attrs to_attrs(Op op, nb::handle dict) {
  Attrs attrs;
  if (dict.is_none()) return attrs;
  for (auto [key, value] : nb::borrow<nb::dict>(dict)) {
    std::string_view wanted = nb::cast<const char*>(key);
    const AttrSpec* spec = nullptr;
    for (const AttrSpec& candidate : def(op).attrs)
      if (name(candidate.attr) == wanted) spec = &candidate;
    if (!spec) fail(ErrorKind::value, "attribute", name(op), " has no attribute '", wanted, "'");
    AttrValue given = to_attr(*spec, value);
    // An optional flag that does not hold is left out, as text leaves it out.
    if (spec->optional && given == AttrValue(false)) continue;
    attrs.set(spec->attr, std::move(given));
  }
  return attrs;
}

Op to_op(std::string_view text) {
  std::optional<Op> op = op_from_name(text);
  if (!op) fail(ErrorKind::value, "op", "no operation is called '", text, "'");
  return *op;
}

}  // namespace weft::py
