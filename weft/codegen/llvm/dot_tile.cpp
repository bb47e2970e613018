// The micro-kernel: a tile of accumulators in registers, one multiply-add per element and k.
//
// Rows share base pointers by threes, so that a row is an addressing mode: base, base + stride,
// base + 2 * stride. Bases and the doubled stride are arguments of a function that is not inlined:
// where LLVM sees how they are made, it turns the addresses of a step into one serial chain of
// additions, which takes as long as the multiply-adds.
#include <algorithm>
#include <map>
#include <utility>

#include "weft/codegen/llvm/dot_shape.h"
#include "weft/core/error.h"

namespace weft {
namespace {

// What goes from step to step: a name, its type, and what it begins as.
struct Carried {
  std::string name, type, begin;
};
using Values = std::map<std::string, std::string>;

// A block that leads to another one, and the values that are there.
struct Edge {
  std::string block;
  Values values;
};

// How steps find lhs: wherever it lies; or, several at once, along k, or with rows side by side, as in its panels.
enum class Way : uint8_t { any, along, across };
constexpr int unrolled = 4;

struct Tile {
  DotWriter& writer;
  bool raw;    // rhs is read as it lies, in rows along n %bk bytes apart; otherwise packed
  bool packs;  // and packed at %to, for the tiles that follow
  bool half;   // of columns that fill no more than half of a row of the panel, what else is in it left out
  int rows;
  int panels;  // side by side, %bp and %cp bytes apart
  std::string ir;
  std::vector<Carried> carried = {};

  int vectors() const { return shape().vectors * panels / (half ? 2 : 1); }

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
    if (packs) append(ir, "  %bk.ahead = shl i64 %bk, 5\n");
    append(ir, "  %c.row.2 = shl i64 %c.row, 1\n  %c.row.3 = mul i64 %c.row, 3\n");
    append(ir, "  %bk.step = mul i64 %bk, ", raw ? form().group : 1, "\n");
    for (int i = 1; i <= (is_unrolled() ? unrolled : 1); ++i)
      append(ir, "  %ak.", i, " = mul i64 %ak, ", i, "\n  %ahead.step.", i, " = mul i64 %ahead.step, ", i, "\n");
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
    if (panels == 1) fetch_own_sums();
    append(ir, "  br i1 %first, label %start, label %resume\nresume:\n");
    each_at("%at.", [&](const std::string& at, int v, const std::string& from) {
      append(ir, "  %old.", at, " = load ", writer.vector(), ", ptr ", from, ", align ", shape().size, "\n");
      if (headed) append(ir, "  %less.old.", at, " = add ", writer.vector(), " %old.", at, ", %less.", v, "\n");
    });
    if (form().by_panels) fetch_sums();
    append(ir, "  br label %start\nstart:\n");
    each([&](const std::string& at, int, int v) {
      append(ir, "  %start.", at, " = phi ", writer.vector(), " [ ", headed ? cat("%less.", v) : "zeroinitializer",
             panels == 1 ? ", %own.end ], [ " : ", %entry ], [ ", headed ? "%less.old." : "%old.", at, ", %resume ]\n");
    });
    // No instruction, but LLVM does not see through it: it would flip one unit and spread that by another instruction.
    if (form().biased)
      append(ir, "  %flip = call ", writer.units(), " asm \"\", \"=v,0\"(", writer.units(), " splat (i32 ", 0x80808080u,
             "))\n");
    append(ir, "  %empty = icmp eq i64 %count, 0\n  br i1 %empty, label %finish, label %part\n");
  }

  // The cache lines of `bytes` from `first` bytes after `base` on.
  void fetch_lines(const std::string& name, const std::string& base, int first, int bytes, int level) {
    for (int i = 0; i < bytes; i += 64) {
      append(ir, "  ", name, ".", i, " = getelementptr i8, ptr ", base, ", i64 ", first + i, "\n");
      writer.prefetch(ir, cat(name, ".", i), level);
    }
  }

  // The cache lines that the sums go to, which stores would wait for at the end; they may begin anywhere in a line. The
  // thread's own memory, whose rows lie side by side, is near.
  void fetch_own_sums() {
    int bytes = shape().width * shape().size;
    append(ir, "  %own.near = icmp eq i64 %c.row, ", bytes, "\n  br i1 %own.near, label %own.end, label %own\nown:\n");
    for (int row = 0; row < rows; ++row) {
      std::string at = at_row("%own.", row);
      for (int i = 0; i < bytes + 63; i += 64) {
        std::string line = moved(cat("%own.", row, ".", i), at, cat(std::min(i, bytes - 1)));
        writer.prefetch(ir, line, 1, true);
      }
    }
    ir += "  br label %own.end\nown.end:\n";
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

  void carry() {
    carried = {{"left", "i64", "%count"}, {"parts", "i64", "%parts"}, {"b", "ptr", "%b"}, {"ahead", "ptr", "%ahead"}};
    if (packs) carried.push_back({"to", "ptr", "%to"});
    for (int row = 0; row < rows; row += rows_per_base) carried.push_back({cat("p.", row), "ptr", cat("%base.", row)});
    each([&](const std::string& at, int, int) {
      carried.push_back({cat("sum.", at), writer.vector(), cat("%start.", at)});
    });
    for (int v = 0; v < vectors() && raw && form().biased; ++v)
      carried.push_back({cat("bias.", v), writer.vector(), "zeroinitializer"});
  }

  // A block whose values come by its edges, and from its own end where it is a loop; `write` makes others of them.
  template <class F>
  Edge block(const std::string& label, std::vector<Edge> edges, bool is_loop, F write) {
    Values now;
    for (const Carried& each : carried) now[each.name] = cat("%", label, ".", each.name);
    std::string before = std::exchange(ir, {});
    write(now);
    std::string body = std::exchange(ir, std::move(before));
    Edge end{label, now};
    if (is_loop) edges.push_back(end);
    append(ir, label, ":\n");
    for (const Carried& each : carried) {
      append(ir, "  %", label, ".", each.name, " = phi ", each.type);
      for (size_t i = 0; i < edges.size(); ++i)
        append(ir, i ? ", [ " : " [ ", edges[i].values.at(each.name), ", %", edges[i].block, " ]");
      ir += "\n";
    }
    ir += body;
    return end;
  }

  // Elements of lhs along k go on evenly within parts: what loops over those leaves the sums at the end.
  Values parts() {
    carry();
    Edge start{"start", {}}, part{"part", {}};
    for (const Carried& each : carried) {
      start.values[each.name] = each.begin;
      part.values[each.name] = cat("%part.", each.name);
    }
    part.values["left"] = "%count";
    std::string before = std::exchange(ir, {});
    Edge other{is_unrolled() && form().by_panels ? "other" : "part", part.values};
    std::vector<Edge> to_step{other}, to_end;
    if (is_unrolled()) {
      to_step.push_back(steps("along", Way::along, part));
      if (form().by_panels) to_step.push_back(steps("across", Way::across, other));
      to_end.assign(to_step.begin() + 1, to_step.end());
    }
    to_end.push_back(block("step", to_step, true, [&](Values& now) {
      step(now, "step", Way::any, 0);
      advance(now, "step", Way::any, 1);
      append(ir, "  %step.more = icmp ne i64 ", now["left"], ", 0\n  br i1 %step.more, label %step, label %part.end\n");
    }));
    Edge end = block("part.end", to_end, false, [&](Values& now) {
      append(ir, "  %parts.next = add i64 ", now["parts"], ", -1\n  %parts.more = icmp ne i64 %parts.next, 0\n");
      now["parts"] = "%parts.next";
      for (int row = 0; row < rows; row += rows_per_base) {
        append(ir, "  %p.", row, ".jump = getelementptr i8, ptr ", now[cat("p.", row)], ", i64 %jump\n");
        now[cat("p.", row)] = cat("%p.", row, ".jump");
      }
      append(ir, "  br i1 %parts.more, label %part, label %finish\n");
    });
    std::string loops = std::exchange(ir, std::move(before));
    block("part", {start, end}, false, [&](Values&) { choose_steps(); });
    ir += loops;
    return end.values;
  }

  // Steps are written out by fours where what they read lies at constant distances: to count them and to move the
  // pointers takes the ports of multiply-adds. Not where a tile reads, or fetches, so much that memory is what it waits
  // for.
  bool is_unrolled() const { return !raw && !packs && panels == 1; }

  // Cache lines of lhs that a step reads, one after another, and at most those that it fetches for the tile that
  // follows.
  int lines() const { return (rows * shape().size + 63) / 64; }

  void choose_steps() {
    if (!is_unrolled()) {
      ir += "  br label %step\n";
      return;
    }
    append(ir, "  %is.some = icmp uge i64 %count, ", unrolled, "\n  %is.even = icmp eq i64 %bk, ",
           shape().width * shape().size, "\n  %is.slow = icmp ule i64 %ahead.step, ", 64 * lines() + 1,
           "\n  %may.0 = and i1 %is.some, %is.even\n  %may = and i1 %may.0, %is.slow\n  %is.along = icmp eq i64 %ak, ",
           shape().size, "\n  %may.along = and i1 %may, %is.along\n");
    if (!form().by_panels) {
      ir += "  br i1 %may.along, label %along, label %step\n";
      return;
    }
    append(ir, "  br i1 %may.along, label %along, label %other\nother:\n  %is.across = icmp eq i64 %am, ", shape().size,
           "\n  %may.across = and i1 %may, %is.across\n  br i1 %may.across, label %across, label %step\n");
  }

  Edge steps(const std::string& name, Way way, const Edge& from) {
    Edge end = block(name, {from}, true, [&](Values& now) {
      for (int i = 0; i < unrolled; ++i) step(now, cat(name, ".", i), way, i);
      advance(now, name, way, unrolled);
      append(ir, "  %", name, ".more = icmp uge i64 ", now["left"], ", ", unrolled, "\n  br i1 %", name,
             ".more, label %", name, ", label %", name, ".end\n");
    });
    append(ir, name, ".end:\n  %", name, ".rest = icmp ne i64 ", end.values["left"], ", 0\n  br i1 %", name,
           ".rest, label %step, label %part.end\n");
    return {name + ".end", end.values};
  }

  // What is read once is too short a piece of memory, or read too fast, for the CPU to fetch it in time by itself.
  // Beside what is packed now lies what will be next, a whole panel later: the second-level cache keeps it.
  void prefetch(const std::string& b, const std::string& ahead) {
    int group = raw ? form().group : 1;
    int bytes = shape().width * (raw ? static_cast<int>(size_of(form().rhs)) : shape().size);
    std::string base = packs ? b : ahead;
    for (int j = 0; j < group; ++j) {
      fetch_lines(cat("%ahead.", j), base, packs ? bytes : 0, bytes, packs ? 2 : 1);
      append(ir, "  %ahead.", j + 1, " = getelementptr i8, ptr ", base, ", i64 %bk\n");
      base = cat("%ahead.", j + 1);
    }
  }

  // Rows of rhs some steps ahead: those that lie pages apart would not stay until the panel beside is packed. They may
  // begin anywhere in a line, and what else is in their last one the CPU does not fetch in time.
  void prefetch_rows(const std::string& b) {
    append(ir, "  %b.ahead = getelementptr i8, ptr ", b, ", i64 %bk.ahead\n");
    const int bytes = shape().width * static_cast<int>(size_of(form().rhs));
    fetch_lines("%b.ahead", "%b.ahead", 0, bytes, 2);
    fetch_lines("%b.ahead.last", "%b.ahead", bytes - 1, 1, 2);
  }

  // The pointer that is `offset` after another one.
  std::string moved(const std::string& name, const std::string& from, const std::string& offset) {
    append(ir, "  ", name, " = getelementptr i8, ptr ", from, ", i64 ", offset, "\n");
    return name;
  }

  // Bytes to the i-th step from here.
  std::string lhs_offset(Way way, int i) const { return way == Way::along ? cat(i * shape().size) : cat("%ak.", i); }
  std::string rhs_offset(Way way, int i) const {
    return way == Way::any ? "%bk.step" : cat(i * shape().width * shape().size);
  }

  // The i-th of the steps from where `now` is.
  void step(Values& now, const std::string& name, Way way, int i) {
    std::string b = now["b"], ahead = now["ahead"];
    if (i) {
      b = moved(cat("%", name, ".b"), b, rhs_offset(way, i));
      ahead = moved(cat("%", name, ".ahead"), ahead, cat("%ahead.step.", i));
    }
    if (packs && form().group == 1)
      prefetch_rows(b);
    else if (way != Way::any && !form().by_panels)
      fetch_lines(cat("%", name, ".line"), ahead, 0, 64 * lines(), 1);
    else if (panels == 1 && !form().by_panels)
      prefetch(b, ahead);
    std::vector<std::string> units = load_rhs(name, b);
    if (packs) store_rhs(units, now["to"]);
    for (int v = 0; v < vectors() && raw && form().biased; ++v) {
      std::string& bias = now[cat("bias.", v)];
      ir += writer.multiply_add(cat("%bias.next.", v), "%flip", units[static_cast<size_t>(v)], bias);
      bias = cat("%bias.next.", v);
    }
    for (int row = 0; row < rows; ++row) multiply_row(now, name, row, units, way, i);
  }

  void advance(Values& now, const std::string& name, Way way, int count) {
    auto move = [&](const std::string& what, const std::string& by) {
      now[what] = moved(cat("%", name, ".next.", what), now[what], by);
    };
    for (int row = 0; row < rows; row += rows_per_base) {
      std::string base = cat("p.", row);
      if (way == Way::across && row)
        now[base] = moved(cat("%", name, ".next.", base), now["p.0"], cat(row * shape().size));
      else
        move(base, lhs_offset(way, count));
    }
    move("b", rhs_offset(way, count));
    move("ahead", cat("%ahead.step.", count));
    if (packs) move("to", cat(shape().width * shape().size));
    append(ir, "  %", name, ".left.next = add i64 ", now["left"], ", ", -count, "\n");
    now["left"] = cat("%", name, ".left.next");
  }

  // Vectors of units, as many as a row of the tile has.
  std::vector<std::string> load_rhs(const std::string& name, const std::string& from) {
    std::vector<std::string> b;
    std::string base = from;
    for (int panel = 0; panel < panels; ++panel) {
      if (panel) base = moved(cat("%", name, ".panel.", panel), base, "%bp");
      if (raw) {
        for (std::string& v : writer.load_rows(ir, cat("%b.", panel), base)) b.push_back(std::move(v));
      } else
        for (int v = 0; v < vectors() / panels; ++v) b.push_back(load(cat("%", name, ".b.", panel, ".", v), base, v));
    }
    return b;
  }

  void store_rhs(const std::vector<std::string>& b, const std::string& to) {
    for (int v = 0; v < vectors(); ++v)
      append(ir, "  store ", writer.units(), " ", b[static_cast<size_t>(v)], ", ptr ",
             moved(cat("%pt.", v), to, cat(v * shape().lanes * shape().size)), ", align ", shape().lanes * shape().size,
             "\n");
  }

  std::string load(const std::string& name, const std::string& base, int v) {
    append(ir, "  ", name, ".at = getelementptr i8, ptr ", base, ", i64 ", v * shape().lanes * shape().size, "\n  ",
           name, " = load ", writer.units(), ", ptr ", name, ".at, align ", size_of(form().packed), "\n");
    return name;
  }

  std::string lhs_pointer(Values& now, const std::string& name, int row, Way way, int i) {
    int within = row % rows_per_base;
    std::string pointer = now[cat("p.", way == Way::across ? 0 : row - within)], to = cat("%", name, ".at.", row);
    if (i) pointer = moved(to + ".k", pointer, lhs_offset(way, i));
    if (way == Way::across) return moved(to, pointer, cat(row * shape().size));
    return within ? moved(to, pointer, within == 1 ? "%am" : "%am2") : pointer;
  }

  void multiply_row(Values& now, const std::string& name, int row, const std::vector<std::string>& b, Way way, int i) {
    std::string pointer = lhs_pointer(now, name, row, way, i), type = writer.units();
    std::string value = cat("%", name, ".a.", row), all = cat("%", name, ".all.", row);
    append(ir, "  ", value, " = load ", writer.unit(), ", ptr ", pointer, ", align ", size_of(form().packed), "\n  ",
           value, ".one = insertelement ", type, " poison, ", writer.unit(), " ", value, ", i64 0\n  ", all,
           " = shufflevector ", type, " ", value, ".one, ", type, " poison, <", shape().lanes,
           " x i32> zeroinitializer\n");
    // Plus 128 in each byte.
    if (form().tiles_bias()) {
      append(ir, "  ", all, ".flip = xor ", type, " ", all, ", %flip\n");
      all += ".flip";
    }
    for (int v = 0; v < vectors(); ++v) {
      std::string& sum = now[cat("sum.", row, ".", v)];
      std::string next = cat("%", name, ".sum.", row, ".", v, ".next");
      ir += writer.multiply_add(next, all, b[static_cast<size_t>(v)], sum);
      sum = next;
    }
  }

  void finish(Values sums) {
    append(ir, "finish:\n");
    each([&](const std::string& at, int, int) {
      append(ir, "  %end.", at, " = phi ", writer.vector(), " [ %start.", at, ", %start ], [ ", sums[cat("sum.", at)],
             ", %part.end ]\n");
    });
    bool biased = raw && form().biased;
    for (int v = 0; v < vectors() && biased; ++v)
      append(ir, "  %bias.end.", v, " = phi ", writer.vector(), " [ zeroinitializer, %start ], [ ",
             sums[cat("bias.", v)], ", %part.end ]\n");
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

std::string DotWriter::tile(TileRhs rhs, int rows, int panels) {
  bool packs = rhs == TileRhs::packing, half = rhs == TileRhs::half;
  bool raw = packs || (rhs == TileRhs::raw && !form.rhs_as_is());
  std::string name =
      cat("weft.tile.", form.name(), form.packs_biased() ? ".plus" : "", raw ? cat(".", weft::name(form.rhs)) : "",
          packs ? ".packs." : ".", rows, "x", half ? "half" : cat(panels));
  if (!first(name)) return name;
  Tile tile{*this, raw, packs, half, rows, panels, {}};
  tile.open(name);
  tile.resume();
  tile.finish(tile.parts());
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
