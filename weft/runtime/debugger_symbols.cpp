// What gdb looks for by name, in a file of its own: a module that has them itself takes nothing from here.
#include "weft/runtime/debugger.h"

extern "C" {

// Weak: another compiler that is linked may have them.
__attribute__((weak, visibility("default"), used)) jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
__attribute__((weak, visibility("default"), used, noinline)) void __jit_debug_register_code() {
  asm volatile("" ::: "memory");
}

}  // extern "C"
