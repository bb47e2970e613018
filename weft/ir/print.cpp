// StableHLO text out: functions in the usual form, calls in MLIR's generic form, which every StableHLO tool reads.
#include <map>

#include "weft/ir/dense.h"
#include "weft/ir/text.h"

namespace weft {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += '\\';
      out += "0123456789ABCDEF"[static_cast<unsigned char>(c) >> 4];
      out += "0123456789ABCDEF"[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string array(const Ints& values) {
  std::string out = "array<i64";
  for (size_t i = 0; i < values.size(); ++i) append(out, i ? ", " : ": ", values[i]);
  return out + ">";
}

bool all_static(const Dims& dims) {
  for (const Dim& dim : dims)
    if (!dim.is_static()) return false;
  return true;
}

// Stands for an extent that an array of integers cannot hold; the attribute weft.NAME has it.
constexpr int64_t symbolic_mark = INT64_MIN;

class AttrText {
 public:
  void add(std::string_view name, const std::string& value) { append(text_, text_.empty() ? "" : ", ", name, " = ", value); }
  void add(std::string_view name, const Ints& values) { add(name, array(values)); }
  void add(std::string_view name, const Dims& dims) {
    Ints values;
    for (const Dim& dim : dims) values.push_back(dim.static_value().value_or(symbolic_mark));
    add(name, values);
    if (all_static(dims)) return;
    std::string list;
    for (const Dim& dim : dims) append(list, list.empty() ? "" : "; ", dim);
    add(cat("weft.", name), quoted(list));
  }
  void add(std::string_view name, bool value) { add(name, std::string(value ? "true" : "false")); }
  std::string text() const { return text_.empty() ? std::string() : cat(" {", text_, "}"); }

 private:
  std::string text_;
};

std::string numbered(std::string_view dialect, const Attrs& attrs, std::initializer_list<Attr> lists, bool vector_dim) {
  std::string out = cat("#stablehlo.", dialect, "<");
  bool first = true;
  for (Attr attr : lists) {
    if (attrs.ints(attr).empty()) continue;
    append(out, first ? "" : ", ", name(attr), " = ", attrs.ints(attr));
    first = false;
  }
  if (vector_dim) append(out, first ? "" : ", ", "index_vector_dim = ", attrs.integer(Attr::index_vector_dim));
  return out + ">";
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string module(const Graph& graph) {
    out_ = cat("module @", symbol(graph.name()), " {\n");
    function(graph, "public");
    for (const GraphPtr& other : graph.functions()) function(*other, "private");
    return out_ + "}\n";
  }

 private:
  void function(const Graph& graph, std::string_view visibility) {
    next_ = 0;
    append(out_, "  func.func ", visibility, " @", symbol(graph.name()), "(");
    std::map<uint64_t, std::string> names;
    for (size_t i = 0; i < graph.parameters().size(); ++i) {
      const Node& node = graph.node(graph.parameters()[i]);
      names[key(node.result())] = cat("%arg", i);
      append(out_, i ? ", " : "", "%arg", i, ": ", node.type(), " {weft.name = ", quoted(node.attrs.text(Attr::name)));
      for (size_t o = 0; o < graph.outputs().size(); ++o)
        if (graph.outputs()[o].alias == static_cast<int>(i)) append(out_, ", tf.aliasing_output = ", o, " : i32");
      out_ += "}";
    }
    out_ += ") -> (";
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      append(out_, i ? ", " : "", graph.outputs()[i].value.type(), " {jax.result_info = ", quoted(graph.outputs()[i].name), "}");
    out_ += ")";
    if (!graph.symbols().empty()) {
      std::string list;
      for (const Symbol& s : graph.symbols()) append(list, list.empty() ? "" : "; ", s.name, " ", s.min, " ", s.opt, " ", s.max);
      append(out_, " attributes {weft.symbols = ", quoted(list), "}");
    }
    out_ += " {\n";
    body(graph, names, "    ", "func.return");
    out_ += "  }\n";
  }

  static std::string symbol(const std::string& name) { return is_plain(name) ? name : quoted(name); }

  static bool is_plain(const std::string& name) {
    for (char c : name)
      if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$')) return false;
    return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  }

  static uint64_t key(const Value& value) { return uint64_t{value.id()} << 8 | value.index(); }

  void body(const Graph& graph, std::map<uint64_t, std::string>& names, const std::string& indent, std::string_view terminator) {
    for (const Node& node : graph.nodes()) {
      if (node.op == Op::parameter) continue;
      std::string result = cat("%", next_++);
      for (uint32_t i = 0; i < node.types.size(); ++i)
        names[key(node.result(i))] = node.types.size() == 1 ? result : cat(result, "#", i);
      append(out_, indent, result, node.types.size() == 1 ? std::string() : cat(":", node.types.size()), " = ");
      call(node, names, indent);
      if (options_.locations && node.loc) append(out_, " loc(", quoted(node.loc.file()), ":", node.loc.line(), ":", node.loc.column(), ")");
      out_ += "\n";
    }
    append(out_, indent, "\"", terminator, "\"(");
    for (size_t i = 0; i < graph.outputs().size(); ++i) append(out_, i ? ", " : "", names.at(key(graph.outputs()[i].value)));
    out_ += ") : (";
    for (size_t i = 0; i < graph.outputs().size(); ++i) append(out_, i ? ", " : "", graph.outputs()[i].value.type());
    out_ += ") -> ()\n";
  }

  void call(const Node& node, const std::map<uint64_t, std::string>& names, const std::string& indent) {
    std::string_view spelled = def(node.op).names.stablehlo;
    if (spelled.empty()) append(out_, "\"weft.", name(node.op), "\"(");
    else append(out_, "\"", spelled.starts_with("chlo.") ? "" : "stablehlo.", spelled, "\"(");
    for (size_t i = 0; i < node.operand_count(); ++i) append(out_, i ? ", " : "", names.at(key(node.operand(i))));
    out_ += ")";
    if (!node.regions.empty()) {
      out_ += " (";
      for (const GraphPtr& region : node.regions) block(*region, indent);
      out_ += ")";
    }
    out_ += attributes(node);
    out_ += " : (";
    for (size_t i = 0; i < node.operand_count(); ++i) append(out_, i ? ", " : "", node.operand(i).type());
    out_ += ") -> ";
    if (node.types.size() == 1) {
      append(out_, node.type());
    } else {
      out_ += "(";
      for (size_t i = 0; i < node.types.size(); ++i) append(out_, i ? ", " : "", node.types[i]);
      out_ += ")";
    }
  }

  void block(const Graph& region, const std::string& indent) {
    std::map<uint64_t, std::string> names;
    append(out_, "{\n", indent, "^bb0(");
    for (size_t i = 0; i < region.parameters().size(); ++i) {
      const Node& node = region.node(region.parameters()[i]);
      std::string name = cat("%b", next_++);
      names[key(node.result())] = name;
      append(out_, i ? ", " : "", name, ": ", node.type());
    }
    out_ += "):\n";
    body(region, names, indent + "  ", "stablehlo.return");
    append(out_, indent, "}");
  }

  std::string attributes(const Node& node) {
    const Attrs& a = node.attrs;
    AttrText text;
    switch (node.op) {
      case Op::constant: {
        const Literal& value = a.literal(Attr::value);
        text.add("value", cat(dense_text(value), " : ", value.type()));
        return text.text();
      }
      case Op::iota: text.add("iota_dimension", cat(a.integer(Attr::dimension), " : i64")); return text.text();
      case Op::concatenate: text.add("dimension", cat(a.integer(Attr::dimension), " : i64")); return text.text();
      case Op::broadcast_in_dim: text.add("broadcast_dimensions", a.ints(Attr::dimensions)); return text.text();
      case Op::reshape:
      case Op::convert:
      case Op::bitcast_convert: return {};
      case Op::compare: {
        DType dtype = node.operand(0).type().dtype;
        bool real = is_float(dtype) || is_complex(dtype);
        text.add("comparison_direction", cat("#stablehlo<comparison_direction ", a.text(Attr::comparison_direction), ">"));
        text.add("compare_type", cat("#stablehlo<comparison_type ", real ? "FLOAT" : is_signed(dtype) ? "SIGNED" : "UNSIGNED", ">"));
        return text.text();
      }
      case Op::dot_general:
        text.add("dot_dimension_numbers", numbered("dot", a, {Attr::lhs_batching_dimensions, Attr::rhs_batching_dimensions,
                                                              Attr::lhs_contracting_dimensions, Attr::rhs_contracting_dimensions}, false));
        return text.text();
      case Op::gather:
        text.add("dimension_numbers", numbered("gather", a, {Attr::offset_dims, Attr::collapsed_slice_dims, Attr::operand_batching_dims,
                                                             Attr::start_indices_batching_dims, Attr::start_index_map}, true));
        text.add("slice_sizes", a.dims(Attr::slice_sizes));
        text.add("indices_are_sorted", a.flag(Attr::indices_are_sorted));
        return text.text();
      case Op::scatter:
        text.add("scatter_dimension_numbers",
                 numbered("scatter", a, {Attr::update_window_dims, Attr::inserted_window_dims, Attr::input_batching_dims,
                                         Attr::scatter_indices_batching_dims, Attr::scatter_dims_to_operand_dims}, true));
        text.add("indices_are_sorted", a.flag(Attr::indices_are_sorted));
        text.add("unique_indices", a.flag(Attr::unique_indices));
        return text.text();
      default: break;
    }
    for (const auto& [attr, value] : a) add_plain(text, attr, value);
    return text.text();
  }

  static void add_plain(AttrText& text, Attr attr, const AttrValue& value) {
    if (const auto* v = std::get_if<Ints>(&value)) text.add(name(attr), *v);
    if (const auto* v = std::get_if<Dims>(&value)) text.add(name(attr), *v);
    if (const auto* v = std::get_if<bool>(&value)) text.add(name(attr), *v);
    if (const auto* v = std::get_if<int64_t>(&value)) text.add(name(attr), cat(*v, " : i64"));
    if (const auto* v = std::get_if<std::string>(&value)) text.add(name(attr), quoted(*v));
    if (const auto* v = std::get_if<double>(&value)) {
      std::string element = dense_text(Literal::scalar(DType::f64, *v));
      text.add(name(attr), cat(element.substr(6, element.size() - 7), " : f64"));
    }
  }

  const PrintOptions& options_;
  std::string out_;
  int next_ = 0;
};

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) { return Printer(options).module(graph); }

}  // namespace weft
