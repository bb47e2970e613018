// Convolutions as products: what their forms share.
#pragma once

#include <vector>

#include "weft/ir/builder.h"
#include "weft/ir/window.h"
#include "weft/kernel/prepare.h"

namespace weft {

// A view under construction: result dimensions are added one by one.
struct ViewShape {
  Dims dims, start;
  Ints axes, strides;
  explicit ViewShape(size_t rank) : start(rank, Dim(0)) {}
  void add(int64_t axis, Dim extent, int64_t stride) {
    dims.push_back(std::move(extent));
    axes.push_back(axis);
    strides.push_back(stride);
  }
  // Whether the view is all of the operand in its own order.
  bool is_whole(const Dims& extents) const {
    size_t next = 0;
    auto skip_units = [&] {
      for (; next < extents.size() && extents[next].is(1); ++next)
        if (!start[next].is(0)) return;
    };
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].is(1)) continue;
      skip_units();
      if (next >= extents.size() || axes[i] != static_cast<int64_t>(next) || strides[i] != 1 ||
          !(dims[i] == extents[next]) || !start[next].is(0))
        return false;
      ++next;
    }
    skip_units();
    return next == extents.size();
  }
  Value of(Builder& build, Value x) const {
    return is_whole(x.type().dims) ? build.reshape(x, dims) : as_view(build, x);
  }
  Value as_view(Builder& build, Value x) const {
    return build(Op::strided_view, {x},
                 {{Attr::dims, dims}, {Attr::axes, axes}, {Attr::strides, strides}, {Attr::start_indices, start}});
  }
};

// The operand with padding and holes between elements, for the windows of these axes.
Value padded(Builder& build, Value x, Value filling, const std::vector<WindowDim>& windows, const Ints& axes);

inline int64_t axis_of(const Node& node, Attr attr) { return node.attrs.integer(attr); }

// A convolution by name: operands padded and of the result's type, extents and axes.
struct NamedConvolution {
  const Node& node;
  std::vector<WindowDim> windows;
  Ints input_spatial, kernel_spatial, output_spatial;
  int64_t features, batches, groups, batch_axis, feature_axis, in_axis, out_axis;
  Value x, kernel;
  Dim channels, outputs, batch;
  Dims starts;  // of the windows in x

  NamedConvolution(Builder& build, const Node& call, Value lhs, Value rhs, bool pads = true)
      : node(call),
        windows(convolution_windows(lhs.type(), rhs.type(), call.attrs)),
        input_spatial(call.ints(Attr::input_spatial_dimensions)),
        kernel_spatial(call.ints(Attr::kernel_spatial_dimensions)),
        output_spatial(call.ints(Attr::output_spatial_dimensions)),
        features(axis_of(call, Attr::feature_group_count)),
        batches(axis_of(call, Attr::batch_group_count)),
        groups(features * batches),
        batch_axis(axis_of(call, Attr::input_batch_dimension)),
        feature_axis(axis_of(call, Attr::input_feature_dimension)),
        in_axis(axis_of(call, Attr::kernel_input_feature_dimension)),
        out_axis(axis_of(call, Attr::kernel_output_feature_dimension)) {
    DType dtype = call.type().dtype;
    kernel = build.convert(rhs, dtype);
    x = build.convert(lhs, dtype);
    if (pads) x = padded(build, x, build.scalar(dtype, 0), windows, input_spatial);
    starts.resize(windows.size(), Dim(0));
    channels = rhs.type().dims[static_cast<size_t>(in_axis)];
    outputs = floordiv(rhs.type().dims[static_cast<size_t>(out_axis)], Dim(groups));
    batch = floordiv(lhs.type().dims[static_cast<size_t>(batch_axis)], Dim(batches));
  }

  static int64_t group_stride(const Dim& extent) { return extent.static_value().value_or(1); }

  // The groups and batches of the input.
  ViewShape input() const {
    ViewShape view(x.type().dims.size());
    bool by_feature = features > 1;
    view.add(by_feature ? feature_axis : batch_axis, groups, by_feature ? group_stride(channels) : group_stride(batch));
    view.add(batch_axis, batch, 1);
    return view;
  }
  void add_places(ViewShape& view) const {
    for (size_t i = 0; i < windows.size(); ++i) view.add(input_spatial[i], windows[i].places(), windows[i].stride);
  }
  void add_window(ViewShape& view) const {
    view.add(feature_axis, channels, 1);
    for (size_t i = 0; i < windows.size(); ++i) view.add(input_spatial[i], windows[i].size, windows[i].window_dilation);
  }
  void add_kernel_window(ViewShape& view) const {
    view.add(in_axis, channels, 1);
    add_kernel_places(view);
  }
  void add_kernel_places(ViewShape& view) const {
    for (size_t i = 0; i < windows.size(); ++i) {
      view.add(kernel_spatial[i], windows[i].size, windows[i].reversed ? -1 : 1);
      if (windows[i].reversed) view.start[static_cast<size_t>(kernel_spatial[i])] = windows[i].size - Dim(1);
    }
  }
  Dim window_count() const {
    Dim count = channels;
    for (const WindowDim& window : windows) count = count * window.size;
    return count;
  }
  Dims places() const {
    Dims result;
    for (const WindowDim& window : windows) result.push_back(window.places());
    return result;
  }

  // The result's order of (group, batch, …), where places and outputs begin at these dimensions.
  Value arranged(Builder& build, Value product, int64_t first_place, int64_t output) const {
    Ints permutation;
    auto rank = static_cast<int64_t>(windows.size()) + 2;
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (axis == axis_of(node, Attr::output_batch_dimension)) permutation.push_back(1);
      if (axis == axis_of(node, Attr::output_feature_dimension)) {
        permutation.push_back(0);
        permutation.push_back(output);
      }
      for (size_t i = 0; i < windows.size(); ++i)
        if (output_spatial[i] == axis) permutation.push_back(first_place + static_cast<int64_t>(i));
    }
    return transposed_as(build, product, permutation, node.type().dims);
  }
};

// Channels first, in place: (batch, group, outputs, channels, window…) times (batch, group, channels, window…, places),
// which is packed from where it lies: (batch, group, outputs, places…), or without groups. Nothing where the kernel is
// not dense.
Value product_by_windows(Builder& build, const NamedConvolution& c);
// The result's order of (batch, group, outputs, places…), or without groups.
Value in_order(Builder& build, const NamedConvolution& c, const Node& node, Value product);

// A transposed convolution as products of the phases of its places; nothing where they are too many, or not fixed.
Value product_by_phases(Builder& build, const Node& node, Value lhs, Value rhs);

}  // namespace weft
