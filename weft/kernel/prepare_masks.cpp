// Masks above the diagonal of attention's scores: how far behind it the columns lie that count.
#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/kernel/prepare.h"

namespace weft {
namespace {

class MaskReader {
 public:
  explicit MaskReader(const LabelsBelow& below) : below_(below) {}

  static std::optional<double> splat_number(Value value) {
    const Node* node = &value.node();
    while (node->op == Op::broadcast_in_dim || node->op == Op::reshape || node->op == Op::convert)
      node = &node->operand(0).node();
    if (node->op != Op::constant || node->attrs.literal(Attr::value).count() != 1 ||
        node->attrs.literal(Attr::value).is_live())
      return {};
    return node->attrs.literal(Attr::value).as_double(0);
  }

  // Below any score by more than exp can tell: -1e4, say, may be above what a row sees.
  static bool is_far_below(Value value) { return splat_number(value).value_or(0) <= -1e8; }

  // select(mask, scores, far below), or the other way round.
  std::optional<int64_t> of(const Node& node, const Labels& labels) const {
    if (node.op != Op::select) return {};
    bool inverted = is_far_below(node.operand(1));
    if (!inverted && !is_far_below(node.operand(2))) return {};
    // A row of nothing but negative infinities is NaN, however many columns of it are read; of other numbers it is
    // their mean.
    bool may_hide_rows = splat_number(node.operand(inverted ? 1 : 2)) == -std::numeric_limits<double>::infinity();
    return distance(node.operand(0), below_(node, labels, 0), inverted, may_hide_rows);
  }

 private:
  // Of a mask, true (or false, if `inverted`) where scores count.
  std::optional<int64_t> distance(Value value, Labels own, bool inverted, bool may_hide_rows, int depth = 8) const {
    const Node* mask = &value.node();
    while (mask->op == Op::not_ || mask->op == Op::broadcast_in_dim ||
           (mask->op == Op::reshape && unit_reshape(*mask)) || is_choice_of_truth(*mask)) {
      inverted ^= mask->op == Op::not_;
      own = below_(*mask, own, 0);
      mask = &mask->operand(0).node();
    }
    if (mask->op == Op::constant) return literal_distance(*mask, own, inverted);
    if (mask->op == (inverted ? Op::or_ : Op::and_) && may_hide_rows && depth > 0) {
      // What either hides: sliding windows, say, or what is known of the columns besides.
      std::optional<int64_t> one = distance(mask->operand(0), below_(*mask, own, 0), inverted, true, depth - 1);
      std::optional<int64_t> other = distance(mask->operand(1), below_(*mask, own, 1), inverted, true, depth - 1);
      return one && other ? std::min(*one, *other) : one ? one : other;
    }
    std::optional<int64_t> found = mask->op == Op::compare ? compared_distance(*mask, own, inverted) : std::nullopt;
    // Behind a lower diagonal the first rows see nothing, and count what is masked.
    return found.value_or(-1) >= 0 ? found : std::nullopt;
  }

  std::optional<int64_t> compared_distance(const Node& mask, const Labels& labels, bool inverted) const {
    std::string_view direction = mask.attrs.text(Attr::comparison_direction);
    if (inverted)
      direction = direction == "GE"   ? "LT"
                  : direction == "GT" ? "LE"
                  : direction == "LE" ? "GT"
                  : direction == "LT" ? "GE"
                                      : "";
    auto at = [&](size_t i, int wanted) { return position(mask.operand(i), labels, wanted); };
    if (direction == "GE" || direction == "GT") {
      std::optional<int64_t> row = at(0, row_label), column = at(1, column_label);
      if (row && column) return *row - *column - (direction == "GT");
    } else if (direction == "LE" || direction == "LT") {
      std::optional<int64_t> column = at(0, column_label), row = at(1, row_label);
      if (row && column) return *row - *column - (direction == "LT");
    }
    return {};
  }

  // select(mask, true, false)
  static bool is_choice_of_truth(const Node& node) {
    return node.op == Op::select && is_bool(node.type().dtype) && splat_number(node.operand(1)) == 1.0 &&
           splat_number(node.operand(2)) == 0.0;
  }

  // c of index + c, where the value is that along the rows (or columns).
  std::optional<int64_t> position(Value value, Labels labels, int wanted) const {
    int64_t distance = 0;
    for (const Node* node = &value.node();; node = &node->operand(0).node()) {
      if (node->op == Op::iota) {
        if (labels[static_cast<size_t>(node->attrs.integer(Attr::dimension))] != wanted) return {};
        return distance;
      }
      if (node->op == Op::add || node->op == Op::subtract) {
        std::optional<double> number = splat_number(node->operand(1));
        if (!number || *number != std::floor(*number)) return {};
        distance += static_cast<int64_t>(node->op == Op::add ? *number : -*number);
      } else if (node->op != Op::broadcast_in_dim && !is_widening(*node) &&
                 !(node->op == Op::reshape && unit_reshape(*node))) {
        return {};
      }
      labels = below_(*node, labels, 0);
    }
  }

  // How far behind the diagonal the last true column of a row lies at most; nothing where a row has none.
  std::optional<int64_t> literal_distance(const Node& node, const Labels& labels, bool inverted) const {
    const Literal& literal = node.attrs.literal(Attr::value);
    Ints dims = literal.type().static_dims();
    if (literal.is_live() || dims.size() < 2 || labels[dims.size() - 2] != row_label || labels.back() != column_label)
      return {};
    int64_t rows = dims[dims.size() - 2], columns = dims.back(), count = literal.count(), distance = -rows;
    for (int64_t row = 0; columns > 0 && row * columns < count; ++row) {
      int64_t last = columns - 1;
      while (last >= 0 && (literal.as_int(row * columns + last) != 0) == inverted) --last;
      if (last < 0) return {};
      distance = std::max(distance, last - row % rows);
    }
    return distance;
  }

  const LabelsBelow& below_;
};

}  // namespace

std::optional<int64_t> causal_distance(const Node& masked, const Labels& labels, const LabelsBelow& below) {
  return MaskReader(below).of(masked, labels);
}

}  // namespace weft
