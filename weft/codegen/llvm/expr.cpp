// Expressions over lanes: memory, masks, element types in memory and in registers.
#include <algorithm>
#include <utility>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/core/error.h"
#include "weft/kernel/schedule.h"

namespace weft {
namespace {

constexpr int64_t page = 4096, past_cache = 1 << 20;

int64_t part_size(DType dtype) { return size_of(real_type(dtype)); }

}  // namespace

std::string mangled(const std::string& element, int lanes) {
  std::string name = element == "float" ? "f32" : element == "double" ? "f64" : element == "half" ? "f16" : element;
  return lanes == 1 ? name : cat("v", lanes, name);
}

std::string memory_type(DType dtype) {
  DType part = real_type(dtype);
  if (part == DType::f32) return "float";
  if (part == DType::f64) return "double";
  if (part == DType::f16) return "half";
  return cat("i", size_of(part) * 8);
}

std::string KernelEmitter::splat(const std::string& element, const std::string& scalar, int lanes) {
  if (lanes == 1) return scalar;
  if (scalar[0] != '%') return cat("splat (", element, " ", scalar, ")");
  std::string type = lanes_type(element, lanes);
  std::string first = assign(cat("insertelement ", type, " poison, ", element, " ", scalar, ", i64 0"));
  return assign(cat("shufflevector ", type, " ", first, ", ", type, " poison, <", lanes, " x i32> zeroinitializer"));
}

std::string KernelEmitter::as_vector(const Ssa& value, DType dtype, bool imaginary) {
  const std::string& part = imaginary ? value.im : value.re;
  return value.vector || lanes_.count == 1 ? part : splat(register_type(dtype), part, lanes_.count);
}

// Variables change: what reads them is known only while they are the registers that it was computed from.
std::vector<std::string> KernelEmitter::registers_read(ExprId id) const {
  std::vector<std::string> read;
  for (int32_t slot : reads_variables_[static_cast<size_t>(id)])
    read.insert(read.end(), {variables_.at(slot).re, variables_.at(slot).im});
  return read;
}

Ssa KernelEmitter::expr(ExprId id) {
  std::vector<std::string> read = registers_read(id);
  for (size_t i = scopes_.size(); i-- > 0;)
    if (auto found = scopes_[i].values.find(id); found != scopes_[i].values.end() && found->second.read == read)
      return found->second.value;
  bool is_kept = short_ && steady_.count(id) != 0;
  std::optional<Ssa> looked = looked_up(id);
  Ssa value =
      looked    ? *looked
      : is_kept ? Ssa{assign(cat("load ", lanes_type("float", lanes_.count), ", ptr ", steady_place(id), ", align 64")),
                      {},
                      true}
                : compute(kernel_.exprs[static_cast<size_t>(id)]);
  scopes_.back().values[id] = {value, std::move(read)};
  return value;
}

Ssa KernelEmitter::compute(const Expr& e) {
  switch (e.kind) {
    case ExprKind::constant: {
      Ssa value{constant_text(e.dtype, e.value), {}, false};
      if (is_complex(e.dtype)) value.im = constant_text(e.dtype, e.value, true);
      return value;
    }
    case ExprKind::index: {
      bool varies = lanes_.count > 1 && uses_counter(e.index, lanes_.counter);
      std::string value = varies ? vector_extent(e.index) : extent(e.index);
      return {convert(DType::i64, e.dtype, value, varies ? lanes_.count : 1), {}, varies};
    }
    case ExprKind::load:
      return load(e);
    case ExprKind::variable:
      return variables_.at(e.slot);
    case ExprKind::accumulator:
      return accumulator_;
    case ExprKind::checked:
      return checked(e);
    case ExprKind::scalar: {
      std::vector<Ssa> args;
      bool vector = false;
      for (ExprId arg : e.args) {
        args.push_back(expr(arg));
        vector |= args.back().vector;
      }
      return scalar(e, args, vector);
    }
  }
  return {};
}

std::string KernelEmitter::combined_mask(ExprId mask, bool& vector) {
  vector = lanes_.count > 1 && !lanes_.mask.empty();
  if (mask == no_expr) return lanes_.count > 1 ? lanes_.mask : std::string();
  Ssa own = expr(mask);
  if (lanes_.count == 1) return own.re;
  std::string wide = as_vector(own, DType::boolean);
  vector = true;
  if (lanes_.mask.empty()) return wide;
  return assign(cat("and ", lanes_type("i1", lanes_.count), " ", wide, ", ", lanes_.mask));
}

std::string KernelEmitter::any_of(const std::string& mask) {
  const std::string bits = cat("i", lanes_.count);
  const std::string all = assign(cat("bitcast ", lanes_type("i1", lanes_.count), " ", mask, " to ", bits));
  return assign(cat("icmp ne ", bits, " ", all, ", 0"));
}

KernelEmitter::Address KernelEmitter::address(const Index& index, const std::vector<std::pair<ExprId, Index>>& dynamic,
                                              int64_t scale, int64_t shift) {
  Address result;
  std::optional<Dim> step = lanes_.count > 1 ? coefficient(index, lanes_.counter) : std::optional<Dim>(0);
  bool regular = step && step->is_static();
  std::vector<std::pair<Ssa, Index>> moves;
  for (const auto& [id, stride] : dynamic) {
    moves.emplace_back(expr(id), stride);
    regular &= !moves.back().first.vector;
  }
  if (regular) {
    result.step = step->value() * scale;
    result.base = extent(index);
    for (const auto& [value, stride] : moves) result.base = add(result.base, multiply(value.re, extent(stride)));
    result.base = add(multiply(result.base, cat(scale)), cat(shift));
    return result;
  }
  std::string type = lanes_type("i64", lanes_.count);
  if (step) {
    // Linear with a stride known only at the run.
    std::map<std::string, Dim, std::less<>> origin{{lanes_.counter, 0}};
    std::string start = splat("i64", extent(index.substitute(origin)), lanes_.count);
    std::string scaled = assign(cat("mul ", type, " ", steps(), ", ", splat("i64", extent(*step), lanes_.count)));
    result.vector = assign(cat("add ", type, " ", start, ", ", scaled));
  } else {
    result.vector = vector_extent(index);
  }
  for (const auto& [value, stride] : moves) {
    std::string product =
        assign(cat("mul ", type, " ", as_vector(value, DType::i64), ", ", splat("i64", extent(stride), lanes_.count)));
    result.vector = assign(cat("add ", type, " ", result.vector, ", ", product));
  }
  if (scale != 1)
    result.vector = assign(cat("mul ", type, " ", result.vector, ", ", splat("i64", cat(scale), lanes_.count)));
  if (shift != 0)
    result.vector = assign(cat("add ", type, " ", result.vector, ", ", splat("i64", cat(shift), lanes_.count)));
  return result;
}

Ssa KernelEmitter::load(const Expr& e) {
  const std::string& base = pointer(e.slot);
  bool vector_mask = false;
  // A load that is the same for all lanes needs no mask of the loop: the loop runs for some lane.
  bool own_vector = false;
  std::string own;
  if (e.mask != no_expr) {
    Ssa mask = expr(e.mask);
    own = mask.re;
    own_vector = mask.vector;
  }
  bool uniform = lanes_.count == 1 || (!uses_counter(e.index, lanes_.counter) && !own_vector);
  for (const auto& [id, stride] : e.dynamic) uniform &= !expr(id).vector;
  // Lanes side by side none of which is wanted read zeros elsewhere: a CPU takes long to load nothing from no memory.
  std::optional<Dim> step = coefficient(e.index, lanes_.counter);
  bool side_by_side = !uniform && e.mask != no_expr && !is_complex(e.dtype) && step && (step->is(1) || step->is(-1)) &&
                      lanes_.count * size_of(e.dtype) <= zero_bytes;
  bool gated = side_by_side && !own_vector && e.dynamic.empty() && step->is(1);
  std::string mask = uniform ? own : combined_mask(gated ? no_expr : e.mask, vector_mask);
  std::string gate = gated ? own : side_by_side ? any_of(mask) : std::string();
  Lanes saved = lanes_;
  if (uniform) lanes_ = {};
  int64_t scale = is_complex(e.dtype) ? 2 : 1;
  if (is_complex(e.dtype) && mask.empty() && lanes_.count > 1) {
    Address at = address(e.index, e.dynamic, 2, 0);
    if (at.vector.empty() && at.step == 2) {
      Ssa value = load_pairs(base, e.dtype, at.base);
      lanes_ = saved;
      return value;
    }
  }
  // What all rows of a product read is none that they write: LLVM loads it before them.
  stays_ = kernel_.dot && !kernel_.dot->m.is(1) && !uses_counter(e.index, ".m") && e.dynamic.empty();
  Ssa value = load_part(base, e.dtype, e.index, e.dynamic, scale, 0, mask, gate);
  if (!is_complex(e.dtype)) fetch_ahead(e);
  if (is_complex(e.dtype)) value.im = load_part(base, e.dtype, e.index, e.dynamic, 2, 1, mask).re;
  stays_ = false;
  if (lanes_.by_bytes && !kernel_.memories[static_cast<size_t>(e.slot)].scratch)
    value.re = by_bytes(value.re, register_type(e.dtype), false);
  lanes_ = saved;
  return value;
}

// The loads from memory past the caches, one of those that share cache lines.
void KernelEmitter::find_streams() {
  for (const Expr& e : kernel_.exprs) {
    if (e.kind != ExprKind::load || kernel_.memories[static_cast<size_t>(e.slot)].written || !e.dynamic.empty())
      continue;
    bool follows = std::any_of(kernel_.exprs.begin(), kernel_.exprs.end(), [&](const Expr& other) {
      if (other.kind != ExprKind::load || other.slot != e.slot) return false;
      Dim apart = other.index - e.index;
      return apart.is_static() && apart.value() > 0 && apart.value() * size_of(e.dtype) < 64;
    });
    if (!follows && e.index.max() >= past_cache / size_of(e.dtype)) streams_.insert(&e);
  }
  if (streams_.size() == 1) streams_.clear();  // which the CPU fetches well enough
}

// Memories that are read once are asked for a page ahead, or half of one where they are many: by itself the CPU fetches
// up to the end of a page only. A row is read from memory by its first loop and from cache by later ones, of which the
// next computes: it fetches the row after this one meanwhile. Rows of other pages that one loop walks down are fetched
// four ahead.
void KernelEmitter::fetch_ahead(const Expr& e) {
  if (lanes_.count == 1 || kernel_.memories[static_cast<size_t>(e.slot)].written || !e.dynamic.empty()) return;
  std::optional<Dim> step = coefficient(e.index, lanes_.counter), row = coefficient(e.index, ".q");
  if (!row || row->is(0)) row = coefficient(e.index, ".p");  // .q: rows of a block (overlap_rows.cpp)
  if (!step || !step->is(1)) return;
  int64_t bytes = size_of(e.dtype), ahead = (streams_.size() > 3 ? page / 2 : page) / bytes;
  std::optional<Dim> down = down_.empty() ? std::nullopt : coefficient(e.index, down_),
                     under = coefficient(e.index, ".down");
  bool is_under =
      under && under->is_static() && under->value() * bytes >= page / 4 && e.index.max() >= past_cache / bytes;
  if (down && down->is_static() && down->value() * bytes >= page) {
    ahead = down->value() * 4;
  } else if (is_under) {
    // On the same row, or from its beginning on the one that takes its place.
    ahead = std::min(page / 4 / bytes, row_.max() / 2);
    std::string end = extent(row_), later = assign(cat("add i64 ", counters_.at(lanes_.counter), ", ", ahead));
    std::string below = assign(cat("sub i64 ", under->value() * 8 + ahead, ", ", end));
    std::string on =
        assign(cat("select i1 ", assign(cat("icmp slt i64 ", later, ", ", end)), ", i64 ", ahead, ", i64 ", below));
    std::string from = add(extent(e.index), on);
    for (int64_t lane = 0; lane < lanes_.count; lane += 64 / bytes) prefetch(e.slot, add(from, cat(lane)), false);
    return;
  } else if (streams_.count(&e) == 0) {
    if (!row || !row->is_static() || row->is(0)) return;
    auto is_same = [&](const Expr& other) {
      return other.kind == ExprKind::load && other.slot == e.slot && other.index == e.index;
    };
    auto& [first, second] = read_.try_emplace(&*std::ranges::find_if(kernel_.exprs, is_same), loops_, 0).first->second;
    if (first == loops_) return;
    if (second == 0) second = loops_;
    if (second != loops_) return;
    ahead = row->value();
  } else if (!lanes_.mask.empty()) {
    return;
  }
  std::string at = add(extent(e.index), cat(ahead));
  for (int64_t lane = 0; lane < lanes_.count; lane += 64 / bytes) prefetch(e.slot, add(at, cat(lane)), false);
}

// Where one of several loops over a long row stores a large result, lines that will be overwritten are asked for a page
// ahead too. Those of short rows the CPU has in time.
void KernelEmitter::fetch_target(const Stmt& stmt) {
  const Memory& memory = kernel_.memories[static_cast<size_t>(stmt.slot)];
  int64_t bytes = size_of(memory.dtype);
  if (loops_ < 2 || lanes_.count == 1 || !lanes_.mask.empty() || past_caches_ || memory.scratch ||
      is_complex(memory.dtype))
    return;
  if (stmt.mask != no_expr || !stmt.dynamic.empty() || stmt.index.max() < past_cache / bytes ||
      row_.opt() * bytes < page / 2)
    return;
  std::optional<Dim> step = coefficient(stmt.index, lanes_.counter);
  bool is_read = std::ranges::any_of(kernel_.exprs,
                                     [&](const Expr& e) { return e.kind == ExprKind::load && e.slot == stmt.slot; });
  if (is_read || !step || !step->is(1)) return;
  std::string at = add(extent(stmt.index), cat(page / bytes));
  for (int64_t lane = 0; lane < lanes_.count; lane += 64 / bytes) prefetch(stmt.slot, add(at, cat(lane)), true);
}

void KernelEmitter::prefetch(int32_t slot, const std::string& at, bool writes) {
  std::string element = memory_type(kernel_.memories[static_cast<size_t>(slot)].dtype);
  std::string place = assign(cat("getelementptr ", element, ", ptr ", pointer(slot), ", i64 ", at));
  line(cat("call void @llvm.prefetch.p0(ptr ", place, ", i32 ", writes ? 1 : 0, ", i32 3, i32 1)"));
  module_.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)");
}

// Numbers that lie one after the other: real parts are the even elements, imaginary parts the odd ones.
Ssa KernelEmitter::load_pairs(const std::string& base, DType dtype, const std::string& offset) {
  std::string element = memory_type(dtype), both = lanes_type(element, 2 * lanes_.count);
  std::string place = assign(cat("getelementptr ", element, ", ptr ", base, ", i64 ", offset));
  std::string raw = assign(cat("load ", both, ", ptr ", place, ", align ", part_size(dtype)));
  auto part = [&](int odd) { return shuffled(both, raw, "poison", lanes_.count, [&](int i) { return 2 * i + odd; }); };
  std::string re = part(0);
  return {re, part(1), true};
}

// Stores lanes of complex numbers that lie one after the other; false where they do not, or a mask is needed.
bool KernelEmitter::store_pairs(const std::string& base, DType dtype, const Stmt& stmt, const Ssa& value) {
  if (lanes_.count == 1 || !lanes_.mask.empty() || stmt.mask != no_expr) return false;
  Address at = address(stmt.index, stmt.dynamic, 2, 0);
  if (!at.vector.empty() || at.step != 2) return false;
  std::string element = memory_type(dtype), one = lanes_type(element, lanes_.count),
              both = lanes_type(element, 2 * lanes_.count);
  std::string re = as_vector(value, dtype), im = as_vector(value, dtype, true);
  std::string raw =
      shuffled(one, re, im, 2 * lanes_.count, [&](int i) { return i % 2 ? lanes_.count + i / 2 : i / 2; });
  std::string place = assign(cat("getelementptr ", element, ", ptr ", base, ", i64 ", at.base));
  line(cat("store ", both, " ", raw, ", ptr ", place, ", align ", part_size(dtype)));
  return true;
}

// The lanes in the opposite order.
std::string KernelEmitter::reversed(const std::string& type, const std::string& value) {
  return shuffled(type, value, "poison", lanes_.count, [&](int i) { return lanes_.count - 1 - i; });
}

Ssa KernelEmitter::load_part(const std::string& base, DType dtype, const Index& index,
                             const std::vector<std::pair<ExprId, Index>>& dynamic, int64_t scale, int64_t shift,
                             const std::string& mask, const std::string& gate) {
  std::string element = memory_type(dtype);
  int64_t align = part_size(dtype);
  Address at = address(index, dynamic, scale, shift);
  int lanes = lanes_.count;
  const char* stays = stays_ ? ", !invariant.load !0" : "";
  if (lanes == 1) {
    std::string place = assign(cat("getelementptr ", element, ", ptr ", base, ", i64 ", at.base));
    if (!mask.empty()) place = assign(cat("select i1 ", mask, ", ptr ", place, ", ptr @weft.zero"));
    return {
        from_memory(dtype, assign(cat("load ", element, ", ptr ", place, ", align ", align, stays)), false), {}, false};
  }
  std::string type = lanes_type(element, lanes), mask_type = lanes_type("i1", lanes);
  std::string raw;
  bool turned = at.step == -1;
  if (at.vector.empty() && (at.step == 1 || turned)) {
    std::string first = turned ? add(at.base, cat(1 - lanes)) : at.base;
    std::string place = assign(cat("getelementptr ", element, ", ptr ", base, ", i64 ", first));
    if (!gate.empty()) place = assign(cat("select i1 ", gate, ", ptr ", place, ", ptr @weft.zero"));
    raw = mask.empty() ? assign(cat("load ", type, ", ptr ", place, ", align ", align, stays))
                       : masked_load(place, element, lanes, align, turned ? reversed(mask_type, mask) : mask);
    if (turned) raw = reversed(type, raw);
  } else if (at.vector.empty() && std::abs(at.step) > 1 && std::abs(at.step) <= 4 &&
             (mask.empty() || module_.target.avx512 || (module_.target.fma && align >= 4))) {
    bool is_back = at.step < 0;
    if (is_back) at = {add(at.base, cat(at.step * (lanes - 1))), -at.step, {}};
    raw = load_strided(base, element, at, align, is_back && !mask.empty() ? reversed(mask_type, mask) : mask);
    if (is_back) raw = reversed(type, raw);
  } else {
    std::string offsets = at.vector;
    if (offsets.empty()) {
      std::string ramp = "<";
      for (int i = 0; i < lanes; ++i) append(ramp, i ? ", i64 " : "i64 ", i * at.step);
      offsets = assign(cat("add ", lanes_type("i64", lanes), " ", splat("i64", at.base, lanes), ", ", ramp, ">"));
    }
    std::string places =
        assign(cat("getelementptr ", element, ", ptr ", base, ", ", lanes_type("i64", lanes), " ", offsets));
    std::string name = cat("@llvm.masked.gather.", mangled(element, lanes), ".v", lanes, "p0");
    std::string pointers = lanes_type("ptr", lanes);
    module_.declare(cat("declare ", type, " ", name, "(", pointers, ", ", mask_type, ", ", type, ")"));
    raw = assign(cat("call ", type, " ", name, "(", pointers, " align ", align, " ", places, ", ", mask_type, " ",
                     mask.empty() ? "splat (i1 true)" : mask, ", ", type, " zeroinitializer)"));
  }
  return {from_memory(dtype, raw, true), {}, true};
}

void KernelEmitter::store_part(const std::string& base, DType dtype, const Index& index,
                               const std::vector<std::pair<ExprId, Index>>& dynamic, int64_t scale, int64_t shift,
                               const std::string& mask, const std::string& value, bool value_is_vector) {
  std::string element = memory_type(dtype);
  int64_t align = part_size(dtype);
  int lanes = lanes_.count;
  Address at = address(index, dynamic, scale, shift);
  if (lanes == 1) {
    std::string raw = to_memory(dtype, value, false);
    std::string place = assign(cat("getelementptr ", element, ", ptr ", base, ", i64 ", at.base));
    std::string skip;
    if (!mask.empty()) {
      std::string go = label("go");
      skip = label("skip");
      line(cat("br i1 ", mask, ", label %", go, ", label %", skip));
      append(*out, go, ":\n");
    }
    line(cat("store ", element, " ", raw, ", ptr ", place, ", align ", align));
    if (!mask.empty()) {
      line(cat("br label %", skip));
      append(*out, skip, ":\n");
    }
    return;
  }
  Ssa wide{value, {}, value_is_vector};
  std::string raw = to_memory(dtype, as_vector(wide, real_type(dtype)), true);
  std::string type = lanes_type(element, lanes), mask_type = lanes_type("i1", lanes);
  if (at.vector.empty() && at.step == 1) {
    std::string place = assign(cat("getelementptr ", element, ", ptr ", base, ", i64 ", at.base));
    if (mask.empty()) {
      line(cat("store ", type, " ", raw, ", ptr ", place,
               past_caches_ ? past_caches(lanes * align) : cat(", align ", align)));
      return;
    }
    return masked_store(place, element, lanes, align, mask, raw);
  }
  if (at.vector.empty() && at.step > 1 && at.step <= 4 && module_.target.avx512)
    return store_strided(base, element, at, align, mask, raw);
  std::string offsets = at.vector;
  if (offsets.empty()) {
    std::string ramp = "<";
    for (int i = 0; i < lanes; ++i) append(ramp, i ? ", i64 " : "i64 ", i * at.step);
    offsets = assign(cat("add ", lanes_type("i64", lanes), " ", splat("i64", at.base, lanes), ", ", ramp, ">"));
  }
  std::string places =
      assign(cat("getelementptr ", element, ", ptr ", base, ", ", lanes_type("i64", lanes), " ", offsets));
  std::string name = cat("@llvm.masked.scatter.", mangled(element, lanes), ".v", lanes, "p0"),
              pointers = lanes_type("ptr", lanes);
  module_.declare(cat("declare void ", name, "(", type, ", ", pointers, ", ", mask_type, ")"));
  line(cat("call void ", name, "(", type, " ", raw, ", ", pointers, " align ", align, " ", places, ", ", mask_type, " ",
           mask.empty() ? "splat (i1 true)" : mask, ")"));
}

std::string KernelEmitter::from_memory(DType dtype, const std::string& raw, bool vector) {
  int lanes = vector ? lanes_.count : 1;
  auto type = [&](const std::string& element) { return lanes_type(element, lanes); };
  if (is_bool(dtype)) return assign(cat("icmp ne ", type("i8"), " ", raw, ", zeroinitializer"));
  if (is_integer(dtype) && bit_width(dtype) < 8)
    return assign(cat("trunc ", type("i8"), " ", raw, " to ", type(cat("i", bit_width(dtype)))));
  if (dtype == DType::f16 && !module_.target.f16c) {
    std::string pattern = assign(cat("bitcast ", type("half"), " ", raw, " to ", type("i16")));
    std::string wide = assign(cat("zext ", type("i16"), " ", pattern, " to ", type("i32")));
    return call_math(cat("small_to_float.", static_cast<int>(dtype)), dtype, &wide, 1, lanes);
  }
  if (dtype == DType::f16) return assign(cat("fpext ", type("half"), " ", raw, " to ", type("float")));
  if (dtype == DType::bf16 && lanes == 16 && !widening_.from.empty()) return widened(raw);
  if (dtype == DType::bf16) {
    std::string wide = assign(cat("zext ", type("i16"), " ", raw, " to ", type("i32")));
    std::string bits = assign(cat("shl ", type("i32"), " ", wide, ", ", splat("i32", "16", lanes)));
    return assign(cat("bitcast ", type("i32"), " ", bits, " to ", type("float")));
  }
  if (is_float(dtype) && size_of(dtype) == 1) {
    std::string wide = assign(cat("zext ", type("i8"), " ", raw, " to ", type("i32")));
    return call_math(cat("small_to_float.", static_cast<int>(dtype)), dtype, &wide, 1, lanes);
  }
  return raw;
}

// Bytes that change places do that in one instruction, which zeroes others; extending and shifting takes two. Several
// vectors side by side leave no register for it.
std::string KernelEmitter::widened(const std::string& raw) {
  std::string all;
  for (int i = 0; i < 64; ++i) append(all, i ? ", i32 " : "i32 ", i < 32 ? cat(i) : "poison");
  std::string bytes = assign(cat("bitcast <16 x i16> ", raw, " to <32 x i8>"));
  std::string source = assign(cat("shufflevector <32 x i8> ", bytes, ", <32 x i8> poison, <64 x i32> <", all, ">"));
  std::string moved = assign(
      cat("call <64 x i8> @llvm.x86.avx512.permvar.qi.512(<64 x i8> ", source, ", <64 x i8> ", widening_.from, ")"));
  std::string chosen =
      assign(cat("select <64 x i1> ", widening_.where, ", <64 x i8> ", moved, ", <64 x i8> zeroinitializer"));
  module_.declare("declare <64 x i8> @llvm.x86.avx512.permvar.qi.512(<64 x i8>, <64 x i8>)");
  return assign(cat("bitcast <64 x i8> ", chosen, " to <16 x float>"));
}

std::string KernelEmitter::to_memory(DType dtype, const std::string& value, bool vector) {
  int lanes = vector ? lanes_.count : 1;
  auto type = [&](const std::string& element) { return lanes_type(element, lanes); };
  if (is_bool(dtype)) return assign(cat("zext ", type("i1"), " ", value, " to ", type("i8")));
  if (is_integer(dtype) && bit_width(dtype) < 8)
    return assign(
        cat(is_signed(dtype) ? "sext " : "zext ", type(cat("i", bit_width(dtype))), " ", value, " to ", type("i8")));
  if (dtype == DType::f16 && !module_.target.f16c) {
    std::string bits = call_math(cat("float_to_small.", static_cast<int>(dtype)), dtype, &value, 1, lanes);
    std::string pattern = assign(cat("trunc ", type("i32"), " ", bits, " to ", type("i16")));
    return assign(cat("bitcast ", type("i16"), " ", pattern, " to ", type("half")));
  }
  if (dtype == DType::f16) return assign(cat("fptrunc ", type("float"), " ", value, " to ", type("half")));
  if (AtStore at_store = std::exchange(at_store_, AtStore::kept); dtype == DType::bf16 && at_store != AtStore::kept)
    return to_bf16(value, lanes, at_store == AtStore::bounded);
  if (dtype == DType::bf16) {
    // Registers hold bf16 values already: the low half is zero.
    std::string bits = assign(cat("bitcast ", type("float"), " ", value, " to ", type("i32")));
    std::string high = assign(cat("lshr ", type("i32"), " ", bits, ", ", splat("i32", "16", lanes)));
    return assign(cat("trunc ", type("i32"), " ", high, " to ", type("i16")));
  }
  if (is_float(dtype) && size_of(dtype) == 1) {
    std::string bits = call_math(cat("float_to_small.", static_cast<int>(dtype)), dtype, &value, 1, lanes);
    return assign(cat("trunc ", type("i32"), " ", bits, " to ", type("i8")));
  }
  return value;
}

// Rounds, by the CPU's instruction: it takes subnormal numbers for zero, so where there are some others round.
std::string KernelEmitter::to_bf16(const std::string& value, int lanes, bool is_bounded) {
  std::string wide = lanes_type("float", lanes), narrow = lanes_type("bfloat", lanes), whole = lanes_type("i16", lanes);
  auto quickly = [&] {
    if (lanes % 32 != 0)
      return assign(
          cat("bitcast ", narrow, " ", assign(cat("fptrunc ", wide, " ", value, " to ", narrow)), " to ", whole));
    std::vector<std::string> parts;  // two registers at once, which takes half as long
    module_.declare("declare <32 x bfloat> @llvm.x86.avx512bf16.cvtne2ps2bf16.512(<16 x float>, <16 x float>)");
    for (int at = 0; at < lanes; at += 32) {
      std::string low = part_of(value, "float", lanes, at, 16), high = part_of(value, "float", lanes, at + 16, 16);
      parts.push_back(assign(cat("call <32 x bfloat> @llvm.x86.avx512bf16.cvtne2ps2bf16.512(<16 x float> ", high,
                                 ", <16 x float> ", low, ")")));
    }
    return assign(cat("bitcast ", narrow, " ", joined(parts, "bfloat", 32), " to ", whole));
  };
  if (is_bounded) return quickly();
  std::string quick = label("quick"), plain = label("plain"), joined = label("joined"), subnormal;
  module_.declare("declare <16 x i1> @llvm.x86.avx512.fpclass.ps.512(<16 x float>, i32)");
  for (int at = 0; at < lanes; at += 16) {
    std::string part = part_of(value, "float", lanes, at, 16);
    std::string found = assign(cat("call <16 x i1> @llvm.x86.avx512.fpclass.ps.512(<16 x float> ", part, ", i32 32)"));
    subnormal = subnormal.empty() ? found : assign(cat("or <16 x i1> ", subnormal, ", ", found));
  }
  std::string none = assign(cat("icmp eq i16 ", assign(cat("bitcast <16 x i1> ", subnormal, " to i16")), ", 0"));
  line(cat("br i1 ", none, ", label %", quick, ", label %", plain));
  append(*out, quick, ":\n");
  std::string most = quickly();
  line(cat("br label %", joined));
  append(*out, plain, ":\n");
  std::string some = to_memory(DType::bf16, rounded(DType::bf16, value, lanes), true);
  line(cat("br label %", joined));
  append(*out, joined, ":\n");
  return assign(cat("phi ", whole, " [", most, ", %", quick, "], [", some, ", %", plain, "]"));
}

}  // namespace weft
