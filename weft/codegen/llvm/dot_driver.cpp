// The loops around the micro-kernel: work items, blocks of k, tiles of rows.
#include "weft/codegen/llvm/dot_shape.h"
#include "weft/core/error.h"

namespace weft {
namespace {

// Work item = (batch * panels + panel) * blocks + block. Consecutive blocks of one panel make a
// run, which packs its part of rhs once. With several blocks of k the accumulators of a run rest in
// %cs between them.
constexpr std::string_view driver_text =
    R"(define internal void @$name$(ptr %d, i64 %begin, i64 %end, ptr %epilogue, ptr %args) $attributes$ {
entry:
  %cs = alloca [$run.bytes$ x i8], align 64
  %bs = alloca [$pack.bytes$ x i8], align 64
  %ix = alloca [4 x i64], align 8
$fields$  %m.up = add i64 %m, $block.less$
  %blocks = udiv i64 %m.up, $block$
  %n.up = add i64 %n, $width.less$
  %panels = udiv i64 %n.up, $width$
  ; Blocks of k of nearly equal length, a multiple of 16.
  %k.up = add i64 %k, $depth.less$
  %k.blocks = udiv i64 %k.up, $depth$
  %k.count = call i64 @llvm.umax.i64(i64 %k.blocks, i64 1)
  %k.round = add i64 %k, %k.count
  %k.round1 = sub i64 %k.round, 1
  %k.each = udiv i64 %k.round1, %k.count
  %k.each15 = add i64 %k.each, 15
  %k.step = and i64 %k.each15, -16
  %one.k = icmp ule i64 %k, %k.step
  %some = icmp ult i64 %begin, %end
  br i1 %some, label %item, label %done

item:
  %i = phi i64 [ %begin, %entry ], [ %i.next, %item.end ]
  %t = udiv i64 %i, %blocks
  %t.first = mul i64 %t, %blocks
  %block = sub i64 %i, %t.first
  %bat = udiv i64 %t, %panels
  %bat.first = mul i64 %bat, %panels
  %panel = sub i64 %t, %bat.first
  %rest = sub i64 %end, %i
  %rest.panel = sub i64 %blocks, %block
  %run.0 = call i64 @llvm.umin.i64(i64 %rest, i64 %rest.panel)
  %run = call i64 @llvm.umin.i64(i64 %run.0, i64 $run.blocks$)
  %i.next = add i64 %i, %run
  %m0 = mul i64 %block, $block$
  %m.run = mul i64 %run, $block$
  %m1.0 = add i64 %m0, %m.run
  %m1 = call i64 @llvm.umin.i64(i64 %m1.0, i64 %m)
  %n0 = mul i64 %panel, $width$
  %n.left = sub i64 %n, %n0
  %cols = call i64 @llvm.umin.i64(i64 %n.left, i64 $width$)
  br label %batch
batch:
  %bi = phi i64 [ 3, %item ], [ %bi.next, %batch ]
  %b.left = phi i64 [ %bat, %item ], [ %b.div, %batch ]
  %a.batch = phi i64 [ 0, %item ], [ %a.batch.next, %batch ]
  %b.batch = phi i64 [ 0, %item ], [ %b.batch.next, %batch ]
  %p.ext = getelementptr i64, ptr %extents, i64 %bi
  %ext = load i64, ptr %p.ext
  %b.div = udiv i64 %b.left, %ext
  %b.whole = mul i64 %b.div, %ext
  %b.index = sub i64 %b.left, %b.whole
  %p.ix = getelementptr i64, ptr %ix, i64 %bi
  store i64 %b.index, ptr %p.ix
  %p.as = getelementptr i64, ptr %lhs.strides, i64 %bi
  %as = load i64, ptr %p.as
  %as.x = mul i64 %as, %b.index
  %a.batch.next = add i64 %a.batch, %as.x
  %p.bs = getelementptr i64, ptr %rhs.strides, i64 %bi
  %bs.stride = load i64, ptr %p.bs
  %bs.x = mul i64 %bs.stride, %b.index
  %b.batch.next = add i64 %b.batch, %bs.x
  %bi.next = add i64 %bi, -1
  %b.more = icmp sge i64 %bi.next, 0
  br i1 %b.more, label %batch, label %start
start:
  %a0.0 = getelementptr i8, ptr %lhs, i64 %a.batch.next
  %a.m0 = mul i64 %m0, %am
  %a0 = getelementptr i8, ptr %a0.0, i64 %a.m0
  %b0.0 = getelementptr i8, ptr %rhs, i64 %b.batch.next
  %b.n0 = mul i64 %panel, %panel.bytes
  %b0 = getelementptr i8, ptr %b0.0, i64 %b.n0
$direct$  br label %depth

depth:
  %k0 = phi i64 [ 0, %start ], [ %k1, %depth.end ]
  %k.left = sub i64 %k, %k0
  %kc = call i64 @llvm.umin.i64(i64 %k.left, i64 %k.step)
  %k1 = add i64 %k0, %kc
  %is.first = icmp eq i64 %k0, 0
  %is.last = icmp uge i64 %k1, %k
  %a.k0 = mul i64 %k0, %ak
  %ab = getelementptr i8, ptr %a0, i64 %a.k0
$rhs$
  br label %rows

rows:
  %r = phi i64 [ %m0, %ready ], [ %r.next, %rows.end ]
  %a = phi ptr [ %ab, %ready ], [ %a.next, %rows.end ]
  %r.left = sub i64 %m1, %r
  %r.in = sub i64 %r, %m0
  %c.in = select i1 %one.k, i64 0, i64 %r.in
  %c.offset = mul i64 %c.in, $row.bytes$
  %c = getelementptr i8, ptr %cs, i64 %c.offset
  %full = icmp uge i64 %r.left, $rows.0$
  br i1 %full, label %tile.0, label %less
less:
  %middle = icmp uge i64 %r.left, $rows.1$
  br i1 %middle, label %tile.1, label %tile.2
tile.0:
$tile.0$  br label %tiled
tile.1:
$tile.1$  br label %tiled
tile.2:
$tile.2$  br label %tiled
tiled:
  %r.count = phi i64 [ $rows.0$, %tile.0 ], [ $rows.1$, %tile.1 ], [ $rows.2$, %tile.2 ]
  br i1 %is.last, label %finish, label %rows.end
finish:
  call void %epilogue(ptr %args, ptr %ix, i64 %r, i64 %r.count, i64 %n0, i64 %cols, ptr %c)
  br label %rows.end
rows.end:
  %r.next = add i64 %r, %r.count
  %a.move = mul i64 %r.count, %am
  %a.next = getelementptr i8, ptr %a, i64 %a.move
  %r.more = icmp ult i64 %r.next, %m1
  br i1 %r.more, label %rows, label %depth.end
depth.end:
  br i1 %is.last, label %item.end, label %depth
item.end:
  %i.more = icmp ult i64 %i.next, %end
  br i1 %i.more, label %item, label %done
done:
  ret void
}

)";

// rhs is packed: the block of k is a part of the panel.
constexpr std::string_view packed_rhs_text = R"(  %b.k0 = mul i64 %k0, $row.bytes$
  %b = getelementptr i8, ptr %b0, i64 %b.k0
  br label %ready
ready:)";

// Few rows read rhs where it is: packing would touch it twice.
constexpr std::string_view direct_test_text = R"(  %is.rows = icmp eq i64 %bn, $element$
  %is.full = icmp eq i64 %cols, $width$
  %m.few = sub i64 %m1, %m0
  %is.few = icmp ule i64 %m.few, $direct.rows$
  %direct.0 = and i1 %is.rows, %is.full
  %direct = and i1 %direct.0, %is.few
)";

constexpr std::string_view plain_rhs_text = R"(  %b.k0 = mul i64 %k0, %bk
  %b.at = getelementptr i8, ptr %b0, i64 %b.k0
  br i1 %direct, label %ready, label %packing
packing:
  call void @$pack$(ptr %b.at, i64 %bk, i64 %bn, i64 %kc, i64 %cols, ptr %bs)
  br label %ready
ready:
  %b = phi ptr [ %b.at, %depth ], [ %bs, %packing ]
  %b.step = phi i64 [ %bk, %depth ], [ $row.bytes$, %packing ])";

constexpr std::string_view pack_driver_text =
    R"(define internal void @$name$(ptr %d, i64 %begin, i64 %end, ptr %to) $attributes$ {
entry:
$fields$  %n.up = add i64 %n, $width.less$
  %panels = udiv i64 %n.up, $width$
  %panel.bytes = mul i64 %k, $row.bytes$
  %some = icmp ult i64 %begin, %end
  br i1 %some, label %item, label %done
item:
  %i = phi i64 [ %begin, %entry ], [ %i.next, %item.end ]
  %bat = udiv i64 %i, %panels
  %bat.first = mul i64 %bat, %panels
  %panel = sub i64 %i, %bat.first
  br label %batch
batch:
  %bi = phi i64 [ 3, %item ], [ %bi.next, %batch ]
  %b.left = phi i64 [ %bat, %item ], [ %b.div, %batch ]
  %b.batch = phi i64 [ 0, %item ], [ %b.batch.next, %batch ]
  %p.ext = getelementptr i64, ptr %extents, i64 %bi
  %ext = load i64, ptr %p.ext
  %b.div = udiv i64 %b.left, %ext
  %b.whole = mul i64 %b.div, %ext
  %b.index = sub i64 %b.left, %b.whole
  %p.bs = getelementptr i64, ptr %rhs.strides, i64 %bi
  %bs = load i64, ptr %p.bs
  %bs.x = mul i64 %bs, %b.index
  %b.batch.next = add i64 %b.batch, %bs.x
  %bi.next = add i64 %bi, -1
  %b.more = icmp sge i64 %bi.next, 0
  br i1 %b.more, label %batch, label %item.end
item.end:
  %n0 = mul i64 %panel, $width$
  %n.left = sub i64 %n, %n0
  %cols = call i64 @llvm.umin.i64(i64 %n.left, i64 $width$)
  %n.bytes = mul i64 %n0, %bn
  %offset = add i64 %n.bytes, %b.batch.next
  %from = getelementptr i8, ptr %rhs, i64 %offset
  %to.offset = mul i64 %i, %panel.bytes
  %at = getelementptr i8, ptr %to, i64 %to.offset
  call void @$pack$(ptr %from, i64 %bk, i64 %bn, i64 %k, i64 %cols, ptr %at)
  %i.next = add i64 %i, 1
  %i.more = icmp ult i64 %i.next, %end
  br i1 %i.more, label %item, label %done
done:
  ret void
}

)";

// Loads every field of the descriptor; unused ones cost nothing.
std::string load_fields() {
  std::string ir;
  for (DotField field : dot_fields) {
    append(ir, "  %p.", field.name, " = getelementptr i64, ptr %d, i64 ", field.word, "\n");
    if (field.is_table)
      append(ir, "  %", field.name, " = getelementptr i64, ptr %p.", field.name, ", i64 0\n");
    else
      append(ir, "  %", field.name, " = load ", field.is_pointer ? "ptr" : "i64", ", ptr %p.",
             field.name, "\n");
  }
  return ir;
}

// Rows of one run up to which rhs is read in place.
constexpr int direct_rows = 12;

}  // namespace

std::string DotWriter::driver(DType lhs, DType rhs, bool packed) {
  std::string name =
      cat("weft.dot.", weft::name(lhs), ".", packed ? "packed" : std::string(weft::name(rhs)), ".",
          weft::name(accumulate));
  if (!first(name)) return name;
  int row_bytes = shape.width * shape.size, rows[3] = {shape.rows, shape.rows / 3, 1};
  std::string calls[3];
  for (int i = 0; i < 3; ++i)
    calls[i] = cat("  call void @", tile(lhs, accumulate, rows[i]),
                   "(ptr %a, i64 %am, i64 %ak, ptr %b, i64 ", packed ? cat(row_bytes) : "%b.step",
                   ", i64 %kc, ptr %c, i1 %is.first)\n");
  bool can_direct = rhs == accumulate;
  std::string direct = packed       ? ""
                       : can_direct ? fill(direct_test_text, {{"element", cat(size_of(rhs))},
                                                              {"width", cat(shape.width)},
                                                              {"direct.rows", cat(direct_rows)}})
                                    : "  %direct = icmp eq i64 0, 1\n";
  std::string get =
      packed ? fill(packed_rhs_text, {{"row.bytes", cat(row_bytes)}})
             : fill(plain_rhs_text, {{"row.bytes", cat(row_bytes)}, {"pack", pack(rhs)}});
  std::string text = fill(driver_text, {{"name", name},
                                        {"fields", load_fields()},
                                        {"attributes", attributes()},
                                        {"run.bytes", cat(shape.run * row_bytes)},
                                        {"pack.bytes", cat(packed ? 64 : shape.depth * row_bytes)},
                                        {"block", cat(shape.block)},
                                        {"block.less", cat(shape.block - 1)},
                                        {"width", cat(shape.width)},
                                        {"width.less", cat(shape.width - 1)},
                                        {"depth", cat(shape.depth)},
                                        {"depth.less", cat(shape.depth - 1)},
                                        {"run.blocks", cat(shape.run / shape.block)},
                                        {"row.bytes", cat(row_bytes)},
                                        {"direct", direct},
                                        {"rhs", get},
                                        {"rows.0", cat(rows[0])},
                                        {"rows.1", cat(rows[1])},
                                        {"rows.2", cat(rows[2])},
                                        {"tile.0", calls[0]},
                                        {"tile.1", calls[1]},
                                        {"tile.2", calls[2]}});
  // The distance between panels: fixed by k for a packed matrix, by the column stride for a plain
  // one.
  std::string line = packed ? cat("  %panel.bytes = mul i64 %k, ", row_bytes, "\n")
                            : cat("  %panel.bytes = mul i64 %bn, ", shape.width, "\n");
  size_t at = text.find("  %m.up =");
  text.insert(at, line);
  emitter.functions_ += text;
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  declare("declare i64 @llvm.umax.i64(i64, i64)\n");
  return name;
}

std::string DotWriter::pack_driver(DType rhs) {
  std::string name = cat("weft.dot.pack.", weft::name(rhs), ".", weft::name(accumulate));
  if (!first(name)) return name;
  emitter.functions_ += fill(pack_driver_text, {{"name", name},
                                                {"fields", load_fields()},
                                                {"attributes", attributes()},
                                                {"pack", pack(rhs)},
                                                {"width", cat(shape.width)},
                                                {"width.less", cat(shape.width - 1)},
                                                {"row.bytes", cat(shape.width * shape.size)}});
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  return name;
}

}  // namespace weft
