// LLVM's disassembler over the functions of an ELF object; relocations give the names.
#include "weft/codegen/llvm/disassemble.h"

#include <elf.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>

#include "weft/core/error.h"

namespace weft {
namespace {

void require(bool condition, const char* why) {
  if (!condition) fail(ErrorKind::io, "object_code", "object code: ", why);
}

// The tables of an object, each offset held against its bytes.
struct Elf {
  std::string_view bytes;
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;
  std::string_view names, section_names;

  explicit Elf(std::string_view object) : bytes(object) {
    auto header = at<Elf64_Ehdr>(bytes, 0);
    require(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64,
            "is no 64-bit ELF file");
    require(header.e_machine == EM_X86_64, "is not for x86-64");
    for (uint64_t i = 0; i < header.e_shnum; ++i)
      sections.push_back(at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr)));
    require(header.e_shstrndx < sections.size(), "has no names for its sections");
    section_names = content(sections[header.e_shstrndx]);
    for (const Elf64_Shdr& section : sections) {
      if (section.sh_type != SHT_SYMTAB) continue;
      require(section.sh_link < sections.size(), "has no names for its symbols");
      names = content(sections[section.sh_link]);
      symbols = table<Elf64_Sym>(section);
    }
  }

  template <class T>
  static T at(std::string_view from, uint64_t offset) {
    require(offset <= from.size() && sizeof(T) <= from.size() - offset, "ends too early");
    T value;
    std::memcpy(&value, from.data() + offset, sizeof value);
    return value;
  }
  std::string_view content(const Elf64_Shdr& section) const {
    require(section.sh_offset <= bytes.size() && section.sh_size <= bytes.size() - section.sh_offset,
            "has a section outside of the file");
    return bytes.substr(section.sh_offset, section.sh_size);
  }
  template <class T>
  std::vector<T> table(const Elf64_Shdr& section) const {
    std::vector<T> rows;
    std::string_view from = content(section);
    for (uint64_t i = 0; i + sizeof(T) <= from.size(); i += sizeof(T)) rows.push_back(at<T>(from, i));
    return rows;
  }
  static std::string text(std::string_view names, uint64_t offset) {
    require(offset < names.size(), "has a name outside of its table");
    return std::string(names.substr(offset, names.find('\0', offset) - offset));
  }
  // Of a section where the symbol stands for one.
  std::string name_of(const Elf64_Sym& symbol) const {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_SECTION) return text(names, symbol.st_name);
    require(symbol.st_shndx < sections.size(), "has a symbol outside of its sections");
    return text(section_names, sections[symbol.st_shndx].sh_name);
  }
};

// One function being read: what LLVM asks about it while it prints.
struct Function {
  uint64_t begin = 0, end = 0;
  const std::map<uint64_t, std::string>* references = nullptr;  // by place in the section
  const std::map<uint64_t, std::string>* others = nullptr;      // functions by where they begin
  std::set<uint64_t> targets;                                   // that instructions of it jump to
  std::string label;                                            // of the last jump; lives until LLVM has printed it
};

std::string label_at(const Function& function, uint64_t place) {
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  uint64_t offset = place - function.begin;
  do hex.insert(hex.begin(), digits[offset % 16]);
  while (offset /= 16);
  return hex;
}

// What a relocation puts in the operand of the instruction at `pc`.
int operand_name(void* data, uint64_t pc, uint64_t offset, uint64_t, uint64_t, int, void* result) {
  auto& function = *static_cast<Function*>(data);
  auto found = function.references->find(pc + offset);
  if (found == function.references->end()) return 0;
  auto& info = *static_cast<LLVMOpInfo1*>(result);
  info = {};
  info.AddSymbol.Present = 1;
  info.AddSymbol.Name = found->second.c_str();
  return 1;
}

const char* jump_name(void* data, uint64_t target, uint64_t* type, uint64_t, const char** name) {
  auto& function = *static_cast<Function*>(data);
  bool is_jump = *type == LLVMDisassembler_ReferenceType_In_Branch;
  *type = LLVMDisassembler_ReferenceType_InOut_None;
  *name = nullptr;
  if (!is_jump) return nullptr;
  if (auto other = function.others->find(target); other != function.others->end()) return other->second.c_str();
  if (target < function.begin || target >= function.end) return nullptr;
  function.targets.insert(target);
  function.label = ".L" + label_at(function, target);
  return function.label.c_str();
}

std::string text_of(Function& function, std::string_view code) {
  std::unique_ptr<void, decltype(&LLVMDisasmDispose)> context(
      LLVMCreateDisasm("x86_64-unknown-linux-gnu", &function, 1, operand_name, jump_name), LLVMDisasmDispose);
  if (!context) throw InternalError("LLVM has no disassembler");
  LLVMSetDisasmOptions(context.get(), LLVMDisassembler_Option_PrintImmHex);
  std::vector<std::pair<uint64_t, std::string>> lines;
  for (uint64_t at = function.begin; at < function.end;) {
    char line[256];
    std::string bytes(code.substr(at, function.end - at).substr(0, 16));
    size_t size = LLVMDisasmInstruction(context.get(), reinterpret_cast<uint8_t*>(bytes.data()), bytes.size(), at, line,
                                        sizeof line);
    lines.emplace_back(at, size ? line : cat("\t.byte\t", static_cast<int>(static_cast<unsigned char>(bytes[0]))));
    at += std::max<size_t>(size, 1);
  }
  std::string text;
  for (const auto& [at, line] : lines) {
    std::string place = label_at(function, at);
    if (function.targets.count(at)) append(text, ".L", place, ":\n");
    append(text, std::string(place.size() < 6 ? 6 - place.size() : 0, ' '), place, line, '\n');
  }
  return text;
}

// What the relocations of a section refer to, by the place that each changes.
std::map<uint64_t, std::string> references_of(const Elf& elf, uint64_t section) {
  std::map<uint64_t, std::string> references;
  for (const Elf64_Shdr& each : elf.sections) {
    if (each.sh_type != SHT_RELA || each.sh_info != section) continue;
    for (const Elf64_Rela& entry : elf.table<Elf64_Rela>(each)) {
      uint64_t number = ELF64_R_SYM(entry.r_info);
      require(number < elf.symbols.size(), "relocates to a symbol that it does not have");
      // A distance is from the end of its four bytes.
      auto addend = static_cast<int64_t>(static_cast<uint64_t>(entry.r_addend) +
                                         (ELF64_R_TYPE(entry.r_info) == R_X86_64_64 ? 0 : 4));
      std::string& name = references[entry.r_offset] = elf.name_of(elf.symbols[number]);
      if (addend != 0) append(name, addend > 0 ? "+" : "", addend);
    }
  }
  return references;
}

}  // namespace

std::vector<Assembly> disassemble(const std::string& object) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
  });
  Elf elf(object);
  std::vector<Elf64_Sym> functions;
  for (const Elf64_Sym& symbol : elf.symbols)
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF) functions.push_back(symbol);
  std::ranges::sort(functions, {}, [](const Elf64_Sym& symbol) { return std::pair(symbol.st_shndx, symbol.st_value); });
  // By section, then by place in it.
  std::map<uint64_t, std::map<uint64_t, std::string>> references, names;
  for (const Elf64_Sym& symbol : functions) names[symbol.st_shndx][symbol.st_value] = elf.name_of(symbol);
  std::vector<Assembly> result;
  for (const Elf64_Sym& symbol : functions) {
    require(symbol.st_shndx < elf.sections.size(), "has a symbol outside of its sections");
    std::string_view code = elf.content(elf.sections[symbol.st_shndx]);
    require(symbol.st_value <= code.size() && symbol.st_size <= code.size() - symbol.st_value,
            "has a symbol outside of its section");
    if (!references.count(symbol.st_shndx)) references[symbol.st_shndx] = references_of(elf, symbol.st_shndx);
    Function function{symbol.st_value,
                      symbol.st_value + symbol.st_size,
                      &references[symbol.st_shndx],
                      &names[symbol.st_shndx],
                      {},
                      {}};
    result.push_back({elf.name_of(symbol), text_of(function, code)});
  }
  return result;
}

}  // namespace weft
