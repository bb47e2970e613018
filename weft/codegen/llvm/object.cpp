// LLVM behind its C API: parse, a few cheap passes, emit.
#include "weft/codegen/llvm/object.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <memory>
#include <mutex>

#include "weft/core/error.h"
#include "weft/core/span.h"

namespace weft {
namespace {

// The time since `last`, which becomes the present, as a span and in milliseconds.
double time_of(const char* step, int64_t& last) {
  int64_t now = span_clock(), elapsed = now - last;
  if (is_recording()) record_span(span_label(step, "llvm"), last, now);
  last = now;
  return static_cast<double>(elapsed) / 1e6;
}

// A message that LLVM allocated.
std::string taken(char* message) {
  std::string text = message ? message : "unknown reason";
  LLVMDisposeMessage(message);
  return text;
}

void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Strength reduction of loops takes a sixth of the time and leaves addresses as the emitter writes them.
    constexpr const char* options[] = {"weft", "-disable-lsr"};
    LLVMParseCommandLineOptions(std::size(options), options, "");
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

// The emitter writes explicit vectors in SSA form already: what is left is to fold, to share and to hoist.
constexpr const char* passes =
    "always-inline,function(instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg,early-cse<memssa>,loop-mssa("
    "licm))";

struct Machine {
  LLVMTargetMachineRef machine;
  explicit Machine(const Target& target) {
    LLVMTargetRef found = nullptr;
    char* message = nullptr;
    if (LLVMGetTargetFromTriple(target.triple.c_str(), &found, &message))
      throw InternalError("LLVM target: " + taken(message));
    machine = LLVMCreateTargetMachine(found, target.triple.c_str(), target.cpu.c_str(), target.features.c_str(),
                                      LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
  }
  ~Machine() { LLVMDisposeTargetMachine(machine); }
};

std::string generate(const std::string& ir, const Target& target, LLVMCodeGenFileType type, ObjectCode& times,
                     std::string* optimized = nullptr) {
  initialize();
  int64_t last = span_clock();
  std::unique_ptr<LLVMOpaqueContext, decltype(&LLVMContextDispose)> context(LLVMContextCreate(), LLVMContextDispose);
  LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRange(ir.data(), ir.size(), "weft", 1);
  LLVMModuleRef parsed = nullptr;
  char* message = nullptr;
  if (LLVMParseIRInContext2(context.get(), text, &parsed, &message)) {
    LLVMDisposeMemoryBuffer(text);
    throw InternalError("generated IR does not parse: " + taken(message));
  }
  LLVMDisposeMemoryBuffer(text);
  std::unique_ptr<LLVMOpaqueModule, decltype(&LLVMDisposeModule)> module(parsed, LLVMDisposeModule);
  times.parse_ms = time_of("llvm.parse", last);
  Machine machine(target);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module.get(), passes, machine.machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (error) {
    char* text_of = LLVMGetErrorMessage(error);
    std::string reason = text_of;
    LLVMDisposeErrorMessage(text_of);
    throw InternalError("LLVM passes: " + reason);
  }
  times.pass_ms = time_of("llvm.passes", last);
  if (optimized) *optimized = taken(LLVMPrintModuleToString(module.get()));
  LLVMMemoryBufferRef emitted = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine.machine, module.get(), type, &message, &emitted))
    throw InternalError("LLVM code generation: " + taken(message));
  std::string bytes(LLVMGetBufferStart(emitted), LLVMGetBufferSize(emitted));
  LLVMDisposeMemoryBuffer(emitted);
  times.code_ms = time_of("llvm.code", last);
  return bytes;
}

}  // namespace

ObjectCode compile_to_object(const std::string& ir, const Target& target) {
  ObjectCode code;
  code.bytes = generate(ir, target, LLVMObjectFile, code);
  return code;
}

CodeText compile_to_text(const std::string& ir, const Target& target) {
  ObjectCode times;
  CodeText text;
  text.assembly = generate(ir, target, LLVMAssemblyFile, times, &text.optimized);
  return text;
}

}  // namespace weft
