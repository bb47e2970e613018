// StableHLO text out: functions in the usual form, calls in MLIR's generic form, which every StableHLO tool reads.
#include <map>
#include <optional>

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
  void add(std::string_view name, const std::string& value) {
    append(text_, text_.empty() ? "" : ", ", name, " = ", value);
  }
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
  // "name = value, name = value".
  void add_all(const std::string& attributes) { append(text_, text_.empty() ? "" : ", ", attributes); }
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
    callee_names_.emplace(&graph, graph.name());
    for (const GraphPtr& other : graph.functions()) callee_names_.emplace(other.get(), other->name());
    function(graph, "public");
    for (const GraphPtr& other : graph.functions()) function(*other, "private");
    // Functions that are called may call others in turn.
    for (size_t i = 0; i < called_.size(); ++i) function(*called_[i], "private");
    out_ += "}\n";
    return out_ + location_lines_;
  }

 private:
  // The name under which the module holds a function; functions of equal names get numbers.
  const std::string& callee(const GraphPtr& graph) {
    auto [at, is_new] = callee_names_.try_emplace(graph.get());
    if (!is_new) return at->second;
    // What was recorded at several places is one function.
    for (const GraphPtr& other : called_)
      if (equal(*other, *graph)) return at->second = callee_names_.at(other.get());
    std::string unique = graph->name();
    auto taken = [&](const std::string& name) {
      for (const auto& [other, known] : callee_names_)
        if (other != graph.get() && known == name) return true;
      return false;
    };
    for (int i = 0; taken(unique); ++i) unique = cat(graph->name(), "_", i);
    at->second = unique;
    called_.push_back(graph);
    return at->second;
  }

  void function(const Graph& graph, std::string_view visibility) {
    next_ = 0;
    append(out_, "  func.func ", visibility, " @", symbol(callee_names_.at(&graph)), "(");
    std::map<uint64_t, std::string> names;
    for (size_t i = 0; i < graph.parameters().size(); ++i) {
      const Node& node = graph.node(graph.parameters()[i]);
      names[key(node.result())] = cat("%arg", i);
      append(out_, i ? ", " : "", "%arg", i, ": ", node.type(), " {weft.name = ", quoted(node.attrs.text(Attr::name)));
      Ints aliasing;
      for (size_t o = 0; o < graph.outputs().size(); ++o)
        if (graph.outputs()[o].alias == static_cast<int>(i)) aliasing.push_back(static_cast<int64_t>(o));
      // The attribute that others know holds one output.
      if (!aliasing.empty()) append(out_, ", tf.aliasing_output = ", aliasing[0], " : i32");
      if (aliasing.size() > 1) append(out_, ", weft.aliasing_outputs = ", array(aliasing));
      out_ += "}";
    }
    out_ += ") -> (";
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      append(out_, i ? ", " : "", graph.outputs()[i].value.type(),
             " {jax.result_info = ", quoted(graph.outputs()[i].name), "}");
    out_ += ")";
    if (!graph.symbols().empty()) {
      std::string list;
      for (const Symbol& s : graph.symbols())
        append(list, list.empty() ? "" : "; ", s.name, " ", s.min, " ", s.opt, " ", s.max);
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

  void body(const Graph& graph, std::map<uint64_t, std::string>& names, const std::string& indent,
            std::string_view terminator) {
    for (const Node& node : graph.nodes()) {
      if (node.op == Op::parameter) continue;
      if (is_transfer(node)) {
        transfer(node, names, indent);
        append(out_, location(node.loc), "\n");
        continue;
      }
      if (node.types.empty()) {
        out_ += indent;
        call(node, names, indent);
        append(out_, location(node.loc), "\n");
        continue;
      }
      std::string shape = node.op == Op::rng ? shape_operand(node, indent) : std::string();
      std::string result = cat("%", next_++);
      for (uint32_t i = 0; i < node.types.size(); ++i)
        names[key(node.result(i))] = node.types.size() == 1 ? result : cat(result, "#", i);
      append(out_, indent, result, node.types.size() == 1 ? std::string() : cat(":", node.types.size()), " = ");
      call(node, names, indent, shape);
      append(out_, location(node.loc), "\n");
    }
    append(out_, indent, "\"", terminator, "\"(");
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      append(out_, i ? ", " : "", names.at(key(graph.outputs()[i].value)));
    out_ += ") : (";
    for (size_t i = 0; i < graph.outputs().size(); ++i) append(out_, i ? ", " : "", graph.outputs()[i].value.type());
    out_ += ") -> ()\n";
  }

  // A place alone is written where it belongs; functions and callers, which many calls share, get names.
  std::string location(const Location& loc) {
    if (!options_.locations || !loc) return {};
    return cat(" loc(", location_name(loc), ")");
  }

  std::string location_name(const Location& loc) {
    std::string place = cat(quoted(loc.file()), ":", loc.line(), ":", loc.column());
    if (!loc.function().empty()) place = location_alias(cat(quoted(loc.function()), "(", place, ")"));
    if (loc.caller()) place = location_alias(cat("callsite(", place, " at ", location_name(loc.caller()), ")"));
    return place;
  }

  std::string location_alias(const std::string& text) {
    auto [at, is_new] = location_names_.try_emplace(text, cat("#loc", location_names_.size()));
    if (is_new) append(location_lines_, at->second, " = loc(", text, ")\n");
    return at->second;
  }

  // rng takes the shape of its result as an operand: the line of that constant; its name.
  std::string shape_operand(const Node& node, const std::string& indent) {
    Literal shape = Literal::ints(node.type().static_dims());
    std::string name = cat("%", next_++);
    append(out_, indent, name, " = \"stablehlo.constant\"() {value = ", dense_text(shape), " : ", shape.type(),
           "} : () -> ", shape.type(), "\n");
    return name;
  }

  static bool is_transfer(const Node& node) {
    return node.op == Op::custom_call && node.attrs.text(Attr::call_target_name).starts_with("stablehlo.");
  }

  // infeed and the like take a token and give one, which no node stands for: order is that of the text.
  void transfer(const Node& node, std::map<uint64_t, std::string>& names, const std::string& indent) {
    constexpr std::string_view token = "!stablehlo.token";
    std::string given = cat("%", next_++), result = cat("%", next_++), operands, types, results;
    append(out_, indent, given, " = \"stablehlo.create_token\"() : () -> ", token, "\n", indent, result);
    if (!node.types.empty()) append(out_, ":", node.types.size() + 1);
    for (const Value& operand : node.operands()) {
      append(operands, names.at(key(operand)), ", ");
      append(types, operand.type(), ", ");
    }
    for (uint32_t i = 0; i < node.types.size(); ++i) {
      names[key(node.result(i))] = cat(result, "#", i);
      append(results, node.types[i], ", ");
    }
    AttrText text;
    custom_call(text, node.attrs);
    append(out_, " = ", quoted(node.attrs.text(Attr::call_target_name)), "(", operands, given, ")", text.text(), " : (",
           types, token, ") -> (", results, token, ")");
  }

  // `shape`: the name of an operand that the graph does not have, or nothing.
  void call(const Node& node, const std::map<uint64_t, std::string>& names, const std::string& indent,
            const std::string& shape = {}) {
    // Means of ranks are none of StableHLO's.
    std::string_view spelled = node.attrs.flag(Attr::mean) ? std::string_view() : def(node.op).names.stablehlo;
    if (spelled.empty())
      append(out_, "\"weft.", name(node.op), "\"(");
    else
      append(out_, "\"", spelled.find('.') == std::string_view::npos ? "stablehlo." : "", spelled, "\"(");
    // Branches see the surroundings: what is passed to them is not written.
    bool branches = node.op == Op::if_ || node.op == Op::case_;
    size_t shown = branches ? 1 : node.operand_count();
    for (size_t i = 0; i < shown; ++i) append(out_, i ? ", " : "", names.at(key(node.operand(i))));
    if (!shape.empty()) append(out_, ", ", shape);
    out_ += ")";
    bool calls = node.op == Op::call || node.op == Op::composite;
    if (!node.regions.empty() && !calls) {
      out_ += " (";
      for (size_t i = 0; i < node.regions.size(); ++i) {
        out_ += i ? ", " : "";
        if (branches)
          branch(node, *node.regions[i], names, indent);
        else
          block(*node.regions[i], indent);
      }
      out_ += ")";
    }
    out_ += attributes(node);
    out_ += " : (";
    for (size_t i = 0; i < shown; ++i) append(out_, i ? ", " : "", node.operand(i).type());
    if (!shape.empty()) append(out_, ", tensor<", node.type().rank(), "xi64>");
    out_ += ") -> ";
    if (node.types.size() == 1) {
      append(out_, node.type());
    } else {
      out_ += "(";
      for (size_t i = 0; i < node.types.size(); ++i) append(out_, i ? ", " : "", node.types[i]);
      out_ += ")";
    }
  }

  void branch(const Node& node, const Graph& region, const std::map<uint64_t, std::string>& outer,
              const std::string& indent) {
    std::map<uint64_t, std::string> names;
    for (size_t i = 0; i < region.parameters().size(); ++i)
      names[key(region.node(region.parameters()[i]).result())] = outer.at(key(node.operand(i + 1)));
    out_ += "{\n";
    body(region, names, indent + "  ", "stablehlo.return");
    append(out_, indent, "}");
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
    if (std::optional<std::string> special = special_attributes(node)) return *special;
    const Attrs& a = node.attrs;
    AttrText text;
    switch (node.op) {
      case Op::constant: {
        const Literal& value = a.literal(Attr::value);
        bool is_apart = options_.resources && (value.count() > 16 || value.is_live());
        if (is_apart) options_.resources->push_back(value);
        text.add("value",
                 cat(is_apart ? cat("dense_resource<c", options_.resources->size() - 1, ">") : dense_text(value), " : ",
                     value.type()));
        return text.text();
      }
      case Op::iota:
        text.add("iota_dimension", cat(a.integer(Attr::dimension), " : i64"));
        return text.text();
      case Op::concatenate:
        text.add("dimension", cat(a.integer(Attr::dimension), " : i64"));
        return text.text();
      case Op::broadcast_in_dim:
        text.add("broadcast_dimensions", a.ints(Attr::dimensions));
        return text.text();
      case Op::reshape:
      case Op::convert:
      case Op::bitcast_convert:
        return {};
      case Op::compare: {
        DType dtype = node.operand(0).type().dtype;
        bool real = is_float(dtype) || is_complex(dtype);
        text.add("comparison_direction",
                 cat("#stablehlo<comparison_direction ", a.text(Attr::comparison_direction), ">"));
        std::string_view order = a.find(Attr::compare_type) ? "TOTALORDER"
                                 : real                     ? "FLOAT"
                                 : is_signed(dtype)         ? "SIGNED"
                                                            : "UNSIGNED";
        text.add("compare_type", cat("#stablehlo<comparison_type ", order, ">"));
        return text.text();
      }
      case Op::dot_general:
        text.add("dot_dimension_numbers", numbered("dot", a,
                                                   {Attr::lhs_batching_dimensions, Attr::rhs_batching_dimensions,
                                                    Attr::lhs_contracting_dimensions, Attr::rhs_contracting_dimensions},
                                                   false));
        return text.text();
      case Op::gather:
        text.add("dimension_numbers",
                 numbered("gather", a,
                          {Attr::offset_dims, Attr::collapsed_slice_dims, Attr::operand_batching_dims,
                           Attr::start_indices_batching_dims, Attr::start_index_map},
                          true));
        text.add("slice_sizes", a.dims(Attr::slice_sizes));
        text.add("indices_are_sorted", a.flag(Attr::indices_are_sorted));
        if (a.flag(Attr::in_bounds)) text.add(name(Attr::in_bounds), true);
        return text.text();
      case Op::scatter:
        text.add("scatter_dimension_numbers",
                 numbered("scatter", a,
                          {Attr::update_window_dims, Attr::inserted_window_dims, Attr::input_batching_dims,
                           Attr::scatter_indices_batching_dims, Attr::scatter_dims_to_operand_dims},
                          true));
        text.add("indices_are_sorted", a.flag(Attr::indices_are_sorted));
        text.add("unique_indices", a.flag(Attr::unique_indices));
        if (a.flag(Attr::in_bounds)) text.add(name(Attr::in_bounds), true);
        return text.text();
      default:
        break;
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
    if (const auto* v = std::get_if<double>(&value)) text.add(name(attr), cat(decimal_text(*v), " : f64"));
  }

  // Padding as a matrix of low and high.
  static std::string padding(const Ints& values) {
    std::string rows;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      append(rows, i ? ", [" : "[", values[i], ", ", values[i + 1], "]");
    return cat("dense<", values.empty() ? std::string() : cat("[", rows, "]"), "> : tensor<", values.size() / 2,
               "x2xi64>");
  }

  static std::string groups(const Ints& values, int64_t size) {
    std::string rows;
    const auto columns = static_cast<size_t>(size);
    if (values.empty()) return cat("dense<> : tensor<0x", columns, "xi64>");
    for (size_t i = 0; i < values.size(); ++i) append(rows, i % columns == 0 ? (i ? "], [" : "[") : ", ", values[i]);
    return cat("dense<[", rows, "]]> : tensor<", values.size() / columns, "x", columns, "xi64>");
  }

  static void channel(AttrText& text, const Attrs& a) {
    if (a.find(Attr::channel_handle)) text.add("channel_handle", a.text(Attr::channel_handle));
    if (a.flag(Attr::use_global_device_ids)) text.add("use_global_device_ids", std::string("unit"));
    if (a.flag(Attr::mean)) text.add("mean", true);
  }

  static std::string flags(const Ints& values) {
    std::string out = "array<i1";
    for (size_t i = 0; i < values.size(); ++i) append(out, i ? ", " : ": ", values[i] ? "true" : "false");
    return out + ">";
  }

  static void window(AttrText& text, const Attrs& a) {
    for (Attr attr : {Attr::window_dimensions, Attr::window_strides, Attr::base_dilations, Attr::window_dilations})
      if (a.find(attr)) text.add(name(attr), a.ints(attr));
    if (a.find(Attr::padding)) text.add("padding", padding(a.ints(Attr::padding)));
  }

  static std::string convolution_numbers(const Attrs& a) {
    auto side = [&](Attr first, std::string_view first_name, Attr second, std::string_view second_name, Attr spatial) {
      const Ints& axes = a.ints(spatial);
      std::vector<std::string> letters(axes.size() + 2);
      letters[static_cast<size_t>(a.integer(first))] = first_name;
      letters[static_cast<size_t>(a.integer(second))] = second_name;
      for (size_t i = 0; i < axes.size(); ++i) letters[static_cast<size_t>(axes[i])] = cat(i);
      std::string out = "[";
      for (size_t i = 0; i < letters.size(); ++i) append(out, i ? ", " : "", letters[i]);
      return out + "]";
    };
    return cat(
        "#stablehlo.conv<",
        side(Attr::input_batch_dimension, "b", Attr::input_feature_dimension, "f", Attr::input_spatial_dimensions), "x",
        side(Attr::kernel_input_feature_dimension, "i", Attr::kernel_output_feature_dimension, "o",
             Attr::kernel_spatial_dimensions),
        "->",
        side(Attr::output_batch_dimension, "b", Attr::output_feature_dimension, "f", Attr::output_spatial_dimensions),
        ">");
  }

  static void custom_call(AttrText& text, const Attrs& a) {
    std::string others = a.find(Attr::call_attributes) ? a.text(Attr::call_attributes) : std::string();
    // The configuration may be among the others, under JAX's name for it.
    if (a.find(Attr::backend_config) && others.find("mhlo.backend_config = ") == std::string::npos) {
      const std::string& config = a.text(Attr::backend_config);
      if (config.starts_with("{") && others.find("api_version = ") == std::string::npos)
        text.add("api_version", std::string("4 : i32"));
      text.add("backend_config", config);
    }
    if (!others.empty()) text.add_all(others);
  }

  static std::string enumerated(std::string_view kind, const std::string& value) {
    return cat("#stablehlo<", kind, " ", value, ">");
  }

  static std::string number(double value, DType dtype) {
    std::string element = dense_text(Literal::scalar(dtype, value));
    return cat(element.substr(6, element.size() - 7), " : ", name(dtype));
  }

  // Ops of windows, loops and the outside; nothing for others.
  std::optional<std::string> special_attributes(const Node& node) {
    const Attrs& a = node.attrs;
    AttrText text;
    switch (node.op) {
      case Op::reduce_window:
      case Op::select_and_scatter:
        window(text, a);
        break;
      case Op::convolution:
        text.add("dimension_numbers", convolution_numbers(a));
        for (Attr attr : {Attr::window_strides, Attr::lhs_dilation, Attr::rhs_dilation})
          if (a.find(attr)) text.add(name(attr), a.ints(attr));
        if (a.find(Attr::window_reversal)) text.add("window_reversal", flags(a.ints(Attr::window_reversal)));
        if (a.find(Attr::padding)) text.add("padding", padding(a.ints(Attr::padding)));
        for (Attr attr : {Attr::feature_group_count, Attr::batch_group_count})
          text.add(name(attr), cat(a.integer(attr), " : i64"));
        break;
      case Op::fft:
        text.add("fft_type", enumerated("fft_type", a.text(Attr::fft_type)));
        text.add("fft_length", a.ints(Attr::fft_length));
        break;
      case Op::triangular_solve:
        for (Attr attr : {Attr::left_side, Attr::lower, Attr::unit_diagonal}) text.add(name(attr), a.flag(attr));
        text.add("transpose_a", enumerated("transpose", a.text(Attr::transpose_a)));
        break;
      case Op::rng:
        text.add("rng_distribution", enumerated("rng_distribution", a.text(Attr::rng_distribution)));
        break;
      case Op::rng_bit_generator:
        text.add("rng_algorithm", enumerated("rng_algorithm", a.text(Attr::rng_algorithm)));
        break;
      case Op::reduce_precision:
        for (Attr attr : {Attr::exponent_bits, Attr::mantissa_bits})
          text.add(name(attr), cat(a.integer(attr), " : i32"));
        break;
      case Op::batch_norm_training:
      case Op::batch_norm_inference:
      case Op::batch_norm_grad:
        text.add("epsilon", number(a.number(Attr::epsilon), DType::f32));
        text.add("feature_index", cat(a.integer(Attr::feature_index), " : i64"));
        break;
      case Op::custom_call:
        text.add("call_target_name", quoted(a.text(Attr::call_target_name)));
        if (a.flag(Attr::has_side_effect)) text.add("has_side_effect", true);
        custom_call(text, a);
        break;
      case Op::call:
        text.add("callee", cat("@", symbol(callee(node.regions[0]))));
        break;
      case Op::composite:
        text.add("name", quoted(a.text(Attr::name)));
        text.add("decomposition", cat("@", symbol(callee(node.regions[0]))));
        if (a.find(Attr::composite_attributes)) text.add("composite_attributes", a.text(Attr::composite_attributes));
        if (a.find(Attr::version)) text.add("version", cat(a.integer(Attr::version), " : i32"));
        break;
      case Op::all_gather:
      case Op::all_reduce:
      case Op::all_to_all:
      case Op::collective_broadcast:
      case Op::reduce_scatter:
        for (Attr attr : {Attr::all_gather_dim, Attr::split_dimension, Attr::concat_dimension, Attr::split_count,
                          Attr::scatter_dimension})
          if (a.find(attr)) text.add(name(attr), cat(a.integer(attr), " : i64"));
        text.add("replica_groups", groups(a.ints_or(Attr::replica_groups, 1, 0), a.integer_or(Attr::group_size, 1)));
        channel(text, a);
        break;
      case Op::collective_permute:
        text.add("source_target_pairs", groups(a.ints(Attr::source_target_pairs), 2));
        channel(text, a);
        break;
      default:
        return std::nullopt;
    }
    return text.text();
  }

  const PrintOptions& options_;
  std::map<const Graph*, std::string> callee_names_;
  std::vector<GraphPtr> called_;
  std::map<std::string, std::string> location_names_;
  std::string location_lines_;
  std::string out_;
  int next_ = 0;
};

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) { return Printer(options).module(graph); }

}  // namespace weft
