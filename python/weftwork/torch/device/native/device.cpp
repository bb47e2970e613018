// The device "weftwork" of PyTorch: torch's key PrivateUse1, with the host's memory.
//
// Operations run in torch's kernels for the CPU, over the same memory: `run_on_cpu` gives the arguments other tensors
// (alias.h), calls the operation again, and gives the results back. Compiled graphs run our programs over the memory in
// the same way.
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>

#include <set>

#include "kernels.h"

namespace weft_torch {
namespace {

using c10::DispatchKey;
using torch::jit::Stack;

void run_on_cpu(const c10::OperatorHandle& op, Stack* stack) {
  // Gradients and casts were seen to above.
  const c10::impl::ExcludeDispatchKeyGuard below(c10::autograd_dispatch_keyset_with_ADInplaceOrView |
                                                 c10::autocast_dispatch_keyset);
  Call call(op.schema().name());
  const size_t count = op.schema().arguments().size(), first = stack->size() - count;
  for (size_t i = first; i < stack->size(); ++i) (*stack)[i] = call.to_cpu((*stack)[i]);
  op.callBoxed(stack);
  call.update();
  for (size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); ++i) {
    (*stack)[i] = call.to_device((*stack)[i]);
  }
}

// --- autocast: what is cast is what is cast on the CPU ---

void each_tensor(const c10::OperatorHandle& op, Stack* stack, const std::function<Tensor(const Tensor&)>& change) {
  for (size_t i = stack->size() - op.schema().arguments().size(); i < stack->size(); ++i) {
    c10::IValue& value = (*stack)[i];
    if (value.isTensor()) {
      value = change(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<Tensor> list;
      for (const Tensor& item : value.toTensorVector()) list.push_back(change(item));
      value = std::move(list);
    }
  }
}

void cast_all(const c10::OperatorHandle& op, Stack* stack, c10::ScalarType dtype) {
  const c10::impl::ExcludeDispatchKeyGuard below(DispatchKey::AutocastPrivateUse1);
  each_tensor(op, stack, [&](const Tensor& x) { return at::autocast::cached_cast(dtype, x, device_type); });
  op.callBoxed(stack);
}

void cast_lower(const c10::OperatorHandle& op, Stack* stack) {
  cast_all(op, stack, at::autocast::get_autocast_dtype(device_type));
}

void cast_fp32(const c10::OperatorHandle& op, Stack* stack) { cast_all(op, stack, c10::kFloat); }

void cast_widest(const c10::OperatorHandle& op, Stack* stack) {
  c10::ScalarType dtype = at::autocast::get_autocast_dtype(device_type);
  each_tensor(op, stack, [&](const Tensor& x) {
    dtype = at::autocast::prioritize(dtype, x, device_type);
    return x;
  });
  cast_all(op, stack, dtype);
}

const std::set<std::string> lower_names = {"_addmm_activation",
                                           "_convolution",
                                           "_native_multi_head_attention",
                                           "addbmm",
                                           "addmm",
                                           "baddbmm",
                                           "bmm",
                                           "conv1d",
                                           "conv2d",
                                           "conv3d",
                                           "conv_tbc",
                                           "conv_transpose1d",
                                           "conv_transpose2d",
                                           "conv_transpose3d",
                                           "linalg_vecdot",
                                           "linear",
                                           "matmul",
                                           "mkldnn_rnn_layer",
                                           "mm",
                                           "prelu",
                                           "scaled_dot_product_attention"};
const std::set<std::string> widest_names = {"cat", "index_copy", "stack"};

// --- registration ---

// Composite operations whose pieces ask which device they run on, or that are one call on the CPU instead of many here.
bool runs_whole(const std::string& name) {
  static const std::set<std::string> names = {"_convolution", "convolution", "convolution_backward", "copy_"};
  return names.count(name) != 0 || name.rfind("_foreach_", 0) == 0;
}

template <c10::BoxedKernel::BoxedKernelFunction* function>
void add(torch::Library& library, const c10::OperatorName& name) {
  const std::string plain = name.name.substr(std::string("aten::").size());
  library.impl((plain + (name.overload_name.empty() ? "" : "." + name.overload_name)).c_str(),
               torch::CppFunction::makeFromBoxedFunction<function>());
}

// Operations that torch has a kernel for on the CPU go there at once, past what it would do for devices that lack one.
void register_operations() {
  static auto& kernels =
      *new torch::Library(torch::Library::IMPL, "aten", DispatchKey::PrivateUse1, __FILE__, __LINE__);
  static auto& casts =
      *new torch::Library(torch::Library::IMPL, "aten", DispatchKey::AutocastPrivateUse1, __FILE__, __LINE__);
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto op = c10::Dispatcher::singleton().findOp(name);
    const std::string plain = name.name.substr(std::string("aten::").size());
    if (op->hasKernelForDispatchKey(DispatchKey::AutocastCPU)) {
      if (lower_names.count(plain) != 0) {
        add<cast_lower>(casts, name);
      } else if (widest_names.count(plain) != 0) {
        add<cast_widest>(casts, name);
      } else {
        add<cast_fp32>(casts, name);
      }
    }
    const bool is_ours = op->hasKernelForDispatchKey(DispatchKey::PrivateUse1);
    const bool is_composite = op->hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
    if (!is_ours && !is_composite && (op->hasKernelForDispatchKey(DispatchKey::CPU) || runs_whole(plain))) {
      add<run_on_cpu>(kernels, name);
    }
  }
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("as_strided", &at::native::as_strided_tensorimpl);
  m.impl("view", &at::native::view);
  m.impl("_reshape_alias", &at::native::_reshape_alias);
  m.impl("record_stream", &record_stream);
  m.impl("_scaled_dot_product_fused_attention_overrideable", &attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward", &attention_backward);
  m.impl("_thnn_fused_lstm_cell", &lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", &gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", &gru_cell_backward);
}

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

// Autograd starts a thread for each device at the first backward pass of a process. Where that was before the device
// was there, its thread is started now.
struct Engine : torch::autograd::Engine {
  static void start_threads() {
    torch::autograd::Engine& engine = get_default_engine();
    engine.initialize_device_threads_pool();
    if ((engine.*(&Engine::device_ready_queues_)).empty()) (engine.*(&Engine::start_device_threads))();
  }
};

void set_up() {
  c10::SetAllocator(device_type, &device_allocator);
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  torch::profiler::impl::registerPrivateUse1Methods(new ProfilerMethods);
  at::native::RegisterPRIVATEUSE1Dispatch<at::native::_fused_sdp_choice_stub_DECLARE_DISPATCH_type>(
      at::native::_fused_sdp_choice_stub, &attention_choice);
  register_operations();
  Engine::start_threads();
}

Tensor to_cpu(const Tensor& tensor) { return Call("to_cpu").to_cpu(tensor); }

Tensor to_device(const Tensor& tensor) { return Call("to_device").to_device(tensor); }

}  // namespace
}  // namespace weft_torch

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("set_up", &weft_torch::set_up, pybind11::call_guard<pybind11::gil_scoped_release>());
  m.def("to_cpu", &weft_torch::to_cpu);
  m.def("to_device", &weft_torch::to_device);
}
