// Which routine carries out a node, and with which numbers: StableHLO's factorisations, and custom_calls of the names
// that JAX gives to LAPACK.
#include "weft/ir/routine_call.h"

#include <algorithm>

#include "weft/ir/number_text.h"
#include "weft/library/custom.h"
#include "weft/library/fft.h"
#include "weft/library/routine.h"
#include "weft/ops/infer.h"

namespace weft {
namespace {

using Routing = RoutineCall (*)(const Node& node);

Dim batch_of(const Type& type, size_t trailing) {
  Dim batch = 1;
  for (size_t i = 0; i + trailing < type.dims.size(); ++i) batch = batch * type.dims[i];
  return batch;
}

Dim number(DType dtype) { return static_cast<int64_t>(dtype); }
Dim number(bool flag) { return flag ? 1 : 0; }
// Extents from the end: extent(t, 1) is the last.
Dim extent(const Type& type, size_t from_end) { return type.dims[type.dims.size() - from_end]; }

// "1 : i64", which the reader has checked.
std::optional<int64_t> integer_in(std::string_view value) {
  std::string_view number = value.substr(0, value.find(' '));
  return integer_of(number, IntegerType{});
}

// "name = value" of {lower = true, mode = 1 : i64}: an integer, or the default.
int64_t config_integer(const Attrs& attrs, std::string_view key, int64_t otherwise) {
  if (!attrs.find(Attr::backend_config)) return otherwise;
  const std::string& config = attrs.text(Attr::backend_config);
  std::string wanted = cat(key, " = ");
  size_t at = config.find(wanted);
  if (at == std::string::npos || (at > 0 && config[at - 1] != ' ' && config[at - 1] != '{')) return otherwise;
  at += wanted.size();
  if (config.compare(at, 4, "true") == 0) return 1;
  return integer_in(config.substr(at, config.find_first_of(",}", at) - at)).value_or(otherwise);
}

bool is_letter(const Node& node, std::string_view key, char letter) { return is_letter(node.attrs, key, letter); }

RoutineCall cholesky(const Node& node) {
  const Type& a = node.operand(0).type();
  bool lower = node.op == Op::cholesky ? node.attrs.flag(Attr::lower) : is_letter(node, "uplo", 'L');
  Dim batch = batch_of(a, 2);
  std::vector<Type> scratch;
  if (node.types.size() == 1) scratch.push_back({DType::i32, {batch}});
  return {"cholesky", {number(a.dtype), batch, extent(a, 1), number(lower)}, std::move(scratch)};
}

RoutineCall triangular_solve(const Node& node) {
  const Type &a = node.operand(0).type(), &b = node.operand(1).type();
  bool left, lower, unit;
  int64_t transpose = 0;
  if (node.op == Op::triangular_solve) {
    left = node.attrs.flag(Attr::left_side);
    lower = node.attrs.flag(Attr::lower);
    unit = node.attrs.flag(Attr::unit_diagonal);
    const std::string& text = node.attrs.text(Attr::transpose_a);
    transpose = text == "TRANSPOSE" ? 1 : text == "ADJOINT" ? 2 : 0;
  } else {
    left = is_letter(node, "side", 'L');
    lower = is_letter(node, "uplo", 'L');
    unit = is_letter(node, "diag", 'U');
    transpose = is_letter(node, "trans_x", 'T') ? 1 : is_letter(node, "trans_x", 'C') ? 2 : 0;
  }
  return {"triangular_solve",
          {number(a.dtype), batch_of(a, 2), extent(a, 1), extent(b, left ? 1 : 2), number(left), number(lower),
           number(unit), transpose},
          {}};
}

RoutineCall rectangular(const Node& node, const char* name) {
  const Type& a = node.operand(0).type();
  return {name, {number(a.dtype), batch_of(a, 2), extent(a, 2), extent(a, 1)}, {}};
}

RoutineCall householder_product(const Node& node) {
  RoutineCall call = rectangular(node, "householder_product");
  call.numbers.push_back(extent(node.operand(1).type(), 1));
  return call;
}

RoutineCall svd(const Node& node) {
  RoutineCall call = rectangular(node, "svd");
  call.numbers.push_back(number(is_letter(node, "mode", 'A')));
  call.numbers.push_back(number(!is_letter(node, "mode", 'N')));
  return call;
}

RoutineCall square(const Node& node, const char* name, Dims rest) {
  const Type& a = node.operand(0).type();
  Dims numbers{number(a.dtype), batch_of(a, 2), extent(a, 1)};
  numbers.insert(numbers.end(), rest.begin(), rest.end());
  return {name, std::move(numbers), {}};
}

RoutineCall fourier(const Node& node) {
  const std::string& type = node.attrs.text(Attr::fft_type);
  const Ints& lengths = node.ints(Attr::fft_length);
  FftKind kind = type == "FFT"    ? FftKind::forward
                 : type == "IFFT" ? FftKind::inverse
                 : type == "RFFT" ? FftKind::real_forward
                                  : FftKind::real_inverse;
  DType dtype = is_complex(node.type().dtype) ? node.type().dtype : node.operand(0).type().dtype;
  Dims numbers{number(dtype), batch_of(node.type(), lengths.size()), static_cast<int64_t>(kind),
               static_cast<int64_t>(lengths.size())};
  for (int64_t length : lengths) numbers.push_back(length);
  FftScratch sizes = fft_scratch(dtype, kind, lengths);
  std::vector<Type> scratch;
  if (sizes.each + sizes.once > 0) scratch.push_back({dtype, {sizes.once + numbers[1] * sizes.each}});
  return {"fft", std::move(numbers), std::move(scratch)};
}

// LAPACK's function leaves the factored diagonals beside the solution: here they are copies of what was given.
RoutineCall tridiagonal_solve(const Node& node) {
  const Type& b = node.operand(3).type();
  return {"gtsv", {number(b.dtype), batch_of(b, 2), extent(b, 2), extent(b, 1)}, {}};
}

// A LAPACK function as JAX calls it: lapack_{s,d,c,z}NAME_ffi.
struct Known {
  std::string_view name;
  Routing routing;
};

const Known lapack[] = {
    {"potrf", cholesky},
    {"trsm", triangular_solve},
    {"getrf", [](const Node& node) { return rectangular(node, "lu"); }},
    {"geqrf", [](const Node& node) { return rectangular(node, "qr"); }},
    {"orgqr", householder_product},
    {"ungqr", householder_product},
    {"gesdd", svd},
    {"gesvd", svd},
    {"syevd",
     [](const Node& node) {
       return square(node, "eigh", {number(is_letter(node, "uplo", 'L')), number(is_letter(node, "mode", 'V'))});
     }},
    {"heevd",
     [](const Node& node) {
       return square(node, "eigh", {number(is_letter(node, "uplo", 'L')), number(is_letter(node, "mode", 'V'))});
     }},
    {"geev",
     [](const Node& node) {
       return square(node, "eig",
                     {number(is_letter(node, "compute_left", 'V')), number(is_letter(node, "compute_right", 'V'))});
     }},
    {"gehrd", [](const Node& node) { return square(node, "hessenberg", {}); }},
    {"gees", [](const Node& node) { return square(node, "schur", {number(is_letter(node, "mode", 'V'))}); }},
    {"sytrd", [](const Node& node) { return square(node, "tridiagonal", {number(is_letter(node, "uplo", 'L'))}); }},
    {"gtsv", tridiagonal_solve},
    {"hetrd", [](const Node& node) { return square(node, "tridiagonal", {number(is_letter(node, "uplo", 'L'))}); }},
};

const Known* find_lapack(std::string_view target) {
  if (!target.starts_with("lapack_") || !target.ends_with("_ffi") || target.size() < 13) return nullptr;
  std::string_view stem = target.substr(8, target.size() - 12);
  for (const Known& known : lapack)
    if (known.name == stem) return &known;
  return nullptr;
}

const std::string& config_of(const Attrs& attrs) {
  static const std::string none;
  return attrs.find(Attr::backend_config) ? attrs.text(Attr::backend_config) : none;
}

// The integers and booleans among {axis = 1 : i64, exact = true, name = "x"}, which are in the order of their names.
Dims config_numbers(const std::string& config) {
  Dims numbers;
  bool quoted = false;
  for (size_t i = 0; i < config.size(); ++i) {
    if (config[i] == '"' && config[i - 1] != '\\') quoted = !quoted;
    if (quoted || config.compare(i, 3, " = ") != 0) continue;
    std::string value = config.substr(i + 3, config.find_first_of(",}", i + 3) - i - 3);
    if (value == "true" || value == "false")
      numbers.push_back(value == "true" ? 1 : 0);
    else if (auto number = integer_in(value); number && value.ends_with(" : i64"))
      numbers.emplace_back(*number);
  }
  return numbers;
}

RoutineCall added(const Node& node) {
  RoutineCall call{"custom", {static_cast<int64_t>(node.operand_count()), static_cast<int64_t>(node.types.size())}, {}};
  auto describe = [&](const Type& type) {
    call.numbers.push_back(number(type.dtype));
    call.numbers.push_back(type.rank());
    call.numbers.insert(call.numbers.end(), type.dims.begin(), type.dims.end());
  };
  for (const Value& operand : node.operands()) describe(operand.type());
  for (const Type& type : node.types) describe(type);
  const std::string& config = config_of(node.attrs);
  for (const Dim& value : config_numbers(config)) call.numbers.push_back(value);
  call.texts = custom_texts(node.attrs.text(Attr::call_target_name), config, node.loc);
  return call;
}

void check_added(const Call& call, const CustomOp& op) {
  std::vector<Type> wanted = op.infer(call.operands, config_of(call.attrs));
  const std::vector<Type>& given = call.attrs.types(Attr::types);
  call.require(wanted == given, "types", "'", op.name, "' of ",
               std::vector<Type>(call.operands.begin(), call.operands.end()), " gives ", wanted, ", not ", given);
}

}  // namespace

bool is_letter(const Attrs& attrs, std::string_view key, char letter) {
  return config_integer(attrs, key, 0) == letter;
}

std::optional<RoutineCall> routine_of(const Node& node) {
  switch (node.op) {
    case Op::cholesky:
      return cholesky(node);
    case Op::triangular_solve:
      return triangular_solve(node);
    case Op::fft:
      return fourier(node);
    case Op::custom_call:
      if (const Known* known = find_lapack(node.attrs.text(Attr::call_target_name))) return known->routing(node);
      if (find_custom_op(node.attrs.text(Attr::call_target_name))) return added(node);
      return std::nullopt;
    default:
      return family(node.op) == Family::collective ? collective_of(node) : std::nullopt;
  }
}

std::vector<Literal> run_routine(const Node& node, std::span<const Literal> operands) {
  std::optional<RoutineCall> call = routine_of(node);
  check(call.has_value(), name(node.op), " has no routine");
  std::vector<Literal> results;
  for (const Type& type : node.types) results.emplace_back(type);
  for (const Type& type : call->scratch) results.emplace_back(type);
  std::vector<int64_t> numbers;
  for (const Dim& value : call->numbers) numbers.push_back(value.value());
  std::vector<void*> buffers;
  for (const Literal& operand : operands) buffers.push_back(const_cast<std::byte*>(operand.bytes().data()));
  for (Literal& result : results) buffers.push_back(result.mutable_bytes());
  if (call->texts.empty()) {
    find_routine(call->name)(numbers.data(), buffers.data(), nullptr);
  } else {
    std::vector<const char*> texts;
    for (const std::string& text : call->texts) texts.push_back(text.c_str());
    run_told(call->name, texts.data(), numbers.data(), buffers.data());
  }
  results.resize(node.types.size());
  return results;
}

void check_custom_call(const Call& call) {
  const std::string& target = call.attrs.text(Attr::call_target_name);
  const Known* known = find_lapack(target);
  if (const CustomOp* op = known ? nullptr : find_custom_op(target)) check_added(call, *op);
  if (!known) return;
  check_lapack(call, known->name);
}

}  // namespace weft
