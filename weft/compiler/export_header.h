// What C knows of an exported program.
#pragma once

#include <string>

#include "weft/codegen/export.h"

namespace weft {

// Error(value), label "export_name", unless C and C++ can have a function of that name.
void require_c_name(const std::string& name);
// "int32_t NAME(const weft_pool* pool, int64_t n, const float* x, float* y)"
std::string c_prototype(const Program& program, const std::string& name);
// A line of a comment for each argument: dtype, shape, what it is for.
std::string describe_arguments(const Program& program);
std::string c_header(const Program& program, const ExportPlan& plan, const std::string& prototype,
                     const Target& target);

}  // namespace weft
