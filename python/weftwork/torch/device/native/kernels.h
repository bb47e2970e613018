// Operations that are the device's own: memory and views, which run nothing, and those that torch gives no kernel for
// the CPU.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/view_native.h>
#include <ATen/ops/zeros_like.h>

#include <tuple>

#include "runtime.h"

namespace weft_torch {

using at::Tensor;
using Maybe = std::optional<Tensor>;

// --- memory ---

inline void check_options(std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                          std::optional<bool> pinned) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(c10::kStrided) == c10::kStrided,
                              "the device weftwork has dense tensors only, got layout ", *layout);
  TORCH_CHECK(!pinned.value_or(false), "only tensors of the CPU can be pinned");
  if (device) check_index(*device);
}

inline Tensor filled(Tensor tensor) {
  const at::Context& context = at::globalContext();
  if (context.deterministicAlgorithms() && context.deterministicFillUninitializedMemory()) {
    at::native::fill_empty_deterministic_(tensor);
  }
  return tensor;
}

inline Tensor empty(c10::IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
                    std::optional<c10::Device> device, std::optional<bool> pinned,
                    std::optional<c10::MemoryFormat> format) {
  check_options(layout, device, pinned);
  const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return filled(at::detail::empty_generic(size, &device_allocator, keys, c10::dtype_or_default(dtype), format));
}

inline Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<c10::ScalarType> dtype,
                            std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                            std::optional<bool> pinned) {
  check_options(layout, device, pinned);
  const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return filled(at::detail::empty_strided_generic(size, stride, &device_allocator, keys, c10::dtype_or_default(dtype)));
}

inline void record_stream(Tensor&, c10::Stream) {}

// --- attention ---

inline int64_t attention_choice(const Tensor& query, const Tensor& key, const Tensor& value, const Maybe& mask,
                                double dropout, bool causal, std::optional<double> scale, bool grouped) {
  const int64_t choice = at::_fused_sdp_choice(query, key, value, mask, dropout, causal, scale, grouped);
  const bool fused = choice == static_cast<int64_t>(sdp::SDPBackend::flash_attention) && query.size(1) == key.size(1);
  return static_cast<int64_t>(fused ? sdp::SDPBackend::overrideable : sdp::SDPBackend::math);
}

using Attention = std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

inline Attention attention(const Tensor& query, const Tensor& key, const Tensor& value, const Maybe& mask,
                           double dropout, bool causal, bool, std::optional<double> scale) {
  auto [output, sums] =
      at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout, causal, mask, scale);
  const Tensor none = at::empty({}, at::kLong);
  return {output, sums, Tensor(), Tensor(), query.sym_size(2), key.sym_size(2), none, none, Tensor()};
}

inline std::tuple<Tensor, Tensor, Tensor, Tensor> attention_backward(
    const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
    std::array<bool, 4>, const Tensor& output, const Tensor& sums, const Tensor&, const Tensor&, c10::SymInt,
    c10::SymInt, double dropout, bool causal, const Tensor&, const Tensor&, std::optional<double> scale) {
  const Maybe given = mask.defined() ? Maybe(mask) : std::nullopt;
  auto [q, k, v] = at::_scaled_dot_product_flash_attention_for_cpu_backward(grad, query, key, value, output, sums,
                                                                            dropout, causal, given, scale);
  return {q, k, v, Tensor()};
}

// --- cells of recurrent networks: torch calls these for every device but the CPU ---

inline bool is_given(const Maybe& x) { return x && x->defined(); }

inline Tensor plus(const Tensor& x, const Maybe& bias) { return is_given(bias) ? x + *bias : x; }

inline std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& from_input, const Tensor& from_hidden,
                                                    const Tensor& cx, const Maybe& input_bias,
                                                    const Maybe& hidden_bias) {
  const auto gates = (plus(from_input, input_bias) + plus(from_hidden, hidden_bias)).unsafe_chunk(4, 1);
  const Tensor in = gates[0].sigmoid(), forget = gates[1].sigmoid(), cell = gates[2].tanh(), out = gates[3].sigmoid();
  const Tensor cy = forget * cx + in * cell;
  return {out * cy.tanh(), cy, at::cat({in, forget, cell, out}, 1)};
}

inline std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(const Maybe& grad_hy, const Maybe& grad_cy,
                                                             const Tensor& cx, const Tensor& cy, const Tensor& kept,
                                                             bool has_bias) {
  if (!is_given(grad_hy) && !is_given(grad_cy)) return {};
  const auto gates = kept.unsafe_chunk(4, 1);
  const Tensor &in = gates[0], &forget = gates[1], &cell = gates[2], &out = gates[3];
  const Tensor squashed = cy.tanh();
  const Tensor hy = is_given(grad_hy) ? *grad_hy : at::zeros_like(cy);
  const Tensor c = plus(hy * out * (1 - squashed * squashed), grad_cy);
  const Tensor grad = at::cat({c * cell * (1 - in) * in, c * cx * (1 - forget) * forget, c * in * (1 - cell * cell),
                               hy * squashed * (1 - out) * out},
                              1);
  return {grad, c * forget, has_bias ? grad.sum(0) : Tensor()};
}

inline std::tuple<Tensor, Tensor> gru_cell(const Tensor& from_input, const Tensor& from_hidden, const Tensor& hx,
                                           const Maybe& input_bias, const Maybe& hidden_bias) {
  const auto x = plus(from_input, input_bias).unsafe_chunk(3, 1), h = plus(from_hidden, hidden_bias).unsafe_chunk(3, 1);
  const Tensor reset = (x[0] + h[0]).sigmoid(), update = (x[1] + h[1]).sigmoid(), fresh = (x[2] + reset * h[2]).tanh();
  return {fresh + update * (hx - fresh), at::cat({reset, update, fresh, hx, h[2]}, 1)};
}

inline std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad, const Tensor& kept,
                                                                            bool has_bias) {
  const auto parts = kept.unsafe_chunk(5, 1);
  const Tensor &reset = parts[0], &update = parts[1], &fresh = parts[2], &hx = parts[3], &h = parts[4];
  const Tensor of_update = grad * (hx - fresh) * (1 - update) * update;
  const Tensor of_fresh = grad * (1 - update) * (1 - fresh * fresh);
  const Tensor of_reset = of_fresh * h * (1 - reset) * reset;
  const Tensor input = at::cat({of_reset, of_update, of_fresh}, 1);
  const Tensor hidden = at::cat({of_reset, of_update, of_fresh * reset}, 1);
  return {input, hidden, grad * update, has_bias ? input.sum(0) : Tensor(), has_bias ? hidden.sum(0) : Tensor()};
}

}  // namespace weft_torch
