// The loops around the micro-kernel: work items, blocks of k, tiles of rows.
#include "weft/codegen/llvm/dot_shape.h"
#include "weft/core/error.h"

namespace weft {
namespace {

// Work item = ((batch * runs + run) * panels + panel) * blocks + block: runs of rows, whose part of
// lhs stays in the second-level cache for all panels, and blocks of rows in them. Neighbouring
// items are joined: blocks of one panel, which pack their part of rhs once; some panels of a deep
// run, which share a block of lhs while it is in the second-level cache; or, for few rows, panels
// whose rhs is read in place, a little of k at a time, so that memory is read along its rows. With
// several blocks of k the accumulators rest in %cs between them.
constexpr std::string_view driver_text =
    R"(define internal void @$name$(ptr %d, i64 %begin, i64 %end, ptr %epilogue, ptr %args) noinline optnone {
entry:
  %cs = alloca [$run.bytes$ x i8], align 64
  %bs = alloca [$pack.bytes$ x i8], align 64
  %ix = alloca [4 x i64], align 8
$fields$  %am2 = mul i64 %am, 2
  %am3 = mul i64 %am, 3
  %am6 = mul i64 %am, 6
  %am9 = mul i64 %am, 9
  %is.packed = icmp ne i64 %packed, 0
  %panel.packed = mul i64 %k, $row.bytes$
  %panel.plain = mul i64 %bn, $width$
  %panel.bytes = select i1 %is.packed, i64 %panel.packed, i64 %panel.plain
  %k.bytes = select i1 %is.packed, i64 $row.bytes$, i64 %bk
  %is.row = icmp eq i64 %bn, $row.stride$
  ; Few rows of lhs and columns of rhs that lie along k: vectors along k.
  %is.plain = xor i1 %is.packed, true
  %rhs.along = icmp eq i64 %bk, $rhs.size$
  %lhs.along = icmp eq i64 %ak, $lhs.size$
  %along.0 = and i1 %rhs.along, %lhs.along
  %along.1 = and i1 %along.0, %is.plain
  %is.deep = icmp uge i64 %k, $lanes$
  %along.2 = and i1 %along.1, %is.deep
  %is.flat = icmp ule i64 %m, $rows.small$
  %along.3 = and i1 %along.2, %is.flat
  %inner = and i1 %along.3, $has.inner$
  %can.stay.0 = or i1 %is.packed, %is.row
  %not.inner = xor i1 %inner, true
  %can.stay = and i1 %can.stay.0, %not.inner
  %n.up = add i64 %n, $width.less$
  %panels = udiv i64 %n.up, $width$
  %m.up = add i64 %m, $run.less$
  %runs.0 = udiv i64 %m.up, $run$
  %runs = call i64 @llvm.umax.i64(i64 %runs.0, i64 1)
  ; Runs of nearly equal length, whole tiles.
  %m.one = call i64 @llvm.umin.i64(i64 %m, i64 $run$)
  %run.up = add i64 %m, %runs
  %run.up1 = sub i64 %run.up, 1
  %run.each = udiv i64 %run.up1, %runs
  %run.tile = add i64 %run.each, $rows.less$
  %run.tiles = udiv i64 %run.tile, $rows$
  %run.rows = mul i64 %run.tiles, $rows$
  %m.one.up = add i64 %m.one, $block.less$
  %blocks = udiv i64 %m.one.up, $block$
  ; Blocks of k of nearly equal length, a multiple of 16.
  %k.up = add i64 %k, $depth.less$
  %k.blocks = udiv i64 %k.up, $depth$
  %k.count = call i64 @llvm.umax.i64(i64 %k.blocks, i64 1)
  %k.round = add i64 %k, %k.count
  %k.round1 = sub i64 %k.round, 1
  %k.each = udiv i64 %k.round1, %k.count
  %k.each15 = add i64 %k.each, 15
  %k.deep = and i64 %k.each15, -16
  %is.deeper.0 = icmp ugt i64 %k, %k.deep
    %is.deeper = and i1 %is.deeper.0, %not.inner
  %some = icmp ult i64 %begin, %end
  br i1 %some, label %item, label %done

item:
  %i = phi i64 [ %begin, %entry ], [ %i.next, %item.end ]
  %t = udiv i64 %i, %blocks
  %t.first = mul i64 %t, %blocks
  %block = sub i64 %i, %t.first
  %t2 = udiv i64 %t, %panels
  %t2.first = mul i64 %t2, %panels
  %panel = sub i64 %t, %t2.first
  %bat = udiv i64 %t2, %runs
  %bat.first = mul i64 %bat, %runs
  %run = sub i64 %t2, %bat.first
  %run.m = mul i64 %run, %run.rows
  %run.end.0 = add i64 %run.m, %run.rows
  %run.end = call i64 @llvm.umin.i64(i64 %run.end.0, i64 %m)
  %rest = sub i64 %end, %i
  %rest.run = sub i64 %blocks, %block
  %joined = call i64 @llvm.umin.i64(i64 %rest, i64 %rest.run)
  %block.m = mul i64 %block, $block$
  %m0 = add i64 %run.m, %block.m
  %m.joined = mul i64 %joined, $block$
  %m1.0 = add i64 %m0, %m.joined
  %m1 = call i64 @llvm.umin.i64(i64 %m1.0, i64 %run.end)
  %none = icmp uge i64 %m0, %run.end
  %m.some = sub i64 %m1, %m0
  %m.count = select i1 %none, i64 1, i64 %m.some
  %is.few = icmp ule i64 %m.count, $few$
  %is.alone = icmp eq i64 %blocks, 1
  %few.0 = and i1 %is.few, %is.alone
  %few = and i1 %few.0, %can.stay
  %stay = or i1 %few, %is.packed
  ; The small tile writes all its rows.
  %m.room = add i64 %m.count, $rows.small.less$
  %p.room.0 = udiv i64 $scratch$, %m.room
  %p.room.1 = call i64 @llvm.umin.i64(i64 %p.room.0, i64 $share$)
  %p.share = select i1 %is.deeper, i64 %p.room.1, i64 1
  %p.room = select i1 %few, i64 %p.room.0, i64 %p.share
  %p.left = sub i64 %panels, %panel
  %p.whole = udiv i64 %rest, %blocks
  %p.0 = call i64 @llvm.umin.i64(i64 %p.room, i64 %p.left)
  %p.1 = call i64 @llvm.umin.i64(i64 %p.0, i64 %p.whole)
  %is.whole = icmp eq i64 %joined, %blocks
  %p.count = select i1 %is.whole, i64 %p.1, i64 1
  %p.items = mul i64 %p.count, %blocks
  %move = select i1 %is.whole, i64 %p.items, i64 %joined
  %i.next = add i64 %i, %move
  ; A little of k only where rhs's rows are apart.
  %shallow = and i1 %is.plain, %few
  %k.step = select i1 %shallow, i64 16, i64 %k.deep
  %one.k = icmp ule i64 %k, %k.step
  %one.p = icmp eq i64 %p.count, 1
  %in.one = and i1 %one.k, %one.p
  %is.slim.0 = icmp eq i64 %m.count, 1
  %is.slim = and i1 %is.slim.0, %few
  %c.panel = mul i64 %m.room, $row.bytes$
  br i1 %none, label %item.end, label %batches
batches:
  br label %batch
batch:
  %bi = phi i64 [ 3, %batches ], [ %bi.next, %batch ]
  %b.left = phi i64 [ %bat, %batches ], [ %b.div, %batch ]
  %a.batch = phi i64 [ 0, %batches ], [ %a.batch.next, %batch ]
  %b.batch = phi i64 [ 0, %batches ], [ %b.batch.next, %batch ]
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
  %b0 = getelementptr i8, ptr %rhs, i64 %b.batch.next
  br i1 %inner, label %inner.row, label %depth

inner.row:
  %q = phi i64 [ 0, %start ], [ %q.next, %inner.row ]
  %q.offset = mul i64 %q, %am
  %q.a = getelementptr i8, ptr %a0, i64 %q.offset
  %q.n0 = mul i64 %panel, $width$
  %q.left = sub i64 %n, %q.n0
  %q.cols = call i64 @llvm.umin.i64(i64 %q.left, i64 $width$)
  %q.b.n0 = mul i64 %panel, %panel.bytes
  %q.b = getelementptr i8, ptr %b0, i64 %q.b.n0
  %q.to = mul i64 %q, $row.bytes$
  %q.c = getelementptr i8, ptr %cs, i64 %q.to
$inner$  %q.next = add i64 %q, 1
  %q.more = icmp ult i64 %q.next, %m.count
  br i1 %q.more, label %inner.row, label %inner.finish
inner.finish:
  call void %epilogue(ptr %args, ptr %ix, i64 %m0, i64 %m.count, i64 %q.n0, i64 %q.cols, ptr %cs)
  br label %item.end

depth:
  %k0 = phi i64 [ 0, %start ], [ %k1, %depth.end ]
  %k.left = sub i64 %k, %k0
  %kc = call i64 @llvm.umin.i64(i64 %k.left, i64 %k.step)
  %k1 = add i64 %k0, %kc
  %is.first = icmp eq i64 %k0, 0
  %is.last = icmp uge i64 %k1, %k
  %a.k0 = mul i64 %k0, %ak
  %ab = getelementptr i8, ptr %a0, i64 %a.k0
  %b.k0 = mul i64 %k0, %k.bytes
  %bb = getelementptr i8, ptr %b0, i64 %b.k0
  br label %panel.in

panel.in:
  %p = phi i64 [ 0, %depth ], [ %p.next, %panel.end ]
  %panel.p = add i64 %panel, %p
  %n0 = mul i64 %panel.p, $width$
  %n.left = sub i64 %n, %n0
  %cols = call i64 @llvm.umin.i64(i64 %n.left, i64 $width$)
  %b.n0 = mul i64 %panel.p, %panel.bytes
  %b.at = getelementptr i8, ptr %bb, i64 %b.n0
  %c.p = mul i64 %p, %c.panel
  %c0 = getelementptr i8, ptr %cs, i64 %c.p
  %is.full = icmp eq i64 %cols, $width$
  %stay.full = and i1 %stay, %is.full
  %stay.here = or i1 %stay.full, %is.packed
  br i1 %stay.here, label %ready, label %packing
packing:
$pack$  br label %ready
ready:
  %b = phi ptr [ %b.at, %panel.in ], [ %bs, %packing ]
  %b.step = phi i64 [ %k.bytes, %panel.in ], [ $row.bytes$, %packing ]
  ; Several panels at once keep enough loads in flight for a single row.
  %p.rest = sub i64 %p.count, %p
  %p.slim = icmp uge i64 %p.rest, $slim$
  %n.slim = icmp uge i64 %n.left, $width.slim$
  %slim.0 = and i1 %p.slim, %n.slim
  %slim = and i1 %slim.0, %is.slim
  %p.move = select i1 %slim, i64 $slim$, i64 1
  %p.next = add i64 %p, %p.move
  br label %rows

rows:
  %r = phi i64 [ %m0, %ready ], [ %r.next, %rows.end ]
  %a = phi ptr [ %ab, %ready ], [ %a.next, %rows.end ]
  %r.left = sub i64 %m1, %r
  %r.in = sub i64 %r, %m0
  %c.in = select i1 %in.one, i64 0, i64 %r.in
  %c.offset = mul i64 %c.in, $row.bytes$
  %c = getelementptr i8, ptr %c0, i64 %c.offset
  br i1 %slim, label %tile.slim, label %tall
tall:
  %full = icmp uge i64 %r.left, $rows$
  br i1 %full, label %tile.full, label %tile.small
tile.full:
$tile.full$  br label %tiled
tile.small:
$tile.small$  %r.small = call i64 @llvm.umin.i64(i64 %r.left, i64 $rows.small$)
  br label %tiled
tile.slim:
$tile.slim$  br label %tiled
tiled:
  %r.count = phi i64 [ $rows$, %tile.full ], [ %r.small, %tile.small ], [ 1, %tile.slim ]
  br i1 %is.last, label %finish, label %rows.end
finish:
  %f = phi i64 [ 0, %tiled ], [ %f.next, %finish ]
  %f.n = mul i64 %f, $width$
  %f.n0 = add i64 %n0, %f.n
  %f.c = mul i64 %f, %c.panel
  %f.at = getelementptr i8, ptr %c, i64 %f.c
  call void %epilogue(ptr %args, ptr %ix, i64 %r, i64 %r.count, i64 %f.n0, i64 %cols, ptr %f.at)
  %f.next = add i64 %f, 1
  %f.more = icmp ult i64 %f.next, %p.move
  br i1 %f.more, label %finish, label %rows.end
rows.end:
  %r.next = add i64 %r, %r.count
  %a.move = mul i64 %r.count, %am
  %a.next = getelementptr i8, ptr %a, i64 %a.move
  %r.more = icmp ult i64 %r.next, %m1
  br i1 %r.more, label %rows, label %panel.end
panel.end:
  %p.more = icmp ult i64 %p.next, %p.count
  br i1 %p.more, label %panel.in, label %depth.end
depth.end:
  br i1 %is.last, label %item.end, label %depth
item.end:
  %i.more = icmp ult i64 %i.next, %end
  br i1 %i.more, label %item, label %done
done:
  ret void
}

)";

// Rows up to which rhs is read in place: packing would touch it twice.
constexpr int few_rows = 12;

}  // namespace

std::string DotWriter::driver(DType lhs, DType rhs, bool may_pack, bool may_be_inner) {
  std::string name = cat("weft.dot.", weft::name(lhs), ".", weft::name(rhs), ".", weft::name(accumulate));
  auto& needs = emitter.drivers_.try_emplace(name, DotEmitter::Needs{lhs, rhs, accumulate}).first->second;
  needs.pack |= may_pack;
  needs.inner |= may_be_inner;
  return name;
}

void DotWriter::write_driver(const std::string& name, const DotEmitter::Needs& needs) {
  DType lhs = needs.lhs, rhs = needs.rhs;
  std::string pack_call, inner_call;
  if (needs.pack)
    pack_call = cat("  call void @", pack(rhs), "(ptr %b.at, i64 %bk, i64 %bn, i64 %kc, i64 %cols, ptr %bs)\n");
  if (needs.inner)
    inner_call =
        cat("  call void @", inner(lhs, rhs), "(ptr %q.a, ptr %q.b, i64 %bn, i64 %k, i64 %q.cols, ptr %q.c)\n");
  int row_bytes = shape.width * shape.size;
  std::string rest = "ptr %b, i64 %b.step, i64 %kc, ptr %c, i1 %is.first";
  std::string full = call_tile(tile(lhs, accumulate, shape.rows, 1), shape.rows, rest);
  std::string small = call_small_tile(tile(lhs, accumulate, small_rows, 1), rest);
  std::string slim = call_tile(tile(lhs, accumulate, 1, slim_panels), 1, rest + ", i64 %panel.bytes, i64 %c.panel");
  emitter.functions_ += fill(driver_text, {{"name", name},
                                           {"fields", load_fields()},
                                           {"run.bytes", cat((shape.scratch + small_rows) * row_bytes)},
                                           {"pack.bytes", cat(shape.depth * row_bytes)},
                                           {"block", cat(shape.block)},
                                           {"block.less", cat(shape.block - 1)},
                                           {"scratch", cat(shape.scratch)},
                                           {"share", cat(shape.share)},
                                           {"run", cat(shape.run)},
                                           {"run.less", cat(shape.run - 1)},
                                           {"width", cat(shape.width)},
                                           {"width.less", cat(shape.width - 1)},
                                           {"width.slim", cat(shape.width * slim_panels)},
                                           {"depth", cat(shape.depth)},
                                           {"depth.less", cat(shape.depth - 1)},
                                           {"row.bytes", cat(row_bytes)},
                                           // No stride is -1: elements that need conversion are always packed.
                                           {"row.stride", cat(rhs == accumulate ? size_of(rhs) : -1)},
                                           {"few", cat(few_rows)},
                                           {"pack", pack_call},
                                           {"inner", inner_call},
                                           {"has.inner", needs.inner ? "true" : "false"},
                                           {"lanes", cat(shape.lanes)},
                                           {"lhs.size", cat(size_of(lhs))},
                                           {"rhs.size", cat(size_of(rhs))},
                                           {"rows", cat(shape.rows)},
                                           {"rows.less", cat(shape.rows - 1)},
                                           {"rows.small", cat(small_rows)},
                                           {"rows.small.less", cat(small_rows - 1)},
                                           {"slim", cat(slim_panels)},
                                           {"tile.full", full},
                                           {"tile.small", small},
                                           {"tile.slim", slim}});
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  declare("declare i64 @llvm.umax.i64(i64, i64)\n");
}

}  // namespace weft
