// Tracing functions of tensors, and their programs.
#include "weft/frontend/jit.h"

#include "weft/compiler/compile.h"
#include "weft/core/hash.h"
#include "weft/core/symbol_name.h"
#include "weft/frontend/programs.h"
#include "weft/frontend/record.h"

namespace weft {
namespace {

// How many functions this thread is tracing, one inside of the other.
thread_local int traces = 0;

struct Tracing {
  Tracing() { ++traces; }
  ~Tracing() { --traces; }
};

std::vector<Tensor> run(const Executable& executable, std::span<const Tensor> arguments) {
  eval(arguments);
  std::vector<Buffer> inputs;
  for (const Tensor& argument : arguments) inputs.push_back(argument.eval());
  std::vector<Tensor> results;
  for (Buffer& output : executable.run(inputs)) results.emplace_back(std::move(output));
  return results;
}

size_t hash_of(std::span<const Type> types, const Ints& lengths) {
  size_t result = 0;
  for (const Type& type : types) {
    result = hash_combine(result, static_cast<size_t>(type.dtype));
    for (const Dim& dim : type.dims) result = hash_combine(result, dim.hash());
  }
  for (int64_t length : lengths) result = hash_combine(result, static_cast<size_t>(length));
  return result;
}

const Graph& given(const GraphPtr& graph) {
  if (!graph) fail(ErrorKind::value, "no_graph", "a graph was wanted, got one that holds nothing");
  return *graph;
}

}  // namespace

CompiledFunction compile(GraphPtr graph) {
  given(graph);
  CompiledFunction function;
  auto compiled = std::make_shared<Compiled>(compile(*graph, CompileOptions()));
  function.graph_ = std::move(graph);
  function.executable_ = compiled->executable;
  function.compiled_ = std::move(compiled);
  return function;
}

std::vector<Tensor> CompiledFunction::operator()(std::span<const Tensor> arguments) const {
  return run(executable_, arguments);
}

void CompiledFunction::save(const std::filesystem::path& file) const {
  const auto& graph = given(graph_);
  write_package(file, package_of(graph, *static_cast<const Compiled*>(compiled_.get())));
}

std::string stablehlo(const GraphPtr& graph) { return stablehlo_text(given(graph)); }
std::string graph_text(const GraphPtr& graph) { return short_text(given(graph)); }

namespace jit_parts {

struct Programs::State {
  std::vector<Spec> specs;
  std::string name;
  ProgramCache cache{256};
};

Programs::Programs(std::vector<Spec> specs, std::string name) : state_(std::make_shared<State>()) {
  state_->specs = std::move(specs);
  state_->name = std::move(name);
}

GraphPtr trace(const TensorFunction& function, const std::vector<Spec>& specs, std::string name) {
  Tracing tracing;
  std::vector<NamedTensor> parameters, outputs;
  std::vector<Tensor> arguments;
  for (const Spec& spec : specs) {
    for (const Dim& dim : spec.dims)
      for (const Symbol& symbol : dim.symbols()) require_symbol(symbol);
    std::string shown = spec.name.empty() ? cat("x", parameters.size()) : spec.name;
    arguments.push_back(parameter({spec.dtype, spec.dims}, shown));
    parameters.push_back({arguments.back(), std::move(shown)});
  }
  for (Tensor& result : function(arguments)) outputs.push_back({std::move(result), cat("y", outputs.size())});
  return record_graph(std::move(name), parameters, outputs);
}

std::vector<Tensor> Programs::call(std::vector<Tensor> arguments, Ints lengths, const TensorFunction& function) const {
  if (traces > 0) return function(arguments);
  std::vector<Type> types;
  for (const Tensor& argument : arguments) types.push_back(argument.type());
  const std::vector<Spec>& specs = state_->specs;
  if (!specs.empty() && specs.size() != types.size())
    fail(ErrorKind::type, "input_count", "'", state_->name, "' takes ", specs.size(), " tensors, got ", types.size());
  auto describe = [&](KnownProgram& added) { added.types = types, added.lengths = lengths; };
  auto same = [&](const KnownProgram& known) {
    return !specs.empty() || (known.types == types && known.lengths == lengths);
  };
  auto found = state_->cache.find(specs.empty() ? hash_of(types, lengths) : 0, same, describe);
  std::call_once(found->once, [&] {
    std::vector<Spec> given = specs;
    for (size_t i = 0; specs.empty() && i < types.size(); ++i) given.push_back({types[i].dims, types[i].dtype, {}});
    found->executable = compile(*trace(function, given, state_->name), {.tiered = true}).executable;
  });
  return run(found->executable, arguments);
}

}  // namespace jit_parts
}  // namespace weft
