// Tile sizes for a target, and the small text helpers that the dot emitter shares.
#include "weft/codegen/llvm/dot_shape.h"

#include "weft/core/error.h"

namespace weft {

DotShape dot_shape(const Target& target, const DotForm& form) {
  DotShape shape{};
  shape.size = static_cast<int>(size_of(form.accumulate));
  shape.lanes = target.vector_bytes / shape.size;
  shape.vectors = 2;
  // Two registers for a row of rhs and at least one for the broadcast lhs element stay free.
  shape.rows = target.vector_registers >= 32 ? 12 : 6;
  // Where a product takes no register of its own.
  shape.tall = target.vector_registers >= 32 && target.fma && is_float(form.packed) && form.group == 1 ? shape.rows + 2
                                                                                                       : shape.rows;
  // A first-level cache has 8 ways at least; that of CPUs with AMX has 12, of which rhs needs one.
  shape.paged = target.amx ? 11 : 8;
  shape.few = 2 * shape.rows;
  shape.inner = target.vector_registers >= 32 ? 4 : 2;
  shape.slim = target.vector_registers >= 32 ? 8 : 4;
  shape.width = shape.lanes * shape.vectors;
  // Panels that take turns stay in the second-level cache: deep ones save ways in and out of the tile.
  shape.depth = form.by_panels                           ? 2048 / shape.size
                : form.packs_lhs && !form.packs_biased() ? 256
                : form.group == 1                        ? 2048
                                                         : 512;
  shape.slot_depth = form.packs_lhs || form.group > 1 ? shape.depth : shape.depth / 2;
  shape.block = form.amx ? 2 * amx_rows : 48;
  // Long runs pack rhs seldom; packing of lhs is for the second-level cache, and for more panels at once.
  shape.packed_rows = form.by_panels ? 132 : form.packs_biased() ? 96 : 192;
  shape.run = form.packs_lhs && !form.by_blocks() ? shape.packed_rows : 1056;
  shape.share = form.by_panels ? 16 : form.packs_lhs || form.amx ? 8 : form.group == 1 ? 2 : 4;
  shape.together = form.by_panels ? shape.share : 1;
  shape.scratch = shape.share * (shape.run + small_rows);
  // One cache line more than they need.
  shape.lhs_row = shape.depth * shape.size + 64;
  shape.lhs_column = shape.packed_rows * shape.size + 64;
  return shape;
}

DotForm dot_form(const Target& target, DType lhs, DType rhs, DType accumulate) {
  DotForm form{lhs, rhs, accumulate, accumulate};
  auto both = [&](auto is) { return is(lhs) && is(rhs); };
  bool sums_words = accumulate == DType::i32 || accumulate == DType::u32;
  auto is_byte = [](DType dtype) { return dtype == DType::i8 || dtype == DType::u8 || is_bool(dtype); };
  if (accumulate == DType::f32 && target.bf16 && both([](DType dtype) { return dtype == DType::bf16; })) {
    form.packed = DType::bf16;
    form.group = 2;
  } else if (sums_words && target.vnni && both(is_byte) && (is_signed(lhs) || is_signed(rhs))) {
    form.packed = DType::i8;
    form.group = 4;
    form.biased = is_signed(lhs) && is_signed(rhs);
    form.swapped = !is_signed(rhs);
  } else if (sums_words && both([&](DType dtype) { return is_byte(dtype) || dtype == DType::i16; })) {
    form.packed = DType::i16;
    form.group = 2;
  }
  form.amx = target.amx && (form.packed == DType::bf16 || form.packed == DType::i8);
  return form;
}

std::string DotForm::name() const {
  return cat(weft::name(packed),
             biased    ? ".biased"
             : swapped ? ".swapped"
                       : "",
             by_panels ? ".panels" : "", ".", weft::name(accumulate), bits ? "." + bits->name() : "");
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

std::string fill(std::string_view text, const KeyValues& values) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t open = text.find('$', at);
    out += text.substr(at, open - at);
    if (open == text.npos) break;
    size_t close = text.find('$', open + 1);
    std::string_view key = text.substr(open + 1, close - open - 1);
    bool found = false;
    for (const auto& [name, value] : values)
      if (name == key) {
        out += value;
        found = true;
      }
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
                               int lanes, bool biased) const {
  if (!biased) return convert(ir, name, value, from, form.packed, lanes);
  append(ir, "  ", name, ".biased = xor ", lanes ? vector_type(DType::i8, lanes) : "i8", " ", value, ", ",
         lanes ? "splat (i8 -128)" : "-128", "\n");
  return name + ".biased";
}

std::string DotWriter::convert(std::string& ir, const std::string& name, const std::string& value, DType from, DType to,
                               int lanes) const {
  if (form.bits && from == form.rhs)
    return convert(ir, name + ".bits", four_bits(ir, name, value, lanes), DType::i32, to, lanes);
  if (from == to) return value;
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

std::string DotWriter::four_bits(std::string& ir, const std::string& name, const std::string& value, int lanes) const {
  const FourBits& bits = *form.bits;
  std::string type = lanes ? vector_type(DType::i32, lanes) : "i32", whole = name + ".whole";
  auto apply = [&](const char* op, int by) {
    append(ir, "  ", whole, ".", op, " = ", op, " ", type, " ", whole, ", ",
           lanes ? cat("splat (i32 ", by, ")") : cat(by), "\n");
    append(whole, ".", op);
  };
  append(ir, "  ", whole, " = zext ", lanes ? vector_type(form.rhs, lanes) : llvm_type(form.rhs), " ", value, " to ",
         type, "\n");
  if (bits.is_signed) {
    apply("shl", 28 - bits.low);
    apply("ashr", 28);
  } else if (bits.low)
    apply("lshr", 4);
  else
    apply("and", 15);
  if (bits.more) apply("add", bits.more);
  return whole;
}

std::string DotWriter::interleave(std::string& ir, const std::string& name, std::vector<std::string> rows,
                                  int lanes) const {
  if (rows.size() == 4) {
    // Shuffles would ask for three more registers than the accumulators leave.
    std::string bytes = cat("<", lanes, " x i8>"), type = cat("<", lanes, " x i32>"), all;
    for (size_t i = 0; i < rows.size(); ++i) {
      std::string wide = cat(name, ".wide.", i), to = cat(name, ".up.", i);
      append(ir, "  ", wide, " = zext ", bytes, " ", rows[i], " to ", type, "\n  ", to, " = shl ", type, " ", wide,
             ", splat (i32 ", 8 * i, ")\n");
      if (i) append(ir, "  ", to, ".all = or ", type, " ", all, ", ", to, "\n");
      all = i ? to + ".all" : to;
    }
    return all;
  }
  // Neighbours in a pair of rows become elements of twice the width.
  int bits = static_cast<int>(size_of(form.packed)) * 8;
  std::string type = cat("<", lanes, " x i", bits, ">"), to = cat(name, ".", bits, ".0"), order;
  for (int i = 0; i < lanes; ++i) append(order, i ? ", " : "", "i32 ", i, ", i32 ", lanes + i);
  append(ir, "  ", to, ".both = shufflevector ", type, " ", rows[0], ", ", type, " ", rows[1], ", <", 2 * lanes,
         " x i32> <", order, ">\n  ", to, " = bitcast <", 2 * lanes, " x i", bits, "> ", to, ".both to <", lanes,
         " x i", 2 * bits, ">\n");
  return to;
}

std::string DotWriter::bitcast_units(std::string& ir, const std::string& name, const std::string& value,
                                     int lanes) const {
  if (form.group == 1) return value;
  append(ir, "  ", name, ".units = bitcast ", vector_type(form.packed, lanes * form.group), " ", value, " to ",
         units(lanes), "\n");
  return name + ".units";
}

std::string DotWriter::multiply_add(const std::string& to, const std::string& a, const std::string& b,
                                    const std::string& sum, int lanes) {
  if (form.group > 1 && lanes != 1) return multiply_add_units(to, a, b, sum);
  std::string type = lanes == 1 ? this->type() : vector();
  if (is_float(accumulate) && emitter.target_.fma) {
    std::string suffix = cat(lanes == 1 ? "" : cat("v", shape.lanes), accumulate == DType::f64 ? "f64" : "f32");
    declare(cat("declare ", type, " @llvm.fma.", suffix, "(", type, ", ", type, ", ", type, ")\n"));
    return cat("  ", to, " = call ", type, " @llvm.fma.", suffix, "(", type, " ", a, ", ", type, " ", b, ", ", type,
               " ", sum, ")\n");
  }
  std::string kind = is_float(accumulate) ? "f" : "";
  return cat("  ", to, ".product = ", kind, "mul ", type, " ", a, ", ", b, "\n  ", to, " = ", kind, "add ", type, " ",
             sum, ", ", to, ".product\n");
}

std::string DotWriter::multiply_add_units(const std::string& to, std::string a, std::string b, const std::string& sum) {
  int bytes = target().vector_bytes;
  if (form.swapped) std::swap(a, b);
  std::string element = form.packed == DType::bf16 ? "bfloat" : llvm_type(form.packed);
  std::string narrow = cat("<", shape.lanes * form.group, " x ", element, ">"), units = this->units();
  std::string ir = cat("  ", to, ".a = bitcast ", units, " ", a, " to ", narrow, "\n  ", to, ".b = bitcast ", units,
                       " ", b, " to ", narrow, "\n");
  std::string pair = cat(narrow, " ", to, ".a, ", narrow, " ", to, ".b)\n"), types = cat(narrow, ", ", narrow, ")\n");
  if (form.packed == DType::i16) {
    std::string call = cat("@llvm.x86.", bytes == 64   ? "avx512.pmaddw.d.512("
                                         : bytes == 32 ? "avx2.pmadd.wd("
                                                       : "sse2.pmadd.wd(");
    declare(cat("declare ", vector(), " ", call, types));
    return cat(ir, "  ", to, ".pairs = call ", vector(), " ", call, pair, "  ", to, " = add ", vector(), " ", sum, ", ",
               to, ".pairs\n");
  }
  check(bytes == 64, "sums of products of ", weft::name(form.packed), " need vectors of 64 bytes");
  std::string call =
      cat("@llvm.x86.", form.packed == DType::bf16 ? "avx512bf16.dpbf16ps.512(" : "avx512.vpdpbusd.512(");
  declare(cat("declare ", vector(), " ", call, vector(), ", ", types));
  return cat(ir, "  ", to, " = call ", vector(), " ", call, vector(), " ", sum, ", ", pair);
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
