// The operations of the dialect `check`: calls without results that fail where their operands differ.
#include <algorithm>
#include <bit>
#include <cmath>

#include "weft/ir/dense.h"
#include "weft/ir/graph.h"
#include "weft/ir/number_text.h"
#include "weft/ir/routine_call.h"
#include "weft/ir/scalar_body.h"

namespace weft {
namespace {

constexpr double usual_tolerance = 0.001, usual_ulps = 3;

// "name = 3.0e+00" of the configuration, or `otherwise`.
double number_of(const Node& node, std::string_view name, double otherwise) {
  if (!node.attrs.find(Attr::backend_config)) return otherwise;
  const std::string& config = node.attrs.text(Attr::backend_config);
  size_t at = config.find(cat(name, " = "));
  if (at == std::string::npos) return otherwise;
  at += name.size() + 3;
  auto bits = float_bits_of(std::string_view(config).substr(at, config.find_first_of(",}", at) - at), DType::f64);
  return bits ? std::bit_cast<double>(*bits) : otherwise;
}

// The place of a number among all numbers of its type, in their order.
double rank_of(const Literal& literal, int64_t i) {
  uint64_t bits = 0;
  auto size = static_cast<size_t>(size_of(literal.dtype()));
  std::copy_n(literal.bytes().begin() + i * static_cast<int64_t>(size), size, reinterpret_cast<std::byte*>(&bits));
  uint64_t sign = uint64_t{1} << (8 * size - 1);
  auto magnitude = static_cast<double>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

bool agrees(const Node& node, const Literal& got, const Literal& wanted, int64_t i) {
  const std::string& target = node.attrs.text(Attr::call_target_name);
  DType dtype = got.dtype();
  if (is_integer(dtype) || is_bool(dtype)) return got.as_int(i) == wanted.as_int(i);
  std::complex<double> a = got.as_complex(i), b = wanted.as_complex(i);
  bool both_nan = std::isnan(std::abs(a)) && std::isnan(std::abs(b));
  if (a == b || both_nan) return true;
  if (target == "check.expect_almost_eq") return std::abs(a - b) <= number_of(node, "tolerance", usual_tolerance);
  if (target != "check.expect_close" || is_complex(dtype) || std::isnan(a.real()) || std::isnan(b.real())) return false;
  double ulps = std::abs(rank_of(got, i) - rank_of(wanted, i));
  return ulps >= number_of(node, "min_ulp_difference", 0) && ulps <= number_of(node, "max_ulp_difference", usual_ulps);
}

std::string element_text(const Literal& literal, int64_t i) {
  Literal one(Type{literal.dtype(), {}});
  set_element(one, 0, element_at(literal, i));
  std::string text = dense_text(one);  // dense<…>
  return text.substr(6, text.size() - 7);
}

}  // namespace

bool is_expectation(const Node& node) {
  return node.op == Op::custom_call && node.attrs.text(Attr::call_target_name).starts_with("check.expect_");
}

void require_expectation(const Node& node, std::span<const Literal> operands) {
  const std::string& target = node.attrs.text(Attr::call_target_name);
  if (operands.size() != 2 || operands[0].type() != operands[1].type())
    raise({ErrorKind::type, cat(target, ": takes two values of one type"), "expect_types", node.loc});
  Ints dims = operands[0].type().static_dims();
  for (int64_t i = 0; i < operands[0].count(); ++i) {
    if (agrees(node, operands[0], operands[1], i)) continue;
    Ints index(dims.size());
    int64_t rest = i;
    for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) index[d] = rest % dims[d];
    raise({ErrorKind::runtime,
           cat(target, ": element ", index, " must be ", element_text(operands[1], i), ", got ",
               element_text(operands[0], i)),
           "expectation", node.loc});
  }
}

}  // namespace weft
