// The arguments of one call as tensors of the CPU over the same memory, and its results back.
//
// A tensor of the device and its alias are two tensors and two storages over one allocation; the alias keeps the
// device's storage alive. Aliases of one call that share a storage share it on the CPU as well, so kernels see overlap
// as it is, a resized storage is resized for all, and a result that is a view of an argument becomes a view of the
// device's tensor.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Storage.h>

#include <string_view>
#include <unordered_map>
#include <vector>

#include "generator.h"

namespace weft_torch {

constexpr c10::DeviceType device_type = c10::DeviceType::PrivateUse1;
inline const c10::Device the_device{device_type, 0};

inline void check_index(c10::Device device) {
  TORCH_CHECK(device.index() <= 0, "there is one device weftwork, got index ", static_cast<int>(device.index()));
}

inline bool is_here(const at::Tensor& tensor) { return tensor.defined() && tensor.device().type() == device_type; }

// A storage on `device` over the memory of another, which it keeps alive.
inline c10::Storage over(const c10::Storage& other, c10::Device device) {
  c10::DataPtr data(
      other.mutable_data(), new c10::Storage(other), [](void* held) { delete static_cast<c10::Storage*>(held); },
      device);
  return {c10::Storage::use_byte_size_t(), other.nbytes(), std::move(data), c10::GetAllocator(device.type()),
          other.resizable()};
}

// A tensor as another in all but storage and device.
inline at::Tensor like(const at::Tensor& other, c10::Storage storage) {
  constexpr c10::DispatchKeySet bits(
      {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative, c10::DispatchKey::ZeroTensor});
  const c10::DispatchKeySet backend(storage.device_type() == device_type ? c10::DispatchKey::PrivateUse1
                                                                         : c10::DispatchKey::CPU);
  at::Tensor made =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), backend | (other.key_set() & bits), other.dtype());
  c10::TensorImpl* impl = made.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(other.sizes(), other.strides(), other.storage_offset());
  if (other.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  return made;
}

class Call {
 public:
  explicit Call(std::string_view name) : name_(name) {}

  c10::IValue to_cpu(const c10::IValue& value) {
    if (value.isTensor()) return to_cpu(value.toTensor());
    if (value.isTensorList() || value.isOptionalTensorList()) {
      return mapped(value, [this](const c10::IValue& item) { return to_cpu(item); });
    }
    if (value.isDevice() && value.toDevice().type() == device_type) {
      check_index(value.toDevice());
      return c10::Device(c10::kCPU);
    }
    if (value.isGenerator() && value.toGenerator().device().type() == device_type)
      return cpu_generator(value.toGenerator());
    if (value.isStorage() && value.toStorage().device_type() == device_type) return cpu_storage(value.toStorage());
    return value;
  }

  at::Tensor to_cpu(const at::Tensor& tensor) {
    if (!is_here(tensor)) {
      if (tensor.defined() && tensor.has_storage()) add(tensor.storage(), tensor.storage());
      return tensor;
    }
    check_kind(tensor);
    at::Tensor alias = like(tensor, cpu_storage(tensor.storage()));
    tensors_.push_back({tensor, alias});
    return alias;
  }

  // What the call did to sizes, strides and storages of its arguments, done to the device's tensors.
  void update() {
    for (const Storages& pair : storages_) {
      if (pair.device.is_alias_of(pair.cpu) ||
          (pair.cpu.data() == pair.device.data() && pair.cpu.nbytes() == pair.device.nbytes())) {
        continue;
      }
      c10::StorageImpl* impl = pair.device.unsafeGetStorageImpl();
      impl->set_data_ptr_noswap(std::move(over(pair.cpu, the_device).mutable_data_ptr()));
      impl->set_nbytes(pair.cpu.nbytes());
    }
    for (const auto& [tensor, alias] : tensors_) {
      c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
      const c10::Storage& storage = device_storage(alias.storage());
      if (!storage.is_alias_of(impl->storage())) impl->set_storage_keep_dtype(storage);
      if (alias.sizes() != tensor.sizes() || alias.strides() != tensor.strides() ||
          alias.storage_offset() != tensor.storage_offset()) {
        impl->set_sizes_and_strides(alias.sizes(), alias.strides(), alias.storage_offset());
      }
    }
  }

  c10::IValue to_device(const c10::IValue& value) {
    if (value.isTensor()) return to_device(value.toTensor());
    if (value.isTensorList() || value.isOptionalTensorList()) {
      return mapped(value, [this](const c10::IValue& item) { return to_device(item); });
    }
    return value;
  }

  at::Tensor to_device(const at::Tensor& result) {
    if (!result.defined() || is_here(result)) return result;
    check_kind(result);
    const size_t known = find(result.storage());
    if (known < storages_.size()) {
      if (storages_[known].device.is_alias_of(storages_[known].cpu)) return result;  // memory of an argument on the CPU
      for (const auto& [tensor, alias] : tensors_) {
        if (alias.is_same(result)) return tensor;
      }
    }
    return like(result, device_storage(result.storage()));
  }

 private:
  struct Storages {
    c10::Storage device, cpu;
  };

  template <typename Function>
  static c10::IValue mapped(const c10::IValue& value, Function function) {
    c10::List<c10::IValue> list = value.toList(), made(list.elementType());
    made.reserve(list.size());
    for (const c10::IValue& item : list) made.push_back(function(item));
    return made;
  }

  void check_kind(const at::Tensor& tensor) const {
    TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == c10::kStrided && !tensor.is_quantized() && tensor.has_storage(),
                                name_, ": the device weftwork has dense tensors only, no ", tensor.layout(),
                                tensor.is_quantized() ? " quantized" : "", " ones; move the operand to the CPU");
  }

  c10::Storage cpu_storage(const c10::Storage& device) {
    const size_t known = find(device);
    return known < storages_.size() ? storages_[known].cpu : add(device, over(device, c10::kCPU)).cpu;
  }

  c10::Storage device_storage(const c10::Storage& cpu) {
    const size_t known = find(cpu);
    return known < storages_.size() ? storages_[known].device : add(over(cpu, the_device), cpu).device;
  }

  // By either of a pair; calls with many tensors are looked up by hash.
  size_t find(const c10::Storage& storage) const {
    if (!index_.empty()) {
      const auto found = index_.find(storage.unsafeGetStorageImpl());
      return found == index_.end() ? storages_.size() : found->second;
    }
    size_t i = 0;
    while (i < storages_.size() && !storages_[i].device.is_alias_of(storage) && !storages_[i].cpu.is_alias_of(storage))
      ++i;
    return i;
  }

  const Storages& add(const c10::Storage& device, const c10::Storage& cpu) {
    constexpr size_t many = 16;
    const size_t known = find(device);
    if (known < storages_.size()) return storages_[known];
    storages_.push_back({device, cpu});
    for (size_t i = index_.empty() && storages_.size() == many ? 0 : storages_.size() - 1;
         storages_.size() >= many && i < storages_.size(); ++i) {
      index_[storages_[i].device.unsafeGetStorageImpl()] = i;
      index_[storages_[i].cpu.unsafeGetStorageImpl()] = i;
    }
    return storages_.back();
  }

  std::string_view name_;
  std::vector<std::pair<at::Tensor, at::Tensor>> tensors_;  // of the device, its alias
  std::vector<Storages> storages_;                          // equal where an argument lies on the CPU
  std::unordered_map<const void*, size_t> index_;
};

}  // namespace weft_torch
