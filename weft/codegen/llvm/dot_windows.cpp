// Packing of windows: a panel of rhs whose rows are an array's elements at some distance from each other's, read where
// they lie.
#include "weft/codegen/llvm/dot_shape.h"

namespace weft {
namespace {

// The columns of a panel are spans of places side by side, each within a vector: where one is from an element of the
// window, where it goes and how many there are. Of a vector that has two spans at most both are loaded into it, by
// masks (%pairs: where each would be if it began with the vector, and its first and last place); of others each is
// stored as a whole vector, and the next span, or the next row, writes over what is too much. Columns past %cols are
// zeros.
constexpr std::string_view window_open_text =
    R"(define internal void @$name$(ptr %d, ptr %base, i64 %k0, i64 %count, i64 %n0, i64 %cols, ptr %to) noinline optsize {
entry:
  %spans = alloca [$most$ x [3 x i64]], align 8
  %pairs = alloca [$pairs$ x [3 x i64]], align 8
  call void @llvm.memset.p0.i64(ptr %pairs, i8 0, i64 $pairs.bytes$, i1 false)
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
  %of.vector = phi i64 [ 0, %open ], [ %of.vector.next, %span ]
  %has.many = phi i1 [ false, %open ], [ %has.many.next, %span ]
  %line.left = sub i64 %ne.0, %x
  %cols.left = sub i64 %cols, %at
  %length.0 = call i64 @llvm.umin.i64(i64 %line.left, i64 %cols.left)
  %lane = and i64 %at, $lanes.less$
  %lanes.left = sub i64 $lanes$, %lane
  %length = call i64 @llvm.umin.i64(i64 %length.0, i64 %lanes.left)
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
  %vector = udiv i64 %at, $lanes$
  %pair.row = shl i64 %vector, 1
  %pair.in = call i64 @llvm.umin.i64(i64 %of.vector, i64 1)
  %pair.number = add i64 %pair.row, %pair.in
  %pair.at = getelementptr [3 x i64], ptr %pairs, i64 %pair.number
  %lane.bytes = mul i64 %lane, %ns.0
  %pair.from = sub i64 %from, %lane.bytes
  %lane.last = add i64 %lane, %length
  store i64 %pair.from, ptr %pair.at
  %pair.first = getelementptr i64, ptr %pair.at, i64 1
  store i64 %lane, ptr %pair.first
  %pair.last = getelementptr i64, ptr %pair.at, i64 2
  store i64 %lane.last, ptr %pair.last
  %number.next = add i64 %number, 1
  %at.next = add i64 %at, %length
  %lane.next = and i64 %at.next, $lanes.less$
  %is.vector.done = icmp eq i64 %lane.next, 0
  %of.vector.up = add i64 %of.vector, 1
  %of.vector.next = select i1 %is.vector.done, i64 0, i64 %of.vector.up
  %is.third = icmp ugt i64 %of.vector, 1
  %has.many.next = or i1 %has.many, %is.third
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
  %is.wide = and i1 %is.whole.0, %is.pair
$whole.from$  br i1 %is.whole, label %whole.open, label %try.wide
try.wide:
  br i1 %is.wide, label %wide.open, label %try.few
try.few:
  br i1 %has.many.next, label %try.unit, label %few
few:
$pair.from$  br i1 %is.unit, label %near.open, label %try.pair
try.unit:
  br i1 %is.unit, label %unit.open, label %each.open
try.pair:
  br i1 %is.pair, label %even.open, label %each.open
)";

// A loop over k, the innermost level by itself: %$v$.p is where the elements of the window are, %$v$.row where they go.
constexpr std::string_view loop_text = R"($v$.open:
$before$  br label %$v$.run
$v$.run:
  %$v$.left = phi i64 [ %count, %$v$.open ], [ %$v$.left.next, %$v$.run.end ]
  %$v$.run.p = phi ptr [ %p.first, %$v$.open ], [ %$v$.p.$last$, %$v$.run.end ]
  %$v$.run.row = phi ptr [ %to, %$v$.open ], [ %$v$.row.next, %$v$.run.end ]
  %$v$.i.0 = phi i64 [ %i.0, %$v$.open ], [ 0, %$v$.run.end ]
  %$v$.i.1 = phi i64 [ %i.1, %$v$.open ], [ %$v$.next.1, %$v$.run.end ]
  %$v$.i.2 = phi i64 [ %i.2, %$v$.open ], [ %$v$.next.2, %$v$.run.end ]
  %$v$.run.left = sub i64 %ke.0, %$v$.i.0
  %$v$.rows = call i64 @llvm.umin.i64(i64 %$v$.run.left, i64 %$v$.left)
  br label %$v$
$v$:
  %$v$.rows.left = phi i64 [ %$v$.rows, %$v$.run ], [ %$v$.rows.next, %$v$.end ]
  %$v$.p = phi ptr [ %$v$.run.p, %$v$.run ], [ %$v$.p.0, %$v$.end ]
  %$v$.row = phi ptr [ %$v$.run.row, %$v$.run ], [ %$v$.row.next, %$v$.end ]
$body$  br label %$v$.end
$v$.end:
  %$v$.row.next = getelementptr i8, ptr %$v$.row, i64 $row.bytes$
  %$v$.p.0 = getelementptr i8, ptr %$v$.p, i64 %ks.0
  %$v$.rows.next = add i64 %$v$.rows.left, -1
  %$v$.rows.more = icmp ne i64 %$v$.rows.next, 0
  br i1 %$v$.rows.more, label %$v$, label %$v$.run.end
$v$.run.end:
  %$v$.p.1 = getelementptr i8, ptr %$v$.p.0, i64 %jump.1
$advance$  %$v$.left.next = sub i64 %$v$.left, %$v$.rows
  %$v$.more = icmp ne i64 %$v$.left.next, 0
  br i1 %$v$.more, label %$v$.run, label %done
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

constexpr std::string_view window_each_text = R"(  store $vector$ zeroinitializer, ptr %each.b, align $size$
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
      rest = cat("%k.outside.", i);
      place = cat("%p.at.", i);
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

  std::string ints() const { return cat("<", lanes(), " x i32>"); }

  std::string iota(int first, int step) const {
    std::string out;
    for (int i = 0; i < lanes(); ++i) append(out, i ? ", i32 " : "<i32 ", first + i * step);
    return out + ">";
  }

  // A number, an i64, in all lanes.
  std::string all(const std::string& name, const std::string& number) const {
    return cat("  ", name, ".small = trunc i64 ", number, " to i32\n  ", name, ".one = insertelement ", ints(),
               " poison, i32 ", name, ".small, i64 0\n  ", name, " = shufflevector ", ints(), " ", name, ".one, ",
               ints(), " poison, ", ints(), " zeroinitializer\n");
  }

  std::string masked(const std::string& to, const std::string& from, const std::string& mask,
                     const std::string& others) const {
    return cat("  ", to, " = call ", writer.vector(), " @llvm.masked.load.v", lanes(), size() == 8 ? "f64" : "f32",
               ".p0(ptr align ", size(), " ", from, ", <", lanes(), " x i1> ", mask, ", ", writer.vector(), " ", others,
               ")\n");
  }

  std::string store(const std::string& value, const std::string& to) const {
    return cat("  store ", writer.vector(), " ", value, ", ptr ", to, ", align ", size(), "\n");
  }

  void loop(const std::string& v, const std::string& body, const std::string& before = {}) {
    std::string advance;
    for (int i = 1; i + 1 < window_levels; ++i) {
      std::string at = cat("%", v, ".");
      append(advance, "  ", at, "up.", i, " = add i64 ", at, "i.", i, ", ", i > 1 ? cat(at, "carry.", i - 1) : "1",
             "\n  ", at, "ends.", i, " = icmp eq i64 ", at, "up.", i, ", %ke.", i, "\n  ", at, "next.", i,
             " = select i1 ", at, "ends.", i, ", i64 0, i64 ", at, "up.", i, "\n  ", at, "carry.", i, " = zext i1 ", at,
             "ends.", i, " to i64\n  ", at, "jump.", i, " = select i1 ", at, "ends.", i, ", i64 %jump.", i + 1,
             ", i64 0\n  ", at, "p.", i + 1, " = getelementptr i8, ptr ", at, "p.", i, ", i64 ", at, "jump.", i, "\n");
    }
    ir += fill(loop_text, {{"v", v},
                           {"before", before},
                           {"body", body},
                           {"advance", advance},
                           {"last", cat(window_levels - 1)},
                           {"row.bytes", cat(writer.shape.width * size())}});
  }

  void by_spans(const std::string& v, const std::string& copy) {
    loop(v, fill(spans_text, {{"v", v}, {"copy", copy}}));
  }

  // Vectors of two spans each, whose places are `stride` elements apart: as many vectors of memory are a vector of
  // them.
  void by_pairs(const std::string& v, int stride) {
    std::string before, body;
    for (int i = 0; i < writer.shape.vectors; ++i) {
      std::vector<std::string> parts;
      for (int part = 0; part < stride; ++part) {
        std::string value = "zeroinitializer";
        for (int j = 0; j < 2; ++j) {
          std::string span = cat(i, ".", j), at = cat("%", v, ".", span, ".", part);
          append(before, "  ", at, ".low = icmp uge ", ints(), " ", iota(part * lanes(), 1), ", %", v, ".first.", span,
                 "\n  ", at, ".high = icmp slt ", ints(), " ", iota(part * lanes(), 1), ", %", v, ".last.", span,
                 "\n  ", at, ".mask = and <", lanes(), " x i1> ", at, ".low, ", at, ".high\n");
          append(body, "  ", at, ".bytes = add i64 %pair.from.", span, ", ", part * lanes() * size(), "\n  ", at,
                 ".a = getelementptr i8, ptr %", v, ".p, i64 ", at, ".bytes\n",
                 masked(at + ".x", at + ".a", at + ".mask", value));
          value = at + ".x";
        }
        parts.push_back(value);
      }
      std::string value = parts[0], to = cat("%", v, ".b.", i);
      if (stride == 2)
        append(body, "  ", value = cat("%", v, ".x.", i), " = shufflevector ", writer.vector(), " ", parts[0], ", ",
               writer.vector(), " ", parts[1], ", ", ints(), " ", iota(0, 2), "\n");
      append(body, "  ", to, " = getelementptr i8, ptr %", v, ".row, i64 ", i * lanes() * size(), "\n",
             store(value, to));
    }
    std::string limits;
    for (int i = 0; i < writer.shape.vectors; ++i)
      for (int j = 0; j < 2; ++j)
        for (const char* end : {"first", "last"})
          limits += limit(cat("%", v, ".", end, ".", i, ".", j), cat("%pair.", end, ".", i, ".", j), stride,
                          end[0] == 'l' ? stride - 1 : 0);
    loop(v, body, limits + before);
  }

  // Nothing is read behind the last place.
  std::string limit(const std::string& name, const std::string& lane, int stride, int less) const {
    return cat("  ", name, ".up = mul i64 ", lane, ", ", stride, "\n  ", name, ".0 = sub i64 ", name, ".up, ", less,
               "\n", all(name, name + ".0"));
  }

  // Vectors of one span each whose places are two elements apart.
  std::string wide() const {
    std::string out, most;
    for (int i = 0; i < lanes(); ++i) append(most, i ? ", i1 " : "<i1 ", i + 1 < lanes() ? "true" : "false");
    for (int v = 0; v < writer.shape.vectors; ++v) {
      std::string at = cat("%wide.", v);
      append(out, "  ", at, ".a = getelementptr i8, ptr %wide.p, i64 %whole.from.", v, "\n  ", at, ".x = load ",
             writer.vector(), ", ptr ", at, ".a, align ", size(), "\n  ", at, ".more = getelementptr i8, ptr ", at,
             ".a, i64 ", lanes() * size(), "\n", masked(at + ".y", at + ".more", most + ">", "zeroinitializer"), "  ",
             at, ".even = shufflevector ", writer.vector(), " ", at, ".x, ", writer.vector(), " ", at, ".y, ", ints(),
             " ", iota(0, 2), "\n  ", at, ".b = getelementptr i8, ptr %wide.row, i64 ", v * lanes() * size(), "\n",
             store(at + ".even", at + ".b"));
    }
    return out;
  }

  // Of each pair, what the loops over them need.
  std::string pairs() const {
    std::string out;
    for (int i = 0; i < 2 * writer.shape.vectors; ++i)
      for (int field = 0; field < 3; ++field) {
        std::string name = cat("%pair.", field == 0 ? "from." : field == 1 ? "first." : "last.", i / 2, ".", i % 2);
        append(out, "  ", name, ".at = getelementptr i64, ptr %pairs, i64 ", 3 * i + field, "\n  ", name,
               " = load i64, ptr ", name, ".at\n");
      }
    return out;
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
    ir += fill(window_open_text, {{"name", name},
                                  {"most", cat(writer.shape.width + writer.shape.vectors)},
                                  {"levels", levels()},
                                  {"lanes", cat(lanes())},
                                  {"size", cat(size())},
                                  {"size.2", cat(2 * size())},
                                  {"width", cat(writer.shape.width)},
                                  {"vectors", cat(writer.shape.vectors)},
                                  {"whole.from", whole_from},
                                  {"lanes.less", cat(lanes() - 1)},
                                  {"pairs", cat(2 * writer.shape.vectors)},
                                  {"pairs.bytes", cat(2 * writer.shape.vectors * 24)},
                                  {"pair.from", pairs()}});
    loop("whole", whole);
    loop("wide", wide());
    by_pairs("near", 1);
    by_pairs("even", 2);
    by_spans("unit",
             cat(all("%unit.all", "%unit.length"), "  %unit.mask = icmp ugt ", ints(), " %unit.all, ", iota(0, 1), "\n",
                 masked("%unit.x", "%unit.a", "%unit.mask", "zeroinitializer"), store("%unit.x", "%unit.b")));
    by_spans("each",
             fill(window_each_text, {{"vector", writer.vector()}, {"type", writer.type()}, {"size", cat(size())}}));
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
  declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n");
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  declare("declare i64 @llvm.umax.i64(i64, i64)\n");
  return name;
}

}  // namespace weft
