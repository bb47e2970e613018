// What a dot kernel asks of the shared loops, as far as its extents and strides are known.
#include "weft/codegen/llvm/dot_needs.h"

#include <algorithm>

#include "weft/core/error.h"
#include "weft/core/pages.h"

namespace weft {
namespace {

// The value where it is known now; -1 where it is not, or there is none.
int64_t known(const std::string& value) { return value.empty() || value[0] == '%' ? -1 : std::stoll(value); }

// Whether a value may be `wanted` at run time.
bool may_be(const std::string& value, int64_t wanted) { return value[0] == '%' || value == cat(wanted); }

// Bytes between rows of lhs from which on their lines compete for a few sets of all caches.
constexpr int64_t far_apart = 4 * 4096;

// Whether lhs that could be read in place is packed: where its rows lie along m, so that each k is a line of its own,
// or too far apart, and enough columns share what is packed.
bool packs_panels(const DotKernel& kernel, const DotShape& shape) {
  const DotOperand &lhs = kernel.lhs, &rhs = kernel.rhs;
  bool is_plain = is_float(lhs.dtype) && lhs.dtype == rhs.dtype && lhs.dtype == kernel.accumulate &&
                  !kernel.packed_rhs && !rhs.is_windows && !lhs.outer_part && !lhs.inner_part;
  int64_t m = known(kernel.m), n = known(kernel.n), row = known(lhs.outer);
  bool is_small = m <= shape.few || (n >= 0 && n < 4 * shape.width);
  if (!is_plain || is_small || lhs.inner.empty()) return false;
  return lhs.inner != "1" || (row > 0 && row * shape.size % far_apart == 0);
}

// Tiles of nearly equal heights for so many rows, as the driver takes them.
void add_heights(std::set<int>& heights, int64_t rows, int64_t most) {
  for (int64_t left = rows; left > 0;) {
    int64_t tiles = (left + most - 1) / most, height = (left + tiles - 1) / tiles;
    heights.insert(static_cast<int>(height));
    left -= height;
  }
}

// Heights of tiles that a kernel of several blocks has at most, rather than the full one and the small one.
constexpr size_t most_heights = 3;

}  // namespace

// Rows of a work item and of a run: whole parts; and all rows at once where they are few and small tiles would not
// fill.
DotRows rows_of(const DotKernel& kernel, const DotShape& shape) {
  int64_t block = shape.block, part = kernel.lhs.outer_part, m = known(kernel.m);
  if (part)
    block = (block + part - 1) / part * part;
  else if (shape.together > 1 && m > 0) {
    // As many as divide among threads, of nearly equal length: longer ones that pack each block of rhs again.
    if (known(kernel.k) > shape.depth) block = shape.packed_rows;
    int64_t blocks = (m + block - 1) / block;
    if (blocks > 2 && block < shape.packed_rows) blocks = (blocks + 3) / 4 * 4;
    block = (m + blocks - 1) / blocks;
  } else if (m > block && m <= 2 * block && m % small_rows)
    block = m;
  check(block <= shape.run, "parts of ", part, " rows in a product");
  return {block, shape.run / block * block};
}

// Rows of a tile. Those that lie whole pages apart share the sets of the first-level cache: they must leave room for
// rhs.
int64_t tile_rows(const DotKernel& kernel, const DotForm& form, const DotShape& shape) {
  int64_t bytes = std::max<int64_t>(known(kernel.lhs.outer), 0) * size_of(form.lhs);
  bool share_sets = !form.packs_lhs && kernel.lhs.inner == "1" && bytes > 0 && bytes % 4096 == 0;
  return share_sets                                 ? std::min<int64_t>(shape.rows, shape.paged)
         : kernel.packed_rhs && known(kernel.m) > 0 ? shape.tall
                                                    : shape.rows;
}

// A single row reads eight lines of rhs side by side. Where they are short the CPU does not foresee the next ones: they
// are fetched so many bytes ahead, unless all of rhs may be in the second-level cache. So are long lines of bytes that
// no cache holds, which it is done with before more of them come from memory.
constexpr int64_t fetched = 12 * 1024, fetched_of_bytes = 1024, stays_near = 1 << 20;
int64_t fetch_of(const DotKernel& kernel) {
  const DotOperand& rhs = kernel.raw ? *kernel.raw : kernel.rhs;
  int64_t size = size_of(rhs.dtype), eight = 8 * size *
                                             known(rhs.inner == "1"   ? rhs.outer
                                                   : rhs.outer == "1" ? rhs.inner
                                                                      : "");
  bool is_short = eight <= fetched;
  if (eight <= 0 || (!is_short && size > 1) || (kernel.packed_rhs && !kernel.raw)) return 0;
  std::vector<std::string> extents = kernel.batch;
  extents.insert(extents.end(), {kernel.n, kernel.k});
  int64_t room = (is_short ? stays_near : beyond_caches) / size;  // elements; none where an extent is not known
  for (const std::string& extent : extents) room = known(extent) < 0 ? 0 : room / std::max<int64_t>(known(extent), 1);
  if (room > 0) return 0;
  return is_short ? (fetched + eight - 1) / eight * eight : fetched_of_bytes;
}

DotForm form_of(const Target& target, const DotKernel& kernel) {
  DotForm form = dot_form(target, kernel.lhs.dtype, kernel.rhs.dtype, kernel.accumulate);
  form.bits = kernel.rhs.bits;
  // Whole units of lhs are read in place where they lie together.
  bool in_place = form.group == 1 || (kernel.lhs.inner == "1" && kernel.k_factor % form.group == 0);
  form.packs_lhs =
      size_of(form.lhs) != size_of(form.packed) || is_float(form.lhs) != is_float(form.packed) || !in_place;
  // Many panels share one addition of the bias.
  int64_t m = known(kernel.m), n = known(kernel.n);
  DotShape shape = dot_shape(target, form);
  if (form.biased && !form.amx) form.packs_lhs |= (m < 0 || m > shape.few) && (n < 0 || n > 2 * shape.width);
  form.by_panels = !form.packs_lhs && form.group == 1 && packs_panels(kernel, dot_shape(target, form));
  form.packs_lhs |= form.by_panels;
  return form;
}

// What the driver will ask for at run time, as far as extents and strides are known now.
DotNeeds needs_of(const DotKernel& kernel, const DotForm& form, const DotShape& shape) {
  DotNeeds needs{.lhs = form.lhs,
                 .rhs = form.rhs,
                 .accumulate = form.accumulate,
                 .packs_lhs = form.packs_lhs,
                 .by_panels = form.by_panels,
                 .bits = form.bits};
  int64_t m = known(kernel.m), n = known(kernel.n), k = known(kernel.k);
  bool has_raw = !kernel.packed_rhs || kernel.raw;
  const DotOperand& raw = kernel.raw ? *kernel.raw : kernel.rhs;
  bool may_be_few = m <= shape.few, may_be_rows = has_raw && may_be(raw.outer, 1);
  needs.packed = kernel.packed_rhs;
  needs.raw = may_be_few && may_be_rows;
  bool all_raw = may_be_few && (!form.amx || m <= few_for_amx) && m >= 0 && raw.outer == "1" && n >= 0 &&
                 n % shape.width == 0 && k >= 0 && k % form.group == 0;
  needs.pack = has_raw && !all_raw;
  needs.slim = may_be(kernel.m, 1) && (needs.raw || needs.packed);
  needs.fetch = fetch_of(kernel) != 0;
  needs.windows = kernel.rhs.is_windows;
  needs.half = n > 0 && n % shape.width != 0 && n % shape.width <= shape.width / 2;
  needs.inner =
      !kernel.packed_rhs && may_be(kernel.lhs.inner, 1) && may_be(kernel.rhs.inner, 1) && m <= 2 * shape.inner;
  // Nearly equal heights of rows in parts, or where they are one block.
  int64_t rows = kernel.lhs.outer_part ? kernel.lhs.outer_part : m;
  bool is_whole = kernel.lhs.outer_part || (m >= 0 && m <= rows_of(kernel, shape).block);
  int64_t most = tile_rows(kernel, form, shape);
  bool is_even = most < shape.rows && m > 0 && m % most == 0 && rows_of(kernel, shape).block % most == 0;
  if (is_whole) {
    add_heights(needs.heights, rows, most);
  } else if (auto [block, run] = rows_of(kernel, shape); m > 0 && m <= run && !is_even) {
    // Any blocks that lie together.
    for (int64_t i = block; i < m; i += block) {
      add_heights(needs.heights, i, most);
      add_heights(needs.heights, m - i, most);
    }
    add_heights(needs.heights, m, most);
  }
  if (!is_whole && !is_even && (needs.heights.empty() || needs.heights.size() > most_heights))
    needs.heights = {shape.rows, small_rows};
  for (int height = 1; height <= shape.rows && form.by_panels; ++height) needs.heights.insert(height);
  if (!is_whole && most < shape.rows) needs.heights.insert(static_cast<int>(most));
  // The first tiles of all rows, and of some blocks. Those of AMX add up in another order.
  if (needs.pack && may_be_rows && !form.amx && !form.by_panels) {
    std::set<int> packing;
    if (rows > 0) add_heights(packing, rows, most);
    if (!is_whole) packing.insert(static_cast<int>(most));
    for (int height : packing)
      if (height >= least_packing(shape)) needs.packing.insert(height);
  }
  // A single row beside whose sums there is no room for others.
  if (needs.slim) needs.heights.insert(1);
  return needs;
}

}  // namespace weft
