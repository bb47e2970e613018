// Damaged programs: every one is accepted and legal, or rejected by an Error with line and column.
//
//   mutate [--rounds N] [--seed S] [--only ROUND] FILE|FOLDER…
//
// Each round damages one of the given texts (files are split at "// -----") and hands it to the parser; what is
// accepted is verified, and run where it is tiny. A round depends on the seed and its number alone: --only repeats one.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "weft/ir/interpret.h"
#include "weft/ir/text.h"
#include "weft/passes/pass.h"

// Set by a sanitizer's run time, absent without one.
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

using namespace weft;

namespace {

constexpr double longest_round = 5;      // seconds
constexpr int64_t most_elements = 2000;  // in all values of a program that is run

struct Options {
  long rounds = 2000, only = -1;
  unsigned seed = 1;
  std::vector<std::string> paths;
};

long current_round = -1;
void name_round() { std::fprintf(stderr, "mutate: in round %ld\n", current_round); }
void name_round_and_end(int) {
  name_round();
  std::_Exit(1);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  constexpr std::string_view mark = "// -----";
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(mark, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + mark.size();
  }
  return parts;
}

std::vector<std::string> read(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path))
      files.emplace_back(path);
    else
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
        if (entry.path().extension() == ".mlir") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const auto& file : files) {
    std::stringstream content;
    content << std::ifstream(file).rdbuf();
    for (std::string& part : split(content.str())) texts.push_back(std::move(part));
  }
  return texts;
}

// Both ways of writing each: as it was given and as we print it; and every function alone, where damage goes deeper.
void add_printed(std::vector<std::string>& texts) {
  for (size_t i = 0, count = texts.size(); i < count; ++i) {
    try {
      GraphPtr graph = parse(texts[i]);
      texts.push_back(print(*graph));
      for (const GraphPtr& function : graph->functions()) texts.push_back(print(*function));
    } catch (const Error&) {
      // A case of something that is refused.
    }
  }
}

using Random = std::mt19937_64;
size_t below(Random& random, size_t limit) { return limit ? random() % limit : 0; }

bool is_part_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' || c == '#' || c == '@';
}

// A word or mark at or after a random place: begin and length.
std::pair<size_t, size_t> token(Random& random, const std::string& text, bool number = false) {
  size_t at = below(random, text.size());
  auto wanted = [&](char c) {
    return number ? std::isdigit(static_cast<unsigned char>(c)) != 0 : !std::isspace(static_cast<unsigned char>(c));
  };
  while (at < text.size() && !wanted(text[at])) ++at;
  size_t end = at;
  if (number) {
    while (end < text.size() && wanted(text[end])) ++end;
  } else {
    while (end < text.size() && is_part_of_word(text[end])) ++end;
    if (end == at && at < text.size()) ++end;
  }
  return {at, end - at};
}

// Another element type in all types of one region, so that its body is legal and wrong for its operation.
void retype_region(Random& random, std::string& text) {
  static const char* const types[] = {"f32", "f64", "i1", "i8", "i32", "i64", "bf16", "complex<f64>", "ui8"};
  size_t begin = text.find("^bb", below(random, text.size()));
  if (begin == std::string::npos) return;
  std::string from = types[below(random, std::size(types))], to = types[below(random, std::size(types))];
  int depth = 1;
  for (size_t at = begin; at < text.size() && depth > 0; ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if ((text[at] != '<' && text[at] != 'x') || text.compare(at + 1, from.size() + 1, from + ">") != 0) continue;
    text.replace(at + 1, from.size(), to);
    at += to.size();
  }
}

void damage(Random& random, std::string& text, const std::vector<std::string>& texts) {
  static const char* const numbers[] = {"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "3",
                                        "7",
                                        "64",
                                        "65536",
                                        "2147483648",
                                        "4294967296",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "18446744073709551615",
                                        "99999999999999999999",
                                        "1.0e+400",
                                        "0x7FC00000",
                                        "?"};
  size_t at = below(random, text.size());
  switch (below(random, 10)) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, below(random, 12));
      break;
    case 2:
      text.insert(at, text.substr(below(random, text.size()), below(random, 60)));
      break;
    case 3:
      text.insert(at, 1, "0123456789<>(){}[]%x,:-\"#@!^="[below(random, 30)]);
      break;
    case 4: {  // swap two tokens
      auto [a, a_size] = token(random, text);
      auto [b, b_size] = token(random, text);
      if (a > b) std::swap(a, b), std::swap(a_size, b_size);
      if (a + a_size > b) break;
      std::string first = text.substr(a, a_size), second = text.substr(b, b_size);
      text.replace(b, b_size, first).replace(a, a_size, second);
      break;
    }
    case 5: {  // delete or double a token
      auto [begin, size] = token(random, text);
      if (below(random, 2))
        text.erase(begin, size);
      else
        text.insert(begin, text.substr(begin, size) + " ");
      break;
    }
    case 6:
    case 7: {
      auto [begin, size] = token(random, text, true);
      text.replace(begin, size, numbers[below(random, std::size(numbers))]);
      break;
    }
    case 8:
      retype_region(random, text);
      break;
    default: {  // a token of another program
      const std::string& other = texts[below(random, texts.size())];
      auto [from, from_size] = token(random, other);
      auto [begin, size] = token(random, text);
      text.replace(begin, size, other.substr(from, from_size));
    }
  }
  if (text.empty()) text = " ";
}

// Whether the program is small enough to be run: no loops, few elements.
bool is_tiny(const Graph& graph, int64_t& elements, int depth = 0) {
  if (depth > 8) return false;
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::while_ || node.op == Op::custom_call) return false;
    for (const Type& type : node.types) {
      if (!type.is_static()) return false;
      for (const Dim& dim : type.dims)
        if (dim.value() > most_elements) return false;
      if ((elements += type.count().value() + 1) > most_elements) return false;
    }
    // What an op sweeps over may be larger than what it gives.
    for (const auto& [attr, value] : node.attrs)
      if (const auto* ints = std::get_if<Ints>(&value))
        for (int64_t v : *ints)
          if (v > 64 || v < -64) return false;
    for (const GraphPtr& region : node.regions)
      if (!is_tiny(*region, elements, depth + 1)) return false;
  }
  return true;
}

void run(const Graph& graph) {
  int64_t elements = 0;
  if (!is_tiny(graph, elements)) return;
  std::vector<Literal> arguments;
  for (NodeId id : graph.parameters()) arguments.emplace_back(graph.node(id).type());
  try {
    interpret(graph, arguments);
    interpret(*run_pipeline(graph), arguments);
  } catch (const Error&) {
    // What the interpreter refuses, it refuses with a reason.
  }
}

// Nothing, or what was wrong with the way in which the text was handled.
std::string handle(const std::string& text) {
  GraphPtr graph;
  try {
    graph = parse(text, "damaged.mlir");
  } catch (const Error& error) {
    return error.loc().line() > 0 ? std::string() : cat("no place: ", error.what());
  } catch (const std::exception& error) {
    return cat("parse: ", error.what());
  }
  try {
    verify(*graph);
    run(*graph);
    parse(print(*graph));  // with locations
    PrintOptions plain;
    plain.locations = false;
    GraphPtr again = parse(print(*graph, plain));
    if (!equal(*again, *graph) || print(*again, plain) != print(*graph, plain)) return "reads back as another program";
  } catch (const std::exception& error) {
    return cat("accepted, then: ", error.what());
  }
  return {};
}

std::string damaged(const std::vector<std::string>& texts, unsigned seed, long round) {
  Random random(seed * 1000003ULL + static_cast<uint64_t>(round));
  std::string text = texts[below(random, texts.size())];
  for (size_t i = 0, count = 1 + below(random, 4); i < count; ++i) damage(random, text, texts);
  return text;
}

Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    bool has_next = i + 1 < count;
    if (has_next && !std::strcmp(words[i], "--rounds"))
      options.rounds = std::atol(words[++i]);
    else if (has_next && !std::strcmp(words[i], "--seed"))
      options.seed = static_cast<unsigned>(std::atol(words[++i]));
    else if (has_next && !std::strcmp(words[i], "--only"))
      options.only = std::atol(words[++i]);
    else
      options.paths.emplace_back(words[i]);
  }
  return options;
}

}  // namespace

int main(int count, char** words) {
  Options options = options_of(count, words);
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(name_round);
  else
    std::signal(SIGSEGV, name_round_and_end);
  std::vector<std::string> texts = read(options.paths);
  if (texts.empty()) return std::fprintf(stderr, "mutate: no texts\n"), 2;
  add_printed(texts);
  int failures = 0;
  long first = options.only >= 0 ? options.only : 0, last = options.only >= 0 ? options.only + 1 : options.rounds;
  for (current_round = first; current_round < last; ++current_round) {
    std::string text = damaged(texts, options.seed, current_round);
    if (options.only >= 0) std::printf("%s\n", text.c_str()), std::fflush(stdout);
    // Time of its own: a busy machine may leave it waiting.
    std::clock_t begin = std::clock();
    std::string problem = handle(text);
    double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (problem.empty() && took > longest_round) problem = cat("took ", took, " s");
    if (problem.empty()) continue;
    std::printf("round %ld: %s\n", current_round, problem.c_str());
    if (++failures == 20) break;
  }
  std::printf("mutate: %ld rounds over %zu texts, %d failures\n", last - first, texts.size(), failures);
  return failures ? 1 : 0;
}
