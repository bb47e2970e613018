// Debug information in the text of a module: each kernel is a function of the user's file, at the line that it stores.
#include <map>
#include <string_view>

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
    if (is_plain) out += static_cast<char>(c);
    else append(out, '\\', "0123456789ABCDEF"[c >> 4], "0123456789ABCDEF"[c & 15]);
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
        if (function && line.ends_with(" {")) append(out, line.substr(0, line.size() - 2), " !dbg !", function, " {\n");
        else append(out, line, '\n');
      } else {
        bool is_instruction = place && line.starts_with("  ") && line.find_first_not_of(' ') != line.npos && line[line.find_first_not_of(' ')] != ';';
        append(out, line, is_instruction ? cat(", !dbg !", place) : "", '\n');
        if (line == "}") place = 0;
      }
    }
    return out + metadata();
  }

 private:
  int add(std::string text) {
    nodes_.push_back(std::move(text));
    return first_number + static_cast<int>(nodes_.size()) - 1;
  }

  int file_of(const std::string& path) {
    auto [found, is_new] = files_.try_emplace(path, 0);
    size_t slash = path.rfind('/');
    std::string folder = slash == path.npos ? "" : path.substr(0, slash), name = slash == path.npos ? path : path.substr(slash + 1);
    if (is_new) found->second = add(cat("!DIFile(filename: ", quoted(name), ", directory: ", quoted(folder), ")"));
    return found->second;
  }

  // The number of the function that a line defines, behind which its location's stands; 0 where it is no kernel's. Parts of a
  // kernel bear its name and more.
  int function_of(std::string_view line) {
    size_t begin = line.find('@') + 1;
    std::string_view name = line.substr(begin, line.find('(', begin) - begin);
    auto kernel = kernels_.upper_bound(name);
    if (kernel == kernels_.begin() || !name.starts_with((--kernel)->first)) return 0;
    const Location& loc = kernel->second->loc;
    int file = file_of(loc.file());
    int function = add(cat("distinct !DISubprogram(name: ", quoted(name), ", file: !", file, ", line: ", loc.line(), ", scopeLine: ", loc.line(), ", type: !", types_,
                           ", unit: !", unit_, ", spFlags: DISPFlagDefinition | DISPFlagOptimized)"));
    add(cat("!DILocation(line: ", loc.line(), ", scope: !", function, ")"));
    return function;
  }

  std::string metadata() {
    int file = files_.empty() ? file_of("unknown") : files_.begin()->second;
    nodes_[0] = cat("distinct !DICompileUnit(language: DW_LANG_Python, file: !", file, ", producer: \"weftwork\", isOptimized: true, emissionKind: FullDebug)");
    std::string out;
    for (size_t i = 0; i < nodes_.size(); ++i) append(out, "!", first_number + static_cast<int>(i), " = ", nodes_[i], "\n");
    return cat(out, "!llvm.dbg.cu = !{!", unit_, "}\n!llvm.module.flags = !{!900, !901}\n!900 = !{i32 2, !\"Debug Info Version\", i32 3}\n",
               "!901 = !{i32 7, !\"Dwarf Version\", i32 4}\n");
  }

  std::vector<std::string> nodes_;
  std::map<std::string, int> files_;
  std::map<std::string_view, const Kernel*> kernels_;
  int unit_ = 0, types_ = 0;
};

}  // namespace

std::string with_lines(const std::string& ir, const Program& program) { return LineWriter(program).write(ir); }

}  // namespace weft
