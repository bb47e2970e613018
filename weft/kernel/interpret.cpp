// Runs a program element by element: the meaning of kernels, without machine code.
#include <algorithm>
#include <cstring>

#include "weft/core/element.h"
#include "weft/core/interrupt.h"
#include "weft/kernel/lower.h"
#include "weft/library/custom.h"

namespace weft {
namespace {

using Bindings = std::map<std::string, int64_t, std::less<>>;

// The bytes of one buffer.
struct Bytes {
  std::byte* data = nullptr;
  int64_t size = 0;
};

class KernelRun {
 public:
  KernelRun(const Kernel& kernel, std::vector<Bytes> memories, Bindings symbols,
            std::vector<const RangeCheck*> checks = {})
      : kernel_(kernel),
        memories_(std::move(memories)),
        bound_(std::move(symbols)),
        checks_(std::move(checks)),
        variables_(kernel.variables.size()) {}

  void run() {
    if (!kernel_.dot) return statements(kernel_.body);
    if (kernel_.dot->pack_rhs) return pack();
    for_batches(0, [&] { product(); });
  }

 private:
  template <class Body>
  void for_batches(size_t i, const Body& body) {
    const Dot& dot = *kernel_.dot;
    if (i == dot.batch.size()) return body();
    int64_t extent = dot.batch[i].evaluate(bound_);
    for (int64_t b = 0; b < extent; ++b) {
      bound_[".b" + std::to_string(i)] = b;
      for_batches(i + 1, body);
    }
  }

  int64_t offset(const Dot::Side& side) {
    int64_t at = side.offset.evaluate(bound_);
    for (size_t i = 0; i < side.batch.size(); ++i)
      at += side.batch[i].evaluate(bound_) * bound_.at(".b" + std::to_string(i));
    return at;
  }

  Element bits_of(const Element& e) const {
    const std::optional<FourBits>& bits = kernel_.dot->bits;
    return bits ? Element::of_int(DType::i8, bits->of(static_cast<int>(convert(e, DType::i64).i))) : e;
  }

  // The position of element number `i` of windows.
  int64_t within(const std::vector<Dot::Level>& levels, int64_t i) const {
    int64_t at = 0;
    for (const Dot::Level& level : levels) {
      int64_t extent = level.extent.evaluate(bound_);
      at += i % extent * level.stride.evaluate(bound_);
      i /= extent;
    }
    return at;
  }

  // A packed matrix is kept here as it is in the program's terms: columns of k, one batch after the other.
  void pack() {
    const Dot& dot = *kernel_.dot;
    int64_t n = dot.n.evaluate(bound_), k = dot.k.evaluate(bound_), batch = 0;
    for_batches(0, [&] {
      int64_t base = offset(dot.rhs);
      for (int64_t j = 0; j < n; ++j)
        for (int64_t p = 0; p < k; ++p) {
          Element e = load_at(dot.rhs.memory, base + j * dot.rhs.outer.evaluate(bound_) +
                                                  dot.rhs.inner_at(p, dot.rhs.inner.evaluate(bound_)));
          store_at(dot.packed, (batch * n + j) * k + p, convert(bits_of(e), dot.accumulate));
        }
      ++batch;
    });
  }

  void product() {
    const Dot& dot = *kernel_.dot;
    int64_t m = dot.m.evaluate(bound_), n = dot.n.evaluate(bound_), k = dot.k.evaluate(bound_);
    int64_t lhs = offset(dot.lhs), rhs = 0, batch = 0;
    bool shared = true;
    for (size_t i = 0; i < dot.batch.size(); ++i) {
      batch = batch * dot.batch[i].evaluate(bound_) + bound_.at(".b" + std::to_string(i));
      shared &= dot.rhs.batch[i].is(0);
    }
    int64_t rhs_outer = dot.rhs.outer.evaluate(bound_), rhs_inner = dot.rhs.inner.evaluate(bound_);
    if (dot.packed_rhs) {
      rhs = (dot.rhs.offset.evaluate(bound_) + (shared ? 0 : batch)) * rhs_outer * rhs_inner;
      rhs_outer = rhs_inner;
      rhs_inner = 1;
    } else
      rhs = offset(dot.rhs);
    int64_t lhs_outer = dot.lhs.outer.evaluate(bound_), lhs_inner = dot.lhs.inner.evaluate(bound_);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        int64_t whole = 0;
        for (int64_t p = 0; p < k; ++p) {
          Element a = load_at(dot.lhs.memory, lhs + dot.lhs.outer_at(i, lhs_outer) + dot.lhs.inner_at(p, lhs_inner));
          int64_t at =
              dot.windows ? within(dot.windows->n, j) + within(dot.windows->k, p) : j * rhs_outer + p * rhs_inner;
          Element b = load_at(dot.rhs.memory, rhs + at);
          if (!dot.packed_rhs) b = bits_of(b);
          if (is_float(dot.accumulate))
            sum += convert(a, DType::f64).real() * convert(b, DType::f64).real();
          else
            whole = static_cast<int64_t>(static_cast<uint64_t>(whole) +
                                         static_cast<uint64_t>(convert(a, DType::i64).i) *
                                             static_cast<uint64_t>(convert(b, DType::i64).i));
        }
        accumulator_ =
            is_float(dot.accumulate) ? Element::of_double(dot.accumulate, sum) : Element::of_int(dot.accumulate, whole);
        bound_[".m"] = i;
        bound_[".n"] = j;
        statements(kernel_.body);
      }
  }

  void statements(const std::vector<Stmt>& body) {
    for (const Stmt& stmt : body) statement(stmt);
  }

  void statement(const Stmt& stmt) {
    auto slot = static_cast<size_t>(stmt.slot);
    switch (stmt.kind) {
      case StmtKind::loop: {
        int64_t extent = stmt.extent.evaluate(bound_);
        for (int64_t i = 0; i < extent; ++i) {
          bound_[stmt.counter] = i;
          statements(stmt.body);
        }
        return;
      }
      case StmtKind::define:
      case StmtKind::assign:
        variables_[slot] = value(stmt.expr);
        return;
      case StmtKind::accumulate: {
        Element pair[2] = {variables_[slot], value(stmt.expr)};
        variables_[slot] = apply(stmt.op, pair[0].dtype, pair);
        return;
      }
      case StmtKind::store:
      case StmtKind::barrier_accumulate: {
        if (stmt.mask != no_expr && !value(stmt.mask).i) return;
        int64_t at = position(stmt.index, stmt.dynamic);
        Element element = value(stmt.expr);
        if (stmt.kind == StmtKind::barrier_accumulate) {
          Element pair[2] = {load_at(stmt.slot, at), element};
          element = apply(stmt.op, element.dtype, pair);
        }
        store_at(stmt.slot, at, element);
        return;
      }
    }
  }

  int64_t position(const Index& index, const std::vector<std::pair<ExprId, Index>>& dynamic) {
    int64_t at = index.evaluate(bound_);
    for (const auto& [expr, stride] : dynamic) at += value(expr).i * stride.evaluate(bound_);
    return at;
  }

  Element value(ExprId id) {
    const Expr& e = kernel_.exprs[static_cast<size_t>(id)];
    switch (e.kind) {
      case ExprKind::constant:
        return load(e.value.bytes().data(), e.dtype);
      case ExprKind::index:
        return Element::of_int(DType::i64, e.index.evaluate(bound_));
      case ExprKind::variable:
        return variables_[static_cast<size_t>(e.slot)];
      case ExprKind::accumulator:
        return accumulator_;
      case ExprKind::checked:
        return checked(e);
      case ExprKind::load:
        if (e.mask != no_expr && !value(e.mask).i)
          return is_integer(e.dtype) || is_bool(e.dtype) ? Element::of_int(e.dtype, 0) : Element::of_double(e.dtype, 0);
        return load(place(e.slot, position(e.index, e.dynamic)), e.dtype);
      case ExprKind::scalar: {
        // Only the chosen side: the other one's loads may lie outside.
        if (e.op == Scalar::select) return value(e.args[0]).i ? value(e.args[1]) : value(e.args[2]);
        Element args[3];
        for (size_t i = 0; i < e.args.size(); ++i) args[i] = value(e.args[i]);
        return apply(e.op, e.dtype, args);
      }
    }
    return {};
  }

  Element checked(const Expr& e) {
    Element found = value(e.args[0]);
    if (e.mask != no_expr && !value(e.mask).i) return found;
    int64_t limit = e.index.evaluate(bound_);
    if (found.i < 0 || found.i >= limit) raise(range_error(*checks_[static_cast<size_t>(e.slot)], limit, found.i));
    return found;
  }

  std::byte* place(int32_t memory, int64_t at) {
    const Bytes& bytes = memories_[static_cast<size_t>(memory)];
    int64_t size = size_of(kernel_.memories[static_cast<size_t>(memory)].dtype);
    check(at >= 0 && (at + 1) * size <= bytes.size, "kernel ", kernel_.name, " reaches element ", at, " of memory ",
          memory, " of ", bytes.size / size, " elements");
    return bytes.data + at * size;
  }
  Element load_at(int32_t memory, int64_t at) {
    return load(place(memory, at), kernel_.memories[static_cast<size_t>(memory)].dtype);
  }
  void store_at(int32_t memory, int64_t at, const Element& element) { store(place(memory, at), element); }

  const Kernel& kernel_;
  std::vector<Bytes> memories_;
  Bindings bound_;
  std::vector<const RangeCheck*> checks_;
  std::vector<Element> variables_;
  Element accumulator_;
};

class ProgramRun {
 public:
  ProgramRun(const Program& program, std::span<const Literal> inputs) : program_(program) {
    bind(inputs);
    for (const Literal& input : inputs) {
      Literal copy(input.type());
      std::memcpy(copy.mutable_bytes(), input.bytes().data(), input.bytes().size());
      inputs_.push_back(std::move(copy));
    }
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      Type type{program.outputs[i].type.dtype, {}};
      for (const Dim& dim : program.outputs[i].type.dims) type.dims.emplace_back(dim.evaluate(bound_));
      int alias = program.outputs[i].alias;
      outputs_.push_back(alias >= 0 ? inputs_[static_cast<size_t>(alias)] : Literal(type));
    }
    arena_.resize(static_cast<size_t>(program.arena_bytes.evaluate(bound_)));
    persistent_.resize(static_cast<size_t>(program.persistent_bytes.evaluate(bound_)));
  }

  std::vector<Literal> run() {
    for (const Launch& launch : program_.setup) run_launch(launch);
    for (const Launch& launch : program_.run) run_launch(launch);
    return outputs_;
  }

 private:
  void bind(std::span<const Literal> inputs) {
    check(inputs.size() == program_.inputs.size(), "program ", program_.name, " takes ", program_.inputs.size(),
          " inputs");
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t d = 0; d < program_.inputs[i].type.dims.size(); ++d) {
        const Dim& dim = program_.inputs[i].type.dims[d];
        std::vector<Symbol> symbols = dim.symbols();
        if (symbols.size() == 1 && dim == Dim(symbols[0])) bound_[symbols[0].name] = inputs[i].type().dims[d].value();
      }
  }

  Bytes bytes_of(const BufferPlan& buffer) {
    auto index = static_cast<size_t>(std::max(buffer.index, 0));
    auto whole = [](Literal& literal) {
      return Bytes{literal.mutable_bytes(), static_cast<int64_t>(literal.bytes().size())};
    };
    int64_t offset = buffer.offset.evaluate(bound_), size = buffer.bytes.evaluate(bound_);
    switch (buffer.place) {
      case Place::input:
        return whole(inputs_[index]);
      case Place::output:
        return whole(outputs_[index]);
      case Place::constant: {
        const Literal& literal = program_.constants[index];
        return {const_cast<std::byte*>(literal.bytes().data()), static_cast<int64_t>(literal.bytes().size())};
      }
      case Place::arena:
        return {arena_.data() + offset, size};
      case Place::turn:
        return {turn_.data() + offset, size};
      case Place::persistent:
        return {persistent_.data() + offset, size};
    }
    return {};
  }

  void run_launch(const Launch& launch) {
    check_interrupt();
    switch (launch.kind) {
      case LaunchKind::kernel:
        return run_kernel(launch);
      case LaunchKind::routine:
        return run_routine(launch);
      case LaunchKind::loop:
        for (run_block(launch.blocks[0]); choice(launch) != 0; run_block(launch.blocks[0])) run_block(launch.blocks[1]);
        return;
      case LaunchKind::count: {
        int64_t trips = launch.trips.evaluate(bound_), first = launch.first.evaluate(bound_);
        if (launch.independent) turn_.resize(static_cast<size_t>(launch.turn_bytes.evaluate(bound_)));
        for (int64_t i = 0; i < trips && !(launch.until && choice(launch) != 0); ++i) {
          bound_[launch.counter] = first + i * launch.step;
          run_block(launch.blocks[0]);
        }
        bound_.erase(launch.counter);
        return;
      }
      case LaunchKind::branch: {
        int64_t chosen = choice(launch), last = static_cast<int64_t>(launch.blocks.size()) - 1;
        if (is_bool(program_.buffers[static_cast<size_t>(launch.buffers[0])].type.dtype)) chosen = chosen ? 0 : 1;
        return run_block(launch.blocks[static_cast<size_t>(chosen < 0 || chosen > last ? last : chosen)]);
      }
    }
  }

  void run_block(const LaunchBlock& block) {
    for (const Launch& launch : block.launches) run_launch(launch);
  }

  int64_t choice(const Launch& launch) {
    const BufferPlan& buffer = program_.buffers[static_cast<size_t>(launch.buffers[0])];
    return load(bytes_of(buffer).data, buffer.type.dtype).i;
  }

  // The kernel whose body a routine calls now.
  static inline thread_local const Kernel* called_body = nullptr;
  static void call_body(void** scalars, int64_t, int64_t) {
    std::vector<Bytes> memories;
    for (size_t i = 0; i < called_body->memories.size(); ++i)
      memories.push_back({static_cast<std::byte*>(scalars[i]), size_of(called_body->memories[i].dtype)});
    KernelRun(*called_body, std::move(memories), {}).run();
  }

  void run_routine(const Launch& launch) {
    std::vector<int64_t> numbers;
    for (const Dim& number : launch.numbers) numbers.push_back(number.evaluate(bound_));
    std::vector<void*> buffers;
    for (int32_t buffer : launch.buffers)
      buffers.push_back(bytes_of(program_.buffers[static_cast<size_t>(buffer)]).data);
    if (!launch.texts.empty()) {
      std::vector<const char*> texts;
      for (const std::string& text : launch.texts) texts.push_back(text.c_str());
      return run_told(launch.routine, texts.data(), numbers.data(), buffers.data());
    }
    if (!launch.bodies.empty()) called_body = &program_.kernels[static_cast<size_t>(launch.bodies[0])];
    RoutineBody body = call_body;
    find_routine(launch.routine)(numbers.data(), buffers.data(), &body);
  }

  void run_kernel(const Launch& launch) {
    const Kernel& kernel = program_.kernels[static_cast<size_t>(launch.kernel)];
    std::vector<Bytes> memories;
    std::vector<std::vector<std::byte>> scratch;
    size_t next = 0;
    for (const Memory& memory : kernel.memories) {
      if (memory.scratch) {
        scratch.emplace_back(static_cast<size_t>(memory.scratch * size_of(memory.dtype)));
        memories.push_back({scratch.back().data(), static_cast<int64_t>(scratch.back().size())});
      } else {
        memories.push_back(bytes_of(program_.buffers[static_cast<size_t>(launch.buffers[next++])]));
      }
    }
    Bindings symbols;
    for (size_t i = 0; i < kernel.symbols.size(); ++i)
      symbols[kernel.symbols[i].name] = launch.symbols[i].evaluate(bound_);
    std::vector<const RangeCheck*> checks;
    for (int32_t number : launch.checks) checks.push_back(&program_.checks[static_cast<size_t>(number)]);
    KernelRun(kernel, std::move(memories), std::move(symbols), std::move(checks)).run();
  }

  const Program& program_;
  Bindings bound_;
  std::vector<Literal> inputs_, outputs_;
  std::vector<std::byte> arena_, turn_, persistent_;
};

}  // namespace

std::vector<Literal> interpret(const Program& program, std::span<const Literal> inputs) {
  return ProgramRun(program, inputs).run();
}

}  // namespace weft
