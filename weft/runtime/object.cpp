// ELF relocatable objects: sections into pages, relocations, stubs for calls out.
#include "weft/runtime/object.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "weft/core/error.h"
#include "weft/core/knobs.h"
#include "weft/runtime/debugger.h"
#include "weft/runtime/symbols.h"

namespace weft {
namespace {

constexpr uint64_t largest_object = uint64_t{1} << 30;
constexpr uint64_t largest_alignment = 64;
constexpr size_t stub_size = 16;

[[noreturn]] void reject(const std::string& why) { raise({ErrorKind::io, "object code: " + why, "object_code"}); }

void require(bool condition, const char* why) {
  if (!condition) reject(why);
}

// Reads structures out of untrusted bytes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, part(offset, sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view all() const { return bytes_; }
  std::string_view part(uint64_t offset, uint64_t size) const {
    require(offset <= bytes_.size() && size <= bytes_.size() - offset, "a section lies outside of the file");
    return bytes_.substr(offset, size);
  }

 private:
  std::string_view bytes_;
};

std::string_view text_at(std::string_view strings, uint64_t offset) {
  require(offset < strings.size(), "a name lies outside of its table");
  size_t end = strings.find('\0', offset);
  require(end != std::string_view::npos, "a name has no end");
  return strings.substr(offset, end - offset);
}

uint64_t rounded(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

}  // namespace

struct CodeObject::State {
  char* memory = nullptr;
  size_t size = 0;
  std::map<std::string, void*, std::less<>> functions;
  std::vector<std::unique_ptr<DebugImage>> images;
  std::vector<CodeFunction> listed;

  ~State() {
    if (memory) munmap(memory, size);
  }
};

namespace {

// One relocatable file, and where its sections go.
struct Part {
  Reader file;
  std::vector<Elf64_Shdr> sections;
  std::vector<uint64_t> offsets;
  std::vector<Elf64_Sym> symbols;
  std::string_view strings;

  explicit Part(std::string_view elf) : file(elf) {}
  std::string_view name(const Elf64_Sym& symbol) const { return text_at(strings, symbol.st_name); }
};

// All parts go into one mapping, and find each other's global functions there.
class Loader {
 public:
  Loader(std::span<const std::string> objects, CodeObject::State& state)
      : parts_(objects.begin(), objects.end()), state_(state) {
    for (const std::string& object : objects) given_ += object.size();
    require(given_ <= largest_object, "is too large");
  }

  void load() {
    uint64_t at = 0;
    for (Part& part : parts_) {
      read_sections(part);
      place_sections(part, at);
      read_symbols(part);
    }
    stubs_at_ = rounded(at, 16);
    find_symbols();
    map();
    for (const Part& part : parts_)
      for (const Elf64_Shdr& section : part.sections) relocate(part, section);
    publish();
  }

 private:
  static void read_sections(Part& part) {
    auto header = part.file.at<Elf64_Ehdr>(0);
    require(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0, "is no ELF file");
    require(header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB,
            "is not 64-bit little-endian");
    require(header.e_type == ET_REL && header.e_machine == EM_X86_64, "is not relocatable code for x86-64");
    require(header.e_shentsize == sizeof(Elf64_Shdr), "has section headers of another size");
    for (uint64_t i = 0; i < header.e_shnum; ++i)
      part.sections.push_back(part.file.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
  }

  // Sections may overlap in the file, and so may names: what they take in all is held against what was given.
  void place_sections(Part& part, uint64_t& at) const {
    part.offsets.resize(part.sections.size());
    for (size_t i = 0; i < part.sections.size(); ++i) {
      const Elf64_Shdr& section = part.sections[i];
      if (!(section.sh_flags & SHF_ALLOC)) continue;
      require(!(section.sh_flags & SHF_WRITE), "has writable data");
      require(section.sh_type != SHT_NOBITS, "has uninitialised data");
      uint64_t alignment = section.sh_addralign ? section.sh_addralign : 1;
      require(alignment <= largest_alignment && std::has_single_bit(alignment), "asks for an odd alignment");
      part.file.part(section.sh_offset, section.sh_size);
      at = rounded(at, alignment);
      part.offsets[i] = at;
      at += section.sh_size;
      require(at <= 2 * given_, "has sections that overlap");
    }
  }

  static void read_symbols(Part& part) {
    for (const Elf64_Shdr& section : part.sections) {
      if (section.sh_type != SHT_SYMTAB) continue;
      require(part.symbols.empty() && section.sh_entsize == sizeof(Elf64_Sym), "has an odd symbol table");
      require(section.sh_link < part.sections.size(), "has no names for its symbols");
      const Elf64_Shdr& names = part.sections[section.sh_link];
      part.strings = part.file.part(names.sh_offset, names.sh_size);
      std::string_view table = part.file.part(section.sh_offset, section.sh_size);
      Reader reader(table);
      for (uint64_t i = 0; i + sizeof(Elf64_Sym) <= table.size(); i += sizeof(Elf64_Sym))
        part.symbols.push_back(reader.at<Elf64_Sym>(i));
    }
  }

  // Symbols that parts have for all come first; what remains is the runtime's.
  void find_symbols() {
    for (const Part& part : parts_)
      for (const Elf64_Sym& symbol : part.symbols)
        if (ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL && symbol.st_shndx != SHN_UNDEF) {
          std::string_view name = part.name(symbol);
          require((names_ += name.size()) <= given_, "has names that overlap");
          require(shared_.emplace(name, place_of(part, symbol)).second, "has two symbols of one name");
        }
    for (const Part& part : parts_)
      for (const Elf64_Sym& symbol : part.symbols)
        if (symbol.st_shndx == SHN_UNDEF && symbol.st_name && !shared_.count(part.name(symbol)))
          stub_for(part.name(symbol));
  }

  void stub_for(std::string_view name) {
    auto [at, is_new] = stubs_.try_emplace(std::string(name), stubs_.size());
    if (!is_new) return;
    void* address = runtime_symbol(name);
    if (!address) reject(cat("calls '", name, "', which the runtime does not have"));
    targets_.push_back(address);
  }

  void map() {
    auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    state_.size = rounded(std::max<uint64_t>(stubs_at_ + targets_.size() * stub_size, 1), page);
    void* memory = mmap(nullptr, state_.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      raise({ErrorKind::runtime, cat("no memory for ", state_.size, " bytes of code"), "code_memory"});
    state_.memory = static_cast<char*>(memory);
    for (const Part& part : parts_)
      for (size_t i = 0; i < part.sections.size(); ++i) {
        if (!(part.sections[i].sh_flags & SHF_ALLOC)) continue;
        std::string_view bytes = part.file.part(part.sections[i].sh_offset, part.sections[i].sh_size);
        std::memcpy(state_.memory + part.offsets[i], bytes.data(), bytes.size());
      }
    // jmp *[rip + 2]; the address lies behind, aligned.
    for (size_t i = 0; i < targets_.size(); ++i) {
      char* stub = state_.memory + stubs_at_ + i * stub_size;
      const unsigned char jump[8] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x90, 0x90};
      std::memcpy(stub, jump, 8);
      std::memcpy(stub + 8, &targets_[i], 8);
    }
  }

  // Where a symbol lies in the mapping.
  static uint64_t place_of(const Part& part, const Elf64_Sym& symbol) {
    require(symbol.st_shndx < part.sections.size() && (part.sections[symbol.st_shndx].sh_flags & SHF_ALLOC),
            "has a symbol outside of its code");
    require(symbol.st_value <= part.sections[symbol.st_shndx].sh_size, "has a symbol outside of its section");
    return part.offsets[symbol.st_shndx] + symbol.st_value;
  }

  // The address of a symbol; `slot`: of the memory that holds it (GOT-relative loads).
  char* address_of(const Part& part, const Elf64_Sym& symbol, bool slot) const {
    auto shared = symbol.st_shndx == SHN_UNDEF ? shared_.find(part.name(symbol)) : shared_.end();
    if (symbol.st_shndx == SHN_UNDEF && shared == shared_.end()) {
      auto found = stubs_.find(part.name(symbol));
      require(found != stubs_.end(), "relocates to a symbol without a name");
      char* stub = state_.memory + stubs_at_ + found->second * stub_size;
      return slot ? stub + 8 : stub;
    }
    require(!slot, "loads the address of its own symbol from a table");
    return state_.memory + (shared == shared_.end() ? place_of(part, symbol) : shared->second);
  }

  void relocate(const Part& part, const Elf64_Shdr& section) {
    if (section.sh_type != SHT_RELA || section.sh_info >= part.sections.size()) return;
    const Elf64_Shdr& target = part.sections[section.sh_info];
    if (!(target.sh_flags & SHF_ALLOC)) return;
    std::string_view table = part.file.part(section.sh_offset, section.sh_size);
    Reader reader(table);
    for (uint64_t i = 0; i + sizeof(Elf64_Rela) <= table.size(); i += sizeof(Elf64_Rela))
      apply(part, reader.at<Elf64_Rela>(i), target, section.sh_info);
  }

  void apply(const Part& part, const Elf64_Rela& entry, const Elf64_Shdr& target, uint64_t index) {
    uint64_t number = ELF64_R_SYM(entry.r_info), type = ELF64_R_TYPE(entry.r_info);
    require(number < part.symbols.size(), "relocates to a symbol that it does not have");
    uint64_t width = type == R_X86_64_64 ? 8 : 4;
    require(entry.r_offset <= target.sh_size && width <= target.sh_size - entry.r_offset,
            "relocates outside of a section");
    char* place = state_.memory + part.offsets[index] + entry.r_offset;
    switch (type) {
      case R_X86_64_64: {
        uint64_t value = reinterpret_cast<uint64_t>(address_of(part, part.symbols[number], false)) +
                         static_cast<uint64_t>(entry.r_addend);
        std::memcpy(place, &value, 8);
        return;
      }
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        return relative(place, address_of(part, part.symbols[number], false), entry.r_addend);
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        return relative(place, address_of(part, part.symbols[number], true), entry.r_addend);
      default:
        reject(cat("has a relocation of type ", type));
    }
  }

  static void relative(char* place, const char* target, int64_t addend) {
    int64_t distance =
        static_cast<int64_t>(reinterpret_cast<uint64_t>(target) - reinterpret_cast<uint64_t>(place)) + addend;
    require(distance >= INT32_MIN && distance <= INT32_MAX, "relocates too far");
    auto value = static_cast<int32_t>(distance);
    std::memcpy(place, &value, 4);
  }

  void publish() {
    if (mprotect(state_.memory, state_.size, PROT_READ | PROT_EXEC) != 0)
      raise({ErrorKind::runtime, "this system does not let pages be made executable", "code_memory"});
    for (const auto& [name, at] : shared_) state_.functions.emplace(name, state_.memory + at);
    if (knob_flag(Knob::perf)) list_functions();
    if (knob_flag(Knob::debug))
      for (const Part& part : parts_) state_.images.push_back(std::make_unique<DebugImage>(debug_image(part)));
  }

  // The object with its code's addresses, and its debug sections relocated to them.
  std::string debug_image(const Part& part) const {
    std::string elf(part.file.all());
    uint64_t headers = part.file.at<Elf64_Ehdr>(0).e_shoff;
    auto header_of = [&](size_t i) { return elf.data() + headers + i * sizeof(Elf64_Shdr); };
    for (size_t i = 0; i < part.sections.size(); ++i) {
      Elf64_Shdr section = part.sections[i];
      if (section.sh_flags & SHF_ALLOC) {
        section.sh_addr = reinterpret_cast<uint64_t>(state_.memory + part.offsets[i]);
      } else if (section.sh_type == SHT_RELA && section.sh_info < part.sections.size() &&
                 !(part.sections[section.sh_info].sh_flags & SHF_ALLOC)) {
        relocate_debug(part, section, elf);
        section.sh_size = 0;
      } else {
        continue;
      }
      std::memcpy(header_of(i), &section, sizeof section);
    }
    return elf;
  }

  // Debug sections lie where they are: what refers to them is counted from their begin.
  void relocate_debug(const Part& part, const Elf64_Shdr& section, std::string& elf) const {
    const Elf64_Shdr& target = part.sections[section.sh_info];
    part.file.part(target.sh_offset, target.sh_size);
    Reader table(part.file.part(section.sh_offset, section.sh_size));
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= section.sh_size; at += sizeof(Elf64_Rela)) {
      auto entry = table.at<Elf64_Rela>(at);
      uint64_t number = ELF64_R_SYM(entry.r_info), type = ELF64_R_TYPE(entry.r_info),
               width = type == R_X86_64_64 ? 8 : 4;
      require(type == R_X86_64_64 || type == R_X86_64_32 || type == R_X86_64_32S,
              "has another relocation in its debug information");
      require(number < part.symbols.size() && part.symbols[number].st_shndx < part.sections.size(),
              "relocates to a symbol that it does not have");
      require(width <= target.sh_size && entry.r_offset <= target.sh_size - width, "relocates outside of a section");
      const Elf64_Sym& symbol = part.symbols[number];
      bool is_code = part.sections[symbol.st_shndx].sh_flags & SHF_ALLOC;
      uint64_t value =
          (is_code ? reinterpret_cast<uint64_t>(state_.memory + place_of(part, symbol)) : symbol.st_value) +
          static_cast<uint64_t>(entry.r_addend);
      std::memcpy(elf.data() + target.sh_offset + entry.r_offset, &value, width);
    }
  }

  void list_functions() {
    for (const Part& part : parts_)
      for (const Elf64_Sym& symbol : part.symbols) {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        const char* code = address_of(part, symbol, false);
        auto left = static_cast<uint64_t>(state_.memory + state_.size - code);
        state_.listed.push_back({std::string(part.name(symbol)), code, std::min<uint64_t>(symbol.st_size, left)});
      }
  }

  std::vector<Part> parts_;
  CodeObject::State& state_;
  std::map<std::string_view, uint64_t> shared_;  // global symbols of all parts
  std::map<std::string, size_t, std::less<>> stubs_;
  std::vector<void*> targets_;
  uint64_t stubs_at_ = 0, given_ = 0, names_ = 0;  // bytes of the objects, of shared names
};

}  // namespace

CodeObject::CodeObject(std::span<const std::string> objects) : state_(std::make_unique<State>()) {
  Loader(objects, *state_).load();
}
CodeObject::~CodeObject() = default;

void* CodeObject::find(std::string_view name) const {
  auto found = state_->functions.find(name);
  return found == state_->functions.end() ? nullptr : found->second;
}

std::span<const CodeFunction> CodeObject::functions() const { return state_->listed; }
int64_t CodeObject::bytes() const { return static_cast<int64_t>(state_->size); }

}  // namespace weft
