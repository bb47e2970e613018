// Packing: a panel of rhs as rows of units, one after the other. The same function packs columns of lhs.
#include <algorithm>

#include "weft/codegen/llvm/dot_shape.h"
#include "weft/core/error.h"

namespace weft {
namespace {

// The head: which way through. Columns past %cols hold anything but are never stored; they are
// filled so that no trap value and no denormal waits there.
constexpr std::string_view pack_open_text =
    R"(define internal void @$name$(ptr %s, i64 %sk, i64 %sn, i64 %count, i64 %cols, ptr %d, i64 %dr) noinline optsize {
entry:
  %empty = icmp eq i64 %count, 0
  br i1 %empty, label %done, label %choose
choose:
  %is.row = icmp eq i64 %sn, $from.size$
  %is.full = icmp eq i64 %cols, $width$
  %by.row = and i1 %is.row, $rows.when$
  %groups = udiv i64 %count, $group$
  %grouped = mul i64 %groups, $group$
  %some.groups = icmp ne i64 %groups, 0
  %row.some = and i1 %by.row, %some.groups
  br i1 %row.some, label %row.open, label %try.column
try.column:
  %is.column = icmp eq i64 %sk, $from.size$
  %whole = and i64 %count, -$block$
  %some = icmp ne i64 %whole, 0
  %by.column = and i1 %is.column, %some
  br i1 %by.column, label %column.open, label %each.open
)";

constexpr std::string_view each_text = R"(each.open:
  %k.first = phi i64 [ 0, %try.column ], [ %whole, %column.done ], $rows.done$
  %each.none = icmp eq i64 %k.first, %count
  br i1 %each.none, label %done, label %each.k
each.k:
  %k = phi i64 [ %k.first, %each.open ], [ %k.next, %each.k.end ]
  %k.offset = mul i64 %k, %sk
  %k.s = getelementptr i8, ptr %s, i64 %k.offset
  %k.unit = udiv i64 %k, $group$
  %k.whole = mul i64 %k.unit, $group$
  %k.in = sub i64 %k, %k.whole
  %k.to = mul i64 %k.unit, %dr
  %k.row = getelementptr i8, ptr %d, i64 %k.to
  %k.d = getelementptr $to$, ptr %k.row, i64 %k.in
  %k.opens = icmp eq i64 %k.in, 0
  br i1 %k.opens, label %each.zero, label %each.some
each.zero:
$zero$  br label %each.some
each.some:
  br label %each.n
each.n:
  %n = phi i64 [ 0, %each.some ], [ %n.next, %each.n ]
  %n.offset = mul i64 %n, %sn
  %n.s = getelementptr i8, ptr %k.s, i64 %n.offset
  %x = load $from$, ptr %n.s, align $from.size$
$convert$  %n.unit = mul i64 %n, $group$
  %n.d = getelementptr $to$, ptr %k.d, i64 %n.unit
  store $to$ $x$, ptr %n.d, align $to.size$
  %n.next = add i64 %n, 1
  %n.more = icmp ne i64 %n.next, %cols
  br i1 %n.more, label %each.n, label %each.k.end
each.k.end:
  %k.next = add i64 %k, 1
  %k.more = icmp ne i64 %k.next, %count
  br i1 %k.more, label %each.k, label %done
done:
  ret void
}

)";

// Work item = batch * panels + panel.
constexpr std::string_view pack_driver_text =
    R"(define $linkage$ void @$name$(ptr %d, i64 %begin, i64 %end, ptr %to) noinline $effort$ {
entry:
$fields$  %n.up = add i64 %n, $width.less$
  %panels = udiv i64 %n.up, $width$
  %k.up = add i64 %k, $group.less$
  %k.units = udiv i64 %k.up, $group$
  %k.rows = add i64 %k.units, $head.rows$
  %panel.bytes = mul i64 %k.rows, $row.bytes$
  %some = icmp ult i64 %begin, %end
  br i1 %some, label %item, label %done
item:
  %i = phi i64 [ %begin, %entry ], [ %i.next, %item.packed ]
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
  %units = getelementptr i8, ptr %at, i64 $head.bytes$
  br label %part
part:
  %kq = phi i64 [ 0, %item.end ], [ %kq.next, %part ]
  %part.from = phi ptr [ %from, %item.end ], [ %part.from.next, %part ]
  %kq.left = sub i64 %k, %kq
  %kq.count = call i64 @llvm.umin.i64(i64 %kq.left, i64 %kp)
  %part.at = mul i64 %kq, $row.bytes$
  %part.to = getelementptr i8, ptr %units, i64 %part.at
  call void @$pack$(ptr %part.from, i64 %bk, i64 %bn, i64 %kq.count, i64 %cols, ptr %part.to, i64 $row.bytes$)
  %part.from.next = getelementptr i8, ptr %part.from, i64 %kj
  %kq.next = add i64 %kq, %kq.count
  %kq.more = icmp ult i64 %kq.next, %k
  br i1 %kq.more, label %part, label %item.packed
item.packed:
$head$  %i.next = add i64 %i, 1
  %i.more = icmp ult i64 %i.next, %end
  br i1 %i.more, label %item, label %done
done:
  ret void
}

)";

// Rows are fetched four ahead: their pages have to be found by then.
constexpr std::string_view panels_text =
    R"(define internal void @$name$(ptr %s, i64 %sk, i64 %count, i64 %panels, ptr %d, i64 %slot) noinline optsize {
entry:
  %ahead = shl i64 %sk, 2
  %some.rows = icmp ne i64 %count, 0
  %some.panels = icmp ne i64 %panels, 0
  %some = and i1 %some.rows, %some.panels
  br i1 %some, label %row, label %done
row:
  %left = phi i64 [ %count, %entry ], [ %left.next, %row.end ]
  %row.s = phi ptr [ %s, %entry ], [ %row.s.next, %row.end ]
  %row.d = phi ptr [ %d, %entry ], [ %row.d.next, %row.end ]
  br label %panel
panel:
  %p = phi i64 [ %panels, %row ], [ %p.next, %panel ]
  %p.s = phi ptr [ %row.s, %row ], [ %p.s.next, %panel ]
  %p.d = phi ptr [ %row.d, %row ], [ %p.d.next, %panel ]
  %p.ahead = getelementptr i8, ptr %p.s, i64 %ahead
$copies$  %p.s.next = getelementptr i8, ptr %p.s, i64 $row$
  %p.d.next = getelementptr i8, ptr %p.d, i64 %slot
  %p.next = add i64 %p, -1
  %p.more = icmp ne i64 %p.next, 0
  br i1 %p.more, label %panel, label %row.end
row.end:
  %row.s.next = getelementptr i8, ptr %row.s, i64 %sk
  %row.d.next = getelementptr i8, ptr %row.d, i64 $row$
  %left.next = add i64 %left, -1
  %more = icmp ne i64 %left.next, 0
  br i1 %more, label %row, label %done
done:
  ret void
}

)";

struct Pack {
  DotWriter& writer;
  DType from;
  bool biases;
  std::string ir;

  const DotShape& shape() const { return writer.shape; }
  int group() const { return writer.form.group; }
  // Elements of a row loaded at once: of narrow ones the whole row.
  int row_lanes() const { return group() > 1 ? shape().width : shape().lanes; }
  std::string loaded() const { return vector_type(from, row_lanes()); }
  int from_size() const { return static_cast<int>(size_of(from)); }
  // Elements a side of the blocks that are transposed: larger ones take more shuffles an element
  // and twice the code.
  int block() const { return std::min(shape().lanes, 8); }
  // Targets without masks, or without them for small elements, take the slow way for the last
  // columns.
  bool has_masks() const {
    return writer.target().avx512 || (writer.target().vector_bytes == 32 && size_of(from) >= 4);
  }

  std::string converted(std::string& text, const std::string& value, int lanes) const {
    return writer.convert(text, value, value, from, lanes, biases);
  }

  std::string lanes_constant(int start) const {
    std::string out = "<";
    for (int i = 0; i < row_lanes(); ++i) append(out, i ? ", " : "", "i64 ", start + i);
    return out + ">";
  }

  void by_row() {
    int lanes = row_lanes();
    append(ir, "row.open:\n");
    if (!has_masks()) return rows("row", false);
    append(ir, "  br i1 %is.full, label %full.open, label %part.open\npart.open:\n  %cols.one = insertelement <", lanes,
           " x i64> poison, i64 %cols, i64 0\n  %cols.all = shufflevector <", lanes, " x i64> %cols.one, <", lanes,
           " x i64> poison, <", lanes, " x i32> zeroinitializer\n");
    for (int v = 0; v < shape().width / lanes; ++v)
      append(ir, "  %mask.", v, " = icmp ult <", lanes, " x i64> ", lanes_constant(v * lanes), ", %cols.all\n");
    writer.declare(cat("declare ", loaded(), " @llvm.masked.load.v", lanes, mangled(), ".p0(ptr, <", lanes, " x i1>, ",
                       loaded(), ")\n"));
    rows("part", true);
    append(ir, "full.open:\n");
    rows("full", false);
  }

  // The loop over rows. Whole ones tell the CPU of the panel beside, which is packed next: its pieces lie too far apart
  // to be foreseen.
  void rows(const std::string& at, bool masked) {
    int lanes = row_lanes(), bytes = shape().width * from_size();
    append(ir, "  br label %", at, "\n", at, ":\n  %", at, ".left = phi i64 [ %groups, %", at, ".open ], [ %", at,
           ".next, %", at, " ]\n  %", at, ".s.0 = phi ptr [ %s, %", at, ".open ], [ %", at, ".s.", group(), ", %", at,
           " ]\n  %", at, ".d = phi ptr [ %d, %", at, ".open ], [ %", at, ".d.next, %", at, " ]\n");
    for (int j = 0; j < group(); ++j) {
      append(ir, "  %", at, ".s.", j + 1, " = getelementptr i8, ptr %", at, ".s.", j, ", i64 %sk\n");
      for (int i = 0; i < bytes && !masked; i += 64) {
        std::string beside = cat("%", at, ".beside.", j, ".", i);
        append(ir, "  ", beside, " = getelementptr i8, ptr %", at, ".s.", j, ", i64 ", bytes + i, "\n");
        writer.prefetch(ir, beside, 2);
      }
    }
    for (int v = 0; v < shape().width / lanes; ++v) {
      std::vector<std::string> loads;
      for (int j = 0; j < group(); ++j) loads.push_back(load_row(at, masked, v, j));
      std::string value = group() > 1 ? writer.interleave(ir, cat("%", at, ".", v), loads, lanes) : loads[0];
      append(ir, "  %", at, ".d.", v, " = getelementptr i8, ptr %", at, ".d, i64 ", v * lanes * shape().size,
             "\n  store ", writer.units(lanes), " ", value, ", ptr %", at, ".d.", v, ", align ",
             shape().lanes * shape().size, "\n");
    }
    append(ir, "  %", at, ".d.next = getelementptr i8, ptr %", at, ".d, i64 %dr\n  %", at, ".next = add i64 %", at,
           ".left, -1\n  %", at, ".more = icmp ne i64 %", at, ".next, 0\n  br i1 %", at, ".more, label %", at,
           ", label %each.open\n");
  }

  std::string load_row(const std::string& at, bool masked, int v, int j) {
    int lanes = row_lanes();
    std::string value = cat("%", at, ".x.", v, ".", j), pointer = value + ".at";
    append(ir, "  ", pointer, " = getelementptr i8, ptr %", at, ".s.", j, ", i64 ", v * lanes * from_size(), "\n");
    if (masked)
      append(ir, "  ", value, " = call ", loaded(), " @llvm.masked.load.v", lanes, mangled(), ".p0(ptr align ",
             from_size(), " ", pointer, ", <", lanes, " x i1> %mask.", v, ", ", loaded(), " zeroinitializer)\n");
    else
      append(ir, "  ", value, " = load ", loaded(), ", ptr ", pointer, ", align ", from_size(), "\n");
    return converted(ir, value, lanes);
  }

  std::string mangled() const {
    std::string type = llvm_type(from);
    return type == "float" ? "f32" : type == "double" ? "f64" : type;
  }

  // Square blocks: vectors of k are loaded and transposed in registers.
  void by_column() {
    int lanes = block();
    append(ir, "column.open:\n  %last = sub i64 %cols, 1\n  br label %column.v\ncolumn.v:\n",
           "  %v = phi i64 [ 0, %column.open ], [ %v.next, %column.v.end ]\n");
    writer.declare("declare i64 @llvm.umin.i64(i64, i64)\n");
    for (int i = 0; i < lanes; ++i)
      append(ir, "  %cn.", i, " = add i64 %v, ", i, "\n  %cm.", i, " = call i64 @llvm.umin.i64(i64 %cn.", i,
             ", i64 %last)\n  %co.", i, " = mul i64 %cm.", i, ", %sn\n  %cs.", i,
             " = getelementptr i8, ptr %s, i64 %co.", i, "\n");
    append(ir, "  %cd = getelementptr ", writer.unit(), ", ptr %d, i64 %v\n  br label %column\ncolumn:\n",
           "  %ck = phi i64 [ 0, %column.v ], [ %ck.next, %column ]\n  %cku = udiv i64 %ck, ", group(),
           "\n  %cko = mul i64 %cku, %dr\n  %cdk.0 = getelementptr i8, ptr %cd, i64 %cko\n");
    std::vector<std::string> rows;
    for (int i = 0; i < lanes; ++i) {
      std::string value = cat("%cx.", i);
      append(ir, "  %cp.", i, " = getelementptr ", llvm_type(from), ", ptr %cs.", i, ", i64 %ck\n  ", value, " = load ",
             vector_type(from, lanes * group()), ", ptr %cp.", i, ", align ", from_size(), "\n");
      rows.push_back(writer.bitcast_units(ir, value, converted(ir, value, lanes * group()), lanes));
    }
    for (int s = lanes / 2; s > 0; s /= 2) exchange(rows, s);
    for (int i = 0; i < lanes; ++i)
      append(ir, "  store ", writer.units(lanes), " ", rows[static_cast<size_t>(i)], ", ptr %cdk.", i, ", align ",
             lanes * shape().size, "\n  %cdk.", i + 1, " = getelementptr i8, ptr %cdk.", i, ", i64 %dr\n");
    append(ir, "  %ck.next = add i64 %ck, ", lanes * group(), "\n  %ck.more = icmp ult i64 %ck.next, %whole\n",
           "  br i1 %ck.more, label %column, label %column.v.end\ncolumn.v.end:\n  %v.next = add "
           "i64 %v, ",
           lanes, "\n  %v.more = icmp ult i64 %v.next, ", shape().width,
           "\n  br i1 %v.more, label %column.v, label %column.done\n", "column.done:\n  br label %each.open\n");
  }

  // Exchanges the off-diagonal halves of each 2s x 2s block.
  void exchange(std::vector<std::string>& rows, int s) {
    int lanes = block();
    std::string low = "<", high = "<";
    for (int j = 0; j < lanes; ++j) {
      append(low, j ? ", " : "", "i32 ", j & s ? lanes + j - s : j);
      append(high, j ? ", " : "", "i32 ", j & s ? lanes + j : j + s);
    }
    std::string masks[2] = {low + ">", high + ">"};
    for (int i = 0; i < lanes; ++i) {
      if (i & s) continue;
      std::string a = rows[static_cast<size_t>(i)], b = rows[static_cast<size_t>(i + s)];
      for (int half = 0; half < 2; ++half) {
        std::string to = cat("%ct.", s, ".", i + half * s);
        append(ir, "  ", to, " = shufflevector ", writer.units(lanes), " ", a, ", ", writer.units(lanes), " ", b, ", <",
               lanes, " x i32> ", masks[half], "\n");
        rows[static_cast<size_t>(i + half * s)] = to;
      }
    }
  }

  void each() {
    std::string zero, convert;
    for (int v = 0; v < shape().vectors; ++v)
      append(zero, "  %k.d.", v, " = getelementptr i8, ptr %k.row, i64 ", v * shape().lanes * shape().size,
             "\n  store ", writer.vector(), " zeroinitializer, ptr %k.d.", v, ", align ", shape().lanes * shape().size,
             "\n");
    std::string x = converted(convert, "%x", 0);
    ir +=
        fill(each_text, {{"group", cat(group())},
                         {"rows.done", has_masks() ? "[ %grouped, %part ], [ %grouped, %full ]" : "[ %grouped, %row ]"},
                         {"zero", zero},
                         {"from", llvm_type(from)},
                         {"from.size", cat(from_size())},
                         {"to", llvm_type(writer.form.packed)},
                         {"to.size", cat(size_of(writer.form.packed))},
                         {"convert", convert},
                         {"x", x}});
  }
};

}  // namespace

std::string DotWriter::pack(DType from, bool biases) {
  std::string name = cat("weft.pack.", weft::name(from), ".", form.name(), biases ? ".plus" : "");
  if (!first(name)) return name;
  Pack pack{*this, from, biases, {}};
  pack.ir += fill(pack_open_text, {{"name", name},
                                   {"from.size", cat(pack.from_size())},
                                   {"width", cat(shape.width)},
                                   {"group", cat(form.group)},
                                   {"block", cat(pack.block() * form.group)},
                                   {"rows.when", pack.has_masks() ? "true" : "%is.full"}});
  pack.by_row();
  pack.by_column();
  pack.each();
  emitter.functions_ += pack.ir;
  return name;
}

std::string DotWriter::pack_panels() {
  check(form.rhs_as_is(), "panels that are packed together are of elements as they lie");
  std::string name = cat("weft.pack.panels.", form.name()), copies;
  if (!first(name)) return name;
  int row = shape.width * shape.size, vector_bytes = shape.lanes * shape.size;
  for (int i = 0; i < row; i += 64) {
    append(copies, "  %ahead.", i, " = getelementptr i8, ptr %p.ahead, i64 ", i, "\n");
    prefetch(copies, cat("%ahead.", i));
  }
  for (int i = 0; i < row; i += vector_bytes)
    append(copies, "  %from.", i, " = getelementptr i8, ptr %p.s, i64 ", i, "\n  %x.", i, " = load ", vector(),
           ", ptr %from.", i, ", align ", shape.size, "\n  %to.", i, " = getelementptr i8, ptr %p.d, i64 ", i,
           "\n  store ", vector(), " %x.", i, ", ptr %to.", i, ", align ", vector_bytes, "\n");
  emitter.functions_ += fill(panels_text, {{"name", name}, {"copies", copies}, {"row", cat(row)}});
  return name;
}

std::string DotWriter::pack_driver() {
  std::string name = cat("weft.dot.pack.", weft::name(form.rhs), ".", form.name());
  if (!first(name)) return name;
  if (emitter.library_.contains(name)) {
    declare(cat("declare hidden void @", name, "(ptr, i64, i64, ptr)\n"));
    return name;
  }
  int row_bytes = shape.width * shape.size;
  std::string head = head_rows() ? cat("  call void @", pack_head(), "(ptr %units, i64 %k.units, ptr %at)\n") : "";
  emitter.functions_ += fill(pack_driver_text, {{"name", name},
                                                {"linkage", linkage()},
                                                {"effort", effort()},
                                                {"fields", load_fields()},
                                                {"pack", pack(form.rhs)},
                                                {"width", cat(shape.width)},
                                                {"width.less", cat(shape.width - 1)},
                                                {"group", cat(form.group)},
                                                {"group.less", cat(form.group - 1)},
                                                {"head", head},
                                                {"head.rows", cat(head_rows())},
                                                {"head.bytes", cat(head_rows() * row_bytes)},
                                                {"row.bytes", cat(row_bytes)}});
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  return name;
}

}  // namespace weft
