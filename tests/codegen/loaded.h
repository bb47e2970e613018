// Code under test: LLVM IR text, compiled for a target and loaded into this process.
#pragma once

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <stdexcept>
#include <string>

namespace weft {

inline void require(LLVMErrorRef error) {
  if (error) throw std::runtime_error(LLVMGetErrorMessage(error));
}

inline LLVMMemoryBufferRef compiled(const std::string& text, const char* cpu) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMContextRef context = LLVMContextCreate();
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), "test");
  LLVMModuleRef module = nullptr;
  char* message = nullptr;
  if (LLVMParseIRInContext(context, buffer, &module, &message)) throw std::runtime_error(message);
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message)) throw std::runtime_error(message);
  LLVMTargetRef target = nullptr;
  const char* triple = "x86_64-unknown-linux-gnu";
  if (LLVMGetTargetFromTriple(triple, &target, &message)) throw std::runtime_error(message);
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
      target, triple, cpu, "", LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMSetTarget(module, triple);
  LLVMMemoryBufferRef out = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &out))
    throw std::runtime_error(message);
  LLVMDisposeTargetMachine(machine);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return out;
}

// Loads by LLVM's own linker, so that these tests need no other part of the project. Targets:
// "avx512", "avx2".
class Loaded {
 public:
  Loaded(const std::string& text, const std::string& target) {
    LLVMMemoryBufferRef code = compiled(text, target == "avx512" ? "x86-64-v4"
                                              : target == "avx2" ? "x86-64-v3"
                                                                 : "x86-64");
    LLVMOrcLLJITRef jit = nullptr;
    require(LLVMOrcCreateLLJIT(&jit, nullptr));
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit);
    LLVMOrcDefinitionGeneratorRef process = nullptr;
    require(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
        &process, LLVMOrcLLJITGetGlobalPrefix(jit), nullptr, nullptr));
    LLVMOrcJITDylibAddGenerator(library, process);
    require(LLVMOrcLLJITAddObjectFile(jit, library, code));
    jit_ = jit;
  }

  void* find(const std::string& name) const {
    LLVMOrcExecutorAddress address = 0;
    require(LLVMOrcLLJITLookup(static_cast<LLVMOrcLLJITRef>(jit_), &address, name.c_str()));
    return reinterpret_cast<void*>(address);
  }

  // Whether this machine runs code for the target.
  static bool runs(const std::string& target) {
    if (target == "avx512")
      return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq");
    return target != "avx2" || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  }

 private:
  void* jit_ = nullptr;
};

}  // namespace weft
