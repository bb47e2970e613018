// Which tile a driver calls: by height, and by what it does with rhs.
#include <vector>

#include "weft/codegen/llvm/dot_shape.h"

namespace weft {
namespace {

// Tiles that read rhs in one way: part of their labels, and what is added to their heights.
struct Kind {
  TileRhs rhs;
  const char* label;
  int offset;
};

// Calls of the tiles that a driver has: of equal heights where there are such, or else full ones and small ones.
struct Tiles {
  DotWriter& writer;
  const DotNeeds& needs;
  std::string ir, counts;

  void tile(const std::string& label, const std::string& count, const std::string& call) {
    append(ir, label, ":\n", call, "  br label %tiled\n");
    append(counts, counts.empty() ? " [ " : ", [ ", count, ", %", label, " ]");
  }

  // Of those that do not pack.
  std::vector<Kind> kinds() const {
    std::vector<Kind> kinds;
    const bool has_raw = writer.has_raw_tiles(needs);
    if (needs.pack || needs.packed || !has_raw) kinds.push_back({TileRhs::packed, "", 0});
    if (has_raw) kinds.push_back({TileRhs::raw, "raw.", raw_offset});
    if (needs.half) kinds.push_back({TileRhs::half, "half.", half_offset});
    return kinds;
  }

  std::string write() {
    std::string common =
        "i64 %tile.units, ptr %c, i64 %c.row, i1 %is.first, ptr %ahead, i64 %ahead.step, i64 %tile.parts, i64 %k.jump";
    std::string rest = cat("ptr %b, i64 %b.step, ", common, writer.form.biased ? ", ptr %head" : "");
    std::string packing_rest =
        cat("ptr %b.at, i64 %bk, ", common, writer.form.biased ? ", ptr %bs.head" : "", ", ptr %bs.units");
    append(ir, tile_height("%r"),
           "  %ahead.rows = mul i64 %r.height, %ahead.slope\n  %ahead.whole = lshr i64 %ahead.rows, 16\n  %ahead.step "
           "= add i64 %ahead.least, %ahead.whole\n",
           "  br i1 %slim, label %", needs.slim ? "tile.slim" : "tile.none", ", label %",
           writer.form.amx ? "matrix" : "tall", "\n");
    if (writer.form.amx) amx();
    append(ir, "tall:\n  %r.which = add i64 %r.height, %how\n  switch i64 %r.which, label %tile.other [");
    for (const Kind& kind : kinds())
      for (int height : needs.heights) append(ir, " i64 ", height + kind.offset, ", label %tile.", kind.label, height);
    for (int height : needs.packing) append(ir, " i64 ", height + packing_offset, ", label %tile.packs.", height);
    append(ir, " ]\n");
    for (int height : needs.packing)
      tile(cat("tile.packs.", height), cat(height),
           writer.call_tile(writer.tile(TileRhs::packing, height, 1), height, packing_rest));
    for (const Kind& kind : kinds())
      for (int height : needs.heights)
        tile(cat("tile.", kind.label, height), cat(height),
             writer.call_tile(writer.tile(kind.rhs, height, 1), height, rest));
    other(rest);
    if (needs.slim) slim(rest);
    append(ir, "tile.none:\n  unreachable\n");
    return cat(ir, "tiled:\n  %r.count = phi i64", counts, "\n");
  }

  // Of any height. The first panel packs rows for those that share them.
  void amx() {
    append(ir, "matrix:\n  br i1 %amx, label %amx.tile, label %tall\namx.tile:\n");
    if (writer.form.packs_lhs) {
      append(ir,
             "  %amx.a = getelementptr i8, ptr %a, i64 0\n  %amx.m = add i64 %la.m, 0\n  %amx.k = add i64 64, 0\n  "
             "%amx.is.first = icmp eq i64 %p, 0\n  %amx.alone = icmp eq i64 %p.count, 1\n  br label %tile.amx\n");
    } else {
      append(ir,
             "  %amx.several = icmp ugt i64 %p.count, 1\n  %amx.shared = and i1 %amx.several, %amx.packs\n  %amx.alone "
             "= xor i1 %amx.shared, true\n  %amx.in = sub i64 %r, %chunk.r\n  %amx.row.up = add i64 %tile.units, 15\n  "
             "%amx.row.steps = lshr i64 %amx.row.up, 4\n",
             "  %amx.row = shl i64 %amx.row.steps, 6\n  %amx.at = mul i64 %amx.in, %amx.row\n  %amx.ls = getelementptr "
             "i8, ptr %ls, i64 %amx.at\n",
             "  %amx.a = select i1 %amx.shared, ptr %amx.ls, ptr %a\n  %amx.m = select i1 %amx.shared, i64 64, i64 "
             "%la.m\n  %amx.step = shl i64 %r.height, 6\n",
             "  %amx.k = select i1 %amx.shared, i64 %amx.step, i64 64\n  %amx.is.first = icmp eq i64 %p, 0\n  "
             "%amx.is.new = and i1 %amx.shared, %amx.is.first\n",
             "  br i1 %amx.is.new, label %amx.pack, label %tile.amx\namx.pack:\n  call void @", writer.amx_lhs(),
             "(ptr %a, i64 %la.m, i64 %r.height, i64 %tile.units, ptr %amx.ls)\n  br label %tile.amx\n");
    }
    auto multiply = [&](const char* label, bool fetches) {
      tile(label, "%r.height",
           cat("  call void @", writer.amx_tile(fetches),
               "(ptr %amx.a, i64 %amx.m, i64 %amx.k, i64 %r.height, ptr %b, i64 %b.step, i64 %tile.units, ptr %c, i64 "
               "%c.row, i1 %is.first, ptr %ahead, i64 %ahead.step, ptr %amx.now)\n"));
    };
    append(ir,
           "tile.amx:\n  %amx.fetches.0 = select i1 %fetch.rhs, i1 %chunk.first, i1 %amx.is.first\n  %amx.fetches = or "
           "i1 %amx.fetches.0, %amx.alone\n",
           "  br i1 %amx.fetches, label %tile.amx.fetching, label %tile.amx.plain\n");
    multiply("tile.amx.fetching", true);
    multiply("tile.amx.plain", false);
  }

  // Heights that are not known now.
  void other(const std::string& rest) {
    int rows = writer.shape.rows;
    bool has_all = needs.heights.size() >= static_cast<size_t>(writer.shape.rows);
    if (has_all || !needs.heights.count(rows) || !needs.heights.count(small_rows)) {
      append(ir, "tile.other:\n  unreachable\n");
      return;
    }
    append(ir, "tile.other:\n  %is.full.tile = icmp uge i64 %r.left, ", rows,
           "\n  %r.full = select i1 %is.full.tile, i64 1, i64 0\n",
           "  %r.small = call i64 @llvm.umin.i64(i64 %r.left, i64 ", small_rows, ")\n",
           "  %r.other = add i64 %r.full, %raw\n  switch i64 %r.other, label %tile.none [");
    for (const Kind& kind : kinds())
      for (int full : {0, 1}) append(ir, " i64 ", full + kind.offset, ", label %other.", kind.label, full);
    append(ir, " ]\n");
    for (const Kind& kind : kinds()) {
      tile(cat("other.", kind.label, 1), cat(rows),
           writer.call_tile(writer.tile(kind.rhs, rows, 1), rows, rest, "other."));
      tile(cat("other.", kind.label, 0), "%r.small",
           writer.call_small_tile(writer.tile(kind.rhs, small_rows, 1), rest));
    }
  }

  void slim(const std::string& rest) {
    constexpr std::string_view raw =
        "(ptr %a, i64 %la.k, ptr %b, i64 %b.step, i64 %units, ptr %c, i1 %is.first, i64 %p.move, i64 %fetch)\n";
    append(ir, "tile.slim:\n  br i1 %is.packed, label %", needs.packed ? "slim.packed" : "tile.none", ", label %",
           needs.raw ? "slim.raw" : "tile.none", "\n");
    std::string all = rest + ", i64 %panel.bytes, i64 %c.panel";
    if (needs.packed)
      tile("slim.packed", "1", writer.call_tile(writer.tile(TileRhs::packed, 1, writer.shape.slim), 1, all));
    if (needs.raw) tile("slim.raw", "1", cat("  call void @", writer.stream(), raw));
  }
};

}  // namespace

std::string tile_height(std::string_view rows) {
  return cat("  ", rows, ".up.0 = add i64 ", rows, ".left, %tile.rows\n  ", rows, ".up = add i64 ", rows,
             ".up.0, -1\n  ", rows, ".tiles = udiv i64 ", rows, ".up, %tile.rows\n  ", rows, ".tiles.less = add i64 ",
             rows, ".tiles, -1\n  ", rows, ".high = add i64 ", rows, ".left, ", rows, ".tiles.less\n  ", rows,
             ".height = udiv i64 ", rows, ".high, ", rows, ".tiles\n");
}

std::string DotWriter::tiles(const DotNeeds& needs) { return Tiles{*this, needs, {}, {}}.write(); }

}  // namespace weft
