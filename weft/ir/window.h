// Windows that slide over padded and dilated dimensions: what reduce_window, select_and_scatter and convolution share.
#pragma once

#include <optional>

#include "weft/ir/graph.h"

namespace weft {

// One dimension of a sliding window; StableHLO's attribute names.
struct WindowDim {
  Dim extent = 1;  // of the operand
  Dim size = 1;    // of the window
  int64_t stride = 1;
  int64_t base_dilation = 1, window_dilation = 1;
  Dim low = 0, high = 0;  // padding
  bool reversed = false;

  // Elements of the operand with base dilation and padding.
  Dim padded() const;
  // How many places the window takes.
  Dim places() const;
  // Where element `element` of the window at `place` lies in the operand; -1 in padding and holes. Static extents.
  int64_t source(int64_t place, int64_t element) const;
};

// The windows of a reduce_window or select_and_scatter over the dims of `x`.
std::vector<WindowDim> windows_of(const Dims& x, const Attrs& attrs);
// The spatial windows of a convolution.
std::vector<WindowDim> convolution_windows(const Type& lhs, const Type& rhs, const Attrs& attrs);
// Whether a reduce_window combines each element with all before it (or after it: reversed) along one dimension, from
// initial values that change nothing in the padding.
struct Scan {
  size_t axis;
  bool reversed;
};
std::optional<Scan> scan_of(const Node& node);
// What a reduce_window gives, where it is one for these operands; nothing where it is not.
std::optional<std::vector<Literal>> eval_as_scan(const Node& node, std::span<const Literal> operands);
// Checks lengths and signs of the window attributes. Error(type).
void require_windows(const Call& call, size_t rank);

}  // namespace weft
