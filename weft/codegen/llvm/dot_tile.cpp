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
  bool raw;    // rhs is read as it lies, in rows along n %bk bytes apart; otherwise packed
  bool packs;  // and packed at %to, for the tiles that follow
  int rows;
  int panels;  // side by side, %bp and %cp bytes apart
  std::string ir;

  int vectors() const { return shape().vectors * panels; }

  const DotShape& shape() const { return writer.shape; }
  const DotForm& form() const { return writer.form; }

  template <class F>
  void each(F f) {
    for (int row = 0; row < rows; ++row)
      for (int v = 0; v < vectors(); ++v) f(cat(row, ".", v), row, v);
  }

  void open(const std::string& name) {
    append(ir, "define internal void @", name, "(");
    for (int row = 0; row < rows; row += rows_per_base) append(ir, "ptr %base.", row, ", ");
    append(ir, "i64 %am, i64 %am2, i64 %ak, ptr %b, i64 %bk, i64 %count, ptr %c, i64 %c.row, i1 %first",
           ", ptr %ahead, i64 %ahead.step, i64 %parts, i64 %jump", form().biased ? ", ptr %head" : "",
           packs ? ", ptr %to" : "", panels > 1 ? ", i64 %bp, i64 %cp" : "", ") noinline optsize {\nentry:\n");
    if (packs && form().by_panels) append(ir, "  %bk.ahead = shl i64 %bk, 5\n");
    append(ir, "  %c.row.2 = shl i64 %c.row, 1\n  %c.row.3 = mul i64 %c.row, 3\n");
  }

  // The pointer to a row of accumulators: by threes, as those of lhs.
  std::string at_row(const std::string& name, int row) {
    int base = row - row % rows_per_base, before = row == base ? row - rows_per_base : base;
    if (row == 0) return "%c";
    append(ir, "  ", name, row, " = getelementptr i8, ptr ", before ? cat(name, before) : "%c", ", i64 ",
           row == base       ? "%c.row.3"
           : row == base + 2 ? "%c.row.2"
                             : "%c.row",
           "\n");
    return cat(name, row);
  }

  // The pointers to vectors of accumulators, row after row.
  template <class F>
  void each_at(const std::string& name, F f) {
    std::string base;
    each([&](const std::string& at, int row, int v) {
      if (v == 0) base = at_row(name, row);
      std::string pointer = name + at, from = base;
      if (int panel = v / shape().vectors) {
        from = pointer + ".panel";
        append(ir, "  ", pointer, ".move = mul i64 %cp, ", panel, "\n  ", from, " = getelementptr i8, ptr %c, i64 ",
               pointer, ".move\n");
      }
      append(ir, "  ", pointer, " = getelementptr i8, ptr ", from, ", i64 ",
             v % shape().vectors * shape().lanes * shape().size, "\n");
      f(at, v, pointer);
    });
  }

  void resume() {
    bool headed = form().biased && !raw;
    if (headed) load_heads();
    append(ir, "  br i1 %first, label %start, label %resume\nresume:\n");
    each_at("%at.", [&](const std::string& at, int v, const std::string& from) {
      append(ir, "  %old.", at, " = load ", writer.vector(), ", ptr ", from, ", align ", shape().size, "\n");
      if (headed) append(ir, "  %less.old.", at, " = add ", writer.vector(), " %old.", at, ", %less.", v, "\n");
    });
    if (form().by_panels) fetch_sums();
    append(ir, "  br label %start\nstart:\n");
    each([&](const std::string& at, int, int v) {
      append(ir, "  %start.", at, " = phi ", writer.vector(), " [ ", headed ? cat("%less.", v) : "zeroinitializer",
             ", %entry ], [ ", headed ? "%less.old." : "%old.", at, ", %resume ]\n");
    });
    // No instruction, but LLVM does not see through it: it would flip one unit and spread that by another instruction.
    if (form().biased)
      append(ir, "  %flip = call ", writer.units(), " asm \"\", \"=v,0\"(", writer.units(), " splat (i32 ", 0x80808080u,
             "))\n");
    append(ir, "  %empty = icmp eq i64 %count, 0\n  br i1 %empty, label %finish, label %step\n");
  }

  // The cache lines of `bytes` from `first` bytes after `base` on.
  void fetch_lines(const std::string& name, const std::string& base, int first, int bytes, int level) {
    for (int i = 0; i < bytes; i += 64) {
      append(ir, "  ", name, ".", i, " = getelementptr i8, ptr ", base, ", i64 ", first + i, "\n");
      writer.prefetch(ir, cat(name, ".", i), level);
    }
  }

  // Those of the next tile, which many others came between.
  void fetch_sums() {
    append(ir, "  %sums.bytes = mul i64 %c.row, ", rows, "\n  %sums.0 = getelementptr i8, ptr %c, i64 %sums.bytes\n");
    for (int row = 0; row < rows; ++row) {
      std::string at = cat("%sums.", row);
      fetch_lines(at, at, 0, shape().width * shape().size, 2);
      append(ir, "  %sums.", row + 1, " = getelementptr i8, ptr ", at, ", i64 %c.row\n");
    }
  }

  // What sums are too large by, less than zero.
  void load_heads() {
    for (int v = 0; v < vectors(); ++v) {
      std::string base = "%head";
      if (int panel = v / shape().vectors) {
        base = cat("%head.panel.", v);
        append(ir, "  ", base, ".move = mul i64 %bp, ", panel, "\n  ", base, " = getelementptr i8, ptr %head, i64 ",
               base, ".move\n");
      }
      append(ir, "  %head.at.", v, " = getelementptr i8, ptr ", base, ", i64 ",
             v % shape().vectors * shape().lanes * shape().size, "\n  %head.", v, " = load ", writer.vector(),
             ", ptr %head.at.", v, ", align ", shape().size, "\n  %less.", v, " = sub ", writer.vector(),
             " zeroinitializer, %head.", v, "\n");
    }
  }

  void step() {
    append(ir, "step:\n  %left = phi i64 [ %count, %start ], [ %left.next, %step ], [ %count, %part ]\n",
           "  %parts.left = phi i64 [ %parts, %start ], [ %parts.left, %step ], [ %parts.next, %part ]\n",
           "  %pb = phi ptr [ %b, %start ], [ %pb.next, %step ], [ %pb.next, %part ]\n",
           packs ? "  %pt = phi ptr [ %to, %start ], [ %pt.next, %step ], [ %pt.next, %part ]\n" : "",
           "  %ahead.0 = phi ptr [ %ahead, %start ], [ %ahead.next, %step ], [ %ahead.next, %part ]\n");
    for (int row = 0; row < rows; row += rows_per_base)
      append(ir, "  %p.", row, " = phi ptr [ %base.", row, ", %start ], [ %p.", row, ".next, %step ], [ %p.", row,
             ".jump, %part ]\n");
    each([&](const std::string& at, int, int) {
      append(ir, "  %sum.", at, " = phi ", writer.vector(), " [ %start.", at, ", %start ], [ %next.", at,
             ", %step ], [ %next.", at, ", %part ]\n");
    });
    for (int v = 0; v < vectors() && raw && form().biased; ++v)
      append(ir, "  %bias.", v, " = phi ", writer.vector(), " [ zeroinitializer, %start ], [ %bias.next.", v,
             ", %step ], [ %bias.next.", v, ", %part ]\n");
    if (packs && form().by_panels)
      prefetch_rows();
    else if (panels == 1 && !form().by_panels)
      prefetch();
    std::vector<std::string> b = load_rhs();
    if (packs) store_rhs(b);
    for (int row = 0; row < rows; ++row) multiply_row(row, b);
    for (int row = 0; row < rows; row += rows_per_base)
      append(ir, "  %p.", row, ".next = getelementptr i8, ptr %p.", row, ", i64 %ak\n");
    std::string step = "%bk";
    if (raw && form().group > 1) append(ir, "  ", step = "%bk.group", " = mul i64 %bk, ", form().group, "\n");
    append(ir, "  %pb.next = getelementptr i8, ptr %pb, i64 ", step,
           "\n  %ahead.next = getelementptr i8, ptr %ahead.0, i64 %ahead.step\n  %left.next = add i64 %left, -1\n",
           "  %more = icmp ne i64 %left.next, 0\n  br i1 %more, label %step, label %part\n");
    // Elements of lhs along k go on evenly within parts.
    append(ir, "part:\n  %parts.next = add i64 %parts.left, -1\n  %parts.more = icmp ne i64 %parts.next, 0\n");
    for (int row = 0; row < rows; row += rows_per_base)
      append(ir, "  %p.", row, ".jump = getelementptr i8, ptr %p.", row, ".next, i64 %jump\n");
    append(ir, "  br i1 %parts.more, label %step, label %finish\n");
  }

  // What is read once is too short a piece of memory, or read too fast, for the CPU to fetch it in time by itself.
  // Beside what is packed now lies what will be next, a whole panel later: the second-level cache keeps it.
  void prefetch() {
    int group = raw ? form().group : 1;
    int bytes = shape().width * (raw ? static_cast<int>(size_of(form().rhs)) : shape().size);
    std::string base = packs ? "%pb" : "%ahead.0";
    for (int j = 0; j < group; ++j) {
      fetch_lines(cat("%ahead.", j), base, packs ? bytes : 0, bytes, packs ? 2 : 1);
      append(ir, "  %ahead.", j + 1, " = getelementptr i8, ptr ", base, ", i64 %bk\n");
      base = cat("%ahead.", j + 1);
    }
  }

  // Rows of rhs some steps ahead: those that lie pages apart would not stay until the panel beside is packed.
  void prefetch_rows() {
    append(ir, "  %pb.ahead = getelementptr i8, ptr %pb, i64 %bk.ahead\n");
    fetch_lines("%pb.ahead", "%pb.ahead", 0, shape().width * static_cast<int>(size_of(form().rhs)), 2);
  }

  // Vectors of units, as many as a row of the tile has.
  std::vector<std::string> load_rhs() {
    std::vector<std::string> b;
    for (int panel = 0; panel < panels; ++panel) {
      std::string base = "%pb";
      if (panel) {
        append(ir, "  %pb.panel.", panel, " = getelementptr i8, ptr %pb", panel > 1 ? cat(".panel.", panel - 1) : "",
               ", i64 %bp\n");
        append(base, ".panel.", panel);
      }
      if (raw) {
        for (std::string& v : writer.load_rows(ir, cat("%b.", panel), base)) b.push_back(std::move(v));
      } else
        for (int v = 0; v < shape().vectors; ++v) b.push_back(load(cat("%b.", panel, ".", v), base, v));
    }
    if (raw && form().biased)
      for (int v = 0; v < vectors(); ++v)
        ir += writer.multiply_add(cat("%bias.next.", v), "%flip", b[static_cast<size_t>(v)], cat("%bias.", v));
    return b;
  }

  void store_rhs(const std::vector<std::string>& b) {
    for (int v = 0; v < vectors(); ++v)
      append(ir, "  %pt.", v, " = getelementptr i8, ptr %pt, i64 ", v * shape().lanes * shape().size, "\n  store ",
             writer.units(), " ", b[static_cast<size_t>(v)], ", ptr %pt.", v, ", align ", shape().lanes * shape().size,
             "\n");
    append(ir, "  %pt.next = getelementptr i8, ptr %pt, i64 ", shape().width * shape().size, "\n");
  }

  std::string load(const std::string& name, const std::string& base, int v) {
    append(ir, "  ", name, ".at = getelementptr i8, ptr ", base, ", i64 ", v * shape().lanes * shape().size, "\n  ",
           name, " = load ", writer.units(), ", ptr ", name, ".at, align ", size_of(form().packed), "\n");
    return name;
  }

  void multiply_row(int row, const std::vector<std::string>& b) {
    std::string base = cat("%p.", row - row % rows_per_base), pointer = base;
    if (int within = row % rows_per_base) {
      pointer = cat("%pa.", row);
      append(ir, "  ", pointer, " = getelementptr i8, ptr ", base, ", i64 ", within == 1 ? "%am" : "%am2", "\n");
    }
    std::string value = cat("%a.", row), type = writer.units();
    append(ir, "  ", value, " = load ", writer.unit(), ", ptr ", pointer, ", align ", size_of(form().packed), "\n");
    append(ir, "  %one.", row, " = insertelement ", type, " poison, ", writer.unit(), " ", value, ", i64 0\n  %all.",
           row, " = shufflevector ", type, " %one.", row, ", ", type, " poison, <", shape().lanes,
           " x i32> zeroinitializer\n");
    // Plus 128 in each byte, for as little as the load alone.
    if (form().biased) append(ir, "  %flip.", row, " = xor ", type, " %all.", row, ", %flip\n");
    for (int v = 0; v < vectors(); ++v)
      ir += writer.multiply_add(cat("%next.", row, ".", v), cat(form().biased ? "%flip." : "%all.", row),
                                b[static_cast<size_t>(v)], cat("%sum.", row, ".", v));
  }

  void finish() {
    append(ir, "finish:\n");
    each([&](const std::string& at, int, int) {
      append(ir, "  %end.", at, " = phi ", writer.vector(), " [ %start.", at, ", %start ], [ %next.", at,
             ", %part ]\n");
    });
    bool biased = raw && form().biased;
    for (int v = 0; v < vectors() && biased; ++v)
      append(ir, "  %bias.end.", v, " = phi ", writer.vector(), " [ zeroinitializer, %start ], [ %bias.next.", v,
             ", %part ]\n");
    each_at("%to.", [&](const std::string& at, int v, const std::string& to) {
      if (biased) append(ir, "  %less.", at, " = sub ", writer.vector(), " %end.", at, ", %bias.end.", v, "\n");
      append(ir, "  store ", writer.vector(), biased ? " %less." : " %end.", at, ", ptr ", to, ", align ", shape().size,
             "\n");
    });
    for (int v = 0; v < vectors() && biased && packs; ++v)
      append(ir, "  %head.at.", v, " = getelementptr i8, ptr %head, i64 ", v * shape().lanes * shape().size,
             "\n  store ", writer.vector(), " %bias.end.", v, ", ptr %head.at.", v, ", align ",
             shape().lanes * shape().size, "\n");
    append(ir, "  ret void\n}\n\n");
  }
};

}  // namespace

std::string DotWriter::tile(bool raw, int rows, int panels, bool packs) {
  raw &= !form.rhs_as_is() || packs;
  std::string name = cat("weft.tile.", form.name(), raw ? cat(".", weft::name(form.rhs)) : "", packs ? ".packs." : ".",
                         rows, "x", panels);
  if (!first(name)) return name;
  Tile tile{*this, raw, packs, rows, panels, {}};
  tile.open(name);
  tile.resume();
  tile.step();
  tile.finish();
  emitter.functions_ += tile.ir;
  return name;
}

// A whole row of the panel at once: narrow elements of a vector fill a part of a register only.
std::vector<std::string> DotWriter::load_rows(std::string& ir, const std::string& name, const std::string& base) const {
  int lanes = form.group > 1 ? shape.width : shape.lanes;
  std::vector<std::string> b;
  for (int v = 0; v < shape.width / lanes; ++v) {
    std::vector<std::string> group;
    for (int j = 0; j < form.group; ++j) {
      std::string value = cat(name, ".", v, ".", j), row = base;
      if (j) {
        row = cat(name, ".row.", j);
        append(ir, "  ", row, " = getelementptr i8, ptr ", j > 1 ? cat(name, ".row.", j - 1) : base, ", i64 %bk\n");
      }
      append(ir, "  ", value, ".at = getelementptr i8, ptr ", row, ", i64 ", v * lanes * int(size_of(form.rhs)), "\n  ",
             value, " = load ", vector_type(form.rhs, lanes), ", ptr ", value, ".at, align ", size_of(form.rhs), "\n");
      group.push_back(convert(ir, value, value, form.rhs, lanes));
    }
    if (form.group == 1) {
      b.push_back(group[0]);
      continue;
    }
    std::string all = interleave(ir, name, group, lanes);
    for (int part = 0; part < shape.vectors; ++part) {
      std::string order;
      for (int i = 0; i < shape.lanes; ++i) append(order, i ? ", " : "", "i32 ", part * shape.lanes + i);
      append(ir, "  ", name, ".part.", part, " = shufflevector ", units(lanes), " ", all, ", ", units(lanes),
             " poison, <", shape.lanes, " x i32> <", order, ">\n");
      b.push_back(cat(name, ".part.", part));
    }
  }
  return b;
}

std::string DotWriter::call_tile(const std::string& name, int rows, const std::string& rest,
                                 const std::string& prefix) {
  std::string ir, call = cat("  call void @", name, "(ptr %a");
  for (int row = rows_per_base; row < rows; row += rows_per_base) {
    append(ir, "  %a.", prefix, name, ".", row, " = getelementptr i8, ptr %a, i64 %la.m", row, "\n");
    append(call, ", ptr %a.", prefix, name, ".", row);
  }
  return cat(ir, call, ", i64 %la.m, i64 %la.m2, i64 %la.k, ", rest, ")\n");
}

std::string DotWriter::call_small_tile(const std::string& name, const std::string& rest) {
  static_assert(small_rows == 4 && rows_per_base == 3);
  constexpr std::string_view text = R"(  %$c$.2 = icmp uge i64 %r.left, 2
  %$c$.3 = icmp uge i64 %r.left, 3
  %$c$.4 = icmp uge i64 %r.left, 4
  %$c$.at.1 = select i1 %$c$.2, i64 %la.m, i64 0
  %$c$.at.2 = select i1 %$c$.3, i64 %la.m2, i64 %$c$.at.1
  %$c$.at.3 = select i1 %$c$.4, i64 %la.m3, i64 0
  %$c$.a = getelementptr i8, ptr %a, i64 %$c$.at.3
  call void @$c$(ptr %a, ptr %$c$.a, i64 %$c$.at.1, i64 %$c$.at.2, i64 %la.k, $rest$)
)";
  return fill(text, {{"c", name}, {"rest", rest}});
}

}  // namespace weft
