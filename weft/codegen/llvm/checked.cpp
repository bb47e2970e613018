// Checks that integers lie in [0, limit): the largest of them all, as numbers without a sign, is kept beside the loops
// and looked at when they end. What lies below zero is larger than any limit so.
#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/core/error.h"

namespace weft {

Ssa KernelEmitter::checked(const Expr& e) {
  auto slot = static_cast<size_t>(e.slot);
  checked_lanes_.resize(static_cast<size_t>(kernel_.checks));
  Ssa value = expr(e.args[0]);
  Ssa own = e.mask == no_expr ? Ssa() : expr(e.mask);
  // The loop runs for some lane: what is the same for all of them needs no mask of the loop.
  bool uniform = lanes_.count == 1 || (!value.vector && !own.vector);
  int lanes = uniform ? 1 : lanes_.count;
  bool vector_mask = false;
  std::string mask = uniform ? own.re : combined_mask(e.mask, vector_mask);
  std::string type = lanes_type("i64", lanes), found = uniform ? value.re : as_vector(value, DType::i64);
  if (!mask.empty())
    found = assign(cat("select ", lanes_type("i1", lanes), " ", mask, ", ", type, " ", found, ", ", type,
                       uniform ? " 0" : " zeroinitializer"));
  std::string before = assign(cat("load ", type, ", ptr %largest", slot, ", align 64")),
              function = cat("@llvm.umax.", uniform ? "i64" : cat("v", lanes, "i64"));
  std::string after = assign(cat("call ", type, " ", function, "(", type, " ", before, ", ", type, " ", found, ")"));
  line(cat("store ", type, " ", after, ", ptr %largest", slot, ", align 64"));
  module_.declare(cat("declare ", type, " ", function, "(", type, ", ", type, ")"));
  checked_lanes_[slot] = std::max(checked_lanes_[slot], lanes);
  return value;
}

// Room for the largest of each lane, at this place of the text.
void KernelEmitter::begin_checks(size_t at) {
  std::string text;
  for (size_t slot = 0; slot < checked_lanes_.size(); ++slot) {
    if (checked_lanes_[slot] == 0) continue;
    std::string type = cat("[", checked_lanes_[slot], " x i64]");
    append(text, "  %largest", slot, " = alloca ", type, ", align 64\n  store ", type, " zeroinitializer, ptr %largest",
           slot, ", align 64\n");
  }
  out->insert(at, text);
}

// Tells the largest of all threads. Zero says nothing: where it is the one that fails, the least number stands for it.
void KernelEmitter::end_checks() {
  for (size_t slot = 0; slot < checked_lanes_.size(); ++slot) {
    int lanes = checked_lanes_[slot];
    if (lanes == 0) continue;
    std::string type = lanes_type("i64", lanes),
                largest = assign(cat("load ", type, ", ptr %largest", slot, ", align 64"));
    if (lanes > 1) {
      std::string function = cat("@llvm.vector.reduce.umax.v", lanes, "i64");
      module_.declare(cat("declare i64 ", function, "(", type, ")"));
      largest = assign(cat("call i64 ", function, "(", type, " ", largest, ")"));
    }
    auto says = std::ranges::find_if(kernel_.exprs, [&](const Expr& e) {
      return e.kind == ExprKind::checked && e.slot == static_cast<int32_t>(slot);
    });
    std::string fails = assign(cat("icmp uge i64 ", largest, ", ", extent(says->index))), tell = label("fails"),
                done = label("checked");
    line(cat("br i1 ", fails, ", label %", tell, ", label %", done));
    append(*out, tell, ":\n");
    std::string is_zero = assign(cat("icmp eq i64 ", largest, ", 0")),
                told = assign(cat("select i1 ", is_zero, ", i64 ", INT64_MIN, ", i64 ", largest));
    line(cat("atomicrmw umax ptr ", failed_[slot], ", i64 ", told, " monotonic"));
    line(cat("br label %", done));
    append(*out, done, ":\n");
  }
}

}  // namespace weft
