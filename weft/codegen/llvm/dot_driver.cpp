// The loops around the micro-kernel: work items, blocks of k, tiles of rows.
#include <algorithm>
#include <limits>

#include "weft/codegen/llvm/dot_driver.h"
#include "weft/codegen/llvm/dot_shape.h"
#include "weft/core/pages.h"

namespace weft {
namespace {

// Rows from which on a tile fetches those of the next rather than its share of the next packed block, which units of
// several elements are done with sooner.
constexpr int64_t long_rows = 512;

// Panels of columns along k that a single row of lhs takes at once.
constexpr int widest = 32;

// Bytes of a block of lhs that are read again from the second-level cache, beside panels of rhs.
constexpr int64_t long_block = 1 << 19;

// Of a chunk of such a block: as many as leave most of that cache to the panels.
constexpr int tiles_of_chunk = 8;

// Chunks of nearly equal length, whole tiles but for the last.
constexpr const char* chunks_text = R"(  %chunks.up = add i64 %m.count, %chunk.most
  %chunks.up1 = sub i64 %chunks.up, 1
  %chunks = udiv i64 %chunks.up1, %chunk.most
  %chunk.each.up = add i64 %m.count, %chunks
  %chunk.each.up1 = sub i64 %chunk.each.up, 1
  %chunk.each = udiv i64 %chunk.each.up1, %chunks
  %chunk.whole.up = add i64 %chunk.each, %tile.rows
  %chunk.whole.up1 = sub i64 %chunk.whole.up, 1
  %chunk.whole = udiv i64 %chunk.whole.up1, %tile.rows
  %chunk.rows = mul i64 %chunk.whole, %tile.rows
)";

// Of rhs, what an earlier piece of the loop has packed need not be packed again.
constexpr const char* kept_text = R"(  %kept.1 = getelementptr i64, ptr %kept, i64 1
  %kept.2 = getelementptr i64, ptr %kept, i64 2
  %kept.3 = getelementptr i64, ptr %kept, i64 3
  %kept.from = load ptr, ptr %kept
  %kept.args = load ptr, ptr %kept.1
  %kept.k = load i64, ptr %kept.2
  %kept.count = load i64, ptr %kept.3
  %kept.is.0 = icmp eq ptr %kept.from, %bb.first
  %kept.is.1 = icmp eq ptr %kept.args, %args
  %kept.is.2 = icmp eq i64 %kept.k, %kc
  %kept.is.3 = icmp eq i64 %kept.count, %p.count
  %kept.is.4 = and i1 %kept.is.0, %kept.is.1
  %kept.is.5 = and i1 %kept.is.2, %kept.is.3
  %is.kept = and i1 %kept.is.4, %kept.is.5
  store ptr %bb.first, ptr %kept
  store ptr %args, ptr %kept.1
  store i64 %kc, ptr %kept.2
  store i64 %p.count, ptr %kept.3
)";
// Rows of rhs are packed for all panels of the item at once: each lies in a page of its own, which is looked up once.
constexpr const char* together_text = R"(  %rows.together = icmp ugt i1 %is.row, %stay
  %together.now = icmp ugt i1 %rows.together, %chunk.there
  br i1 %together.now, label %together, label %panels.in
together:
  %together.n0 = mul i64 %panel, $width$
  %together.n = sub i64 %n, %together.n0
  %together.whole = udiv i64 %together.n, $width$
  %together.count = call i64 @llvm.umin.i64(i64 %together.whole, i64 %p.count)
  call void @$name$(ptr %bb.first, i64 %bk, i64 %kc, i64 %together.count, ptr %bs, i64 $slot.bytes$)
)";
// A call that begins with the first item is a loop of its own where it is not the first piece of one.
constexpr const char* keeping_text = R"(  %kept = call ptr @weft_support_kept_scratch(i64 $bytes$)
  %kept.old = load ptr, ptr %kept
  %kept.begins = icmp eq i64 %begin, 0
  %kept.now = select i1 %kept.begins, ptr null, ptr %kept.old
  store ptr %kept.now, ptr %kept
  %cs = getelementptr i8, ptr %kept, i64 64
)";

// The calls of a driver that depend on what its kernels need.
struct DriverCalls {
  std::string pack, inner, lhs, lhs_strides;

  DriverCalls(DotWriter& writer, const DotNeeds& needs) {
    const DotShape& shape = writer.shape;
    const DotForm& form = writer.form;
    if (needs.pack)
      pack =
          cat("  call void @", writer.pack(form.rhs),
              "(ptr %b.at, i64 %bk, i64 %bn, i64 %kc, i64 %cols, ptr %bs.units, i64 ", shape.width * shape.size, ")\n");
    if (needs.windows)
      pack = cat(
          "  %is.windows = icmp eq i64 %packed, 3\n  br i1 %is.windows, label %packing.windows, label "
          "%packing.plain\npacking.windows:\n  call void @",
          writer.pack_windows(),
          "(ptr %d, ptr %b0, i64 %k0, i64 %kc, i64 %n0, i64 %cols, ptr %bs.units)\n  br label %ready\npacking.plain:\n",
          pack);
    if (needs.pack && form.biased)
      append(pack, "  call void @", writer.pack_head(), "(ptr %bs.units, i64 %units, ptr %bs.head)\n");
    auto call_inner = [&](bool fetches, int rows) {
      return cat("  call void @", writer.inner(fetches, rows),
                 "(ptr %q.a, i64 %am, i64 %q.rows, ptr %q.b, i64 %bn, i64 %k, i64 %q.cols, ptr %q.c, i64 %fetch)\n");
    };
    auto call_either = [&](bool fetches) {
      const char* name = fetches ? "fetching" : "plain";
      return cat("  br i1 %is.one, label %inner.", name, ".one, label %inner.", name, ".more\ninner.", name, ".one:\n",
                 call_inner(fetches, 1), "  br label %inner.end\ninner.", name, ".more:\n",
                 call_inner(fetches, shape.inner));
    };
    if (needs.inner) inner = "  %q.rows = sub i64 %m.count, %q\n";
    // What the first of several rows fetched is there for the others.
    if (needs.inner && needs.fetch)
      append(inner,
             "  %q.first = icmp eq i64 %q, 0\n  %fetches = icmp ne i64 %fetch, 0\n  %q.fetches = and i1 %q.first, "
             "%fetches\n",
             "  br i1 %q.fetches, label %inner.fetches, label %inner.near\ninner.fetches:\n", call_either(true),
             "  br label %inner.end\ninner.near:\n");
    if (needs.inner) inner += call_either(false);
    lhs_strides = cat("  %la.m = add i64 %am, 0\n  %la.k = mul i64 %ak, ", form.group, "\n");
    if (!form.packs_lhs) return;
    lhs = cat("  %chunk.count = sub i64 %chunk.m1, %chunk.r\n  %chunk.skip = sub i64 %chunk.r, %m0\n",
              "  %chunk.skipped = mul i64 %chunk.skip, %am\n",
              "  %chunk.from = getelementptr i8, ptr %a.at, i64 %chunk.skipped\n");
    if (form.by_panels)
      append(
          lhs, "  %chunk.up = add i64 %chunk.count, %tile.rows\n  %chunk.up1 = sub i64 %chunk.up, 1\n",
          "  %chunk.tiles = udiv i64 %chunk.up1, %tile.rows\n  %chunk.high.up = add i64 %chunk.count, %chunk.tiles\n",
          "  %chunk.high.up1 = sub i64 %chunk.high.up, 1\n  %chunk.high = udiv i64 %chunk.high.up1, %chunk.tiles\n",
          "  %lhs.k = mul i64 %chunk.high, ", shape.size, "\n  %lhs.all = mul i64 %lhs.k, %kc\n",
          "  %lhs.panel = add i64 %lhs.all, ", panel_gap, "\n  %la.k = select i1 %lhs.along, i64 ", shape.size,
          ", i64 %lhs.k\n");
    append(lhs, "  call void @", writer.pack_lhs(),
           "(ptr %chunk.from, i64 %am, i64 %ak, i64 %chunk.count, i64 %kc, ptr %ls",
           form.by_panels ? ", i64 %chunk.high, i64 %chunk.tiles, i64 %lhs.panel" : "", ")\n");
    lhs_strides = cat(
        "  %la.m = select i1 %lhs.along, i64 ", shape.lhs_row, ", i64 ", shape.size,
        form.by_panels ? "\n"
                       : cat("\n  %la.k = select i1 %lhs.along, i64 ", shape.size, ", i64 ", shape.lhs_column, "\n"));
  }
};

}  // namespace

std::string DotWriter::driver(const DotNeeds& needs) {
  std::string name = cat("weft.dot.", weft::name(form.lhs), ".", weft::name(form.rhs), ".", weft::name(accumulate),
                         form.bits ? "." + form.bits->name() : "",
                         form.by_panels   ? ".panels"
                         : form.packs_lhs ? ".packs"
                                          : "");
  DotNeeds& all = emitter.drivers_
                      .try_emplace(name, DotNeeds{.lhs = form.lhs,
                                                  .rhs = form.rhs,
                                                  .accumulate = accumulate,
                                                  .packs_lhs = form.packs_lhs,
                                                  .by_panels = form.by_panels,
                                                  .bits = form.bits})
                      .first->second;
  all.pack |= needs.pack;
  all.packed |= needs.packed;
  all.raw |= needs.raw;
  all.slim |= needs.slim;
  all.inner |= needs.inner;
  all.fetch |= needs.fetch;
  all.windows |= needs.windows;
  all.half |= needs.half;
  all.heights.insert(needs.heights.begin(), needs.heights.end());
  all.packing.insert(needs.packing.begin(), needs.packing.end());
  return name;
}

// What the driver's text names of its memory and of the panels, blocks and tiles that share it.
KeyValues DotWriter::driver_sizes() const {
  int row_bytes = shape.width * shape.size;
  int head_bytes = head_rows() * row_bytes;
  int lhs_bytes = 0;
  if (form.packs_lhs) lhs_bytes = std::max(shape.packed_rows * shape.lhs_row, shape.depth * shape.lhs_column);
  if (form.by_panels) {
    int panels = shape.packed_rows / shape.rows + 1;
    lhs_bytes = std::max(lhs_bytes, (shape.packed_rows + panels) * shape.depth * shape.size + panels * panel_gap);
  }
  if (form.amx && !form.packs_lhs) lhs_bytes = amx_chunk * shape.depth * shape.size;
  int64_t run_bytes = whole_lines((shape.scratch + small_rows) * row_bytes);
  int64_t panels_bytes =
      whole_lines((form.packs_lhs && !form.by_blocks() ? slot_bytes() : shape.share * slot_bytes()) + window_slack);
  return {
      {"run.bytes", cat(run_bytes)},
      {"panels.bytes", cat(panels_bytes)},
      {"scratch.open", form.by_panels ? fill(keeping_text, {{"bytes", cat(64 + run_bytes + panels_bytes + lhs_bytes)}})
                                      : cat("  %cs = call ptr @weft_support_scratch(i64 ",
                                            run_bytes + panels_bytes + lhs_bytes, ")\n")},
      {"slot.bytes", cat(slot_bytes())},
      {"head.rows", cat(head_rows())},
      {"head.bytes", cat(head_bytes)},
      {"row.bytes", cat(row_bytes)},
      {"row.bytes.shifted", cat(row_bytes << 16)},
      {"width", cat(shape.width)},
      {"width.half", cat(shape.width / 2)},
      {"width.less", cat(shape.width - 1)},
      {"size", cat(shape.size)},
      {"lhs.size", cat(size_of(form.lhs))},
      {"rhs.size", cat(size_of(form.rhs))},
      {"vector", cat(shape.lanes * form.group)},
      {"group", cat(form.group)},
      {"group.less", cat(form.group - 1)},
      {"rows.small", cat(small_rows)},
      {"rows.small.less", cat(small_rows - 1)},
      {"rows.inner", cat(2 * shape.inner)},
      {"rows.at.once", cat(shape.inner)},
  };
}

// From where on, and up to where, it goes about things in another way.
KeyValues DotWriter::driver_limits() const {
  int group = form.group;
  return {
      {"scratch", cat(shape.scratch)},
      {"share", cat(shape.share)},
      {"few", cat(shape.few)},
      {"slim", cat(shape.slim)},
      {"wide", cat(widest)},
      {"chunk", cat(form.packs_lhs ? shape.packed_rows
                    : form.amx     ? amx_chunk
                                   : tiles_of_chunk * shape.rows)},
      {"long", cat(form.amx ? 0 : long_block / size_of(form.lhs))},
      {"rows.long", cat(group > 1 ? std::numeric_limits<int64_t>::max() : long_rows)},
      {"depth", cat(shape.depth * group)},
      {"depth.slot", cat(shape.slot_depth * group)},
      {"depth.across", cat(form.packs_lhs ? shape.depth : shape.slot_depth * group / 2)},
      {"k.few", cat(16 * group)},
      {"k.few.less", cat(16 * group - 1)},
      // As many rows of rhs at most as pages that a first-level TLB holds.
      {"k.shallow", cat(size_of(form.rhs) < 4 ? 64 : 32)},
      // Elements of a few more rows than a tile has.
      {"step.near", cat(16 * shape.size)},
      {"ahead", cat(2 * shape.width * size_of(form.rhs))},
      {"may.span", group == 1 && !form.packs_lhs ? "true" : "false"},
      {"lhs.packs", form.packs_lhs ? "true" : "false"},
  };
}

// What it calls, and how it says to those what they are to do.
KeyValues DotWriter::driver_calls(const DotNeeds& needs) {
  DriverCalls calls(*this, needs);
  int64_t packing_heights = 0;
  for (int height : needs.packing) packing_heights |= int64_t{1} << height;
  return {
      {"linkage", linkage()},
      {"effort", effort()},
      {"fields", load_fields()},
      {"pack", calls.pack},
      {"inner", calls.inner},
      {"lhs.pack", calls.lhs},
      {"lhs.strides", calls.lhs_strides},
      {"chunk.rows", form.by_blocks() ? chunks_text : "  %chunk.rows = add i64 %chunk.most, 0\n"},
      {"lhs.from", form.packs_lhs ? "%ls" : "%chunk.a.0"},
      {"rhs.pack", form.by_panels
                       ? fill(together_text,
                              {{"name", pack_panels()}, {"width", cat(shape.width)}, {"slot.bytes", cat(slot_bytes())}})
                       : "  %rows.together = icmp ne i1 false, false\n"},
      {"kept", form.by_panels ? kept_text : "  %is.kept = icmp ne i1 false, false\n"},
      {"together", cat(shape.together)},
      {"together.less", cat(shape.together - 1)},
      {"panels.count", form.by_panels ? "add i64 %p.item, 0" : "select i1 %is.whole, i64 %p.1, i64 1"},
      {"items.move", form.by_panels ? "add i64 %joined, 0" : "select i1 %is.whole, i64 %p.items, i64 %joined"},
      {"in.slots", form.by_panels     ? "true"
                   : form.by_blocks() ? "%not.few"
                                      : "%chunked"},
      {"rows.end", form.by_blocks() ? "%chunk.m1" : "%m1"},
      {"first.most", form.by_blocks() ? "%chunk.rows" : "%m.count"},
      {"lhs.move",
       form.by_panels ? "select i1 %lhs.along, i64 %a.move.rows, i64 %lhs.panel" : "add i64 %a.move.rows, 0"},
      {"first.height", tile_height("%first")},
      {"packing", cat(packing_offset)},
      {"packing.heights", cat(packing_heights)},
      {"raw.offset", cat(raw_offset)},
      {"raw", has_raw_tiles(needs) ? "%raw.here" : "0"},
      {"half", cat(needs.half ? half_offset : 0)},
      {"has.inner", needs.inner ? "true" : "false"},
      {"has.slim", needs.slim ? "true" : "false"},
      {"tile.rows", choose_amx()},
      {"amx.open", open_amx()},
      {"amx.close", close_amx()},
      {"tiles", tiles(needs)},
  };
}

void DotWriter::write_driver(const std::string& name, const DotNeeds& needs) {
  KeyValues words = driver_calls(needs);
  words.emplace_back("name", name);
  for (const KeyValues& more : {driver_sizes(), driver_limits()}) words.insert(words.end(), more.begin(), more.end());
  emitter.functions_ += fill(driver_text, words);
  declare("declare ptr @weft_support_scratch(i64)\n");
  declare("declare ptr @weft_support_kept_scratch(i64)\n");
  declare("@weft.dot.zeros = internal constant [256 x i8] zeroinitializer, align 64\n");
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  declare("declare i64 @llvm.umax.i64(i64, i64)\n");
}

}  // namespace weft
