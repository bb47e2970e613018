// A generator of the device: a generator of the CPU under another name.
//
// The default one is the CPU's own default: one stream of numbers, so a program draws the same on either device.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>

namespace weft_torch {

struct DeviceGenerator final : c10::GeneratorImpl {
  explicit DeviceGenerator(at::Generator drawn)
      : GeneratorImpl(c10::Device(c10::DeviceType::PrivateUse1, 0), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        cpu(std::move(drawn)) {}

  void set_current_seed(uint64_t seed) override { cpu.set_current_seed(seed); }
  void set_offset(uint64_t offset) override { cpu.set_offset(offset); }
  uint64_t get_offset() const override { return cpu.get_offset(); }
  uint64_t current_seed() const override { return cpu.current_seed(); }
  uint64_t seed() override { return cpu.seed(); }
  void set_state(const c10::TensorImpl& state) override { cpu.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return cpu.unsafeGetGeneratorImpl()->get_state(); }
  DeviceGenerator* clone_impl() const override { return new DeviceGenerator(cpu.clone()); }

  at::Generator cpu;
};

inline at::Generator cpu_generator(const at::Generator& generator) {
  return static_cast<DeviceGenerator*>(generator.unsafeGetGeneratorImpl())->cpu;
}

}  // namespace weft_torch
