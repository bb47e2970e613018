// Packing of lhs: a block of its rows as units. Rows that lie along k stay rows, kept apart so that those of a tile do
// not compete for one set of the first-level cache; others become columns, side by side.
#include "weft/codegen/llvm/dot_shape.h"

namespace weft {
namespace {

constexpr std::string_view lhs_open_text =
    R"(define internal void @$name$(ptr %s, i64 %sm, i64 %sk, i64 %rows, i64 %count, ptr %d$more$) noinline optsize {
entry:
  %whole = and i64 %count, -$step$
  %rest = sub i64 %count, %whole
  %is.rest = icmp ne i64 %rest, 0
  %is.some = icmp ne i64 %whole, 0
  %is.row = icmp eq i64 %sk, $from.size$
$mask$  br i1 %is.row, label %row, label %panel
row:
  %m = phi i64 [ 0, %entry ], [ %m.next, %row.end ]
  %m.from = mul i64 %m, %sm
  %m.s = getelementptr i8, ptr %s, i64 %m.from
  %m.to = mul i64 %m, $row$
  %m.d = getelementptr i8, ptr %d, i64 %m.to
  br i1 %is.some, label %vector, label %tail
)";

constexpr std::string_view lhs_close_text = R"(row.end:
  %m.next = add i64 %m, 1
  %m.more = icmp ult i64 %m.next, %rows
  br i1 %m.more, label %row, label %done
$panel$done:
  ret void
}

)";

constexpr std::string_view columns_text = R"(panel:
  %p = phi i64 [ 0, %entry ], [ %p.next, %panel ]
  %p.from = mul i64 %p, %sm
  %p.s = getelementptr i8, ptr %s, i64 %p.from
  %p.to = mul i64 %p, $unit.size$
  %p.d = getelementptr i8, ptr %d, i64 %p.to
  %p.left = sub i64 %rows, %p
  %p.rows = call i64 @llvm.umin.i64(i64 %p.left, i64 $width$)
  call void @$pack$(ptr %p.s, i64 %sk, i64 %sm, i64 %count, i64 %p.rows, ptr %p.d, i64 $column$)
  %p.next = add i64 %p, $width$
  %p.more = icmp ult i64 %p.next, %rows
  br i1 %p.more, label %panel, label %done
)";

constexpr std::string_view head_text =
    R"(define internal void @$name$(ptr %s, i64 %count, ptr %head) noinline optsize {
entry:
  br label %step
step:
  %i = phi i64 [ 0, %entry ], [ %i.next, %add ]
$sums$  %more = icmp ult i64 %i, %count
  br i1 %more, label %add, label %done
add:
  %from = mul i64 %i, $row$
  %at = getelementptr i8, ptr %s, i64 %from
$steps$  %i.next = add i64 %i, 1
  br label %step
done:
$stores$  ret void
}

)";

// In each byte of a unit: what makes signed bytes unsigned.
const std::string bias = cat(0x80808080u);

// Rows along k: whole vectors, then the rest with zeros behind.
struct Rows {
  DotWriter& writer;
  std::string ir;

  DType from() const { return writer.form.lhs; }
  int lanes() const { return writer.shape.lanes; }
  int step() const { return lanes() * writer.form.group; }
  int from_size() const { return static_cast<int>(size_of(from())); }
  std::string loaded() const { return vector_type(from(), step()); }
  bool has_masks() const { return writer.target().avx512; }

  std::string mangled() const {
    std::string type = llvm_type(from());
    return cat("v", step(), type == "float" ? "f32" : type == "double" ? "f64" : type);
  }

  std::string mask() {
    if (!has_masks()) return {};
    std::string iota, count = cat(step()), type = cat("<", step(), " x i16>");
    for (int i = 0; i < step(); ++i) append(iota, i ? ", " : "", "i16 ", i);
    writer.declare(
        cat("declare ", loaded(), " @llvm.masked.load.", mangled(), ".p0(ptr, <", count, " x i1>, ", loaded(), ")\n"));
    return cat("  %rest.small = trunc i64 %rest to i16\n  %rest.one = insertelement ", type,
               " poison, i16 %rest.small, i64 0\n  %rest.all = shufflevector ", type, " %rest.one, ", type,
               " poison, <", count, " x i32> zeroinitializer\n  %mask = icmp ult ", type, " <", iota, ">, %rest.all\n");
  }

  std::string converted(const std::string& name, const std::string& value, int lanes) {
    return writer.convert(ir, name, value, from(), lanes, writer.form.packs_biased());
  }

  void store(const std::string& name, const std::string& value, const std::string& to) {
    std::string units = writer.bitcast_units(ir, name, converted(name, value, step()), lanes());
    append(ir, "  store ", writer.units(), " ", units, ", ptr ", to, ", align ", lanes() * writer.shape.size, "\n");
  }

  // The place in the packed row of element `k`, a multiple of a vector's.
  void place(const std::string& name, const std::string& k) {
    append(ir, "  ", name, ".from = getelementptr ", llvm_type(from()), ", ptr %m.s, i64 ", k, "\n  ", name,
           ".to = getelementptr ", llvm_type(writer.form.packed), ", ptr %m.d, i64 ", k, "\n");
  }

  void write() {
    append(ir, "vector:\n  %k = phi i64 [ 0, %row ], [ %k.next, %vector ]\n");
    place("%v", "%k");
    append(ir, "  %v = load ", loaded(), ", ptr %v.from, align ", from_size(), "\n");
    store("%v", "%v", "%v.to");
    // Of rows that lie pages apart the CPU does not foresee the beginning.
    if (writer.form.by_panels) writer.fetch(ir, "%v.from", "%sm");
    append(
        ir, "  %k.next = add i64 %k, ", step(), "\n  %k.more = icmp ult i64 %k.next, %whole\n",
        "  br i1 %k.more, label %vector, label %tail\ntail:\n  br i1 %is.rest, label %last, label %row.end\nlast:\n");
    place("%l", "%whole");
    if (has_masks()) {
      append(ir, "  %l = call ", loaded(), " @llvm.masked.load.", mangled(), ".p0(ptr align ", from_size(),
             " %l.from, <", step(), " x i1> %mask, ", loaded(), " zeroinitializer)\n");
      store("%l", "%l", "%l.to");
      append(ir, "  br label %row.end\n");
      return;
    }
    append(ir, "  store ", writer.units(), " zeroinitializer, ptr %l.to, align ", lanes() * writer.shape.size,
           "\n  br label %each\neach:\n  %e = phi i64 [ 0, %last ], [ %e.next, %each ]\n  %e.from = getelementptr ",
           llvm_type(from()), ", ptr %l.from, i64 %e\n  %x = load ", llvm_type(from()), ", ptr %e.from, align ",
           from_size(), "\n");
    std::string x = converted("%x", "%x", 0), type = llvm_type(writer.form.packed);
    append(ir, "  %e.to = getelementptr ", type, ", ptr %l.to, i64 %e\n  store ", type, " ", x, ", ptr %e.to\n",
           "  %e.next = add i64 %e, 1\n  %e.more = icmp ult i64 %e.next, %rest\n",
           "  br i1 %e.more, label %each, label %row.end\n");
  }
};

}  // namespace

std::string DotWriter::pack_lhs() {
  std::string name = cat("weft.lhs.", weft::name(form.lhs), ".", form.name());
  if (!first(name)) return name;
  std::string panels;
  if (form.by_panels)
    panels = cat("panel:\n  call void @", pack_lhs_panels(),
                 "(ptr %s, i64 %sm, i64 %sk, i64 %rows, i64 %count, ptr %d, i64 %high, i64 %panels, i64 %stride)\n",
                 "  br label %done\n");
  else
    panels = fill(columns_text, {{"unit.size", cat(shape.size)},
                                 {"width", cat(shape.width)},
                                 {"column", cat(shape.lhs_column)},
                                 {"pack", pack(form.lhs, form.packs_biased())}});
  Rows rows{*this, {}};
  std::string mask = rows.mask();
  rows.write();
  emitter.functions_ += fill(lhs_open_text, {{"name", name},
                                             {"step", cat(rows.step())},
                                             {"from.size", cat(size_of(form.lhs))},
                                             {"mask", mask},
                                             {"more", form.by_panels ? ", i64 %high, i64 %panels, i64 %stride" : ""},
                                             {"row", cat(shape.lhs_row)}});
  emitter.functions_ += rows.ir;
  emitter.functions_ += fill(lhs_close_text, {{"panel", panels}});
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  return name;
}

std::string DotWriter::pack_head() {
  std::string name = cat("weft.head.", form.name());
  if (!first(name)) return name;
  std::string sums, steps, stores;
  for (int v = 0; v < shape.vectors; ++v) {
    int offset = v * shape.lanes * shape.size;
    append(sums, "  %sum.", v, " = phi ", vector(), " [ zeroinitializer, %entry ], [ %next.", v, ", %add ]\n");
    append(steps, "  %at.", v, " = getelementptr i8, ptr %at, i64 ", offset, "\n  %x.", v, " = load ", units(),
           ", ptr %at.", v, ", align ", shape.lanes * shape.size, "\n",
           multiply_add(cat("%next.", v), cat("splat (i32 ", bias, ")"), cat("%x.", v), cat("%sum.", v)));
    append(stores, "  %to.", v, " = getelementptr i8, ptr %head, i64 ", offset, "\n  store ", vector(), " %sum.", v,
           ", ptr %to.", v, ", align ", shape.lanes * shape.size, "\n");
  }
  emitter.functions_ += fill(
      head_text,
      {{"name", name}, {"sums", sums}, {"row", cat(shape.width * shape.size)}, {"steps", steps}, {"stores", stores}});
  return name;
}

}  // namespace weft
