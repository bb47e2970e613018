// Products of windows and of constant kernels, both read where they lie; reductions of windows in the order of memory.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <ranges>

#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// Outputs from which on their vectors are filled well enough.
constexpr int64_t narrowest = 24;
// Places that are no one axis become batch dimensions, of which products have four.
constexpr size_t most_places = 5;

// Whether positions that go on evenly do so in parts, which go on evenly themselves.
struct TwoSteps {
  int64_t stride = 0, extent = 1, jump = 0, outside = 0;
  bool are_enough = true;

  // The next axis, from the innermost on.
  void outwards(int64_t size, int64_t step) {
    if (size == 1) return;
    if (extent == 1) {
      stride = step;
      extent = size;
    } else if (outside == 0 && step == stride * extent)
      extent *= size;
    else if (outside == 0) {
      jump = step;
      outside = size;
    } else {
      are_enough &= step == jump * outside;
      outside *= size;
    }
  }
};

bool has(const Ints& list, size_t i) { return std::ranges::count(list, static_cast<int64_t>(i)) > 0; }

// A strided view, or a whole value as one, by parts.
struct Look {
  Value base;
  Dims dims, start;
  Ints axes, strides;

  explicit Look(const Value& value)
      : base(value), dims(value.type().dims), start(dims.size(), Dim(0)), axes(dims.size()), strides(dims.size(), 1) {
    std::iota(axes.begin(), axes.end(), 0);
    if (value.node().op != Op::strided_view) return;
    base = value.node().operand(0);
    start = value.node().attrs.dims(Attr::start_indices);
    axes = value.node().ints(Attr::axes);
    strides = value.node().ints(Attr::strides);
  }
  // The same elements of a base whose axis i is axis order[i] of this one.
  void turn(Value turned, const Ints& order) {
    Ints places = inverse(order);
    Dims moved;
    for (int64_t axis : order) moved.push_back(start[static_cast<size_t>(axis)]);
    for (int64_t& axis : axes)
      if (axis >= 0) axis = places[static_cast<size_t>(axis)];
    base = turned;
    start = std::move(moved);
  }
  // From neighbour to neighbour along each dimension, in elements: fixed where the base's extents are, but for the
  // first.
  Ints steps() const {
    Dims memory = row_major_strides(base.type().dims);
    Ints result;
    for (size_t d = 0; d < dims.size(); ++d)
      result.push_back(axes[d] < 0 ? 0 : strides[d] * memory[static_cast<size_t>(axes[d])].value());
    return result;
  }
  bool has_fixed_steps() const { return std::ranges::all_of(base.type().dims | std::views::drop(1), &Dim::is_static); }
  Value view(Builder& build, const Ints& order) const {
    Dims to;
    Ints along, by;
    for (int64_t d : order) {
      auto i = static_cast<size_t>(d);
      to.push_back(dims[i]);
      along.push_back(axes[i]);
      by.push_back(strides[i]);
    }
    return build(Op::strided_view, {base},
                 {{Attr::dims, to}, {Attr::axes, along}, {Attr::strides, by}, {Attr::start_indices, start}});
  }
};

// From the largest step to the smallest.
void sort_by_step(Ints& dims, const Ints& steps) {
  std::ranges::stable_sort(dims, [&](int64_t a, int64_t b) {
    return std::abs(steps[static_cast<size_t>(a)]) > std::abs(steps[static_cast<size_t>(b)]);
  });
}

bool is_kernel(const Value& value) {
  const Node& node = value.node().op == Op::strided_view ? value.node().operand(0).node() : value.node();
  return node.op == Op::constant && !node.attrs.literal(Attr::value).is_live() && !value.type().count().is(0);
}

// The base with the axes that places run along first, those that are summed as a whole last: channels.
bool lay_channels_last(Builder& build, Look& windows, const Ints& summed) {
  std::vector<bool> has_places(windows.base.type().dims.size());
  for (size_t d = 0; d < windows.axes.size(); ++d)
    if (windows.axes[d] >= 0 && !has(summed, d)) has_places[static_cast<size_t>(windows.axes[d])] = true;
  Ints order;
  for (bool places : {true, false})
    for (size_t axis = 0; axis < has_places.size(); ++axis)
      if (has_places[axis] == places) order.push_back(static_cast<int64_t>(axis));
  Value turned = transposed(build, windows.base, order);
  Dim count = 1;
  for (const Dim& dim : windows.dims) count = count * dim;
  // What is read once is not transposed for it.
  if (turned.node().op == Op::transpose && count.opt() <= turned.type().count().opt()) return false;
  windows.turn(turned, order);
  return true;
}

Ints free_dims(const Value& value, const Ints& summed) {
  Ints free;
  for (size_t d = 0; d < value.type().dims.size(); ++d)
    if (!has(summed, d)) free.push_back(static_cast<int64_t>(d));
  return free;
}

}  // namespace

Value transposed(Builder& build, Value x, Ints order) {
  if (x.node().op != Op::transpose) return build.transpose(x, std::move(order));
  for (int64_t& axis : order) axis = x.node().ints(Attr::permutation)[static_cast<size_t>(axis)];
  return build.transpose(x.node().operand(0), std::move(order));
}

Value transposed_as(Builder& build, Value x, const Ints& order, const Dims& dims) {
  Ints moved = order;
  std::erase_if(moved, [&](int64_t axis) { return x.type().dims[static_cast<size_t>(axis)].is(1); });
  return build.reshape(std::ranges::is_sorted(moved) ? x : build.transpose(x, order), dims);
}

Value product_of_windows(Builder& build, const Node& node, Value lhs, Value rhs) {
  DType dtype = node.type().dtype;
  if (node.ints(Attr::lhs_contracting_dimensions).size() < 2 || !node.ints(Attr::lhs_batching_dimensions).empty())
    return {};
  if ((dtype != DType::f32 && dtype != DType::f64) || lhs.type().dtype != dtype || rhs.type().dtype != dtype) return {};
  bool exchanged = rhs.node().op == Op::strided_view && is_kernel(lhs);
  Value given = exchanged ? rhs : lhs, constant = exchanged ? lhs : rhs;
  if (given.node().op != Op::strided_view || !is_kernel(constant) || node.type().count().is(0)) return {};
  Ints summed = node.ints(exchanged ? Attr::rhs_contracting_dimensions : Attr::lhs_contracting_dimensions);
  Ints with = node.ints(exchanged ? Attr::lhs_contracting_dimensions : Attr::rhs_contracting_dimensions);
  Ints places = free_dims(given, summed), in_order = places, outputs = free_dims(constant, with);
  if (outputs.size() != 1 || places.empty() || places.size() > most_places) return {};
  Look windows(given), kernel(constant);
  if (kernel.dims[static_cast<size_t>(outputs[0])].value() < narrowest || !lay_channels_last(build, windows, summed) ||
      !windows.has_fixed_steps())
    return {};
  Ints steps = windows.steps(), kernel_steps = kernel.steps(), pairs(summed.size());
  sort_by_step(places, steps);
  std::iota(pairs.begin(), pairs.end(), 0);
  std::ranges::stable_sort(pairs, [&](int64_t a, int64_t b) {
    auto step = [&](int64_t pair) { return std::abs(steps[static_cast<size_t>(summed[static_cast<size_t>(pair)])]); };
    return step(a) > step(b);
  });
  TwoSteps of_windows, of_kernel;
  Ints left = places, right, left_sum, right_sum, permutation;
  for (size_t i = 0; i < pairs.size(); ++i) {
    auto pair = static_cast<size_t>(pairs[i]), inner = static_cast<size_t>(pairs[pairs.size() - 1 - i]);
    left_sum.push_back(static_cast<int64_t>(left.size()));
    right_sum.push_back(static_cast<int64_t>(i));
    left.push_back(summed[pair]);
    right.push_back(with[pair]);
    int64_t extent = windows.dims[static_cast<size_t>(summed[inner])].value();
    of_windows.outwards(extent, steps[static_cast<size_t>(summed[inner])]);
    of_kernel.outwards(extent, kernel_steps[static_cast<size_t>(with[inner])]);
  }
  if (!of_windows.are_enough || !of_kernel.are_enough) return {};
  right.push_back(outputs[0]);
  Value product = build(Op::dot_general, {windows.view(build, left), kernel.view(build, right)},
                        {{Attr::lhs_batching_dimensions, Ints{}},
                         {Attr::rhs_batching_dimensions, Ints{}},
                         {Attr::lhs_contracting_dimensions, left_sum},
                         {Attr::rhs_contracting_dimensions, right_sum}});
  for (int64_t place : in_order) permutation.push_back(std::ranges::find(places, place) - places.begin());
  permutation.insert(exchanged ? permutation.begin() : permutation.end(), static_cast<int64_t>(places.size()));
  return build.transpose(product, permutation);
}

bool may_read_windows(const Node& node) {
  if (node.op == Op::dot_general && node.ints(Attr::lhs_contracting_dimensions).size() < 2) return false;
  return (node.op == Op::convolution || node.op == Op::dot_general) &&
         (is_kernel(node.operand(1)) || is_kernel(node.operand(0)));
}

std::optional<std::pair<Value, Ints>> view_before_transposition(Builder& build, Value view, const Ints& reduced) {
  if (view.node().op != Op::strided_view) return {};
  Value turned = view.node().operand(0);
  if (turned.node().op != Op::transpose || !turned.type().is_static()) return {};
  Look windows(view);
  windows.turn(turned.node().operand(0), inverse(turned.node().ints(Attr::permutation)));
  Ints steps = windows.steps(), kept = free_dims(view, reduced), order = reduced;
  sort_by_step(kept, steps);
  if (kept.empty() || steps[static_cast<size_t>(kept.back())] != 1) return {};
  order.insert(order.end(), kept.begin(), kept.end());
  return std::pair{windows.view(build, order), inverse(order)};
}

}  // namespace weft
