// Compiled programs kept on disk, for every process of a user.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "weft/codegen/target.h"
#include "weft/core/digest.h"
#include "weft/ir/graph.h"
#include "weft/runtime/file.h"

namespace weft {

// What a compiled program depends on, digested: the program with its constants and lines, the CPU, and this build of
// ours.
struct CacheKey {
  Digest digest;
  std::filesystem::path entry;                // where it is kept
  std::vector<Manifest::Constant> constants;  // the program's own, which entries do not hold
};

// A constant as executables and files hold it.
Manifest::Constant constant_of(const Literal& literal);

// Nothing where programs are not kept: the cache is off, or the graph calls operations that users added, which may be
// others next time.
std::optional<CacheKey> cache_key(const Graph& graph, const Target& target);
// The entry, or nothing: there is none, or it is damaged.
std::optional<Build> find_cached(const CacheKey& key);
// Keeps the program, if that is possible. Entries that were not used for longest go where there are too many.
void store_cached(const CacheKey& key, const Build& build);

// The cache lies in WEFT_CACHE ("off" or "0": nowhere), or in weftwork below XDG_CACHE_HOME or ~/.cache. It must belong
// to the user, and to nobody else to write. Entries take no more than WEFT_CACHE_BYTES, or 1 GiB, but for moments.
struct CacheInfo {
  std::string directory;  // empty where the cache is off
  std::string problem;    // why it is off
  int64_t entries = 0, bytes = 0, limit = 0;
  int64_t hits = 0, misses = 0;  // of this process
};
CacheInfo cache_info();
// Removes all entries.
void clear_cache();

}  // namespace weft
