#include "weft/runtime/buffer.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "weft/core/error.h"
#include "weft/runtime/buffer_state.h"
#include "weft/runtime/device_state.h"

namespace weft {
namespace {

int64_t count_of(const Ints& dims) {
  int64_t count = 1;
  // An empty array may have extents whose product would be too large.
  if (std::ranges::find(dims, 0) != dims.end()) count = 0;
  for (int64_t dim : dims) {
    if (dim < 0) fail(ErrorKind::value, "extent", "extents must be 0 or more, got ", dims);
    count = checked_multiply(count, dim);
  }
  return count;
}

}  // namespace

const Buffer::State& Buffer::state() const {
  if (!state_) fail(ErrorKind::value, "no_buffer", "a buffer was wanted, got one that holds nothing");
  return *state_;
}

Buffer::Buffer(DType dtype, Ints dims, const Device& device) {
  int64_t count = count_of(dims), bytes = checked_multiply(count, size_of(dtype));
  Allocator* allocator = &device.state().allocator;
  void* memory = allocator->take(bytes);
  auto give = [allocator, bytes](void* taken) { allocator->give(taken, bytes); };
  std::shared_ptr<const void> owner(memory, give);
  state_ = std::make_shared<const State>(
      State{dtype, true, std::move(dims), count, bytes, device, memory, 0, std::move(owner)});
}

Buffer Buffer::zeros(DType dtype, Ints dims, const Device& device) {
  Buffer buffer(dtype, std::move(dims), device);
  if (device.is_host()) {
    std::memset(buffer.state_->data(), 0, static_cast<size_t>(buffer.bytes()));
  } else if (buffer.bytes() > 0) {
    std::vector<char> host(static_cast<size_t>(buffer.bytes()));
    device.state().allocator.memory().write(buffer.state_->memory, 0, host.data(), buffer.bytes());
  }
  return buffer;
}

Buffer Buffer::adopt_as(void* data, DType dtype, Ints dims, std::shared_ptr<const void> owner, const Device& device,
                        bool writable) {
  int64_t count = count_of(dims), bytes = checked_multiply(count, size_of(dtype));
  if (!device.is_host())
    fail(ErrorKind::type, "device_memory", "memory of the host cannot be adopted on '", device.name(),
         "': copy_of puts it there");
  if (!data && bytes > 0) fail(ErrorKind::value, "null_memory", "memory of ", bytes, " bytes was wanted, got none");
  // Machine code reads elements where they may begin.
  int64_t alignment = std::min<int64_t>(is_complex(dtype) ? size_of(dtype) / 2 : size_of(dtype), 8);
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment) != 0)
    fail(ErrorKind::value, "alignment", "memory for ", name(dtype), " must begin at a multiple of ", alignment,
         " bytes, got ", data);
  return Buffer(std::make_shared<const State>(
      State{dtype, writable, std::move(dims), count, bytes, device, data, 0, std::move(owner)}));
}

Buffer Buffer::adopt(void* data, DType dtype, Ints dims, std::shared_ptr<const void> owner, const Device& device) {
  return adopt_as(data, dtype, std::move(dims), std::move(owner), device, true);
}

Buffer Buffer::adopt(const void* data, DType dtype, Ints dims, std::shared_ptr<const void> owner,
                     const Device& device) {
  return adopt_as(const_cast<void*>(data), dtype, std::move(dims), std::move(owner), device, false);
}

Buffer Buffer::copy_of(const void* data, DType dtype, Ints dims, const Device& device) {
  Buffer copy(dtype, std::move(dims), device);
  if (!data && copy.bytes() > 0)
    fail(ErrorKind::value, "null_memory", "memory of ", copy.bytes(), " bytes was wanted, got none");
  if (copy.bytes() > 0) device.state().allocator.memory().write(copy.state_->memory, 0, data, copy.bytes());
  return copy;
}

DType Buffer::dtype() const { return state().dtype; }
const Ints& Buffer::dims() const { return state().dims; }
int64_t Buffer::count() const { return state().count; }
int64_t Buffer::bytes() const { return state().bytes; }
const Device& Buffer::device() const { return state().device; }
bool Buffer::is_writable() const { return state().writable; }

const void* Buffer::data() const {
  if (!state().is_host())
    fail(ErrorKind::type, "device_memory", "the memory of '", state_->device.name(),
         "' is none of the host's: to(Device::cpu()) copies it");
  return state_->data();
}

void* Buffer::writable_data() const {
  if (!state().writable)
    fail(ErrorKind::value, "read_only", "the buffer of ", name(state_->dtype), state_->dims, " must not be written");
  return const_cast<void*>(data());
}

void Buffer::require_size(size_t size) const {
  if (size != static_cast<size_t>(size_of(dtype())))
    fail(ErrorKind::type, "element_type", "elements of ", size_of(dtype()), " bytes (", name(dtype()),
         ") were wanted as ones of ", size);
}

Buffer Buffer::slice(int64_t begin, int64_t end) const {
  const State& from = state();
  if (from.dims.empty()) fail(ErrorKind::index, "slice", "a buffer without dimensions has no parts");
  if (begin < 0 || end < begin || end > from.dims[0])
    fail(ErrorKind::index, "slice", "part ", begin, " to ", end, " of a first dimension of ", from.dims[0]);
  State part = from;
  int64_t row = from.dims[0] ? from.bytes / from.dims[0] : 0;
  part.dims[0] = end - begin;
  part.count = from.dims[0] ? from.count / from.dims[0] * (end - begin) : 0;
  part.bytes = row * (end - begin);
  part.offset += row * begin;
  return Buffer(std::make_shared<const State>(std::move(part)));
}

Buffer Buffer::reshape(Ints dims) const {
  if (count_of(dims) != state().count)
    fail(ErrorKind::value, "reshape", "a buffer of shape ", state_->dims, " has no shape ", dims);
  State other = *state_;
  other.dims = std::move(dims);
  return Buffer(std::make_shared<const State>(std::move(other)));
}

Buffer Buffer::to(const Device& device) const {
  Buffer copy(dtype(), dims(), device);
  copy.copy_from(*this);
  return copy;
}

void Buffer::copy_from(const Buffer& other) const {
  const State &to = state(), &from = other.state();
  if (to.dtype != from.dtype || to.count != from.count)
    fail(ErrorKind::type, "copy", "a buffer of ", name(to.dtype), to.dims, " cannot take the elements of one of ",
         name(from.dtype), from.dims);
  if (!to.writable)
    fail(ErrorKind::value, "read_only", "the buffer of ", name(to.dtype), to.dims, " must not be written");
  if (to.bytes == 0) return;
  DeviceMemory& target = to.device.state().allocator.memory();
  if (from.is_host()) return target.write(to.memory, to.offset, from.data(), to.bytes);
  DeviceMemory& source = from.device.state().allocator.memory();
  if (to.is_host()) return source.read(from.memory, from.offset, to.data(), to.bytes);
  std::vector<char> host(static_cast<size_t>(to.bytes));
  source.read(from.memory, from.offset, host.data(), to.bytes);
  target.write(to.memory, to.offset, host.data(), to.bytes);
}

}  // namespace weft
