// Ops that a routine of weft/library carries out.
#pragma once

#include <optional>
#include <string>

#include "weft/ir/graph.h"

namespace weft {

// The routine, what it is told, and how its buffers relate to the node's operands and results.
struct RoutineCall {
  std::string name;
  Dims numbers;
  std::vector<Type> scratch;  // results that the routine writes and the node does not have, after the node's own
  std::vector<std::string> texts = {};  // what an added operation is told, see weft/library/custom.h
};

// How a node of such an op is carried out; nothing for other ops, or names that are not known.
std::optional<RoutineCall> routine_of(const Node& node);
// Runs it; static types.
std::vector<Literal> run_routine(const Node& node, std::span<const Literal> operands);
// How a collective is carried out that has one operand, of which the first dimension counts, and a reduction that
// communicators know; nothing for others.
std::optional<RoutineCall> collective_of(const Node& node);
// The results of a collective, written with those that collective_of takes. `result`: that of one of them.
using CollectiveResult = Value (*)(Builder& build, const Node& call);
std::vector<Value> in_called_form(Builder& build, const Node& node, const std::vector<Value>& operands,
                                  CollectiveResult result);
// Whether a custom_call compares its operands: check.expect_eq and the like.
bool is_expectation(const Node& node);
// Error(runtime) naming the first element that differs, as such a call wants it.
void require_expectation(const Node& node, std::span<const Literal> operands);
// Whether the configuration of a custom_call gives an option of LAPACK that letter.
bool is_letter(const Attrs& attrs, std::string_view key, char letter);
// Error(type) where operands or results are not those of the function that LAPACK calls so: "getrf".
void check_lapack(const Call& call, std::string_view name);
// Error(type) where a custom_call of a known name has operands or results that do not fit.
void check_custom_call(const Call& call);

}  // namespace weft
