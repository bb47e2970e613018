// Quantised types in text, and calls on them as calls on real numbers or on stored integers.
#pragma once

#include "weft/ir/parse_call.h"

namespace weft {

// After "!quant.uniform": <i8<-127:127>:f32:1, {0.5:3, 1.0}>, as the element type of a tensor of such dims. Sets dtype
// and quantisation; Error(value) for text that is none.
void parse_quantized(std::string_view text, Type& type);

// Whether a call has quantised operands or results and computes with them.
bool computes_quantized(const ParsedCall& call);
// Gives the call operands, results and regions without quantised types: stored integers where it moves elements or has
// a body for them, else real numbers.
void enter_quantized(Builder& build, ParsedCall& call);
// The results of a call that was entered, in the types that the text gave.
void leave_quantized(Builder& build, const std::vector<Type>& wanted, std::vector<Value>& given);

// "applies NAME": the body of a reduce over elements of that type.
GraphPtr applied_body(Op op, const Type& element);

}  // namespace weft
