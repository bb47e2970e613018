// Kernels built by hand: emitted, compiled for a target, loaded and run.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "weft/codegen/emit.h"
#include "weft/codegen/llvm/object.h"
#include "weft/core/cpu.h"
#include "weft/core/element.h"
#include "weft/core/error.h"
#include "weft/runtime/executable.h"
#include "weft/runtime/object.h"
#include "weft/runtime/services.h"

namespace weft {

// The targets that this machine can run.
inline const std::vector<Target>& test_targets() {
  static const std::vector<Target> found = [] {
    std::vector<Target> targets;
    for (const char* name : {"avx512", "avx2", "x86-64"}) {
      Target target = target_named(name);
      if (missing_feature(target.needs).empty()) targets.push_back(std::move(target));
    }
    return targets;
  }();
  return found;
}

inline ExprId add_expr(Kernel& kernel, Expr expr) {
  kernel.exprs.push_back(std::move(expr));
  return static_cast<ExprId>(kernel.exprs.size() - 1);
}
inline ExprId load_expr(Kernel& kernel, int32_t slot, Index index, ExprId mask = no_expr) {
  Expr e;
  e.kind = ExprKind::load;
  e.dtype = kernel.memories[static_cast<size_t>(slot)].dtype;
  e.slot = slot;
  e.index = std::move(index);
  e.mask = mask;
  return add_expr(kernel, std::move(e));
}
inline ExprId scalar_expr(Kernel& kernel, Scalar op, DType dtype, std::vector<ExprId> args) {
  Expr e;
  e.kind = ExprKind::scalar;
  e.op = op;
  e.dtype = dtype;
  e.args = std::move(args);
  return add_expr(kernel, std::move(e));
}
inline ExprId constant_expr(Kernel& kernel, Literal value) {
  Expr e;
  e.dtype = value.dtype();
  e.value = std::move(value);
  return add_expr(kernel, std::move(e));
}
inline ExprId variable_expr(Kernel& kernel, int32_t slot) {
  Expr e;
  e.kind = ExprKind::variable;
  e.dtype = kernel.variables[static_cast<size_t>(slot)].dtype;
  e.slot = slot;
  return add_expr(kernel, std::move(e));
}
inline Stmt simple_stmt(StmtKind kind, int32_t slot, ExprId expr, Scalar op = Scalar::none) {
  Stmt s;
  s.kind = kind;
  s.slot = slot;
  s.expr = expr;
  s.op = op;
  return s;
}
inline Stmt store_stmt(int32_t slot, Index index, ExprId expr, ExprId mask = no_expr) {
  Stmt s = simple_stmt(StmtKind::store, slot, expr);
  s.index = std::move(index);
  s.mask = mask;
  return s;
}
inline Stmt loop_stmt(LoopKind kind, std::string counter, Dim extent, std::vector<Stmt> body, int unroll = 1) {
  Stmt s;
  s.kind = StmtKind::loop;
  s.loop = kind;
  s.counter = std::move(counter);
  s.extent = std::move(extent);
  s.body = std::move(body);
  s.unroll = unroll;
  return s;
}
inline Dim counter_of(const char* name, int64_t extent = 1 << 20) { return Dim(Symbol{name, 0, extent / 2, extent}); }

// A program of kernels over inputs alone (written ones too): launch k gives every kernel's memories in order from
// input `first[k]` on.
inline Program program_of(std::vector<Kernel> kernels, std::vector<Symbol> symbols = {}) {
  Program program;
  program.name = "test";
  program.symbols = symbols;
  int32_t next = 0;
  for (Kernel& kernel : kernels) {
    Launch launch;
    launch.kernel = static_cast<int32_t>(program.kernels.size());
    for (const Memory& memory : kernel.memories) {
      if (memory.scratch) continue;
      BufferPlan plan;
      plan.place = Place::input;
      plan.index = next;
      plan.type = {memory.dtype, {1}};
      program.inputs.push_back({cat("x", next), plan.type});
      launch.buffers.push_back(next++);
      program.buffers.push_back(std::move(plan));
    }
    kernel.symbols = symbols;
    for (const Symbol& symbol : symbols) launch.symbols.push_back(Dim(symbol));
    for (const Stmt& s : kernel.body)
      if (s.kind == StmtKind::loop && s.loop == LoopKind::parallel) launch.parallel = s.extent;
    launch.cost = 1;
    program.run.push_back(std::move(launch));
    program.kernels.push_back(std::move(kernel));
  }
  return program;
}

class RunnableProgram {
 public:
  RunnableProgram(const Program& program, const Target& target)
      : text(emit(program, target)), code_(std::array{compile_to_object(text, target).bytes}) {}

  void run(std::vector<void*> buffers, std::vector<int64_t> symbols = {}) const {
    Services services{};
    services.parallel_for = [](void*, int64_t count, int64_t, void (*body)(void**, int64_t, int64_t), void** args) {
      for (int64_t i = count; i-- > 0;) body(args, i, i + 1);
    };
    buffers.push_back(nullptr);
    buffers.push_back(nullptr);
    reinterpret_cast<Entry>(code_.find("weft_run"))(symbols.data(), buffers.data(), &services);
  }

  std::string text;

 private:
  CodeObject code_;
};

}  // namespace weft
