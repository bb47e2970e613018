// How each op becomes HLO: one function for each that says more than opcode and operands. The table is in hlo_ops.cpp.
#pragma once

#include "weft/interop/hlo_writer.h"

namespace weft {

// Writes the instructions of a node and gives a value for each of its results.
using HloRule = HloValues (*)(HloComputation& hlo, const Node& node, const HloValues& operands);

// By the rule of its op. Error(unsupported) where HLO has none.
HloValues write_node(HloComputation& hlo, const Node& node, const HloValues& operands);

// The op's own opcode with fields of its own: one array, or the elements of a tuple.
HloValues write_fields(HloComputation& hlo, const Node& node, const HloValues& operands, const Message& fields);
HloValues write_plain(HloComputation& hlo, const Node& node, const HloValues& operands);

// Ops that HLO has no opcode for (hlo_expand.cpp): null for all others.
HloRule expansion(Op op);

// Loops, branches, sorting, calls to the outside, collectives (hlo_control.cpp).
HloValues write_while(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_conditional(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_barrier(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_sort(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_custom_call(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_all_reduce(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_reduce_scatter(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_all_gather(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_all_to_all(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_collective_broadcast(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_collective_permute(HloComputation& hlo, const Node& node, const HloValues& operands);

// Windows, factorisations, Fourier transforms (hlo_window.cpp).
HloValues write_convolution(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_reduce_window(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_select_and_scatter(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_cholesky(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_triangular_solve(HloComputation& hlo, const Node& node, const HloValues& operands);
HloValues write_fft(HloComputation& hlo, const Node& node, const HloValues& operands);

// Fields of xla.HloInstructionProto that several opcodes share.
inline constexpr uint32_t hlo_dimensions = 14, hlo_called = 38, hlo_precision = 51;

// xla.PrecisionConfig: the highest for both operands: a device must not round f32 to less on the way.
Message highest_precision();

}  // namespace weft
