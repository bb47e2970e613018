// gdb's interface for compilers at run time: it stops at a function that is called, and reads a list.
#include "weft/runtime/debugger.h"

#include <mutex>
#include <utility>

namespace weft {
namespace {

std::mutex& list_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

void tell(uint32_t action, jit_code_entry* entry) {
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_register_code();
}

}  // namespace

struct DebugImage::Entry : jit_code_entry {};

DebugImage::DebugImage(std::string elf) : elf_(std::move(elf)), entry_(new Entry) {
  entry_->symfile_addr = elf_.data();
  entry_->symfile_size = elf_.size();
  std::lock_guard lock(list_mutex());
  entry_->prev_entry = nullptr;
  entry_->next_entry = __jit_debug_descriptor.first_entry;
  if (entry_->next_entry) entry_->next_entry->prev_entry = entry_;
  __jit_debug_descriptor.first_entry = entry_;
  tell(1, entry_);
}

DebugImage::~DebugImage() {
  std::lock_guard lock(list_mutex());
  if (entry_->prev_entry)
    entry_->prev_entry->next_entry = entry_->next_entry;
  else
    __jit_debug_descriptor.first_entry = entry_->next_entry;
  if (entry_->next_entry) entry_->next_entry->prev_entry = entry_->prev_entry;
  tell(2, entry_);
  delete entry_;
}

}  // namespace weft
