// Walks over the expressions of a kernel.
#pragma once

#include <set>
#include <vector>

#include "weft/kernel/kernel.h"

namespace weft {

// Calls `visit(id, expression)` for every expression that the roots need, each once.
template <class Visit>
void visit_expressions(const Kernel& kernel, std::vector<ExprId> pending, const Visit& visit) {
  std::set<ExprId> seen;
  while (!pending.empty()) {
    ExprId id = pending.back();
    pending.pop_back();
    if (id == no_expr || !seen.insert(id).second) continue;
    const Expr& e = kernel.exprs[static_cast<size_t>(id)];
    visit(id, e);
    pending.insert(pending.end(), e.args.begin(), e.args.end());
  }
}

}  // namespace weft
