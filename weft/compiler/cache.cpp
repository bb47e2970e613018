// Entries are files named by their key. They are written once, whole or not at all, and never changed; who reads one
// that is damaged compiles again and replaces it.
#include "weft/compiler/cache.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "weft/core/error.h"
#include "weft/core/knobs.h"
#include "weft/ir/routine_call.h"
#include "weft/ir/text.h"
#include "weft/runtime/thread_pool.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".weft", draft_suffix = ".tmp";
// The file that counts stores, a byte each. Where it has so many bytes the folder is looked through, which cuts the
// file so that the next look comes after a sixteenth as many stores as there are entries: what a look costs grows with
// them.
constexpr const char* counter_name = "stores";
constexpr int64_t full_counter = 1 << 20, fewest_stores = 16;
// That a digest takes, as parallel_for counts.
constexpr int64_t cost_of_byte = 10;

std::atomic<int64_t> hits{0}, misses{0};

// What the linker calls this build: it differs wherever a byte of the code does. Empty where it was not asked to say.
std::string find_build_id() {
  struct Search {
    uintptr_t address;
    std::string found;
  } search{reinterpret_cast<uintptr_t>(&find_build_id), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* search = static_cast<Search*>(data);
        bool is_ours = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          is_ours |= segment.p_type == PT_LOAD && search->address - begin < segment.p_memsz;
        }
        for (int i = 0; i < info->dlpi_phnum && is_ours; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_NOTE) continue;
          auto* at = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
          for (const char* end = at + segment.p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const char* content = at + sizeof note + (note.n_namesz + 3) / 4 * 4;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4) search->found.assign(content, note.n_descsz);
            at = content + (note.n_descsz + 3) / 4 * 4;
          }
        }
        return is_ours ? 1 : 0;
      },
      &search);
  return search.found;
}

const std::string& build_id() {
  static const std::string id = find_build_id();
  return id;
}

// The folder that entries lie in; where there is none, why.
struct Whereabouts {
  fs::path folder;
  std::string problem;
};

fs::path wanted_folder() {
  if (std::string given = knob_text(Knob::cache); !given.empty()) return given;
  fs::path base = environment_variable("XDG_CACHE_HOME");
  if (!base.is_absolute()) {
    base = environment_variable("HOME");
    if (!base.is_absolute()) return {};
    base /= ".cache";
  }
  return base / "weftwork";
}

Whereabouts place() {
  fs::path folder = wanted_folder();
  if (folder.empty()) return {{}, "there is no home directory"};
  if (folder == "off" || folder == "0") return {{}, cat("WEFT_CACHE is '", folder.string(), "'")};
  if (build_id().empty()) return {{}, "this build has no build ID"};
  std::error_code problem;
  fs::create_directories(folder.parent_path(), problem);
  // Whoever else makes it at the same time makes the same.
  mkdir(folder.c_str(), 0700);
  struct stat status;
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return {{}, cat("'", folder.string(), "' cannot be made")};
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)))
    return {{}, cat("'", folder.string(), "' can be written by other users")};
  if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0) return {{}, cat("'", folder.string(), "' cannot be written")};
  return {std::move(folder), {}};
}

struct Stored {
  fs::path path;
  int64_t bytes;
  fs::file_time_type used;
};

// Files of ours in the folder: entries, or drafts of them. Those that go while this looks are left out.
std::vector<Stored> entries(const fs::path& folder, std::string_view ending) {
  std::vector<Stored> found;
  std::error_code problem;
  for (fs::directory_iterator each(folder, problem), end; !problem && each != end; each.increment(problem)) {
    std::string name = each->path().filename().string();
    if (name.size() < 32 + ending.size() || !name.ends_with(ending) || name.find(suffix) != 32) continue;
    std::error_code gone;
    auto bytes = static_cast<int64_t>(each->file_size(gone));
    auto used = each->last_write_time(gone);
    if (!gone) found.push_back({each->path(), bytes, used});
  }
  return found;
}

// Leaves three quarters of the limit, those used last, and no drafts of processes that ended long ago.
void trim(const fs::path& folder) {
  std::error_code ignored;
  auto now = fs::file_time_type::clock::now();
  for (const Stored& draft : entries(folder, draft_suffix))
    if (now - draft.used > std::chrono::hours(1)) fs::remove(draft.path, ignored);
  std::vector<Stored> all = entries(folder, suffix);
  const int64_t next = std::clamp<int64_t>(static_cast<int64_t>(all.size()) / 16, fewest_stores, full_counter);
  fs::resize_file(folder / counter_name, static_cast<uintmax_t>(full_counter - next), ignored);
  int64_t bytes = 0, most = knob_integer(Knob::cache_bytes);
  for (const Stored& entry : all) bytes += entry.bytes;
  if (bytes <= most) return;
  std::ranges::sort(all, {}, &Stored::used);
  for (const Stored& entry : all) {
    if (bytes <= most / 4 * 3) return;
    fs::remove(entry.path, ignored);
    bytes -= entry.bytes;
  }
}

// Counts a store; whether the folder is to be looked through.
bool counts_to_trim(const fs::path& folder) {
  const int file = open((folder / counter_name).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  struct stat status{};
  bool is_due = write(file, "", 1) == 1 && fstat(file, &status) == 0;
  if (is_due && status.st_size == 1)  // a new file
    is_due = ftruncate(file, full_counter - fewest_stores) != 0;
  else
    is_due = is_due && status.st_size >= full_counter;
  close(file);
  return is_due;
}

// Operations of users may be others in the next process.
bool calls_users(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) {
    std::optional<RoutineCall> call = routine_of(node);
    return (call && !call->texts.empty()) ||
           std::ranges::any_of(node.regions, [](const GraphPtr& body) { return calls_users(*body); });
  });
}

// Large ones side by side: memory is read faster by several threads.
std::vector<Digest> digests_of(const std::vector<Literal>& constants) {
  std::vector<Digest> digests(constants.size());
  int64_t bytes = 0;
  for (const Literal& constant : constants) bytes += static_cast<int64_t>(constant.bytes().size());
  const void* args[] = {constants.data(), digests.data()};
  auto part = [](void** data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Literal& constant = static_cast<const Literal*>(data[0])[i];
      static_cast<Digest*>(data[1])[i] = constant.is_live() ? digest_of("live") : digest_of(constant.bytes());
    }
  };
  auto count = static_cast<int64_t>(constants.size());
  parallel_for(count, bytes / std::max<int64_t>(count, 1) * cost_of_byte + 1, part, const_cast<void**>(args));
  return digests;
}

}  // namespace

Manifest::Constant constant_of(const Literal& literal) {
  return {literal.type(), literal.bytes().data(), std::make_shared<Literal>(literal)};
}

std::optional<CacheKey> cache_key(const Graph& graph, const Target& target) {
  fs::path folder = place().folder;
  if (folder.empty() || calls_users(graph)) return {};
  std::string text = cat(build_id(), target.triple, " ", target.cpu, " ", target.features, " ", target.vector_bytes,
                         " ", graph.level() == Level::flat, "\n");
  for (const Symbol& symbol : graph.symbols())
    append(text, symbol.name, " ", symbol.min, " ", symbol.opt, " ", symbol.max, "\n");
  std::vector<Literal> constants;
  text += print(graph, {.resources = &constants});
  CacheKey key{digest_of(text), {}, {}};
  std::vector<Digest> digests = digests_of(constants);
  for (size_t i = 0; i < constants.size(); ++i) {
    key.digest = combine(key.digest, digests[i]);
    key.constants.push_back(constant_of(constants[i]));
  }
  key.entry = folder / (key.digest.text() + std::string(suffix));
  return key;
}

std::optional<Build> find_cached(const CacheKey& key) {
  if (access(key.entry.c_str(), R_OK) == 0) {
    try {
      Package package = read_package(key.entry, key.constants);
      if (package.key != key.digest || package.builds.size() != 1)
        fail(ErrorKind::io, "executable_file", "the entry of another program");
      std::error_code ignored;
      fs::last_write_time(key.entry, fs::file_time_type::clock::now(), ignored);
      ++hits;
      return std::move(package.builds[0]);
    } catch (const Error&) {
      // Damaged, or gone in between.
    }
  }
  ++misses;
  return {};
}

void store_cached(const CacheKey& key, const Build& build) {
  std::error_code unknown;
  // Who writes to a pipe in its place waits for a reader.
  if (fs::is_other(fs::status(key.entry, unknown))) return;
  try {
    write_package(key.entry, {key.digest, {}, {}, {build}}, key.constants);
  } catch (const Error&) {
    return;  // no room: the program runs all the same
  }
  if (counts_to_trim(key.entry.parent_path())) trim(key.entry.parent_path());
}

CacheInfo cache_info() {
  Whereabouts where = place();
  CacheInfo info{where.folder.string(), where.problem, 0, 0, knob_integer(Knob::cache_bytes), hits, misses};
  if (where.folder.empty()) return info;
  for (const Stored& entry : entries(where.folder, suffix)) {
    ++info.entries;
    info.bytes += entry.bytes;
  }
  return info;
}

void clear_cache() {
  fs::path folder = place().folder;
  std::error_code ignored;
  for (std::string_view ending : {suffix, draft_suffix})
    for (const Stored& entry : entries(folder, ending)) fs::remove(entry.path, ignored);
}

}  // namespace weft
