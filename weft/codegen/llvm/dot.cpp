// A dot kernel's own functions: the entry, which fills the shared driver's descriptor, and the
// epilogue's loop.
#include "weft/codegen/llvm/dot.h"

#include <algorithm>
#include <limits>

#include "weft/codegen/llvm/dot_needs.h"
#include "weft/core/error.h"
#include "weft/core/pages.h"

namespace weft {
namespace {

// Functions that run once a work item or less are not worth LLVM's time.
constexpr std::string_view unhurried = "noinline optnone ";

// %c holds %rows rows of accumulators. Vectors of columns run down the rows.
constexpr std::string_view epilogue_text = R"(dot.v:
  %dot.v0 = phi i64 [ 0, %dot.entry ], [ %dot.v.next, %dot.v.end ]
  %dot.left = sub i64 %dot.cols, %dot.v0
$mask$  %dot.n = add i64 %dot.n0, %dot.v0
  %dot.c.v = getelementptr $type$, ptr %dot.c, i64 %dot.v0
  br label %dot.row
dot.row:
  %dot.r = phi i64 [ 0, %dot.v ], [ %dot.r.next, %dot.row.end ]
  %dot.m = add i64 %dot.m0, %dot.r
  %dot.r.offset = mul i64 %dot.r, $row.bytes$
  %dot.at = getelementptr i8, ptr %dot.c.v, i64 %dot.r.offset
  %dot.value = load <$lanes$ x $type$>, ptr %dot.at, align $align$
)";

// The lanes of a vector that exist.
constexpr std::string_view mask_text = R"(  %dot.left.less = call i64 @llvm.umin.i64(i64 %dot.left, i64 $lanes$)
  %dot.left.small = trunc i64 %dot.left.less to i32
  %dot.left.one = insertelement <$lanes$ x i32> poison, i32 %dot.left.small, i64 0
  %dot.left.all = shufflevector <$lanes$ x i32> %dot.left.one, <$lanes$ x i32> poison, <$lanes$ x i32> zeroinitializer
  %dot.mask = icmp ult <$lanes$ x i32> $iota$, %dot.left.all
)";

constexpr std::string_view epilogue_end_text = R"(  br label %dot.row.end
dot.row.end:
  %dot.r.next = add i64 %dot.r, 1
  %dot.r.more = icmp ult i64 %dot.r.next, %dot.rows
  br i1 %dot.r.more, label %dot.row, label %dot.v.end
dot.v.end:
  %dot.v.next = add i64 %dot.v0, $columns$
  %dot.v.more = icmp ult i64 %dot.v.next, %dot.cols
  br i1 %dot.v.more, label %dot.v, label %dot.done
dot.done:
  ret void
}

)";

void store_field(std::string& ir, std::string_view name, const std::string& value, int index = 0) {
  for (const DotField& field : dot_fields) {
    if (field.name != name) continue;
    append(ir, "  %dot.p.", name, ".", index, " = getelementptr i64, ptr %dot.d, i64 ", field.word + index,
           "\n  store ", field.is_pointer ? "ptr " : "i64 ", value, ", ptr %dot.p.", name, ".", index, "\n");
  }
}

// A stride in bytes.
std::string scaled(std::string& ir, const std::string& name, const std::string& stride, int64_t size) {
  append(ir, "  %dot.s.", name, " = mul i64 ", stride, ", ", size, "\n");
  return cat("%dot.s.", name);
}

void store_parts(std::string& ir, const std::string& name, int64_t part, int64_t jump) {
  store_field(ir, name + "p", cat(part ? part : std::numeric_limits<int64_t>::max()));
  store_field(ir, name + "j", cat(jump));
}

// What the descriptor says of rhs.
struct RhsWords {
  std::string packed = "0", bn = "0", bk = "0", from, panel = "0";
  std::vector<std::string> strides;  // of the batch dimensions that there are
};

RhsWords as_it_lies(std::string& ir, const DotOperand& rhs) {
  RhsWords words;
  words.bn = scaled(ir, "bn", rhs.outer, size_of(rhs.dtype));
  words.bk = scaled(ir, "bk", rhs.inner, size_of(rhs.dtype));
  words.from = rhs.pointer;
  for (size_t i = 0; i < rhs.batch.size(); ++i)
    words.strides.push_back(scaled(ir, cat("b.", i), rhs.batch[i], size_of(rhs.dtype)));
  return words;
}

// Packed matrices lie one after the other, one for each batch or one for all.
RhsWords as_packed(std::string& ir, const DotKernel& kernel, const DotWriter& writer) {
  const DotOperand& rhs = kernel.rhs;
  const DotShape& shape = writer.shape;
  append(ir, "  %dot.w.up = add i64 ", rhs.outer, ", ", shape.width - 1, "\n  %dot.w.panels = udiv i64 %dot.w.up, ",
         shape.width, "\n  %dot.w.k.up = add i64 ", rhs.inner, ", ", writer.form.group - 1,
         "\n  %dot.w.units = udiv i64 %dot.w.k.up, ", writer.form.group, "\n  %dot.w.rows = add i64 %dot.w.units, ",
         writer.head_rows(), "\n  %dot.w.k = mul i64 %dot.w.rows, ", shape.width * shape.size,
         "\n  %dot.w.one = mul i64 %dot.w.k, %dot.w.panels\n  %dot.w.skipped = mul i64 %dot.w.one, ", kernel.matrix,
         "\n  %dot.w.from = getelementptr i8, ptr ", rhs.pointer, ", i64 %dot.w.skipped\n");
  RhsWords words{.packed = "1",
                 .from = "%dot.w.from",
                 .panel = "%dot.w.k",
                 .strides = std::vector<std::string>(rhs.batch.size(), "0")};
  bool shared = std::ranges::all_of(rhs.batch, [](const std::string& stride) { return stride == "0"; });
  std::string dense = "%dot.w.one";
  for (size_t i = rhs.batch.size(); !shared && i-- > 0;) {
    words.strides[i] = dense;
    append(ir, "  %dot.w.", i, " = mul i64 ", dense, ", ", kernel.batch[i], "\n");
    dense = cat("%dot.w.", i);
  }
  return words;
}

// Those of `packed` where rhs is packed by now, else those of `raw`, but in the order of sums of a packed one.
RhsWords either(std::string& ir, const std::string& is_packed, const RhsWords& packed, const RhsWords& raw) {
  append(ir, "  %dot.is.packed = icmp ne i64 ", is_packed, ", 0\n");
  int next = 0;
  auto choose = [&](const char* type, const std::string& yes, const std::string& no) {
    append(ir, "  %dot.now.", next, " = select i1 %dot.is.packed, ", type, " ", yes, ", ", type, " ", no, "\n");
    return cat("%dot.now.", next++);
  };
  RhsWords words{choose("i64", packed.packed, "2"),    raw.bn,       raw.bk,
                 choose("ptr", packed.from, raw.from), packed.panel, {}};
  for (size_t i = 0; i < raw.strides.size(); ++i)
    words.strides.push_back(choose("i64", packed.strides[i], raw.strides[i]));
  return words;
}

// What k and n of windows are made of; missing levels are outer ones.
void fill_windows(std::string& ir, const DotOperand& rhs) {
  auto store = [&](const DotOperand::Levels& levels, const std::string& name, int most) {
    check(levels.extents.size() <= static_cast<size_t>(most), "windows of ", levels.extents.size(), " levels");
    for (int i = 0; i < most; ++i) {
      auto at = static_cast<size_t>(i);
      bool is_there = at < levels.extents.size();
      store_field(ir, name + ".extents", is_there ? levels.extents[at] : "1", i);
      store_field(ir, name + ".strides",
                  is_there ? scaled(ir, cat("window.", name, i), levels.strides[at], size_of(rhs.dtype)) : "0", i);
    }
  };
  store(rhs.k_levels, "k", window_levels);
  store(rhs.n_levels, "n", place_levels);
}

// Fills %dot.d, the driver's descriptor; missing batch dimensions are leading ones.
void fill_descriptor(std::string& ir, const DotKernel& kernel, const DotWriter& writer, bool lhs_too) {
  append(ir, "  %dot.d = alloca [", dot_words, " x i64], align 8\n");
  const DotOperand &lhs = kernel.lhs, &rhs = kernel.rhs;
  if (lhs_too) {
    store_field(ir, "lhs", lhs.pointer);
    store_field(ir, "m", kernel.m);
    store_field(ir, "am", scaled(ir, "am", lhs.outer, size_of(lhs.dtype)));
    store_field(ir, "ak", scaled(ir, "ak", lhs.inner, size_of(lhs.dtype)));
  }
  auto [block, run] = rows_of(kernel, writer.shape);
  store_field(ir, "rows.block", cat(block));
  store_field(ir, "run.most", cat(run));
  store_field(ir, "rows.tile", cat(tile_rows(kernel, writer.form, writer.shape)));
  store_field(ir, "fetch", cat(fetch_of(kernel)));
  store_parts(ir, "m", lhs.outer_part, lhs.outer_jump * size_of(lhs.dtype));
  const DotOperand& along = lhs_too ? lhs : rhs;
  store_parts(ir, "k", along.inner_part, along.inner_jump * size_of(along.dtype));
  store_field(ir, "n", kernel.n);
  store_field(ir, "k", kernel.k);
  RhsWords words = kernel.packed_rhs && lhs_too ? as_packed(ir, kernel, writer) : as_it_lies(ir, rhs);
  if (kernel.raw && lhs_too) words = either(ir, kernel.is_packed, words, as_it_lies(ir, *kernel.raw));
  store_field(ir, "packed", rhs.is_windows ? "3" : words.packed);
  store_field(ir, "bn", words.bn);
  store_field(ir, "bk", words.bk);
  store_field(ir, "rhs", words.from);
  store_field(ir, "panel.packed", words.panel);
  if (rhs.is_windows) fill_windows(ir, rhs);
  const DotOperand* result = kernel.result && lhs_too ? &*kernel.result : nullptr;
  store_field(ir, "result", result ? result->pointer : "null");
  store_field(ir, "result.row", result ? scaled(ir, "result", result->outer, writer.shape.size) : "0");
  int missing = max_batch_rank - static_cast<int>(kernel.batch.size());
  for (int i = 0; i < max_batch_rank; ++i) {
    bool is_there = i >= missing;
    auto at = static_cast<size_t>(i - missing);
    store_field(ir, "extents", is_there ? kernel.batch[at] : "1", i);
    if (lhs_too)
      store_field(ir, "lhs.strides", is_there ? scaled(ir, cat("a.", i), lhs.batch[at], size_of(lhs.dtype)) : "0", i);
    store_field(ir, "rhs.strides", is_there ? words.strides[at] : "0", i);
    store_field(ir, "result.strides",
                is_there && result ? scaled(ir, cat("result.", i), result->batch[at], writer.shape.size) : "0", i);
  }
}

void emit_epilogue(std::string& ir, const DotKernel& kernel, DotWriter& writer) {
  const DotShape& shape = writer.shape;
  append(ir, "define internal void @", kernel.name,
         ".epilogue(ptr %args, ptr %dot.ix, i64 %dot.m0, i64 %dot.rows, i64 %dot.n0, ",
         "i64 %dot.cols, ptr %dot.c) optsize {\n");
  std::vector<std::string> batch;
  for (size_t i = 0; i < kernel.batch.size(); ++i) {
    batch.push_back(cat("%dot.b.", i));
    append(ir, "  %dot.p.b.", i, " = getelementptr i64, ptr %dot.ix, i64 ", max_batch_rank - kernel.batch.size() + i,
           "\n  ", batch.back(), " = load i64, ptr %dot.p.b.", i, "\n");
  }
  if (kernel.epilogue_entry) kernel.epilogue_entry(ir);
  ir += "  br label %dot.entry\ndot.entry:\n  br label %dot.v\n";
  // What is computed for a row costs as much as a few operations: a light one is written for the whole row at once.
  int lanes = kernel.light_epilogue ? shape.width : shape.lanes;
  std::string iota;
  for (int i = 0; i < lanes; ++i) append(iota, i ? ", i32 " : "<i32 ", i);
  // Whole panels need no masks.
  bool is_whole = kernel.n_factor % shape.width == 0;
  std::string mask = is_whole ? "" : fill(mask_text, {{"lanes", cat(lanes)}, {"iota", iota + ">"}});
  ir += fill(epilogue_text, {{"mask", mask},
                             {"lanes", cat(lanes)},
                             {"type", writer.type()},
                             {"row.bytes", cat(shape.width * shape.size)},
                             {"align", cat(shape.lanes * shape.size)}});
  kernel.epilogue(ir, {"%dot.value", lanes, "%dot.m", "%dot.n", batch, is_whole ? "" : "%dot.mask", "%dot.rows"});
  ir += fill(epilogue_end_text, {{"columns", cat(lanes)}});
  writer.declare("declare i64 @llvm.umin.i64(i64, i64)\n");
}

}  // namespace

void DotEmitter::emit(std::string& ir, const DotKernel& kernel) {
  check(kernel.batch.size() <= size_t{max_batch_rank} && kernel.lhs.batch.size() == kernel.batch.size() &&
            kernel.rhs.batch.size() == kernel.batch.size(),
        "a dot of ", kernel.batch.size(), " batch dimensions");
  DotWriter writer(*this, form_of(target_, kernel));
  std::string driver = writer.driver(needs_of(kernel, writer.form, writer.shape));
  emit_epilogue(ir, kernel, writer);
  append(ir, "define void @", kernel.name, "(ptr %args, i64 %begin, i64 %end) ", unhurried, "{\n");
  if (kernel.entry) kernel.entry(ir);
  fill_descriptor(ir, kernel, writer, true);
  append(ir, "  call void @", driver, "(ptr %dot.d, i64 %begin, i64 %end, ptr @", kernel.name,
         ".epilogue, ptr %args)\n", "  ret void\n}\n\n");
}

void DotEmitter::emit_pack(std::string& ir, const DotKernel& kernel, const std::string& destination) {
  DotWriter writer(*this, form_of(target_, kernel));
  std::string driver = writer.pack_driver();
  append(ir, "define void @", kernel.name, "(ptr %args, i64 %begin, i64 %end) ", unhurried, "{\n");
  if (kernel.entry) kernel.entry(ir);
  fill_descriptor(ir, kernel, writer, false);
  append(ir, "  call void @", driver, "(ptr %dot.d, i64 %begin, i64 %end, ptr ", destination, ")\n  ret void\n}\n\n");
}

std::string DotEmitter::shared() {
  for (const auto& [name, needs] : drivers_) {
    if (library_.contains(name)) {
      declarations_.insert(cat("declare hidden void @", name, "(ptr, i64, i64, ptr, ptr)\n"));
      continue;
    }
    DotForm form = dot_form(target_, needs.lhs, needs.rhs, needs.accumulate);
    form.packs_lhs = needs.packs_lhs;
    form.by_panels = needs.by_panels;
    form.bits = needs.bits;
    DotWriter(*this, form).write_driver(name, needs);
  }
  drivers_.clear();
  std::string out;
  for (const std::string& line : declarations_) out += line;
  return out + "\n" + functions_;
}

Dim DotEmitter::items(const DotKernel& kernel, const Dim& batch, const Dim& m, const Dim& n) const {
  DotShape shape = dot_shape(target_, form_of(target_, kernel));
  auto [block, run] = rows_of(kernel, shape);
  return batch * ceildiv(m, run) * ceildiv(n, shape.width * shape.together) * ceildiv(min(m, run), block);
}

Dim DotEmitter::item_cost(const DotKernel& kernel, const Dim& m, const Dim& k) const {
  DotShape shape = dot_shape(target_, form_of(target_, kernel));
  return min(m, rows_of(kernel, shape).block) * (shape.width * shape.together) * k;
}

Dim DotEmitter::pack_items(const DotKernel& kernel, const Dim& batch, const Dim& n) const {
  return batch * ceildiv(n, dot_shape(target_, form_of(target_, kernel)).width);
}

}  // namespace weft
