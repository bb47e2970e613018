// Collectives in the form that is called: one operand, along its first dimension, combined in a way that communicators
// know.
#include <algorithm>

#include "weft/ir/routine_call.h"
#include "weft/ops/collective.h"
#include "weft/ops/infer.h"

namespace weft {
namespace {

constexpr Attr axis_attrs[] = {Attr::all_gather_dim, Attr::scatter_dimension, Attr::split_dimension,
                               Attr::concat_dimension};

Ints to_the_front(int64_t axis, int64_t rank) {
  Ints order{axis};
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) order.push_back(i);
  return order;
}

// Writes a collective with those of that form.
class Former {
 public:
  Former(Builder& build, const Node& node, CollectiveResult result) : build_(build), node_(node), result_(result) {}

  Value form(Value x) {
    if (!reduction_of(node_)) return folded(x);
    const int64_t axis = axis_of(node_);
    const Ints order = to_the_front(axis, std::max<int64_t>(x.type().rank(), 1));
    if (node_.op == Op::all_to_all && node_.attrs.integer(Attr::concat_dimension) != axis)
      return rearranged(call(node_.op, build_.transpose(x, order), axis), axis);
    if (axis == 0) return call(node_.op, x, 0);
    return build_.transpose(call(node_.op, build_.transpose(x, order), axis), inverse(order));
  }

 private:
  // Of an operand whose dimension `axis` stands first.
  Value call(Op op, Value x, int64_t axis) {
    Attrs attrs = node_.attrs;
    for (Attr attr : axis_attrs)
      if (attrs.find(attr)) attrs.set(attr, int64_t{0});
    if (axis != 0) attrs.set(Attr::axis, axis);
    return result_(build_, build_.call(op, {x}, std::move(attrs), node_.regions));
  }

  // The parts that an all_to_all along one dimension gave, one after the other along another.
  Value rearranged(Value x, int64_t split) {
    const int64_t parts = group_size_of(node_.attrs), concat = node_.attrs.integer(Attr::concat_dimension),
                  rank = x.type().rank();
    Dims dims = x.type().dims;
    if (!dims[0].is_static()) return one_by_one(x, split);
    dims[0] = floordiv(dims[0], parts);
    dims.insert(dims.begin(), parts);
    Ints order;
    for (int64_t i = 0; i < rank; ++i) {
      if (i == concat) order.push_back(0);
      order.push_back(i == split ? 1 : i < split ? i + 2 : i + 1);
    }
    Value apart = build_.transpose(build_.reshape(x, std::move(dims)), order);
    Dims whole = apart.type().dims;
    const auto at = static_cast<std::ptrdiff_t>(concat);
    whole[static_cast<size_t>(concat)] = whole[static_cast<size_t>(concat)] * whole[static_cast<size_t>(concat) + 1];
    whole.erase(whole.begin() + at + 1);
    return build_.reshape(apart, std::move(whole));
  }

  // The same where nothing shows that the extent divides.
  Value one_by_one(Value x, int64_t split) {
    const int64_t parts = group_size_of(node_.attrs);
    const Ints back = inverse(to_the_front(split, x.type().rank()));
    const Dim extent = floordiv(x.type().dims[0], parts);
    std::vector<Value> apart;
    for (int64_t i = 0; i < parts; ++i) apart.push_back(build_.transpose(rows(x, extent * Dim(i), extent), back));
    return build_(Op::concatenate, std::move(apart), {{Attr::dimension, node_.attrs.integer(Attr::concat_dimension)}});
  }

  // What ranks have, combined by a body that no communicator knows: from the first rank to the last, each for itself.
  Value folded(Value x) {
    const int64_t parts = group_size_of(node_.attrs);
    const Ints groups = node_.attrs.ints_or(Attr::replica_groups, 1, 0);
    if (parts < 1 || std::ranges::find(groups, -1) != groups.end())
      raise({ErrorKind::unsupported,
             cat(name(node_.op), ": a body of more than one call needs groups of one size that the program names"),
             "collective_body", node_.loc});
    const bool scatters = node_.op == Op::reduce_scatter;
    const int64_t axis = scatters ? axis_of(node_) : 0;
    const Ints order = to_the_front(axis, std::max<int64_t>(x.type().rank(), 1));
    Attrs attrs{{Attr::replica_groups, groups}, {Attr::group_size, parts}};
    Value all;
    if (scatters) {
      attrs.set(Attr::split_dimension, int64_t{0});
      attrs.set(Attr::concat_dimension, int64_t{0});
      attrs.set(Attr::split_count, parts);
      all = result_(build_, build_.call(Op::all_to_all, {build_.transpose(x, order)}, std::move(attrs)));
    } else {
      Dims row = x.type().dims;
      row.insert(row.begin(), 1);
      attrs.set(Attr::all_gather_dim, int64_t{0});
      all = result_(build_, build_.call(Op::all_gather, {build_.reshape(x, std::move(row))}, std::move(attrs)));
    }
    const Dim extent = floordiv(all.type().dims[0], parts);
    Value sum;
    for (int64_t i = 0; i < parts; ++i) {
      Value part = rows(all, extent * Dim(i), extent);
      if (!scatters) part = build_.reshape(part, x.type().dims);
      sum = sum ? combined(sum, part) : part;
    }
    return scatters ? build_.transpose(sum, inverse(order)) : sum;
  }

  Value rows(Value x, const Dim& first, const Dim& count) {
    Dims begin(x.type().dims.size(), 0), end = x.type().dims;
    begin[0] = first;
    end[0] = first + count;
    Ints strides(begin.size(), 1);
    return build_(Op::slice, {x}, {{Attr::start_indices, begin}, {Attr::limit_indices, end}, {Attr::strides, strides}});
  }

  Value combined(Value a, Value b) {
    Builder holder(Level::flat);
    const Type type = a.type();
    const Node& map = holder.call(Op::map, {holder.parameter(type, ""), holder.parameter(type, "")},
                                  {{Attr::dimensions, iota_ints(type.rank())}}, {node_.regions[0]});
    return expand(build_, map, {a, b})[0];
  }

  Builder& build_;
  const Node& node_;
  CollectiveResult result_;
};

}  // namespace

int64_t group_size_of(const Attrs& attrs) { return attrs.integer_or(Attr::group_size, 1); }

std::optional<ReduceOp> reduction_of(const Node& node) {
  if (node.regions.empty()) return ReduceOp::sum;
  const std::optional<Op> op = single_op(*node.regions[0]);
  const bool of_bools = is_bool(node.operand(0).type().dtype);
  if (op == Op::add) return node.attrs.flag(Attr::mean) ? ReduceOp::mean : ReduceOp::sum;
  if (op == Op::multiply) return ReduceOp::prod;
  if (op == Op::maximum) return ReduceOp::max;
  if (op == Op::minimum) return ReduceOp::min;
  if (op == Op::or_ && of_bools) return ReduceOp::max;
  if (op == Op::and_ && of_bools) return ReduceOp::min;
  return std::nullopt;
}

int64_t axis_of(const Node& node) {
  for (Attr attr : axis_attrs)
    if (node.attrs.find(attr)) return node.attrs.integer(attr);
  return 0;
}

std::vector<Value> in_called_form(Builder& build, const Node& node, const std::vector<Value>& operands,
                                  CollectiveResult result) {
  std::vector<Value> results;
  Former former(build, node, result);
  for (const Value& operand : operands) results.push_back(former.form(operand));
  return results;
}

}  // namespace weft
