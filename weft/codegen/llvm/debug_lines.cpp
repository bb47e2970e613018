// Debug information in the text of a module: each kernel is a function of the user's file, at the line that it stores.
// It begins with an instruction that does nothing at each other line of its operations, so that a breakpoint there
// stops it.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "weft/codegen/emit.h"

namespace weft {
namespace {

// Behind the numbers that emit() uses.
constexpr int first_number = 1000;

// As LLVM writes strings: bytes other than letters, digits and the like in hexadecimal.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    bool is_plain = c >= 32 && c < 127 && c != '"' && c != '\\';
    if (is_plain)
      out += static_cast<char>(c);
    else
      append(out, '\\', "0123456789ABCDEF"[c >> 4], "0123456789ABCDEF"[c & 15]);
  }
  return out + '"';
}

class LineWriter {
 public:
  explicit LineWriter(const Program& program) {
    unit_ = add("");
    types_ = add("!DISubroutineType(types: !{null})");
    for (const Kernel& kernel : program.kernels)
      if (kernel.loc) kernels_.emplace(kernel.name, &kernel);
    for (const auto* list : {&program.run, &program.setup})
      for (const Launch* launch : plain_launches(*list))
        if (launch->kernel >= 0) add_lines(program.kernels[static_cast<size_t>(launch->kernel)], *launch);
  }

  std::string write(std::string_view ir) {
    std::string out;
    int place = 0;
    for (size_t at = 0, end; at < ir.size(); at = end) {
      end = std::min(ir.find('\n', at), ir.size() - 1) + 1;
      std::string_view line = ir.substr(at, end - at - 1);
      if (line.starts_with("define ")) {
        int function = function_of(line);
        place = function ? function + 1 : 0;
        if (function && line.ends_with(" {"))
          append(out, line.substr(0, line.size() - 2), " !dbg !", function, " {\n");
        else
          append(out, line, '\n');
      } else {
        bool is_instruction = place && line.starts_with("  ") && line.find_first_not_of(' ') != line.npos &&
                              line[line.find_first_not_of(' ')] != ';';
        if (is_instruction) out += std::exchange(begin_, {});
        append(out, line, is_instruction ? cat(", !dbg !", place) : "", '\n');
        if (line == "}") place = 0;
      }
    }
    return out + metadata();
  }

 private:
  void add_lines(const Kernel& kernel, const Launch& launch) {
    std::vector<Location>& lines = lines_[kernel.name];
    auto is_known = [&](const Location& line) {
      auto same = [&](const Location& other) { return other.line() == line.line() && other.file() == line.file(); };
      return !line || same(kernel.loc) || std::ranges::any_of(lines, same);
    };
    for (const Location& line : launch.lines)
      if (!is_known(line)) lines.push_back(line);
  }

  int add(std::string text) {
    nodes_.push_back(std::move(text));
    return first_number + static_cast<int>(nodes_.size()) - 1;
  }

  int file_of(const std::string& path) {
    auto [found, is_new] = files_.try_emplace(path, 0);
    size_t slash = path.rfind('/');
    std::string folder = slash == path.npos ? "" : path.substr(0, slash),
                name = slash == path.npos ? path : path.substr(slash + 1);
    if (is_new) found->second = add(cat("!DIFile(filename: ", quoted(name), ", directory: ", quoted(folder), ")"));
    return found->second;
  }

  // The number of the function that a line defines, behind which its location's stands; 0 where it is no kernel's.
  // Parts of a kernel bear its name and more.
  int function_of(std::string_view line) {
    size_t begin = line.find('@') + 1;
    std::string_view name = line.substr(begin, line.find('(', begin) - begin);
    auto kernel = kernels_.upper_bound(name);
    if (kernel == kernels_.begin() || !name.starts_with((--kernel)->first)) return 0;
    const Location& loc = kernel->second->loc;
    const std::vector<Location>& others = lines_[name];  // none for a part
    // Where it begins in the file of its own line, so that debuggers take that for its first instruction only if it is.
    int first = !others.empty() && others[0].file() == loc.file() ? others[0].line() : loc.line();
    int file = file_of(loc.file());
    int function = add(cat("distinct !DISubprogram(name: ", quoted(name), ", file: !", file, ", line: ", loc.line(),
                           ", scopeLine: ", first, ", type: !", types_, ", unit: !", unit_,
                           ", spFlags: DISPFlagDefinition | DISPFlagOptimized)"));
    add(cat("!DILocation(line: ", loc.line(), ", scope: !", function, ")"));
    begin_.clear();
    for (const Location& line : others) {
      int scope =
          add(cat("!DILexicalBlockFile(scope: !", function, ", file: !", file_of(line.file()), ", discriminator: 0)"));
      int at = add(cat("!DILocation(line: ", line.line(), ", scope: !", scope, ")"));
      append(begin_, "  %at_line", at, " = load volatile i8, ptr %args, !dbg !", at, "\n");
    }
    return function;
  }

  std::string metadata() {
    int file = files_.empty() ? file_of("unknown") : files_.begin()->second;
    nodes_[0] = cat("distinct !DICompileUnit(language: DW_LANG_Python, file: !", file,
                    ", producer: \"weftwork\", isOptimized: true, emissionKind: FullDebug)");
    std::string out;
    for (size_t i = 0; i < nodes_.size(); ++i)
      append(out, "!", first_number + static_cast<int>(i), " = ", nodes_[i], "\n");
    return cat(out, "!llvm.dbg.cu = !{!", unit_,
               "}\n!llvm.module.flags = !{!900, !901}\n!900 = !{i32 2, !\"Debug Info Version\", i32 3}\n",
               "!901 = !{i32 7, !\"Dwarf Version\", i32 4}\n");
  }

  std::vector<std::string> nodes_;
  std::map<std::string, int> files_;
  std::map<std::string_view, const Kernel*> kernels_;
  std::map<std::string_view, std::vector<Location>> lines_;  // of a kernel's operations, but for its own
  std::string begin_;                                        // what stands before the next instruction
  int unit_ = 0, types_ = 0;
};

}  // namespace

std::string with_lines(const std::string& ir, const Program& program) { return LineWriter(program).write(ir); }

}  // namespace weft
