// Names, extents and the frame of a kernel function.
#include "weft/codegen/llvm/kernel_emitter.h"

#include <bit>
#include <cmath>
#include <utility>

#include "weft/core/error.h"
#include "weft/core/pages.h"
#include "weft/kernel/schedule.h"

namespace weft {

std::string register_type(DType dtype) {
  if (is_bool(dtype)) return "i1";
  if (is_integer(dtype)) return cat("i", bit_width(dtype));
  return real_type(dtype) == DType::f64 ? "double" : "float";
}

std::string lanes_type(const std::string& element, int lanes) {
  return lanes == 1 ? element : cat("<", lanes, " x ", element, ">");
}

std::string constant_text(DType dtype, const Literal& value, bool imaginary) {
  if (is_bool(dtype)) return value.as_int(0) ? "true" : "false";
  if (is_integer(dtype)) return cat(value.as_int(0));
  double number = imaginary ? value.as_complex(0).imag() : value.as_complex(0).real();
  uint64_t bits = std::bit_cast<uint64_t>(number);
  std::string hex = "0x";
  for (int i = 15; i >= 0; --i) hex += "0123456789ABCDEF"[(bits >> (4 * i)) & 15];
  return hex;
}

std::string float_text(double value) { return constant_text(DType::f64, Literal::scalar(DType::f64, value)); }

KernelEmitter::KernelEmitter(ModuleText& module, const Kernel& kernel)
    : out(&own_text_), module_(module), kernel_(kernel) {
  scopes_.emplace_back();
  find_dependencies();
}

void KernelEmitter::find_dependencies() {
  auto add_counters = [](std::set<std::string>& into, const Dim& index) {
    for (const Symbol& symbol : index.symbols()) into.insert(symbol.name);
  };
  for (const Expr& e : kernel_.exprs) {
    std::set<std::string> counters;
    std::set<int32_t> variables;
    add_counters(counters, e.index);
    auto take = [&](ExprId id) {
      if (id == no_expr) return;
      const auto& from = depends_[static_cast<size_t>(id)];
      counters.insert(from.begin(), from.end());
      const auto& read = reads_variables_[static_cast<size_t>(id)];
      variables.insert(read.begin(), read.end());
    };
    for (ExprId arg : e.args) take(arg);
    for (const auto& [id, stride] : e.dynamic) {
      take(id);
      add_counters(counters, stride);
    }
    take(e.mask);
    if (e.kind == ExprKind::variable) variables.insert(e.slot);
    if (e.kind == ExprKind::accumulator) counters.insert(".n");
    depends_.push_back(std::move(counters));
    reads_variables_.push_back(std::move(variables));
  }
}

std::string KernelEmitter::fresh(const char* stem) { return cat("%", stem, next_++); }
std::string KernelEmitter::label(const char* stem) { return cat(stem, next_++); }
void KernelEmitter::line(const std::string& text) { append(*out, "  ", text, "\n"); }

std::string KernelEmitter::assign(const std::string& text) {
  std::string name = fresh();
  append(*out, "  ", name, " = ", text, "\n");
  return name;
}

namespace {

// What two numbers give; nothing where one of them is a register.
template <class Operation>
std::optional<std::string> folded(const std::string& a, const std::string& b, Operation operation) {
  if (a[0] == '%' || b[0] == '%') return {};
  return cat(operation(std::stoll(a), std::stoll(b)));
}

}  // namespace

std::string KernelEmitter::add(const std::string& a, const std::string& b) {
  if (a == "0") return b;
  if (b == "0") return a;
  if (auto sum = folded(a, b, std::plus())) return *sum;
  return assign(cat("add i64 ", a, ", ", b));
}

std::string KernelEmitter::multiply(const std::string& a, const std::string& b) {
  if (a == "0" || b == "0") return "0";
  if (a == "1") return b;
  if (b == "1") return a;
  if (auto product = folded(a, b, std::multiplies())) return *product;
  return assign(cat("mul i64 ", a, ", ", b));
}

std::string KernelEmitter::extent(const Dim& dim) {
  if (dim.is_static()) return cat(dim.constant());
  std::string key = dim.text();
  // Keyed by the counters' present values too: a loop rebinds its counter in its own scope.
  for (size_t i = scopes_.size(); i-- > 0;)
    if (auto found = scopes_[i].extents.find(key); found != scopes_[i].extents.end()) return found->second;
  // What several terms take of one counter, once: the stride leaves the loop.
  std::set<std::string> met;
  for (const Dim::Term& term : dim.terms())
    for (const auto& atom : term.atoms) {
      bool again = atom->op == DimOp::symbol && atom->symbol.name[0] == '.' && !met.insert(atom->symbol.name).second;
      std::optional<Dim> stride = again ? coefficient(dim, atom->symbol.name) : std::nullopt;
      if (!stride) continue;
      Dim rest = dim - *stride * dim_of_atom(*atom);
      return scopes_.back().extents[key] =
                 add(extent(rest), multiply(extent(*stride), counters_.at(atom->symbol.name)));
    }
  std::string sum = cat(dim.constant());
  for (const Dim::Term& term : dim.terms()) {
    std::string product = cat(term.coefficient);
    for (const auto& atom : term.atoms) {
      std::string value;
      if (atom->op == DimOp::symbol) {
        auto bound = counters_.find(atom->symbol.name);
        check(bound != counters_.end(), "extent ", atom->symbol.name, " has no value in kernel ", kernel_.name);
        value = bound->second;
      } else {
        std::string a = extent(atom->operands[0]), b = extent(atom->operands[1]);
        if (atom->op == DimOp::min || atom->op == DimOp::max) {
          std::string less = assign(cat("icmp s", atom->op == DimOp::min ? "lt" : "gt", " i64 ", a, ", ", b));
          value = assign(cat("select i1 ", less, ", i64 ", a, ", i64 ", b));
        } else if (atom->operands[0].min() >= 0) {
          value = assign(cat(atom->op == DimOp::floordiv ? "udiv" : "urem", " i64 ", a, ", ", b));
        } else {
          std::string quotient = assign(cat("sdiv i64 ", a, ", ", b));
          std::string rest = assign(cat("sub i64 ", a, ", ", multiply(quotient, b)));
          std::string below = assign(cat("icmp slt i64 ", rest, ", 0"));
          if (atom->op == DimOp::floordiv) {
            std::string less = assign(cat("sub i64 ", quotient, ", 1"));
            value = assign(cat("select i1 ", below, ", i64 ", less, ", i64 ", quotient));
          } else {
            std::string more = assign(cat("add i64 ", rest, ", ", b));
            value = assign(cat("select i1 ", below, ", i64 ", more, ", i64 ", rest));
          }
        }
      }
      product = multiply(product, value);
    }
    sum = add(sum, product);
  }
  scopes_.back().extents[key] = sum;
  return sum;
}

// Lane by lane: only for indices that are not linear in the vector counter.
std::string KernelEmitter::vector_extent(const Dim& dim) {
  std::string type = lanes_type("i64", lanes_.count);
  bool varies = false;
  for (const Symbol& symbol : dim.symbols()) varies |= symbol.name == lanes_.counter;
  if (!varies) return splat("i64", extent(dim), lanes_.count);
  std::string sum = splat("i64", cat(dim.constant()), lanes_.count);
  for (const Dim::Term& term : dim.terms()) {
    std::string product = splat("i64", cat(term.coefficient), lanes_.count);
    for (const auto& atom : term.atoms) {
      std::string value;
      if (atom->op == DimOp::symbol) {
        value =
            atom->symbol.name == lanes_.counter ? steps() : splat("i64", counters_.at(atom->symbol.name), lanes_.count);
      } else {
        std::string a = vector_extent(atom->operands[0]), b = vector_extent(atom->operands[1]);
        if (atom->op == DimOp::min || atom->op == DimOp::max) {
          std::string less = assign(cat("icmp s", atom->op == DimOp::min ? "lt" : "gt", " ", type, " ", a, ", ", b));
          value =
              assign(cat("select ", lanes_type("i1", lanes_.count), " ", less, ", ", type, " ", a, ", ", type, " ", b));
        } else if (atom->operands[0].min() >= 0 && atom->operands[0].max() < int64_t{1} << 31 &&
                   atom->operands[1].is_static() && atom->operands[1].value() > 0 &&
                   atom->operands[1].value() < int64_t{1} << 31) {
          // By a constant, in 32 bits: a multiplication.
          std::string small = lanes_type("i32", lanes_.count);
          std::string narrow = assign(cat("trunc ", type, " ", a, " to ", small));
          std::string divided = assign(cat(atom->op == DimOp::floordiv ? "udiv " : "urem ", small, " ", narrow, ", ",
                                           splat("i32", cat(atom->operands[1].value()), lanes_.count)));
          value = assign(cat("zext ", small, " ", divided, " to ", type));
        } else {
          // Floor division: shifted up by a multiple of the divisor so that operands are not negative.
          std::string quotient = assign(cat("sdiv ", type, " ", a, ", ", b));
          std::string back = assign(cat("mul ", type, " ", quotient, ", ", b));
          std::string rest = assign(cat("sub ", type, " ", a, ", ", back));
          std::string below = assign(cat("icmp slt ", type, " ", rest, ", zeroinitializer"));
          std::string wide = assign(cat("sext ", lanes_type("i1", lanes_.count), " ", below, " to ", type));
          if (atom->op == DimOp::floordiv) {
            value = assign(cat("add ", type, " ", quotient, ", ", wide));
          } else {
            std::string extra = assign(cat("and ", type, " ", wide, ", ", b));
            value = assign(cat("add ", type, " ", rest, ", ", extra));
          }
        }
      }
      product = assign(cat("mul ", type, " ", product, ", ", value));
    }
    sum = assign(cat("add ", type, " ", sum, ", ", product));
  }
  return sum;
}

void KernelEmitter::load_arguments(bool epilogue) {
  pointers_.clear();
  int argument = 0;
  const char* tag = epilogue ? "e" : "";
  for (size_t i = 0; i < kernel_.memories.size(); ++i) {
    if (kernel_.memories[i].scratch) {
      pointers_.push_back(cat("%scratch", i));
      continue;
    }
    std::string slot = cat("%", tag, "place", i), value = cat("%", tag, "mem", i);
    line(cat(slot, " = getelementptr ptr, ptr %args, i64 ", argument++));
    line(cat(value, " = load ptr, ptr ", slot, ", !invariant.load !0"));
    pointers_.push_back(value);
  }
  for (const Symbol& symbol : kernel_.symbols) {
    std::string slot = fresh("slot");
    line(cat(slot, " = getelementptr i64, ptr %args, i64 ", argument++));
    counters_[symbol.name] = assign(cat("load i64, ptr ", slot, ", !invariant.load !0"));
  }
  failed_.clear();
  for (int i = 0; i < kernel_.checks; ++i) {
    std::string slot = assign(cat("getelementptr ptr, ptr %args, i64 ", argument++));
    failed_.push_back(assign(cat("load ptr, ptr ", slot, ", !invariant.load !0")));
  }
  widening_ = {};
  bool widens = std::ranges::any_of(kernel_.exprs,
                                    [](const Expr& e) { return e.kind == ExprKind::load && e.dtype == DType::bf16; });
  if (!module_.target.vbmi || !widens) return;
  // No instructions, but LLVM does not see through them: it would extend and shift.
  std::string bytes;
  for (int i = 0; i < 64; ++i) append(bytes, i ? ", i8 " : "i8 ", i % 4 < 2 ? 0 : i / 4 * 2 + i % 2);
  widening_.from = assign(cat("call <64 x i8> asm \"\", \"=v,0\"(<64 x i8> <", bytes, ">)"));
  widening_.where =
      assign(cat("bitcast i64 ", assign(cat("call i64 asm \"\", \"=r,0\"(i64 ", int64_t(0xCCCC'CCCC'CCCC'CCCC), ")")),
                 " to <64 x i1>"));
}

std::string KernelEmitter::take_parameters() {
  std::string text;
  auto take = [&](const char* type, const std::string& value) {
    append(text, type, " ", value, ", ");
    return value;
  };
  pointers_.clear();
  for (size_t i = 0; i < kernel_.memories.size(); ++i) pointers_.push_back(take("ptr", cat("%mem", i)));
  for (size_t i = 0; i < kernel_.symbols.size(); ++i)
    counters_[kernel_.symbols[i].name] = take("i64", cat("%symbol", i));
  failed_.clear();
  for (int i = 0; i < kernel_.checks; ++i) failed_.push_back(take("ptr", cat("%fails", i)));
  widening_ = {};
  return text;
}

// In the frame what the smallest stacks hold, else in memory of the thread.
void KernelEmitter::allocate_scratch() {
  constexpr int64_t most_in_frame = 1 << 16;
  int64_t all = 0, at = 0;
  auto each = [&](auto f) {
    for (size_t i = 0; i < kernel_.memories.size(); ++i)
      if (const Memory& memory = kernel_.memories[i]; memory.scratch)
        f(cat("%scratch", i), whole_lines(memory.scratch * size_of(memory.dtype)));
  };
  each([&](const std::string&, int64_t bytes) { all += bytes; });
  if (all <= most_in_frame)
    return each(
        [&](const std::string& name, int64_t bytes) { line(cat(name, " = alloca [", bytes, " x i8], align 64")); });
  module_.declare("declare ptr @weft_support_scratch(i64)");
  line(cat("%kept = call ptr @weft_support_scratch(i64 ", all, ")"));
  each([&](const std::string& name, int64_t bytes) {
    line(cat(name, " = getelementptr i8, ptr %kept, i64 ", std::exchange(at, at + bytes)));
  });
}

void KernelEmitter::emit_loop_kernel(std::string_view inlined) {
  const std::string parameters = !inlined.empty() ? take_parameters() : "ptr %args, ";
  append(*out, "define internal void @", kernel_.name, inlined, "(", parameters, "i64 %begin, i64 %end) ",
         inlined.empty() ? "#0" : "#2", " {\nentry:\n");
  allocate_scratch();
  size_t top = out->size();
  if (inlined.empty()) load_arguments();
  by_bytes_ = takes_bytes();
  statements(kernel_.body);
  begin_checks(top);
  end_checks();
  if (writes_past_caches_) {
    // Such stores are seen by other threads in no order.
    module_.declare("declare void @llvm.x86.sse.sfence()");
    line("call void @llvm.x86.sse.sfence()");
  }
  line("ret void");
  *out += "}\n\n";
  keep_calls_apart();
  module_.out += own_text_;
}

// What an epilogue reads and writes lies in pieces of a line or two a row, which the CPU does not foresee: it is
// fetched while the next tile is multiplied.
void KernelEmitter::fetch_rows_after(const Index& index, int32_t slot, bool writes, const std::string& rows) {
  std::optional<Dim> row = coefficient(index, ".m"), column = coefficient(index, ".n");
  if (!row || row->is(0) || !column || !column->is(1)) return;
  std::string at = add(extent(index), multiply(rows, extent(*row)));
  int64_t line = 64 / size_of(kernel_.memories[static_cast<size_t>(slot)].dtype);
  for (int64_t lane = 0; lane < lanes_.count; lane += line) prefetch(slot, lane ? add(at, cat(lane)) : at, writes);
}

void KernelEmitter::emit_dot_body(const std::string& accumulator, int lanes, const std::string& m, const std::string& n,
                                  const std::vector<std::string>& batch, const std::string& mask,
                                  const std::string& rows) {
  scopes_.emplace_back();
  counters_[".m"] = m;
  counters_[".n"] = n;
  for (size_t i = 0; i < batch.size(); ++i) counters_[cat(".b", i)] = batch[i];
  lanes_ = {lanes, ".n", mask};
  accumulator_ = {accumulator, {}, lanes > 1};
  for (const Expr& e : kernel_.exprs)
    if (e.kind == ExprKind::load && e.dynamic.empty() && e.mask == no_expr)
      fetch_rows_after(e.index, e.slot, false, rows);
  for (const Stmt& stmt : kernel_.body)
    if (stmt.kind == StmtKind::store && stmt.dynamic.empty()) fetch_rows_after(stmt.index, stmt.slot, true, rows);
  for (const Stmt& stmt : kernel_.body) store(stmt);
  lanes_ = {};
  scopes_.pop_back();
}

}  // namespace weft
