// Reductions and products over sliding windows.
#include "weft/ir/window.h"

#include <complex>

#include "weft/ir/scalar_body.h"
#include "weft/ops/infer.h"
#include "weft/ops/product_sum.h"
#include "weft/ops/walk.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

Dim dilated(const Dim& extent, int64_t dilation) {
  if (dilation == 1) return extent;
  if (auto fixed = extent.static_value())
    return *fixed == 0 ? 0 : checked_add(checked_multiply(*fixed - 1, dilation), 1);
  return max((extent - Dim(1)) * Dim(dilation) + Dim(1), 0);
}

Types infer_reduce_window(const Call& call) {
  call.require(!call.operands.empty() && call.operands.size() % 2 == 0, "operands",
               "takes inputs and as many initial values");
  size_t count = call.operands.size() / 2;
  const Type& x = call.operand(0);
  require_windows(call, x.dims.size());
  Dims dims;
  for (const WindowDim& window : windows_of(x.dims, call.attrs)) dims.push_back(window.places());
  Types results;
  for (size_t i = 0; i < count; ++i) {
    const Type &input = call.operand(i), &init = call.operand(count + i);
    call.require(input.dims == x.dims, "c2", "inputs must agree in shape, got ", x, " and ", input);
    call.require(init == Type{input.dtype, {}}, "c3", "the initial value must be a scalar of ", name(input.dtype),
                 ", got ", init);
    results.push_back({input.dtype, dims});
  }
  call.require(combines_scalars(*call.regions[0], call.operands.first(count)), "c13",
               "the body must take two scalars of each input to one of each");
  return results;
}

// The offset in the operand of an element of the window at `place`; -1 outside.
int64_t source_of(const std::vector<WindowDim>& windows, const Ints& strides, const Ints& place, const Ints& element) {
  int64_t at = 0;
  for (size_t d = 0; d < windows.size(); ++d) {
    int64_t source = windows[d].source(place[d], element[d]);
    if (source < 0) return -1;
    at += source * strides[d];
  }
  return at;
}

Ints sizes_of(const std::vector<WindowDim>& windows) {
  Ints sizes;
  for (const WindowDim& window : windows) sizes.push_back(window.size.value());
  return sizes;
}

Literals eval_reduce_window(const Node& node, std::span<const Literal> operands) {
  if (std::optional<Literals> results = eval_as_scan(node, operands)) return std::move(*results);
  size_t count = operands.size() / 2;
  std::vector<WindowDim> windows = windows_of(operands[0].type().dims, node.attrs);
  Ints sizes = sizes_of(windows), strides = row_major_strides(operands[0].type().static_dims());
  ScalarBody body(*node.regions[0]);
  Literals results;
  for (const Type& type : node.types) results.emplace_back(type);
  std::vector<Element> arguments(2 * count);
  int64_t at = 0;
  for_each_index(node.type().static_dims(), [&](const Ints& place) {
    std::vector<Element> total;
    for (size_t i = 0; i < count; ++i) total.push_back(element_at(operands[count + i], 0));
    for_each_index(sizes, [&](const Ints& element) {
      int64_t source = source_of(windows, strides, place, element);
      for (size_t i = 0; i < count; ++i) {
        arguments[i] = total[i];
        // Padding and holes hold the initial value.
        arguments[count + i] = source < 0 ? element_at(operands[count + i], 0) : element_at(operands[i], source);
      }
      total = body(arguments);
    });
    for (size_t i = 0; i < count; ++i) set_element(results[i], at, total[i]);
    ++at;
  });
  return results;
}

Types infer_select_and_scatter(const Call& call) {
  const Type &x = call.operand(0), &source = call.operand(1), &init = call.operand(2);
  require_windows(call, x.dims.size());
  call.require(source.dtype == x.dtype && init == Type{x.dtype, {}}, "c3", "source and initial value must be of ",
               name(x.dtype), ", got ", source, " and ", init);
  Dims dims;
  for (const WindowDim& window : windows_of(x.dims, call.attrs)) dims.push_back(window.places());
  call.require(source.dims == dims, "c2", "the source must have the dims ", dims, ", got ", source);
  const Graph &select = *call.regions[0], &scatter = *call.regions[1];
  call.require(takes_scalars(select, call.operands.first(1)) && select.outputs().size() == 1 &&
                   select.outputs()[0].value.type() == Type{DType::boolean, {}},
               "c9", "the selection must take two scalars of ", name(x.dtype), " to a boolean");
  call.require(combines_scalars(scatter, call.operands.first(1)), "c10", "the scatter body must take two scalars of ",
               name(x.dtype), " to one");
  return {x};
}

Literals eval_select_and_scatter(const Node& node, std::span<const Literal> operands) {
  const Literal &x = operands[0], &source = operands[1];
  std::vector<WindowDim> windows = windows_of(x.type().dims, node.attrs);
  Ints sizes = sizes_of(windows), strides = row_major_strides(x.type().static_dims());
  ScalarBody select(*node.regions[0]), scatter(*node.regions[1]);
  Literal result(node.type());
  for (int64_t i = 0; i < result.count(); ++i) copy_element(result, i, operands[2], 0);
  int64_t at = 0;
  for_each_index(source.type().static_dims(), [&](const Ints& place) {
    int64_t chosen = -1;
    for_each_index(sizes, [&](const Ints& element) {
      int64_t candidate = source_of(windows, strides, place, element);
      if (candidate < 0) return;
      if (chosen < 0) {
        chosen = candidate;
        return;
      }
      Element pair[2] = {element_at(x, chosen), element_at(x, candidate)};
      if (select.one(pair).i == 0) chosen = candidate;
    });
    if (chosen >= 0) {
      Element pair[2] = {element_at(result, chosen), element_at(source, at)};
      set_element(result, chosen, scatter.one(pair));
    }
    ++at;
  });
  return {result};
}

size_t at_axis(const Attrs& attrs, Attr attr) { return static_cast<size_t>(attrs.integer(attr)); }

Types infer_convolution(const Call& call) {
  const Type &lhs = call.operand(0), &rhs = call.operand(1);
  const Attrs& a = call.attrs;
  int64_t rank = lhs.rank();
  call.require(rank == rhs.rank() && rank >= 2, "c1", "operands must be of one rank from 2, got ", lhs, " and ", rhs);
  auto axes_of = [&](Attr first, Attr second, Attr spatial) {
    Ints axes = a.ints(spatial);
    axes.push_back(a.integer(first));
    axes.push_back(a.integer(second));
    call.require(static_cast<int64_t>(axes.size()) == rank && are_axes(axes, rank), "c13",
                 "dimension numbers must name every dimension of ", lhs, " once");
  };
  axes_of(Attr::input_batch_dimension, Attr::input_feature_dimension, Attr::input_spatial_dimensions);
  axes_of(Attr::kernel_input_feature_dimension, Attr::kernel_output_feature_dimension, Attr::kernel_spatial_dimensions);
  axes_of(Attr::output_batch_dimension, Attr::output_feature_dimension, Attr::output_spatial_dimensions);
  auto spatial = static_cast<size_t>(rank - 2);
  for (Attr attr : {Attr::window_strides, Attr::lhs_dilation, Attr::rhs_dilation}) {
    Ints values = a.ints_or(attr, spatial, 1);
    call.require(values.size() == spatial, "c2", name(attr), " needs a number for each spatial dimension, got ",
                 values);
    for (int64_t value : values) call.require(value > 0, "c3", name(attr), " must be positive, got ", values);
  }
  call.require(a.ints_or(Attr::padding, 2 * spatial, 0).size() == 2 * spatial, "c4",
               "padding needs two numbers for each spatial dimension");
  call.require(a.ints_or(Attr::window_reversal, spatial, 0).size() == spatial, "c9",
               "window_reversal needs a flag for each spatial dimension");
  int64_t features = a.integer(Attr::feature_group_count), batches = a.integer(Attr::batch_group_count);
  call.require(features > 0 && batches > 0 && (features == 1 || batches == 1), "c21",
               "group counts must be positive and one of them 1, got ", features, " and ", batches);
  const Dim &channels = lhs.dims[at_axis(a, Attr::input_feature_dimension)],
            &wanted = rhs.dims[at_axis(a, Attr::kernel_input_feature_dimension)];
  call.require(channels == wanted * Dim(features), "c14", "the input has ", channels, " features, the kernel takes ",
               wanted, " in ", features, " groups");
  const Dim &outputs = rhs.dims[at_axis(a, Attr::kernel_output_feature_dimension)],
            &batch = lhs.dims[at_axis(a, Attr::input_batch_dimension)];
  call.require(mod(outputs, Dim(features * batches)).is(0), "c16", "output features ", outputs, " must divide into ",
               features * batches, " groups");
  call.require(mod(batch, Dim(batches)).is(0), "c11", "the batch ", batch, " must divide into ", batches, " groups");
  Type result{a.find(Attr::type) ? a.dtype(Attr::type) : lhs.dtype, Dims(lhs.dims.size(), Dim(0))};
  result.dims[at_axis(a, Attr::output_batch_dimension)] = floordiv(batch, Dim(batches));
  result.dims[at_axis(a, Attr::output_feature_dimension)] = outputs;
  std::vector<WindowDim> windows = convolution_windows(lhs, rhs, a);
  for (size_t i = 0; i < spatial; ++i)
    result.dims[static_cast<size_t>(a.ints(Attr::output_spatial_dimensions)[i])] = windows[i].places();
  return {result};
}

// The offset of (batch, feature, spatial…) in a tensor with these dimension numbers.
struct ConvolutionLayout {
  int64_t batch, feature;
  Ints spatial;
  ConvolutionLayout(const Ints& dims, const Attrs& a, Attr first, Attr second, Attr rest) {
    Ints strides = row_major_strides(dims);
    batch = strides[at_axis(a, first)];
    feature = strides[at_axis(a, second)];
    for (int64_t axis : a.ints(rest)) spatial.push_back(strides[static_cast<size_t>(axis)]);
  }
};

template <class T>
Literal convolved(const Node& node, const Literal& lhs, const Literal& rhs) {
  const Attrs& a = node.attrs;
  std::vector<WindowDim> windows = convolution_windows(lhs.type(), rhs.type(), a);
  ConvolutionLayout input(lhs.type().static_dims(), a, Attr::input_batch_dimension, Attr::input_feature_dimension,
                          Attr::input_spatial_dimensions);
  ConvolutionLayout kernel(rhs.type().static_dims(), a, Attr::kernel_input_feature_dimension,
                           Attr::kernel_output_feature_dimension, Attr::kernel_spatial_dimensions);
  Literal result(node.type());
  Ints dims = node.type().static_dims(), sizes = sizes_of(windows);
  int64_t features = a.integer(Attr::feature_group_count), batches = a.integer(Attr::batch_group_count);
  int64_t channels = rhs.type().dims[at_axis(a, Attr::kernel_input_feature_dimension)].value();
  int64_t outputs = dims[at_axis(a, Attr::output_feature_dimension)],
          batch = dims[at_axis(a, Attr::output_batch_dimension)];
  int64_t at = 0;
  for_each_index(dims, [&](const Ints& index) {
    int64_t n = index[at_axis(a, Attr::output_batch_dimension)], o = index[at_axis(a, Attr::output_feature_dimension)];
    int64_t first = features > 1 ? o / (outputs / features) * channels : 0;
    if (batches > 1) n += o / (outputs / batches) * batch;
    ProductSum<T> sum;
    for_each_index(sizes, [&](const Ints& element) {
      int64_t from = n * input.batch, weight = o * kernel.feature;
      for (size_t d = 0; d < windows.size(); ++d) {
        int64_t source =
            windows[d].source(index[static_cast<size_t>(a.ints(Attr::output_spatial_dimensions)[d])], element[d]);
        if (source < 0) return;
        from += source * input.spatial[d];
        weight += element[d] * kernel.spatial[d];
      }
      for (int64_t c = 0; c < channels; ++c)
        sum.add(factor<T>(lhs, from + (first + c) * input.feature), factor<T>(rhs, weight + c * kernel.batch));
    });
    set_element(result, at++, element_of(node.type().dtype, sum.value()));
  });
  return result;
}

}  // namespace

Dim WindowDim::padded() const { return low + dilated(extent, base_dilation) + high; }

Dim WindowDim::places() const {
  Dim whole = padded(), reach = dilated(size, window_dilation);
  if (whole.is_static() && reach.is_static())
    return whole.value() < reach.value() || whole.value() == 0 ? 0 : (whole.value() - reach.value()) / stride + 1;
  return max(floordiv(whole - reach, Dim(stride)) + Dim(1), 0);
}

int64_t WindowDim::source(int64_t place, int64_t element) const {
  if (reversed) element = size.value() - 1 - element;
  int64_t at = place * stride + element * window_dilation - low.value();
  if (at < 0 || at % base_dilation != 0 || at / base_dilation >= extent.value()) return -1;
  return at / base_dilation;
}

std::vector<WindowDim> windows_of(const Dims& x, const Attrs& attrs) {
  size_t rank = x.size();
  Ints size = attrs.ints_or(Attr::window_dimensions, rank, 1), stride = attrs.ints_or(Attr::window_strides, rank, 1),
       base = attrs.ints_or(Attr::base_dilations, rank, 1), window = attrs.ints_or(Attr::window_dilations, rank, 1),
       padding = attrs.ints_or(Attr::padding, 2 * rank, 0);
  std::vector<WindowDim> windows;
  for (size_t i = 0; i < rank; ++i)
    windows.push_back({x[i], size[i], stride[i], base[i], window[i], padding[2 * i], padding[2 * i + 1], false});
  return windows;
}

std::vector<WindowDim> convolution_windows(const Type& lhs, const Type& rhs, const Attrs& attrs) {
  const Ints &input = attrs.ints(Attr::input_spatial_dimensions), &kernel = attrs.ints(Attr::kernel_spatial_dimensions);
  size_t rank = input.size();
  Ints stride = attrs.ints_or(Attr::window_strides, rank, 1), base = attrs.ints_or(Attr::lhs_dilation, rank, 1),
       window = attrs.ints_or(Attr::rhs_dilation, rank, 1), padding = attrs.ints_or(Attr::padding, 2 * rank, 0),
       reversal = attrs.ints_or(Attr::window_reversal, rank, 0);
  std::vector<WindowDim> windows;
  for (size_t i = 0; i < rank; ++i)
    windows.push_back({lhs.dims[static_cast<size_t>(input[i])], rhs.dims[static_cast<size_t>(kernel[i])], stride[i],
                       base[i], window[i], padding[2 * i], padding[2 * i + 1], reversal[i] != 0});
  return windows;
}

void require_windows(const Call& call, size_t rank) {
  for (Attr attr : {Attr::window_dimensions, Attr::window_strides, Attr::base_dilations, Attr::window_dilations}) {
    Ints values = call.attrs.ints_or(attr, rank, 1);
    call.require(values.size() == rank, "c4", name(attr), " needs a number for each dimension, got ", values);
    for (int64_t value : values) call.require(value > 0, "c5", name(attr), " must be positive, got ", values);
  }
  call.require(call.attrs.ints_or(Attr::padding, 2 * rank, 0).size() == 2 * rank, "c12",
               "padding needs two numbers for each dimension");
}

OpDef define_reduce_window() {
  return {.doc =
              "Combines the elements of each place of a sliding window by a body, from an initial value, in row-major "
              "order.",
          .operands = -1,
          .attrs = {{Attr::window_dimensions, AttrKind::ints},
                    {Attr::window_strides, AttrKind::ints, true},
                    {Attr::base_dilations, AttrKind::ints, true},
                    {Attr::window_dilations, AttrKind::ints, true},
                    {Attr::padding, AttrKind::ints, true}},
          .regions = 1,
          .infer = infer_reduce_window,
          .eval = eval_reduce_window,
          .names = {.stablehlo = "reduce_window", .hlo = "reduce-window"}};
}

OpDef define_select_and_scatter() {
  return {
      .doc =
          "For each place of a sliding window, combines an element of the source into the element of the window that "
          "the selection prefers.",
      .operands = 3,
      .attrs = {{Attr::window_dimensions, AttrKind::ints, true},
                {Attr::window_strides, AttrKind::ints, true},
                {Attr::padding, AttrKind::ints, true}},
      .regions = 2,
      .infer = infer_select_and_scatter,
      .eval = eval_select_and_scatter,
      .names = {.stablehlo = "select_and_scatter", .hlo = "select-and-scatter"}};
}

OpDef define_convolution() {
  return {.doc =
              "Products of sliding windows of the input with a kernel, summed over the window and the input features "
              "of a group.",
          .operands = 2,
          .attrs = {{Attr::window_strides, AttrKind::ints, true},
                    {Attr::padding, AttrKind::ints, true},
                    {Attr::lhs_dilation, AttrKind::ints, true},
                    {Attr::rhs_dilation, AttrKind::ints, true},
                    {Attr::window_reversal, AttrKind::ints, true},
                    {Attr::input_batch_dimension, AttrKind::integer},
                    {Attr::input_feature_dimension, AttrKind::integer},
                    {Attr::input_spatial_dimensions, AttrKind::ints},
                    {Attr::kernel_input_feature_dimension, AttrKind::integer},
                    {Attr::kernel_output_feature_dimension, AttrKind::integer},
                    {Attr::kernel_spatial_dimensions, AttrKind::ints},
                    {Attr::output_batch_dimension, AttrKind::integer},
                    {Attr::output_feature_dimension, AttrKind::integer},
                    {Attr::output_spatial_dimensions, AttrKind::ints},
                    {Attr::feature_group_count, AttrKind::integer},
                    {Attr::batch_group_count, AttrKind::integer},
                    {Attr::type, AttrKind::dtype, true}},
          .infer = infer_convolution,
          .eval = [](const Node& node, std::span<const Literal> operands) -> Literals {
            const Literal &lhs = operands[0], &rhs = operands[1];
            return {by_product_type(node.type().dtype, lhs.dtype(), rhs.dtype(),
                                    [&](auto type) { return convolved<decltype(type)>(node, lhs, rhs); })};
          },
          .names = {.stablehlo = "convolution", .hlo = "convolution", .aten = "convolution"}};
}

}  // namespace weft
