// Loops as machine code: tails of every length, strides, sums, nests, masks and indices that are read from memory.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "run_kernel.h"

using namespace weft;

namespace {

const Symbol n_symbol{"n", 0, 64, 4096};
Dim n() { return Dim(n_symbol); }
Dim i() { return counter_of(".i", 4096); }

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t k = 0; k < count; ++k) values[k] = static_cast<float>((k * 37) % 101) - 50;
  return values;
}

Kernel kernel_of(std::vector<Memory> memories) {
  Kernel kernel;
  kernel.name = "k";
  kernel.memories = std::move(memories);
  return kernel;
}

const Memory x_f32{"x", DType::f32, false, 0}, y_f32{"y", DType::f32, true, 0};

}  // namespace

TEST_CASE("tails of every length and stride read and write what they should and nothing else") {
  for (const Target& target : test_targets())
    for (int stride : {1, 2, -1, 0, 3})
      for (int to_stride : {1, 2}) {
        Kernel kernel = kernel_of({x_f32, y_f32});
        ExprId x = load_expr(kernel, 0, i() * Dim(stride) + (stride < 0 ? n() - Dim(1) : Dim(0)));
        ExprId sum =
            scalar_expr(kernel, Scalar::add, DType::f32, {x, constant_expr(kernel, Literal::scalar(DType::f32, 0.5))});
        kernel.body.push_back(loop_stmt(LoopKind::vector, ".i", n(), {store_stmt(1, i() * Dim(to_stride), sum)}));
        RunnableProgram program(program_of({kernel}, {n_symbol}), target);
        for (int64_t count = 0; count <= 70; ++count) {
          std::vector<float> from = ramp(256), to(256, -7), wanted(256, -7);
          for (int64_t k = 0; k < count; ++k)
            wanted[static_cast<size_t>(k * to_stride)] =
                from[static_cast<size_t>(k * stride + (stride < 0 ? count - 1 : 0))] + 0.5f;
          program.run({from.data(), to.data()}, {count});
          CHECK_MESSAGE(to == wanted, target.name << " " << count << " by " << stride << " to " << to_stride);
        }
      }
}

TEST_CASE("sums of every length, several vectors in flight") {
  for (const Target& target : test_targets())
    for (Scalar op : {Scalar::add, Scalar::maximum, Scalar::multiply, Scalar::bit_xor})
      for (int unroll : {1, 4}) {
        bool whole = op == Scalar::bit_xor || op == Scalar::multiply;
        DType dtype = whole ? DType::i32 : DType::f32;
        Kernel kernel = kernel_of({{"x", dtype, false, 0}, {"y", dtype, true, 0}});
        kernel.variables.push_back({"sum", dtype});
        ExprId start = constant_expr(kernel, Literal::scalar(dtype, 3)), x = load_expr(kernel, 0, i()),
               sum = variable_expr(kernel, 0);
        kernel.body = {simple_stmt(StmtKind::define, 0, start),
                       loop_stmt(LoopKind::vector, ".i", n(), {simple_stmt(StmtKind::accumulate, 0, x, op)}, unroll),
                       store_stmt(1, 0, sum)};
        RunnableProgram program(program_of({kernel}, {n_symbol}), target);
        for (int64_t count = 0; count <= 150; ++count) {
          std::vector<float> reals = ramp(256);
          std::vector<int32_t> ints(256);
          for (size_t k = 0; k < 256; ++k) ints[k] = static_cast<int32_t>(reals[k]) * 2 + 1;
          float total = 3;
          int32_t whole_total = 3;
          for (size_t k = 0; k < static_cast<size_t>(count); ++k) {
            total = op == Scalar::add ? total + reals[k] : std::max(total, reals[k]);
            if (op == Scalar::multiply)
              whole_total = static_cast<int32_t>(static_cast<uint32_t>(whole_total) * static_cast<uint32_t>(ints[k]));
            if (op == Scalar::bit_xor) whole_total ^= ints[k];
          }
          float got = 0;
          int32_t got_whole = 0;
          program.run(
              {whole ? static_cast<void*>(ints.data()) : reals.data(), whole ? static_cast<void*>(&got_whole) : &got},
              {count});
          CHECK_MESSAGE((whole ? got_whole == whole_total : got == total),
                        target.name << " " << name(op) << " of " << count << " by " << unroll);
        }
      }
}

TEST_CASE("maximum keeps NaN wherever it stands") {
  for (const Target& target : test_targets()) {
    Kernel kernel = kernel_of({x_f32, y_f32});
    kernel.variables.push_back({"top", DType::f32});
    ExprId start = constant_expr(kernel, Literal::scalar(DType::f32, -INFINITY)), x = load_expr(kernel, 0, i()),
           top = variable_expr(kernel, 0);
    kernel.body = {
        simple_stmt(StmtKind::define, 0, start),
        loop_stmt(LoopKind::vector, ".i", n(), {simple_stmt(StmtKind::accumulate, 0, x, Scalar::maximum)}, 4),
        store_stmt(1, 0, top)};
    RunnableProgram program(program_of({kernel}, {n_symbol}), target);
    for (size_t where = 0; where < 100; ++where) {
      std::vector<float> from = ramp(100);
      from[where] = NAN;
      float got = 0;
      program.run({from.data(), &got}, {100});
      CHECK_MESSAGE(std::isnan(got), target.name << " at " << where);
    }
  }
}

TEST_CASE("softmax over rows: sums in a nest, scratch and a parallel loop") {
  for (const Target& target : test_targets()) {
    Kernel k = kernel_of({x_f32, y_f32, {"kept", DType::f32, true, 256}});
    k.variables = {{"top", DType::f32}, {"sum", DType::f32}};
    Dim p = counter_of(".p", 64), at = p * n() + i();
    ExprId x = load_expr(k, 0, at), top = variable_expr(k, 0), sum = variable_expr(k, 1);
    ExprId e = scalar_expr(k, Scalar::exp, DType::f32, {scalar_expr(k, Scalar::subtract, DType::f32, {x, top})});
    ExprId kept = load_expr(k, 2, i()), y = scalar_expr(k, Scalar::divide, DType::f32, {kept, sum});
    std::vector<Stmt> body{
        simple_stmt(StmtKind::define, 0, constant_expr(k, Literal::scalar(DType::f32, -INFINITY))),
        loop_stmt(LoopKind::vector, ".i", n(), {simple_stmt(StmtKind::accumulate, 0, x, Scalar::maximum)}, 4),
        simple_stmt(StmtKind::define, 1, constant_expr(k, Literal::scalar(DType::f32, 0))),
        loop_stmt(LoopKind::vector, ".i", n(),
                  {store_stmt(2, i(), e), simple_stmt(StmtKind::accumulate, 1, kept, Scalar::add)}, 4),
        loop_stmt(LoopKind::vector, ".i", n(), {store_stmt(1, at, y)})};
    k.body.push_back(loop_stmt(LoopKind::parallel, ".p", 5, std::move(body)));
    RunnableProgram program(program_of({k}, {n_symbol}), target);
    for (int64_t count : {1, 7, 16, 31, 64, 100, 255}) {
      auto row = static_cast<size_t>(count);
      std::vector<float> from = ramp(5 * row), to(5 * row);
      for (float& v : from) v *= 0.1f;
      program.run({from.data(), to.data()}, {count});
      for (size_t r = 0; r < 5; ++r) {
        double total = 0, largest = -1e9;
        for (size_t c = 0; c < row; ++c) largest = std::max(largest, static_cast<double>(from[r * row + c]));
        for (size_t c = 0; c < row; ++c) total += std::exp(from[r * row + c] - largest);
        for (size_t c = 0; c < row; ++c) {
          double wanted = std::exp(from[r * row + c] - largest) / total;
          CHECK_MESSAGE(std::fabs(to[r * row + c] - wanted) <= 2e-6 * wanted, target.name << " row of " << count);
        }
      }
    }
  }
}

TEST_CASE("columns add up: a serial loop inside of the vector loop") {
  for (const Target& target : test_targets()) {
    Kernel k = kernel_of({x_f32, y_f32});
    k.variables = {{"sum", DType::f32}};
    Dim r = counter_of(".r", 64);
    ExprId x = load_expr(k, 0, r * n() + i()), sum = variable_expr(k, 0);
    k.body.push_back(
        loop_stmt(LoopKind::vector, ".i", n(),
                  {simple_stmt(StmtKind::define, 0, constant_expr(k, Literal::scalar(DType::f32, 1))),
                   loop_stmt(LoopKind::serial, ".r", 9, {simple_stmt(StmtKind::accumulate, 0, x, Scalar::add)}),
                   store_stmt(1, i(), sum)}));
    RunnableProgram program(program_of({k}, {n_symbol}), target);
    for (int64_t count : {1, 5, 16, 33, 70}) {
      auto columns = static_cast<size_t>(count);
      std::vector<float> from = ramp(9 * columns), to(columns + 1, -7), wanted(columns + 1, -7);
      for (size_t c = 0; c < columns; ++c) {
        wanted[c] = 1;
        for (size_t row = 0; row < 9; ++row) wanted[c] += from[row * columns + c];
      }
      program.run({from.data(), to.data()}, {count});
      CHECK_MESSAGE(to == wanted, target.name << " " << count);
    }
  }
}

TEST_CASE("a running sum goes in the order of the loop") {
  for (const Target& target : test_targets()) {
    Kernel k = kernel_of({x_f32, y_f32});
    k.variables = {{"sum", DType::f32}};
    ExprId x = load_expr(k, 0, i()), sum = variable_expr(k, 0),
           next = scalar_expr(k, Scalar::add, DType::f32, {sum, x});
    k.body = {
        simple_stmt(StmtKind::define, 0, constant_expr(k, Literal::scalar(DType::f32, 0))),
        loop_stmt(LoopKind::serial, ".i", n(), {simple_stmt(StmtKind::assign, 0, next), store_stmt(1, i(), sum)})};
    RunnableProgram program(program_of({k}, {n_symbol}), target);
    std::vector<float> from = ramp(50), to(50), wanted(50);
    std::partial_sum(from.begin(), from.end(), wanted.begin());
    program.run({from.data(), to.data()}, {50});
    CHECK(to == wanted);
  }
}

TEST_CASE("indices from memory, masks, and a store that accumulates") {
  for (const Target& target : test_targets())
    for (DType index_type : {DType::i32, DType::i64, DType::u8}) {
      Kernel k = kernel_of({x_f32, y_f32, {"at", index_type, false, 0}, {"counts", DType::f32, true, 0}});
      ExprId at = load_expr(k, 2, i());
      ExprId wide = scalar_expr(k, Scalar::convert, DType::i64, {at});
      Expr gather;
      gather.kind = ExprKind::load;
      gather.slot = 0;
      gather.index = 1;
      gather.dynamic.emplace_back(wide, Dim(2));
      // Every third lane is not read: its index leads nowhere.
      Expr position;
      position.kind = ExprKind::index;
      position.dtype = DType::i32;
      position.index = mod(i(), 3);
      ExprId third = add_expr(k, position);
      gather.mask =
          scalar_expr(k, Scalar::ne, DType::boolean, {third, constant_expr(k, Literal::scalar(DType::i32, 0))});
      ExprId value = add_expr(k, gather);
      Stmt add = simple_stmt(StmtKind::barrier_accumulate, 3, value, Scalar::add);
      add.dynamic.emplace_back(wide, Dim(1));
      add.mask = gather.mask;
      k.body = {loop_stmt(LoopKind::vector, ".i", n(), {store_stmt(1, i(), value)}),
                loop_stmt(LoopKind::serial, ".i", n(), {add})};
      RunnableProgram program(program_of({k}, {n_symbol}), target);
      for (size_t count : {1UL, 4UL, 16UL, 37UL, 70UL}) {
        std::vector<float> from = ramp(256), to(count, -7), wanted(count), counts(64), wanted_counts(64);
        std::vector<std::byte> indices(count * 8);
        for (size_t e = 0; e < count; ++e) {
          auto index = static_cast<int64_t>((e * 11) % 60);
          store(indices.data() + e * static_cast<size_t>(size_of(index_type)),
                Element::of_int(index_type, e % 3 == 0 ? 100000000 + 77 : index));
          if (e % 3 == 0) continue;
          wanted[e] = from[static_cast<size_t>(2 * index + 1)];
          wanted_counts[static_cast<size_t>(index)] += wanted[e];
        }
        program.run({from.data(), to.data(), indices.data(), counts.data()}, {static_cast<int64_t>(count)});
        CHECK_MESSAGE(to == wanted, target.name << " " << name(index_type) << " " << count);
        CHECK_MESSAGE(counts == wanted_counts, target.name << " " << name(index_type) << " " << count);
      }
    }
}

TEST_CASE("the value of an index, linear and not, in every type") {
  for (const Target& target : test_targets())
    for (DType dtype : {DType::i64, DType::i32, DType::u8, DType::f32, DType::f64, DType::f16, DType::boolean}) {
      Kernel k = kernel_of({{"y", dtype, true, 0}});
      Expr e;
      e.kind = ExprKind::index;
      e.dtype = DType::i64;
      e.index = floordiv(i() * Dim(3) + Dim(1), 4) + mod(i(), 5);
      ExprId value = scalar_expr(k, Scalar::convert, dtype, {add_expr(k, e)});
      k.body = {loop_stmt(LoopKind::vector, ".i", n(), {store_stmt(0, i(), value)})};
      RunnableProgram program(program_of({k}, {n_symbol}), target);
      std::vector<std::byte> to(70 * 8);
      program.run({to.data()}, {70});
      for (int64_t c = 0; c < 70; ++c) {
        Element wanted = convert(Element::of_int(DType::i64, (c * 3 + 1) / 4 + c % 5), dtype),
                got = load(to.data() + c * size_of(dtype), dtype);
        CHECK_MESSAGE((got.i == wanted.i && got.c == wanted.c), target.name << " " << name(dtype) << " at " << c);
      }
    }
}

TEST_CASE("what a kernel keeps is in its frame where a small stack holds it") {
  for (const Target& target : test_targets())
    for (int64_t kept : {1 << 13, 1 << 14}) {
      Kernel k = kernel_of({x_f32, y_f32, {"one", DType::f32, true, kept}, {"other", DType::f32, true, kept - 5}});
      ExprId x = load_expr(k, 0, i()), twice = scalar_expr(k, Scalar::add, DType::f32, {x, x});
      ExprId sum = scalar_expr(k, Scalar::add, DType::f32, {load_expr(k, 2, i()), load_expr(k, 3, i())});
      k.body = {loop_stmt(LoopKind::vector, ".i", n(), {store_stmt(2, i(), x), store_stmt(3, i(), twice)}),
                loop_stmt(LoopKind::vector, ".i", n(), {store_stmt(1, i(), sum)})};
      RunnableProgram program(program_of({k}, {n_symbol}), target);
      CHECK((program.text.find("call ptr @weft_support_scratch(i64 131072)") != std::string::npos) ==
            (kept == 1 << 14));
      CHECK((program.text.find("alloca [32768 x i8]") != std::string::npos) == (kept == 1 << 13));
      std::vector<float> from = ramp(4096), to(4096), wanted(4096);
      for (size_t at = 0; at < 4096; ++at) wanted[at] = 3 * from[at];
      program.run({from.data(), to.data()}, {4096});
      CHECK(to == wanted);
    }
}
