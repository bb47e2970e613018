// Library functions lane by lane.
#include "weft/codegen/llvm/math.h"

#include "weft/core/error.h"

namespace weft {
namespace {

// The C name of a scalar operation of one or two floats.
std::string library_name(const std::string& function, bool is_double) {
  static const std::map<std::string, std::string> others = {
      {"power", "pow"},
      {"remainder", "fmod"},
      {"next_after", "nextafter"},
      {"digamma", "weft_digamma"},
      {"logistic", "weft_logistic"},
      {"erf_inv", "weft_erf_inv"},
      {"bessel_i1e", "weft_bessel_i1e"},
      {"polygamma", "weft_polygamma"},
      {"zeta", "weft_zeta"},
  };
  auto found = others.find(function);
  std::string name = found == others.end() ? function : found->second;
  return is_double ? name : name + "f";
}

struct Shape {
  std::string argument, result, callee;
  size_t count = 1;
  std::string tail;  // constants passed after the arguments
};

Shape shape_of(const std::string& function, DType dtype) {
  size_t dot = function.find('.');
  std::string stem = function.substr(0, dot), rest = dot == std::string::npos ? "" : function.substr(dot + 1);
  if (stem == "small_to_float") return {"i32", "float", "weft_small_to_float", 1, ", i32 " + rest};
  if (stem == "float_to_small") return {"float", "i32", "weft_float_to_small", 1, ", i32 " + rest};
  if (stem == "double_to_small") return {"double", "i32", "weft_double_to_small", 1, ", i32 " + rest};
  std::string element = dtype == DType::f64 ? "double" : "float";
  if (stem.starts_with("complex_")) {
    if (rest.empty()) return {element, element, {}, 2, {}};
    size_t count = stem == "complex_divide" || stem == "complex_power" ? 4 : 2;
    std::string part = rest == "re" ? "_re" : "_im";
    return {element, element, cat("weft_", stem, part, dtype == DType::f64 ? "" : "f"), count, {}};
  }
  size_t count = stem == "power" || stem == "remainder" || stem == "atan2" || stem == "next_after" || stem == "hypot" ||
                         stem == "polygamma" || stem == "zeta"
                     ? 2
                     : 1;
  return {element, element, library_name(stem, dtype == DType::f64), count, {}};
}

// Calls the scalar function for each lane in a loop over stack slots.
std::string lane_by_lane(ModuleText& module, const Shape& shape, const std::string& name, int lanes) {
  std::string parameters, declared, tail = shape.tail.empty() ? "" : ", i32";
  std::string argument = lanes_type(shape.argument, lanes), result = lanes_type(shape.result, lanes);
  for (size_t i = 0; i < shape.count; ++i) {
    append(parameters, i ? ", " : "", argument, " %a", i);
    append(declared, i ? ", " : "", shape.argument);
  }
  module.declare(cat("declare ", shape.result, " @", shape.callee, "(", declared, tail, ")"));
  std::string text = cat("define internal ", result, " @", name, "(", parameters, ") #1 {\nentry:\n");
  auto call = [&](const std::vector<std::string>& values) {
    std::string given;
    for (size_t i = 0; i < values.size(); ++i) append(given, i ? ", " : "", shape.argument, " ", values[i]);
    append(text, "  %r = call ", shape.result, " @", shape.callee, "(", given, shape.tail, ")\n");
  };
  if (lanes == 1) {
    std::vector<std::string> values;
    for (size_t i = 0; i < shape.count; ++i) values.push_back(cat("%a", i));
    call(values);
    append(text, "  ret ", shape.result, " %r\n}\n\n");
    return text;
  }
  append(text, "  br label %loop\nloop:\n  %i = phi i64 [0, %entry], [%next, %loop]\n  %sofar = phi ", result,
         " [poison, %entry], [%more, %loop]\n");
  std::vector<std::string> values;
  for (size_t i = 0; i < shape.count; ++i) {
    append(text, "  %x", i, " = extractelement ", argument, " %a", i, ", i64 %i\n");
    values.push_back(cat("%x", i));
  }
  call(values);
  append(text, "  %more = insertelement ", result, " %sofar, ", shape.result,
         " %r, i64 %i\n  %next = add i64 %i, 1\n  %on = icmp ult i64 %next, ", lanes,
         "\n  br i1 %on, label %loop, label %done\ndone:\n  ret ", result, " %more\n}\n\n");
  return text;
}

}  // namespace

MathFunction math_function(ModuleText& module, const std::string& function, DType dtype, int lanes) {
  const bool is_whole = is_integer(dtype);
  const std::string whole = is_whole ? register_type(dtype) : std::string();
  const Shape shape = is_whole ? Shape{whole, whole, {}, 2, {}} : shape_of(function, dtype);
  MathFunction result{cat("weft.", function, ".",
                          is_whole              ? whole
                          : dtype == DType::f64 ? "f64"
                                                : "f32",
                          ".", lanes),
                      lanes_type(shape.argument, lanes), lanes_type(shape.result, lanes)};
  if (function.starts_with("complex_") && shape.callee.empty())
    result.result_type = cat("{ ", result.result_type, ", ", result.result_type, " }");
  if (module.functions.count(result.name)) return result;
  module.functions[result.name] = {};
  std::string text = is_whole ? integer_math(module, function, whole, result.name, lanes)
                              : vector_math(module, function, dtype, result.name, lanes);
  if (text.empty()) text = lane_by_lane(module, shape, result.name, lanes);
  module.functions[result.name] = std::move(text);
  return result;
}

}  // namespace weft
