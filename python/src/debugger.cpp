// What gdb looks for by name: it must be seen outside of the module, whose libraries are not.
#include "weft/runtime/debugger.h"

extern "C" {

__attribute__((visibility("default"), used)) jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
__attribute__((visibility("default"), used, noinline)) void __jit_debug_register_code() {
  asm volatile("" ::: "memory");
}

}  // extern "C"
