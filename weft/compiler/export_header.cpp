// C headers of exported programs.
#include "weft/compiler/export_header.h"

#include <algorithm>
#include <set>

#include "weft/core/error.h"
#include "weft/core/pages.h"
#include "weft/core/text.h"

namespace weft {
namespace {

// Of C and C++, and what the headers use themselves.
constexpr std::string_view reserved[] = {
    "alignas",   "alignof",  "and",      "asm",      "auto",     "bitand",   "bitor",   "bool",      "break",
    "case",      "catch",    "char",     "class",    "compl",    "concept",  "const",   "consteval", "constexpr",
    "constinit", "continue", "decltype", "default",  "delete",   "do",       "double",  "else",      "enum",
    "explicit",  "export",   "extern",   "false",    "float",    "for",      "friend",  "goto",      "if",
    "inline",    "int",      "int16_t",  "int32_t",  "int64_t",  "int8_t",   "long",    "main",      "mutable",
    "namespace", "new",      "noexcept", "not",      "nullptr",  "operator", "or",      "pool",      "private",
    "protected", "public",   "register", "requires", "restrict", "return",   "short",   "signed",    "sizeof",
    "static",    "struct",   "switch",   "template", "this",     "throw",    "true",    "try",       "typedef",
    "typeid",    "typename", "typeof",   "uint16_t", "uint32_t", "uint64_t", "uint8_t", "union",     "unsigned",
    "using",     "virtual",  "void",     "volatile", "wchar_t",  "while",    "xor"};

// Of C's library, with f and l behind those of numbers: a program that defines one takes it from everyone that it
// links.
constexpr std::string_view library =
    " abort abs acos acosh asin asinh atan atan2 atanh atexit atof atoi bsearch calloc cbrt ceil clock close copysign "
    "cos cosh div erf erfc exit exp exp10 "
    "exp2 expm1 fabs fclose fdim floor fma fmax fmin fmod fopen fprintf fread free frexp fwrite getenv hypot ilogb "
    "index ldexp lgamma llrint llround log "
    "log10 log1p log2 logb lrint lround malloc memchr memcmp memcpy memmove memset modf nan nearbyint nextafter "
    "nexttoward open pow printf putchar puts "
    "qsort raise rand read realloc remainder remove remquo rename rint round scalbln scalbn scanf signal sin sincos "
    "sinh snprintf sprintf sqrt srand "
    "strcat strchr strcmp strcpy strlen strncmp strncpy strstr strtod strtol system tan tanh tgamma time trunc write ";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_reserved(std::string_view name) {
  return std::ranges::find(reserved, name) != std::end(reserved) || name.starts_with("weft_") ||
         name.starts_with("WEFT_");
}

bool is_of_library(std::string_view name) {
  std::string_view whole = name;
  if (name.ends_with('f') || name.ends_with('l')) whole.remove_suffix(1);
  return library.find(cat(" ", name, " ")) != std::string_view::npos ||
         library.find(cat(" ", whole, " ")) != std::string_view::npos;
}

// Names of arguments, each once.
class Names {
 public:
  std::string of(std::string_view wanted) {
    std::string name;
    for (char c : wanted) name += is_letter(c) || is_digit(c) ? c : '_';
    if (name.empty() || !is_letter(name[0]) || name[0] == '_') name = "x" + name;
    if (is_reserved(name)) name += '_';
    std::string unique = name;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = cat(name, "_", i);
    return unique;
  }

 private:
  std::set<std::string> taken_;
};

struct Argument {
  std::string type, name, text;
};

std::string_view c_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::c64:
      return "float";
    case DType::f64:
    case DType::c128:
      return "double";
    case DType::i16:
      return "int16_t";
    case DType::i32:
      return "int32_t";
    case DType::i64:
      return "int64_t";
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return "uint16_t";
    case DType::u32:
      return "uint32_t";
    case DType::u64:
      return "uint64_t";
    case DType::i2:
    case DType::i4:
    case DType::i8:
      return "int8_t";
    default:
      return "uint8_t";
  }
}

std::string described(const Type& type, std::string_view use) {
  std::string text = cat(numpy_name(type.dtype), " (");
  for (size_t i = 0; i < type.dims.size(); ++i) append(text, i ? ", " : "", type.dims[i]);
  append(text, type.dims.size() == 1 ? ",)" : ")", ", ", use);
  if (is_bool(type.dtype)) text += "; 0 or 1";
  if (is_complex(type.dtype)) text += "; real and imaginary parts by turns";
  return text;
}

std::vector<Argument> arguments_of(const Program& program) {
  Names names;
  std::vector<Argument> arguments;
  auto add = [&](std::string type, std::string_view name, std::string text) {
    arguments.push_back({std::move(type), names.of(name), std::move(text)});
  };
  for (const Symbol& symbol : program.symbols)
    add("int64_t ", symbol.name, cat("an extent, from ", symbol.min, " to ", symbol.max));
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const ProgramInput& input = program.inputs[i];
    bool written =
        std::ranges::find(program.outputs, static_cast<int>(i), &ProgramOutput::alias) != program.outputs.end();
    add(cat(written ? "" : "const ", c_type(input.type.dtype), "* "), input.name,
        described(input.type, written ? "read and written" : "read"));
  }
  for (const ProgramOutput& output : program.outputs)
    if (output.alias < 0) {
      bool lined_up = is_lined_up(output.type);
      add(cat(c_type(output.type.dtype), "* "), output.name.empty() ? "output" : output.name,
          described(output.type, lined_up ? "written; it must begin at a multiple of 64 bytes" : "written"));
    }
  return arguments;
}

constexpr std::string_view common = R"(#ifndef WEFT_EXPORT_2
#define WEFT_EXPORT_2
/* Threads to run loops on. */
typedef struct weft_pool {
  /* Calls body(args, begin, end) for disjoint parts of [0, count) that have all of it between them and of which none is
     empty, on any threads, and returns when all calls have. */
  void (*parallel_for)(void* context, int64_t count, void (*body)(void** args, int64_t begin, int64_t end), void** args);
  void* context;
  int64_t threads; /* how many parts it may run at once */
} weft_pool;
/* What functions return. */
enum {
  WEFT_OK = 0,
  WEFT_NO_MEMORY = 1,     /* nothing, or a part of the results, was written */
  WEFT_BAD_EXTENT = 2,    /* an extent is out of its range; nothing was written */
  WEFT_BAD_ALIGNMENT = 3, /* an argument does not begin where it must; nothing was written */
  WEFT_BAD_CPU = 4,       /* the CPU lacks a feature that the code needs; nothing was written */
  WEFT_BAD_VALUE = 5      /* NumPy raises for these values: an index out of bounds, a singular matrix; results were written, of no use */
};
#endif
)";

}  // namespace

void require_c_name(const std::string& name) {
  bool is_name = !name.empty() && is_letter(name[0]) && name[0] != '_' &&
                 std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
  if (!is_name || is_reserved(name))
    fail(ErrorKind::value, "export_name", "the name of a C function was wanted, got '", name, "'");
  if (is_of_library(name))
    fail(ErrorKind::value, "export_name", "the name of a C function was wanted that C's library has not, got '", name,
         "'");
}

std::string c_prototype(const Program& program, const std::string& name) {
  std::string text = cat("int32_t ", name, "(const weft_pool* pool");
  for (const Argument& argument : arguments_of(program)) append(text, ",\n    ", argument.type, argument.name);
  return text + ")";
}

std::string describe_arguments(const Program& program) {
  std::string text;
  for (const Argument& argument : arguments_of(program))
    append(text, "     ", argument.name, ": ", argument.text, "\n");
  return text;
}

std::string c_header(const Program& program, const ExportPlan& plan, const std::string& prototype,
                     const Target& target) {
  std::string guard = cat("WEFT_EXPORTED_", plan.name, "_", plan.signature), text;
  append(text, "/* Compiled by Weftwork for the CPU '", target.name,
         "'. Link with the object file, libweft_support.a, -lpthread and -lm. */\n#ifndef ", guard, "\n#define ", guard,
         "\n#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n", common,
         "\n/* Arrays are dense, in C order, and aligned as their elements.\n",
         "     pool: the threads to use; null: the calling one alone. Results are the same bits.\n",
         describe_arguments(program),
         "   Returns WEFT_OK or what went wrong. Any number of threads may call it at once. */\n", prototype,
         ";\n\n/* The object file belongs to this header if ", plan.name, "_signature == ", plan.name,
         "_SIGNATURE. */\nextern const uint64_t ", plan.name, "_signature;\n#define ", plan.name,
         "_SIGNATURE UINT64_C(0x", plan.signature, ")\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
  return text;
}

}  // namespace weft
