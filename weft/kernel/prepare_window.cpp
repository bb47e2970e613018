// Sliding windows as strided views.
#include "weft/ir/window.h"

#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// A view under construction: result dimensions are added one by one.
struct View {
  Dims dims, start;
  Ints axes, strides;
  explicit View(size_t rank) : start(rank, Dim(0)) {}
  void add(int64_t axis, Dim extent, int64_t stride) {
    dims.push_back(std::move(extent));
    axes.push_back(axis);
    strides.push_back(stride);
  }
  Value of(Builder& build, Value x) const {
    return build(Op::strided_view, {x}, {{Attr::dims, dims}, {Attr::axes, axes}, {Attr::strides, strides}, {Attr::start_indices, start}});
  }
};

// The operand with padding and holes between elements, for the windows of these axes.
Value padded(Builder& build, Value x, Value filling, const std::vector<WindowDim>& windows, const Ints& axes) {
  size_t rank = x.type().dims.size();
  Dims low(rank, Dim(0)), high(rank, Dim(0));
  Ints interior(rank, 0);
  bool any = false;
  for (size_t i = 0; i < windows.size(); ++i) {
    auto axis = static_cast<size_t>(axes[i]);
    low[axis] = windows[i].low, high[axis] = windows[i].high, interior[axis] = windows[i].base_dilation - 1;
    any |= !low[axis].is(0) || !high[axis].is(0) || interior[axis] != 0;
  }
  if (!any) return x;
  return build(Op::pad, {x, filling}, {{Attr::edge_padding_low, low}, {Attr::edge_padding_high, high}, {Attr::interior_padding, interior}});
}

int64_t axis_of(const Node& node, Attr attr) { return node.attrs.integer(attr); }

}  // namespace

Value convolution_as_dot(Builder& build, const Node& node, Value lhs, Value rhs) {
  std::vector<WindowDim> windows = convolution_windows(lhs.type(), rhs.type(), node.attrs);
  const Ints &input_spatial = node.ints(Attr::input_spatial_dimensions), &kernel_spatial = node.ints(Attr::kernel_spatial_dimensions),
             &output_spatial = node.ints(Attr::output_spatial_dimensions);
  DType dtype = node.type().dtype;
  lhs = build.convert(lhs, dtype), rhs = build.convert(rhs, dtype);
  int64_t features = axis_of(node, Attr::feature_group_count), batches = axis_of(node, Attr::batch_group_count), groups = features * batches;
  int64_t batch_axis = axis_of(node, Attr::input_batch_dimension), feature_axis = axis_of(node, Attr::input_feature_dimension);
  int64_t in_axis = axis_of(node, Attr::kernel_input_feature_dimension), out_axis = axis_of(node, Attr::kernel_output_feature_dimension);
  Dim channels = rhs.type().dims[static_cast<size_t>(in_axis)], outputs = floordiv(rhs.type().dims[static_cast<size_t>(out_axis)], Dim(groups));
  Dim batch = floordiv(lhs.type().dims[static_cast<size_t>(batch_axis)], Dim(batches));
  Value x = padded(build, lhs, build.scalar(dtype, 0), windows, input_spatial);
  // (group, batch, places…, channels, window…) and (group, channels, window…, outputs)
  View left(x.type().dims.size()), right(rhs.type().dims.size());
  bool by_feature = features > 1;
  auto group_stride = [](const Dim& extent) { return extent.static_value().value_or(1); };
  left.add(by_feature ? feature_axis : batch_axis, groups, by_feature ? group_stride(channels) : group_stride(batch));
  left.add(batch_axis, batch, 1);
  for (size_t i = 0; i < windows.size(); ++i) left.add(input_spatial[i], windows[i].places(), windows[i].stride);
  left.add(feature_axis, channels, 1);
  right.add(out_axis, groups, group_stride(outputs));
  right.add(in_axis, channels, 1);
  for (size_t i = 0; i < windows.size(); ++i) {
    left.add(input_spatial[i], windows[i].size, windows[i].window_dilation);
    right.add(kernel_spatial[i], windows[i].size, windows[i].reversed ? -1 : 1);
    if (windows[i].reversed) right.start[static_cast<size_t>(kernel_spatial[i])] = windows[i].size - Dim(1);
  }
  right.add(out_axis, outputs, 1);
  auto spatial = static_cast<int64_t>(windows.size());
  Ints left_sum, right_sum;
  for (int64_t i = 0; i <= spatial; ++i) left_sum.push_back(2 + spatial + i), right_sum.push_back(1 + i);
  Value product = dot_in_kernel_form(build, left.of(build, x), right.of(build, rhs),
                                     {{Attr::lhs_batching_dimensions, Ints{0}}, {Attr::rhs_batching_dimensions, Ints{0}},
                                      {Attr::lhs_contracting_dimensions, left_sum}, {Attr::rhs_contracting_dimensions, right_sum}});
  // group, batch, places…, outputs → the result's order, with group and outputs as one dimension.
  int64_t rank = spatial + 2;
  Ints permutation;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis == axis_of(node, Attr::output_batch_dimension)) permutation.push_back(1);
    if (axis == axis_of(node, Attr::output_feature_dimension)) permutation.push_back(0), permutation.push_back(2 + spatial);
    for (int64_t i = 0; i < spatial; ++i)
      if (output_spatial[static_cast<size_t>(i)] == axis) permutation.push_back(2 + i);
  }
  Dims shape{groups, batch};
  for (const WindowDim& window : windows) shape.push_back(window.places());
  shape.push_back(outputs);
  return build.reshape(build.transpose(build.reshape(product, shape), permutation), node.type().dims);
}

std::vector<Value> window_as_reduce(Builder& build, const Node& node, const std::vector<Value>& operands) {
  size_t count = operands.size() / 2, rank = operands[0].type().dims.size();
  std::vector<WindowDim> windows = windows_of(operands[0].type().dims, node.attrs);
  Ints axes, reduced;
  View view(rank);
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
  for (size_t k = 0; k < count; ++k) arguments.push_back(view.of(build, padded(build, operands[k], operands[count + k], windows, axes)));
  arguments.insert(arguments.end(), operands.begin() + static_cast<std::ptrdiff_t>(count), operands.end());
  return with_results(build, build.call(Op::reduce, arguments, {{Attr::dimensions, reduced}}, node.regions));
}

}  // namespace weft
