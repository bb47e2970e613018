// The function of an exported program: its arguments as arrays, and all that the support library has to know.
#include "weft/codegen/export.h"

#include "weft/codegen/emit.h"
#include "weft/core/error.h"
#include "weft/core/text.h"

namespace weft {
namespace {

// Extents in IR; symbols are "%NAME".
class ExtentWriter {
 public:
  explicit ExtentWriter(const std::vector<Symbol>& symbols) {
    for (size_t i = 0; i < symbols.size(); ++i) {
      std::string slot = define(cat("getelementptr i64, ptr %symbols, i64 ", i));
      values_.emplace(symbols[i].name, define(cat("load i64, ptr ", slot)));
    }
  }

  std::string text;

  std::string value(const Dim& dim) {
    std::string sum = cat(dim.constant());
    for (const Dim::Term& term : dim.terms()) {
      std::string product = cat(term.coefficient);
      for (const auto& atom : term.atoms) product = define(cat("mul i64 ", product, ", ", value(*atom)));
      sum = define(cat("add i64 ", sum, ", ", product));
    }
    return sum;
  }

 private:
  std::string define(const std::string& instruction) {
    std::string name = cat("%e", next_++);
    append(text, "  ", name, " = ", instruction, "\n");
    return name;
  }

  std::string value(const DimAtom& atom) {
    if (atom.op == DimOp::symbol) return values_.at(atom.symbol.name);
    std::string a = value(atom.operands[0]), b = value(atom.operands[1]);
    if (atom.op == DimOp::min || atom.op == DimOp::max) {
      std::string less = define(cat("icmp slt i64 ", a, ", ", b)), low = atom.op == DimOp::min ? a : b,
                  high = atom.op == DimOp::min ? b : a;
      return define(cat("select i1 ", less, ", i64 ", low, ", i64 ", high));
    }
    // Divisors are positive: the rest, made positive, is the modulus.
    std::string rest = define(cat("srem i64 ", a, ", ", b)), up = define(cat("add i64 ", rest, ", ", b)),
                is_below = define(cat("icmp slt i64 ", rest, ", 0"));
    std::string modulus = define(cat("select i1 ", is_below, ", i64 ", up, ", i64 ", rest));
    if (atom.op == DimOp::mod) return modulus;
    return define(cat("sdiv i64 ", define(cat("sub i64 ", a, ", ", modulus)), ", ", b));
  }

  std::map<std::string, std::string, std::less<>> values_;
  int next_ = 0;
};

std::string words(const std::vector<int64_t>& values) {
  std::string text = cat("[", values.size(), " x i64] [");
  for (size_t i = 0; i < values.size(); ++i) append(text, i ? ", " : "", "i64 ", values[i]);
  return text + "]";
}

void make_internal(std::string& ir, const std::string& function) {
  std::string head = cat("define void @", function, "(");
  size_t at = ir.find(head);
  check(at != std::string::npos, "no function ", function, " was written");
  ir.replace(at, std::string_view("define void").size(), "define internal void");
}

void write_description(std::string& ir, const Program& program, const Target& target, const ExportPlan& plan,
                       size_t buffers) {
  ExtentWriter arena(program.symbols);
  std::string bytes = arena.value(program.arena_bytes), features;
  append(ir, "define internal i64 @weft.arena(ptr %symbols) {\n", arena.text, "  ret i64 ", bytes, "\n}\n");
  for (const std::string& feature : target.needs) append(features, feature, " ");
  std::vector<int64_t> ranges, lined_up;
  for (const Symbol& symbol : program.symbols) {
    ranges.push_back(symbol.min);
    ranges.push_back(symbol.max);
  }
  for (size_t output : plan.lined_up) lined_up.push_back(static_cast<int64_t>(program.inputs.size() + output));
  append(ir, "@weft.features = private constant [", features.size() + 1, " x i8] c\"", features,
         "\\00\"\n@weft.ranges = private constant ", words(ranges), "\n@weft.lined_up = private constant ",
         words(lined_up), "\n@weft.persistent = internal global ptr null\n@", plan.name,
         "_signature = constant i64 u0x", plan.signature,
         "\n@weft.program = internal constant { i64, i64, i64, i64, i64, ptr, ptr, ptr, ptr, ptr, ptr, ptr } { i64 ",
         buffers, ", i64 ", program.symbols.size(), ", i64 ", lined_up.size(), ", i64 ", program.checks.size(),
         ", i64 ", program.persistent_bytes,
         ", ptr @weft.arena, ptr @weft_run, ptr @weft_setup, ptr @weft.features, ptr @weft.ranges, ptr @weft.lined_up, "
         "ptr @weft.persistent }\n");
}

}  // namespace

std::string emit_exported(const Program& program, const Target& target, const ExportPlan& plan) {
  std::string ir = emit(program, target), parameters = "ptr %pool", body;
  for (const char* entry : {"weft_run", "weft_setup"}) make_internal(ir, entry);
  size_t inputs = program.inputs.size(), outputs = program.outputs.size(), constants = plan.constant_offsets.size(),
         buffers = inputs + outputs + constants + 2;
  write_description(ir, program, target, plan, buffers);
  append(body, "  %symbols = alloca [", program.symbols.size() + 1, " x i64]\n  %buffers = alloca [", buffers,
         " x ptr]\n");
  int next = 0;
  auto put = [&](const char* array, size_t at, const char* type, const std::string& value) {
    append(body, "  %slot", next, " = getelementptr i64, ptr ", array, ", i64 ", at, "\n  store ", type, " ", value,
           ", ptr %slot", next, "\n");
    ++next;
  };
  auto parameter = [&](const char* array, size_t at, const char* type, const std::string& name) {
    append(parameters, ", ", type, " ", name);
    put(array, at, type, name);
  };
  for (size_t i = 0; i < program.symbols.size(); ++i) parameter("%symbols", i, "i64", cat("%symbol", i));
  for (size_t i = 0; i < inputs; ++i) parameter("%buffers", i, "ptr", cat("%input", i));
  for (size_t i = 0; i < outputs; ++i) {
    int alias = program.outputs[i].alias;
    if (alias >= 0)
      put("%buffers", inputs + i, "ptr", cat("%input", alias));
    else
      parameter("%buffers", inputs + i, "ptr", cat("%output", i));
  }
  for (size_t i = 0; i < constants; ++i) {
    append(body, "  %constant", i, " = getelementptr i8, ptr @", plan.name, ".constants, i64 ",
           plan.constant_offsets[i], "\n");
    put("%buffers", inputs + outputs + i, "ptr", cat("%constant", i));
  }
  append(ir, "declare i32 @weft_support_run_2(ptr, ptr, ptr, ptr)\n");
  if (constants) append(ir, "@", plan.name, ".constants = external hidden constant i8\n");
  append(ir, "define i32 @", plan.name, "(", parameters, ") nounwind {\n", body,
         "  %code = call i32 @weft_support_run_2(ptr @weft.program, ptr %pool, ptr %symbols, ptr %buffers)\n  ret i32 "
         "%code\n}\n");
  return ir;
}

}  // namespace weft
