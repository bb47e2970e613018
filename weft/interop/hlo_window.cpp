// Rules of sliding windows, factorisations and Fourier transforms; field numbers are those of hlo.proto and
// xla_data.proto.
#include <algorithm>

#include "weft/interop/hlo_math.h"
#include "weft/ir/window.h"

namespace weft {
namespace {

constexpr uint32_t window_field = 15, convolution_field = 16, fft_type_field = 31, fft_length_field = 32,
                   feature_groups_field = 50, batch_groups_field = 58, triangular_field = 59, cholesky_field = 62;

// What a window does, for each dimension that it moves along.
struct Window {
  Ints size, stride, padding, base_dilation, window_dilation, reversal;
};

// xla.Window.
Message window_message(const Window& window) {
  Message message;
  for (size_t i = 0; i < window.size.size(); ++i) {
    Message dimension;
    dimension.number(1, window.size[i]);
    dimension.number(2, window.stride[i]);
    dimension.number(3, window.padding[2 * i]);
    dimension.number(4, window.padding[2 * i + 1]);
    dimension.number(5, window.window_dilation[i]);
    dimension.number(6, window.base_dilation[i]);
    dimension.number(7, window.reversal[i]);
    message.message(1, dimension);
  }
  return message;
}

Window window_of(const Attrs& attrs, size_t rank) {
  return {attrs.ints_or(Attr::window_dimensions, rank, 1), attrs.ints_or(Attr::window_strides, rank, 1),
          attrs.ints_or(Attr::padding, 2 * rank, 0),       attrs.ints_or(Attr::base_dilations, rank, 1),
          attrs.ints_or(Attr::window_dilations, rank, 1),  Ints(rank)};
}

Window convolution_window(const Attrs& attrs, const Ints& kernel) {
  const Ints& spatial = attrs.ints(Attr::kernel_spatial_dimensions);
  size_t rank = spatial.size();
  Ints size;
  for (int64_t axis : spatial) size.push_back(kernel[static_cast<size_t>(axis)]);
  return {size,
          attrs.ints_or(Attr::window_strides, rank, 1),
          attrs.ints_or(Attr::padding, 2 * rank, 0),
          attrs.ints_or(Attr::lhs_dilation, rank, 1),
          attrs.ints_or(Attr::rhs_dilation, rank, 1),
          attrs.ints_or(Attr::window_reversal, rank, 0)};
}

}  // namespace

HloValues write_convolution(HloComputation& hlo, const Node& node, const HloValues& operands) {
  const Attrs& a = node.attrs;
  Message fields, numbers;
  numbers.number(3, a.integer(Attr::kernel_input_feature_dimension));
  numbers.number(4, a.integer(Attr::kernel_output_feature_dimension));
  numbers.numbers(6, a.ints(Attr::kernel_spatial_dimensions));
  numbers.number(7, a.integer(Attr::input_batch_dimension));
  numbers.number(8, a.integer(Attr::input_feature_dimension));
  numbers.number(9, a.integer(Attr::output_batch_dimension));
  numbers.number(10, a.integer(Attr::output_feature_dimension));
  numbers.numbers(11, a.ints(Attr::input_spatial_dimensions));
  numbers.numbers(12, a.ints(Attr::output_spatial_dimensions));
  fields.message(window_field, window_message(convolution_window(a, static_extents(operands[1].type.dims))));
  fields.message(convolution_field, numbers);
  fields.number(feature_groups_field, a.integer(Attr::feature_group_count));
  fields.number(batch_groups_field, a.integer(Attr::batch_group_count));
  fields.message(hlo_precision, highest_precision());
  return write_fields(hlo, node, operands, fields);
}

HloValues write_reduce_window(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  const Dims& dims = operands[0].type.dims;
  Window window = window_of(node.attrs, dims.size());
  // One over all elements that there may be is one over those that there are.
  if (std::optional<Scan> scan = scan_of(node)) {
    int64_t size = std::max<int64_t>(dims[scan->axis].value(), 1);
    window.size[scan->axis] = size;
    window.padding[2 * scan->axis + (scan->reversed ? 1 : 0)] = size - 1;
  }
  fields.message(window_field, window_message(window));
  fields.numbers(hlo_called, Ints{hlo.region(0).id});
  return write_fields(hlo, node, operands, fields);
}

HloValues write_select_and_scatter(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  fields.message(window_field, window_message(window_of(node.attrs, operands[0].type.dims.size())));
  int64_t select = hlo.region(0).id, scatter = hlo.region(1).id;
  fields.numbers(hlo_called, Ints{select, scatter});
  return write_fields(hlo, node, operands, fields);
}

// What HLO leaves in the other triangle is unspecified: zeros go there.
HloValues write_cholesky(HloComputation& hlo, const Node& node, const HloValues& operands) {
  bool lower = node.attrs.flag(Attr::lower);
  Message fields, options;
  options.number(1, lower);
  fields.message(cholesky_field, options);
  HloNumber factor{&hlo, write_fields(hlo, node, operands, fields)[0]};
  Type places{DType::i32, node.type().dims};
  auto along = [&](int64_t dimension) {
    Message iota;
    iota.numbers(hlo_dimensions, Ints{dimension});
    return HloNumber{&hlo, hlo.add("iota", places, {}, iota)};
  };
  int64_t rank = node.type().rank();
  HloNumber row = along(rank - 2), column = along(rank - 1);
  return {select(compare(lower ? "GE" : "LE", row, column), factor, factor.of(0)).value};
}

HloValues write_triangular_solve(HloComputation& hlo, const Node& node, const HloValues& operands) {
  const std::string& transpose = node.attrs.text(Attr::transpose_a);
  Message fields, options;
  options.number(1, node.attrs.flag(Attr::left_side));
  options.number(2, node.attrs.flag(Attr::lower));
  options.number(3, node.attrs.flag(Attr::unit_diagonal));
  options.number(4, transpose == "ADJOINT" ? 3 : transpose == "TRANSPOSE" ? 2 : 1);
  fields.message(triangular_field, options);
  return write_fields(hlo, node, operands, fields);
}

HloValues write_fft(HloComputation& hlo, const Node& node, const HloValues& operands) {
  const std::string& type = node.attrs.text(Attr::fft_type);
  Message fields;
  fields.number(fft_type_field, type == "IRFFT" ? 3 : type == "RFFT" ? 2 : type == "IFFT" ? 1 : 0);
  fields.numbers(fft_length_field, node.ints(Attr::fft_length));
  return write_fields(hlo, node, operands, fields);
}

}  // namespace weft
