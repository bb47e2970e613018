// From MLIR's attributes to the registry's.
#include "weft/ir/parse_call.h"

#include <algorithm>

#include "weft/ir/number_text.h"

namespace weft {
namespace {

class Reader {
 public:
  Reader(const ParsedCall& call, const SymbolTable& symbols) : call_(call), symbols_(symbols) {}

  const MlirAttr* find(std::string_view name) const {
    auto found = call_.attrs.find(std::string(name));
    return found == call_.attrs.end() ? nullptr : &found->second;
  }

  const MlirAttr& get(std::initializer_list<std::string_view> names) const {
    for (std::string_view name : names)
      if (const MlirAttr* attr = find(name)) return *attr;
    fail(ErrorKind::value, "missing_attribute", call_.name, ": the attribute '", *names.begin(), "' is missing");
  }

  Ints ints(std::initializer_list<std::string_view> names) const {
    const MlirAttr& attr = get(names);
    if (!attr.ints || attr.has_flags)
      fail(ErrorKind::value, "attribute_kind", call_.name, ": '", *names.begin(), "' must be integers");
    return *attr.ints;
  }

  int64_t integer(std::initializer_list<std::string_view> names, int bits = 64) const {
    const MlirAttr& attr = get(names);
    if (!attr.integer || attr.bits != bits)
      fail(ErrorKind::value, "attribute_kind", call_.name, ": '", *names.begin(), "' must be an integer of type i",
           bits);
    return *attr.integer;
  }

  // Integers, or the extents of weft.NAME where there are symbolic ones.
  Dims dims(std::initializer_list<std::string_view> names) const {
    if (const MlirAttr* symbolic = find(cat("weft.", *names.begin())); symbolic && symbolic->text) {
      Dims result;
      std::string part;
      for (char c : *symbolic->text + ";") {
        if (c != ';') {
          part += c;
          continue;
        }
        result.push_back(parse_dim(part, symbols_));
        part.clear();
      }
      return result;
    }
    Dims result;
    for (int64_t value : ints(names)) result.emplace_back(value);
    return result;
  }

  Ints field(const MlirAttr& attr, const char* name) const {
    auto found = attr.fields.find(name);
    if (found == attr.fields.end()) return {};
    if (!found->second.ints || found->second.has_flags)
      fail(ErrorKind::value, "attribute_kind", call_.name, ": '", name, "' must be integers");
    return *found->second.ints;
  }

  Ints field(const MlirAttr& attr, std::string_view name) const { return field(attr, std::string(name).c_str()); }

  int64_t vector_dim(const MlirAttr& attr) const {
    auto found = attr.fields.find("index_vector_dim");
    return found != attr.fields.end() && found->second.integer ? *found->second.integer : 0;
  }

  bool flag(std::string_view name) const {
    const MlirAttr* attr = find(name);
    return attr && attr->flag.value_or(false);
  }

 private:
  const ParsedCall& call_;
  const SymbolTable& symbols_;
};

// Products may give another element type than their operands have.
void set_result_dtype(Attrs& attrs, const ParsedCall& call) {
  if (call.operands.size() != 2)
    fail(ErrorKind::type, "operands", call.name, " needs 2 operands, got ", call.operands.size());
  if (call.results.size() == 1 && (call.results[0].dtype != call.operands[0].type().dtype ||
                                   call.results[0].dtype != call.operands[1].type().dtype))
    attrs.set(Attr::type, call.results[0].dtype);
}

// Integers under any of the names, flags where they say whether to turn round; nothing where there are none.
void set_window(Attrs& attrs, Attr attr, const ParsedCall& call, const MlirAttrs& given,
                std::initializer_list<const char*> names) {
  for (const char* key : names) {
    auto found = given.find(key);
    if (found == given.end()) continue;
    bool flags = attr == Attr::window_reversal;
    if (!found->second.ints || (found->second.has_flags && !flags))
      fail(ErrorKind::value, "attribute_kind", call.name, ": '", key, "' must be integers");
    Ints values = *found->second.ints;
    if (flags) std::ranges::transform(values, values.begin(), [](int64_t value) { return int64_t{value != 0}; });
    if (!values.empty()) attrs.set(attr, values);
  }
}

Attrs convolution_attrs(const ParsedCall& call, const Reader& reader) {
  const MlirAttr& numbers = reader.get({"dimension_numbers"});
  Attrs attrs;
  for (Attr attr :
       {Attr::input_batch_dimension, Attr::input_feature_dimension, Attr::kernel_input_feature_dimension,
        Attr::kernel_output_feature_dimension, Attr::output_batch_dimension, Attr::output_feature_dimension}) {
    auto found = numbers.fields.find(std::string(name(attr)));
    if (found == numbers.fields.end() || !found->second.integer)
      fail(ErrorKind::value, "missing_attribute", call.name, ": dimension_numbers need '", name(attr), "'");
    attrs.set(attr, *found->second.integer);
  }
  for (Attr attr : {Attr::input_spatial_dimensions, Attr::kernel_spatial_dimensions, Attr::output_spatial_dimensions})
    attrs.set(attr, reader.field(numbers, name(attr)));
  for (Attr attr : {Attr::feature_group_count, Attr::batch_group_count})
    attrs.set(attr, reader.find(name(attr)) ? reader.integer({name(attr)}) : int64_t{1});
  const MlirAttr* window = reader.find("window");
  const MlirAttrs& given = window ? window->fields : call.attrs;
  set_window(attrs, Attr::window_strides, call, given, {"window_strides", "stride"});
  set_window(attrs, Attr::lhs_dilation, call, given, {"lhs_dilation", "lhs_dilate"});
  set_window(attrs, Attr::rhs_dilation, call, given, {"rhs_dilation", "rhs_dilate"});
  set_window(attrs, Attr::window_reversal, call, given, {"window_reversal", "reverse"});
  set_window(attrs, Attr::padding, call, given, {"padding", "pad"});
  set_window(attrs, Attr::padding, call, call.attrs, {"padding"});
  set_result_dtype(attrs, call);
  return attrs;
}

Attrs custom_call_attrs(const ParsedCall& call, const Reader& reader) {
  Attrs attrs{{Attr::call_target_name, reader.get({"call_target_name"}).text.value_or("")},
              {Attr::types, call.results}};
  for (const char* key : {"mhlo.backend_config", "backend_config"})
    if (const MlirAttr* config = reader.find(key); config && config->source != "\"\"" && !config->source.empty()) {
      attrs.set(Attr::backend_config, config->source);
      break;
    }
  if (reader.flag("has_side_effect")) attrs.set(Attr::has_side_effect, true);
  // Layouts and the like mean something to the one that is called; functions it names are not kept.
  std::string others;
  for (const auto& [key, attr] : call.attrs) {
    if (key == "call_target_name" || key == "has_side_effect" || key == "backend_config" ||
        key == "called_computations")
      continue;
    // A configuration in braces says so by itself.
    const MlirAttr* config = reader.find("backend_config");
    if (key == "api_version" && attr.integer == 4 && config && config->source.starts_with("{")) continue;
    if (attr.source.empty())
      fail(ErrorKind::value, "attribute_size", call.name, ": the attribute '", key,
           "' must have a value of less than 65536 characters");
    append(others, others.empty() ? "" : ", ", key, " = ", attr.source);
  }
  if (!others.empty()) attrs.set(Attr::call_attributes, others);
  return attrs;
}

// "e5m10"
Attrs precision_attrs(const ParsedCall& call, const Reader& reader) {
  if (!reader.find("format"))
    return {{Attr::exponent_bits, reader.integer({"exponent_bits"}, 32)},
            {Attr::mantissa_bits, reader.integer({"mantissa_bits"}, 32)}};
  std::string format = reader.get({"format"}).text.value_or("");
  size_t mark = std::min(format.find('m'), format.size());
  bool has_digits = format.find_first_not_of("em0123456789") == std::string::npos;
  auto part = [&](size_t begin, size_t end) {
    return integer_of(std::string_view(format).substr(begin, std::max(begin, end) - begin), {32, Sign::with});
  };
  auto exponent = part(std::min<size_t>(1, format.size()), mark),
       mantissa = part(std::min(mark + 1, format.size()), format.size());
  if (!format.starts_with('e') || !has_digits || !exponent || !mantissa)
    fail(ErrorKind::value, "attribute_kind", call.name, ": the format must be like e5m10, got '", format, "'");
  return {{Attr::exponent_bits, *exponent}, {Attr::mantissa_bits, *mantissa}};
}

Attrs call_attrs(const ParsedCall& call, const Reader& reader) {
  if (*call.op == Op::call) return {{Attr::name, reader.get({"callee", "name"}).text.value_or("")}};
  Attrs attrs{{Attr::name, reader.get({"name"}).text.value_or("")}};
  if (const MlirAttr* given = reader.find("composite_attributes"); given && given->source != "{}")
    attrs.set(Attr::composite_attributes, given->source);
  if (const MlirAttr* given = reader.find("version"); given && given->integer)
    attrs.set(Attr::version, *given->integer);
  return attrs;
}

Attrs dot_attrs(const Reader& reader) {
  if (const MlirAttr* numbers = reader.find("dot_dimension_numbers"))
    return {{Attr::lhs_batching_dimensions, reader.field(*numbers, "lhs_batching_dimensions")},
            {Attr::rhs_batching_dimensions, reader.field(*numbers, "rhs_batching_dimensions")},
            {Attr::lhs_contracting_dimensions, reader.field(*numbers, "lhs_contracting_dimensions")},
            {Attr::rhs_contracting_dimensions, reader.field(*numbers, "rhs_contracting_dimensions")}};
  auto pair = [&](const char* name) { return reader.find(name) ? reader.ints({name}) : Ints{}; };
  return {{Attr::lhs_batching_dimensions, pair("batching_dims")},
          {Attr::rhs_batching_dimensions, pair("batching_dims.rhs")},
          {Attr::lhs_contracting_dimensions, pair("contracting_dims")},
          {Attr::rhs_contracting_dimensions, pair("contracting_dims.rhs")}};
}

// What has no spelling of its own: each attribute of the registry under its name.
Attrs plain_attrs(const ParsedCall& call, const Reader& reader) {
  Attrs attrs;
  for (const AttrSpec& spec : def(*call.op).attrs) {
    std::string_view key = name(spec.attr);
    const MlirAttr* given = reader.find(key);
    if (!given && spec.optional) continue;
    switch (spec.kind) {
      case AttrKind::ints:
        attrs.set(spec.attr, reader.ints({key, "dims", "permutation"}));
        break;
      case AttrKind::dims:
        attrs.set(spec.attr, reader.dims({key}));
        break;
      case AttrKind::integer:
        attrs.set(spec.attr, reader.integer({key, "dim"}));
        break;
      case AttrKind::flag:
        attrs.set(spec.attr, given && given->flag.value_or(false));
        break;
      case AttrKind::number: {
        const MlirAttr& number = reader.get({key});
        if (!number.number || number.integer)
          fail(ErrorKind::value, "attribute_kind", call.name, ": '", key, "' must be a number");
        attrs.set(spec.attr, *number.number);
        break;
      }
      case AttrKind::text:
        attrs.set(spec.attr, reader.get({key}).text.value_or(""));
        break;
      case AttrKind::dtype:
      case AttrKind::types:
      case AttrKind::literal:
        break;
    }
  }
  return attrs;
}

void set_channel(Attrs& attrs, const Reader& reader) {
  if (const MlirAttr* channel = reader.find("channel_handle")) attrs.set(Attr::channel_handle, channel->source);
}

// Where all ranks are one group the types tell how many they are; 0 where they do not.
int64_t size_of_all(const ParsedCall& call, const Attrs& attrs) {
  if (*call.op == Op::all_to_all) return attrs.integer(Attr::split_count);
  if (*call.op != Op::all_gather && *call.op != Op::reduce_scatter) return 0;
  const bool gathers = *call.op == Op::all_gather;
  if (call.operands.empty() || call.results.empty()) return 1;
  const Dims &few = gathers ? call.operands[0].type().dims : call.results[0].dims,
             &many = gathers ? call.results[0].dims : call.operands[0].type().dims;
  const int64_t axis = attrs.integer(gathers ? Attr::all_gather_dim : Attr::scatter_dimension);
  const bool is_known = axis >= 0 && axis < static_cast<int64_t>(std::min(few.size(), many.size()));
  const Dim &part = is_known ? few[static_cast<size_t>(axis)] : Dim(1),
            &whole = is_known ? many[static_cast<size_t>(axis)] : Dim(1);
  return part.is_static() && whole.is_static() && part.value() > 0 ? std::max<int64_t>(whole.value() / part.value(), 1)
                                                                   : 1;
}

// Groups as rows, which one integer alone may stand for.
Attrs collective_attrs(const ParsedCall& call, const Reader& reader) {
  Attrs attrs;
  for (Attr attr : {Attr::all_gather_dim, Attr::scatter_dimension, Attr::split_dimension, Attr::concat_dimension,
                    Attr::split_count})
    if (std::ranges::any_of(def(*call.op).attrs, [&](const AttrSpec& spec) { return spec.attr == attr; }))
      attrs.set(attr, reader.integer({name(attr)}));
  set_channel(attrs, reader);
  if (const MlirAttr* global = reader.find("use_global_device_ids"); global && global->flag.value_or(true))
    attrs.set(Attr::use_global_device_ids, true);
  if (reader.flag("mean")) attrs.set(Attr::mean, true);
  attrs.set(Attr::replica_groups, Ints{0});
  const MlirAttr* groups = reader.find("replica_groups");
  if (!groups) return attrs;
  attrs.set(Attr::replica_groups, reader.ints({"replica_groups"}));
  const Dims rows = groups->splat ? groups->splat->dims : groups->literal ? groups->literal->type().dims : Dims{};
  if (rows.size() != 2)
    fail(ErrorKind::value, "attribute_kind", call.name, ": 'replica_groups' must be dense integers of two dimensions");
  int64_t size = rows[1].value();
  if (attrs.ints(Attr::replica_groups).empty()) size = size_of_all(call, attrs);
  if (size != 1) attrs.set(Attr::group_size, size);
  return attrs;
}

}  // namespace

const Type& result_of(const ParsedCall& call) {
  if (call.results.size() != 1)
    fail(ErrorKind::value, "result_type", call.name, ": the text must give one result type");
  return call.results[0];
}

std::optional<Op> op_of(std::string_view name) {
  // A strided view is made when kernels are prepared; nothing holds one from elsewhere to its operand.
  if (name.starts_with("weft.")) return name == "weft.strided_view" ? std::nullopt : op_from_name(name.substr(5));
  if (name == "call" || name == "func.call") return Op::call;
  static const std::map<std::string, Op, std::less<>> table = [] {
    std::map<std::string, Op, std::less<>> names;
    for (Op op : all_ops())
      if (std::string_view spelled = def(op).names.stablehlo; !spelled.empty())
        names.emplace(spelled.find('.') == std::string_view::npos ? cat("stablehlo.", spelled) : std::string(spelled),
                      op);
    return names;
  }();
  auto found = table.find(name);
  // CHLO has some that StableHLO has gained since.
  if (found == table.end() && name.starts_with("chlo.")) found = table.find(cat("stablehlo.", name.substr(5)));
  return found == table.end() ? std::nullopt : std::optional<Op>(found->second);
}

Attrs attrs_of(const ParsedCall& call, const SymbolTable& symbols) {
  Reader reader(call, symbols);
  switch (*call.op) {
    case Op::constant: {
      const MlirAttr& value = reader.get({"value"});
      if (!value.literal) fail(ErrorKind::value, "attribute_kind", call.name, ": 'value' must be dense<…>");
      return {{Attr::value, *value.literal}};
    }
    case Op::iota:
      return {{Attr::type, result_of(call).dtype},
              {Attr::dims, result_of(call).dims},
              {Attr::dimension, reader.integer({"iota_dimension", "dim"})}};
    case Op::convert:
      return {{Attr::type, result_of(call).dtype}};
    case Op::bitcast_convert: {
      Attrs attrs{{Attr::type, result_of(call).dtype}};
      if (result_of(call).quantized || (call.operands.size() == 1 && call.operands[0].type().quantized))
        attrs.set(Attr::types, call.results);
      return attrs;
    }
    case Op::uniform_quantize:
      return {{Attr::types, call.results}};
    case Op::reshape:
      return {{Attr::dims, result_of(call).dims}};
    case Op::broadcast_in_dim:
      return {{Attr::dims, result_of(call).dims}, {Attr::dimensions, reader.ints({"broadcast_dimensions", "dims"})}};
    case Op::compare: {
      Attrs attrs{{Attr::comparison_direction, reader.get({"comparison_direction"}).text.value_or("")}};
      if (const MlirAttr* type = reader.find("compare_type"); type && type->text == "TOTALORDER")
        attrs.set(Attr::compare_type, *type->text);
      return attrs;
    }
    case Op::dot_general: {
      Attrs attrs = dot_attrs(reader);
      set_result_dtype(attrs, call);
      return attrs;
    }
    case Op::convolution:
      return convolution_attrs(call, reader);
    case Op::custom_call:
      return custom_call_attrs(call, reader);
    case Op::reduce_precision:
      return precision_attrs(call, reader);
    case Op::call:
    case Op::composite:
      return call_attrs(call, reader);
    case Op::fft:
      return {{Attr::fft_type, reader.get({"fft_type", "type"}).text.value_or("")},
              {Attr::fft_length, reader.ints({"fft_length", "length"})}};
    case Op::rng_bit_generator:
      if (call.results.size() != 2)
        fail(ErrorKind::value, "result_type", call.name, ": the text must give two result types");
      return {{Attr::rng_algorithm, reader.get({"rng_algorithm", "algorithm"}).text.value_or("")},
              {Attr::type, call.results[1].dtype},
              {Attr::dims, call.results[1].dims}};
    case Op::rng:
      return {{Attr::rng_distribution, reader.get({"rng_distribution", "distribution"}).text.value_or("")},
              {Attr::dims, result_of(call).dims}};
    case Op::pad:
      return {{Attr::edge_padding_low, reader.dims({"edge_padding_low", "low"})},
              {Attr::edge_padding_high, reader.dims({"edge_padding_high", "high"})},
              {Attr::interior_padding, reader.ints({"interior_padding", "interior"})}};
    case Op::dynamic_slice:
      return {{Attr::slice_sizes, reader.dims({"slice_sizes", "sizes"})}};
    case Op::gather: {
      const MlirAttr& numbers = reader.get({"dimension_numbers"});
      return {{Attr::offset_dims, reader.field(numbers, "offset_dims")},
              {Attr::collapsed_slice_dims, reader.field(numbers, "collapsed_slice_dims")},
              {Attr::operand_batching_dims, reader.field(numbers, "operand_batching_dims")},
              {Attr::start_indices_batching_dims, reader.field(numbers, "start_indices_batching_dims")},
              {Attr::start_index_map, reader.field(numbers, "start_index_map")},
              {Attr::index_vector_dim, reader.vector_dim(numbers)},
              {Attr::slice_sizes, reader.dims({"slice_sizes"})},
              {Attr::indices_are_sorted, reader.flag("indices_are_sorted")}};
    }
    case Op::scatter: {
      const MlirAttr& numbers = reader.get({"scatter_dimension_numbers"});
      return {{Attr::update_window_dims, reader.field(numbers, "update_window_dims")},
              {Attr::inserted_window_dims, reader.field(numbers, "inserted_window_dims")},
              {Attr::input_batching_dims, reader.field(numbers, "input_batching_dims")},
              {Attr::scatter_indices_batching_dims, reader.field(numbers, "scatter_indices_batching_dims")},
              {Attr::scatter_dims_to_operand_dims, reader.field(numbers, "scatter_dims_to_operand_dims")},
              {Attr::index_vector_dim, reader.vector_dim(numbers)},
              {Attr::indices_are_sorted, reader.flag("indices_are_sorted")},
              {Attr::unique_indices, reader.flag("unique_indices")}};
    }
    case Op::batch_norm_training:
    case Op::batch_norm_inference:
    case Op::batch_norm_grad: {
      Attrs attrs = plain_attrs(call, reader);
      if (reader.get({"epsilon"}).bits != 32)
        fail(ErrorKind::value, "attribute_kind", call.name, ": 'epsilon' must be of type f32");
      attrs.set(Attr::epsilon, double{static_cast<float>(attrs.number(Attr::epsilon))});
      return attrs;
    }
    case Op::all_gather:
    case Op::all_reduce:
    case Op::all_to_all:
    case Op::collective_broadcast:
    case Op::reduce_scatter:
      return collective_attrs(call, reader);
    case Op::collective_permute: {
      Attrs attrs{{Attr::source_target_pairs, reader.ints({"source_target_pairs"})}};
      set_channel(attrs, reader);
      return attrs;
    }
    default:
      return plain_attrs(call, reader);
  }
}

}  // namespace weft
