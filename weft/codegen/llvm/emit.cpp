// A program as one LLVM module: kernels, and the entries that launch them.
#include "weft/codegen/emit.h"

#include "weft/codegen/llvm/entry.h"
#include "weft/codegen/llvm/short_loops.h"
#include "weft/core/error.h"
#include "weft/kernel/cost.h"

namespace weft {
namespace {

// The same kernel with results that stay in cache, where that may take less.
void add_other_way(ModuleText& module, const Kernel& kernel) {
  if (!kernel.two_ways || module.takes_less(price_of(kernel))) return;
  Kernel other = kernel;
  other.name += other_way;
  for (Memory& memory : other.memories) memory.past_caches = false;
  KernelEmitter(module, other).emit_loop_kernel();
  module.other_ways.insert(kernel.name);
}

ModuleText write_module(const Program& program, const Target& target, const Library& library, bool is_quick) {
  ModuleText module{target, {}, {}, {}, is_quick};
  append(module.out, "target triple = \"", target.triple, "\"\n\n@weft.zero = private constant [", zero_bytes,
         " x i8] zeroinitializer, align 64\n\n");
  DotEmitter dots(target, library);
  for (const Kernel& kernel : program.kernels) {
    if (!kernel.dot) {
      KernelEmitter(module, kernel).emit_loop_kernel();
      add_other_way(module, kernel);
      continue;
    }
    LoopDot calls(module, kernel);
    std::string ir;
    if (kernel.dot->pack_rhs)
      dots.emit_pack(ir, calls.form(), "%packed_pointer");
    else
      dots.emit(ir, calls.form());
    // Only the entries are seen from outside; the address of anything else is known where it is used.
    size_t kernel_at = ir.find(cat("define void @", kernel.name));
    check(kernel_at != std::string::npos, "the product kernel ", kernel.name, " was not written");
    ir.replace(kernel_at, 11, "define internal void");
    module.out += ir;
  }
  take_in_short_loops(module, program);
  write_entries(module, program, dots);
  module.out += dots.shared();
  for (const auto& [name, text] : module.functions) module.out += text;
  for (const std::string& line : module.declarations)
    if (module.out.find(line) == std::string::npos) append(module.out, line, "\n");
  std::string vectors = cat("\"prefer-vector-width\"=\"", target.vector_bytes * 8, "\" \"min-legal-vector-width\"=\"",
                            target.vector_bytes * 8, "\"");
  append(module.out, "attributes #0 = { nounwind ", vectors, " }\nattributes #1 = { nounwind noinline ", vectors,
         " }\nattributes #2 = { nounwind alwaysinline ", vectors, " }\n!0 = !{}\n!1 = !{i32 1}\n");
  return module;
}

}  // namespace

std::string emit(const Program& program, const Target& target, const Library& library) {
  return write_module(program, target, library, false).out;
}

QuickCode emit_quick(const Program& program, const Target& target, const Library& library) {
  ModuleText module = write_module(program, target, library, true);
  return {std::move(module.out), module.left_out};
}

}  // namespace weft
