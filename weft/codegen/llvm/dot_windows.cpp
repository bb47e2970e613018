// Packing of windows: a panel of rhs whose rows are an array's elements at some distance from each other's, read where
// they lie.
#include "weft/codegen/llvm/dot_shape.h"

namespace weft {
namespace {

// The columns of a panel are spans of places side by side, a vector at most: where each is from an element of the
// window, and where it goes. Vectors are stored whole, one after the other: the next span, or the next row, writes over
// what is too much. Columns past %cols are zeros.
constexpr std::string_view open_text =
    R"(define internal void @$name$(ptr %d, ptr %base, i64 %k0, i64 %count, i64 %n0, i64 %cols, ptr %to) noinline optsize {
entry:
  %spans = alloca [$most$ x [3 x i64]], align 8
  %empty = icmp eq i64 %count, 0
  br i1 %empty, label %done, label %open
open:
$levels$  %x.line = udiv i64 %n0, %ne.0
  %x.before = mul i64 %x.line, %ne.0
  %x.first = sub i64 %n0, %x.before
  %z.first = udiv i64 %x.line, %ne.1
  %y.before = mul i64 %z.first, %ne.1
  %y.first = sub i64 %x.line, %y.before
  br label %span
span:
  %at = phi i64 [ 0, %open ], [ %at.next, %span ]
  %x = phi i64 [ %x.first, %open ], [ %x.next, %span ]
  %y = phi i64 [ %y.first, %open ], [ %y.next, %span ]
  %z = phi i64 [ %z.first, %open ], [ %z.next, %span ]
  %number = phi i64 [ 0, %open ], [ %number.next, %span ]
  %line.left = sub i64 %ne.0, %x
  %cols.left = sub i64 %cols, %at
  %length.0 = call i64 @llvm.umin.i64(i64 %line.left, i64 %cols.left)
  %length = call i64 @llvm.umin.i64(i64 %length.0, i64 $lanes$)
  %from.x = mul i64 %x, %ns.0
  %from.y = mul i64 %y, %ns.1
  %from.z = mul i64 %z, %ns.2
  %from.xy = add i64 %from.x, %from.y
  %from = add i64 %from.xy, %from.z
  %at.bytes = mul i64 %at, $size$
  %span.at = getelementptr [3 x i64], ptr %spans, i64 %number
  store i64 %from, ptr %span.at
  %span.to = getelementptr i64, ptr %span.at, i64 1
  store i64 %at.bytes, ptr %span.to
  %span.length = getelementptr i64, ptr %span.at, i64 2
  store i64 %length, ptr %span.length
  %number.next = add i64 %number, 1
  %at.next = add i64 %at, %length
  %x.1 = add i64 %x, %length
  %x.ends = icmp eq i64 %x.1, %ne.0
  %x.next = select i1 %x.ends, i64 0, i64 %x.1
  %y.more = zext i1 %x.ends to i64
  %y.1 = add i64 %y, %y.more
  %y.ends = icmp eq i64 %y.1, %ne.1
  %y.next = select i1 %y.ends, i64 0, i64 %y.1
  %z.more = zext i1 %y.ends to i64
  %z.next = add i64 %z, %z.more
  %more = icmp ult i64 %at.next, %cols
  br i1 %more, label %span, label %fill
fill:
  %f.at = phi i64 [ %cols, %span ], [ %f.next, %fill.one ]
  %f.number = phi i64 [ %number.next, %span ], [ %f.number.next, %fill.one ]
  %f.more = icmp ult i64 %f.at, $width$
  br i1 %f.more, label %fill.one, label %filled
fill.one:
  %f.bytes = mul i64 %f.at, $size$
  %f.span = getelementptr [3 x i64], ptr %spans, i64 %f.number
  store i64 0, ptr %f.span
  %f.to = getelementptr i64, ptr %f.span, i64 1
  store i64 %f.bytes, ptr %f.to
  %f.length = getelementptr i64, ptr %f.span, i64 2
  store i64 0, ptr %f.length
  %f.next = add i64 %f.at, $lanes$
  %f.number.next = add i64 %f.number, 1
  br label %fill
filled:
  %is.unit = icmp eq i64 %ns.0, $size$
  %is.pair = icmp eq i64 %ns.0, $size.2$
  %is.few = icmp eq i64 %f.number, $vectors$
  %is.full = icmp eq i64 %cols, $width$
  %is.whole.0 = and i1 %is.few, %is.full
  %is.whole = and i1 %is.whole.0, %is.unit
$whole.from$  br i1 %is.whole, label %whole.open, label %try.unit
try.unit:
  br i1 %is.unit, label %unit.open, label %try.pair
try.pair:
  br i1 %is.pair, label %pair.open, label %each.open
)";

// A loop over k: %$v$.p is where the elements of the window are, %$v$.row where they go.
constexpr std::string_view loop_text = R"($v$.open:
  br label %$v$
$v$:
  %$v$.left = phi i64 [ %count, %$v$.open ], [ %$v$.left.next, %$v$.end ]
  %$v$.p = phi ptr [ %p.first, %$v$.open ], [ %$v$.p.next, %$v$.end ]
  %$v$.row = phi ptr [ %to, %$v$.open ], [ %$v$.row.next, %$v$.end ]
  %$v$.i.0 = phi i64 [ %i.0, %$v$.open ], [ %$v$.next.0, %$v$.end ]
  %$v$.i.1 = phi i64 [ %i.1, %$v$.open ], [ %$v$.next.1, %$v$.end ]
  %$v$.i.2 = phi i64 [ %i.2, %$v$.open ], [ %$v$.next.2, %$v$.end ]
$body$  br label %$v$.end
$v$.end:
  %$v$.row.next = getelementptr i8, ptr %$v$.row, i64 $row.bytes$
  %$v$.p.0 = getelementptr i8, ptr %$v$.p, i64 %ks.0
$advance$  %$v$.p.next = getelementptr i8, ptr %$v$.p.3, i64 0
  %$v$.left.next = add i64 %$v$.left, -1
  %$v$.more = icmp ne i64 %$v$.left.next, 0
  br i1 %$v$.more, label %$v$, label %done
)";

// The spans of a row, each %$v$.length elements from %$v$.a to %$v$.b.
constexpr std::string_view spans_text = R"(  br label %$v$.span
$v$.span:
  %$v$.j = phi i64 [ 0, %$v$ ], [ %$v$.j.next, %$v$.span.end ]
  %$v$.at = getelementptr [3 x i64], ptr %spans, i64 %$v$.j
  %$v$.from = load i64, ptr %$v$.at
  %$v$.at.to = getelementptr i64, ptr %$v$.at, i64 1
  %$v$.to = load i64, ptr %$v$.at.to
  %$v$.at.length = getelementptr i64, ptr %$v$.at, i64 2
  %$v$.length = load i64, ptr %$v$.at.length
  %$v$.a = getelementptr i8, ptr %$v$.p, i64 %$v$.from
  %$v$.b = getelementptr i8, ptr %$v$.row, i64 %$v$.to
$copy$  br label %$v$.span.end
$v$.span.end:
  %$v$.j.next = add i64 %$v$.j, 1
  %$v$.j.more = icmp ne i64 %$v$.j.next, %f.number
  br i1 %$v$.j.more, label %$v$.span, label %$v$.spans.done
$v$.spans.done:
)";

constexpr std::string_view each_text = R"(  store $vector$ zeroinitializer, ptr %each.b, align $size$
  %each.none = icmp eq i64 %each.length, 0
  br i1 %each.none, label %each.span.done, label %each.one
each.one:
  %each.x = phi i64 [ 0, %each.span ], [ %each.x.next, %each.one ]
  %each.x.from = mul i64 %each.x, %ns.0
  %each.x.a = getelementptr i8, ptr %each.a, i64 %each.x.from
  %each.x.b = getelementptr $type$, ptr %each.b, i64 %each.x
  %each.value = load $type$, ptr %each.x.a, align $size$
  store $type$ %each.value, ptr %each.x.b, align $size$
  %each.x.next = add i64 %each.x, 1
  %each.x.more = icmp ne i64 %each.x.next, %each.length
  br i1 %each.x.more, label %each.one, label %each.span.done
each.span.done:
)";

struct Windows {
  DotWriter& writer;
  std::string ir;

  int lanes() const { return writer.shape.lanes; }
  int size() const { return writer.shape.size; }

  // Extents, strides and, of k, the element that is first: number %i.0 of the innermost level, and where it is.
  std::string levels() const {
    std::string out, place = "%base", rest = "%k0";
    for (const DotField& field : dot_fields)
      if (field.name.starts_with("k.") || field.name.starts_with("n."))
        append(out, "  %p.", field.name, " = getelementptr i64, ptr %d, i64 ", field.word, "\n");
    for (int i = 0; i < place_levels; ++i) out += level("n", i, i + 1 < place_levels);
    for (int i = 0; i < window_levels; ++i) {
      bool is_inner = i + 1 < window_levels;
      out += level("k", i, is_inner);
      if (is_inner)
        append(out, "  %k.outside.", i, " = udiv i64 ", rest, ", %ke.", i, "\n  %k.whole.", i, " = mul i64 %k.outside.",
               i, ", %ke.", i, "\n  %i.", i, " = sub i64 ", rest, ", %k.whole.", i, "\n");
      append(out, "  %k.bytes.", i, " = mul i64 ", is_inner ? cat("%i.", i) : rest, ", %ks.", i, "\n  %p.at.", i,
             " = getelementptr i8, ptr ", place, ", i64 %k.bytes.", i, "\n");
      rest = cat("%k.outside.", i), place = cat("%p.at.", i);
      if (i > 0)
        append(out, "  %jump.less.", i, " = mul i64 %ke.", i - 1, ", %ks.", i - 1, "\n  %jump.", i, " = sub i64 %ks.",
               i, ", %jump.less.", i, "\n");
    }
    return cat(out, "  %p.first = getelementptr i8, ptr ", place, ", i64 0\n");
  }

  static std::string level(const std::string& name, int i, bool has_extent) {
    std::string at = cat(name, "s.", i), out = cat("  %", at, ".at = getelementptr i64, ptr %p.", name,
                                                   ".strides, i64 ", i, "\n  %", at, " = load i64, ptr %", at, ".at\n");
    if (has_extent)
      append(out, "  %", name, "e.", i, ".at = getelementptr i64, ptr %p.", name, ".extents, i64 ", i, "\n  %", name,
             "e.", i, ".0 = load i64, ptr %", name, "e.", i, ".at\n  %", name, "e.", i,
             " = call i64 @llvm.umax.i64(i64 %", name, "e.", i, ".0, i64 1)\n");
    return out;
  }

  // The elements of memory that a span's `count` takes of the vector at `from`.
  std::string load(const std::string& name, const std::string& from, const std::string& count, int first) {
    std::string ints = cat("<", lanes(), " x i32>"), iota, out;
    for (int i = 0; i < lanes(); ++i) append(iota, i ? ", i32 " : "<i32 ", first + i);
    append(out, "  ", name, ".one = insertelement ", ints, " poison, i32 ", count, ", i64 0\n  ", name,
           ".all = shufflevector ", ints, " ", name, ".one, ", ints, " poison, ", ints, " zeroinitializer\n  ", name,
           ".mask = icmp sgt ", ints, " ", name, ".all, ", iota, ">\n  ", name, ".at = getelementptr i8, ptr ", from,
           ", i64 ", first * size(), "\n  ", name, " = call ", writer.vector(), " @llvm.masked.load.v", lanes(),
           size() == 8 ? "f64" : "f32", ".p0(ptr align ", size(), " ", name, ".at, <", lanes(), " x i1> ", name,
           ".mask, ", writer.vector(), " zeroinitializer)\n");
    return out;
  }

  std::string store(const std::string& value, const std::string& to) const {
    return cat("  store ", writer.vector(), " ", value, ", ptr ", to, ", align ", size(), "\n");
  }

  void loop(const std::string& v, const std::string& body) {
    std::string advance;
    for (int i = 0; i + 1 < window_levels; ++i)
      append(advance, "  %", v, ".up.", i, " = add i64 %", v, ".i.", i, ", ", i ? cat("%", v, ".carry.", i - 1) : "1",
             "\n  %", v, ".ends.", i, " = icmp eq i64 %", v, ".up.", i, ", %ke.", i, "\n  %", v, ".next.", i,
             " = select i1 %", v, ".ends.", i, ", i64 0, i64 %", v, ".up.", i, "\n  %", v, ".carry.", i, " = zext i1 %",
             v, ".ends.", i, " to i64\n  %", v, ".jump.", i, " = select i1 %", v, ".ends.", i, ", i64 %jump.", i + 1,
             ", i64 0\n  %", v, ".p.", i + 1, " = getelementptr i8, ptr %", v, ".p.", i, ", i64 %", v, ".jump.", i,
             "\n");
    ir += fill(loop_text,
               {{"v", v}, {"body", body}, {"advance", advance}, {"row.bytes", cat(writer.shape.width * size())}});
  }

  void by_spans(const std::string& v, const std::string& copy) {
    loop(v, fill(spans_text, {{"v", v}, {"copy", copy}}));
  }

  void write(const std::string& name) {
    std::string whole_from, whole;
    for (int v = 0; v < writer.shape.vectors; ++v) {
      append(whole_from, "  %whole.span.", v, " = getelementptr [3 x i64], ptr %spans, i64 ", v, "\n  %whole.from.", v,
             " = load i64, ptr %whole.span.", v, "\n");
      append(whole, "  %whole.a.", v, " = getelementptr i8, ptr %whole.p, i64 %whole.from.", v, "\n  %whole.x.", v,
             " = load ", writer.vector(), ", ptr %whole.a.", v, ", align ", size(), "\n  %whole.b.", v,
             " = getelementptr i8, ptr %whole.row, i64 ", v * lanes() * size(), "\n",
             store(cat("%whole.x.", v), cat("%whole.b.", v)));
    }
    ir += fill(open_text, {{"name", name},
                           {"most", cat(writer.shape.width + writer.shape.vectors)},
                           {"levels", levels()},
                           {"lanes", cat(lanes())},
                           {"size", cat(size())},
                           {"size.2", cat(2 * size())},
                           {"width", cat(writer.shape.width)},
                           {"vectors", cat(writer.shape.vectors)},
                           {"whole.from", whole_from}});
    loop("whole", whole);
    by_spans("unit", cat("  %unit.count = trunc i64 %unit.length to i32\n",
                         load("%unit.x", "%unit.a", "%unit.count", 0), store("%unit.x", "%unit.b")));
    std::string even;
    for (int i = 0; i < lanes(); ++i) append(even, i ? ", i32 " : "<i32 ", 2 * i);
    by_spans("pair",
             cat("  %pair.small = trunc i64 %pair.length to i32\n  %pair.twice = shl i32 %pair.small, 1\n  %pair.count "
                 "= add i32 %pair.twice, -1\n",
                 load("%pair.x", "%pair.a", "%pair.count", 0), load("%pair.y", "%pair.a", "%pair.count", lanes()),
                 "  %pair.even = shufflevector ", writer.vector(), " %pair.x, ", writer.vector(), " %pair.y, <",
                 lanes(), " x i32> ", even, ">\n", store("%pair.even", "%pair.b")));
    by_spans("each", fill(each_text, {{"vector", writer.vector()}, {"type", writer.type()}, {"size", cat(size())}}));
    ir += "done:\n  ret void\n}\n\n";
  }
};

}  // namespace

std::string DotWriter::pack_windows() {
  std::string name = cat("weft.windows.", form.name());
  if (!first(name)) return name;
  Windows windows{*this, {}};
  windows.write(name);
  emitter.functions_ += windows.ir;
  declare(cat("declare ", vector(), " @llvm.masked.load.v", shape.lanes, shape.size == 8 ? "f64" : "f32", ".p0(ptr, <",
              shape.lanes, " x i1>, ", vector(), ")\n"));
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  declare("declare i64 @llvm.umax.i64(i64, i64)\n");
  return name;
}

}  // namespace weft
