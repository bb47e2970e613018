// Layout: a header, the table (everything but code and constants, as numbers and texts), then objects and constants at
// offsets that the table has. Header, table and each piece are digested by themselves.
#include "weft/runtime/file.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>

#include "weft/core/error.h"

namespace weft {
namespace {

constexpr std::string_view magic = "\x89WEFT\r\n\x1a";
constexpr uint64_t version = 1;
constexpr uint64_t alignment = 64;

struct Header {
  char magic[8];
  uint64_t version, file_bytes, table_bytes;
  Digest table, header;  // of the header: with zeros in this place
};
static_assert(sizeof(Header) == 64);

[[noreturn]] void reject(const std::string& why) { fail(ErrorKind::io, "executable_file", "executable file: ", why); }

uint64_t aligned(uint64_t at) { return (at + alignment - 1) / alignment * alignment; }

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
  Dim dim() { return parse_dim(take(number()), symbols); }
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
      if (alias < -1 || alias >= static_cast<int64_t>(targets)) reject(cat("'", info.name, "' lands in input ", alias, " of ", targets));
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
  out.texts(m.cuts);
}

Manifest read_manifest(Reader& in) {
  Manifest m;
  m.name = in.text();
  m.symbols = in.list([&] {
    Symbol symbol;
    symbol.name = in.text();
    symbol.min = in.integer(), symbol.opt = in.integer(), symbol.max = in.integer();
    return symbol;
  });
  for (const Symbol& symbol : m.symbols) in.symbols.emplace(symbol.name, symbol);
  m.inputs = in.ios(0);
  m.outputs = in.ios(m.inputs.size());
  for (const IoInfo& output : m.outputs)
    if (output.alias >= 0 && !(m.inputs[static_cast<size_t>(output.alias)].type == output.type))
      reject(cat("output '", output.name, "' does not fit into its input"));
  m.arena_bytes = in.dim();
  m.persistent_bytes = in.dim();
  if (m.arena_bytes.static_value().value_or(0) < 0 || m.persistent_bytes.static_value().value_or(-1) < 0) reject("has less than no memory");
  m.kernels = in.list([&] {
    KernelInfo kernel{in.text(), in.text(), in.texts(), 0};
    kernel.launches = in.integer();
    return kernel;
  });
  m.cuts = in.texts();
  return m;
}

// Where the pieces behind the table lie, counted from its end.
class Pieces {
 public:
  void add(Writer& out, std::string_view bytes) {
    uint64_t at = end_;
    end_ = aligned(at + bytes.size());
    out.number(at), out.number(bytes.size()), out.number(digest_of(bytes));
    pieces_.push_back({at, bytes});
  }
  uint64_t bytes() const { return end_; }
  void write(std::ostream& out) const {
    constexpr char zeros[alignment] = {};
    for (auto [at, bytes] : pieces_) {
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      out.write(zeros, static_cast<std::streamsize>(aligned(bytes.size()) - bytes.size()));
    }
  }

 private:
  std::vector<std::pair<uint64_t, std::string_view>> pieces_;
  uint64_t end_ = 0;
};

std::string_view read_piece(Reader& in, std::string_view pieces) {
  uint64_t at = in.number(), size = in.number();
  Digest digest = in.digest();
  if (at > pieces.size() || size > pieces.size() - at) reject("a piece lies outside of it");
  std::string_view bytes = pieces.substr(at, size);
  if (digest_of(bytes) != digest) reject("it is damaged");
  return bytes;
}

// Its header, table and pieces; the rest of `bytes` is what the file has.
struct Opened {
  Reader table;
  std::string_view pieces;
};

Opened open(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) reject(cat("it has ", bytes.size(), " bytes, a header alone has ", sizeof header));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, magic.data(), magic.size()) != 0) reject("it does not begin as one");
  if (header.version != version) reject(cat("it is of version ", header.version, ", this library reads version ", version));
  if (digest_of_header(header) != header.header) reject("it is damaged");
  if (header.file_bytes != bytes.size()) reject(cat("it has ", bytes.size(), " bytes instead of ", header.file_bytes));
  bytes.remove_prefix(sizeof header);
  if (header.table_bytes > bytes.size()) reject("its table lies outside of it");
  std::string_view table = bytes.substr(0, header.table_bytes);
  if (digest_of(table) != header.table) reject("it is damaged");
  return {Reader(table), bytes.substr(std::min<uint64_t>(aligned(header.table_bytes), bytes.size()))};
}

std::string contents_of(const std::filesystem::path& path) {
  std::error_code problem;
  bool is_file = std::filesystem::is_regular_file(path, problem);
  if (!is_file) reject(cat("there is none: ", path.string()));
  uint64_t size = std::filesystem::file_size(path, problem);
  std::ifstream in(path, std::ios::binary);
  std::string bytes(problem ? 0 : size, '\0');
  if (problem || !in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) reject(cat("cannot be read: ", path.string()));
  return bytes;
}

uint64_t bytes_of(const Type& type) {
  if (!type.is_static()) reject(cat("a constant has the type ", type.short_text()));
  return static_cast<uint64_t>(checked_multiply(type.count().value(), static_cast<int64_t>(size_of(type.dtype))));
}

Manifest::Constant read_constant(Reader& in, std::string_view pieces, const std::shared_ptr<const std::string>& file) {
  Type type = in.type();
  std::string_view bytes = read_piece(in, pieces);
  if (bytes_of(type) != bytes.size()) reject(cat("a constant of type ", type.short_text(), " has ", bytes.size(), " bytes"));
  return {std::move(type), bytes.data(), file};
}

}  // namespace

void write_package(const std::filesystem::path& path, const Package& package) {
  Writer table;
  Pieces pieces;
  table.number(package.key);
  write_manifest(table, package.manifest);
  table.list(package.objects, [&](const std::string& object) { pieces.add(table, object); });
  size_t next = 0;
  table.list(package.manifest.constants, [&](const Manifest::Constant& constant) {
    int64_t lender = package.lenders[next++];
    table.number(static_cast<uint64_t>(lender));
    table.type(constant.type);
    if (lender < 0) pieces.add(table, {static_cast<const char*>(constant.bytes), bytes_of(constant.type)});
  });
  size_t table_bytes = table.bytes.size();
  table.bytes.resize(aligned(table_bytes));
  Header header{{}, version, sizeof header + table.bytes.size() + pieces.bytes(), table_bytes,
                digest_of(std::string_view(table.bytes).substr(0, table_bytes)), {}};
  std::memcpy(header.magic, magic.data(), magic.size());
  header.header = digest_of_header(header);
  static std::atomic<uint64_t> number{0};
  std::filesystem::path draft = path;
  draft += cat(".", getpid(), ".", number++, ".tmp");
  std::ofstream out(draft, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  out.write(table.bytes.data(), static_cast<std::streamsize>(table.bytes.size()));
  pieces.write(out);
  out.close();
  std::error_code problem;
  if (out) std::filesystem::rename(draft, path, problem);
  if (out && !problem) return;
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  reject(cat("cannot be written: ", path.string(), problem ? ": " + problem.message() : ""));
}

Package read_package(const std::filesystem::path& path, std::span<const Manifest::Constant> lent) {
  auto file = std::make_shared<const std::string>(contents_of(path));
  auto [table, pieces] = open(*file);
  Package package;
  package.key = table.digest();
  package.manifest = read_manifest(table);
  package.objects = table.list([&] { return std::string(read_piece(table, pieces)); });
  package.manifest.constants = table.list([&] {
    int64_t lender = table.integer();
    package.lenders.push_back(lender);
    if (lender < 0) return read_constant(table, pieces, file);
    if (lender >= static_cast<int64_t>(lent.size())) reject(cat("nobody lends it constant ", lender));
    Manifest::Constant constant = lent[static_cast<size_t>(lender)];
    uint64_t bytes = bytes_of(constant.type);
    constant.type = table.type();
    if (bytes_of(constant.type) != bytes) reject(cat("a constant of type ", constant.type.short_text(), " was lent ", bytes, " bytes"));
    return constant;
  });
  table.end();
  return package;
}

}  // namespace weft
