// Lines side by side: what lies along a line in memory but is needed lane by lane moves as square blocks, transposed in
// registers.
#include <algorithm>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/kernel/schedule.h"

namespace weft {
namespace {

// Transposes blocks that are as wide as there are vectors: element i of a block in vector k becomes element k in vector
// i.
template <class Assign>
std::vector<std::string> transposed(std::vector<std::string> vectors, const std::string& element, int lanes,
                                    const Assign& assign) {
  // Parts of 128 bits change places whole; inside of them vectors interleave, which is one cheap instruction on any
  // CPU.
  size_t bits = std::stoul(element.substr(1)), side = vectors.size(), part = std::min<size_t>(side, 128 / bits);
  std::string type = lanes_type(element, lanes);
  // No instruction, but LLVM does not see through it: it would try for six milliseconds to make fewer of these
  // shuffles.
  auto opaque = [&](const std::string& vector) {
    bool is_register = bits * static_cast<size_t>(lanes) >= 128;
    return is_register ? assign(cat("call ", type, " asm \"\", \"=v,0\"(", type, " ", vector, ")")) : vector;
  };
  auto shuffled = [&](const std::string& a, const std::string& b, const auto& from) {
    std::string picks;
    for (size_t i = 0; i < static_cast<size_t>(lanes); ++i) append(picks, i ? ", i32 " : "i32 ", from(i));
    return opaque(
        assign(cat("shufflevector ", type, " ", a, ", ", type, " ", b, ", <", lanes, " x i32> <", picks, ">")));
  };
  for (std::string& vector : vectors) vector = opaque(vector);
  auto second = static_cast<size_t>(lanes);
  for (size_t digit = side / 2; digit >= part; digit /= 2)
    for (size_t k = 0; k < side; ++k) {
      if (k & digit) continue;
      std::string low =
          shuffled(vectors[k], vectors[k + digit], [&](size_t i) { return i & digit ? second + i - digit : i; });
      vectors[k + digit] =
          shuffled(vectors[k], vectors[k + digit], [&](size_t i) { return i & digit ? second + i : i + digit; });
      vectors[k] = low;
    }
  // Each step rotates the digits of (vector, element) by one.
  for (size_t step = 1; step < part; step *= 2) {
    std::vector<std::string> next;
    for (size_t group = 0; group < side; group += part)
      for (size_t k = group; k < group + part / 2; ++k)
        for (size_t first : {size_t{0}, part / 2})
          next.push_back(shuffled(vectors[k], vectors[k + part / 2], [&](size_t i) {
            return i / part * part + first + i % part / 2 + (i % 2 ? second : 0);
          }));
    vectors = std::move(next);
  }
  return vectors;
}

// Whether lanes step by one: a vector of memory for each turn of the loop inside.
bool lies_across(const Index& index, const std::string& across) {
  std::optional<Dim> step = coefficient(index, across);
  return step && step->is(1);
}

}  // namespace

std::string KernelEmitter::part_of(const std::string& vector, const std::string& element, int lanes, int first,
                                   int count) {
  std::string type = lanes_type(element, lanes), picks;
  for (int i = 0; i < count; ++i) append(picks, i ? ", i32 " : "i32 ", first + i);
  return assign(cat("shufflevector ", type, " ", vector, ", ", type, " poison, <", count, " x i32> <", picks, ">"));
}

std::string KernelEmitter::joined(std::vector<std::string> parts, const std::string& element, int lanes) {
  for (; parts.size() > 1; lanes *= 2) {
    std::vector<std::string> pairs;
    std::string type = lanes_type(element, lanes), picks;
    for (int i = 0; i < 2 * lanes; ++i) append(picks, i ? ", i32 " : "i32 ", i);
    for (size_t k = 0; k < parts.size(); k += 2)
      pairs.push_back(assign(cat("shufflevector ", type, " ", parts[k], ", ", type, " ", parts[k + 1], ", <", 2 * lanes,
                                 " x i32> <", picks, ">")));
    parts = std::move(pairs);
  }
  return parts[0];
}

std::optional<KernelEmitter::Lines> KernelEmitter::lines_of(const Stmt& loop, const std::string& across) const {
  if (loop.extent.opt() < 4) return std::nullopt;
  Lines lines;
  auto steps_along = [&](const Index& index, const std::vector<std::pair<ExprId, Index>>& dynamic, ExprId mask,
                         DType dtype) {
    std::optional<Dim> along = coefficient(index, loop.counter), other = coefficient(index, across);
    return dynamic.empty() && mask == no_expr && !is_complex(dtype) && along && along->is(1) && other &&
           !other->is(0) && !other->is(1);
  };
  auto is_steady = [&](const Index& index) { return !uses_counter(index, across); };
  auto is_plain = [&](const auto& access) {
    return access.dynamic.empty() && access.mask == no_expr && lies_across(access.index, across);
  };
  std::set<ExprId> seen;
  std::vector<ExprId> pending;
  for (const Stmt& stmt : loop.body) {
    if (stmt.kind == StmtKind::loop || stmt.kind == StmtKind::barrier_accumulate) return std::nullopt;
    if (stmt.kind == StmtKind::store) {
      DType dtype = kernel_.memories[static_cast<size_t>(stmt.slot)].dtype;
      if (!is_plain(stmt) && !steps_along(stmt.index, stmt.dynamic, stmt.mask, dtype)) return std::nullopt;
      lines.widest = std::max(lines.widest, size_of(dtype));
    }
    pending.push_back(stmt.expr);
  }
  while (!pending.empty()) {
    ExprId id = pending.back();
    pending.pop_back();
    if (id == no_expr || !seen.insert(id).second) continue;
    const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
    pending.insert(pending.end(), e.args.begin(), e.args.end());
    if (e.kind != ExprKind::load || (is_steady(e.index) && e.dynamic.empty() && e.mask == no_expr)) continue;
    bool is_written = kernel_.memories[static_cast<size_t>(e.slot)].written;
    if (!is_written && is_plain(e)) continue;
    if (is_written || !steps_along(e.index, e.dynamic, e.mask, e.dtype)) return std::nullopt;
    lines.loads.push_back(id);
    lines.widest = std::max(lines.widest, size_of(e.dtype));
  }
  if (lines.widest == 0) return std::nullopt;
  return lines;
}

// Rows side by side as lanes, and one by one what is left of them. Narrow floats are two vectors, which hides the
// latency of their rounding; more rows than that would crowd each other out of the cache.
void KernelEmitter::lines_loop(const Stmt& loop) {
  auto inner = std::find_if(loop.body.begin(), loop.body.end(), [](const Stmt& s) { return s.kind == StmtKind::loop; });
  std::optional<Lines> lines = inner == loop.body.end() ? std::nullopt : lines_of(*inner, loop.counter);
  int lanes = lanes_for(loop.body);
  if (lines && lines->widest <= 2 && !module_.takes_less(lanes)) lanes *= 2;
  std::string end = extent(loop.extent), middle = "0";
  if (lines && loop.extent.opt() >= lanes) {
    bool is_static = loop.extent.is_static();
    middle = is_static ? cat(loop.extent.value() / lanes * lanes) : assign(cat("and i64 ", end, ", ", -lanes));
    std::map<int32_t, Ssa> no_sums;
    hoist(loop.body, loop.counter);
    vector_part(loop, "0", middle, 1, false, lanes, no_sums);
  }
  if (middle != end) serial_loop(loop, middle, end);
}

void KernelEmitter::block_loop(const Stmt& loop, const Lines& lines) {
  int side =
      std::min<int>(module_.target.vector_bytes / std::max<int>(static_cast<int>(lines.widest), 4), lanes_.count);
  bool is_static = loop.extent.is_static();
  while (is_static && side > loop.extent.value()) side /= 2;
  if (side > 4 && module_.takes_less((side - 4) * price_of(loop.body) + lanes_.count)) side = 4;
  int64_t at = is_static ? loop.extent.value() / side * side : 0;
  std::string end = extent(loop.extent), middle = is_static ? cat(at) : assign(cat("and i64 ", end, ", ", -side));
  serial_loop(loop, "0", middle, side, [&] { block(loop, lines, side); });
  // Smaller squares for what is left, as far as that is known.
  for (int rest = side / 2; is_static && rest > 1; rest /= 2) {
    if ((loop.extent.value() - at) < rest) continue;
    middle = cat(at + rest);
    serial_loop(loop, cat(at), middle, rest, [&] { block(loop, lines, rest); });
    at += rest;
  }
  if (middle != end) serial_loop(loop, middle, end);
}

// `side` turns of the loop, written out.
void KernelEmitter::block(const Stmt& loop, const Lines& lines, int side) {
  std::string base = counters_.at(loop.counter);
  std::map<ExprId, std::vector<Ssa>> loaded;
  scopes_.emplace_back();
  for (ExprId id : lines.loads) loaded[id] = load_block(kernel_.exprs[static_cast<size_t>(id)], side);
  scopes_.pop_back();
  std::vector<std::vector<std::string>> stored(loop.body.size());
  for (int c = 0; c < side; ++c) {
    scopes_.emplace_back();
    counters_[loop.counter] = add(base, cat(c));
    for (const auto& [id, columns_of] : loaded) scopes_.back().values[id] = {columns_of[static_cast<size_t>(c)], {}};
    for (size_t k = 0; k < loop.body.size(); ++k) {
      const Stmt& stmt = loop.body[k];
      if (stmt.kind != StmtKind::store || lies_across(stmt.index, lanes_.counter)) {
        statement(stmt);
        continue;
      }
      DType dtype = kernel_.memories[static_cast<size_t>(stmt.slot)].dtype;
      stored[k].push_back(to_memory(dtype, as_vector(expr(stmt.expr), dtype), true));
    }
    scopes_.pop_back();
  }
  counters_[loop.counter] = base;
  scopes_.emplace_back();
  for (size_t k = 0; k < loop.body.size(); ++k)
    if (!stored[k].empty()) store_block(loop.body[k], std::move(stored[k]), loop.counter);
  scopes_.pop_back();
}

// Where each lane's line stands.
std::vector<std::string> KernelEmitter::line_places(int32_t slot, const std::string& element, const Index& index) {
  std::string origin = extent(index), stride = extent(*coefficient(index, lanes_.counter));
  std::vector<std::string> places;
  for (int i = 0; i < lanes_.count; ++i) {
    std::string offset = add(origin, multiply(stride, cat(i)));
    places.push_back(assign(cat("getelementptr ", element, ", ptr ", pointer(slot), ", i64 ", offset)));
  }
  return places;
}

std::vector<Ssa> KernelEmitter::load_block(const Expr& e, int side) {
  auto write = [&](const std::string& text) { return assign(text); };
  int bytes = static_cast<int>(size_of(e.dtype)), group = std::min(module_.target.vector_bytes / bytes, lanes_.count);
  std::string element = cat("i", bytes * 8);
  std::vector<std::string> rows;
  for (const std::string& place : line_places(e.slot, element, e.index))
    rows.push_back(assign(cat("load ", lanes_type(element, side), ", ptr ", place, ", align ", bytes)));
  std::vector<std::vector<std::string>> parts(static_cast<size_t>(side));
  for (int first = 0; first < lanes_.count; first += group) {
    std::vector<std::string> vectors;
    for (int k = 0; k < side; ++k) {
      std::vector<std::string> pieces;
      for (int row = first + k; row < first + group; row += side) pieces.push_back(rows[static_cast<size_t>(row)]);
      vectors.push_back(joined(std::move(pieces), element, side));
    }
    vectors = transposed(std::move(vectors), element, group, write);
    for (int k = 0; k < side; ++k) parts[static_cast<size_t>(k)].push_back(vectors[static_cast<size_t>(k)]);
  }
  std::vector<Ssa> values;
  for (std::vector<std::string>& column : parts) {
    std::string whole = joined(std::move(column), element, group);
    values.push_back({from_memory(e.dtype, as_bits(whole, element, memory_type(e.dtype)), true), {}, true});
  }
  return values;
}

void KernelEmitter::store_block(const Stmt& stmt, std::vector<std::string> values, const std::string& along) {
  auto write = [&](const std::string& text) { return assign(text); };
  DType dtype = kernel_.memories[static_cast<size_t>(stmt.slot)].dtype;
  int bytes = static_cast<int>(size_of(dtype)), group = std::min(module_.target.vector_bytes / bytes, lanes_.count),
      side = static_cast<int>(values.size());
  std::string element = cat("i", bytes * 8),
              how = keeps_to_lines(stmt, along) ? past_caches(side * bytes) : cat(", align ", bytes);
  for (std::string& value : values) value = as_bits(value, memory_type(dtype), element);
  std::vector<std::string> places = line_places(stmt.slot, element, stmt.index);
  for (int first = 0; first < lanes_.count; first += group) {
    std::vector<std::string> vectors;
    for (const std::string& value : values) vectors.push_back(part_of(value, element, lanes_.count, first, group));
    vectors = transposed(std::move(vectors), element, group, write);
    for (int i = 0; i < group; ++i) {
      std::string row = part_of(vectors[static_cast<size_t>(i % side)], element, group, i / side * side, side);
      line(cat("store ", lanes_type(element, side), " ", row, ", ptr ", places[static_cast<size_t>(first + i)], how));
    }
  }
}

std::string KernelEmitter::as_bits(const std::string& value, const std::string& from, const std::string& to) {
  return from == to ? value
                    : assign(cat("bitcast ", lanes_type(from, lanes_.count), " ", value, " to ",
                                 lanes_type(to, lanes_.count)));
}

}  // namespace weft
