// Code under test: LLVM IR text, compiled for a target and loaded into this process.
#pragma once

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>

#include <stdexcept>
#include <string>

#include "weft/codegen/llvm/object.h"

namespace weft {

// Loads by LLVM's own linker, so that these tests need no other part of the project.
class Loaded {
 public:
  Loaded(const std::string& text, const Target& target) {
    std::string code = compile_to_object(text, target).bytes;
    require(LLVMOrcCreateLLJIT(&jit_, nullptr));
    require(LLVMOrcLLJITAddObjectFile(jit_, LLVMOrcLLJITGetMainJITDylib(jit_),
                                      LLVMCreateMemoryBufferWithMemoryRangeCopy(code.data(), code.size(), "test")));
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() { LLVMConsumeError(LLVMOrcDisposeLLJIT(jit_)); }

  void* find(const std::string& name) const {
    LLVMOrcExecutorAddress address = 0;
    require(LLVMOrcLLJITLookup(jit_, &address, name.c_str()));
    return reinterpret_cast<void*>(address);
  }

 private:
  static void require(LLVMErrorRef error) {
    if (error) throw std::runtime_error(LLVMGetErrorMessage(error));
  }
  LLVMOrcLLJITRef jit_ = nullptr;
};

}  // namespace weft
