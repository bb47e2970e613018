// Windows that reach from one end of a dimension to each of its elements: running totals, once over each line.
#include <algorithm>

#include "weft/ir/scalar_body.h"
#include "weft/ir/window.h"
#include "weft/ops/walk.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

// Whether the initial values combined with themselves, as in padding, are the initial values.
bool keeps_initial(const ScalarBody& body, std::span<const Literal> initial) {
  std::vector<Element> arguments;
  for (int side = 0; side < 2; ++side)
    for (const Literal& value : initial) arguments.push_back(element_at(value, 0));
  std::vector<Element> combined = body(arguments);
  for (size_t i = 0; i < initial.size(); ++i) {
    Literal result(initial[i].type());
    set_element(result, 0, combined[i]);
    if (!std::ranges::equal(result.bytes(), initial[i].bytes())) return false;
  }
  return true;
}

// Whether the order in which the body combines does not matter: it is one op of its two parameters.
bool is_symmetric(const Graph& body) {
  if (body.parameters().size() != 2 || body.outputs().size() != 1) return false;
  const Node& root = body.outputs()[0].value.node();
  bool known = root.op == Op::add || root.op == Op::multiply || root.op == Op::maximum || root.op == Op::minimum ||
               root.op == Op::and_ || root.op == Op::or_ || root.op == Op::xor_;
  return known && root.operand(0).id() != root.operand(1).id() && root.operand(0).node().op == Op::parameter &&
         root.operand(1).node().op == Op::parameter;
}

// The windows of a scan, whatever the initial values are.
std::optional<Scan> scan_windows(const Node& node) {
  std::optional<Scan> scan;
  std::vector<WindowDim> windows = windows_of(node.operand(0).type().dims, node.attrs);
  for (size_t i = 0; i < windows.size(); ++i) {
    const WindowDim& w = windows[i];
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1) return std::nullopt;
    if (w.size.is(1) && w.low.is(0) && w.high.is(0)) continue;
    bool forward = w.low == w.size - Dim(1) && w.high.is(0), backward = w.high == w.size - Dim(1) && w.low.is(0);
    if (scan || w.size.min() < w.extent.max() || (!forward && !backward)) return std::nullopt;
    scan = Scan{i, backward && !forward};
  }
  // A window that grows towards the end is combined from there: another order.
  if (scan && scan->reversed && !is_symmetric(*node.regions[0])) return std::nullopt;
  return scan;
}

// Each line once, from the end that no window begins before.
Literals run_scan(const Scan& scan, const ScalarBody& body, std::span<const Literal> operands) {
  size_t count = operands.size() / 2;
  Literals results;
  for (size_t i = 0; i < count; ++i) results.emplace_back(operands[i].type());
  Ints dims = operands[0].type().static_dims(), strides = row_major_strides(dims), lines = dims;
  int64_t length = dims[scan.axis], stride = strides[scan.axis];
  if (length > 0) lines[scan.axis] = 1;
  std::vector<Element> total, arguments(2 * count);
  for_each_index(lines, [&](const Ints& index) {
    int64_t base = linear(index, strides);
    total.clear();
    for (size_t i = 0; i < count; ++i) total.push_back(element_at(operands[count + i], 0));
    for (int64_t step = 0; step < length; ++step) {
      int64_t at = base + (scan.reversed ? length - 1 - step : step) * stride;
      for (size_t i = 0; i < count; ++i) {
        arguments[i] = total[i];
        arguments[count + i] = element_at(operands[i], at);
      }
      total = body(arguments);
      for (size_t i = 0; i < count; ++i) set_element(results[i], at, total[i]);
    }
  });
  return results;
}

}  // namespace

std::optional<Scan> scan_of(const Node& node) {
  if (node.op != Op::reduce_window) return std::nullopt;
  std::optional<Scan> scan = scan_windows(node);
  if (!scan) return std::nullopt;
  std::vector<Literal> initial;
  for (size_t i = node.operand_count() / 2; i < node.operand_count(); ++i) {
    const Node& value = node.operand(i).node();
    if (value.op != Op::constant) return std::nullopt;
    initial.push_back(value.attrs.literal(Attr::value));
  }
  return keeps_initial(ScalarBody(*node.regions[0]), initial) ? scan : std::nullopt;
}

std::optional<Literals> eval_as_scan(const Node& node, std::span<const Literal> operands) {
  std::optional<Scan> scan = scan_windows(node);
  ScalarBody body(*node.regions[0]);
  if (!scan || !keeps_initial(body, operands.subspan(operands.size() / 2))) return std::nullopt;
  return run_scan(*scan, body, operands);
}

}  // namespace weft
