// Stages as files.
#include "weft/compiler/dump.h"

#include <filesystem>
#include <map>
#include <mutex>

#include "weft/compiler/manifest.h"
#include "weft/core/error.h"
#include "weft/core/knobs.h"
#include "weft/core/span.h"
#include "weft/ir/text.h"

namespace weft {
namespace {

// A function's name as that of a folder: text from elsewhere may call a function "../x", or by more than a name may
// have.
std::string folder_name(std::string_view name) {
  std::string result(name.substr(0, 100));
  for (char& c : result)
    if (c == '/' || (c >= 0 && c < ' ')) c = '_';
  if (result.empty() || result[0] == '.') result.insert(0, "_");
  return result;
}

// The same for the same functions in the same order, run after run.
std::string folder_for(const std::string& root, const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, int> made;
  std::string folder = cat(root, "/", folder_name(name));
  std::lock_guard lock(mutex);
  int number = ++made[folder];
  return number == 1 ? folder : cat(folder, "-", number);
}

// [f(item), …] with a line for each.
template <class T, class F>
std::string json_list(const std::vector<T>& items, F text_of) {
  std::string out = "[";
  for (const T& item : items) append(out, out.size() > 1 ? ",\n    " : "\n    ", text_of(item));
  return out + "\n  ]";
}

}  // namespace

Dump::Dump(const Graph& graph) {
  std::string root = knob_text(Knob::dump);
  if (root.empty()) return;
  folder_ = folder_for(root, graph.name());
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  if (problem) fail(ErrorKind::io, "dump", "cannot make the folder '", folder_, "' for WEFT_DUMP: ", problem.message());
}

void Dump::graph(std::string_view name, const Graph& graph) {
  if (folder_.empty()) return;
  std::string file = cat(stages_.size() < 10 ? "0" : "", stages_.size(), "-", name, ".mlir");
  text(file, print(graph));
  stages_.push_back({file, graph.size()});
}

void Dump::text(const std::string& file, std::string_view text) const {
  if (!folder_.empty()) write_whole(cat(folder_, "/", file), text);
}

void Dump::report(const Program& program, const std::string& target, const std::vector<StageTime>& times) const {
  if (folder_.empty()) return;
  Manifest m = manifest_of(program);
  std::string out = cat("{\n  \"name\": ", json_quoted(program.name), ",\n  \"target\": ", json_quoted(target));
  append(out, ",\n  \"stages\": ", json_list(stages_, [](const Stage& s) {
           return cat("{\"file\": ", json_quoted(s.file), ", \"nodes\": ", s.nodes, "}");
         }));
  append(out, ",\n  \"milliseconds\": ", json_list(times, [](const StageTime& t) {
           return cat("[", json_quoted(t.stage), ", ", t.milliseconds, "]");
         }));
  append(out, ",\n  \"kernels\": ", json_list(m.kernels, [](const KernelInfo& k) {
           return cat("{\"name\": ", json_quoted(k.name), ", \"source\": ", json_quoted(k.source),
                      ", \"ops\": ", json_texts(k.ops), ", \"launches\": ", k.launches, "}");
         }));
  append(out, ",\n  \"launches\": ", json_list(m.launches, [](const LaunchInfo& l) {
           return cat("{\"name\": ", json_quoted(l.name), ", \"source\": ", json_quoted(l.source),
                      ", \"ops\": ", json_texts(l.ops), ", \"lines\": ", json_texts(l.lines),
                      ", \"read_bytes\": ", json_size(l.read_bytes),
                      ", \"written_bytes\": ", json_size(l.written_bytes), ", \"setup\": ", l.is_setup,
                      ", \"later\": ", l.is_later, "}");
         }));
  append(out, ",\n  \"cuts\": ", json_list(m.cuts, [](const CutInfo& c) {
           return cat("{\"op\": ", json_quoted(c.op), ", \"source\": ", json_quoted(c.source),
                      ", \"reason\": ", json_quoted(c.reason), ", \"readers\": ", json_texts(c.readers), "}");
         }));
  append(out, ",\n  \"memory\": {\"arena\": ", json_size(m.arena_bytes),
         ", \"persistent\": ", json_size(m.persistent_bytes), "}\n}\n");
  text("report.json", out);
}

}  // namespace weft
