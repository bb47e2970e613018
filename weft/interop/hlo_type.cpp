// Types and literals as messages of xla_data.proto.
#include "weft/interop/hlo_type.h"

#include <iterator>
#include <utility>

namespace weft {
namespace {

// A literal's elements lie in one of these forms in the field of their type.
enum class Packing : uint8_t { none, bytes, low_bits, integers };

struct Primitive {
  DType dtype;
  int64_t number;      // xla.PrimitiveType; 0: XLA has none
  uint32_t field = 0;  // of xla.LiteralProto
  Packing packing = Packing::none;
};

constexpr Primitive primitives[] = {
    {DType::boolean, 1, 2, Packing::bytes},
    {DType::i2, 26, 26, Packing::low_bits},
    {DType::i4, 21, 21, Packing::low_bits},
    {DType::i8, 2, 15, Packing::bytes},
    {DType::i16, 3, 17, Packing::bytes},
    {DType::i32, 4, 4, Packing::integers},
    {DType::i64, 5, 5, Packing::integers},
    {DType::u2, 27, 27, Packing::low_bits},
    {DType::u4, 22, 22, Packing::low_bits},
    {DType::u8, 6, 3, Packing::bytes},
    {DType::u16, 7, 16, Packing::bytes},
    {DType::u32, 8, 6, Packing::integers},
    {DType::u64, 9, 7, Packing::integers},
    {DType::f4e2m1fn, 32, 32, Packing::low_bits},
    {DType::f6e2m3fn, 0},
    {DType::f6e3m2fn, 0},
    {DType::f8e3m4, 29, 29, Packing::bytes},
    {DType::f8e4m3, 28, 28, Packing::bytes},
    {DType::f8e4m3b11fnuz, 23, 23, Packing::bytes},
    {DType::f8e4m3fn, 20, 20, Packing::bytes},
    {DType::f8e4m3fnuz, 25, 25, Packing::bytes},
    {DType::f8e5m2, 19, 19, Packing::bytes},
    {DType::f8e5m2fnuz, 24, 24, Packing::bytes},
    {DType::f8e8m0fnu, 33, 33, Packing::bytes},
    {DType::bf16, 16, 13, Packing::bytes},
    {DType::f16, 10, 11, Packing::bytes},
    {DType::f32, 11, 8, Packing::bytes},
    {DType::f64, 12, 9, Packing::bytes},
    {DType::c64, 15, 12, Packing::bytes},
    {DType::c128, 18, 18, Packing::bytes},
};
static_assert(std::size(primitives) == dtype_count);

constexpr int64_t tuple_number = 13;
// Literals from this size on are not copied.
constexpr size_t borrowed_size = 4096;

const Primitive& primitive(DType dtype) {
  const Primitive& row = primitives[static_cast<size_t>(dtype)];
  check(row.dtype == dtype, "element types out of order at ", name(dtype));
  if (row.number == 0) fail(ErrorKind::unsupported, "hlo_dtype", "HLO has no element type ", name(dtype));
  return row;
}

std::string_view text_of(const Literal& literal) {
  return {reinterpret_cast<const char*>(literal.bytes().data()), literal.bytes().size()};
}

void write_integers(Message& message, uint32_t field, const Literal& literal) {
  switch (literal.dtype()) {
    case DType::i32:
      return message.numbers(field, literal.data<int32_t>());
    case DType::u32:
      return message.numbers(field, literal.data<uint32_t>());
    case DType::u64:
      return message.numbers(field, literal.data<uint64_t>());
    default:
      return message.numbers(field, literal.data<int64_t>());
  }
}

}  // namespace

Ints static_extents(const Dims& dims) {
  Ints extents;
  for (const Dim& dim : dims) {
    if (!dim.is_static())
      fail(ErrorKind::value, "hlo_symbolic", "HLO has fixed extents only, got ", dims,
           "; give the symbols values first");
    extents.push_back(dim.value());
  }
  return extents;
}

Message shape_message(const Type& type, Order order) {
  Message shape, layout;
  Ints dims = static_extents(type.dims), minor_to_major;
  for (size_t i = dims.size(); i-- > 0;) minor_to_major.push_back(static_cast<int64_t>(i));
  if (order == Order::column_major && dims.size() >= 2) std::swap(minor_to_major[0], minor_to_major[1]);
  shape.number(2, primitive(type.dtype).number);
  shape.numbers(3, dims);
  layout.numbers(1, minor_to_major);
  layout.number(16, 1);  // tail_padding_alignment_in_elements: none
  shape.message(5, layout);
  shape.numbers(6, Ints(dims.size()));  // is_dynamic_dimension
  return shape;
}

Message tuple_shape_message(const std::vector<Message>& shapes) {
  Message tuple;
  tuple.number(2, tuple_number);
  for (const Message& shape : shapes) tuple.message(4, shape);
  return tuple;
}

Message tuple_shape_message(const std::vector<Type>& types) {
  std::vector<Message> shapes;
  for (const Type& type : types) shapes.push_back(shape_message(type));
  return tuple_shape_message(shapes);
}

Message literal_message(const Literal& literal) {
  const Primitive& row = primitive(literal.dtype());
  Message message;
  message.message(1, shape_message(literal.type()));
  if (literal.count() == 0) return message;
  switch (row.packing) {
    case Packing::none:
      break;
    case Packing::bytes:
      message.text(row.field, text_of(literal));
      break;
    case Packing::integers:
      write_integers(message, row.field, literal);
      break;
    case Packing::low_bits: {
      std::string bytes(text_of(literal));
      int mask = (1 << bit_width(literal.dtype())) - 1;
      for (char& byte : bytes) byte = static_cast<char>(byte & mask);
      message.text(row.field, bytes);
      break;
    }
  }
  return message;
}

}  // namespace weft
