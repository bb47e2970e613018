// Sums, in the wide sense: what a kernel takes of the same elements by operations that may be done in any order.
#pragma once

#include <optional>
#include <vector>

#include "weft/kernel/draft.h"

namespace weft {

// One of the sums of a kernel: what it begins with, what it adds at each place, where its result goes.
struct Sum {
  NodeId result;
  Type type;
  Value init;
  Scalar op;
  ExprId element;
  int32_t variable;
};

// The axes of what is summed up, those of the results, and the places of these.
struct SumSpace {
  std::vector<Axis> kept, reduced;
  Dims kept_coordinates;
};

// Vectors in flight for loops with so many sums: eight additions that do not wait for each other keep adders busy. Rows
// that are taken together change nothing of that, as they must not change how a sum is added up.
int vectors_in_flight(const std::vector<Stmt>& body);
Dim product_of(const std::vector<Axis>& axes);
Stmt accumulate(int32_t slot, Scalar op, ExprId expr);
void append_all(std::vector<Stmt>& body, std::vector<Stmt> more);
// The statements before, in and behind the loops over what is summed up.
std::vector<Stmt> defined(Access& access, const std::vector<Sum>& sums);
std::vector<Stmt> accumulated(const std::vector<Sum>& sums);
// Whether sums of so many elements are taken in pieces, which threads share.
bool takes_two_steps(const SumSpace& space, const std::vector<Sum>& sums);
// Long sums to few results: pieces add up in parallel to partial results, which other kernels combine.
void lower_in_two_steps(Lowering& lowering, Draft& draft, Access& access, SumSpace space, const std::vector<Sum>& sums);

// What a turn of a loop adds to a number that is a sum over all turns; `op`: none where it adds nothing.
struct TurnPart {
  Scalar op = Scalar::none;
  ExprId element = no_expr;
};

// What the expression for the next value of a variable adds to it, in a kernel whose variables are what a loop carries;
// nothing where that is no sum, or depends on them. Sums of floats depend on their order.
std::optional<TurnPart> turn_part(Access& access, const Kernel& kernel, int32_t slot, ExprId next);

}  // namespace weft
