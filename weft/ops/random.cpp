// Random numbers from counters, written as the element-wise ops that they are.
#include <cmath>
#include <numbers>

#include "weft/ops/infer.h"

namespace weft {
namespace {

using Values = std::vector<Value>;

// Integer arithmetic on values of one shape; constants are splats.
class Words {
 public:
  Words(Builder& build, Dims dims) : build_(build), dims_(std::move(dims)) {}
  Value constant(DType dtype, uint64_t value) {
    return build_.broadcast_to(build_.constant(Literal::scalar_int(dtype, static_cast<int64_t>(value))), dims_);
  }
  Value op(Op op, Value a, Value b) {
    return build_(op, {build_.broadcast_to(a, dims_), build_.broadcast_to(b, dims_)});
  }
  Value add(Value a, Value b) { return op(Op::add, a, b); }
  Value add(Value a, uint32_t b) { return add(a, constant(a.type().dtype, b)); }
  Value exclusive_or(Value a, Value b) { return op(Op::xor_, a, b); }
  Value low(Value wide) { return build_.convert(wide, DType::u32); }
  Value high(Value wide) {
    return build_.convert(op(Op::shift_right_logical, wide, constant(DType::u64, 32)), DType::u32);
  }
  Value joined(Value low, Value high) {
    Value upper = op(Op::shift_left, build_.convert(high, DType::u64), constant(DType::u64, 32));
    return op(Op::or_, build_.convert(low, DType::u64), upper);
  }
  Value rotated(Value x, uint64_t distance) {
    return op(Op::or_, op(Op::shift_left, x, constant(DType::u32, distance)),
              op(Op::shift_right_logical, x, constant(DType::u32, 32 - distance)));
  }
  const Dims& dims() const { return dims_; }

 private:
  Builder& build_;
  Dims dims_;
};

// Threefry-2x32 with 20 rounds (Salmon et al. 2011).
void threefry(Words& words, Value (&x)[2], Value key_low, Value key_high) {
  constexpr uint64_t rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value parity = words.exclusive_or(words.exclusive_or(key_low, key_high), words.constant(DType::u32, 0x1BD11BDA));
  Value keys[3] = {key_low, key_high, parity};
  x[0] = words.add(x[0], keys[0]);
  x[1] = words.add(x[1], keys[1]);
  for (uint32_t group = 0; group < 5; ++group) {
    for (uint64_t rotation : rotations[group % 2]) {
      x[0] = words.add(x[0], x[1]);
      x[1] = words.exclusive_or(x[0], words.rotated(x[1], rotation));
    }
    x[0] = words.add(x[0], keys[(group + 1) % 3]);
    x[1] = words.add(words.add(x[1], keys[(group + 2) % 3]), group + 1);
  }
}

// Philox-4x32 with 10 rounds (Salmon et al. 2011).
void philox(Builder& build, Words& words, Value (&x)[4], Value key_low, Value key_high) {
  auto product = [&](Value a, uint64_t factor) {
    return words.op(Op::multiply, build.convert(a, DType::u64), words.constant(DType::u64, factor));
  };
  for (int round = 0; round < 10; ++round) {
    Value first = product(x[0], 0xD2511F53), second = product(x[2], 0xCD9E8D57);
    Value a = words.exclusive_or(words.exclusive_or(words.high(second), x[1]), key_low);
    Value c = words.exclusive_or(words.exclusive_or(words.high(first), x[3]), key_high);
    x[0] = a;
    x[1] = words.low(second);
    x[2] = c;
    x[3] = words.low(first);
    key_low = words.add(key_low, 0x9E3779B9u);
    key_high = words.add(key_high, 0xBB67AE85u);
  }
}

Value element(Builder& build, Value x, int64_t at) {
  Value one = build(Op::slice, {x},
                    {{Attr::start_indices, Dims{at}}, {Attr::limit_indices, Dims{at + 1}}, {Attr::strides, Ints{1}}});
  return build.reshape(one, {});
}

Value joined(Builder& build, const Values& parts, int64_t dimension) {
  return build(Op::concatenate, parts, {{Attr::dimension, dimension}});
}

Value counted(Builder& build, const Dims& dims) {
  Dim total = Type{DType::u64, dims}.count();
  Value flat =
      build(Op::iota, {}, {{Attr::type, DType::u64}, {Attr::dims, Dims{total}}, {Attr::dimension, int64_t{0}}});
  return build.reshape(flat, dims);
}

Value prefix(Builder& build, Value x, const Dims& limit) {
  if (x.type().dims == limit) return x;
  return build(Op::slice, {x},
               {{Attr::start_indices, Dims(limit.size(), Dim(0))},
                {Attr::limit_indices, limit},
                {Attr::strides, Ints(limit.size(), 1)}});
}

// The dimension that two words of a pair are laid along: the first even one, else the longest.
size_t split_dimension(const Ints& dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] % 2 == 0) return i;
  return static_cast<size_t>(std::max_element(dims.begin(), dims.end()) - dims.begin());
}

// The state that follows, and u32 or u64 words of these dims.
Values threefry_bits(Builder& build, Value state, const Dims& dims, bool wide) {
  Value key = element(build, state, 0), counter = element(build, state, 1);
  Dims half = dims;
  size_t split = 0;
  if (!wide) {
    if (dims.empty())
      half = {1};
    else {
      split = split_dimension(Type{DType::u32, dims}.static_dims());
      half[split] = ceildiv(dims[split], 2);
    }
  }
  Words words(build, half);
  Value place = words.add(counter, counted(build, half));
  Value x[2] = {words.low(place), words.high(place)};
  Words scalars(build, {});
  threefry(words, x, scalars.low(key), scalars.high(key));
  Value next = build(
      Op::add, {counter, build.constant(Literal::scalar_int(DType::u64, Type{DType::u64, half}.count().value()))});
  Value next_state = joined(build, {build.reshape(key, {1}), build.reshape(next, {1})}, 0);
  if (wide) return {next_state, words.joined(x[0], x[1])};
  if (dims.empty()) return {next_state, build.reshape(x[0], {})};
  Dims pair = half;
  pair.insert(pair.begin() + static_cast<std::ptrdiff_t>(split) + 1, Dim(1));
  Value both = joined(build, {build.reshape(x[0], pair), build.reshape(x[1], pair)}, static_cast<int64_t>(split) + 1);
  Dims even = dims;
  even[split] = half[split] * Dim(2);
  return {next_state, prefix(build, build.reshape(both, even), dims)};
}

Values philox_bits(Builder& build, Value state, const Dims& dims, bool wide) {
  Value key = element(build, state, 0), low = element(build, state, 1);
  bool has_high = state.type().dims[0].is(3);
  // As XLA reads a state of two words: the key is the upper half of the counter too.
  Value high = has_high ? element(build, state, 2) : key;
  int64_t count = Type{DType::u32, dims}.count().value(), vectors = wide ? (count + 1) / 2 : (count + 3) / 4;
  Words words(build, {vectors}), scalars(build, {});
  auto advanced = [&](Words& w, Value by) {
    Value sum = w.add(low, by);
    Value carry = w.op(Op::add, high, w.constant(DType::u64, 1));
    Value wraps =
        build(Op::compare, {sum, build.broadcast_to(low, w.dims())}, {{Attr::comparison_direction, std::string("LT")}});
    return std::pair(sum, build(Op::select, {wraps, carry, build.broadcast_to(high, w.dims())}));
  };
  auto [place_low, place_high] = advanced(words, counted(build, {vectors}));
  Value x[4] = {words.low(place_low), words.high(place_low), words.low(place_high), words.high(place_high)};
  philox(build, words, x, scalars.low(key), scalars.high(key));
  auto [next_low, next_high] = advanced(scalars, build.constant(Literal::scalar_int(DType::u64, vectors)));
  Values state_parts{build.reshape(key, {1}), build.reshape(next_low, {1})};
  if (has_high) state_parts.push_back(build.reshape(next_high, {1}));
  Values columns;
  if (wide)
    columns = {words.joined(x[0], x[1]), words.joined(x[2], x[3])};
  else
    columns = {x[0], x[1], x[2], x[3]};
  for (Value& column : columns) column = build.reshape(column, {vectors, 1});
  Dim all = Dim(vectors * static_cast<int64_t>(columns.size()));
  Value numbers = prefix(build, build.reshape(joined(build, columns, 1), {all}), {count});
  return {joined(build, state_parts, 0), build.reshape(numbers, dims)};
}

Types infer_bits(const Call& call) {
  const Type& state = call.operand(0);
  DType dtype = call.attrs.dtype(Attr::type);
  const std::string& algorithm = call.attrs.text(Attr::rng_algorithm);
  bool known = algorithm == "DEFAULT" || algorithm == "THREE_FRY" || algorithm == "PHILOX";
  call.require(known, "algorithm", "rng_algorithm must be DEFAULT, THREE_FRY or PHILOX, got '", algorithm, "'");
  call.require(is_integer(dtype) || is_float(dtype), "dtype", "does not give elements of type ", name(dtype));
  bool fits =
      state.dtype == DType::u64 && (state.dims == Dims{2} || (algorithm != "THREE_FRY" && state.dims == Dims{3}));
  call.require(fits, "c1", "the state must be two (philox: or three) numbers of ui64, got ", state);
  Type result{dtype, call.attrs.dims(Attr::dims)};
  call.require(result.is_static(), "dims", "needs static dims, got ", result);
  return {state, result};
}

Values expand_bits(Builder& build, const Node& node) {
  const Type& type = node.type(1);
  bool wide = bit_width(type.dtype) == 64;
  Value state = node.operand(0);
  if (type.count().is(0)) return {state, build.constant(Literal(type))};
  // XLA on CPU takes philox where the program does not choose.
  bool three_fry = node.attrs.text(Attr::rng_algorithm) == "THREE_FRY";
  Values bits = three_fry ? threefry_bits(build, state, type.dims, wide) : philox_bits(build, state, type.dims, wide);
  static constexpr DType unsigned_types[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  int log = bit_width(type.dtype) <= 8 ? 0 : bit_width(type.dtype) == 16 ? 1 : bit_width(type.dtype) == 32 ? 2 : 3;
  Value words = build.convert(bits[1], unsigned_types[log]);
  if (is_integer(type.dtype)) return {bits[0], build.convert(words, type.dtype)};
  return {bits[0], build(Op::bitcast_convert, {words}, {{Attr::type, type.dtype}})};
}

Types infer_rng(const Call& call) {
  const Type &a = call.operand(0), &b = call.operand(1);
  call.require(a == b && a.rank() == 0, "c1", "bounds must be two scalars of one type, got ", a, " and ", b);
  const std::string& distribution = call.attrs.text(Attr::rng_distribution);
  call.require(distribution == "UNIFORM" || distribution == "NORMAL", "c3",
               "rng_distribution must be UNIFORM or NORMAL, got '", distribution, "'");
  call.require(!is_complex(a.dtype) && (distribution == "UNIFORM" || is_float(a.dtype)), "c2", distribution,
               " does not give ", name(a.dtype));
  return {{a.dtype, call.attrs.dims(Attr::dims)}};
}

// The distribution is specified, the numbers are not: the same ones at every run, from a fixed key.
Values expand_rng(Builder& build, const Node& node) {
  const Type& type = node.type();
  Value low = build.broadcast_to(node.operand(0), type.dims), high = build.broadcast_to(node.operand(1), type.dims);
  Literal key(Type{DType::u64, {2}});
  key.mutable_data<uint64_t>()[0] = 0x9E3779B97F4A7C15u;
  Value state = build.constant(key);
  DType through = type.dtype == DType::f64 ? DType::f64 : DType::f32;
  auto uniform = [&](Value from) {
    const Node& bits = build.call(Op::rng_bit_generator, {from},
                                  {{Attr::rng_algorithm, std::string("THREE_FRY")},
                                   {Attr::type, through == DType::f64 ? DType::u64 : DType::u32},
                                   {Attr::dims, type.dims}});
    NodeId id = bits.id();
    int drop = through == DType::f64 ? 11 : 8;
    Value word = Value(&build.graph(), id, 1);
    Value shift = build.broadcast_to(build.constant(Literal::scalar_int(word.type().dtype, drop)), type.dims);
    Value number = build.convert(build(Op::shift_right_logical, {word, shift}), through);
    Value unit = build(Op::multiply,
                       {number, build.splat({through, type.dims}, std::ldexp(1.0, through == DType::f64 ? -53 : -24))});
    return std::pair(unit, Value(&build.graph(), id, 0));
  };
  auto [first, next] = uniform(state);
  if (node.attrs.text(Attr::rng_distribution) == "UNIFORM") {
    Value a = build.convert(low, through), b = build.convert(high, through);
    return {build.convert(build(Op::add, {build(Op::multiply, {first, build(Op::subtract, {b, a})}), a}), type.dtype)};
  }
  // Box and Muller 1958; 1 - u is never zero.
  Value second = uniform(next).first;
  Type wide{through, type.dims};
  Value radius = build(
      Op::sqrt, {build(Op::multiply,
                       {build.splat(wide, -2), build(Op::log, {build(Op::subtract, {build.splat(wide, 1), first})})})});
  Value angle = build(Op::cosine, {build(Op::multiply, {build.splat(wide, 2 * std::numbers::pi), second})});
  Value normal = build(Op::multiply, {radius, angle});
  return {build.convert(
      build(Op::add, {build(Op::multiply, {normal, build.convert(high, through)}), build.convert(low, through)}),
      type.dtype)};
}

}  // namespace

OpDef define_rng_bit_generator() {
  return {
      .doc =
          "Random bits, and the state that follows, from a state of a key and a counter: Threefry-2x32 or Philox-4x32.",
      .attrs = {{Attr::rng_algorithm, AttrKind::text}, {Attr::type, AttrKind::dtype}, {Attr::dims, AttrKind::dims}},
      .infer = infer_bits,
      .expand = expand_bits,
      .names = {.stablehlo = "rng_bit_generator", .hlo = "rng-bit-generator"}};
}

OpDef define_rng() {
  return {.doc = "Random numbers, uniform in [a, b) or normal with mean a and deviation b; the same at each run.",
          .operands = 2,
          .attrs = {{Attr::rng_distribution, AttrKind::text}, {Attr::dims, AttrKind::dims}},
          .infer = infer_rng,
          .expand = expand_rng,
          .names = {.stablehlo = "rng", .hlo = "rng"}};
}

}  // namespace weft
