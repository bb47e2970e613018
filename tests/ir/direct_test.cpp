// Loops of the usual types give what apply() gives for each element.
#include "weft/ir/direct.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "weft/core/element.h"
#include "weft/ir/literal.h"

namespace weft {
namespace {

constexpr DType usual[] = {DType::f64, DType::f32, DType::i64, DType::i32, DType::boolean};

// Numbers that are different for each seed, with those among them where arithmetic is special.
Literal filled(DType dtype, const Dims& dims, int seed) {
  Literal literal(Type{dtype, dims});
  double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double special[] = {0.0, -0.0, inf, -inf, nan, 1e300, -7.5, 3};
  const int64_t least = std::numeric_limits<int64_t>::min(), integers[] = {0, -1, least, least + 1, 7, -7, 1 << 30, 3};
  for (int64_t i = 0; i < literal.count(); ++i) {
    auto at = static_cast<size_t>(i * 5 + seed * 3 + i / 8) % 8;
    Element element = is_float(dtype) ? Element::of_double(dtype, special[at]) : Element::of_int(dtype, integers[at]);
    store(literal.mutable_bytes() + i * size_of(dtype), element);
  }
  return literal;
}

int64_t place(const Type& from, const Ints& to, int64_t i) {
  Ints dims = from.static_dims(), strides = row_major_strides(dims);
  int64_t sum = 0;
  for (size_t d = to.size(); d-- > 0; i /= to[d]) {
    size_t lead = to.size() - dims.size();
    if (d >= lead && dims[d - lead] != 1) sum += i % to[d] * strides[d - lead];
  }
  return sum;
}

void require_same(Scalar op, const Type& type, const std::vector<Literal>& operands) {
  std::optional<Literal> found = evaluate_directly(op, type, operands);
  if (!found) return;
  Literal wanted(type);
  Ints dims = type.static_dims();
  for (int64_t i = 0; i < wanted.count(); ++i) {
    Element arguments[3];
    for (size_t k = 0; k < operands.size(); ++k) {
      DType dtype = operands[k].dtype();
      arguments[k] = load(operands[k].bytes().data() + place(operands[k].type(), dims, i) * size_of(dtype), dtype);
    }
    store(wanted.mutable_bytes() + i * size_of(type.dtype), apply(op, type.dtype, arguments));
  }
  CAPTURE(name(op));
  CAPTURE(type);
  for (int64_t i = 0; i < wanted.count(); ++i) {
    bool are_nan = is_float(type.dtype) && wanted.as_double(i) != wanted.as_double(i) &&
                   found->as_double(i) != found->as_double(i);
    auto size = static_cast<size_t>(size_of(type.dtype));
    const std::byte *a = wanted.bytes().data(), *b = found->bytes().data();
    CHECK((are_nan || std::memcmp(a + i * size_of(type.dtype), b + i * size_of(type.dtype), size) == 0));
  }
}

}  // namespace

TEST_CASE("loops of the usual types do what is done to each element") {
  const std::vector<std::pair<Dims, Dims>> shapes = {{{64}, {64}},      {{8, 9}, {9}}, {{8, 1, 3}, {4, 1}},
                                                     {{5, 1}, {1, 13}}, {{}, {2, 17}}, {{0, 3}, {3}}};
  int count = 0;
  for (const auto& [a, b] : shapes) {
    Dims to;
    size_t rank = std::max(a.size(), b.size());
    for (size_t i = 0; i < rank; ++i) {
      Dim x = i + a.size() >= rank ? a[i + a.size() - rank] : Dim(1),
          y = i + b.size() >= rank ? b[i + b.size() - rank] : 1;
      to.push_back(x.is(1) ? y : x);
    }
    for (DType dtype : usual) {
      Literal lhs = filled(dtype, a, 1), rhs = filled(dtype, b, 2), conditions = filled(DType::boolean, b, 3);
      require_same(Scalar::select, {dtype, to}, {conditions, lhs, rhs});
      for (Scalar op : {Scalar::add, Scalar::subtract, Scalar::multiply, Scalar::divide, Scalar::maximum,
                        Scalar::minimum, Scalar::bit_and, Scalar::bit_or, Scalar::bit_xor}) {
        bool is_bitwise = op == Scalar::bit_and || op == Scalar::bit_or || op == Scalar::bit_xor;
        if ((is_bitwise && is_float(dtype)) || (is_bool(dtype) && (op == Scalar::divide || op == Scalar::subtract)))
          continue;
        require_same(op, {dtype, to}, {lhs, rhs});
        ++count;
      }
      for (Scalar op : {Scalar::eq, Scalar::ne, Scalar::lt, Scalar::le, Scalar::gt, Scalar::ge})
        require_same(op, {DType::boolean, to}, {lhs, rhs});
      for (Scalar op :
           {Scalar::negate, Scalar::abs, Scalar::sqrt, Scalar::exp, Scalar::log, Scalar::sin, Scalar::cos}) {
        bool is_meant = is_float(dtype) || (op == Scalar::negate && !is_bool(dtype));
        if (is_meant) require_same(op, {dtype, a}, {lhs});
      }
      for (DType target : usual) require_same(Scalar::convert, {target, a}, {lhs});
    }
  }
  CHECK(count > 100);
  CHECK(evaluate_directly(Scalar::add, {DType::f64, {8}},
                          std::vector{filled(DType::f64, {8}, 0), filled(DType::f64, {8}, 1)}));
}

TEST_CASE("elements that lie apart are gathered, backwards too") {
  Literal numbers(Type{DType::i32, {4, 5}});
  for (int i = 0; i < 20; ++i) numbers.mutable_data<int32_t>()[static_cast<size_t>(i)] = i;
  Literal found = strided({DType::i32, {2, 3}}, numbers, 17, {-10, -1});
  CHECK(found == [] {
    Literal wanted(Type{DType::i32, {2, 3}});
    const int32_t values[] = {17, 16, 15, 7, 6, 5};
    std::memcpy(wanted.mutable_bytes(), values, sizeof values);
    return wanted;
  }());
  CHECK(strided({DType::i32, {}}, numbers, 6, {}).as_int(0) == 6);
  CHECK(strided({DType::i32, {0, 3}}, numbers, 0, {5, 1}).count() == 0);
}

}  // namespace weft
