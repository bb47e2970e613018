// Region bodies over scalars, run element by element without the overhead of tensors.
#pragma once

#include <span>
#include <vector>

#include "weft/core/element.h"
#include "weft/ir/graph.h"

namespace weft {

// The body of a reduce, sort, scatter …: parameters and results are scalars. Bodies of element-wise ops run on elements
// alone; others go through the interpreter.
class ScalarBody {
 public:
  explicit ScalarBody(const Graph& body);
  // One element for each parameter; gives one for each output.
  std::vector<Element> operator()(std::span<const Element> arguments) const;
  // The same, where the results are wanted; they may lie among the arguments.
  void into(std::span<Element> results, std::span<const Element> arguments) const;
  // The only output, for bodies of one.
  Element one(std::span<const Element> arguments) const { return (*this)(arguments)[0]; }

 private:
  struct Step {
    Scalar op;
    bool is_total;  // a compare that orders all patterns
    DType dtype;
    NodeId result;
    NodeId operands[3];
  };
  std::vector<Element> run_graph(std::span<const Element> arguments) const;
  const Graph& body_;
  bool plain_ = true;
  std::vector<Element> initial_;  // constants in their places
  std::vector<NodeId> parameters_, outputs_;
  std::vector<Step> steps_;
  mutable std::vector<Element> values_;
};

// Element `index` (row-major) of a literal, and its replacement.
Element element_at(const Literal& literal, int64_t index);
void set_element(Literal& literal, int64_t index, const Element& element);

}  // namespace weft
