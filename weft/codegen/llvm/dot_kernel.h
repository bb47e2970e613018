// A kernel of the loop IR around a matrix product, as the dot emitter takes it.
#pragma once

#include "weft/codegen/llvm/dot.h"
#include "weft/codegen/llvm/kernel_emitter.h"

namespace weft {

class LoopDot {
 public:
  LoopDot(ModuleText& module, const Kernel& kernel);

  // Its functions write by this object, which must be there as long as they are called.
  DotKernel form();

 private:
  DotOperand side(const Dot::Side& side, const std::string& name) const;
  DotOperand::Levels levels(const std::vector<Dot::Level>& given, const std::string& name) const;
  // The first lines of the kernel's function: extents, strides and pointers by the names that form() gives.
  void enter(std::string& ir);

  const Kernel& kernel_;
  KernelEmitter emitter_, epilogue_;
  std::optional<Dot::Side> sums_;  // where the epilogue does nothing but store them
};

}  // namespace weft
