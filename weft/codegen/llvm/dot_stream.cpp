// One row of lhs by rhs as it lies in memory, in rows along n: a few rows of rhs are read side by side from end to end,
// so that memory sees few and long streams; the sums rest in the first-level cache.
#include "weft/codegen/llvm/dot_shape.h"

namespace weft {
namespace {

// %panels whole panels; their sums lie one after the other.
constexpr std::string_view stream_open_text =
    R"(define internal void @$name$(ptr %a, i64 %ak, ptr %b, i64 %bk, i64 %units, ptr %c, i1 %first, i64 %panels, i64 %fetch) noinline optsize {
entry:
  %c.bytes = mul i64 %panels, $row.bytes$
  %move = mul i64 %bk, $group$
  %move.all = mul i64 %move, $unroll$
  %ak.all = mul i64 %ak, $unroll$
  %fetches = icmp ne i64 %fetch, 0
$wrapping$  br i1 %first, label %zero, label %open
zero:
  call void @llvm.memset.p0.i64(ptr align 64 %c, i8 0, i64 %c.bytes, i1 false)
  br label %open
open:
  br label %choose
choose:
  %left = phi i64 [ %units, %open ], [ %left.many, %many.end ], [ %left.one, %one.end ]
  %pa = phi ptr [ %a, %open ], [ %pa.many, %many.end ], [ %pa.one, %one.end ]
  %pb = phi ptr [ %b, %open ], [ %pb.many, %many.end ], [ %pb.one, %one.end ]
  %is.many = icmp uge i64 %left, $unroll$
  br i1 %is.many, label %many, label %rest
rest:
  %is.one = icmp ne i64 %left, 0
  br i1 %is.one, label %one, label %done
done:
  ret void
)";

// What is fetched ahead on long rows is, from their end on, at the beginning of those that take their places.
constexpr std::string_view wrapping_text =
    R"(  %row.end = mul i64 %panels, $rhs.bytes$
  %is.long = icmp ult i64 %fetch, %row.end
  %below.0 = sub i64 %move.all, %row.end
  %below.1 = add i64 %below.0, %fetch
  %below = select i1 %is.long, i64 %below.1, i64 %fetch
)";

struct Stream {
  DotWriter& writer;
  std::string ir;

  const DotShape& shape() const { return writer.shape; }
  int panel_bytes() const { return shape().width * int(size_of(writer.form.rhs)); }  // of a row of rhs
  bool wraps() const { return size_of(writer.form.rhs) == 1; }  // whether long lines are fetched too (dot.cpp)

  // `count` units of k for all panels; blocks and values are named after `label`.
  void pass(const std::string& label, int count) {
    std::string name = cat("%", label, ".");
    append(ir, label, ":\n");
    for (int i = 0; i < count; ++i) open_unit(name, i);
    append(ir, "  br label %", label, ".panel\n", label, ".panel:\n  ", name, "p = phi i64 [ 0, %", label, " ], [ ",
           name, "p.next, %", label, ".fetched ]\n  ", name, "bo = mul i64 ", name, "p, ", panel_bytes(), "\n  ", name,
           "co = mul i64 ", name, "p, ", shape().width * shape().size, "\n  ", name,
           "c = getelementptr i8, ptr %c, i64 ", name, "co\n");
    sums(name, count);
    append(ir, "  br i1 %fetches, label %", label, ".fetching, label %", label, ".fetched\n", label, ".fetching:\n");
    if (wraps()) wrap(name, label);
    for (int i = 0; i < count * writer.form.group; ++i) fetch_line(name, i);
    append(ir, "  br label %", label, ".fetched\n", label, ".fetched:\n  ", name, "p.next = add i64 ", name, "p, 1\n  ",
           name, "more = icmp ult i64 ", name, "p.next, %panels\n  br i1 ", name, "more, label %", label,
           ".panel, label %", label, ".end\n", label, ".end:\n  %left.", label, " = sub i64 %left, ", count, "\n  %pa.",
           label, " = getelementptr i8, ptr %pa, i64 ", count > 1 ? "%ak.all" : "%ak", "\n  %pb.", label,
           " = getelementptr i8, ptr %pb, i64 ", count > 1 ? "%move.all" : "%move", "\n  br label %choose\n");
  }

  // How far ahead panel `p` fetches: beyond the end of its lines where those that take their places begin. Where a
  // panel is half a line of memory, every other one does.
  void wrap(const std::string& name, const std::string& label) {
    if (panel_bytes() < 64)
      append(ir, "  ", name, "odd = trunc i64 ", name, "p to i1\n  br i1 ", name, "odd, label %", label,
             ".fetched, label %", label, ".fetching.line\n", label, ".fetching.line:\n");
    append(ir, "  ", name, "later = add i64 ", name, "bo, %fetch\n  ", name, "on = icmp ult i64 ", name,
           "later, %row.end\n  ", name, "ahead = select i1 ", name, "on, i64 %fetch, i64 %below\n");
  }

  // A unit of lhs in all lanes, and where its rows of rhs begin.
  void open_unit(const std::string& name, int i) {
    std::string a = cat(name, "a.", i), type = writer.units();
    append(ir, "  ", a, ".o = mul i64 %ak, ", i, "\n  ", a, ".at = getelementptr i8, ptr %pa, i64 ", a, ".o\n  ", a,
           ".x = load ", writer.unit(), ", ptr ", a, ".at, align ", size_of(writer.form.packed), "\n  ", a,
           ".one = insertelement ", type, " poison, ", writer.unit(), " ", a, ".x, i64 0\n  ", a,
           ".all = shufflevector ", type, " ", a, ".one, ", type, " poison, <", shape().lanes,
           " x i32> zeroinitializer\n");
    if (writer.form.tiles_bias())
      append(ir, "  ", a, ".flip = xor ", type, " ", a, ".all, splat (i32 ", 0x80808080u, ")\n");
    append(ir, "  ", name, "o.", i, " = mul i64 %move, ", i, "\n  ", name, "r.", i,
           " = getelementptr i8, ptr %pb, i64 ", name, "o.", i, "\n");
  }

  // What comes that far after row `i` of memory.
  void fetch_line(const std::string& name, int i) {
    int row = i % writer.form.group;
    std::string unit = cat(name, "b.", i / writer.form.group), at = row ? cat(unit, ".down.", row) : unit + ".at";
    if (row)
      append(ir, "  ", at, " = getelementptr i8, ptr ", unit, row > 1 ? cat(".down.", row - 1) : ".at", ", i64 %bk\n");
    for (int byte = 0; byte < panel_bytes(); byte += 64) {
      append(ir, "  ", at, ".", byte, " = getelementptr i8, ptr ", at, ", i64 ", byte, "\n");
      writer.fetch(ir, cat(at, ".", byte), wraps() ? name + "ahead" : "%fetch");
    }
  }

  void sums(const std::string& name, int count) {
    bool biased = writer.form.biased;
    std::vector<std::string> sum, bias(static_cast<size_t>(shape().vectors), "zeroinitializer");
    for (int v = 0; v < shape().vectors; ++v) {
      sum.push_back(cat(name, "s.", v));
      append(ir, "  ", sum.back(), ".at = getelementptr i8, ptr ", name, "c, i64 ", v * shape().lanes * shape().size,
             "\n  ", sum.back(), " = load ", writer.vector(), ", ptr ", sum.back(), ".at, align ",
             shape().lanes * shape().size, "\n");
    }
    for (int i = 0; i < count; ++i) {
      std::string at = cat(name, "b.", i);
      append(ir, "  ", at, ".at = getelementptr i8, ptr ", name, "r.", i, ", i64 ", name, "bo\n");
      std::vector<std::string> b = writer.load_rows(ir, at, at + ".at");
      for (size_t v = 0; v < sum.size(); ++v) {
        std::string to = cat(name, "t.", i, ".", v);
        ir += writer.multiply_add(to, cat(name, "a.", i, writer.form.tiles_bias() ? ".flip" : ".all"), b[v], sum[v]);
        sum[v] = to;
        if (!biased) continue;
        ir += writer.multiply_add(to + ".bias", cat("splat (i32 ", 0x80808080u, ")"), b[v], bias[v]);
        bias[v] = to + ".bias";
      }
    }
    for (int v = 0; v < shape().vectors; ++v) {
      std::string& value = sum[static_cast<size_t>(v)];
      if (biased) {
        append(ir, "  ", name, "less.", v, " = sub ", writer.vector(), " ", value, ", ", bias[static_cast<size_t>(v)],
               "\n");
        value = cat(name, "less.", v);
      }
      append(ir, "  store ", writer.vector(), " ", value, ", ptr ", name, "s.", v, ".at, align ",
             shape().lanes * shape().size, "\n");
    }
  }
};

}  // namespace

std::string DotWriter::stream() {
  std::string name = cat("weft.stream.", weft::name(form.rhs), ".", form.name(), form.packs_biased() ? ".plus" : "");
  if (!first(name)) return name;
  Stream stream{*this, {}};
  // Eight streams of memory; as many addresses fit the registers.
  int unroll = 8 / form.group;
  stream.pass("many", unroll);
  stream.pass("one", 1);
  emitter.functions_ +=
      fill(stream_open_text,
           {{"name", name},
            {"row.bytes", cat(shape.width * shape.size)},
            {"wrapping", stream.wraps() ? fill(wrapping_text, {{"rhs.bytes", cat(stream.panel_bytes())}}) : ""},
            {"group", cat(form.group)},
            {"unroll", cat(unroll)}});
  emitter.functions_ += stream.ir + "}\n\n";
  declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n");
  return name;
}

}  // namespace weft
