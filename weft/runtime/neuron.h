// AWS Neuron devices, by the Neuron runtime's library libnrt, which is loaded when the first one is asked for.
#pragma once

#include <string_view>
#include <vector>

#include "weft/core/api.h"
#include "weft/runtime/device.h"
#include "weft/runtime/executable.h"

namespace weft WEFT_API {

// A device "neuron:N" for each NeuronCore that the runtime shows to this process (see NEURON_RT_VISIBLE_CORES), which
// it holds from the first call until it ends. Error(runtime): "neuron_runtime" where the library that WEFT_LIBNRT
// names, else libnrt.so.1, cannot be loaded, "neuron_call" with the name and code of the call that failed. The first
// call may take seconds.
std::vector<Device> neuron_devices();

// A program that neuronx-cc compiled, on such a device. Its inputs and outputs are those of `signature`, else those
// that the file names, in the order of their names, numbers in them as numbers. Where the names of the two differ they
// go by order; then Error(io, "neff_signature") for another number of them, or another size. No extent may be symbolic.
Executable load_neff(std::string_view neff, const Device& device, const Manifest* signature = nullptr);

}  // namespace weft
