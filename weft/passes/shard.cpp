// The program of a rank: nodes on parts, and between them what divides values and brings them together.
#include "weft/passes/shard.h"

#include <algorithm>
#include <map>

#include "weft/core/error.h"
#include "weft/passes/pass.h"

namespace weft {
namespace {

using Axes = std::vector<int>;

bool begins_with(const Axes& axes, const Axes& first) {
  return axes.size() >= first.size() && std::equal(first.begin(), first.end(), axes.begin());
}

// What of `axes` comes after what it has in common with `other`.
Axes beyond(const Axes& axes, const Axes& other) {
  auto differs = std::mismatch(axes.begin(), axes.end(), other.begin(), other.end()).first;
  return {differs, axes.end()};
}

// What stands for a wish in a flat program: it is gone before anybody else sees it.
constexpr std::string_view wish = "sdy.sharding_constraint";

bool is_wish(const Node& node) { return node.op == Op::custom_call && node.attrs.text(Attr::call_target_name) == wish; }

// Without axes of one rank, which divide nothing.
Sharding proper_on(const Mesh& mesh, Sharding sharding) {
  for (Axes& axes : sharding.dims)
    std::erase_if(axes, [&](int axis) { return mesh.axes[static_cast<size_t>(axis)].extent == 1; });
  return sharding;
}

GraphPtr flat_with_wishes(const Graph& graph) {
  return flatten.run(*rebuild(
      graph, Level::trace,
      [](Builder& build, const Node& node, const std::vector<Value>& operands) -> std::vector<Value> {
        std::optional<std::string> text = sharding_text(node);
        if (!text) return {};
        return {build(
            Op::custom_call, operands,
            {{Attr::call_target_name, std::string(wish)}, {Attr::types, node.types}, {Attr::backend_config, *text}})};
      }));
}

// A result of the rank's program. `partial`: each rank has but its summand, as far as these axes go.
struct Part {
  Value value;
  Sharding sharding;
  Axes partial = {};
  Op combine = Op::add;
};

class Sharder {
 public:
  Sharder(const Graph& graph, const Mesh& mesh)
      : graph_(graph), mesh_(mesh), build_(Level::flat, graph.name()), uses_(graph.uses()), parts_(graph.size()) {}

  Sharded run(std::span<const Sharding> parameters, std::span<const std::optional<Sharding>> wanted) {
    wishes_ = wished_results(graph_, mesh_, said_of_outputs(parameters, wanted));
    size_t next = 0;
    for (const Node& node : graph_.nodes()) {
      build_.set_loc(node.loc);
      if (node.op == Op::parameter)
        parts_[node.id()] = {parameter(node, proper(parameters[next++]))};
      else
        parts_[node.id()] = on_parts(node);
    }
    Sharded result;
    std::vector<Output> outputs;
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      Output output = graph_.outputs()[i];
      const Part& part = part_of_value(output.value);
      Sharding sharding = output.alias >= 0 ? parameters[static_cast<size_t>(output.alias)]
                          : wanted[i]       ? *wanted[i]
                                            : part.sharding;
      build_.set_loc(output.value.node().loc);
      output.value = resharded(output.value, proper(sharding));
      outputs.push_back(std::move(output));
      result.outputs.push_back(std::move(sharding));
    }
    for (const GraphPtr& function : graph_.functions()) build_.add_function(function);
    result.graph = build_.finish(std::move(outputs));
    return result;
  }

 private:
  Sharding proper(Sharding sharding) const { return proper_on(mesh_, std::move(sharding)); }
  std::vector<std::optional<Sharding>> said_of_outputs(std::span<const Sharding> parameters,
                                                       std::span<const std::optional<Sharding>> wanted) const {
    std::vector<std::optional<Sharding>> said;
    for (size_t i = 0; i < wanted.size(); ++i) {
      int alias = graph_.outputs()[i].alias;
      const std::optional<Sharding> one = alias >= 0 ? parameters[static_cast<size_t>(alias)] : wanted[i];
      said.push_back(one ? std::optional(proper(*one)) : std::nullopt);
    }
    return said;
  }
  Part& part_of_value(const Value& value) { return parts_[value.id()][value.index()]; }

  Part parameter(const Node& node, const Sharding& sharding) {
    const std::string& name = node.attrs.text(Attr::name);
    try {
      return {build_.parameter(part_of(node.type(), sharding, mesh_), name, node.loc), sharding};
    } catch (const Error& error) {
      raise({error.kind(), cat("parameter ", name, ": ", error.message()), error.label(), node.loc});
    }
  }

  std::vector<Part> on_parts(const Node& node) {
    if (is_wish(node)) return {wished(node)};
    if (node.op == Op::rng || family(node.op) == Family::collective)
      raise({ErrorKind::unsupported,
             cat(name(node.op), ": what each rank has of its own is no part of a program that is divided among ranks"),
             "sharding", node.loc});
    std::vector<Sharding> given;
    for (const Value& operand : node.operands()) given.push_back(part_of_value(operand).sharding);
    ShardPlan plan = shard_plan(node, given, mesh_);
    if (!wishes_[node.id()].is_whole() && divide_further(node, plan, given)) plan = shard_plan(node, given, mesh_);
    std::vector<Value> operands;
    for (size_t i = 0; i < node.operand_count(); ++i) operands.push_back(resharded(node.operand(i), plan.operands[i]));
    bool is_whole = std::ranges::all_of(plan.operands, &Sharding::is_whole) &&
                    std::ranges::all_of(plan.results, &Sharding::is_whole);
    const Node& call =
        is_whole ? build_.copy(node, operands) : build_.call(node.op, operands, on_part(node, plan), node.regions);
    std::vector<Part> parts;
    for (uint32_t i = 0; i < node.types.size(); ++i) {
      check(call.types[i] == part_of(node.types[i], plan.results[i], mesh_), "the plan of ", name(node.op), " gives ",
            call.types[i]);
      parts.push_back({call.result(i), plan.results[i], plan.partial, plan.combine});
    }
    return parts;
  }

  // Divides operands so that results come as they are wished, where the plan leaves dimensions and axes unused.
  bool divide_further(const Node& node, const ShardPlan& plan, std::vector<Sharding>& given) const {
    std::vector<Sharding> wished = operands_for(node, wishes_[node.id()], mesh_);
    bool has_changed = false;
    for (size_t i = 0; i < given.size(); ++i)
      for (size_t dim = 0; dim < given[i].dims.size(); ++dim) {
        const Axes& axes = wished[i].dims[dim];
        bool is_free = std::ranges::find_first_of(plan.partial, axes) == plan.partial.end() &&
                       given[i].dims[dim].empty() && plan.operands[i].dims[dim].empty() && are_free(given[i], axes);
        for (const Sharding& operand : plan.operands) is_free = is_free && are_free(operand, axes);
        if (axes.empty() || !is_free) continue;
        given[i].dims[dim] = axes;
        has_changed = true;
      }
    return has_changed;
  }

  Part wished(const Node& node) {
    MeshSharding wanted = read_sharding(node.attrs.text(Attr::backend_config));
    if (wanted.mesh != mesh_)
      raise({ErrorKind::value, "a value has a sharding of another mesh than others", "sharding", node.loc});
    (void)part_of(node.type(), wanted.sharding, mesh_);
    Sharding sharding = proper(wanted.sharding);
    return {resharded(node.operand(0), sharding), sharding};
  }

  // Attributes that say extents say those of parts.
  Attrs on_part(const Node& node, const ShardPlan& plan) const {
    Attrs attrs = node.attrs;
    Dims dims = part_of(node.type(), plan.results[0], mesh_).dims;
    if (node.op == Op::broadcast_in_dim || node.op == Op::reshape) attrs.set(Attr::dims, dims);
    if (node.op == Op::dynamic_slice) attrs.set(Attr::slice_sizes, dims);
    if (node.op == Op::slice)
      attrs.set(Attr::limit_indices, of_parts(node, plan, node.attrs.dims(Attr::limit_indices)));
    if (node.op == Op::gather) attrs.set(Attr::slice_sizes, of_parts(node, plan, node.attrs.dims(Attr::slice_sizes)));
    return attrs;
  }
  Dims of_parts(const Node& node, const ShardPlan& plan, Dims dims) const {
    const Dims part = part_of(node.operand(0).type(), plan.operands[0], mesh_).dims;
    for (size_t i = 0; i < dims.size(); ++i)
      if (!plan.operands[0].dims[i].empty()) dims[i] = part[i];
    return dims;
  }

  // -- from one sharding to another ---------------------------------------------------------------------------------

  // A value of the whole program, divided so; each way is made once.
  Value resharded(const Value& whole, const Sharding& to) {
    Part& part = part_of_value(whole);
    if (!part.partial.empty()) combine(part, to, uses_[whole.id()] == 1);
    if (part.sharding == to) return part.value;
    for (const auto& [sharding, value] : made_[{whole.id(), whole.index()}])
      if (sharding == to) return value;
    Part moved = part;
    while (moved.sharding != to) step(moved, to);
    made_[{whole.id(), whole.index()}].push_back({to, moved.value});
    return moved.value;
  }

  // Ranks get all summands; or, where nobody else wants the sum, a part of it.
  void combine(Part& part, const Sharding& to, bool is_last_use) {
    Attrs attrs = among(part.partial);
    std::vector<GraphPtr> body = {binary_body(part.combine, part.value.type().dtype)};
    Axes summed = std::exchange(part.partial, {});
    for (size_t dim = 0; is_last_use && dim < to.dims.size(); ++dim) {
      Axes& axes = part.sharding.dims[dim];
      if (!begins_with(to.dims[dim], axes) || beyond(to.dims[dim], axes) != summed) continue;
      attrs.set(Attr::scatter_dimension, static_cast<int64_t>(dim));
      axes = to.dims[dim];
      part.value = build_(Op::reduce_scatter, {part.value}, std::move(attrs), std::move(body));
      return;
    }
    part.value = build_(Op::all_reduce, {part.value}, std::move(attrs), std::move(body));
  }

  // The cheapest that comes nearer: to leave out elements, to exchange parts, to gather them.
  void step(Part& part, const Sharding& to) {
    std::vector<Axes>& from = part.sharding.dims;
    for (size_t dim = 0; dim < from.size(); ++dim)
      if (from[dim] != to.dims[dim] && begins_with(to.dims[dim], from[dim]) &&
          are_free(part.sharding, beyond(to.dims[dim], from[dim])))
        return divide(part, dim, to.dims[dim]);
    for (size_t dim = 0; dim < from.size(); ++dim) {
      Axes moved = beyond(from[dim], to.dims[dim]);
      for (size_t target = 0; !moved.empty() && target < from.size(); ++target) {
        Axes joined = from[target];
        joined.insert(joined.end(), moved.begin(), moved.end());
        if (target != dim && begins_with(to.dims[target], joined)) return exchange(part, dim, target, moved);
      }
    }
    for (size_t dim = 0; dim < from.size(); ++dim)
      if (Axes gathered = beyond(from[dim], to.dims[dim]); !gathered.empty()) return gather(part, dim, gathered);
    fail_check("no way from one sharding to the other", std::source_location::current());
  }

  static bool are_free(const Sharding& sharding, const Axes& axes) {
    return std::ranges::none_of(sharding.dims,
                                [&](const Axes& used) { return std::ranges::find_first_of(used, axes) != used.end(); });
  }

  void divide(Part& part, size_t dim, const Axes& axes) {
    Axes added = beyond(axes, part.sharding.dims[dim]);
    Dims dims = part.value.type().dims;
    dims[dim] = floordiv(dims[dim], mesh_.extent_of(added));
    part.sharding.dims[dim] = axes;
    const Node node = part.value.node();
    if (node.op == Op::broadcast_in_dim && is_new(node, dim)) {
      Attrs attrs = node.attrs;
      attrs.set(Attr::dims, dims);
      part.value = build_(Op::broadcast_in_dim, {node.operand(0)}, std::move(attrs));
      return;
    }
    std::vector<Value> operands = {part.value};
    for (size_t i = 0; i < dims.size(); ++i)
      operands.push_back(i == dim ? build_(Op::multiply, {place(added), integer(dims[dim].value())}) : integer(0));
    part.value = build_(Op::dynamic_slice, std::move(operands), {{Attr::slice_sizes, dims}});
  }
  // Whether all along this dimension is the same.
  static bool is_new(const Node& broadcast, size_t dim) {
    const Ints& dimensions = broadcast.ints(Attr::dimensions);
    auto found = std::ranges::find(dimensions, static_cast<int64_t>(dim));
    return found == dimensions.end() ||
           broadcast.operand(0).type().dims[static_cast<size_t>(found - dimensions.begin())].is(1);
  }

  void exchange(Part& part, size_t dim, size_t target, const Axes& moved) {
    Attrs attrs = among(moved);
    attrs.set(Attr::split_dimension, static_cast<int64_t>(target));
    attrs.set(Attr::concat_dimension, static_cast<int64_t>(dim));
    attrs.set(Attr::split_count, mesh_.extent_of(moved));
    part.value = build_(Op::all_to_all, {part.value}, std::move(attrs));
    std::vector<Axes>& from = part.sharding.dims;
    from[dim].resize(from[dim].size() - moved.size());
    from[target].insert(from[target].end(), moved.begin(), moved.end());
  }

  void gather(Part& part, size_t dim, const Axes& gathered) {
    Attrs attrs = among(gathered);
    attrs.set(Attr::all_gather_dim, static_cast<int64_t>(dim));
    part.value = build_(Op::all_gather, {part.value}, std::move(attrs));
    Axes& from = part.sharding.dims[dim];
    from.resize(from.size() - gathered.size());
  }

  Attrs among(const Axes& axes) const {
    Ints ranks;
    for (const std::vector<int64_t>& group : mesh_.groups_of(axes))
      ranks.insert(ranks.end(), group.begin(), group.end());
    return {{Attr::replica_groups, std::move(ranks)}, {Attr::group_size, mesh_.extent_of(axes)}};
  }

  Value integer(int64_t value) { return build_.constant(Literal::scalar_int(DType::i64, value)); }
  // This rank's place in its group along these axes.
  Value place(const Axes& axes) {
    Value rank = build_.convert(build_(Op::partition_id, {}), DType::i64), result;
    for (int axis : axes) {
      const auto number = static_cast<size_t>(axis);
      int64_t extent = mesh_.axes[number].extent, stride = 1;
      for (size_t i = number + 1; i < mesh_.axes.size(); ++i) stride *= mesh_.axes[i].extent;
      Value along = build_(Op::remainder, {build_(Op::divide, {rank, integer(stride)}), integer(extent)});
      result = result ? build_(Op::add, {build_(Op::multiply, {result, integer(extent)}), along}) : along;
    }
    return result;
  }

  const Graph& graph_;
  const Mesh& mesh_;
  Builder build_;
  std::vector<uint32_t> uses_;
  std::vector<Sharding> wishes_;
  std::vector<std::vector<Part>> parts_;
  std::map<std::pair<NodeId, uint32_t>, std::vector<std::pair<Sharding, Value>>> made_;
};

}  // namespace

std::optional<Sharding> wish_of(const Node& node, const Mesh& mesh) {
  if (!is_wish(node)) return {};
  MeshSharding said = read_sharding(node.attrs.text(Attr::backend_config));
  if (said.mesh != mesh || said.sharding.dims.size() != node.type().dims.size()) return {};
  return proper_on(mesh, said.sharding);
}

Sharded shard(const Graph& graph, const Mesh& mesh, std::span<const Sharding> parameters,
              std::span<const std::optional<Sharding>> outputs) {
  if (parameters.size() != graph.parameters().size() || outputs.size() != graph.outputs().size())
    fail(ErrorKind::value, "sharding", "needs a sharding for each of ", graph.parameters().size(), " parameters and ",
         graph.outputs().size(), " results, got ", parameters.size(), " and ", outputs.size());
  GraphPtr flat = flat_with_wishes(graph);
  return Sharder(*flat, mesh).run(parameters, outputs);
}

Sharded shard(const Graph& graph) {
  std::optional<Mesh> mesh;
  std::map<NodeId, Sharding> given;
  for (const Node& node : graph.nodes()) {
    std::optional<std::string> text = sharding_text(node);
    if (!text) continue;
    MeshSharding wanted = read_sharding(*text);
    if (!mesh) mesh = wanted.mesh;
    if (wanted.mesh != *mesh)
      raise({ErrorKind::value, "a value has a sharding of another mesh than others", "sharding", node.loc});
    if (node.operand(0).node().op == Op::parameter) given.emplace(node.operand(0).id(), wanted.sharding);
  }
  if (!mesh) fail(ErrorKind::value, "sharding", "the program does not say how its values are divided");
  std::vector<Sharding> parameters;
  for (NodeId id : graph.parameters())
    parameters.push_back(given.contains(id) ? given[id] : Sharding(graph.node(id).type().rank()));
  return shard(graph, *mesh, parameters, std::vector<std::optional<Sharding>>(graph.outputs().size()));
}

}  // namespace weft
