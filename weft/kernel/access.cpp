// Access functions: how each op's element comes from its operands' elements.
#include "weft/kernel/access.h"

#include <algorithm>

#include "weft/ir/interpret.h"
#include "weft/kernel/schedule.h"

namespace weft {

Index linear_index(const Dims& dims, const Dims& coordinates) {
  Index index = 0;
  Dims strides = row_major_strides(dims);
  for (size_t i = 0; i < dims.size(); ++i) index = index + coordinates[i] * strides[i];
  return index;
}

Dims delinearized(const Index& index, const Dims& dims) {
  Dims coordinates(dims.size());
  Dims strides = row_major_strides(dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    coordinates[i] = floordiv(index, strides[i]);
    if (i > 0) coordinates[i] = mod(coordinates[i], dims[i]);
    if (dims[i].is(1)) coordinates[i] = 0;
  }
  return coordinates;
}

// Blocks of dims with equal products map onto each other; a block of one dim on each side keeps its coordinate.
Dims reshaped_coordinates(const Dims& from, const Dims& to, const Dims& coordinates) {
  Dims result(to.size(), Dim(0));
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && from[i].is(1)) {
      ++i;
      continue;
    }
    if (j < to.size() && to[j].is(1)) {
      ++j;
      continue;
    }
    size_t i_end = i, j_end = j;
    Dim left = 1, right = 1;
    if (i_end < from.size()) left = from[i_end++];
    if (j_end < to.size()) right = to[j_end++];
    while (left != right && (i_end < from.size() || j_end < to.size())) {
      bool grow_left = j_end == to.size() || (i_end < from.size() && known_less(right, left) != true);
      if (grow_left)
        left = left * from[i_end++];
      else
        right = right * to[j_end++];
    }
    Dims source(from.begin() + static_cast<std::ptrdiff_t>(i), from.begin() + static_cast<std::ptrdiff_t>(i_end));
    Dims target(to.begin() + static_cast<std::ptrdiff_t>(j), to.begin() + static_cast<std::ptrdiff_t>(j_end));
    Dims at(coordinates.begin() + static_cast<std::ptrdiff_t>(i),
            coordinates.begin() + static_cast<std::ptrdiff_t>(i_end));
    Dims mapped = target.size() == 1 ? Dims{linear_index(source, at)} : delinearized(linear_index(source, at), target);
    std::copy(mapped.begin(), mapped.end(), result.begin() + static_cast<std::ptrdiff_t>(j));
    i = i_end;
    j = j_end;
  }
  return result;
}

ExprId Access::add(Expr expr) {
  kernel_.exprs.push_back(std::move(expr));
  return static_cast<ExprId>(kernel_.exprs.size() - 1);
}

ExprId Access::constant(const Literal& scalar) {
  for (const auto& [literal, id] : constants_)
    if (literal == scalar) return id;
  Expr expr;
  expr.dtype = scalar.dtype();
  expr.value = scalar;
  ExprId id = add(std::move(expr));
  constants_.emplace_back(scalar, id);
  return id;
}

ExprId Access::integer(int64_t value) { return constant(Literal::scalar_int(DType::i64, value)); }

ExprId Access::index(const Index& index, DType dtype) {
  if (index.is_static() && dtype == DType::i64) return integer(index.value());
  Expr expr;
  expr.kind = ExprKind::index;
  expr.dtype = DType::i64;
  expr.index = index;
  ExprId id = add(std::move(expr));
  return dtype == DType::i64 ? id : scalar(Scalar::convert, dtype, {id});
}

ExprId Access::scalar(Scalar op, DType dtype, std::vector<ExprId> args) {
  Expr expr;
  expr.kind = ExprKind::scalar;
  expr.op = op;
  expr.dtype = dtype;
  expr.args = std::move(args);
  return add(std::move(expr));
}

ExprId Access::variable(int32_t slot, DType dtype) {
  Expr expr;
  expr.kind = ExprKind::variable;
  expr.dtype = dtype;
  expr.slot = slot;
  return add(std::move(expr));
}

ExprId Access::both(ExprId lhs, ExprId rhs) {
  if (lhs == no_expr || lhs == rhs) return rhs;
  if (rhs == no_expr) return lhs;
  return scalar(Scalar::bit_and, DType::boolean, {lhs, rhs});
}

ExprId Access::in_range(const Index& at, const Dim& low, const Dim& high) {
  ExprId above = no_expr, below = no_expr;
  if (known_less(at, low) != false) above = scalar(Scalar::ge, DType::boolean, {index(at), index(low)});
  if (known_less(at, high) != true) below = scalar(Scalar::lt, DType::boolean, {index(at), index(high)});
  return both(above, below);
}

ExprId Access::fits(const Dims& sizes, const Dims& dims) {
  ExprId all = no_expr;
  for (size_t i = 0; i < dims.size(); ++i)
    if (known_less(dims[i], sizes[i]) != false)
      all = both(all, scalar(Scalar::ge, DType::boolean, {index(dims[i]), index(sizes[i])}));
  return all;
}

int32_t Access::memory(NodeId stored, bool written) {
  auto found = std::find(memory_nodes_.begin(), memory_nodes_.end(), stored);
  if (found == memory_nodes_.end()) {
    memory_nodes_.push_back(stored);
    Memory memory;
    memory.name = "m" + std::to_string(kernel_.memories.size());
    memory.dtype = graph_.node(stored).type().dtype;
    kernel_.memories.push_back(std::move(memory));
    found = memory_nodes_.end() - 1;
  }
  auto slot = static_cast<int32_t>(found - memory_nodes_.begin());
  if (written) kernel_.memories[static_cast<size_t>(slot)].written = true;
  return slot;
}

ExprId Access::guard(ExprId mask, const Index& at) {
  if (mask == no_expr) return mask;
  const Expr& expr = kernel_.exprs[static_cast<size_t>(mask)];
  if (expr.kind != ExprKind::scalar) return mask;
  if (expr.op == Scalar::bit_and) {
    const ExprId lhs = expr.args[0], rhs = expr.args[1];
    const ExprId kept_lhs = guard(lhs, at), kept_rhs = guard(rhs, at);
    return kept_lhs == lhs && kept_rhs == rhs ? mask : both(kept_lhs, kept_rhs);
  }
  bool counts = false, concerns = false;
  for (ExprId arg : expr.args) {
    const Expr& side = kernel_.exprs[static_cast<size_t>(arg)];
    concerns |= side.kind != ExprKind::index && side.kind != ExprKind::constant;
    if (side.kind != ExprKind::index) continue;
    for (const Symbol& symbol : side.index.symbols()) {
      if (!symbol.name.starts_with('.')) continue;  // an extent of the program's
      counts = true;
      concerns |= uses_counter(at, symbol.name);
    }
  }
  return counts && !concerns ? no_expr : mask;
}

ExprId Access::load(NodeId stored, Index at, std::vector<std::pair<ExprId, Index>> dynamic, ExprId mask) {
  if (dynamic.empty()) mask = guard(mask, at);
  Expr expr;
  expr.kind = ExprKind::load;
  expr.dtype = graph_.node(stored).type().dtype;
  expr.index = std::move(at);
  expr.slot = memory(stored);
  expr.dynamic = std::move(dynamic);
  expr.mask = mask;
  return add(std::move(expr));
}

ExprId Access::load_from(int32_t slot, DType dtype, Index at, std::vector<std::pair<ExprId, Index>> dynamic,
                         ExprId mask) {
  Expr expr;
  expr.kind = ExprKind::load;
  expr.dtype = dtype;
  expr.index = std::move(at);
  expr.slot = slot;
  expr.dynamic = std::move(dynamic);
  expr.mask = mask;
  return add(std::move(expr));
}

std::vector<ExprId> Access::inlined(const Graph& given, const std::vector<ExprId>& arguments) {
  GraphPtr body = prepare(given);
  std::vector<ExprId> exprs(body->size(), no_expr);
  size_t next = 0;
  for (const Node& node : body->nodes()) {
    std::vector<ExprId> args;
    for (const Value& operand : node.operands()) args.push_back(exprs[operand.id()]);
    bool scalars = node.types.size() == 1 && node.type().rank() == 0;
    if (node.op == Op::parameter)
      exprs[node.id()] = arguments[next++];
    else if (scalars && node.op == Op::constant)
      exprs[node.id()] = compute(node, {});
    else if (scalars && (node.op == Op::reshape || node.op == Op::broadcast_in_dim))
      exprs[node.id()] = args[0];
    else if (scalars && node.op == Op::bitcast_convert)
      exprs[node.id()] = scalar(Scalar::bitcast, node.type().dtype, args);
    else if (scalars && scalar_of(node) != Scalar::none)
      exprs[node.id()] = scalar(scalar_of(node), node.type().dtype, args);
    else
      raise({ErrorKind::unsupported, cat("a body with ", name(node.op), " cannot be compiled; wf.simulate runs it"),
             "unsupported_op", node.loc});
  }
  std::vector<ExprId> results;
  for (const Output& output : body->outputs()) results.push_back(exprs[output.value.id()]);
  return results;
}

ExprId Access::value(Value v, const Dims& at, ExprId mask) {
  if (auto defined = defined_.find(v.id()); defined != defined_.end()) return defined->second;
  auto& known = known_[v.id()];
  for (const auto& [key, id] : known)
    if (key.mask == mask && key.coordinates == at) return id;
  const Node& node = v.node();
  ExprId id;
  if (is_inline_constant(node))
    id = compute(node, at, mask);
  else if (fusion_.is_stored[v.id()])
    id = load(v.id(), linear_index(node.type().dims, at), {}, mask);
  else
    id = compute(node, at, mask);
  known_[v.id()].push_back({{v.id(), v.index(), at, mask}, id});
  return id;
}

ExprId Access::element_wise(const Node& node, const Dims& at, ExprId mask) {
  std::vector<ExprId> args;
  for (const Value& operand : node.operands()) args.push_back(value(operand, at, mask));
  return scalar(scalar_of(node), node.type().dtype, std::move(args));
}

namespace {

Dims viewed_coordinates(const Node& view, const Dims& at) {
  const Ints &axes = view.ints(Attr::axes), &strides = view.ints(Attr::strides);
  Dims inner = view.attrs.dims(Attr::start_indices);
  for (size_t j = 0; j < at.size(); ++j)
    if (axes[j] >= 0)
      inner[static_cast<size_t>(axes[j])] = inner[static_cast<size_t>(axes[j])] + at[j] * Dim(strides[j]);
  return inner;
}

// Where in its only operand an element lies of a call that rearranges elements; nothing of other calls.
std::optional<Dims> coordinates_below(const Node& node, const Dims& at) {
  const Attrs& attrs = node.attrs;
  Dims inner;
  switch (node.op) {
    case Op::broadcast_in_dim: {
      const Dims& dims = node.operand(0).type().dims;
      const Ints& dimensions = attrs.ints(Attr::dimensions);
      for (size_t i = 0; i < dims.size(); ++i)
        inner.push_back(dims[i].is(1) ? Dim(0) : at[static_cast<size_t>(dimensions[i])]);
      return inner;
    }
    case Op::transpose: {
      const Ints& permutation = attrs.ints(Attr::permutation);
      inner.resize(at.size());
      for (size_t i = 0; i < at.size(); ++i) inner[static_cast<size_t>(permutation[i])] = at[i];
      return inner;
    }
    case Op::slice:
      for (size_t i = 0; i < at.size(); ++i)
        inner.push_back(attrs.dims(Attr::start_indices)[i] + at[i] * Dim(attrs.ints(Attr::strides)[i]));
      return inner;
    case Op::strided_view:
      return viewed_coordinates(node, at);
    case Op::reverse:
      inner = at;
      for (int64_t axis : attrs.ints(Attr::dimensions)) {
        auto a = static_cast<size_t>(axis);
        inner[a] = node.type().dims[a] - Dim(1) - at[a];
      }
      return inner;
    default:
      return std::nullopt;
  }
}

}  // namespace

ExprId Access::compute(const Node& node, const Dims& at, ExprId mask) {
  const Attrs& attrs = node.attrs;
  if (std::optional<Dims> inner = coordinates_below(node, at)) return value(node.operand(0), *inner, mask);
  switch (node.op) {
    case Op::constant: {
      Literal one(Type{node.type().dtype, {}});
      const Literal& whole = attrs.literal(Attr::value);
      check(whole.is_splat(), "a constant that is no splat has memory");
      std::copy_n(whole.bytes().begin(), size_of(one.dtype()), one.mutable_bytes());
      return constant(one);
    }
    case Op::extent:
      return index(attrs.dims(Attr::dims)[0]);
    case Op::iota:
      return index(at[static_cast<size_t>(attrs.integer(Attr::dimension))], node.type().dtype);
    case Op::reshape: {
      Value from = node.operand(0);
      if (fusion_.is_stored[from.id()] && !defined_.count(from.id()) && !is_inline_constant(from.node()))
        return load(from.id(), linear_index(node.type().dims, at), {}, mask);
      return value(from, reshaped_coordinates(node.type().dims, from.type().dims, at), mask);
    }
    case Op::bitcast_convert:
      return scalar(Scalar::bitcast, node.type().dtype, {value(node.operand(0), at, mask)});
    case Op::pad:
      return padded(node, at, mask);
    case Op::concatenate:
      return concatenated(node, at, mask);
    case Op::gather:
      return gathered(node, at, mask);
    case Op::check_range:
      return checked(node, at, mask);
    case Op::dynamic_slice:
      return sliced_at_value(node, at, mask);
    case Op::dynamic_update_slice:
      return updated_at_value(node, at, mask);
    default:
      break;
  }
  if (def(node.op).scalar == Scalar::none)
    raise({ErrorKind::unsupported, cat(name(node.op), " cannot be compiled; wf.simulate runs it"), "unsupported_op",
           node.loc});
  return element_wise(node, at, mask);
}

ExprId Access::padded(const Node& node, const Dims& at, ExprId mask) {
  const Dims& low = node.attrs.dims(Attr::edge_padding_low);
  const Ints& interior = node.ints(Attr::interior_padding);
  const Dims& dims = node.operand(0).type().dims;
  Dims inner;
  ExprId inside = no_expr;
  for (size_t i = 0; i < at.size(); ++i) {
    Index shifted = at[i] - low[i];
    Dim step = interior[i] + 1;
    inner.push_back(floordiv(shifted, step));
    inside = both(inside, in_range(shifted, 0, (dims[i] - Dim(1)) * step + Dim(1)));
    if (interior[i] > 0)
      inside = both(inside, scalar(Scalar::eq, DType::boolean, {index(mod(shifted, step)), integer(0)}));
  }
  ExprId element = value(node.operand(0), inner, both(mask, inside));
  if (inside == no_expr) return element;
  return scalar(Scalar::select, node.type().dtype, {inside, element, value(node.operand(1), {}, mask)});
}

ExprId Access::concatenated(const Node& node, const Dims& at, ExprId mask) {
  auto axis = static_cast<size_t>(node.attrs.integer(Attr::dimension));
  ExprId result = no_expr;
  Dim offset = node.type().dims[axis];
  // From the last part to the first: each one's elements are those below the end that no later part has taken.
  for (size_t k = node.operand_count(); k-- > 0;) {
    Dim end = offset;
    offset = offset - node.operand(k).type().dims[axis];
    if (node.operand(k).type().dims[axis].is(0)) continue;
    Dims inner = at;
    inner[axis] = at[axis] - offset;
    ExprId part_mask = in_range(at[axis], offset, end);
    ExprId part = value(node.operand(k), inner, both(mask, part_mask));
    if (result == no_expr) {
      result = part;
    } else {
      ExprId below = scalar(Scalar::lt, DType::boolean, {index(at[axis]), index(end)});
      result = scalar(Scalar::select, node.type().dtype, {below, part, result});
    }
  }
  if (result != no_expr) return result;
  return constant(Literal(Type{node.type().dtype, {}}));
}

ExprId Access::start_in(const Node& node, ExprId at, const Dim& last) {
  DType dtype = kernel_.exprs[static_cast<size_t>(at)].dtype;
  if (dtype != DType::i64) at = scalar(Scalar::convert, DType::i64, {at});
  if (node.attrs.flag(Attr::in_bounds)) return at;
  // An index past 63 bits is past the end, not negative.
  if (dtype == DType::u64) {
    ExprId negative = scalar(Scalar::lt, DType::boolean, {at, integer(0)});
    at = scalar(Scalar::select, DType::i64, {negative, index(last), at});
  }
  return scalar(Scalar::clamp, DType::i64, {integer(0), at, index(last)});
}

ExprId Access::checked(const Node& node, const Dims& at, ExprId mask) {
  Expr expr;
  expr.kind = ExprKind::checked;
  expr.dtype = DType::i64;
  expr.args = {value(node.operand(0), at, mask)};  // may hold checks of its own
  auto number = static_cast<int32_t>(node.attrs.integer(Attr::number));
  auto found = std::ranges::find(checks_, number);
  expr.index = node.attrs.dims(Attr::limit_indices)[0];
  expr.slot = static_cast<int32_t>(found - checks_.begin());
  expr.mask = mask;
  if (found == checks_.end()) {
    checks_.push_back(number);
    ++kernel_.checks;
  }
  return add(std::move(expr));
}

ExprId Access::gathered(const Node& node, const Dims& at, ExprId mask) {
  const Attrs& a = node.attrs;
  Value operand = node.operand(0), indices = node.operand(1);
  const Dims& dims = operand.type().dims;
  const Dims& sizes = a.dims(Attr::slice_sizes);
  const Ints &offset = a.ints(Attr::offset_dims), &collapsed = a.ints(Attr::collapsed_slice_dims),
             &batching = a.ints(Attr::operand_batching_dims), &map = a.ints(Attr::start_index_map),
             &index_batching = a.ints(Attr::start_indices_batching_dims);
  auto vector_dim = static_cast<size_t>(a.integer(Attr::index_vector_dim));
  auto has = [](const Ints& list, size_t i) {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(i)) != list.end();
  };
  Dims batch, inner;
  for (size_t i = 0; i < at.size(); ++i) (has(offset, i) ? inner : batch).push_back(at[i]);
  Dims strides = row_major_strides(dims);
  Index base = 0;
  size_t next = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    if (!has(collapsed, i) && !has(batching, i)) base = base + inner[next++] * strides[i];
  bool has_vector = vector_dim < indices.type().dims.size();
  for (size_t i = 0; i < batching.size(); ++i) {
    auto source = static_cast<size_t>(index_batching[i]);
    if (has_vector && source > vector_dim) --source;
    base = base + batch[source] * strides[static_cast<size_t>(batching[i])];
  }
  std::vector<std::pair<ExprId, Index>> dynamic;
  for (size_t k = 0; k < map.size(); ++k) {
    Dims where = batch;
    if (has_vector) where.insert(where.begin() + static_cast<std::ptrdiff_t>(vector_dim), Dim(static_cast<int64_t>(k)));
    auto axis = static_cast<size_t>(map[k]);
    dynamic.emplace_back(start_in(node, value(indices, where, mask), dims[axis] - sizes[axis]), strides[axis]);
  }
  return load(operand.id(), base, std::move(dynamic), both(mask, fits(sizes, dims)));
}

ExprId Access::sliced_at_value(const Node& node, const Dims& at, ExprId mask) {
  Value operand = node.operand(0);
  const Dims& dims = operand.type().dims;
  Dims strides = row_major_strides(dims);
  std::vector<std::pair<ExprId, Index>> dynamic;
  for (size_t i = 0; i < dims.size(); ++i)
    if (Dim last = dims[i] - node.type().dims[i]; !last.is(0))
      dynamic.emplace_back(start_in(node, value(node.operand(i + 1), {}), last), strides[i]);
  return load(operand.id(), linear_index(dims, at), std::move(dynamic), both(mask, fits(node.type().dims, dims)));
}

ExprId Access::updated_at_value(const Node& node, const Dims& at, ExprId mask) {
  Value update = node.operand(1);
  const Dims &dims = node.type().dims, &sizes = update.type().dims;
  Dims strides = row_major_strides(sizes);
  ExprId inside = fits(sizes, dims);
  std::vector<std::pair<ExprId, Index>> dynamic;
  for (size_t i = 0; i < dims.size(); ++i) {
    Dim last = dims[i] - sizes[i];
    if (last.is(0)) continue;
    ExprId start = start_in(node, value(node.operand(i + 2), {}), last);
    ExprId distance = scalar(Scalar::subtract, DType::i64, {index(at[i]), start});
    inside = both(inside, scalar(Scalar::ge, DType::boolean, {distance, integer(0)}));
    inside = both(inside, scalar(Scalar::lt, DType::boolean, {distance, index(sizes[i])}));
    dynamic.emplace_back(start, strides[i] * Dim(-1));
  }
  ExprId part = load(update.id(), linear_index(sizes, at), std::move(dynamic), both(mask, inside));
  if (inside == no_expr) return part;
  return scalar(Scalar::select, node.type().dtype, {inside, part, value(node.operand(0), at, mask)});
}

std::optional<StridedView> Access::strided(Value v, const Dims& coordinates) const {
  Dims at = coordinates;
  const Node* node = &v.node();
  std::optional<FourBits> bits;
  for (;;) {
    if (fusion_.is_stored[node->id()]) return StridedView{node->id(), linear_index(node->type().dims, at), bits};
    if (std::optional<BitsOf> found = four_bits(*node); found && !bits) {
      bits = found->bits;
      node = &found->byte.node();
      continue;
    }
    Dims inner;
    switch (node->op) {
      case Op::broadcast_in_dim:
      case Op::transpose:
      case Op::strided_view:
      case Op::slice:
        inner = *coordinates_below(*node, at);
        break;
      case Op::reshape: {
        if (std::optional<Ints> places = unit_reshape(*node)) {
          for (int64_t place : *places) inner.push_back(place < 0 ? Dim(0) : at[static_cast<size_t>(place)]);
          break;
        }
        // Below another reshape there is a stored value, or further reshapes: the position stays.
        const Node* below = &node->operand(0).node();
        while (!fusion_.is_stored[below->id()] && (below->op == Op::reshape || is_widening(*below)))
          below = &below->operand(0).node();
        if (!fusion_.is_stored[below->id()]) return std::nullopt;
        return StridedView{below->id(), linear_index(node->type().dims, at), bits};
      }
      case Op::convert:
        if (!is_widening(*node)) return std::nullopt;
        inner = at;
        break;
      default:
        return std::nullopt;
    }
    at = std::move(inner);
    node = &node->operand(0).node();
  }
}

}  // namespace weft
