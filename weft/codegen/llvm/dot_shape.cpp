// Tile sizes for a target, and the small text helpers that the dot emitter shares.
#include "weft/codegen/llvm/dot_shape.h"

#include "weft/core/error.h"

namespace weft {

DotShape dot_shape(const Target& target, DType accumulate) {
  DotShape shape{};
  shape.size = static_cast<int>(size_of(accumulate));
  shape.lanes = target.vector_bytes / shape.size;
  shape.vectors = 2;
  // Two registers for a row of rhs and at least one for the broadcast lhs element stay free.
  shape.rows = target.vector_registers >= 32 ? 12 : 6;
  shape.width = shape.lanes * shape.vectors;
  shape.depth = 256;
  shape.block = 48;
  shape.run = 192;
  shape.share = 4;
  shape.scratch = shape.share * (shape.run + small_rows);
  return shape;
}

std::string llvm_type(DType dtype) {
  if (dtype == DType::f32) return "float";
  if (dtype == DType::f64) return "double";
  // 16-bit floats are loaded as bits: LLVM's own types take detours through calls on some targets.
  if (dtype == DType::f16 || dtype == DType::bf16) return "i16";
  check(is_integer(dtype) || is_bool(dtype), "no dot of ", name(dtype));
  return cat("i", size_of(dtype) * 8);
}

std::string vector_type(DType dtype, int lanes) { return cat("<", lanes, " x ", llvm_type(dtype), ">"); }

std::string fill(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> values) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t open = text.find('$', at);
    out += text.substr(at, open - at);
    if (open == text.npos) break;
    size_t close = text.find('$', open + 1);
    std::string_view key = text.substr(open + 1, close - open - 1);
    bool found = false;
    for (auto& [name, value] : values)
      if (name == key) out += value, found = true;
    check(found, "no value for ", key);
    at = close + 1;
  }
  return out;
}

namespace {

// The value of a 16-bit float, given as bits, as f32.
std::string widen(std::string& ir, const std::string& name, const std::string& value, DType from,
                  const std::string& lanes, bool has_f16) {
  auto type = [&](std::string_view scalar) {
    return lanes.empty() ? std::string(scalar) : cat("<", lanes, " x ", scalar, ">");
  };
  auto all = [&](std::string value) { return lanes.empty() ? value : cat("splat (i32 ", value, ")"); };
  if (from == DType::f16 && has_f16) {
    append(ir, "  ", name, ".half = bitcast ", type("i16"), " ", value, " to ", type("half"), "\n  ", name,
           ".wide = fpext ", type("half"), " ", name, ".half to ", type("float"), "\n");
  } else if (from == DType::f16) {
    // The exponent moves by 112: a multiplication, which makes normal numbers of small ones.
    // Infinity and NaN keep all exponent bits.
    std::string i32 = type("i32"), f32 = type("float"),
                scale = lanes.empty() ? "0x46F0000000000000" : "splat (float 0x46F0000000000000)";
    append(ir, "  ", name, ".bits = zext ", type("i16"), " ", value, " to ", i32, "\n  ", name, ".size = and ", i32,
           " ", name, ".bits, ", all("32767"), "\n  ", name, ".up = shl ", i32, " ", name, ".size, ", all("13"), "\n  ",
           name, ".small = bitcast ", i32, " ", name, ".up to ", f32, "\n  ", name, ".scaled = fmul ", f32, " ", name,
           ".small, ", scale, "\n  ", name, ".number = bitcast ", f32, " ", name, ".scaled to ", i32, "\n  ", name,
           ".other = or ", i32, " ", name, ".up, ", all("2139095040"), "\n  ", name, ".is = icmp ult ", i32, " ", name,
           ".size, ", all("31744"), "\n  ", name, ".which = select ", type("i1"), " ", name, ".is, ", i32, " ", name,
           ".number, ", i32, " ", name, ".other\n  ", name, ".sign = sub ", i32, " ", name, ".bits, ", name,
           ".size\n  ", name, ".sign.up = shl ", i32, " ", name, ".sign, ", all("16"), "\n  ", name, ".signed = or ",
           i32, " ", name, ".which, ", name, ".sign.up\n  ", name, ".wide = bitcast ", i32, " ", name, ".signed to ",
           f32, "\n");
  } else {
    append(ir, "  ", name, ".bits = zext ", type("i16"), " ", value, " to ", type("i32"), "\n  ", name, ".high = shl ",
           type("i32"), " ", name, ".bits, ", all("16"), "\n  ", name, ".wide = bitcast ", type("i32"), " ", name,
           ".high to ", type("float"), "\n");
  }
  return name + ".wide";
}

}  // namespace

std::string DotWriter::convert(std::string& ir, const std::string& name, const std::string& value, DType from,
                               int lanes) const {
  return convert(ir, name, value, from, accumulate, lanes);
}

std::string DotWriter::convert(std::string& ir, const std::string& name, const std::string& value, DType from, DType to,
                               int lanes) const {
  check(is_float(to) || !is_float(from), "a dot of ", weft::name(from), " cannot accumulate ", weft::name(to));
  if (from == DType::f16 || from == DType::bf16)
    return convert(ir, name + ".f32", widen(ir, name, value, from, lanes ? cat(lanes) : "", emitter.target_.f16c),
                   DType::f32, to, lanes);
  if (from == to || (!is_float(to) && size_of(from) == size_of(to))) return value;
  std::string source = lanes ? vector_type(from, lanes) : llvm_type(from);
  std::string target = lanes ? vector_type(to, lanes) : llvm_type(to);
  bool grows = size_of(from) < size_of(to);
  const char* how = is_float(from)    ? (grows ? "fpext" : "fptrunc")
                    : is_float(to)    ? (is_signed(from) ? "sitofp" : "uitofp")
                    : !grows          ? "trunc"
                    : is_signed(from) ? "sext"
                                      : "zext";
  append(ir, "  ", name, ".converted = ", how, " ", source, " ", value, " to ", target, "\n");
  return name + ".converted";
}

std::string load_fields() {
  std::string ir;
  for (DotField field : dot_fields) {
    append(ir, "  %p.", field.name, " = getelementptr i64, ptr %d, i64 ", field.word, "\n");
    if (field.is_table)
      append(ir, "  %", field.name, " = getelementptr i64, ptr %p.", field.name, ", i64 0\n");
    else
      append(ir, "  %", field.name, " = load ", field.is_pointer ? "ptr" : "i64", ", ptr %p.", field.name, "\n");
  }
  return ir;
}

}  // namespace weft
