// The text of the loops around the micro-kernel.
#include "weft/codegen/llvm/dot_driver.h"

namespace weft {

// Work item = ((batch * runs + run) * panels + panel) * blocks + block: runs of rows, whose part of
// lhs is read again for all panels, and blocks of rows in them. Neighbouring items are joined:
// blocks of one panel, which pack their part of rhs once; some panels of a deep or long run, which
// go through a long one together by chunks of rows, so that lhs comes once from behind the
// second-level cache; or, for few rows, panels whose rhs is read in place, a little of k at a time,
// so that memory is read along its rows. With several blocks of k the accumulators rest in %cs
// between them. Those, packed panels and packed lhs are in memory of the thread (weft/runtime/scratch.h).
const std::string_view driver_text =
    R"(define $linkage$ void @$name$(ptr %d, i64 %begin, i64 %end, ptr %epilogue, ptr %args) noinline $effort$ {
entry:
$scratch.open$  %bs = getelementptr i8, ptr %cs, i64 $run.bytes$
  %ls = getelementptr i8, ptr %bs, i64 $panels.bytes$
  %ix = alloca [4 x i64], align 8
$amx.open$$fields$  %is.packed = icmp eq i64 %packed, 1
  %k.whole = and i64 %k, -$group$
  %panel.plain = mul i64 %bn, $width$
  %panel.bytes = select i1 %is.packed, i64 %panel.packed, i64 %panel.plain
  %k.bytes = select i1 %is.packed, i64 $row.bytes$, i64 %bk
  %is.row = icmp eq i64 %bn, $rhs.size$
  ; Few rows of lhs and columns of rhs that lie along k: vectors along k.
  %is.plain = xor i1 %is.packed, true
  %rhs.along = icmp eq i64 %bk, $rhs.size$
  %lhs.along = icmp eq i64 %ak, $lhs.size$
$tile.rows$  %along.0 = and i1 %rhs.along, %lhs.along
  %in.any.order = icmp eq i64 %packed, 0
  %along.1 = and i1 %along.0, %in.any.order
  %is.deep = icmp uge i64 %k, $vector$
  %along.2 = and i1 %along.1, %is.deep
  %is.flat = icmp ule i64 %m, $rows.inner$
  %along.3 = and i1 %along.2, %is.flat
  %inner = and i1 %along.3, $has.inner$
  %can.stay.0 = or i1 %is.packed, %is.row
  %not.inner = xor i1 %inner, true
  %can.stay = and i1 %can.stay.0, %not.inner
  %n.up = add i64 %n, $width.less$
  %panels = udiv i64 %n.up, $width$
  %groups.up = add i64 %panels, $together.less$
  %groups = udiv i64 %groups.up, $together$
  %m.up.0 = add i64 %m, %run.most
  %m.up = add i64 %m.up.0, -1
  %runs.0 = udiv i64 %m.up, %run.most
  %runs = call i64 @llvm.umax.i64(i64 %runs.0, i64 1)
  ; Runs of nearly equal length, whole blocks.
  %m.one = call i64 @llvm.umin.i64(i64 %m, i64 %run.most)
  %run.up = add i64 %m, %runs
  %run.up1 = sub i64 %run.up, 1
  %run.each = udiv i64 %run.up1, %runs
  %rows.less = add i64 %rows.block, -1
  %run.up2 = add i64 %run.each, %rows.less
  %run.blocks = udiv i64 %run.up2, %rows.block
  %run.rows = mul i64 %run.blocks, %rows.block
  %m.one.up = add i64 %m.one, %rows.less
  %blocks = udiv i64 %m.one.up, %rows.block
  ; Blocks of k (of each part of it) of nearly equal length, a multiple of 16 units: lower ones where each k is a line of lhs.
  ; One block of all k, twice as deep as others, needs no sums in memory.
  %k.part = call i64 @llvm.umin.i64(i64 %k, i64 %kp)
  %k.one = icmp ule i64 %k, $depth$
  %k.whole.one = and i1 %k.one, %is.plain
  %k.along = select i1 %k.whole.one, i64 $depth$, i64 $depth.slot$
  %k.most = select i1 %lhs.along, i64 %k.along, i64 $depth.across$
  %k.most.less = sub i64 %k.most, 1
  %k.up = add i64 %k.part, %k.most.less
  %k.blocks = udiv i64 %k.up, %k.most
  %k.count = call i64 @llvm.umax.i64(i64 %k.blocks, i64 1)
  %k.round = add i64 %k.part, %k.count
  %k.round1 = sub i64 %k.round, 1
  %k.each = udiv i64 %k.round1, %k.count
  %k.each.up = add i64 %k.each, $k.few.less$
  %k.deep.0 = and i64 %k.each.up, -$k.few$
  %k.deep.1 = call i64 @llvm.umin.i64(i64 %k.deep.0, i64 %kp)
  ; Or several short parts of k, nearly equally many in each block, which a tile goes through in turn.
  %k.part.some = call i64 @llvm.umax.i64(i64 %k.part, i64 1)
  %k.fit = udiv i64 %k.most, %k.part.some
  %k.fit.some = call i64 @llvm.umax.i64(i64 %k.fit, i64 1)
  %k.parts = udiv i64 %k, %k.part.some
  %k.parts.up = add i64 %k.parts, %k.fit.some
  %k.parts.up1 = sub i64 %k.parts.up, 1
  %k.spans = udiv i64 %k.parts.up1, %k.fit.some
  %k.spans.some = call i64 @llvm.umax.i64(i64 %k.spans, i64 1)
  %k.span.up = add i64 %k.parts, %k.spans.some
  %k.span.up1 = sub i64 %k.span.up, 1
  %k.span = udiv i64 %k.span.up1, %k.spans.some
  %k.span.deep = mul i64 %k.span, %k.part
  %spans.0 = icmp ult i64 %kp, %k
  %spans.1 = icmp ugt i64 %k.fit, 1
  %spans.2 = and i1 %spans.0, %spans.1
  %spans.3 = and i1 %spans.2, %is.packed
  %spans.4 = icmp ult i64 %k.part, 128
  %spans.5 = and i1 %spans.3, %spans.4
  %spans = and i1 %spans.5, $may.span$
  %k.deep = select i1 %spans, i64 %k.span.deep, i64 %k.deep.1
  %k.part.bytes = mul i64 %kp, %ak
  %k.jump = sub i64 %kj, %k.part.bytes
  ; From the end of a part of rows to the next.
  %m.part.bytes = mul i64 %mp, %am
  %m.jump = sub i64 %mj, %m.part.bytes
  %is.deeper = icmp ugt i64 %k, %k.deep
  %has.result = icmp ne ptr %result, null
  %some = icmp ult i64 %begin, %end
  br i1 %some, label %item, label %done

item:
  %i = phi i64 [ %begin, %entry ], [ %i.next, %item.end ]
  %t = udiv i64 %i, %blocks
  %t.first = mul i64 %t, %blocks
  %block = sub i64 %i, %t.first
  %t2 = udiv i64 %t, %groups
  %t2.first = mul i64 %t2, %groups
  %panel.group = sub i64 %t, %t2.first
  %panel = mul i64 %panel.group, $together$
  %bat = udiv i64 %t2, %runs
  %bat.first = mul i64 %bat, %runs
  %run = sub i64 %t2, %bat.first
  %run.m = mul i64 %run, %run.rows
  %run.end.0 = add i64 %run.m, %run.rows
  %run.end = call i64 @llvm.umin.i64(i64 %run.end.0, i64 %m)
  %rest = sub i64 %end, %i
  %rest.run = sub i64 %blocks, %block
  %joined = call i64 @llvm.umin.i64(i64 %rest, i64 %rest.run)
  %block.m = mul i64 %block, %rows.block
  %m0 = add i64 %run.m, %block.m
  %m.joined = mul i64 %joined, %rows.block
  %m1.0 = add i64 %m0, %m.joined
  %m1 = call i64 @llvm.umin.i64(i64 %m1.0, i64 %run.end)
  %none = icmp uge i64 %m0, %run.end
  %m.some = sub i64 %m1, %m0
  %m.count = select i1 %none, i64 1, i64 %m.some
  %is.few = icmp ule i64 %m.count, $few$
  %is.alone = icmp eq i64 %blocks, 1
  %few.0 = and i1 %is.few, %is.alone
  %few = and i1 %few.0, %can.stay
  ; AMX multiplies packed rows only.
  %few.raw = icmp ugt i1 %few, %amx
  %stay = or i1 %few.raw, %is.packed
  %keeps = or i1 %few, %is.packed
  %is.slim.0 = icmp eq i64 %m.count, 1
  %is.slim.1 = and i1 %is.slim.0, %few
  %is.slim = and i1 %is.slim.1, $has.slim$
  ; The small tile writes all its rows.
  %m.room.more = add i64 %m.count, $rows.small.less$
  %m.room = select i1 %is.slim, i64 1, i64 %m.room.more
  %p.room.0 = udiv i64 $scratch$, %m.room
  %p.room.1 = call i64 @llvm.umin.i64(i64 %p.room.0, i64 $share$)
  ; Panels that are packed here go by chunks through a block of lhs for which the second-level cache is too small.
  %block.k = call i64 @llvm.umin.i64(i64 %k, i64 %k.deep)
  %block.units = mul i64 %block.k, %m.count
  %block.long = icmp ugt i64 %block.units, $long$
  %block.packs = or i1 %keeps, $lhs.packs$
  %block.fits = icmp ule i64 %block.k, $depth.slot$
  %block.turns = and i1 %block.long, %block.fits
  %chunked = icmp ugt i1 %block.turns, %block.packs
  %takes.turns.0 = or i1 %chunked, %amx.packs
  %takes.turns = or i1 %takes.turns.0, $lhs.packs$
  %chunk.most = select i1 %takes.turns, i64 $chunk$, i64 %run.most
$chunk.rows$  %shares = or i1 %takes.turns, %is.deeper
  %shares.lhs = and i1 %shares, %not.inner
  %p.share = select i1 %shares.lhs, i64 %p.room.1, i64 1
  %p.room.2 = select i1 %few, i64 %p.room.0, i64 %p.share
  ; A single row by columns along k: as many panels as its part of %cs may hold, as one.
  %is.one = icmp eq i64 %m.count, 1
  %inner.one = and i1 %inner, %is.one
  %p.room = select i1 %inner.one, i64 $wide$, i64 %p.room.2
  %p.left = sub i64 %panels, %panel
  %p.whole = udiv i64 %rest, %blocks
  %p.0 = call i64 @llvm.umin.i64(i64 %p.room, i64 %p.left)
  %p.1 = call i64 @llvm.umin.i64(i64 %p.0, i64 %p.whole)
  %is.whole = icmp eq i64 %joined, %blocks
  %p.item = call i64 @llvm.umin.i64(i64 %p.left, i64 $together$)
  %p.count = $panels.count$
  %p.items = mul i64 %p.count, %blocks
  %move = $items.move$
  %i.next = add i64 %i, %move
  ; A little of k only where rhs's rows are apart and several rows go through them: more of narrow ones.
  %shallow.0 = and i1 %is.plain, %few
  %not.row = xor i1 %is.slim, true
  %shallow = and i1 %shallow.0, %not.row
  %k.step = select i1 %shallow, i64 $k.shallow$, i64 %k.deep
  %one.k.0 = icmp ule i64 %k, %k.step
  %not.few = xor i1 %few, true
  %k.is.whole = icmp eq i64 %k, %k.whole
  %not.raw = xor i1 %few.raw, true
  %not.cut = or i1 %k.is.whole, %not.raw
  %one.k = and i1 %one.k.0, %not.cut
  %not.slim = xor i1 %is.slim, true
  %in.one = and i1 %one.k, %not.slim
  %c.room = mul i64 %m.room, $row.bytes$
  %c.panel = select i1 %in.one, i64 0, i64 %c.room
$lhs.strides$  %la.m2 = mul i64 %la.m, 2
  %la.m3 = mul i64 %la.m, 3
  %la.m6 = mul i64 %la.m, 6
  %la.m9 = mul i64 %la.m, 9
  %la.m12 = mul i64 %la.m, 12
  %tile.bytes = mul i64 %tile.rows, %la.m
  br i1 %none, label %item.end, label %batches
batches:
  br label %batch
batch:
  %bi = phi i64 [ 3, %batches ], [ %bi.next, %batch ]
  %b.left = phi i64 [ %bat, %batches ], [ %b.div, %batch ]
  %a.batch = phi i64 [ 0, %batches ], [ %a.batch.next, %batch ]
  %b.batch = phi i64 [ 0, %batches ], [ %b.batch.next, %batch ]
  %o.batch = phi i64 [ 0, %batches ], [ %o.batch.next, %batch ]
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
  %p.os = getelementptr i64, ptr %result.strides, i64 %bi
  %os = load i64, ptr %p.os
  %os.x = mul i64 %os, %b.index
  %o.batch.next = add i64 %o.batch, %os.x
  %bi.next = add i64 %bi, -1
  %b.more = icmp sge i64 %bi.next, 0
  br i1 %b.more, label %batch, label %start
start:
  %a0.0 = getelementptr i8, ptr %lhs, i64 %a.batch.next
  %m.part = udiv i64 %m0, %mp
  %m.part.first = mul i64 %m.part, %mp
  %m.in = sub i64 %m0, %m.part.first
  %m.part.left = sub i64 %mp, %m.in
  %a.m0.in = mul i64 %m.in, %am
  %a.m0.part = mul i64 %m.part, %mj
  %a.m0 = add i64 %a.m0.in, %a.m0.part
  %a0 = getelementptr i8, ptr %a0.0, i64 %a.m0
  %b0 = getelementptr i8, ptr %rhs, i64 %b.batch.next
  %o0 = getelementptr i8, ptr %result, i64 %o.batch.next
  ; Few rows go through k a little at a time, if not at once: their sums stay near.
  %leaves.once = or i1 %not.few, %in.one
  %leaves.item = and i1 %has.result, %leaves.once
  ; The first tile packs what it reads where there is one of its height.
  %first.left.0 = call i64 @llvm.umin.i64(i64 %m.count, i64 $first.most$)
  %first.left = call i64 @llvm.umin.i64(i64 %first.left.0, i64 %m.part.left)
$first.height$  %first.bits = lshr i64 $packing.heights$, %first.height
  %first.packs.0 = trunc i64 %first.bits to i1
  %first.packs.1 = and i1 %first.packs.0, %is.row
  %first.packs = icmp ugt i1 %first.packs.1, %stay
  br i1 %inner, label %inner.row, label %depth

inner.row:
  %q = phi i64 [ 0, %start ], [ %q.next, %inner.end ]
  %q.offset = mul i64 %q, %am
  %q.a = getelementptr i8, ptr %a0, i64 %q.offset
  %q.n0 = mul i64 %panel, $width$
  %q.left = sub i64 %n, %q.n0
  %q.wide = mul i64 %p.count, $width$
  %q.cols = call i64 @llvm.umin.i64(i64 %q.left, i64 %q.wide)
  %q.b.n0 = mul i64 %panel, %panel.bytes
  %q.b = getelementptr i8, ptr %b0, i64 %q.b.n0
  %q.to = mul i64 %q, $row.bytes$
  %q.c = getelementptr i8, ptr %cs, i64 %q.to
$inner$  br label %inner.end
inner.end:
  %q.next = add i64 %q, $rows.at.once$
  %q.more = icmp ult i64 %q.next, %m.count
  br i1 %q.more, label %inner.row, label %inner.finish
inner.finish:
  call void %epilogue(ptr %args, ptr %ix, i64 %m0, i64 %m.count, i64 %q.n0, i64 %q.cols, ptr %cs)
  br label %item.end

depth:
  %k0 = phi i64 [ 0, %start ], [ %k1, %depth.end ]
  %k.left = sub i64 %k, %k0
  %k0.part = udiv i64 %k0, %kp
  %k0.part.first = mul i64 %k0.part, %kp
  %k0.in = sub i64 %k0, %k0.part.first
  %k0.part.left = sub i64 %kp, %k0.in
  %kc.most.0 = call i64 @llvm.umin.i64(i64 %k.left, i64 %k.step)
  %k0.left = select i1 %spans, i64 %k.left, i64 %k0.part.left
  %kc.most = call i64 @llvm.umin.i64(i64 %kc.most.0, i64 %k0.left)
  ; Rows of rhs that are no whole unit are a block of their own where others are read in place.
  %kc.left = sub i64 %k.whole, %k0
  %kc.in = icmp ult i64 %k0, %k.whole
  %kc.cut = call i64 @llvm.umin.i64(i64 %kc.most, i64 %kc.left)
  %kc.cuts = and i1 %kc.in, %few.raw
  %kc = select i1 %kc.cuts, i64 %kc.cut, i64 %kc.most
  %kc.up = add i64 %kc, $group.less$
  %units = udiv i64 %kc.up, $group$
  %kc.parts = udiv i64 %kc, %k.part.some
  %tile.parts = select i1 %spans, i64 %kc.parts, i64 1
  %tile.units = select i1 %spans, i64 %k.part, i64 %units
  %kc.rest = urem i64 %kc, $group$
  %kc.whole = icmp eq i64 %kc.rest, 0
  %kc.packs = and i1 %kc.whole, %first.packs
  %k1 = add i64 %k0, %kc
  %is.first = icmp eq i64 %k0, 0
  %is.last = icmp uge i64 %k1, %k
  %a.k0.in = mul i64 %k0.in, %ak
  %a.k0.part = mul i64 %k0.part, %kj
  %a.k0 = add i64 %a.k0.in, %a.k0.part
  %a.at = getelementptr i8, ptr %a0, i64 %a.k0
  %k0.units = udiv i64 %k0, $group$
  %k0.rows = add i64 %k0.units, $head.rows$
  %b.k0.packed = mul i64 %k0.rows, $row.bytes$
  %b.k0.plain = mul i64 %k0, %bk
  %b.k0 = select i1 %is.packed, i64 %b.k0.packed, i64 %b.k0.plain
  %bb = getelementptr i8, ptr %b0, i64 %b.k0
  ; Rows are fetched as one piece of memory, so not where much of it is not needed: what lies between them, and the rest
  ; of rows that are longer than a block of k.
  %units.some = call i64 @llvm.umax.i64(i64 %units, i64 1)
  %tile.step = udiv i64 %tile.bytes, %units.some
  %is.near = icmp ule i64 %tile.step, $step.near$
  %lhs.step = select i1 %is.near, i64 %tile.step, i64 0
  %panel.first = mul i64 %panel, %panel.bytes
  %bb.first = getelementptr i8, ptr %bb, i64 %panel.first
$kept$  br label %chunk

chunk:
  %chunk.r = phi i64 [ %m0, %depth ], [ %r.next, %chunk.end ]
  %chunk.a.0 = phi ptr [ %a.at, %depth ], [ %a.next, %chunk.end ]
  %chunk.part.left = phi i64 [ %m.part.left, %depth ], [ %part.left.next, %chunk.end ]
  %chunk.m1.0 = add i64 %chunk.r, %chunk.rows
  %chunk.m1 = call i64 @llvm.umin.i64(i64 %chunk.m1.0, i64 %m1)
  %chunk.later = icmp ne i64 %chunk.r, %m0
  %chunk.first = xor i1 %chunk.later, true
  %chunk.there = or i1 %chunk.later, %is.kept
  %chunk.packs = icmp ugt i1 %kc.packs, %chunk.there
$lhs.pack$  %chunk.a = getelementptr i8, ptr $lhs.from$, i64 0
$rhs.pack$  br label %panels.in
panels.in:
  br label %panel.in

panel.in:
  %p = phi i64 [ 0, %panels.in ], [ %p.next, %panel.end ]
  %panel.p = add i64 %panel, %p
  %n0 = mul i64 %panel.p, $width$
  %n.left = sub i64 %n, %n0
  %cols = call i64 @llvm.umin.i64(i64 %n.left, i64 $width$)
  %b.n0 = mul i64 %panel.p, %panel.bytes
  %b.at = getelementptr i8, ptr %bb, i64 %b.n0
  %c.p = mul i64 %p, %c.panel
  %c0 = getelementptr i8, ptr %cs, i64 %c.p
  %is.full = icmp eq i64 %cols, $width$
  %leaves.panel = and i1 %leaves.item, %is.full
  %o.n0 = mul i64 %n0, $size$
  %o.at = getelementptr i8, ptr %o0, i64 %o.n0
  %raw.here = select i1 %is.packed, i64 0, i64 $raw.offset$
  %stay.whole = and i1 %stay, %kc.whole
  %stay.full = and i1 %stay.whole, %is.full
  %stay.here = or i1 %stay.full, %is.packed
  %b.head = getelementptr i8, ptr %b0, i64 %b.n0
  %head.in = select i1 %is.first, ptr %b.head, ptr @weft.dot.zeros
  ; The first chunk packs for all.
  %p.slot = select i1 $in.slots$, i64 %p, i64 0
  %bs.from = mul i64 %p.slot, $slot.bytes$
  %bs.head = getelementptr i8, ptr %bs, i64 %bs.from
  %bs.units = getelementptr i8, ptr %bs.head, i64 $head.bytes$
  %is.there.0 = or i1 %stay.here, %chunk.there
  %is.together = and i1 %rows.together, %is.full
  %is.there = or i1 %is.there.0, %is.together
  %tile.packs = and i1 %chunk.packs, %is.full
  %is.ready = or i1 %is.there, %tile.packs
  br i1 %is.ready, label %ready, label %packing
packing:
$pack$  br label %ready
ready:
  %b = select i1 %stay.here, ptr %b.at, ptr %bs.units
  %head = select i1 %stay.here, ptr %head.in, ptr %bs.head
  ; Of a panel that is half empty tiles leave that half out.
  %is.half = icmp ule i64 %cols, $width.half$
  %raw.full = select i1 %stay.here, i64 $raw$, i64 0
  %raw = select i1 %is.half, i64 $half$, i64 %raw.full
  %how.first = select i1 %tile.packs, i64 $packing$, i64 %raw
  %b.step = select i1 %stay.here, i64 %k.bytes, i64 $row.bytes$
  ; What is read next: the packed block that follows, the panels beside in rows that lie apart, or rows of the next tile.
  %ahead.this = getelementptr i8, ptr %b, i64 $ahead$
  ; A single row takes several panels at once, all that there are of rhs as it lies.
  %p.rest = sub i64 %p.count, %p
  %n.whole = udiv i64 %n.left, $width$
  %slim.most = call i64 @llvm.umin.i64(i64 %p.rest, i64 %n.whole)
  %slim.least = select i1 %is.packed, i64 $slim$, i64 1
  %slim.count = select i1 %is.packed, i64 $slim$, i64 %slim.most
  %slim.0 = icmp uge i64 %slim.most, %slim.least
  %slim.1 = and i1 %slim.0, %stay.here
  ; One row of zeros does not stand for heads of several panels.
  %head.own = or i1 %is.first, %is.plain
  %slim.2 = and i1 %slim.1, %head.own
  %slim = and i1 %slim.2, %is.slim
  %p.move = select i1 %slim, i64 %slim.count, i64 1
  %p.next = add i64 %p, %p.move
  ; Tiles fetch the whole of the next packed block, each its share: what is fetched nearer comes too late from memory.
  %ahead.more = icmp ult i64 %p.next, %p.count
  %ahead.beside = getelementptr i8, ptr %b.at, i64 %panel.bytes
  %block.bytes = mul i64 %units, $row.bytes$
  %ahead.from = select i1 %is.last, ptr %b.at, ptr %bb.first
  %ahead.deeper = getelementptr i8, ptr %ahead.from, i64 %block.bytes
  %ahead.next = select i1 %ahead.more, ptr %ahead.beside, ptr %ahead.deeper
  %ahead.at = select i1 %is.packed, ptr %ahead.next, ptr %ahead.this
  ; Of many rows the next tile is what most is read of: its lines start too often for the CPU to foresee them.
  %is.long = icmp ugt i64 %m.count, $rows.long$
  %fetch.block = icmp ugt i1 %is.packed, %is.long
  %fetch.same = icmp eq i1 %fetch.block, %is.packed
  %fetch.rhs = and i1 %stay.here, %fetch.same
  %ahead.rows.first = call i64 @llvm.umin.i64(i64 %m.count, i64 %chunk.rows)
  %ahead.each = udiv i64 %block.bytes, %ahead.rows.first
  %ahead.row = select i1 %fetch.block, i64 %ahead.each, i64 0
  %ahead.slope.0 = udiv i64 $row.bytes.shifted$, %ahead.rows.first
  %ahead.slope = select i1 %fetch.block, i64 %ahead.slope.0, i64 0
  %ahead.one = select i1 %fetch.rhs, i64 %b.step, i64 %lhs.step
  %ahead.least = select i1 %fetch.block, i64 1, i64 %ahead.one
  br label %rows

rows:
  %r = phi i64 [ %chunk.r, %ready ], [ %r.next, %rows.end ]
  %a = phi ptr [ %chunk.a, %ready ], [ %a.next, %rows.end ]
  %part.left = phi i64 [ %chunk.part.left, %ready ], [ %part.left.next, %rows.end ]
  %how = phi i64 [ %how.first, %ready ], [ %raw, %rows.end ]
  %r.left.0 = sub i64 $rows.end$, %r
  %r.left = call i64 @llvm.umin.i64(i64 %r.left.0, i64 %part.left)
  %r.in = sub i64 %r, %m0
  ; The small tile may write more rows than there are.
  %is.enough = icmp uge i64 %r.left, $rows.small$
  %leaves = and i1 %leaves.panel, %is.enough
  %c.in = select i1 %in.one, i64 0, i64 %r.in
  %c.at = select i1 %leaves, i64 %r, i64 %c.in
  %c.row = select i1 %leaves, i64 %result.row, i64 $row.bytes$
  %c.from = select i1 %leaves, ptr %o.at, ptr %c0
  %c.offset = mul i64 %c.at, %c.row
  %c = getelementptr i8, ptr %c.from, i64 %c.offset
  %ahead.offset = mul i64 %r.in, %ahead.row
  %ahead.b = getelementptr i8, ptr %ahead.at, i64 %ahead.offset
  %ahead.a = getelementptr i8, ptr %a, i64 %tile.bytes
  %ahead = select i1 %fetch.rhs, ptr %ahead.b, ptr %ahead.a
$tiles$  %finishes = icmp ugt i1 %is.last, %leaves
  br i1 %finishes, label %finish, label %rows.end
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
  %part.left.less = sub i64 %part.left, %r.count
  %part.ends = icmp eq i64 %part.left.less, 0
  %part.left.next = select i1 %part.ends, i64 %mp, i64 %part.left.less
  %a.move.rows = mul i64 %r.count, %la.m
  %a.move.0 = $lhs.move$
  %a.jump = select i1 %part.ends, i64 %m.jump, i64 0
  %a.move = add i64 %a.move.0, %a.jump
  %a.next = getelementptr i8, ptr %a, i64 %a.move
  %r.more = icmp ult i64 %r.next, %chunk.m1
  br i1 %r.more, label %rows, label %panel.end
panel.end:
  %p.more = icmp ult i64 %p.next, %p.count
  br i1 %p.more, label %panel.in, label %chunk.end
chunk.end:
  %chunk.more = icmp ult i64 %r.next, %m1
  br i1 %chunk.more, label %chunk, label %depth.end
depth.end:
  br i1 %is.last, label %item.end, label %depth
item.end:
  %i.more = icmp ult i64 %i.next, %end
  br i1 %i.more, label %item, label %done
done:
$amx.close$  ret void
}

)";

}  // namespace weft
