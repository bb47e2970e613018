// Packing of lhs in panels of a tile's rows: k after k, the rows of each side by side, as a tile reads them (BLIS's
// layout: Van Zee and van de Geijn, "BLIS: A framework for rapidly instantiating BLAS functionality", 2015).
#include "weft/codegen/llvm/dot_shape.h"

namespace weft {
namespace {

// The first panels are `high` rows, the others one less. A few k at a time: lines that lie apart are in the first-level
// cache until all panels have what they need of them.
constexpr std::string_view open_text =
    R"(define internal void @$name$(ptr %s, i64 %sm, i64 %sk, i64 %rows, i64 %count, ptr %d, i64 %high, i64 %panels, i64 %stride) noinline optsize {
entry:
  %room = mul i64 %high, %panels
  %short = sub i64 %room, %rows
  %full = sub i64 %panels, %short
  %step = mul i64 %high, $size$
  %side.by.side = icmp eq i64 %sm, $size$
  %fast = and i1 %side.by.side, $has.masks$
  br label %block
block:
  %k = phi i64 [ 0, %entry ], [ %k.next, %block.end ]
  %k.left = sub i64 %count, %k
  %k.count = call i64 @llvm.umin.i64(i64 %k.left, i64 8)
  %k.from = mul i64 %k, %sk
  %k.to = mul i64 %k, %step
  %k.s = getelementptr i8, ptr %s, i64 %k.from
  %k.d = getelementptr i8, ptr %d, i64 %k.to
  br label %panel
panel:
  %p = phi i64 [ 0, %block ], [ %p.next, %panel.end ]
  %p.s = phi ptr [ %k.s, %block ], [ %p.s.next, %panel.end ]
  %p.d = phi ptr [ %k.d, %block ], [ %p.d.next, %panel.end ]
  %is.short = icmp uge i64 %p, %full
  %less = zext i1 %is.short to i64
  %height = sub i64 %high, %less
  br i1 %fast, label %vectors, label %each
)";

constexpr std::string_view close_text = R"(each:
  %e = phi i64 [ 0, %panel ], [ %e.next, %each.end ]
  %e.from = mul i64 %e, %sk
  %e.to = mul i64 %e, %step
  %e.s = getelementptr i8, ptr %p.s, i64 %e.from
  %e.d = getelementptr i8, ptr %p.d, i64 %e.to
  br label %row
row:
  %r = phi i64 [ 0, %each ], [ %r.next, %row ]
  %r.from = mul i64 %r, %sm
  %r.s = getelementptr i8, ptr %e.s, i64 %r.from
  %r.x = load $type$, ptr %r.s, align $size$
  %r.d = getelementptr $type$, ptr %e.d, i64 %r
  store $type$ %r.x, ptr %r.d, align $size$
  %r.next = add i64 %r, 1
  %r.more = icmp ult i64 %r.next, %height
  br i1 %r.more, label %row, label %each.end
each.end:
  %e.next = add i64 %e, 1
  %e.more = icmp ult i64 %e.next, %k.count
  br i1 %e.more, label %each, label %panel.end
panel.end:
  %p.bytes = mul i64 %height, %sm
  %p.s.next = getelementptr i8, ptr %p.s, i64 %p.bytes
  %p.d.next = getelementptr i8, ptr %p.d, i64 %stride
  %p.next = add i64 %p, 1
  %p.more = icmp ult i64 %p.next, %panels
  br i1 %p.more, label %panel, label %block.end
block.end:
  %k.next = add i64 %k, 8
  %k.more = icmp ult i64 %k.next, %count
  br i1 %k.more, label %block, label %done
done:
  ret void
}

)";

}  // namespace

// Vectors that hold a panel's rows write past them, into what the next k overwrites or the gap behind the panel.
std::string DotWriter::pack_lhs_panels() {
  std::string name = cat("weft.lhs.panels.", weft::name(form.lhs));
  if (!first(name)) return name;
  bool has_masks = target().avx512 || target().vector_bytes == 32;
  std::string vectors = "vectors:\n", copies, loaded = vector();
  std::string suffix = cat("v", shape.lanes, form.lhs == DType::f64 ? "f64" : "f32");
  for (int v = 0; v * shape.lanes < shape.tall; ++v) {
    std::string iota;
    for (int i = 0; i < shape.lanes; ++i) append(iota, i ? ", i64 " : "i64 ", v * shape.lanes + i);
    std::string type = cat("<", shape.lanes, " x i64>");
    if (v == 0)
      append(vectors, "  %height.one = insertelement ", type,
             " poison, i64 %height, i64 0\n  %height.all = ", "shufflevector ", type, " %height.one, ", type,
             " poison, <", shape.lanes, " x i32> zeroinitializer\n");
    append(vectors, "  %mask.", v, " = icmp ult ", type, " <", iota, ">, %height.all\n");
    append(copies, "  %c.from.", v, " = getelementptr i8, ptr %c.s, i64 ", v * shape.lanes * shape.size, "\n  %c.to.",
           v, " = getelementptr i8, ptr %c.d, i64 ", v * shape.lanes * shape.size, "\n  %c.x.", v, " = call ", loaded,
           " @llvm.masked.load.", suffix, ".p0(ptr align ", shape.size, " %c.from.", v, ", <", shape.lanes,
           " x i1> %mask.", v, ", ", loaded, " zeroinitializer)\n  store ", loaded, " %c.x.", v, ", ptr %c.to.", v,
           ", align ", shape.size, "\n");
  }
  append(vectors,
         "  br label %copy\ncopy:\n  %c = phi i64 [ 0, %vectors ], [ %c.next, %copy ]\n  %c.s = phi ptr [ %p.s, ",
         "%vectors ], [ %c.s.next, %copy ]\n  %c.d = phi ptr [ %p.d, %vectors ], [ %c.d.next, %copy ]\n", copies,
         "  %c.s.next = getelementptr i8, ptr %c.s, i64 %sk\n  %c.d.next = getelementptr i8, ptr %c.d, i64 %step\n",
         "  %c.next = add i64 %c, 1\n  %c.more = icmp ult i64 %c.next, %k.count\n",
         "  br i1 %c.more, label %copy, label %panel.end\n");
  if (has_masks)
    declare(
        cat("declare ", loaded, " @llvm.masked.load.", suffix, ".p0(ptr, <", shape.lanes, " x i1>, ", loaded, ")\n"));
  else
    vectors = "vectors:\n  unreachable\n";
  KeyValues words = {
      {"name", name}, {"size", cat(shape.size)}, {"type", type()}, {"has.masks", has_masks ? "true" : "false"}};
  emitter.functions_ += fill(open_text, words) + vectors + fill(close_text, words);
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  return name;
}

}  // namespace weft
