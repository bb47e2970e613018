// NumPy's element-wise functions by name: which dtypes each computes in, and what it records.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "weft/frontend/operand.h"
#include "weft/ir/op.h"

namespace weft {

// What a function computes the lesser dtypes as.
enum class Least {
  boolean,     // all as they are
  integer,     // booleans as i8
  no_boolean,  // booleans not at all
  floating,    // booleans and integers as the float of enough bits: 8 as f16, 16 as f32, others as f64
  f64,         // booleans and integers as f64
  widest,      // everything as f64 or c128
};
// The greatest dtypes that it takes.
enum class Most { integer, real, complex };

struct Ufunc {
  std::string_view name;  // NumPy's
  size_t operands;
  Least least;
  Most most;
  // Of operands of one dtype that it computes in.
  std::vector<Tensor> (*record)(const Ufunc& ufunc, std::span<const Tensor> operands);
  std::optional<Op> op = {};        // the operation, of those whose `record` asks for it
  const char* direction = nullptr;  // of a comparison
  bool exponent = false;            // the second operand is an integer of its own
};

// NumPy's, in the order of their names.
std::span<const Ufunc> all_ufuncs();
// One of NumPy's, or of SciPy's (special.h); nothing for what is not among them.
const Ufunc* find_ufunc(std::string_view name);

// Records a call: operands promote as NumPy's do (NEP 50) and broadcast. Error(type, "no_loop" or "promotion") where
// NumPy has no loop for them, Error(value, "number_range") for an integer that does not fit.
std::vector<Tensor> call(const Ufunc& ufunc, std::span<const Operand> operands);

}  // namespace weft
