// Layout: a header, the table (numbers and short texts), then the pieces (code, constants, the program's text) at
// offsets that the table has. Header, table and each piece are digested by themselves; what is between them is zeros,
// so that no byte is of no account.
#include "weft/runtime/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "weft/core/cpu.h"
#include "weft/core/error.h"
#include "weft/core/replace_file.h"

namespace weft {
namespace {

constexpr std::string_view magic = "\x89WEFT\r\n\x1a";
constexpr uint64_t version = 5;
constexpr uint64_t alignment = 64;

struct Header {
  char magic[8];
  uint64_t version, file_bytes, table_bytes;
  Digest table, header;  // of the header: with zeros in this place
};
static_assert(sizeof(Header) == 64);

[[noreturn]] void reject(const std::string& why) { fail(ErrorKind::io, "executable_file", "executable file: ", why); }

uint64_t aligned(uint64_t at) { return (at + alignment - 1) / alignment * alignment; }

void require_zeros(std::string_view padding) {
  if (padding.find_first_not_of('\0') != padding.npos) reject("it is damaged");
}

// Fuzzers find their way past digests, where there is more to find.
bool is_damaged(const Digest& wanted, const Digest& found) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return (void)wanted, (void)found, false;
#else
  return wanted != found;
#endif
}

Digest digest_of_header(Header header) {
  header.header = {};
  return digest_of(std::as_bytes(std::span(&header, 1)));
}

class Writer {
 public:
  std::string bytes;

  void number(uint64_t value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void number(const Digest& value) { number(value.low), number(value.high); }
  void text(std::string_view value) {
    number(value.size());
    bytes += value;
  }
  void dim(const Dim& value) { text(cat(value)); }
  template <class T, class F>
  void list(const std::vector<T>& values, F each) {
    number(values.size());
    for (const T& value : values) each(value);
  }
  void texts(const std::vector<std::string>& values) {
    list(values, [&](const std::string& value) { text(value); });
  }
  void type(const Type& value) {
    text(name(value.dtype));
    list(value.dims, [&](const Dim& d) { dim(d); });
  }
  void ios(const std::vector<IoInfo>& infos) {
    list(infos, [&](const IoInfo& info) {
      text(info.name);
      type(info.type);
      number(static_cast<uint64_t>(info.alias));
    });
  }
};

// Reads what Writer wrote out of bytes that may be anything.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t number() {
    uint64_t value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  int64_t integer() { return static_cast<int64_t>(number()); }
  Digest digest() {
    uint64_t low = number();
    return {low, number()};
  }
  std::string text() { return std::string(take(number())); }
  Dim dim() {
    Dim dim = parse_dim(take(number()), symbols);
    for (const Symbol& symbol : dim.symbols())
      if (!symbols.contains(symbol.name)) reject(cat("knows no extent '", symbol.name, "'"));
    return dim;
  }
  // Every element takes eight bytes at least, so that no list asks for more memory than the file accounts for.
  template <class F>
  auto list(F each) {
    uint64_t count = number();
    if (count > (bytes_.size() - at_) / sizeof(uint64_t)) reject("a list is longer than the file");
    std::vector<decltype(each())> values;
    for (uint64_t i = 0; i < count; ++i) values.push_back(each());
    return values;
  }
  std::vector<std::string> texts() {
    return list([&] { return text(); });
  }
  Type type() {
    std::string spelling = text();
    std::optional<DType> dtype = dtype_from_name(spelling);
    if (!dtype) reject(cat("knows no element type '", spelling, "'"));
    Type type{*dtype, list([&] { return dim(); })};
    for (const Dim& extent : type.dims)
      if (extent.is_static() && extent.value() < 0) reject(cat("has an extent of ", extent));
    return type;
  }
  std::vector<IoInfo> ios(size_t targets) {
    return list([&] {
      IoInfo info{text(), type(), -1};
      int64_t alias = integer();
      if (alias < -1 || alias >= static_cast<int64_t>(targets))
        reject(cat("'", info.name, "' lands in input ", alias, " of ", targets));
      info.alias = static_cast<int>(alias);
      return info;
    });
  }
  void end() {
    if (at_ != bytes_.size()) reject("its table has a rest");
  }

  std::map<std::string, Symbol, std::less<>> symbols;

 private:
  std::string_view take(uint64_t count) {
    if (count > bytes_.size() - at_) reject("its table is cut short");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

void write_manifest(Writer& out, const Manifest& m) {
  out.text(m.name);
  out.list(m.symbols, [&](const Symbol& symbol) {
    out.text(symbol.name);
    for (int64_t bound : {symbol.min, symbol.opt, symbol.max}) out.number(static_cast<uint64_t>(bound));
  });
  out.ios(m.inputs);
  out.ios(m.outputs);
  out.dim(m.arena_bytes);
  out.dim(m.persistent_bytes);
  out.list(m.kernels, [&](const KernelInfo& kernel) {
    out.text(kernel.name);
    out.text(kernel.source);
    out.texts(kernel.ops);
    out.number(static_cast<uint64_t>(kernel.launches));
  });
  out.list(m.launches, [&](const LaunchInfo& launch) {
    out.text(launch.name);
    out.text(launch.source);
    out.texts(launch.ops);
    out.texts(launch.lines);
    for (const Dim* size : {&launch.read_bytes, &launch.written_bytes, &launch.flops}) out.dim(*size);
    out.number(launch.is_setup);
    out.number(launch.is_later);
  });
  out.list(m.cuts, [&](const CutInfo& cut) {
    for (const std::string* text : {&cut.op, &cut.source, &cut.reason}) out.text(*text);
    out.texts(cut.readers);
  });
  out.list(m.checks, [&](const RangeCheck& check) {
    out.text(check.label);
    out.text(check.message);
    out.number(static_cast<uint64_t>(check.axis));
    out.dim(check.limit);
    out.text(check.loc ? check.loc.file() : std::string());
    out.number(static_cast<uint64_t>(check.loc ? check.loc.line() : 0));
    out.text(check.loc ? check.loc.function() : std::string());
  });
}

Manifest read_manifest(Reader& in) {
  Manifest m;
  in.symbols.clear();
  m.name = in.text();
  m.symbols = in.list([&] {
    Symbol symbol;
    symbol.name = in.text();
    symbol.min = in.integer();
    symbol.opt = in.integer();
    symbol.max = in.integer();
    return symbol;
  });
  for (const Symbol& symbol : m.symbols) {
    if (symbol.min < 0 || symbol.opt < symbol.min || symbol.max < symbol.opt)
      reject(cat("extent '", symbol.name, "' has no range"));
    in.symbols.emplace(symbol.name, symbol);
  }
  m.inputs = in.ios(0);
  m.outputs = in.ios(m.inputs.size());
  for (const IoInfo& output : m.outputs)
    if (output.alias >= 0 && !(m.inputs[static_cast<size_t>(output.alias)].type == output.type))
      reject(cat("output '", output.name, "' does not fit into its input"));
  m.arena_bytes = in.dim();
  m.persistent_bytes = in.dim();
  if (m.arena_bytes.static_value().value_or(0) < 0 || m.persistent_bytes.static_value().value_or(-1) < 0)
    reject("has less than no memory");
  m.kernels = in.list([&] {
    KernelInfo kernel{in.text(), in.text(), in.texts(), 0};
    kernel.launches = in.integer();
    return kernel;
  });
  m.launches = in.list([&] {
    LaunchInfo launch{in.text(), in.text(), in.texts(), in.texts(), in.dim(), in.dim(), in.dim()};
    launch.is_setup = in.integer() != 0;
    launch.is_later = in.integer() != 0;
    if (launch.lines.size() != launch.ops.size())
      reject(cat("'", launch.name, "' has ", launch.ops.size(), " operations at ", launch.lines.size(), " lines"));
    return launch;
  });
  m.cuts = in.list([&] { return CutInfo{in.text(), in.text(), in.text(), in.texts()}; });
  m.checks = in.list([&] {
    RangeCheck check{in.text(), in.text(), in.integer(), in.dim(), {}};
    std::string file = in.text();
    auto line = static_cast<int>(in.integer());
    std::string function = in.text();
    if (!file.empty()) check.loc = Location(std::move(file), line, std::move(function));
    return check;
  });
  return m;
}

// Where the pieces behind the table lie, counted from its end.
class Pieces {
 public:
  void add(Writer& out, std::string_view bytes) { tell(out, bytes, placed(bytes, digest_of(bytes))); }
  // Written once, however often it is added: builds for several kinds of CPU have constants that were computed alike.
  void add_shared(Writer& out, std::string_view bytes) {
    auto [found, is_new] = places_.try_emplace({bytes.data(), bytes.size()});
    if (is_new) found->second = place_of(bytes);
    tell(out, bytes, found->second);
  }
  uint64_t bytes() const { return end_; }
  // `put` takes the bytes in order.
  template <class F>
  void write(const F& put) const {
    constexpr char zeros[alignment] = {};
    for (std::string_view bytes : pieces_) {
      put(bytes);
      put(std::string_view(zeros, aligned(bytes.size()) - bytes.size()));
    }
  }

 private:
  using Place = std::pair<uint64_t, Digest>;

  static void tell(Writer& out, std::string_view bytes, const Place& place) {
    out.number(place.first);
    out.number(bytes.size());
    out.number(place.second);
  }

  Place placed(std::string_view bytes, const Digest& digest) {
    Place place{end_, digest};
    pieces_.push_back(bytes);
    end_ = aligned(end_ + bytes.size());
    return place;
  }

  Place place_of(std::string_view bytes) {
    Digest digest = digest_of(bytes);
    auto [same, is_new] = contents_.try_emplace({digest.low, digest.high}, bytes, end_);
    return !is_new && same->second.first == bytes ? Place{same->second.second, digest} : placed(bytes, digest);
  }

  std::map<std::pair<const char*, size_t>, Place> places_;
  std::map<std::pair<uint64_t, uint64_t>, std::pair<std::string_view, uint64_t>> contents_;
  std::vector<std::string_view> pieces_;
  uint64_t end_ = 0;
};

uint64_t bytes_of(const Type& type) {
  if (!type.is_static()) reject(cat("a constant has the type ", type.short_text()));
  return static_cast<uint64_t>(checked_multiply(type.count().value(), static_cast<int64_t>(size_of(type.dtype))));
}

constexpr int64_t nobody = -1;

// Constants: the number of the lender who has the memory, or a piece.
void write_constants(Writer& out, Pieces& pieces, const std::vector<Manifest::Constant>& constants,
                     std::span<const Manifest::Constant> lenders) {
  out.list(constants, [&](const Manifest::Constant& constant) {
    uint64_t size = bytes_of(constant.type);
    int64_t lender = 0, count = static_cast<int64_t>(lenders.size());
    auto has_it = [&](const Manifest::Constant& one) {
      return one.bytes == constant.bytes && bytes_of(one.type) == size;
    };
    while (lender < count && !has_it(lenders[static_cast<size_t>(lender)])) ++lender;
    if (lender == count) lender = nobody;
    out.type(constant.type);
    out.number(static_cast<uint64_t>(lender));
    if (lender == nobody) pieces.add_shared(out, {static_cast<const char*>(constant.bytes), size});
  });
}

// A file in memory, until nobody needs its constants.
class Mapping {
 public:
  explicit Mapping(const std::filesystem::path& path) {
    int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) reject(cat("cannot be opened: ", path.string(), ": ", std::strerror(errno)));
    struct stat status;
    bool is_file = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    size_ = is_file ? static_cast<size_t>(status.st_size) : 0;
    void* memory = size_ ? mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (memory == MAP_FAILED) reject(cat(is_file ? "is empty or cannot be read: " : "is no file: ", path.string()));
    memory_ = static_cast<const char*>(memory);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (memory_) munmap(const_cast<char*>(memory_), size_);
  }
  std::string_view bytes() const { return {memory_, size_}; }

 private:
  const char* memory_ = nullptr;
  size_t size_ = 0;
};

// The pieces of a file that was opened, and those who lend it what it does not hold.
struct Source {
  std::shared_ptr<const void> owner;
  std::string_view pieces;
  std::span<const Manifest::Constant> lenders;
  std::map<std::pair<uint64_t, uint64_t>, Digest> digests = {};  // of the pieces read so far, by place and size
  uint64_t digested = 0, copied = 0;

  // Once all is read: the pieces are one behind the other, to the end of the file.
  void end() const {
    uint64_t end = 0;
    for (const auto& [place, digest] : digests) {
      uint64_t last = place.first + place.second;
      if (place.first != end || aligned(last) > pieces.size()) reject("it has bytes that are of no piece");
      end = aligned(last);
      require_zeros(pieces.substr(last, end - last));
    }
    if (end != pieces.size()) reject("it has bytes that are of no piece");
  }

  // Reading takes no more time and memory than the file is large: pieces do not overlap, and none is copied twice.
  std::string_view piece(Reader& in) {
    uint64_t at = in.number(), size = in.number();
    Digest digest = in.digest();
    if (at > pieces.size() || size > pieces.size() - at) reject("a piece lies outside of it");
    if (at % alignment != 0) reject(cat("a piece begins at ", at, ", which is no multiple of ", alignment));
    std::string_view bytes = pieces.substr(at, size);
    auto [found, is_new] = digests.try_emplace({at, size});
    if (is_new) {
      if ((digested += size) > pieces.size()) reject("its pieces overlap");
      found->second = digest_of(bytes);
    }
    if (is_damaged(digest, found->second)) reject("it is damaged");
    return bytes;
  }
  std::string copy(Reader& in) {
    std::string_view bytes = piece(in);
    if ((copied += bytes.size()) > pieces.size()) reject("its pieces overlap");
    return std::string(bytes);
  }

  std::vector<Manifest::Constant> constants(Reader& in) {
    return in.list([&] {
      Manifest::Constant constant{in.type(), nullptr, owner};
      uint64_t wanted = bytes_of(constant.type), given = 0;
      int64_t lender = in.integer();
      if (lender == nobody) {
        std::string_view bytes = piece(in);
        constant.bytes = bytes.data(), given = bytes.size();
      } else {
        if (lender < 0 || lender >= static_cast<int64_t>(lenders.size()))
          reject(cat("nobody lends it constant ", lender));
        const Manifest::Constant& lent = lenders[static_cast<size_t>(lender)];
        constant.bytes = lent.bytes, constant.owner = lent.owner, given = bytes_of(lent.type);
      }
      if (given != wanted) reject(cat("a constant of type ", constant.type.short_text(), " has ", given, " bytes"));
      return constant;
    });
  }
};

// Its table and what is behind it.
std::pair<Reader, std::string_view> opened(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) reject(cat("it has ", bytes.size(), " bytes, a header alone has ", sizeof header));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, magic.data(), magic.size()) != 0) reject("it does not begin as one");
  if (header.version != version)
    reject(cat("it is of version ", header.version, ", this library reads version ", version));
  if (is_damaged(header.header, digest_of_header(header))) reject("it is damaged");
  if (header.file_bytes != bytes.size()) reject(cat("it has ", bytes.size(), " bytes instead of ", header.file_bytes));
  bytes.remove_prefix(sizeof header);
  if (header.table_bytes > bytes.size()) reject("its table lies outside of it");
  std::string_view table = bytes.substr(0, header.table_bytes);
  if (is_damaged(header.table, digest_of(table))) reject("it is damaged");
  uint64_t pieces = std::min<uint64_t>(aligned(header.table_bytes), bytes.size());
  require_zeros(bytes.substr(table.size(), pieces - table.size()));
  return {Reader(table), bytes.substr(pieces)};
}

// What a file of it has before the pieces, and those.
std::string laid_out(const Package& package, std::span<const Manifest::Constant> lenders, Pieces& pieces) {
  Writer table;
  table.number(package.key);
  pieces.add(table, package.text);
  write_constants(table, pieces, package.resources, lenders);
  table.list(package.builds, [&](const Build& build) {
    table.text(build.target);
    table.texts(build.features);
    write_manifest(table, build.manifest);
    table.list(build.objects, [&](const std::string& object) { pieces.add(table, object); });
    write_constants(table, pieces, build.manifest.constants, lenders);
  });
  size_t table_bytes = table.bytes.size();
  table.bytes.resize(aligned(table_bytes));
  Header header{{},
                version,
                sizeof header + table.bytes.size() + pieces.bytes(),
                table_bytes,
                digest_of(std::string_view(table.bytes).substr(0, table_bytes)),
                {}};
  std::memcpy(header.magic, magic.data(), magic.size());
  header.header = digest_of_header(header);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + table.bytes;
}

}  // namespace

void write_package(const std::filesystem::path& path, const Package& package,
                   std::span<const Manifest::Constant> lenders) {
  Pieces pieces;
  std::string begin = laid_out(package, lenders, pieces);
  std::error_code problem = replace_file(path, [&](std::ostream& out) {
    auto put = [&](std::string_view bytes) { out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())); };
    put(begin);
    pieces.write(put);
  });
  if (problem) reject(cat("cannot be written: ", path.string(), ": ", problem.message()));
}

std::string package_bytes(const Package& package) {
  Pieces pieces;
  std::string bytes = laid_out(package, {}, pieces);
  bytes.reserve(bytes.size() + pieces.bytes());
  pieces.write([&](std::string_view piece) { bytes += piece; });
  return bytes;
}

Package read_package(const std::filesystem::path& path, std::span<const Manifest::Constant> lenders) {
  auto file = std::make_shared<const Mapping>(path);
  try {
    return parse_package(file->bytes(), file, lenders);
  } catch (const FileError& error) {
    std::string_view what = error.message(), subject = "executable file: ";
    if (what.starts_with(subject)) what.remove_prefix(subject.size());
    fail(ErrorKind::io, error.label(), "executable file '", path.string(), "': ", what);
  }
}

Package parse_package(std::string_view bytes, std::shared_ptr<const void> owner,
                      std::span<const Manifest::Constant> lenders) {
  auto [in, pieces] = opened(bytes);
  Source source{std::move(owner), pieces, lenders};
  Package package;
  try {
    package.key = in.digest();
    package.text = source.copy(in);
    package.resources = source.constants(in);
    package.builds = in.list([&, &in = in] {
      Build build{in.text(), in.texts(), read_manifest(in), {}};
      build.objects = in.list([&] { return source.copy(in); });
      build.manifest.constants = source.constants(in);
      return build;
    });
    in.end();
    source.end();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    reject(error.what());
  }
  return package;
}

const Build* best_build(const Package& package, std::span<const std::string> features) {
  const Build* best = nullptr;
  for (const Build& build : package.builds) {
    bool fits = std::ranges::all_of(
        build.features, [&](const std::string& one) { return std::ranges::find(features, one) != features.end(); });
    if (fits && (!best || build.features.size() > best->features.size())) best = &build;
  }
  return best;
}

const Build& best_build(const Package& package) {
  std::vector<std::string> features;
  std::string wanted;
  for (const Build& build : package.builds) {
    std::ranges::copy_if(build.features, std::back_inserter(features), has_feature);
    append(wanted, wanted.empty() ? "" : ", ", "that for '", build.target, "' needs '", missing_feature(build.features),
           "'");
  }
  if (const Build* best = best_build(package, features)) return *best;
  fail(ErrorKind::unsupported, "cpu_feature",
       "executable file: it has no machine code for this CPU: ", wanted.empty() ? "it has none" : wanted);
}

}  // namespace weft
