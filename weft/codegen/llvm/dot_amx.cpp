// The micro-kernel of AMX: four tiles of 16 x 16 sums from two of lhs and two of rhs, each 16 rows of 16 units. Packed
// operands are what its instructions read: units of neighbours along k, those of lhs side by side in a row.
//
// Bytes of either sign are multiplied as they are. Sums of bf16 differ from AVX512-BF16's: the even and the odd
// products of 16 units are added up by themselves, then their sums (Intel's Software Developer's Manual, TDPBF16PS).
// The first whole 16 units are taken together, and the last ones, so that a sum's order follows from k alone.
#include "weft/codegen/llvm/dot_shape.h"

namespace weft {
namespace {

constexpr int side = 16;  // rows of a tile, and units in a row

// Tiles: of sums (top left, top right, below them), of lhs (top, below), of rhs (left, right).
enum AmxTile { sums = 0, lhs = 4, rhs = 6 };

// $steps$ steps of $depth$ units each, at most `side`. Rows and bytes of a row that are not there are zero.
constexpr std::string_view amx_open_text =
    R"(define internal void @$name$(ptr %a, i64 %am, i64 %a.step, i64 %rows, ptr %b, i64 %bk, i64 %steps, i64 %depth, ptr %c, i64 %c.row, i1 %first, ptr %ahead, i64 %ahead.step, ptr %now) noinline optsize {
entry:
  %config = alloca [64 x i8], align 64
  %top = call i64 @llvm.umin.i64(i64 %rows, i64 16)
  %below = sub i64 %rows, %top
  %is.tall = icmp ne i64 %below, 0
  %below.row = select i1 %is.tall, i64 64, i64 0
  %a.row = shl i64 %depth, 2
  %a.below.row = select i1 %is.tall, i64 %a.row, i64 0
  %a.below = mul i64 %am, 16
  %b.step = mul i64 %bk, 16
  %c.below = mul i64 %c.row, 16
  %key.rows = shl i64 %rows, 8
  %key = or i64 %key.rows, %depth
  %key.now = load i64, ptr %now
  %is.ready = icmp eq i64 %key, %key.now
  br i1 %is.ready, label %ready, label %configure
configure:
  store i64 %key, ptr %now
  store [64 x i8] zeroinitializer, ptr %config, align 64
  store i8 1, ptr %config
$config$  call void @llvm.x86.ldtilecfg(ptr %config)
  br label %ready
ready:
  br i1 %is.tall, label %tall, label %low
)";

constexpr std::string_view body_text = R"($which$:
  br i1 %first, label %$which$.zero, label %$which$.resume
$which$.zero:
$zero$  br label %$which$.start
$which$.resume:
$resume$  br label %$which$.start
$which$.start:
  %$which$.none = icmp eq i64 %steps, 0
  br i1 %$which$.none, label %$which$.end, label %$which$.step
$which$.step:
  %$which$.left = phi i64 [ %steps, %$which$.start ], [ %$which$.next, %$which$.step ]
  %$which$.a = phi ptr [ %a, %$which$.start ], [ %$which$.a.next, %$which$.step ]
  %$which$.b = phi ptr [ %b, %$which$.start ], [ %$which$.b.next, %$which$.step ]
$step$  %$which$.a.next = getelementptr i8, ptr %$which$.a, i64 %a.step
  %$which$.b.next = getelementptr i8, ptr %$which$.b, i64 %b.step
  %$which$.next = add i64 %$which$.left, -1
  %$which$.more = icmp ne i64 %$which$.next, 0
  br i1 %$which$.more, label %$which$.step, label %$which$.end
$which$.end:
$store$  ret void
)";

constexpr std::string_view tile_text = R"(}

define internal void @$name$(ptr %a, i64 %am, i64 %a.step, i64 %rows, ptr %b, i64 %bk, i64 %count, ptr %c, i64 %c.row, i1 %first, ptr %ahead, i64 %ahead.step, ptr %now) noinline optsize {
entry:
  %whole = lshr i64 %count, 4
  %rest = and i64 %count, 15
  %is.whole = icmp ne i64 %whole, 0
  br i1 %is.whole, label %take.whole, label %take.rest
take.whole:
  call void @$name$.steps(ptr %a, i64 %am, i64 %a.step, i64 %rows, ptr %b, i64 %bk, i64 %whole, i64 16, ptr %c, i64 %c.row, i1 %first, ptr %ahead, i64 %ahead.step, ptr %now)
  %is.rest = icmp ne i64 %rest, 0
  br i1 %is.rest, label %take.rest, label %done
take.rest:
  %first.rest = phi i1 [ %first, %entry ], [ false, %take.whole ]
  %a.whole = mul i64 %whole, %a.step
  %a.rest = getelementptr i8, ptr %a, i64 %a.whole
  %k.whole = mul i64 %whole, 16
  %b.whole = mul i64 %k.whole, %bk
  %b.rest = getelementptr i8, ptr %b, i64 %b.whole
  %steps = call i64 @llvm.umin.i64(i64 %rest, i64 1)
  %depth = call i64 @llvm.umax.i64(i64 %rest, i64 1)
  call void @$name$.steps(ptr %a.rest, i64 %am, i64 %a.step, i64 %rows, ptr %b.rest, i64 %bk, i64 %steps, i64 %depth, ptr %c, i64 %c.row, i1 %first.rest, ptr %ahead, i64 0, ptr %now)
  br label %done
done:
  ret void
}

)";

// Rows of a tile side by side, 16 units of each at a time.
constexpr std::string_view pack_rows_text =
    R"(define internal void @$name$(ptr %a, i64 %am, i64 %rows, i64 %count, ptr %to) noinline optsize {
entry:
  %to.step = shl i64 %rows, 6
  %rest = and i64 %count, 15
  %whole = lshr i64 %count, 4
  %is.some = icmp ne i64 %whole, 0
  %is.rest = icmp ne i64 %rest, 0
  %rest.small = trunc i64 %rest to i16
  %bits.up = shl i16 1, %rest.small
  %bits = add i16 %bits.up, -1
  %mask = bitcast i16 %bits to <16 x i1>
  br label %row
row:
  %r = phi i64 [ 0, %entry ], [ %r.next, %row.end ]
  %from = phi ptr [ %a, %entry ], [ %from.next, %row.end ]
  %r.at = shl i64 %r, 6
  %r.to = getelementptr i8, ptr %to, i64 %r.at
  br i1 %is.some, label %step, label %last
step:
  %left = phi i64 [ %whole, %row ], [ %left.next, %step ]
  %s = phi ptr [ %from, %row ], [ %s.next, %step ]
  %d = phi ptr [ %r.to, %row ], [ %d.next, %step ]
  %units = load <16 x i32>, ptr %s, align 1
  store <16 x i32> %units, ptr %d, align 64
  %s.next = getelementptr i8, ptr %s, i64 64
  %d.next = getelementptr i8, ptr %d, i64 %to.step
  %left.next = add i64 %left, -1
  %more = icmp ne i64 %left.next, 0
  br i1 %more, label %step, label %last
last:
  %s.last = phi ptr [ %from, %row ], [ %s.next, %step ]
  %d.last = phi ptr [ %r.to, %row ], [ %d.next, %step ]
  br i1 %is.rest, label %part, label %row.end
part:
  %units.last = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr align 1 %s.last, <16 x i1> %mask, <16 x i32> zeroinitializer)
  store <16 x i32> %units.last, ptr %d.last, align 64
  br label %row.end
row.end:
  %from.next = getelementptr i8, ptr %from, i64 %am
  %r.next = add i64 %r, 1
  %r.more = icmp ult i64 %r.next, %rows
  br i1 %r.more, label %row, label %done
done:
  ret void
}

)";

struct Amx {
  DotWriter& writer;
  bool fetches;  // lines from %ahead on
  std::string ir;

  std::string multiply() const {
    if (writer.form.packed == DType::bf16) return "tdpbf16ps";
    return is_signed(writer.form.lhs) ? is_signed(writer.form.rhs) ? "tdpbssd" : "tdpbsud" : "tdpbusd";
  }

  void call(std::string_view instruction, const std::string& arguments, const std::string& types) {
    append(ir, "  call void @llvm.x86.", instruction, "(", arguments, ")\n");
    writer.declare(cat("declare void @llvm.x86.", instruction, "(", types, ")\n"));
  }
  // To or from memory.
  void move(std::string_view instruction, int tile, const std::string& at, const std::string& stride) {
    call(instruction, cat("i8 ", tile, ", ptr ", at, ", i64 ", stride), "i8 immarg, ptr, i64");
  }

  std::string take() { return std::exchange(ir, {}); }

  // Bytes of a row and rows of each tile: bytes 16 and 48 of what LDTILECFG reads.
  std::string config() {
    const char *const columns[] = {"64", "64", "%below.row", "%below.row", "%a.row", "%a.below.row", "64", "64"},
                      *const rows[] = {"%top", "%top", "%below", "%below", "%top", "%below", "%depth", "%depth"};
    for (int i = 0; i < 8; ++i)
      append(ir, "  %columns.", i, " = trunc i64 ", columns[i], " to i16\n  %columns.at.", i,
             " = getelementptr i8, ptr %config, i64 ", 16 + 2 * i, "\n  store i16 %columns.", i, ", ptr %columns.at.",
             i, "\n  %rows.", i, " = trunc i64 ", rows[i], " to i8\n  %rows.at.", i,
             " = getelementptr i8, ptr %config, i64 ", 48 + i, "\n  store i8 %rows.", i, ", ptr %rows.at.", i, "\n");
    writer.declare("declare void @llvm.x86.ldtilecfg(ptr)\n");
    return take();
  }

  std::string at_sums(const std::string& which, const char* why, int tile) {
    std::string at = cat("%", which, ".", why, ".", tile);
    append(ir, "  ", at, ".row = getelementptr i8, ptr %c, i64 ", tile / 2 ? "%c.below" : "0", "\n  ", at,
           " = getelementptr i8, ptr ", at, ".row, i64 ", tile % 2 * 64, "\n");
    return at;
  }

  void step(const std::string& which, bool is_tall) {
    std::string ahead = cat("%", which, ".ahead.");
    if (fetches)
      append(ir, "  ", ahead, "0 = phi ptr [ %ahead, %", which, ".start ], [ ", ahead, side, ", %", which, ".step ]\n");
    for (int i = 0; i < side && fetches; ++i) {
      writer.prefetch(ir, cat(ahead, i));
      append(ir, "  ", ahead, i + 1, " = getelementptr i8, ptr ", ahead, i, ", i64 %ahead.step\n");
    }
    move("tileloadd64", lhs, cat("%", which, ".a"), "%am");
    append(ir, "  %", which, ".b.right = getelementptr i8, ptr %", which, ".b, i64 64\n");
    move("tileloadd64", rhs, cat("%", which, ".b"), "%bk");
    move("tileloadd64", rhs + 1, cat("%", which, ".b.right"), "%bk");
    if (is_tall) {
      append(ir, "  %", which, ".a.below = getelementptr i8, ptr %", which, ".a, i64 %a.below\n");
      move("tileloadd64", lhs + 1, cat("%", which, ".a.below"), "%am");
    }
    for (int tile = 0; tile < (is_tall ? 4 : 2); ++tile)
      call(multiply(), cat("i8 ", sums + tile, ", i8 ", lhs + tile / 2, ", i8 ", rhs + tile % 2),
           "i8 immarg, i8 immarg, i8 immarg");
  }

  void body(const std::string& which, bool is_tall) {
    int tiles = is_tall ? 4 : 2;
    auto each = [&](auto f) {
      for (int tile = sums; tile < sums + tiles; ++tile) f(tile);
      return take();
    };
    std::string written = take(), stride = "%c.row";
    std::string zero = each([&](int tile) { call("tilezero", cat("i8 ", tile), "i8 immarg"); });
    std::string resume = each([&](int tile) { move("tileloadd64", tile, at_sums(which, "old", tile), stride); });
    std::string store = each([&](int tile) { move("tilestored64", tile, at_sums(which, "new", tile), stride); });
    step(which, is_tall);
    ir = written +
         fill(body_text, {{"which", which}, {"zero", zero}, {"resume", resume}, {"step", take()}, {"store", store}});
  }
};

}  // namespace

std::string DotWriter::amx_tile(bool fetches) {
  std::string name = cat("weft.amx.", form.name(), fetches ? ".fetching" : "");
  if (!first(name)) return name;
  Amx amx{*this, fetches, {}};
  std::string config = amx.config();
  amx.ir = fill(amx_open_text, {{"name", name + ".steps"}, {"config", config}});
  amx.body("tall", true);
  amx.body("low", false);
  amx.ir += fill(tile_text, {{"name", name}});
  declare("declare i64 @llvm.umin.i64(i64, i64)\n");
  declare("declare i64 @llvm.umax.i64(i64, i64)\n");
  emitter.functions_ += amx.ir;
  return name;
}

std::string DotWriter::amx_lhs() {
  std::string name = "weft.amx.lhs";
  if (!first(name)) return name;
  emitter.functions_ += fill(pack_rows_text, {{"name", name}});
  declare("declare <16 x i32> @llvm.masked.load.v16i32.p0(ptr, <16 x i1>, <16 x i32>)\n");
  return name;
}

std::string DotWriter::open_amx() const {
  return form.amx ? "  %amx.now = alloca i64, align 8\n  store i64 0, ptr %amx.now\n" : "";
}

std::string DotWriter::close_amx() {
  if (!form.amx) return "";
  declare("declare void @llvm.x86.tilerelease()\n");
  return "  %amx.last = load i64, ptr %amx.now\n  %amx.used = icmp ne i64 %amx.last, 0\n  br i1 %amx.used, label "
         "%amx.release, label %amx.none\n"
         "amx.release:\n  call void @llvm.x86.tilerelease()\n  br label %amx.none\namx.none:\n";
}

// Of a few rows vectors need not pack rhs, which would take longer than multiplying. Panels that are packed already
// come from memory: all rows go by each at once, while the next is fetched.
std::string DotWriter::choose_amx() const {
  if (!form.amx)
    return "  %tile.rows = add i64 %rows.tile, 0\n  %amx = icmp ne i1 false, false\n  %amx.packs = icmp ne i1 false, "
           "false\n";
  return cat("  %amx.some = icmp ugt i64 %m, ", few_for_amx,
             "\n  %amx = and i1 %amx.some, %lhs.along\n  %tile.rows = select i1 %amx, i64 ", amx_rows,
             ", i64 %rows.tile\n  %amx.plain = xor i1 %is.packed, true\n  %amx.takes = and i1 %amx, %amx.plain\n  "
             "%amx.packs = and i1 %amx.takes, ",
             form.packs_lhs ? "false" : "true", "\n");
}

}  // namespace weft
