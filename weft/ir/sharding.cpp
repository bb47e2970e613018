// Meshes, shardings and their text.
#include "weft/ir/sharding.h"

#include <algorithm>
#include <map>
#include <set>

#include "weft/core/error.h"
#include "weft/ir/number_text.h"

namespace weft {
namespace {

constexpr std::string_view constraint = "sdy.sharding_constraint";

// Shardy's text, from left to right.
class ShardingReader {
 public:
  explicit ShardingReader(std::string_view text) : text_(text), rest_(text) {}

  MeshSharding read() {
    MeshSharding found;
    expect("mesh<[");
    std::set<std::string> names;
    while (!take("]")) {
      Mesh::Axis axis{word(), 1};
      expect("=");
      std::optional<int64_t> extent = integer_of(word());
      if (!extent || *extent < 1 || !names.insert(axis.name).second)
        reject("axes with names of their own and extents of 1 or more");
      axis.extent = *extent;
      found.mesh.axes.push_back(std::move(axis));
      take(",");
    }
    // The numbers of devices, where they are not in order.
    if (take(",")) unsupported("a mesh whose devices are not in order");
    expect(">");
    expect(",");
    expect("[");
    while (!take("]")) {
      found.sharding.dims.push_back(dimension(found.mesh));
      take(",");
    }
    if (rest_.find("unreduced") != std::string_view::npos) unsupported("a value that is yet to be summed");
    return found;
  }

 private:
  std::vector<int> dimension(const Mesh& mesh) {
    std::vector<int> axes;
    expect("{");
    while (!take("}")) {
      if (!take("?")) axes.push_back(axis(mesh));
      take(",");
    }
    if (!rest_.empty() && rest_[0] == 'p') word();  // its priority
    return axes;
  }
  int axis(const Mesh& mesh) {
    std::string name = word();
    if (!rest_.empty() && rest_[0] == ':') unsupported("a part of an axis");
    for (size_t i = 0; i < mesh.axes.size(); ++i)
      if (mesh.axes[i].name == name) return static_cast<int>(i);
    fail(ErrorKind::value, "sharding_text", "the mesh has no axis '", name, "' in ", text_);
  }
  std::string word() {
    skip();
    bool quoted = !rest_.empty() && rest_[0] == '"';
    size_t end = quoted ? rest_.find('"', 1) : rest_.find_first_of(" =,:[]{}<>?");
    if (end == std::string_view::npos || end == 0) reject("a name");
    std::string found(rest_.substr(quoted, end - quoted));
    rest_.remove_prefix(end + quoted);
    skip();
    return found;
  }
  bool take(std::string_view what) {
    skip();
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }
  void expect(std::string_view what) {
    if (!take(what)) reject(cat("'", what, "'"));
  }
  void skip() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  [[noreturn]] void reject(const std::string& wanted) const {
    fail(ErrorKind::value, "sharding_text", "expected ", wanted, " before '", rest_, "' in ", text_);
  }
  [[noreturn]] void unsupported(std::string_view what) const {
    fail(ErrorKind::unsupported, "sharding_text", what, " is not supported, in ", text_);
  }

  std::string_view text_, rest_;
};

}  // namespace

int64_t Mesh::size() const {
  int64_t size = 1;
  for (const Axis& axis : axes) size = checked_multiply(size, axis.extent);
  return size;
}

int64_t Mesh::extent_of(std::span<const int> chosen) const {
  int64_t extent = 1;
  for (int axis : chosen) extent *= axes[static_cast<size_t>(axis)].extent;
  return extent;
}

std::vector<std::vector<int64_t>> Mesh::groups_of(std::span<const int> chosen) const {
  // A rank's coordinates along the other axes tell its group, those along the chosen ones its place there.
  std::map<Ints, std::map<Ints, int64_t>> groups;
  for (int64_t rank = 0; rank < size(); ++rank) {
    Ints coordinates(axes.size()), place;
    int64_t rest = rank;
    for (size_t i = axes.size(); i-- > 0; rest /= axes[i].extent) coordinates[i] = rest % axes[i].extent;
    for (int axis : chosen) place.push_back(std::exchange(coordinates[static_cast<size_t>(axis)], 0));
    groups[coordinates][place] = rank;
  }
  std::vector<std::vector<int64_t>> rows;
  for (const auto& [_, members] : groups) {
    rows.emplace_back();
    for (const auto& [__, rank] : members) rows.back().push_back(rank);
  }
  return rows;
}

bool Sharding::is_whole() const {
  return std::ranges::all_of(dims, [](const std::vector<int>& axes) { return axes.empty(); });
}

std::string Sharding::text(const Mesh& mesh) const {
  std::string text;
  for (const std::vector<int>& axes : dims) {
    std::string names;
    for (int axis : axes) append(names, names.empty() ? "" : ", ", "'", mesh.axes[static_cast<size_t>(axis)].name, "'");
    append(text, text.empty() ? "" : ", ", axes.empty() ? "None" : axes.size() == 1 ? names : cat("(", names, ")"));
  }
  return cat("(", text, dims.size() == 1 ? ",)" : ")");
}

Type part_of(const Type& type, const Sharding& sharding, const Mesh& mesh) {
  auto require = [&](bool condition, const auto&... parts) {
    if (!condition) fail(ErrorKind::value, "sharding", parts...);
  };
  require(sharding.dims.size() == type.dims.size(), type, " needs a sharding of ", type.rank(), " dimensions, got ",
          sharding.text(mesh));
  Type part = type;
  std::vector<int> used;
  for (size_t i = 0; i < type.dims.size(); ++i) {
    for (int axis : sharding.dims[i]) {
      require(std::ranges::find(used, axis) == used.end(), "an axis of the mesh divides one dimension, got ",
              sharding.text(mesh));
      used.push_back(axis);
    }
    int64_t parts = mesh.extent_of(sharding.dims[i]);
    if (parts == 1) continue;
    require(type.dims[i].is_static() && type.dims[i].value() % parts == 0, "dimension ", i, " of ", type,
            " cannot be divided into ", parts, " equal parts, as ", sharding.text(mesh), " says");
    part.dims[i] = type.dims[i].value() / parts;
  }
  return part;
}

MeshSharding read_sharding(std::string_view text) { return ShardingReader(text).read(); }

Value with_sharding(Builder& build, Value value, const std::string& text) {
  std::string plain = text;
  std::erase(plain, '"');
  Builder body(Level::flat, "sharding_constraint");
  Value parameter = body.parameter(value.type(), "x");
  GraphPtr identity = body.finish({{parameter, ""}});
  return build(
      Op::composite, {value},
      {{Attr::name, std::string(constraint)}, {Attr::composite_attributes, cat("{sharding = \"", plain, "\"}")}},
      {identity});
}

std::optional<std::string> sharding_text(const Node& node) {
  if (node.op != Op::composite || node.attrs.text(Attr::name) != constraint ||
      !node.attrs.find(Attr::composite_attributes))
    return std::nullopt;
  const std::string& text = node.attrs.text(Attr::composite_attributes);
  size_t begin = text.find('"'), end = text.rfind('"');
  if (begin == end) return std::nullopt;
  return text.substr(begin + 1, end - begin - 1);
}

}  // namespace weft
