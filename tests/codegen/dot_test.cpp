// Matrix products against a plain loop: types, strides, tails, batches, targets and threads.
#include "weft/codegen/llvm/dot.h"
#include "weft/codegen/llvm/dot_shape.h"

#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "amx_emulator.h"
#include "weft/codegen/llvm/object.h"
#include "weft/core/cpu.h"
#include "weft/core/error.h"
#include "weft/core/text.h"
#include "weft/kernel/kernel.h"
#include "weft/runtime/object.h"
#include "weft/runtime/scratch.h"

using namespace weft;

namespace {

// Memory that ends where the next page may not be touched, and starts after one that may not
// either.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), page_(static_cast<size_t>(getpagesize())) {
    size_t inner = (bytes + page_ - 1) / page_ * page_;
    total_ = inner + 2 * page_;
    base_ = static_cast<char*>(mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (inner) mprotect(base_ + page_, inner, PROT_READ | PROT_WRITE);
    data_ = base_ + page_ + inner - bytes;
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(base_, total_); }
  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_, page_, total_;
  char *base_, *data_;
};

// What the kernels of these tests are handed: three buffers, then extents and strides.
struct Arguments {
  const void *lhs, *rhs;
  void *result, *packed;
  int64_t m, n, k, lhs_m, lhs_k, rhs_n, rhs_k, result_m, result_n;
  int64_t batch[2], lhs_batch[2], rhs_batch[2], result_batch[2];
};
const char* const names[] = {"lhs", "rhs", "result", "packed", "m",  "n",  "k",  "am", "ak", "bn", "bk",
                             "cm",  "cn",  "x0",     "x1",     "a0", "a1", "b0", "b1", "c0", "c1"};

void entry(std::string& ir) {
  for (int i = 0; i < 21; ++i)
    append(ir, "  %word.", i, " = getelementptr i64, ptr %args, i64 ", i, "\n  %", names[i], " = load ",
           i < 4 ? "ptr" : "i64", ", ptr %word.", i, "\n");
  ir += "  %is.dense = icmp eq i64 %cn, 1\n  %sums = select i1 %is.dense, ptr %result, ptr null\n";
}

std::string llvm_name(DType dtype) {
  return dtype == DType::f32 ? "float" : dtype == DType::f64 ? "double" : cat("i", size_of(dtype) * 8);
}

// Stores a vector of results at any strides.
void scatter(std::string& ir, const DotVector& at, DType dtype, std::string* declaration) {
  std::string lanes = cat("<", at.lanes, " x "), type = llvm_name(dtype), iota = "<";
  std::string suffix = cat("v", at.lanes,
                           dtype == DType::f32   ? "f32"
                           : dtype == DType::f64 ? "f64"
                                                 : type,
                           ".v", at.lanes, "p0");
  for (int i = 0; i < at.lanes; ++i) append(iota, i ? ", " : "", "i64 ", i);
  append(ir, "  %t0 = mul i64 ", at.batch[0], ", %c0\n  %t1 = mul i64 ", at.batch[1], ", %c1\n  %t2 = mul i64 ", at.m,
         ", %cm\n", "  %t3 = mul i64 ", at.n,
         ", %cn\n  %t4 = add i64 %t0, %t1\n  %t5 = add i64 %t2, %t3\n  %t6 = add i64 %t4, %t5\n",
         "  %t7 = getelementptr ", type, ", ptr %result, i64 %t6\n  %t8 = insertelement ", lanes,
         "i64> poison, i64 %cn, i64 0\n", "  %t9 = shufflevector ", lanes, "i64> %t8, ", lanes, "i64> poison, ", lanes,
         "i32> zeroinitializer\n  %t10 = mul ", lanes, "i64> %t9, ", iota, ">\n  %t11 = getelementptr ", type,
         ", ptr %t7, ", lanes, "i64> %t10\n  call void @llvm.masked.scatter.", suffix, "(", lanes, type, "> ", at.value,
         ", ", lanes, "ptr> align ", size_of(dtype), " %t11, ", lanes, "i1> ", at.mask, ")\n");
  *declaration =
      cat("declare void @llvm.masked.scatter.", suffix, "(", lanes, type, ">, ", lanes, "ptr>, ", lanes, "i1>)\n");
}

using Body = void (*)(void* args, int64_t begin, int64_t end);

// The best target with AMX, and its name here.
Target amx_target() {
  Target target = library_targets().front();
  target.name = "amx";
  return target;
}

// The targets that this machine can run; what it lacks of AMX is emulated.
const std::vector<Target>& targets() {
  static const std::vector<Target> found = [] {
    std::vector<Target> targets;
    for (Target target :
         {target_named("native"), target_named("avx512"), target_named("avx2"), target_named("x86-64"), amx_target()}) {
      std::vector<std::string> needs = target.needs;
      std::erase_if(needs, [](const std::string& feature) { return feature.starts_with("amx-"); });
      if (missing_feature(needs).empty()) targets.push_back(std::move(target));
    }
    return targets;
  }();
  return found;
}

// The plain, the packing and the packed kernel of one combination of types.
struct Kernels {
  DotEmitter emitter;
  DotKernel kernel;
  bool multiplies_bf16;
  CodeObject code;
  Body plain, pack, packed;

  // `k`: known to the kernel, as is that lhs lies along it; -1: neither. So are many rows `m`, but not how they lie.
  static DotKernel form(DType lhs, DType rhs, DType accumulate, int64_t k, int64_t m) {
    DotKernel kernel;
    kernel.accumulate = accumulate;
    kernel.lhs = {lhs, "%lhs", {"%a0", "%a1"}, "%am", "%ak"};
    kernel.rhs = {rhs, "%rhs", {"%b0", "%b1"}, "%bn", "%bk"};
    kernel.batch = {"%x0", "%x1"};
    kernel.m = "%m", kernel.n = "%n", kernel.k = "%k";
    if (k >= 0) kernel.k = cat(k), kernel.k_factor = k, kernel.lhs.inner = "1";
    if (m >= 0) kernel.m = cat(m);
    kernel.entry = kernel.epilogue_entry = entry;
    kernel.result = {accumulate, "%sums", {"%c0", "%c1"}, "%cm", "1"};
    return kernel;
  }

  static std::string text(DotEmitter& emitter, DotKernel kernel, bool packs) {
    std::string ir, declaration;
    DType accumulate = kernel.accumulate;
    kernel.epilogue = [&](std::string& out, const DotVector& at) { scatter(out, at, accumulate, &declaration); };
    kernel.name = "plain";
    emitter.emit(ir, kernel);
    if (packs) {
      kernel.name = "pack";
      emitter.emit_pack(ir, kernel, "%packed");
      kernel.name = "packed";
      kernel.packed_rhs = true;
      kernel.rhs.pointer = "%packed", kernel.rhs.outer = kernel.n, kernel.rhs.inner = kernel.k;
      emitter.emit(ir, kernel);
    }
    return ir + declaration + emitter.shared();
  }

  // `packs`: there is a form that takes rhs packed, too.
  Kernels(const Target& target, const DotKernel& kernel, bool packs)
      : emitter(target),
        kernel(kernel),
        multiplies_bf16(target.bf16),
        code(std::array{compile_to_object(text(emitter, kernel, packs), target).bytes}),
        plain(reinterpret_cast<Body>(code.find("plain"))),
        pack(packs ? reinterpret_cast<Body>(code.find("pack")) : nullptr),
        packed(packs ? reinterpret_cast<Body>(code.find("packed")) : nullptr) {}
};

const Kernels& kernels(const Target& target, DType lhs, DType rhs, DType accumulate, int64_t k = -1, int64_t m = -1) {
  static std::map<std::tuple<std::string, DType, DType, DType, int64_t, int64_t>, std::unique_ptr<Kernels>> all;
  auto& found = all[{target.name, lhs, rhs, accumulate, k, m}];
  if (!found) found = std::make_unique<Kernels>(target, Kernels::form(lhs, rhs, accumulate, k, m), m < 0);
  return *found;
}
const Kernels& kernels(const Target& target, DType operand, DType accumulate, int64_t k = -1) {
  return kernels(target, operand, operand, accumulate, k);
}

double read(const char* at, DType dtype) {
  auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::f32:
      return double(as(float{}));
    case DType::f64:
      return as(double{});
    case DType::i32:
      return double(as(int32_t{}));
    case DType::i64:
      return double(as(int64_t{}));
    case DType::i8:
      return double(as(int8_t{}));
    case DType::u8:
    case DType::boolean:
      return double(as(uint8_t{}));
    case DType::bf16:
      return double(std::bit_cast<float>(uint32_t{as(uint16_t{})} << 16));
    case DType::f16:
      return double(as(_Float16{}));
    default:
      return 0;
  }
}

void write(char* at, DType dtype, double value) {
  auto put = [&](auto x) { std::memcpy(at, &x, sizeof x); };
  switch (dtype) {
    case DType::f32:
      return put(float(value));
    case DType::f64:
      return put(value);
    case DType::i32:
      return put(int32_t(value));
    case DType::i64:
      return put(int64_t(value));
    case DType::i8:
      return put(int8_t(value));
    case DType::u8:
      return put(uint8_t(value));
    case DType::boolean:
      return put(uint8_t(value != 0));
    case DType::bf16:
      return put(uint16_t(std::bit_cast<uint32_t>(float(value)) >> 16));
    case DType::f16:
      return put(_Float16(value));
    default:
      return;
  }
}

enum class Order { rows, columns, sparse };

struct Shape {
  int64_t batch0, batch1, m, n, k;
  Order lhs = Order::rows, rhs = Order::rows, result = Order::rows;
};

// Strides and size of a matrix with two batch dimensions.
struct Strides {
  int64_t outer, inner, batch[2], size;
};
Strides strides(Order order, int64_t outer, int64_t inner, int64_t batch0, int64_t batch1) {
  Strides s{};
  int64_t step = order == Order::sparse ? 3 : 1;
  s.outer = order == Order::columns ? 1 : inner * step + (order == Order::sparse ? 5 : 0);
  s.inner = order == Order::columns ? outer : step;
  int64_t matrix = outer && inner ? (outer - 1) * s.outer + (inner - 1) * s.inner + 1 : 0;
  s.batch[1] = matrix;
  s.batch[0] = matrix * batch1;
  s.size = matrix * batch0 * batch1;
  return s;
}

class Problem {
 public:
  Problem(const Shape& shape, DType operand, DType accumulate, bool fractions)
      : Problem(shape, operand, operand, accumulate, fractions) {}
  Problem(const Shape& shape, DType lhs_type, DType rhs_type, DType accumulate, bool fractions)
      : shape(shape),
        lhs_type(lhs_type),
        rhs_type(rhs_type),
        accumulate(accumulate),
        a(strides(shape.lhs, shape.m, shape.k, shape.batch0, shape.batch1)),
        // rhs: outer is n, so that its rows lie along "columns" of this form.
        b(strides(shape.rhs == Order::rows      ? Order::columns
                  : shape.rhs == Order::columns ? Order::rows
                                                : Order::sparse,
                  shape.n, shape.k, shape.batch0, shape.batch1)),
        c(strides(shape.result, shape.m, shape.n, shape.batch0, shape.batch1)),
        lhs(size_t(a.size * size_of(lhs_type))),
        rhs(size_t(b.size * size_of(rhs_type))),
        result(size_t(c.size * size_of(accumulate))) {
    std::mt19937 random(7);
    auto fill = [&](const Guarded& memory, DType operand) {
      for (size_t i = 0; i < memory.bytes(); i += size_t(size_of(operand)))
        write(memory.data() + i, operand,
              fractions                                 ? double(random()) / 4e9 - 0.5
              : is_signed(operand) || is_float(operand) ? double(random() % 9) - 4
                                                        : double(random() % 5));
    };
    fill(lhs, lhs_type);
    fill(rhs, rhs_type);
    args = {.lhs = lhs.data(),
            .rhs = rhs.data(),
            .result = result.data(),
            .packed = nullptr,
            .m = shape.m,
            .n = shape.n,
            .k = shape.k,
            .lhs_m = a.outer,
            .lhs_k = a.inner,
            .rhs_n = b.outer,
            .rhs_k = b.inner,
            .result_m = c.outer,
            .result_n = c.inner,
            .batch = {shape.batch0, shape.batch1},
            .lhs_batch = {a.batch[0], a.batch[1]},
            .rhs_batch = {b.batch[0], b.batch[1]},
            .result_batch = {c.batch[0], c.batch[1]}};
  }

  // Runs in `parts` pieces, the last first.
  void run(const Kernels& with, bool use_packed, int64_t parts) {
    std::memset(result.data(), 0x55, result.bytes());
    AmxEmulator emulator;
    Dim batch = shape.batch0 * shape.batch1;
    Dot dot;
    dot.lhs_type = lhs_type, dot.rhs_type = rhs_type, dot.accumulate = accumulate, dot.n = shape.n, dot.k = shape.k;
    Guarded packed(size_t(packed_elements(dot, batch, with.multiplies_bf16).value() * size_of(accumulate)) + 64);
    args.packed = aligned(packed.data());
    auto launch = [&](Body body, int64_t count) {
      forget_scratch();
      for (int64_t part = parts - 1; part >= 0; --part) body(&args, count * part / parts, count * (part + 1) / parts);
    };
    if (use_packed) launch(with.pack, with.emitter.pack_items(with.kernel, batch, shape.n).value());
    launch(use_packed ? with.packed : with.plain, with.emitter.items(with.kernel, batch, shape.m, shape.n).value());
  }

  // Wrong elements, exactly compared: operands are small integers.
  int64_t wrong() {
    if (wanted.empty()) wanted = sums();
    int64_t count = 0;
    const double* next = wanted.data();
    for (int64_t x = 0; x < shape.batch0; ++x)
      for (int64_t y = 0; y < shape.batch1; ++y)
        for (int64_t i = 0; i < shape.m; ++i)
          for (int64_t j = 0; j < shape.n; ++j)
            count += at(result, accumulate, x * c.batch[0] + y * c.batch[1] + i * c.outer + j * c.inner) != *next++;
    return count;
  }

  // One row of ones by all 65536 values of a 16-bit type, of which NaN alone may differ from
  // itself.
  void fill_with_all() {
    write(lhs.data(), lhs_type, 1);
    for (size_t i = 0; i < 65536; ++i) {
      auto bits = static_cast<uint16_t>(i);
      std::memcpy(rhs.data() + 2 * i, &bits, 2);
    }
  }
  int64_t wrong_of_all(bool flushes) const {
    int64_t count = 0;
    for (int64_t i = 0; i < 65536; ++i) {
      double got = at(result, accumulate, i), want = at(rhs, rhs_type, i);
      if (flushes && std::abs(want) < 0x1p-126) want = 0;
      count += got != want && !(got != got && want != want);
    }
    return count;
  }

  std::string bytes() const { return {result.data(), result.bytes()}; }

 private:
  static char* aligned(char* p) {
    return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(p) + 63) & ~uintptr_t{63});
  }
  static double at(const Guarded& memory, DType dtype, int64_t i) {
    return read(memory.data() + i * size_of(dtype), dtype);
  }

  static std::vector<double> values(const Guarded& operands, DType operand) {
    std::vector<double> all;
    for (size_t i = 0; i < operands.bytes(); i += size_t(size_of(operand)))
      all.push_back(read(operands.data() + i, operand));
    return all;
  }

  // Every element of the product, batch by batch and row by row.
  std::vector<double> sums() const {
    std::vector<double> left = values(lhs, lhs_type), right = values(rhs, rhs_type), all;
    auto n = size_t(shape.n);
    std::vector<double> lines(size_t(shape.k) * n);
    for (int64_t x = 0; x < shape.batch0; ++x)
      for (int64_t y = 0; y < shape.batch1; ++y) {
        const double* matrix = right.data() + x * b.batch[0] + y * b.batch[1];
        for (int64_t l = 0; l < shape.k; ++l)
          for (int64_t j = 0; j < shape.n; ++j) lines[size_t(l) * n + size_t(j)] = matrix[j * b.outer + l * b.inner];
        for (int64_t i = 0; i < shape.m; ++i) {
          all.resize(all.size() + n);
          double* row = all.data() + all.size() - n;
          for (int64_t l = 0; l < shape.k; ++l) {
            double factor = left[size_t(x * a.batch[0] + y * a.batch[1] + i * a.outer + l * a.inner)];
            const double* line = lines.data() + size_t(l) * n;
            for (size_t j = 0; j < n; ++j) row[j] += factor * line[j];
          }
        }
      }
    return all;
  }

  Shape shape;
  DType lhs_type, rhs_type, accumulate;
  Strides a, b, c;
  Guarded lhs, rhs, result;
  std::vector<double> wanted;
  Arguments args;
};

void verify(const Shape& shape, DType lhs, DType rhs, DType accumulate, bool knows_k) {
  for (const Target& target : targets()) {
    if (target.name == "amx" && !dot_form(target, lhs, rhs, accumulate).amx) continue;
    const Kernels& with = kernels(target, lhs, rhs, accumulate, knows_k ? shape.k : -1);
    for (bool packed : {false, true}) {
      CAPTURE(target.name);
      CAPTURE(packed);
      CAPTURE(name(lhs));
      CAPTURE(name(rhs));
      CAPTURE(cat(shape.m, "x", shape.n, "x", shape.k, " orders ", int(shape.lhs), int(shape.rhs), int(shape.result)));
      Problem problem(shape, lhs, rhs, accumulate, false);
      problem.run(with, packed, 1);
      CHECK(problem.wrong() == 0);
    }
  }
}
void verify(const Shape& shape, DType operand, DType accumulate, bool knows_k = false) {
  verify(shape, operand, operand, accumulate, knows_k);
}

}  // namespace

TEST_CASE("a product equals the sum of products at every edge of a tile") {
  for (int64_t m : {1, 2, 3, 4, 5, 11, 12, 13, 29})
    for (int64_t n : {1, 15, 16, 31, 32, 33, 70})
      for (int64_t k : {1, 7, 16, 33}) verify({1, 1, m, n, k}, DType::f32, DType::f32);
}

TEST_CASE("deep, tall and wide products are cut into blocks") {
  verify({1, 1, 5, 40, 700}, DType::f32, DType::f32);
  verify({1, 1, 30, 40, 257}, DType::f32, DType::f32);
  verify({1, 1, 400, 40, 20}, DType::f32, DType::f32);
  verify({1, 1, 1, 700, 90}, DType::f32, DType::f32);
  verify({1, 1, 3, 700, 300}, DType::f32, DType::f32);
  verify({1, 1, 9, 700, 40}, DType::f64, DType::f64);
  verify({1, 1, 210, 150, 300}, DType::f32, DType::f32);
  verify({1, 1, 60, 90, 600}, DType::f64, DType::f64);
  // Several panels, chunks of rows and blocks of k, whole ones and parts.
  verify({1, 1, 61, 150, 1100}, DType::f32, DType::f32);
  verify({1, 1, 250, 150, 1100}, DType::f32, DType::f32);
  verify({1, 1, 250, 90, 1100, Order::rows, Order::rows, Order::columns}, DType::f32, DType::f32);
  verify({1, 1, 130, 90, 2060}, DType::f64, DType::f64);
}

TEST_CASE("operands and results may have any strides") {
  for (Order lhs : {Order::rows, Order::columns, Order::sparse})
    for (Order rhs : {Order::rows, Order::columns, Order::sparse})
      for (Order result : {Order::rows, Order::columns, Order::sparse}) {
        verify({1, 1, 19, 45, 37, lhs, rhs, result}, DType::f32, DType::f32);
        verify({1, 1, 2, 150, 37, lhs, rhs, result}, DType::f64, DType::f64);
      }
}

TEST_CASE("many rows of lhs that may lie along m are packed in panels") {
  // One chunk and block of k, several, and parts; panels that share lhs, and more than those; heights that differ.
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{25, 129, 7}, {100, 300, 33}, {150, 40, 1100}, {300, 270, 9}, {1100, 130, 20}})
    for (Order lhs : {Order::rows, Order::columns, Order::sparse})
      for (const Target& target : targets())
        for (DType dtype : {DType::f32, DType::f64}) {
          if (target.name == "amx") continue;
          CAPTURE(target.name);
          CAPTURE(cat(name(dtype), " ", m, "x", n, "x", k, " order ", int(lhs)));
          Problem problem({1, 2, m, n, k, lhs, m == 100 ? Order::columns : Order::rows}, dtype, dtype, false);
          for (int64_t parts : {1, 3, 7}) {
            problem.run(kernels(target, dtype, dtype, dtype, -1, m), false, parts);
            CHECK(problem.wrong() == 0);
          }
        }
}

TEST_CASE("batches have strides of their own") {
  for (Order rhs : {Order::rows, Order::columns}) {
    verify({2, 3, 14, 37, 20, Order::rows, rhs}, DType::f32, DType::f32);
    verify({3, 2, 1, 140, 20, Order::rows, rhs}, DType::f32, DType::f32);
  }
}

TEST_CASE("every element type multiplies") {
  const std::pair<DType, DType> types[] = {
      {DType::f32, DType::f32}, {DType::f64, DType::f64},  {DType::i32, DType::i32},
      {DType::i64, DType::i64}, {DType::bf16, DType::f32}, {DType::f16, DType::f32},
      {DType::i8, DType::i32},  {DType::u8, DType::i32},   {DType::boolean, DType::i32}};
  for (auto [operand, accumulate] : types)
    for (Order rhs : {Order::rows, Order::columns}) {
      verify({1, 1, 14, 37, 41, Order::rows, rhs}, operand, accumulate);
      verify({1, 1, 1, 133, 41, Order::rows, rhs}, operand, accumulate);
    }
}

TEST_CASE("products of every element type fit a small stack") {
  pthread_attr_t small;
  pthread_attr_init(&small);
  REQUIRE(pthread_attr_setstacksize(&small, 64 << 10) == 0);
  const std::pair<DType, DType> types[] = {{DType::f32, DType::f32},
                                           {DType::f64, DType::f64},
                                           {DType::bf16, DType::f32},
                                           {DType::f16, DType::f32},
                                           {DType::i8, DType::i32}};
  for (const Target& target : targets())
    for (auto [operand, accumulate] : types)
      for (int64_t m : {1, 5, 130}) {
        Problem problem({1, 1, m, 300, 600}, operand, accumulate, false);
        auto run = [&] { problem.run(kernels(target, operand, accumulate), false, 1); };
        run();  // what is compiled by now is not compiled there
        pthread_t thread;
        REQUIRE(pthread_create(
                    &thread, &small,
                    [](void* work) -> void* { return (*static_cast<decltype(run)*>(work))(), nullptr; }, &run) == 0);
        pthread_join(thread, nullptr);
        CHECK(problem.wrong() == 0);
      }
  pthread_attr_destroy(&small);
}

TEST_CASE("whole units of lhs are read in place") {
  for (auto [operand, accumulate] :
       {std::pair(DType::bf16, DType::f32), std::pair(DType::i8, DType::i32), std::pair(DType::u8, DType::i32)})
    for (Order rhs : {Order::rows, Order::columns})
      for (int64_t k : {4, 68, 1100, 2100, 33})
        for (int64_t m : {1, 3, 13, 61}) verify({1, 2, m, 140, k, Order::rows, rhs}, operand, accumulate, true);
}

TEST_CASE("every 16-bit float keeps its value") {
  for (DType dtype : {DType::f16, DType::bf16})
    for (const Target& target : targets()) {
      Problem problem({1, 1, 1, 65536, 1}, dtype, DType::f32, false);
      problem.fill_with_all();
      problem.run(kernels(target, dtype, DType::f32), false, 3);
      CAPTURE(target.name);
      // The CPU's products of bf16 take subnormal numbers for zero.
      CHECK(problem.wrong_of_all(dtype == DType::bf16 && target.bf16) == 0);
    }
}

TEST_CASE("empty products are zero or nothing") {
  verify({1, 1, 3, 40, 0}, DType::f32, DType::f32);
  verify({1, 1, 30, 5, 0}, DType::f64, DType::f64);
  verify({1, 1, 0, 5, 4}, DType::f32, DType::f32);
  verify({1, 1, 5, 0, 4}, DType::f32, DType::f32);
  verify({0, 1, 5, 5, 4}, DType::f32, DType::f32);
}

TEST_CASE("results are the same bits for any number of threads, packed or not") {
  for (Shape shape :
       {Shape{1, 1, 61, 170, 1050}, Shape{1, 1, 1, 300, 1050}, Shape{1, 1, 7, 300, 70}, Shape{2, 2, 400, 33, 20}}) {
    Problem problem(shape, DType::f32, DType::f32, true);
    std::string first;
    for (const Target& target : targets()) {
      if (!target.fma) continue;
      for (bool packed : {false, true})
        for (int64_t parts : {1, 2, 8, 13}) {
          problem.run(kernels(target, DType::f32, DType::f32), packed, parts);
          if (first.empty()) first = problem.bytes();
          CHECK(problem.bytes() == first);
        }
    }
  }
}

TEST_CASE("products of bf16 and of bytes by AMX") {
  const std::array<DType, 3> types[] = {{DType::bf16, DType::bf16, DType::f32},
                                        {DType::i8, DType::i8, DType::i32},
                                        {DType::u8, DType::i8, DType::i32},
                                        {DType::i8, DType::u8, DType::i32}};
  for (auto [lhs, rhs, accumulate] : types) {
    auto check = [&, lhs = lhs, rhs = rhs, accumulate = accumulate](const Shape& shape, bool knows_k = false) {
      verify(shape, lhs, rhs, accumulate, knows_k);
    };
    // Tiles of one and of two registers of rows; parts of 16 units and of units.
    for (int64_t m : {6, 7, 16, 17, 32, 33, 65, 130})
      for (int64_t k : {1, 4, 31, 64, 100}) check({1, 1, m, 40, k});
    for (Order lhs_order : {Order::rows, Order::columns, Order::sparse})
      for (Order rhs_order : {Order::rows, Order::columns, Order::sparse})
        check({1, 1, 70, 45, 140, lhs_order, rhs_order});
    check({2, 3, 37, 33, 20});
    check({1, 1, 230, 300, 1100});
    check({1, 1, 40, 300, 2200}, true);
    check({1, 1, 30, 5, 0});
  }
}

TEST_CASE("sums of AMX have one order, packed or not and on any number of threads") {
  Target target = targets().back();
  if (target.name != "amx") return;
  for (Shape shape : {Shape{1, 1, 61, 170, 1050}, Shape{1, 1, 7, 300, 1050}, Shape{1, 1, 6, 300, 1051},
                      Shape{1, 1, 9, 300, 1051}, Shape{2, 2, 230, 33, 20}, Shape{1, 1, 70, 64, 2100}}) {
    std::string first;
    for (int64_t k : {int64_t{-1}, shape.k})
      for (bool packed : {false, true})
        for (int64_t parts : {1, 2, 13}) {
          Problem problem(shape, DType::bf16, DType::f32, true);
          int64_t before = AmxEmulator::count();
          problem.run(kernels(target, DType::bf16, DType::f32, k), packed, parts);
          bool has_amx = missing_feature(target.needs).empty();
          CHECK((AmxEmulator::count() > before) == (shape.m > few_for_amx && !has_amx));
          if (first.empty()) first = problem.bytes();
          CHECK(problem.bytes() == first);
        }
  }
}
