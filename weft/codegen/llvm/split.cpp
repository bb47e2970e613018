// Modules in parts: which functions need which, and who compiles what.
#include "weft/codegen/llvm/split.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "weft/core/error.h"

namespace weft {
namespace {

// Text that LLVM takes some milliseconds for: below, threads cost more than they save.
constexpr size_t worth_splitting = 20000;

struct FunctionText {
  std::string_view text, name;
  std::set<std::string_view> uses;  // names of functions and constants
  bool inlined = false;
  size_t work = 0;
  int part = -1;
};

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// The name behind the first @ from `at` on, which moves behind it; empty at the end.
std::string_view next_name(std::string_view text, size_t& at) {
  size_t found = text.find('@', at);
  if (found == text.npos) return {};
  size_t end = found + 1;
  while (end < text.size() && in_name(text[end])) ++end;
  at = end;
  return text.substr(found + 1, end - found - 1);
}

class Splitter {
 public:
  explicit Splitter(std::string_view ir) { read(ir); }

  std::vector<std::string> parts(int most, size_t most_text) {
    size_t all = 0, longest = 1;
    for (const FunctionText& function : functions_) {
      all += function.work;
      longest = std::max(longest, function.work);
    }
    // Beside a long function there is no use in parts that hold next to nothing.
    auto count =
        std::min({static_cast<size_t>(std::max(most, 1)), all / worth_splitting + 1, (all + longest / 2) / longest});
    count = std::max(count, all / most_text);
    assign(count);
    std::vector<std::string> texts;
    for (size_t part = 0; part < count; ++part) texts.push_back(write(static_cast<int>(part)));
    return texts;
  }

 private:
  void read(std::string_view ir) {
    for (size_t at = 0; at < ir.size();) {
      bool defines = ir.substr(at).starts_with("define ");
      size_t end = ir.find(defines ? "\n}\n" : "\n", at);
      check(end != ir.npos, "the module's text has no end");
      end += defines ? 3 : 1;
      std::string_view text = ir.substr(at, end - at);
      if (defines)
        read_function(text);
      else if (text.starts_with("@"))
        constants_.emplace(text.substr(1, text.find(' ') - 1), text);
      else
        rest_ += text;
      at = end;
    }
  }

  void read_function(std::string_view text) {
    FunctionText function;
    function.text = text;
    size_t at = 0;
    function.name = next_name(text, at);
    std::string_view head = text.substr(0, text.find('\n'));
    function.inlined = head.find(" #2 {") != head.npos || head.find("alwaysinline") != head.npos;
    // Fast instruction selection takes a quarter of the time of the other.
    function.work = head.find("optnone") != head.npos ? text.size() / 4 : text.size();
    for (std::string_view name = next_name(text, at); !name.empty(); name = next_name(text, at))
      function.uses.insert(name);
    places_[function.name] = functions_.size();
    functions_.push_back(std::move(function));
  }

  // The longest first, each to who has least.
  void assign(size_t count) {
    std::vector<size_t> order(functions_.size()), load(count);
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return functions_[a].work > functions_[b].work; });
    for (size_t i : order) {
      if (functions_[i].inlined) continue;
      auto least = std::min_element(load.begin(), load.end());
      *least += functions_[i].work;
      functions_[i].part = static_cast<int>(least - load.begin());
    }
    for (const FunctionText& function : functions_)
      for (std::string_view name : function.uses)
        if (auto used = places_.find(name); used != places_.end() && functions_[used->second].part != function.part)
          shared_.insert(name);
  }

  std::string write(int part) const {
    std::string out = rest_;
    std::set<std::string_view> needed;
    std::vector<std::string_view> pending;
    auto put = [&](const FunctionText& function) {
      bool hides = function.part >= 0 && shared_.count(function.name) && function.text.starts_with("define internal ");
      if (hides)
        append(out, "define hidden ", function.text.substr(std::string_view("define internal ").size()));
      else
        out += function.text;
      for (std::string_view name : function.uses)
        if (needed.insert(name).second) pending.push_back(name);
    };
    for (const FunctionText& function : functions_)
      if (function.part == part) put(function);
    while (!pending.empty()) {
      std::string_view name = pending.back();
      pending.pop_back();
      if (auto constant = constants_.find(name); constant != constants_.end()) out += constant->second;
      auto used = places_.find(name);
      if (used == places_.end()) continue;
      const FunctionText& function = functions_[used->second];
      if (function.inlined)
        put(function);
      else if (function.part != part)
        append(out, declaration(function));
    }
    return out;
  }

  // "define internal void @f(ptr %a) attributes {" as "declare hidden void @f(ptr %a)".
  static std::string declaration(const FunctionText& function) {
    std::string_view head = function.text.substr(0, function.text.find('\n'));
    size_t open = head.find('('), depth = 0, end = open;
    do {
      depth += head[end] == '(' ? 1 : 0;
      depth -= head[end] == ')' ? 1 : 0;
      ++end;
    } while (depth && end < head.size());
    std::string_view internal = "define internal ", plain = "define ";
    size_t start = head.starts_with(internal) ? internal.size() : plain.size();
    return cat("declare hidden ", head.substr(start, end - start), "\n");
  }

  std::vector<FunctionText> functions_;
  std::map<std::string_view, size_t> places_;
  std::map<std::string_view, std::string_view> constants_;
  std::set<std::string_view> shared_;  // used by other parts than their own
  std::string rest_;
};

}  // namespace

std::vector<std::string> split_module(const std::string& ir, int most, size_t most_text) {
  return Splitter(ir).parts(most, most_text);
}

}  // namespace weft
