// The micro-kernel: a tile of accumulators in registers, one multiply-add per element and k.
//
// Rows share base pointers by threes, so that a row is an addressing mode: base, base + stride,
// base + 2 * stride. Bases and the doubled stride are arguments of a function that is not inlined:
// where LLVM sees how they are made, it turns the addresses of a step into one serial chain of
// additions, which takes as long as the multiply-adds.
#include "weft/codegen/llvm/dot_shape.h"
#include "weft/core/error.h"

namespace weft {
namespace {

struct Tile {
  DotWriter& writer;
  DType lhs, rhs;
  int rows;
  int panels;  // side by side, %bp and %cp bytes apart
  std::string ir;

  int vectors() const { return shape().vectors * panels; }

  const DotShape& shape() const { return writer.shape; }

  template <class F>
  void each(F f) {
    for (int row = 0; row < rows; ++row)
      for (int v = 0; v < vectors(); ++v) f(cat(row, ".", v), row, v);
  }

  void open(const std::string& name) {
    append(ir, "define internal void @", name, "(");
    for (int row = 0; row < rows; row += rows_per_base) append(ir, "ptr %base.", row, ", ");
    append(ir, "i64 %am, i64 %am2, i64 %ak, ptr %b, i64 %bk, i64 %count, ptr %c, i1 %first",
           panels > 1 ? ", i64 %bp, i64 %cp" : "", ") noinline optsize {\nentry:\n");
    append(ir, "  br i1 %first, label %start, label %resume\n");
  }

  // The pointer to a vector of accumulators.
  std::string at(const std::string& name, int row, int v) {
    std::string base = "%c";
    if (int panel = v / shape().vectors) {
      base = name + ".panel";
      append(ir, "  ", name, ".move = mul i64 %cp, ", panel, "\n  ", base, " = getelementptr i8, ptr %c, i64 ", name,
             ".move\n");
    }
    append(ir, "  ", name, " = getelementptr i8, ptr ", base, ", i64 ",
           (row * shape().width + v % shape().vectors * shape().lanes) * shape().size, "\n");
    return name;
  }

  void resume() {
    append(ir, "resume:\n");
    each([&](const std::string& at, int row, int v) {
      std::string from = this->at(cat("%at.", at), row, v);
      append(ir, "  %old.", at, " = load ", writer.vector(), ", ptr ", from, ", align ", shape().lanes * shape().size,
             "\n");
    });
    append(ir, "  br label %start\nstart:\n");
    each([&](const std::string& at, int, int) {
      append(ir, "  %start.", at, " = phi ", writer.vector(), " [ zeroinitializer, %entry ], [ %old.", at,
             ", %resume ]\n");
    });
    append(ir, "  %empty = icmp eq i64 %count, 0\n  br i1 %empty, label %finish, label %step\n");
  }

  void step() {
    append(ir, "step:\n  %left = phi i64 [ %count, %start ], [ %left.next, %step ]\n",
           "  %pb = phi ptr [ %b, %start ], [ %pb.next, %step ]\n");
    for (int row = 0; row < rows; row += rows_per_base)
      append(ir, "  %p.", row, " = phi ptr [ %base.", row, ", %start ], [ %p.", row, ".next, %step ]\n");
    each([&](const std::string& at, int, int) {
      append(ir, "  %sum.", at, " = phi ", writer.vector(), " [ %start.", at, ", %start ], [ %next.", at,
             ", %step ]\n");
    });
    std::vector<std::string> b;
    for (int v = 0; v < vectors(); ++v) {
      std::string load = cat("%b.", v), base = "%pb";
      if (int panel = v / shape().vectors; panel && v % shape().vectors == 0)
        append(ir, "  %pb.panel.", panel, " = getelementptr i8, ptr %pb", panel > 1 ? cat(".panel.", panel - 1) : "",
               ", i64 %bp\n");
      if (int panel = v / shape().vectors) append(base, ".panel.", panel);
      append(ir, "  %pb.", v, " = getelementptr i8, ptr ", base, ", i64 ",
             v % shape().vectors * shape().lanes * int(size_of(rhs)), "\n  ", load, " = load ",
             vector_type(rhs, shape().lanes), ", ptr %pb.", v, ", align ", size_of(rhs), "\n");
      b.push_back(writer.convert(ir, load, load, rhs, shape().lanes));
    }
    for (int row = 0; row < rows; ++row) multiply_row(row, b);
    for (int row = 0; row < rows; row += rows_per_base)
      append(ir, "  %p.", row, ".next = getelementptr i8, ptr %p.", row, ", i64 %ak\n");
    append(ir, "  %pb.next = getelementptr i8, ptr %pb, i64 %bk\n  %left.next = add i64 %left, -1\n",
           "  %more = icmp ne i64 %left.next, 0\n  br i1 %more, label %step, label %finish\n");
  }

  void multiply_row(int row, const std::vector<std::string>& b) {
    std::string base = cat("%p.", row - row % rows_per_base), pointer = base;
    if (int within = row % rows_per_base) {
      pointer = cat("%pa.", row);
      append(ir, "  ", pointer, " = getelementptr i8, ptr ", base, ", i64 ", within == 1 ? "%am" : "%am2", "\n");
    }
    std::string value = cat("%a.", row), type = writer.vector();
    append(ir, "  ", value, " = load ", llvm_type(lhs), ", ptr ", pointer, ", align ", size_of(lhs), "\n");
    value = writer.convert(ir, value, value, lhs, 0);
    append(ir, "  %one.", row, " = insertelement ", type, " poison, ", writer.type(), " ", value, ", i64 0\n  %all.",
           row, " = shufflevector ", type, " %one.", row, ", ", type, " poison, <", shape().lanes,
           " x i32> zeroinitializer\n");
    for (int v = 0; v < vectors(); ++v)
      ir += writer.multiply_add(cat("%next.", row, ".", v), cat("%all.", row), b[static_cast<size_t>(v)],
                                cat("%sum.", row, ".", v));
  }

  void finish() {
    append(ir, "finish:\n");
    each([&](const std::string& at, int, int) {
      append(ir, "  %end.", at, " = phi ", writer.vector(), " [ %start.", at, ", %start ], [ %next.", at,
             ", %step ]\n");
    });
    each([&](const std::string& at, int row, int v) {
      std::string to = this->at(cat("%to.", at), row, v);
      append(ir, "  store ", writer.vector(), " %end.", at, ", ptr ", to, ", align ", shape().lanes * shape().size,
             "\n");
    });
    append(ir, "  ret void\n}\n\n");
  }
};

}  // namespace

std::string DotWriter::multiply_add(const std::string& to, const std::string& a, const std::string& b,
                                    const std::string& sum, int lanes) {
  std::string type = lanes == 1 ? this->type() : vector();
  if (is_float(accumulate) && emitter.target_.fma) {
    std::string suffix = cat(lanes == 1 ? "" : cat("v", shape.lanes), accumulate == DType::f64 ? "f64" : "f32");
    declare(cat("declare ", type, " @llvm.fma.", suffix, "(", type, ", ", type, ", ", type, ")\n"));
    return cat("  ", to, " = call ", type, " @llvm.fma.", suffix, "(", type, " ", a, ", ", type, " ", b, ", ", type,
               " ", sum, ")\n");
  }
  std::string kind = is_float(accumulate) ? "f" : "";
  return cat("  ", to, ".product = ", kind, "mul ", type, " ", a, ", ", b, "\n  ", to, " = ", kind, "add ", type, " ",
             sum, ", ", to, ".product\n");
}

std::string DotWriter::tile(DType lhs, DType rhs, int rows, int panels) {
  std::string name =
      cat("weft.tile.", weft::name(lhs), ".", weft::name(rhs), ".", weft::name(accumulate), ".", rows, "x", panels);
  if (!first(name)) return name;
  Tile tile{*this, lhs, rhs, rows, panels, {}};
  tile.open(name);
  tile.resume();
  tile.step();
  tile.finish();
  emitter.functions_ += tile.ir;
  return name;
}

std::string DotWriter::call_tile(const std::string& name, int rows, const std::string& rest) {
  std::string ir, call = cat("  call void @", name, "(ptr %a");
  for (int row = rows_per_base; row < rows; row += rows_per_base) {
    append(ir, "  %a.", rows, ".", row, " = getelementptr i8, ptr %a, i64 %am", row, "\n");
    append(call, ", ptr %a.", rows, ".", row);
  }
  return cat(ir, call, ", i64 %am, i64 %am2, i64 %ak, ", rest, ")\n");
}

std::string DotWriter::call_small_tile(const std::string& name, const std::string& rest) {
  static_assert(small_rows == 4 && rows_per_base == 3);
  return cat(
      "  %has.2 = icmp uge i64 %r.left, 2\n  %has.3 = icmp uge i64 %r.left, 3\n"
      "  %has.4 = icmp uge i64 %r.left, 4\n  %at.1 = select i1 %has.2, i64 %am, i64 0\n"
      "  %at.2 = select i1 %has.3, i64 %am2, i64 %at.1\n"
      "  %at.3 = select i1 %has.4, i64 %am3, i64 0\n  %a.small = getelementptr i8, ptr %a, i64 "
      "%at.3\n"
      "  call void @",
      name, "(ptr %a, ptr %a.small, i64 %at.1, i64 %at.2, i64 %ak, ", rest, ")\n");
}

}  // namespace weft
