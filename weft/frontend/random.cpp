// The draws of python/weftwork/random.py, operation by operation: both must give the same numbers.
#include "weft/frontend/random.h"

#include <cmath>
#include <numbers>

#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"
#include "weft/ir/literal.h"

namespace weft::random {
namespace {

// Counters of draws start at 0, those of new keys here.
constexpr uint64_t of_split = uint64_t{1} << 63, of_fold = uint64_t{3} << 62;

Tensor word(uint64_t value) { return weft::constant(Literal::scalar_int(DType::u64, static_cast<int64_t>(value))); }

Tensor words(const Tensor& key, const Ints& dims, DType dtype, const Tensor& start = word(0)) {
  if (key.rank() || key.dtype() != DType::u64)
    fail(ErrorKind::type, "random_key", "a key of random::key (u64) was wanted, got ", key.type());
  for (int64_t dim : dims)
    if (dim < 0) fail(ErrorKind::value, "extent", "extents must be 0 or more, got ", dims);
  return apply_all(Op::rng_bit_generator, {stack({key, start})},
                   {{Attr::rng_algorithm, std::string("THREE_FRY")},
                    {Attr::type, dtype},
                    {Attr::dims, Dims(dims.begin(), dims.end())}})[1];
}

// Multiples of a power of two in [0, 1), all equally likely.
Tensor unit(const Tensor& key, const Ints& dims, DType dtype) {
  struct Words {
    DType dtype, word;
    int dropped, digits;
  };
  constexpr Words all[] = {{DType::f64, DType::u64, 11, 53},
                           {DType::f32, DType::u32, 8, 24},
                           {DType::f16, DType::u16, 5, 11},
                           {DType::bf16, DType::u16, 8, 8}};
  for (const Words& each : all)
    if (each.dtype == dtype)
      return cast_to(right_shift(words(key, dims, each.word), each.dropped), dtype) *
             number(std::ldexp(1.0, -each.digits), dtype);
  fail(ErrorKind::type, "random_dtype", "f64, f32, f16 or bf16 was wanted, got ", name(dtype));
}

DType wide(DType dtype) { return dtype == DType::f64 ? dtype : DType::f32; }

}  // namespace

Tensor key(uint64_t seed) { return tensor<uint64_t>({seed}, Ints{}); }

Tensor split(const Tensor& key, int64_t count, Where where) {
  return recorded("split", where, [&] { return words(key, {count}, DType::u64, word(of_split)); });
}

Tensor fold_in(const Tensor& key, const Operand& number) {
  return recorded("fold_in", number.where, [&] {
    if (!is_integer(result_type({&number})) || (number.is_tensor() && number.tensor.rank()))
      fail(ErrorKind::type, "random_number", "an integer was wanted");
    return index(words(key, {1}, DType::u64, as_tensor(number, DType::u64) + word(of_fold)), {0});
  });
}

Tensor bits(const Tensor& key, Ints dims, DType dtype, Where where) {
  return recorded("bits", where, [&] {
    if (!is_unsigned(dtype)) fail(ErrorKind::type, "random_dtype", "an unsigned dtype was wanted, got ", name(dtype));
    return words(key, dims, dtype);
  });
}

Tensor uniform(const Tensor& key, Ints dims, DType dtype, const Operand& low, const Operand& high) {
  return recorded("uniform", low.where, [&] {
    Tensor first = as_tensor(low, dtype);
    return first + unit(key, dims, dtype) * (as_tensor(high, dtype) - first);
  });
}

// By Box and Muller (1958).
Tensor normal(const Tensor& key, Ints dims, DType dtype, const Operand& mean, const Operand& deviation) {
  return recorded("normal", mean.where, [&] {
    unit(key, dims, dtype);  // errors for other dtypes and extents
    int64_t count = Type{dtype, Dims(dims.begin(), dims.end())}.count().value();
    Tensor u = unit(key, {2, (count + 1) / 2}, wide(dtype)), first = index(u, {0}), second = index(u, {1});
    Tensor radius = sqrt(log1p(-first) * number(-2, wide(dtype))),
           angle = second * number(2 * std::numbers::pi, wide(dtype));
    Tensor standard = reshape(slice(concatenate({radius * cos(angle), radius * sin(angle)}), 0, {{}, count}),
                              Dims(dims.begin(), dims.end()));
    return cast_to(standard * as_tensor(deviation, wide(dtype)) + as_tensor(mean, wide(dtype)), dtype);
  });
}

Tensor exponential(const Tensor& key, Ints dims, DType dtype, const Operand& scale) {
  return recorded("exponential", scale.where, [&] {
    unit(key, dims, dtype);  // errors for other dtypes and extents
    return cast_to(-log1p(-unit(key, dims, wide(dtype))) * as_tensor(scale, wide(dtype)), dtype);
  });
}

Tensor bernoulli(const Tensor& key, const Operand& p, Ints dims) {
  return recorded("bernoulli", p.where, [&] { return unit(key, dims, DType::f64) < as_tensor(p, DType::f64); });
}

Tensor randint(const Tensor& key, Ints dims, int64_t low, int64_t high, DType dtype, Where where) {
  return recorded("randint", where, [&] {
    if (!is_integer(dtype)) fail(ErrorKind::type, "random_dtype", "an integer dtype was wanted, got ", name(dtype));
    if (low >= high) fail(ErrorKind::value, "random_bounds", "low must be less than high, got ", low, " and ", high);
    uint64_t first = static_cast<uint64_t>(low), span = static_cast<uint64_t>(high) - first;
    as_tensor(low, dtype), as_tensor(high - 1, dtype);  // an error for what does not fit
    return cast_to(cast_to(apply(Op::mulhi, {words(key, dims, DType::u64), word(span)}) + word(first), DType::i64),
                   dtype);
  });
}

Tensor permutation(const Tensor& key, const Tensor& x, int64_t axis, Where where) {
  return recorded("permutation", where, [&] {
    const Dim& extent = x.dims()[static_cast<size_t>(one_axis(axis, x.rank()))];
    if (!extent.is_static())
      fail(ErrorKind::unsupported, "symbolic_extent", "an axis of a symbolic extent (", extent, ") cannot be compiled");
    return take(x, argsort(words(key, {extent.value()}, DType::u64)), axis);
  });
}

}  // namespace weft::random
