// Gathers at places that run evenly, such as windows that slide, as strided views: read where the elements lie.
#include <algorithm>
#include <optional>

#include "weft/ir/interpret.h"
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// Integers start + the sum of steps[d] * index[d].
struct Even {
  int64_t start = 0;
  Ints steps;
};

// Constants of more elements are not looked through.
constexpr int64_t most_numbers = 1 << 20;

class EvenNumbers {
 public:
  // Nothing where the integers run unevenly, or nobody can tell now.
  static std::optional<Even> of(Value value) {
    const Node& node = value.node();
    if (!is_integer(node.type().dtype) || !node.type().is_static()) return {};
    try {
      return of_node(node);
    } catch (const Error&) {
      return {};  // numbers beyond 64 bits
    }
  }

  // The least and the greatest of them, over dims without a zero.
  static std::pair<int64_t, int64_t> range(const Even& even, const Dims& dims) {
    int64_t low = even.start, high = even.start;
    for (size_t d = 0; d < dims.size(); ++d) {
      int64_t& end = even.steps[d] < 0 ? low : high;
      end = checked_add(end, checked_multiply(even.steps[d], dims[d].value() - 1));
    }
    return {low, high};
  }

 private:
  static std::optional<Even> of_node(const Node& node) {
    switch (node.op) {
      case Op::constant:
        return of_literal(node.attrs.literal(Attr::value));
      case Op::iota: {
        Even even{0, Ints(node.type().dims.size(), 0)};
        even.steps[static_cast<size_t>(node.attrs.integer(Attr::dimension))] = 1;
        return even;
      }
      case Op::broadcast_in_dim:
      case Op::reshape:
      case Op::transpose:
      case Op::slice:
        return of_moved(node);
      case Op::add:
      case Op::subtract:
      case Op::multiply:
        return of_arithmetic(node);
      case Op::convert:
        return of_converted(node);
      case Op::select:
        return of_choice(node);
      case Op::check_range:
        return of_checked(node);
      default:
        return {};
    }
  }

  static int64_t difference(int64_t lhs, int64_t rhs) { return checked_add(lhs, checked_multiply(rhs, -1)); }

  static std::optional<Even> of_literal(const Literal& literal) {
    if (literal.is_live() || literal.count() == 0 || literal.count() > most_numbers) return {};
    Ints dims = literal.type().static_dims();
    Even even{literal.as_int(0), Ints(dims.size(), 0)};
    int64_t row = literal.count();
    for (size_t d = 0; d < dims.size(); ++d) {
      row /= dims[d];
      if (dims[d] > 1) even.steps[d] = difference(literal.as_int(row), even.start);
    }
    for (int64_t i = 0; i < literal.count(); ++i) {
      int64_t wanted = even.start, rest = i;
      for (size_t d = dims.size(); d-- > 0; rest /= dims[d])
        wanted = checked_add(wanted, checked_multiply(even.steps[d], rest % dims[d]));
      if (literal.as_int(i) != wanted) return {};
    }
    return even;
  }

  static std::optional<Even> of_moved(const Node& node) {
    std::optional<Even> from = of(node.operand(0));
    if (!from) return {};
    const Dims &before = node.operand(0).type().dims, &after = node.type().dims;
    Even even{from->start, Ints(after.size(), 0)};
    if (node.op == Op::broadcast_in_dim) {
      const Ints& places = node.ints(Attr::dimensions);
      for (size_t d = 0; d < before.size(); ++d)
        if (!before[d].is(1)) even.steps[static_cast<size_t>(places[d])] = from->steps[d];
    } else if (node.op == Op::transpose) {
      for (size_t d = 0; d < after.size(); ++d)
        even.steps[d] = from->steps[static_cast<size_t>(node.ints(Attr::permutation)[d])];
    } else if (node.op == Op::slice) {
      for (size_t d = 0; d < after.size(); ++d) {
        const int64_t first = node.attrs.dims(Attr::start_indices)[d].value();
        even.start = checked_add(even.start, checked_multiply(from->steps[d], first));
        even.steps[d] = checked_multiply(from->steps[d], node.ints(Attr::strides)[d]);
      }
    } else {
      std::optional<Ints> places = unit_reshape(node);
      if (!places) return {};
      for (size_t d = 0; d < before.size(); ++d)
        if ((*places)[d] >= 0 && !before[d].is(1)) even.steps[static_cast<size_t>((*places)[d])] = from->steps[d];
    }
    return even;
  }

  static std::optional<Even> of_arithmetic(const Node& node) {
    std::optional<Even> a = of(node.operand(0)), b = of(node.operand(1));
    if (!a || !b) return {};
    bool is_number = std::ranges::all_of(b->steps, [](int64_t step) { return step == 0; });
    if (node.op == Op::multiply && !is_number) {
      std::swap(a, b);
      is_number = std::ranges::all_of(b->steps, [](int64_t step) { return step == 0; });
    }
    if (node.op == Op::multiply && !is_number) return {};
    auto combined = [&](int64_t x, int64_t y) { return node.op == Op::add ? checked_add(x, y) : difference(x, y); };
    bool scales = node.op == Op::multiply;
    Even even{scales ? checked_multiply(a->start, b->start) : combined(a->start, b->start), a->steps};
    for (size_t d = 0; d < even.steps.size(); ++d)
      even.steps[d] = scales ? checked_multiply(a->steps[d], b->start) : combined(a->steps[d], b->steps[d]);
    return fits(even, node) ? std::optional(even) : std::nullopt;
  }

  static std::optional<Even> of_converted(const Node& node) {
    std::optional<Even> even = is_integer(node.operand(0).type().dtype) ? of(node.operand(0)) : std::nullopt;
    return even && fits(*even, node) ? even : std::nullopt;
  }

  // Where the check finds nothing.
  static std::optional<Even> of_checked(const Node& node) {
    std::optional<Even> even = of(node.operand(0));
    const Dim& limit = node.attrs.dims(Attr::limit_indices)[0];
    if (!even || !limit.is_static() || node.type().count().is(0)) return {};
    auto [low, high] = range(*even, node.type().dims);
    return low >= 0 && high < limit.value() ? even : std::nullopt;
  }

  // select(x < limit, …): where all are on one side, which NumPy's wrapping of negative indices asks.
  static std::optional<Even> of_choice(const Node& node) {
    const Node& condition = node.operand(0).node();
    if (condition.op != Op::compare || condition.attrs.text(Attr::comparison_direction) != "LT" ||
        node.type().count().is(0))
      return {};
    std::optional<Even> x = of(condition.operand(0)), limit = of(condition.operand(1));
    if (!x || !limit) return {};
    const Dims& dims = condition.type().dims;
    auto [low, high] = range(*x, dims);
    auto [least, most] = range(*limit, dims);
    if (low >= most) return of(node.operand(2));
    return high < least ? of(node.operand(1)) : std::nullopt;
  }

  // Whether nothing wraps around.
  static bool fits(const Even& even, const Node& node) {
    if (node.type().count().is(0)) return false;
    auto [low, high] = range(even, node.type().dims);
    int bits = std::min(bit_width(node.type().dtype) - is_signed(node.type().dtype), 62);
    return low >= (is_signed(node.type().dtype) ? -(int64_t{1} << bits) : 0) && high < int64_t{1} << bits;
  }
};

// Component `c` of the indices of a gather, as what it is for each batch dimension of the result.
std::optional<Even> component(Value indices, size_t along, size_t count, size_t c) {
  size_t rank = indices.type().dims.size();
  const Node& node = indices.node();
  bool joined = node.op == Op::concatenate && node.attrs.integer(Attr::dimension) == static_cast<int64_t>(along) &&
                node.operand_count() == count;
  std::optional<Even> even = EvenNumbers::of(joined ? node.operand(c) : indices);
  if (!even || along >= rank) return even;
  if (!joined) even->start += static_cast<int64_t>(c) * even->steps[along];
  even->steps.erase(even->steps.begin() + static_cast<std::ptrdiff_t>(along));
  return even;
}

Value view_of(Builder& build, Value x, Dims dims, Ints axes, Ints strides, Dims start) {
  return build(Op::strided_view, {x},
               {{Attr::dims, std::move(dims)},
                {Attr::axes, std::move(axes)},
                {Attr::strides, std::move(strides)},
                {Attr::start_indices, std::move(start)}});
}

}  // namespace

Value gather_as_view(Builder& build, const Node& node, Value x, Value indices) {
  const Ints &offsets = node.ints(Attr::offset_dims), &collapsed = node.ints(Attr::collapsed_slice_dims),
             &map = node.ints(Attr::start_index_map);
  const Dims& sizes = node.attrs.dims(Attr::slice_sizes);
  const Dims& extents = x.type().dims;
  if (!node.ints(Attr::operand_batching_dims).empty() || !node.type().is_static() || !x.type().is_static() ||
      node.type().count().is(0))
    return {};
  size_t rank = node.type().dims.size();
  Ints axes(rank, -1), strides(rank, 0);
  Dims start(extents.size(), Dim(0));
  std::vector<size_t> batch;
  for (size_t j = 0, axis = 0; j < rank; ++j) {
    if (!std::ranges::count(offsets, static_cast<int64_t>(j))) {
      batch.push_back(j);
      continue;
    }
    while (std::ranges::count(collapsed, static_cast<int64_t>(axis))) ++axis;
    axes[j] = static_cast<int64_t>(axis++);
    strides[j] = 1;
  }
  for (size_t c = 0; c < map.size(); ++c) {
    std::optional<Even> even =
        component(indices, static_cast<size_t>(node.attrs.integer(Attr::index_vector_dim)), map.size(), c);
    if (!even) return {};
    auto axis = static_cast<size_t>(map[c]);
    Dims dims;
    for (size_t j : batch) dims.push_back(node.type().dims[j]);
    auto [low, high] = EvenNumbers::range(*even, dims);
    if (low < 0 || high + sizes[axis].value() > extents[axis].value()) return {};
    start[axis] = even->start;
    for (size_t b = 0; b < batch.size(); ++b) {
      if (even->steps[b] == 0) continue;
      if (axes[batch[b]] >= 0) return {};  // a diagonal
      axes[batch[b]] = map[c];
      strides[batch[b]] = even->steps[b];
    }
  }
  return strided_view_of(build, view_of(build, x, node.type().dims, axes, strides, start));
}

namespace {

// What no argument changes; nothing for what is large, or has no elements that are known now.
std::optional<Literal> known(const Value& value) {
  constexpr int64_t most = 4096;
  const Node& node = value.node();
  if (node.types.size() != 1 || !node.type().is_static() || node.type().count().value() > most || !node.regions.empty())
    return {};
  if (node.op == Op::constant)
    return node.attrs.literal(Attr::value).is_live() ? std::nullopt : std::optional(node.attrs.literal(Attr::value));
  bool is_plain = def(node.op).traits.elementwise || node.op == Op::iota || node.op == Op::reshape ||
                  node.op == Op::broadcast_in_dim || node.op == Op::check_range;
  if (!is_plain) return {};
  std::vector<Literal> operands;
  for (const Value& operand : node.operands()) {
    std::optional<Literal> found = known(operand);
    if (!found) return {};
    operands.push_back(std::move(*found));
  }
  if (node.op == Op::check_range && found_outside(node, operands[0])) return {};
  return evaluate(node, operands)[0];
}

// A value that differs along one dimension only: what it is there, and which dimension that is.
std::optional<std::pair<Value, size_t>> line_of(const Value& value) {
  const Dims& dims = value.type().dims;
  auto is_long = [](const Dim& dim) { return !dim.is(1); };
  if (std::ranges::count_if(dims, is_long) == 1)
    return std::pair{value, static_cast<size_t>(std::ranges::find_if(dims, is_long) - dims.begin())};
  const Node& node = value.node();
  if (node.op != Op::broadcast_in_dim && node.op != Op::reshape) return {};
  std::optional<Ints> places = node.op == Op::reshape ? unit_reshape(node) : node.ints(Attr::dimensions);
  std::optional<std::pair<Value, size_t>> line = line_of(node.operand(0));
  if (line && places && (*places)[line->second] >= 0)
    return std::pair{line->first, static_cast<size_t>((*places)[line->second])};
  return {};
}

}  // namespace

Value gather_as_repeats(Builder& build, const Node& node, Value x, Value indices) {
  const Ints &offsets = node.ints(Attr::offset_dims), &collapsed = node.ints(Attr::collapsed_slice_dims),
             &map = node.ints(Attr::start_index_map);
  const Dims &sizes = node.attrs.dims(Attr::slice_sizes), &extents = x.type().dims, &to = node.type().dims;
  const Node& joined = indices.node();
  bool is_joined = joined.op == Op::concatenate && joined.operand_count() == map.size() &&
                   joined.attrs.integer(Attr::dimension) == node.attrs.integer(Attr::index_vector_dim);
  if (!node.ints(Attr::operand_batching_dims).empty() || !node.type().is_static() || !x.type().is_static() ||
      node.type().count().is(0))
    return {};
  if (to.size() != extents.size() || collapsed.size() != map.size() || (map.size() > 1 && !is_joined)) return {};
  Ints batch;
  for (size_t j = 0; j < to.size(); ++j)
    if (!std::ranges::count(offsets, static_cast<int64_t>(j))) batch.push_back(static_cast<int64_t>(j));
  if (node.attrs.integer(Attr::index_vector_dim) < static_cast<int64_t>(batch.size())) return {};
  // Dimension j of the result is axis j, each element of it repeated so often.
  Ints repeats(to.size(), 0);
  for (size_t c = 0; c < map.size(); ++c) {
    auto line = line_of(map.size() > 1 ? joined.operand(c) : indices);
    std::optional<Literal> places = line ? known(line->first) : std::nullopt;
    auto axis = static_cast<size_t>(map[c]);
    if (!places || line->second >= batch.size() || batch[line->second] != map[c] ||
        places->count() % extents[axis].value() != 0)
      return {};
    repeats[axis] = places->count() / extents[axis].value();
    for (int64_t i = 0; i < places->count(); ++i)
      if (places->as_int(i) != i / repeats[axis]) return {};
  }
  Dims apart;
  Ints dimensions;
  for (size_t j = 0; j < to.size(); ++j) {
    if (repeats[j] == 0 && !(sizes[j] == extents[j])) return {};
    dimensions.push_back(static_cast<int64_t>(apart.size()));
    apart.push_back(extents[j]);
    if (repeats[j] > 1) apart.push_back(repeats[j]);
  }
  return build.reshape(build(Op::broadcast_in_dim, {x}, {{Attr::dims, apart}, {Attr::dimensions, dimensions}}), to);
}

Value strided_view_of(Builder& build, Value value) {
  const Node& node = value.node();
  if (node.operand(0).node().op != Op::strided_view) return value;
  const Node& below = node.operand(0).node();
  const Ints &inner_axes = below.ints(Attr::axes), &inner_strides = below.ints(Attr::strides);
  size_t rank = node.type().dims.size();
  Ints axes(rank, -1), strides(rank, 0);
  Dims start = below.attrs.dims(Attr::start_indices);
  auto move = [&](size_t axis, const Dim& by) {
    if (inner_axes[axis] >= 0)
      start[static_cast<size_t>(inner_axes[axis])] =
          start[static_cast<size_t>(inner_axes[axis])] + by * Dim(inner_strides[axis]);
  };
  auto look = [&](size_t j, size_t axis, int64_t stride) {
    axes[j] = inner_axes[axis];
    strides[j] = inner_axes[axis] < 0 ? 0 : stride * inner_strides[axis];
  };
  if (node.op == Op::strided_view) {
    for (size_t a = 0; a < inner_axes.size(); ++a) move(a, node.attrs.dims(Attr::start_indices)[a]);
    for (size_t j = 0; j < rank; ++j)
      if (int64_t axis = node.ints(Attr::axes)[j]; axis >= 0)
        look(j, static_cast<size_t>(axis), node.ints(Attr::strides)[j]);
  } else if (node.op == Op::slice) {
    for (size_t j = 0; j < rank; ++j) {
      move(j, node.attrs.dims(Attr::start_indices)[j]);
      look(j, j, node.ints(Attr::strides)[j]);
    }
  } else {
    for (size_t j = 0; j < rank; ++j) look(j, static_cast<size_t>(node.ints(Attr::permutation)[j]), 1);
  }
  return view_of(build, below.operand(0), node.type().dims, axes, strides, start);
}

bool places_lie_along(const Node& view, size_t begin, size_t end) {
  const Ints &axes = view.ints(Attr::axes), &strides = view.ints(Attr::strides);
  const Dims& dims = view.type().dims;
  auto last = view.operand(0).type().rank() - 1;
  size_t longest = dims.size();
  for (size_t d = 0; d < dims.size(); ++d)
    if (axes[d] == last && strides[d] != 0 && (longest == dims.size() || dims[d].opt() > dims[longest].opt()))
      longest = d;
  return begin <= longest && longest < end;
}

Value windows_by_places(Builder& build, Value operand) {
  if (operand.node().op != Op::reshape || operand.node().operand(0).node().op != Op::strided_view ||
      operand.type().rank() != 2)
    return operand;
  const Node& view = operand.node().operand(0).node();
  const Dims &dims = view.type().dims, &to = operand.type().dims;
  size_t places = 0;
  Dim count = 1;
  while (places < dims.size() && !(count == to[0])) count = count * dims[places++];
  if (!(count == to[0]) || !places_lie_along(view, 0, places)) return operand;
  Ints permutation;
  for (size_t d = 0; d < dims.size(); ++d) permutation.push_back(static_cast<int64_t>((d + places) % dims.size()));
  Dims turned{to[1], to[0]};
  Value windows = strided_view_of(build, build.transpose(Value(view.result()), permutation));
  return build.transpose(build.reshape(windows, turned), {1, 0});
}

}  // namespace weft
