// Lines side by side: what lies along a line in memory but is needed lane by lane moves as square blocks, transposed in
// registers.
#include <algorithm>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/kernel/schedule.h"

namespace weft {

std::string KernelEmitter::part_of(const std::string& vector, const std::string& element, int lanes, int first,
                                   int count) {
  return shuffled(lanes_type(element, lanes), vector, "poison", count, [&](int i) { return first + i; });
}

std::string KernelEmitter::joined(std::vector<std::string> parts, const std::string& element, int lanes) {
  for (; parts.size() > 1; lanes *= 2) {
    std::vector<std::string> pairs;
    std::string type = lanes_type(element, lanes);
    for (size_t k = 0; k < parts.size(); k += 2)
      pairs.push_back(shuffled(type, parts[k], parts[k + 1], 2 * lanes, [](int i) { return i; }));
    parts = std::move(pairs);
  }
  return parts[0];
}

std::optional<KernelEmitter::Lines> KernelEmitter::lines_of(const Stmt& loop, const std::string& across) const {
  Lines lines;
  bool follow = loop.extent.is_static(), has_complex = false;
  auto moves = [&](const auto& access) {
    LineStep step = line_step(access.index, across, {loop.counter, loop.extent});
    return access.dynamic.empty() && access.mask == no_expr ? step : LineStep::other;
  };
  std::set<ExprId> seen;
  std::vector<ExprId> pending;
  for (const Stmt& stmt : loop.body) {
    if (stmt.kind == StmtKind::loop || stmt.kind == StmtKind::barrier_accumulate) return std::nullopt;
    pending.push_back(stmt.expr);
    if (stmt.kind != StmtKind::store) continue;
    DType dtype = kernel_.memories[static_cast<size_t>(stmt.slot)].dtype;
    LineStep step = moves(stmt);
    if (step != LineStep::across && step != LineStep::along) return std::nullopt;
    lines.widest = std::max(lines.widest, size_of(dtype));
    if (step == LineStep::across) continue;
    lines.stores = true;
    has_complex |= is_complex(dtype);
    follow &= lines_follow(stmt.index, across, loop.extent);
  }
  while (!pending.empty()) {
    ExprId id = pending.back();
    pending.pop_back();
    if (id == no_expr || !seen.insert(id).second) continue;
    const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
    pending.insert(pending.end(), e.args.begin(), e.args.end());
    if (e.kind != ExprKind::load) continue;
    bool is_written = kernel_.memories[static_cast<size_t>(e.slot)].written;
    LineStep step = moves(e);
    if (step == LineStep::steady || (!is_written && step == LineStep::across)) continue;
    if (is_written || !e.dynamic.empty() || e.mask != no_expr) return std::nullopt;
    if (step != LineStep::along) {
      if (loads_lanes(e.index, across, loop.counter, e.dtype)) continue;
      return std::nullopt;
    }
    lines.loads.push_back(id);
    has_complex |= is_complex(e.dtype);
    lines.widest = std::max(lines.widest, size_of(e.dtype));
    follow &= lines_follow(e.index, across, loop.extent);
  }
  if (lines.widest == 0 || (loop.extent.opt() < least_line && !follow)) return std::nullopt;
  // Of four numbers, or a multiple of eight, they are square blocks.
  int64_t numbers = follow ? loop.extent.value() * (has_complex ? 2 : 1) : 0;
  lines.dealt = follow && numbers < 8 && numbers != 4;
  return lines;
}

bool KernelEmitter::moves_blocks(const Stmt& loop) const {
  return std::ranges::any_of(loop.body, [&](const Stmt& stmt) {
    std::optional<Lines> lines = stmt.kind == StmtKind::loop ? lines_of(stmt, loop.counter) : std::nullopt;
    return lines && lines->has_blocks();
  });
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
  bool is_static = loop.extent.is_static();
  auto one_block = [&](int64_t first, int64_t side) {
    hoist(loop.body, loop.counter);
    counters_[loop.counter] = cat(first);
    block(loop, lines, static_cast<int>(side));
    counters_.erase(loop.counter);
  };
  if (lines.dealt) return one_block(0, loop.extent.value());
  int side =
      std::min<int>(module_.target.vector_bytes / std::max<int>(static_cast<int>(lines.widest), 4), lanes_.count);
  while (is_static && side > loop.extent.value()) side /= 2;
  if (side > 4 && module_.takes_less((side - 4) * price_of(loop.body) + lanes_.count)) side = 4;
  int64_t at = is_static ? loop.extent.value() / side * side : 0;
  std::string end = extent(loop.extent), middle = is_static ? cat(at) : assign(cat("and i64 ", end, ", ", -side));
  if (is_static && at == side)
    one_block(0, side);
  else
    serial_loop(loop, "0", middle, side, [&] { block(loop, lines, side); });
  // Smaller squares for what is left, as far as that is known.
  for (int rest = side / 2; is_static && rest > 1; rest /= 2) {
    if ((loop.extent.value() - at) < rest) continue;
    one_block(at, rest);
    at += rest;
    middle = cat(at);
  }
  if (middle != end) serial_loop(loop, middle, end);
}

// `side` turns of the loop, written out.
void KernelEmitter::block(const Stmt& loop, const Lines& lines, int side) {
  std::string base = counters_.at(loop.counter);
  std::map<ExprId, std::vector<Ssa>> loaded;
  scopes_.emplace_back();
  for (ExprId id : lines.loads) loaded[id] = load_block(kernel_.exprs[static_cast<size_t>(id)], side, lines.dealt);
  scopes_.pop_back();
  std::vector<std::vector<std::string>> stored(loop.body.size());
  for (int c = 0; c < side; ++c) {
    scopes_.emplace_back();
    counters_[loop.counter] = add(base, cat(c));
    for (const auto& [id, columns_of] : loaded) scopes_.back().values[id] = {columns_of[static_cast<size_t>(c)], {}};
    for (size_t k = 0; k < loop.body.size(); ++k) {
      const Stmt& stmt = loop.body[k];
      if (stmt.kind != StmtKind::store ||
          line_step(stmt.index, lanes_.counter, {loop.counter, loop.extent}) == LineStep::across) {
        statement(stmt);
        continue;
      }
      DType dtype = kernel_.memories[static_cast<size_t>(stmt.slot)].dtype;
      Ssa value = expr(stmt.expr);
      stored[k].push_back(to_memory(dtype, as_vector(value, dtype), true));
      if (is_complex(dtype)) stored[k].push_back(to_memory(dtype, as_vector(value, dtype, true), true));
    }
    scopes_.pop_back();
  }
  counters_[loop.counter] = base;
  scopes_.emplace_back();
  for (size_t k = 0; k < loop.body.size(); ++k)
    if (!stored[k].empty()) store_block(loop.body[k], std::move(stored[k]), loop.counter, lines.dealt);
  scopes_.pop_back();
}

// Where each lane's line stands.
std::vector<std::string> KernelEmitter::line_places(int32_t slot, const std::string& element, const Index& index) {
  bool is_pair = is_complex(kernel_.memories[static_cast<size_t>(slot)].dtype);
  std::string origin = extent(index), stride = extent(*coefficient(index, lanes_.counter));
  std::vector<std::string> places;
  for (int i = 0; i < lanes_.count; ++i) {
    std::string offset = add(origin, multiply(stride, cat(i)));
    if (is_pair) offset = multiply(offset, "2");
    places.push_back(assign(cat("getelementptr ", element, ", ptr ", pointer(slot), ", i64 ", offset)));
  }
  return places;
}

std::string KernelEmitter::after(const std::string& place, const std::string& element, int count) {
  return count ? assign(cat("getelementptr ", element, ", ptr ", place, ", i64 ", count)) : place;
}

std::vector<Ssa> KernelEmitter::load_block(const Expr& e, int side, bool dealt) {
  int bytes = static_cast<int>(size_of(real_type(e.dtype))),
      group = std::min(module_.target.vector_bytes / bytes, lanes_.count);
  // The parts of complex numbers are numbers side by side.
  bool is_pair = is_complex(e.dtype);
  if (is_pair) side *= 2;
  std::string element = cat("i", bytes * 8);
  auto load = [&](const std::string& place, int count) {
    return assign(cat("load ", lanes_type(element, count), ", ptr ", place, ", align ", bytes));
  };
  std::vector<std::string> places = line_places(e.slot, element, e.index), rows;
  if (!dealt)
    for (const std::string& place : places) rows.push_back(load(place, side));
  std::vector<std::vector<std::string>> parts(static_cast<size_t>(side));
  for (int first = 0; first < lanes_.count; first += group) {
    std::vector<std::string> vectors;
    for (int k = 0; k < side; ++k) {
      std::vector<std::string> pieces;
      if (dealt) {
        vectors.push_back(load(after(places[static_cast<size_t>(first)], element, k * group), group));
        continue;
      }
      for (int row = first + k; row < first + group; row += side) pieces.push_back(rows[static_cast<size_t>(row)]);
      vectors.push_back(joined(std::move(pieces), element, side));
    }
    vectors = dealt ? dealt_out(vectors, element, group) : transposed(std::move(vectors), element, group);
    for (int k = 0; k < side; ++k) parts[static_cast<size_t>(k)].push_back(vectors[static_cast<size_t>(k)]);
  }
  std::vector<std::string> columns;
  for (std::vector<std::string>& column : parts) {
    std::string whole = joined(std::move(column), element, group);
    columns.push_back(from_memory(real_type(e.dtype), as_bits(whole, element, memory_type(e.dtype)), true));
  }
  std::vector<Ssa> values;
  for (size_t k = 0; k < columns.size(); k += is_pair ? 2 : 1)
    values.push_back({columns[k], is_pair ? columns[k + 1] : std::string(), true});
  return values;
}

void KernelEmitter::store_block(const Stmt& stmt, std::vector<std::string> values, const std::string& along,
                                bool dealt) {
  DType dtype = kernel_.memories[static_cast<size_t>(stmt.slot)].dtype;
  int bytes = static_cast<int>(size_of(real_type(dtype))),
      group = std::min(module_.target.vector_bytes / bytes, lanes_.count), side = static_cast<int>(values.size());
  std::string element = cat("i", bytes * 8), how = !keeps_to_lines(stmt, along, dealt)
                                                       ? cat(", align ", bytes)
                                                       : past_caches((dealt ? group : side) * bytes);
  for (std::string& value : values) value = as_bits(value, memory_type(dtype), element);
  std::vector<std::string> places = line_places(stmt.slot, element, stmt.index);
  for (int first = 0; first < lanes_.count; first += group) {
    std::vector<std::string> vectors;
    for (const std::string& value : values) vectors.push_back(part_of(value, element, lanes_.count, first, group));
    if (dealt) {
      vectors = interleaved(vectors, element, group);
      for (int k = 0; k < side; ++k)
        line(cat("store ", lanes_type(element, group), " ", vectors[static_cast<size_t>(k)], ", ptr ",
                 after(places[static_cast<size_t>(first)], element, k * group), how));
      continue;
    }
    vectors = transposed(std::move(vectors), element, group);
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
