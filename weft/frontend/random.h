// Random numbers from explicit keys: the same key gives the same numbers, those of wf.random in Python.
//
// A key is a u64 scalar; numbers are drawn from Threefry-2x32, a function of the key and a counter. A key is for one
// draw: split it for several. Float dtypes are f64, f32, f16 and bf16. Error(type, "random_key", "random_dtype" or
// "random_number") for dtypes, Error(value, "random_bounds") for bounds.
#pragma once

#include "weft/frontend/operand.h"

#pragma GCC visibility push(default)
namespace weft::random {

Tensor key(uint64_t seed);
// New keys, u64 (count); and the key that a key and an integer make, as one for each step of a loop.
Tensor split(const Tensor& key, int64_t count = 2, Where where = Where::current());
Tensor fold_in(const Tensor& key, const Operand& number);
// Words of an unsigned dtype.
Tensor bits(const Tensor& key, Ints dims, DType dtype = DType::u32, Where where = Where::current());
// Numbers from `low` up to, not including, `high`; of a normal distribution; of an exponential one with that mean. The
// parameters broadcast to `dims`.
Tensor uniform(const Tensor& key, Ints dims, DType dtype = DType::f64, const Operand& low = 0.0,
               const Operand& high = 1.0);
Tensor normal(const Tensor& key, Ints dims, DType dtype = DType::f64, const Operand& mean = 0.0,
              const Operand& deviation = 1.0);
Tensor exponential(const Tensor& key, Ints dims, DType dtype = DType::f64, const Operand& scale = 1.0);
// Booleans, true with probability p, which broadcasts to `dims`.
Tensor bernoulli(const Tensor& key, const Operand& p, Ints dims);
// Integers from `low` up to, not including, `high`.
Tensor randint(const Tensor& key, Ints dims, int64_t low, int64_t high, DType dtype = DType::i64,
               Where where = Where::current());
// The slices of an axis, of static extent, in another order.
Tensor permutation(const Tensor& key, const Tensor& x, int64_t axis = 0, Where where = Where::current());

}  // namespace weft::random
#pragma GCC visibility pop
