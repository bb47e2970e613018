// Reference semantics: runs a graph on literals.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "weft/core/range_check.h"
#include "weft/ir/graph.h"

namespace weft {

// Runs a graph of either level; symbols are bound from the arguments. Error where the arguments do not fit.
std::vector<Literal> interpret(const Graph& graph, std::span<const Literal> arguments);
// What that takes, in elements: infinite for loops, whose turns are as many as the run finds. Extents that are not
// known count as 1.
double interpreted_work(const Graph& graph);
// The results of one node of static types.
std::vector<Literal> evaluate(const Node& node, std::span<const Literal> operands);
// The scalar operation of an element-wise node: compare's depends on its direction.
Scalar scalar_of(const Node& node);
// What a check_range says.
RangeCheck range_check_of(const Node& node);
// The first number that it finds; nothing where all are in its range.
std::optional<int64_t> found_outside(const Node& check, const Literal& values);
// Whether a compare orders all patterns of a float.
bool is_total_order(const Node& node);
// Ops of two floats that are done on their patterns: such a compare, and next_after of narrow floats.
bool is_by_bits(const Node& node);
Value by_bits(Builder& build, const Node& node, Value lhs, Value rhs);

}  // namespace weft
