// Walks over the expressions of a kernel.
#pragma once

#include <set>
#include <vector>

#include "weft/kernel/kernel.h"

namespace weft {

// What the statements of one body compute, for visit_expressions; not what loops inside of it do.
inline std::vector<ExprId> roots_of(const std::vector<Stmt>& body) {
  std::vector<ExprId> roots;
  for (const Stmt& stmt : body) roots.push_back(stmt.expr);
  return roots;
}

// Calls `visit(id, expression)` for every expression that the roots are computed from, each once; masks and positions
// of loads are not.
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
