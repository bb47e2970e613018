// One module for the whole program, its constants appended to the object, and what the header says.
#include "weft/compiler/export.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "weft/codegen/export.h"
#include "weft/codegen/llvm/object.h"
#include "weft/compiler/export_header.h"
#include "weft/core/digest.h"
#include "weft/core/error.h"
#include "weft/core/pages.h"
#include "weft/kernel/lower.h"
#include "weft/passes/pass.h"
#include "weft/passes/range_checks.h"

namespace weft {
namespace {

void pad(std::string& bytes) { bytes.resize((bytes.size() + cache_line - 1) / cache_line * cache_line); }

// The bytes of all constants, those that lie in the same memory once, and where each begins.
std::string gather_constants(const Program& program, std::vector<int64_t>& offsets) {
  std::string bytes;
  std::map<std::pair<const void*, size_t>, int64_t> places;
  for (const Literal& constant : program.constants) {
    auto content = constant.bytes();
    auto [found, is_new] = places.try_emplace({content.data(), content.size()}, static_cast<int64_t>(bytes.size()));
    offsets.push_back(found->second);
    if (!is_new) continue;
    bytes.append(reinterpret_cast<const char*>(content.data()), content.size());
    pad(bytes);
  }
  if (bytes.size() >> 31)
    fail(ErrorKind::unsupported, "export", "its constants take ", bytes.size(),
         " bytes: an object file has room for 2 GiB");
  return bytes;
}

template <class T>
T read(const std::string& bytes, uint64_t at) {
  T value;
  check(at + sizeof value <= bytes.size(), "an object of ours is cut short");
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
template <class T>
void put(std::string& bytes, uint64_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Adds a section .rodata with `content`, which defines the hidden symbol of that name. LLVM would read it as text.
void append_constants(std::string& object, const std::string& symbol, const std::string& content) {
  auto header = read<Elf64_Ehdr>(object, 0);
  std::vector<Elf64_Shdr> sections;
  for (uint64_t i = 0; i < header.e_shnum; ++i)
    sections.push_back(read<Elf64_Shdr>(object, header.e_shoff + i * sizeof(Elf64_Shdr)));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    for (uint64_t at = section.sh_offset; at < section.sh_offset + section.sh_size; at += sizeof(Elf64_Sym)) {
      auto entry = read<Elf64_Sym>(object, at);
      if (object.c_str() + sections[section.sh_link].sh_offset + entry.st_name != symbol) continue;
      entry.st_shndx = header.e_shnum;
      entry.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
      entry.st_size = content.size();
      put(object, at, entry);
    }
  }
  // The names of sections go to the end, with one more.
  Elf64_Shdr& names = sections[header.e_shstrndx];
  std::string name_bytes = object.substr(names.sh_offset, names.sh_size);
  Elf64_Shdr added{};
  added.sh_name = static_cast<Elf64_Word>(name_bytes.size());
  added.sh_type = SHT_PROGBITS;
  added.sh_flags = SHF_ALLOC;
  added.sh_addralign = cache_line;
  added.sh_size = content.size();
  name_bytes.append(".rodata", sizeof ".rodata");
  names.sh_offset = object.size();
  names.sh_size = name_bytes.size();
  object += name_bytes;
  pad(object);
  added.sh_offset = object.size();
  object += content;
  sections.push_back(added);
  pad(object);
  header.e_shoff = object.size();
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  object.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
  put(object, 0, header);
}

// What the IR declares and nobody but the runtime has.
void require_linkable(const std::string& ir, const std::string& name) {
  for (size_t at = 0; (at = ir.find("\ndeclare ", at)) != std::string::npos; ++at) {
    std::string_view line = std::string_view(ir).substr(at + 1, ir.find('\n', at + 1) - at - 1);
    size_t begin = line.find("@weft_");
    if (begin == std::string_view::npos || line.find("@weft_support_") == begin) continue;
    std::string_view callee = line.substr(begin + 1, line.find('(', begin) - begin - 1);
    constexpr std::string_view routine = "weft_routine_", helper = "weft_";
    callee.remove_prefix(callee.starts_with(routine) ? routine.size() : helper.size());
    fail(ErrorKind::unsupported, "export", "'", name, "' cannot be exported: it calls '", callee,
         "', which the support library for C programs does not have");
  }
}

}  // namespace

ExportedProgram export_program(const Graph& graph, const std::string& name, const std::string& target_name) {
  require_c_name(name);
  Target target = target_named(target_name);
  CheckedGraph flat = run_checked_pipeline(graph);
  Program program = lower(*flat.graph, {}, target.bf16);
  program.checks = std::move(flat.checks);
  write_past_caches(program);
  ExportPlan plan{name, {}, {}, {}};
  for (size_t i = 0; i < program.outputs.size(); ++i)
    if (program.outputs[i].alias < 0 && is_lined_up(program.outputs[i].type)) plan.lined_up.push_back(i);
  std::string prototype = c_prototype(program, name);
  plan.signature = digest_of(cat(prototype, describe_arguments(program))).text().substr(0, 16);
  std::string constants = gather_constants(program, plan.constant_offsets);
  std::string ir = emit_exported(program, target, plan);
  require_linkable(ir, name);
  ExportedProgram exported{compile_to_object(ir, target).bytes, c_header(program, plan, prototype, target)};
  if (!plan.constant_offsets.empty()) append_constants(exported.object, name + ".constants", constants);
  return exported;
}

}  // namespace weft
