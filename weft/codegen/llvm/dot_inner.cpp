// One row of lhs, or a few at once, by columns of rhs that lie along k: vectors run over k, so that memory is read as
// it lies, and once.
#include "weft/codegen/llvm/dot_shape.h"
#include "weft/core/error.h"

namespace weft {
namespace {

// %cols results to %c, of each of %rows rows. Columns past the last, and rows, are read as the last one and dropped.
constexpr std::string_view inner_open_text =
    R"(define internal void @$name$(ptr %a, i64 %am, i64 %rows, ptr %b, i64 %bn, i64 %count, i64 %cols, ptr %c, i64 %fetch) noinline optsize {
entry:
  %sums = alloca [$sums$ x $vector$], align 64
  %last = sub i64 %cols, 1
  %whole = and i64 %count, -$step$
  %rest = sub i64 %count, %whole
$rows$  br label %group
group:
  %n = phi i64 [ 0, %entry ], [ %n.next, %reduce ]
)";

constexpr std::string_view inner_close_text = R"(  %n.next = add i64 %n, $group$
  %n.more = icmp ult i64 %n.next, %cols
  br i1 %n.more, label %group, label %done
done:
  ret void
}

)";

struct Inner {
  DotWriter& writer;
  bool fetches;
  int rows;
  std::string ir;
  // Columns at once: enough sums in flight to hide the latency of a multiply-add, and no more than registers hold.
  int group = rows == 1 ? 8 : 4;

  int sum_count() const { return rows * group; }
  // Of each sum, and for bytes of each column what is to be taken off its sums.
  void for_sums(const auto& write) {
    for (int i = 0; i < sum_count(); ++i) write("", i);
    for (int i = 0; biased() && i < group; ++i) write("bias.", i);
  }

  int lanes() const { return writer.shape.lanes; }
  // Elements of a vector.
  int step() const { return lanes() * writer.form.group; }
  bool biased() const { return writer.form.biased; }
  bool has_masks() const { return writer.target().avx512; }

  std::string row_starts() const {
    std::string text = "  %row.0 = getelementptr i8, ptr %a, i64 0\n";
    for (int r = 1; r < rows; ++r)
      append(text, "  %is.row.", r, " = icmp ugt i64 %rows, ", r, "\n  %am.", r, " = select i1 %is.row.", r,
             ", i64 %am, i64 0\n  %row.", r, " = getelementptr i8, ptr %row.", r - 1, ", i64 %am.", r, "\n");
    return text;
  }

  void columns() {
    for (int i = 0; i < group; ++i) {
      append(ir, "  %n.", i, " = add i64 %n, ", i, "\n  %is.", i, " = icmp ult i64 %n.", i, ", %cols\n  %o.", i, " = ");
      if (i)
        append(ir, "select i1 %is.", i, ", i64 %bn, i64 0\n  %b.", i, " = getelementptr i8, ptr %b.", i - 1,
               ", i64 %o.", i, "\n");
      else
        append(ir, "mul i64 %n, %bn\n  %b.0 = getelementptr i8, ptr %b, i64 %o.0\n");
    }
    append(ir, "  %some = icmp ne i64 %whole, 0\n  br i1 %some, label %step, label %tail\n");
  }

  // The sums as they enter a block.
  void sums(const std::string& name, const std::string& from) {
    for_sums([&](const char* kind, int i) {
      append(ir, "  %", name, kind, i, " = phi ", writer.vector(), " [ zeroinitializer, %group ], [ %next.", kind, i,
             ", %", from, " ]\n");
    });
  }

  // sum += a[k] * b[k] for whole vectors.
  void steps() {
    append(ir, "step:\n  %k = phi i64 [ 0, %group ], [ %k.next, %step ]\n");
    sums("sum.", "step");
    multiply("", "%k", "sum.", "next.", false);
    append(ir, "  %k.next = add i64 %k, ", step(), "\n  %k.more = icmp ult i64 %k.next, %whole\n",
           "  br i1 %k.more, label %step, label %tail\n");
  }

  void multiply(const std::string& name, const std::string& k, const std::string& sum, const std::string& next,
                bool masked) {
    std::string flip = cat("splat (i32 ", 0x80808080u, ")");
    std::vector<std::string> a;
    for (int r = 0; r < rows; ++r) {
      a.push_back(load(cat(name, "a.", r), cat("%row.", r), writer.form.lhs, k, masked));
      if (!biased()) continue;
      append(ir, "  %", name, "flipped.", r, " = xor ", writer.units(), " ", a.back(), ", ", flip, "\n");
      a.back() = cat("%", name, "flipped.", r);
    }
    for (int i = 0; i < group; ++i) {
      std::string b = load(cat(name, "x.", i), cat("%b.", i), writer.form.rhs, k, masked);
      if (fetches && !masked) writer.fetch(ir, cat("%at.x.", i), "%fetch");
      for (int r = 0; r < rows; ++r)
        ir += writer.multiply_add(cat("%", next, r * group + i), a[static_cast<size_t>(r)], b,
                                  cat("%", sum, r * group + i));
      if (biased()) ir += writer.multiply_add(cat("%", next, "bias.", i), flip, b, cat("%", sum, "bias.", i));
    }
  }

  std::string load(const std::string& name, const std::string& pointer, DType dtype, const std::string& k,
                   bool masked) {
    std::string type = vector_type(dtype, step()), value = cat("%v.", name);
    append(ir, "  %at.", name, " = getelementptr ", llvm_type(dtype), ", ptr ", pointer, ", i64 ", k, "\n");
    if (masked) {
      std::string scalar = llvm_type(dtype);
      std::string callee = cat("@llvm.masked.load.v", step(),
                               scalar == "float"    ? "f32"
                               : scalar == "double" ? "f64"
                                                    : scalar,
                               ".p0(");
      writer.declare(cat("declare ", type, " ", callee, "ptr, <", step(), " x i1>, ", type, ")\n"));
      append(ir, "  ", value, " = call ", type, " ", callee, "ptr align ", size_of(dtype), " %at.", name, ", <", step(),
             " x i1> %mask, ", type, " zeroinitializer)\n");
    } else {
      append(ir, "  ", value, " = load ", type, ", ptr %at.", name, ", align ", size_of(dtype), "\n");
    }
    return writer.bitcast_units(ir, value, writer.convert(ir, value, value, dtype, step()), lanes());
  }

  void tail() {
    append(ir, "tail:\n");
    sums("so.far.", "step");
    append(ir, "  %is.rest = icmp ne i64 %rest, 0\n");
    if (has_masks())
      tail_masked();
    else
      tail_scalar();
  }

  void tail_masked() {
    std::string iota, type = cat("<", step(), " x i16>");
    for (int i = 0; i < step(); ++i) append(iota, i ? ", " : "", "i16 ", i);
    append(ir, "  br i1 %is.rest, label %masked, label %tail.sums\nmasked:\n",
           "  %rest.small = trunc i64 %rest to i16\n  %rest.one = insertelement ", type,
           " poison, i16 %rest.small, i64 0\n  %rest.all = shufflevector ", type, " %rest.one, ", type, " poison, <",
           step(), " x i32> zeroinitializer\n  %mask = icmp ult ", type, " <", iota, ">, %rest.all\n");
    multiply("last.", "%whole", "so.far.", "last.next.", true);
    append(ir, "  br label %tail.sums\ntail.sums:\n");
    for_sums([&](const char* kind, int i) {
      append(ir, "  %all.", kind, i, " = phi ", writer.vector(), " [ %so.far.", kind, i, ", %tail ], [ %last.next.",
             kind, i, ", %masked ]\n");
    });
    for (int i = 0; i < sum_count(); ++i) sums_.push_back(less_bias("%all.", i));
  }

  std::string less_bias(const std::string& from, int i) {
    if (!biased()) return cat(from, i);
    append(ir, "  %less.", i, " = sub ", writer.vector(), " ", from, i, ", ", from, "bias.", i % group, "\n");
    return cat("%less.", i);
  }

  // The last elements go to the sums' leading lanes, one lane for each.
  void tail_scalar() {
    for (int i = 0; i < sum_count(); ++i) {
      std::string value = less_bias("%so.far.", i);
      append(ir, "  %sums.", i, " = getelementptr ", writer.vector(), ", ptr %sums, i64 ", i, "\n  store ",
             writer.vector(), " ", value, ", ptr %sums.", i, ", align ", lanes() * writer.shape.size, "\n");
    }
    append(ir, "  br i1 %is.rest, label %last.n, label %tail.done\n");
    std::string type = writer.type();
    append(ir, "last.n:\n  %i = phi i64 [ 0, %tail ], [ %i.next, %last.end ]\n  %i.column = and i64 %i, ", group - 1,
           "\n  %i.row = udiv i64 %i, ", group, "\n  %i.n = add i64 %n, %i.column\n",
           "  %i.m = call i64 @llvm.umin.i64(i64 %i.n, i64 %last)\n  %i.o = mul i64 %i.m, %bn\n",
           "  %i.b = getelementptr i8, ptr %b, i64 %i.o\n  %rows.less = sub i64 %rows, 1\n",
           "  %i.r = call i64 @llvm.umin.i64(i64 %i.row, i64 %rows.less)\n  %i.r.o = mul i64 %i.r, %am\n",
           "  %i.a = getelementptr i8, ptr %a, i64 %i.r.o\n  %i.sums = getelementptr ", writer.vector(),
           ", ptr %sums, i64 %i\n  br label %last.k\nlast.k:\n  %j = phi i64 [ 0, %last.n ], [ "
           "%j.next, %last.k ]\n",
           "  %l = add i64 %j, %whole\n");
    std::string a = scalar("la", "%i.a", writer.form.lhs), b = scalar("lb", "%i.b", writer.form.rhs);
    append(ir, "  %j.lane = and i64 %j, ", lanes() - 1, "\n  %lane = getelementptr ", type,
           ", ptr %i.sums, i64 %j.lane\n  %old = load ", type, ", ptr %lane\n",
           writer.multiply_add("%new", a, b, "%old", 1), "  store ", type, " %new, ptr %lane\n",
           "  %j.next = add i64 %j, 1\n  %j.more = icmp ult i64 %j.next, %rest\n",
           "  br i1 %j.more, label %last.k, label %last.end\nlast.end:\n  %i.next = add i64 %i, 1\n",
           "  %i.more = icmp ult i64 %i.next, ", sum_count(),
           "\n  br i1 %i.more, label %last.n, label %tail.done\ntail.done:\n");
    for (int i = 0; i < sum_count(); ++i) {
      append(ir, "  %whole.", i, " = load ", writer.vector(), ", ptr %sums.", i, ", align ",
             lanes() * writer.shape.size, "\n");
      sums_.push_back(cat("%whole.", i));
    }
  }

  std::string scalar(const std::string& name, const std::string& pointer, DType dtype) {
    append(ir, "  %at.", name, " = getelementptr ", llvm_type(dtype), ", ptr ", pointer, ", i64 %l\n  %v.", name,
           " = load ", llvm_type(dtype), ", ptr %at.", name, ", align ", size_of(dtype), "\n");
    return writer.convert(ir, cat("%v.", name), cat("%v.", name), dtype, writer.accumulate, 0);
  }

  // In each sum halves are added until one lane is left, in several sums at once: a vector then holds those of
  // neighbouring columns side by side. What is stored past the last column is not read.
  void reduce() {
    append(ir, "  br label %reduce\nreduce:\n");
    for (int r = 0; r < rows; ++r) reduce(r, {sums_.begin() + r * group, sums_.begin() + (r + 1) * group});
  }

  void reduce(int row, std::vector<std::string> sums) {
    std::string add = is_float(writer.accumulate) ? "fadd" : "add";
    int parts = lanes(), columns = 1;  // lanes of a sum, sums of a vector
    for (; parts > 1; parts /= 2) {
      bool pairs = sums.size() > 1;
      std::vector<std::string> next;
      for (size_t i = 0; i < sums.size(); i += pairs ? 2 : 1) {
        std::string name = cat("%s.", row, ".", parts, ".", i), from = vector_type(writer.accumulate, parts * columns);
        int count = columns * (pairs ? 2 : 1), half = parts / 2;
        for (int high : {0, half}) {
          append(ir, "  ", name, high ? ".high" : ".low", " = shufflevector ", from, " ", sums[i], ", ", from, " ",
                 pairs ? sums[i + 1] : "poison", ", <", count * half, " x i32> <");
          for (int lane = 0; lane < count * half; ++lane)
            append(ir, lane ? ", " : "", "i32 ", lane / half * parts + high + lane % half);
          append(ir, ">\n");
        }
        append(ir, "  ", name, " = ", add, " ", vector_type(writer.accumulate, count * half), " ", name, ".low, ", name,
               ".high\n");
        next.push_back(name);
      }
      sums = std::move(next);
      columns *= pairs ? 2 : 1;
    }
    append(ir, "  %c.", row, " = getelementptr ", writer.type(), ", ptr %c, i64 ", row * writer.shape.width, "\n");
    for (size_t i = 0; i < sums.size(); ++i)
      append(ir, "  %to.", row, ".", i, " = getelementptr ", writer.type(), ", ptr %c.", row, ", i64 %n.",
             i * static_cast<size_t>(columns), "\n  store ", vector_type(writer.accumulate, columns), " ", sums[i],
             ", ptr %to.", row, ".", i, ", align ", writer.shape.size, "\n");
  }

  std::vector<std::string> sums_ = {};
};

}  // namespace

std::string DotWriter::inner(bool fetches, int rows) {
  std::string name = cat("weft.inner.", weft::name(form.lhs), ".", weft::name(form.rhs), ".", form.name(),
                         rows > 1 ? ".rows" : "", fetches ? ".fetches" : "");
  if (!first(name)) return name;
  Inner inner{*this, fetches, rows, {}};
  inner.ir = fill(inner_open_text, {{"name", name},
                                    {"sums", cat(inner.sum_count())},
                                    {"vector", vector()},
                                    {"step", cat(inner.step())},
                                    {"rows", inner.row_starts()}});
  inner.columns();
  inner.steps();
  inner.tail();
  inner.reduce();
  inner.ir += fill(inner_close_text, {{"group", cat(inner.group)}});
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  emitter.functions_ += inner.ir;
  return name;
}

}  // namespace weft
