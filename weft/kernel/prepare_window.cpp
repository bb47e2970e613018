// Sliding windows as strided views.
#include <algorithm>
#include <numeric>

#include "weft/kernel/convolution.h"
#include "weft/kernel/prepare.h"

namespace weft {

Value padded(Builder& build, Value x, Value filling, const std::vector<WindowDim>& windows, const Ints& axes) {
  size_t rank = x.type().dims.size();
  Dims low(rank, Dim(0)), high(rank, Dim(0));
  Ints interior(rank, 0);
  bool any = false;
  for (size_t i = 0; i < windows.size(); ++i) {
    auto axis = static_cast<size_t>(axes[i]);
    low[axis] = windows[i].low;
    high[axis] = windows[i].high;
    interior[axis] = windows[i].base_dilation - 1;
    any |= !low[axis].is(0) || !high[axis].is(0) || interior[axis] != 0;
  }
  if (!any) return x;
  return build(Op::pad, {x, filling},
               {{Attr::edge_padding_low, low}, {Attr::edge_padding_high, high}, {Attr::interior_padding, interior}});
}

Value product_by_windows(Builder& build, const NamedConvolution& c) {
  DType dtype = c.x.type().dtype;
  if ((dtype != DType::f32 && dtype != DType::f64) || c.windows.size() > 3 || c.x.type().count().is(0) ||
      c.window_count().is(0))
    return {};
  bool has_groups = c.groups > 1, by_feature = c.features > 1;
  ViewShape left(c.kernel.type().dims.size()), right(c.x.type().dims.size());
  for (size_t i = 0; i < c.windows.size(); ++i) right.start[static_cast<size_t>(c.input_spatial[i])] = c.starts[i];
  right.add(c.batch_axis, c.batch, 1);
  if (has_groups)
    right.add(by_feature ? c.feature_axis : c.batch_axis, c.groups,
              NamedConvolution::group_stride(by_feature ? c.channels : c.batch));
  left.add(c.out_axis, Dim(c.groups) * c.outputs, 1);
  c.add_kernel_window(left);
  c.add_window(right);
  c.add_places(right);
  if (!left.is_whole(c.kernel.type().dims)) return {};
  left.dims[0] = c.outputs;
  if (has_groups) left.dims.insert(left.dims.begin(), c.groups);
  auto batching = static_cast<int64_t>(right.dims.size() - 2 * c.windows.size() - 1);
  Dims kernel_dims = left.dims;
  kernel_dims.insert(kernel_dims.begin(), c.batch);
  Ints dimensions(left.dims.size()), both(static_cast<size_t>(batching)), left_sum, right_sum;
  std::iota(dimensions.begin(), dimensions.end(), 1);
  std::iota(both.begin(), both.end(), 0);
  for (size_t i = 0; i <= c.windows.size(); ++i) {
    right_sum.push_back(batching + static_cast<int64_t>(i));
    left_sum.push_back(right_sum.back() + 1);
  }
  Value kernel = build(Op::broadcast_in_dim, {build.reshape(c.kernel, left.dims)},
                       {{Attr::dims, kernel_dims}, {Attr::dimensions, dimensions}});
  return build(Op::dot_general, {kernel, right.as_view(build, c.x)},
               {{Attr::lhs_batching_dimensions, both},
                {Attr::rhs_batching_dimensions, both},
                {Attr::lhs_contracting_dimensions, left_sum},
                {Attr::rhs_contracting_dimensions, right_sum}});
}

Value in_order(Builder& build, const NamedConvolution& c, const Node& node, Value product) {
  Ints permutation;
  int64_t first_place = product.type().rank() - static_cast<int64_t>(c.windows.size());
  for (int64_t axis = 0; axis < node.type().rank(); ++axis) {
    if (axis == axis_of(node, Attr::output_batch_dimension)) permutation.push_back(0);
    if (axis == axis_of(node, Attr::output_feature_dimension))
      for (int64_t i = 1; i < first_place; ++i) permutation.push_back(i);
    for (size_t i = 0; i < c.windows.size(); ++i)
      if (c.output_spatial[i] == axis) permutation.push_back(first_place + static_cast<int64_t>(i));
  }
  return transposed_as(build, product, permutation, node.type().dims);
}

namespace {

// Elements of windows from which on they are read as a line of a product's left operand.
constexpr int64_t least_window = 32;

// Channels last: (group, batch, places…, channels, window…) times (group, channels, window…, outputs).
Value places_by_outputs(Builder& build, const NamedConvolution& c) {
  ViewShape left = c.input(), right(c.kernel.type().dims.size());
  c.add_places(left);
  c.add_window(left);
  right.add(c.out_axis, c.groups, NamedConvolution::group_stride(c.outputs));
  c.add_kernel_window(right);
  right.add(c.out_axis, c.outputs, 1);
  auto spatial = static_cast<int64_t>(c.windows.size());
  Ints left_sum, right_sum;
  for (int64_t i = 0; i <= spatial; ++i) left_sum.push_back(2 + spatial + i), right_sum.push_back(1 + i);
  Value product = dot_in_kernel_form(build, left.of(build, c.x), right.of(build, c.kernel),
                                     {{Attr::lhs_batching_dimensions, Ints{0}},
                                      {Attr::rhs_batching_dimensions, Ints{0}},
                                      {Attr::lhs_contracting_dimensions, left_sum},
                                      {Attr::rhs_contracting_dimensions, right_sum}});
  Dims shape{c.groups, c.batch};
  for (const Dim& extent : c.places()) shape.push_back(extent);
  shape.push_back(c.outputs);
  return c.arranged(build, build.reshape(product, shape), 2, 2 + spatial);
}

// Channels first: (group, batch, outputs, window) times (group, batch, window, places…), where places lie together; or
// without groups, whose result is in order as it is.
Value outputs_by_places(Builder& build, const NamedConvolution& c) {
  const bool has_groups = c.groups > 1;
  ViewShape left(c.kernel.type().dims.size()), right(c.x.type().dims.size());
  Dims batching{c.batch};
  if (has_groups) {
    right = c.input();
    batching.insert(batching.begin(), c.groups);
  } else {
    right.add(c.batch_axis, c.batch, 1);
  }
  left.add(c.out_axis, c.groups, NamedConvolution::group_stride(c.outputs));
  left.add(c.out_axis, c.outputs, 1);
  c.add_kernel_window(left);
  c.add_window(right);
  c.add_places(right);
  Dims one{c.outputs, c.window_count()}, kernels = batching, windows = batching;
  Ints both(batching.size()), kept;
  std::iota(both.begin(), both.end(), 0);
  const auto front = static_cast<int64_t>(batching.size());
  if (has_groups) {
    one.insert(one.begin(), c.groups);
    kept.push_back(0);
  }
  kept.insert(kept.end(), {front, front + 1});
  kernels.insert(kernels.end(), {c.outputs, c.window_count()});
  windows.push_back(c.window_count());
  for (const Dim& extent : c.places()) windows.push_back(extent);
  Value kernel = build(Op::broadcast_in_dim, {build.reshape(left.of(build, c.kernel), one)},
                       {{Attr::dims, kernels}, {Attr::dimensions, kept}});
  Value product = dot_in_kernel_form(build, kernel, build.reshape(right.of(build, c.x), windows),
                                     {{Attr::lhs_batching_dimensions, both},
                                      {Attr::rhs_batching_dimensions, both},
                                      {Attr::lhs_contracting_dimensions, Ints{front + 1}},
                                      {Attr::rhs_contracting_dimensions, Ints{front}}});
  return has_groups ? c.arranged(build, product, 3, 2) : in_order(build, c, c.node, product);
}

Value outputs_by_windows(Builder& build, const Node& node, NamedConvolution& c) {
  ViewShape whole = c.input();
  c.add_window(whole);
  c.add_places(whole);
  if (whole.is_whole(c.x.type().dims)) return {};
  Value product = product_by_windows(build, c);
  return product ? in_order(build, c, node, product) : product;
}

// One output of each group, as depthwise convolutions have: no sum is shared by others, and there is no product of
// matrices in it.
Value sum_over_windows(Builder& build, const Node& node, const NamedConvolution& c) {
  DType dtype = node.type().dtype;
  if ((dtype != DType::f32 && dtype != DType::f64) || c.features == 1 || c.batches > 1 || !c.outputs.is(1) ||
      !c.channels.is_static())
    return {};
  auto spatial = static_cast<int64_t>(c.windows.size());
  ViewShape view(c.x.type().dims.size()), kernel(c.kernel.type().dims.size());
  c.add_window(view);
  c.add_kernel_window(kernel);
  kernel.add(c.out_axis, c.groups, 1);
  Ints reduced(static_cast<size_t>(spatial + 1)), dimensions, kept(static_cast<size_t>(spatial + 2));
  std::iota(reduced.begin(), reduced.end(), 0);
  for (int64_t axis = 0; axis < spatial + 2; ++axis) {
    auto at = std::ranges::find(c.input_spatial, axis);
    auto i = static_cast<size_t>(at - c.input_spatial.begin());
    if (axis == c.batch_axis)
      view.add(axis, c.batch, 1);
    else if (axis == c.feature_axis)
      view.add(axis, c.groups, c.channels.value());
    else
      view.add(axis, c.windows[i].places(), c.windows[i].stride);
    int64_t output =
        axis_of(node, axis == c.batch_axis ? Attr::output_batch_dimension : Attr::output_feature_dimension);
    kept[static_cast<size_t>(i < c.output_spatial.size() ? c.output_spatial[i] : output)] = axis;
  }
  dimensions = reduced;
  dimensions.push_back(spatial + 1 + c.feature_axis);
  Value weights = build(Op::broadcast_in_dim, {kernel.of(build, c.kernel)},
                        {{Attr::dims, view.dims}, {Attr::dimensions, dimensions}});
  Value products = build(Op::multiply, {view.as_view(build, c.x), weights});
  Value sums = build(Op::reduce, {products, build.scalar(dtype, 0)}, {{Attr::dimensions, reduced}},
                     {binary_body(Op::add, dtype)});
  return build.transpose(sums, kept);
}

// Of kernels as large as the image, as gradients of weights have: (group, outputs, channels, window…) times windows of
// the image with what are batches there last, (group, channels, window…, places…, batch). Many of those lie side by
// side, however few places there are.
Value outputs_by_batch(Builder& build, const Node& node, Value lhs, Value rhs) {
  NamedConvolution c(build, node, lhs, rhs, false);
  DType dtype = node.type().dtype;
  Ints order{c.feature_axis}, kernel_order{c.in_axis, c.out_axis}, places(c.windows.size());
  order.insert(order.end(), c.input_spatial.begin(), c.input_spatial.end());
  order.push_back(c.batch_axis);
  kernel_order.insert(kernel_order.end(), c.kernel_spatial.begin(), c.kernel_spatial.end());
  Dim window = 1, count = 1;
  bool is_plain = c.features == 1 && c.batch.is_static() && c.outputs.is_static() && c.windows.size() <= 2 &&
                  std::ranges::is_sorted(kernel_order);
  for (const WindowDim& w : c.windows) {
    window = window * w.size;
    count = count * w.places();
    is_plain &=
        w.base_dilation == 1 && !w.reversed && w.size.is_static() && w.extent.is_static() && w.places().is_static();
  }
  if (!is_plain || (dtype != DType::f32 && dtype != DType::f64) || node.type().count().is(0) ||
      c.x.type().count().is(0))
    return {};
  if (window.value() < least_window || window.value() <= count.value()) return {};
  std::iota(places.begin(), places.end(), 1);
  auto spatial = static_cast<int64_t>(c.windows.size());
  Value x = padded(build, build.transpose(c.x, order), build.scalar(dtype, 0), c.windows, places);
  ViewShape right(order.size());
  right.add(spatial + 1, c.groups, NamedConvolution::group_stride(c.batch));
  right.add(0, c.channels, 1);
  for (int64_t i = 0; i < spatial; ++i)
    right.add(1 + i, c.windows[static_cast<size_t>(i)].size, c.windows[static_cast<size_t>(i)].window_dilation);
  for (int64_t i = 0; i < spatial; ++i)
    right.add(1 + i, c.windows[static_cast<size_t>(i)].places(), c.windows[static_cast<size_t>(i)].stride);
  right.add(spatial + 1, c.batch, 1);
  Dims dims{c.channels, Dim(c.groups), c.outputs}, result{Dim(c.groups) * c.outputs};
  Ints turned{1, 2, 0}, left_sum, right_sum, permutation;
  for (int64_t i = 0; i < spatial; ++i) turned.push_back(3 + i);
  for (const WindowDim& w : c.windows) dims.push_back(w.size), result.push_back(w.places());
  for (int64_t i = 0; i <= spatial; ++i) left_sum.push_back(2 + i), right_sum.push_back(1 + i);
  result.push_back(c.batch);
  Value kernel = build.transpose(build.reshape(c.kernel, dims), turned);
  Value product = build(Op::dot_general, {kernel, right.as_view(build, x)},
                        {{Attr::lhs_batching_dimensions, Ints{0}},
                         {Attr::rhs_batching_dimensions, Ints{0}},
                         {Attr::lhs_contracting_dimensions, left_sum},
                         {Attr::rhs_contracting_dimensions, right_sum}});
  for (int64_t axis = 0; axis < spatial + 2; ++axis) {
    if (axis == axis_of(node, Attr::output_batch_dimension)) permutation.push_back(spatial + 1);
    if (axis == axis_of(node, Attr::output_feature_dimension)) permutation.push_back(0);
    for (int64_t i = 0; i < spatial; ++i)
      if (c.output_spatial[static_cast<size_t>(i)] == axis) permutation.push_back(1 + i);
  }
  return build.transpose(build.reshape(product, result), permutation);
}

// Channels last, in place: (batch, places…, window…, channels) times (window…, channels, outputs), where
// product_of_windows takes them.
Value windows_times_kernel(Builder& build, const Node& node, Value lhs, Value rhs) {
  NamedConvolution c(build, node, lhs, rhs);
  auto spatial = static_cast<int64_t>(c.windows.size());
  Ints order{c.batch_axis}, places(c.windows.size()), left_sum, right_sum, permutation(c.windows.size() + 2);
  order.insert(order.end(), c.input_spatial.begin(), c.input_spatial.end());
  order.push_back(c.feature_axis);
  std::iota(places.begin(), places.end(), 1);
  Value x = padded(build, transposed(build, lhs, order), build.scalar(lhs.type().dtype, 0), c.windows, places);
  ViewShape left(order.size()), right(order.size());
  left.add(0, c.batch, 1);
  for (size_t i = 0; i < c.windows.size(); ++i) left.add(places[i], c.windows[i].places(), c.windows[i].stride);
  for (size_t i = 0; i < c.windows.size(); ++i) left.add(places[i], c.windows[i].size, c.windows[i].window_dilation);
  left.add(spatial + 1, c.channels, 1);
  c.add_kernel_places(right);
  right.add(c.in_axis, c.channels, 1);
  right.add(c.out_axis, c.outputs, 1);
  for (int64_t i = 0; i <= spatial; ++i) left_sum.push_back(1 + spatial + i), right_sum.push_back(i);
  Value windows = left.as_view(build, x), kernel = right.as_view(build, rhs);
  Value plain = build(Op::dot_general, {windows, kernel},
                      {{Attr::lhs_batching_dimensions, Ints{}},
                       {Attr::rhs_batching_dimensions, Ints{}},
                       {Attr::lhs_contracting_dimensions, left_sum},
                       {Attr::rhs_contracting_dimensions, right_sum}});
  Value product = product_of_windows(build, Node(plain.node()), windows, kernel);
  if (!product) return {};
  permutation[static_cast<size_t>(axis_of(node, Attr::output_batch_dimension))] = 0;
  permutation[static_cast<size_t>(axis_of(node, Attr::output_feature_dimension))] = spatial + 1;
  for (size_t i = 0; i < c.windows.size(); ++i) permutation[static_cast<size_t>(c.output_spatial[i])] = places[i];
  return transposed(build, product, permutation);
}

}  // namespace

Value convolution_as_dot(Builder& build, const Node& node, Value lhs, Value rhs) {
  const Ints &spatial = node.ints(Attr::input_spatial_dimensions),
             *holes = node.attrs.find(Attr::lhs_dilation) ? &node.ints(Attr::lhs_dilation) : nullptr;
  bool channels_first = !spatial.empty(),
       is_spread = holes && std::ranges::any_of(*holes, [](int64_t by) { return by > 1; });
  for (int64_t axis : spatial) channels_first &= axis_of(node, Attr::input_feature_dimension) < axis;
  if (!is_spread)
    if (Value product = outputs_by_batch(build, node, lhs, rhs)) return product;
  if (channels_first && is_spread)
    if (Value product = product_by_phases(build, node, lhs, rhs)) return product;
  bool is_whole = axis_of(node, Attr::feature_group_count) * axis_of(node, Attr::batch_group_count) == 1;
  if (is_whole && may_read_windows(node) && lhs.type().dtype == node.type().dtype &&
      rhs.type().dtype == node.type().dtype)
    if (Value dot = windows_times_kernel(build, node, lhs, rhs)) return dot;
  NamedConvolution c(build, node, lhs, rhs);
  if (Value sums = sum_over_windows(build, node, c)) return sums;
  if (!channels_first) return places_by_outputs(build, c);
  Value product = outputs_by_windows(build, node, c);
  return product ? product : outputs_by_places(build, c);
}

std::vector<Value> window_as_reduce(Builder& build, const Node& node, const std::vector<Value>& operands) {
  size_t count = operands.size() / 2, rank = operands[0].type().dims.size();
  std::vector<WindowDim> windows = windows_of(operands[0].type().dims, node.attrs);
  Ints axes, reduced;
  ViewShape view(rank);
  // Window dimensions come first: the loop over places stays innermost.
  for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < rank; ++i) {
    if (windows[i].size.is(1)) continue;
    reduced.push_back(static_cast<int64_t>(view.dims.size()));
    view.add(static_cast<int64_t>(i), windows[i].size, windows[i].window_dilation);
  }
  if (reduced.empty()) reduced.push_back(0), view.add(-1, 1, 0);
  for (size_t i = 0; i < rank; ++i) view.add(static_cast<int64_t>(i), windows[i].places(), windows[i].stride);
  std::vector<Value> arguments;
  for (size_t k = 0; k < count; ++k)
    arguments.push_back(view.of(build, padded(build, operands[k], operands[count + k], windows, axes)));
  arguments.insert(arguments.end(), operands.begin() + static_cast<std::ptrdiff_t>(count), operands.end());
  return with_results(build, build.call(Op::reduce, arguments, {{Attr::dimensions, reduced}}, node.regions));
}

}  // namespace weft
