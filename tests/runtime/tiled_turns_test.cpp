#include "weft/runtime/tiled_turns.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "weft/runtime/thread_pool.h"

namespace weft {
namespace {

// to[r] = from[r - reach] + 3 from[r] + 5 from[r + reach], for rows in [reach, rows - reach); an item is a part of a
// row.
struct Stencil {
  uint64_t *from, *to;
  int64_t rows, width, unit, reach;
};

void compute(void** args, int64_t begin, int64_t end) {
  const auto& s = *static_cast<const Stencil*>(args[0]);
  int64_t part = (s.width + s.unit - 1) / s.unit;
  for (int64_t item = begin; item < end; ++item)
    for (int64_t r = item / s.unit + s.reach, c = item % s.unit * part;
         c < std::min(item % s.unit * part + part, s.width); ++c)
      s.to[r * s.width + c] =
          s.from[(r - s.reach) * s.width + c] + 3 * s.from[r * s.width + c] + 5 * s.from[(r + s.reach) * s.width + c];
}

TEST_CASE("turns in tiles give what turns one by one give") {
  for (int threads : {1, 2, 3, 5})
    for (int64_t rows : {6, 40, 333, 1500})
      for (int64_t reach : {0, 1, 2})
        for (int64_t kernels : {2, 3})
          for (int64_t trips : {0, 1, 7, 100}) {
            INFO("threads ", threads, " rows ", rows, " reach ", reach, " kernels ", kernels, " trips ", trips);
            int64_t width = 7, unit = rows % 2 ? 3 : 1;
            std::vector<std::vector<uint64_t>> wanted(static_cast<size_t>(kernels)), found;
            for (size_t k = 0; k < wanted.size(); ++k)
              for (int64_t i = 0; i < rows * width; ++i) wanted[k].push_back(static_cast<uint64_t>(i * i) + k);
            found = wanted;
            auto stencils_of = [&](auto& arrays) {
              std::vector<Stencil> all;
              for (size_t k = 0; k < arrays.size(); ++k)
                all.push_back({arrays[k].data(), arrays[(k + 1) % arrays.size()].data(), rows, width, unit, reach});
              return all;
            };
            std::vector<Stencil> plain = stencils_of(wanted), tiled = stencils_of(found);
            int64_t items = (rows - 2 * reach) * unit;
            for (int64_t t = 0; t < trips; ++t)
              for (Stencil& s : plain) {
                void* args[] = {&s};
                compute(args, 0, items);
              }
            std::vector<void*> args;
            for (Stencil& s : tiled) args.push_back(&s);
            std::vector<TiledKernel> table;
            for (void*& arg : args) table.push_back({compute, &arg, items, unit, reach, 1000000});
            set_num_threads(threads);
            // Rows of a size of which many fit the cache, few, or none.
            int64_t row_bytes = trips == 7 ? 30000 : rows == 333 ? 300000 : 500;
            tiled_turns(nullptr, trips, kernels, table.data(), reach, row_bytes);
            set_num_threads(0);
            REQUIRE(found == wanted);
          }
}

}  // namespace
}  // namespace weft
