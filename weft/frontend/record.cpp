// Recording calls, and turning what was recorded into a graph.
#include "weft/frontend/record.h"

#include <atomic>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weft {
namespace {

thread_local Location current_loc;
std::atomic<uint64_t> serials{1};

// The dims that element-wise operands share at trace level; other operands keep their own.
std::vector<Type> broadcast_types(Op op, const std::vector<Tensor>& operands) {
  std::vector<Type> types;
  for (const Tensor& operand : operands) types.push_back(operand.type());
  if (!def(op).traits.elementwise || types.size() < 2) return types;
  Dims dims = types[0].dims;
  for (const Type& type : types)
    if (!type.dims.empty() && type.dims != dims) dims = broadcast(dims, type.dims);
  for (Type& type : types)
    if (type.dims != dims) type.dims = dims;
  return types;
}

}  // namespace

LocationScope::LocationScope(Location loc) : previous_(std::exchange(current_loc, std::move(loc))) {}
LocationScope::~LocationScope() { current_loc = std::move(previous_); }

CallerScope::CallerScope(const std::source_location& where) {
  if (current_loc || where.line() == 0) return;
  scope_.emplace(Location(where.file_name(), static_cast<int>(where.line()), where.function_name()));
}

void refuse(std::string_view function, const Error& error) {
  std::string_view message = error.message();
  size_t colon = message.find(": ");
  bool is_named =
      colon != message.npos && (op_from_name(message.substr(0, colon)) || message.substr(0, colon) == function);
  std::string text = is_named ? error.message() : cat(function, ": ", message);
  raise({error.kind(), std::move(text), error.label(), error.loc() ? error.loc() : current_loc});
}

std::mutex& record_mutex() {
  static std::mutex mutex;
  return mutex;
}

const Type& Tensor::type() const { return record().types[index_]; }

void Tensor::fail_unset() { fail(ErrorKind::type, "no_tensor", "a tensor was wanted, got one that was never set"); }

const Literal* Tensor::constant() const {
  return is_valid() && record_->op == Op::constant ? &record_->attrs.literal(Attr::value) : nullptr;
}

Record::~Record() {
  // A chain of calls is a chain of owners: taking the operands of sole owners here keeps the stack flat.
  std::vector<Tensor> pending = std::move(operands);
  while (!pending.empty()) {
    Tensor last = std::move(pending.back());
    pending.pop_back();
    if (!last.is_valid() || last.record_.use_count() != 1) continue;
    std::atomic_thread_fence(std::memory_order_acquire);  // after what the owners before did with it
    auto& inner = const_cast<Record&>(*last.record_).operands;
    for (Tensor& operand : inner) pending.push_back(std::move(operand));
    inner.clear();
  }
}

Tensor make_tensor(std::shared_ptr<Record> record, uint32_t index) {
  Tensor tensor;
  tensor.record_ = std::move(record);
  tensor.index_ = index;
  return tensor;
}

Tensor sibling(const Tensor& tensor, uint32_t index) {
  Tensor result = tensor;
  result.index_ = index;
  return result;
}

bool same_value(const Tensor& lhs, const Tensor& rhs) {
  std::set<std::pair<const Record*, const Record*>> seen;
  std::vector<std::pair<Tensor, Tensor>> pending{{lhs, rhs}};
  while (!pending.empty()) {
    auto [a, b] = std::move(pending.back());
    pending.pop_back();
    const Record &x = a.record(), &y = b.record();
    if (a.index() != b.index()) return false;
    if (&x == &y || !seen.emplace(&x, &y).second) continue;
    bool alike = x.op == y.op && x.op != Op::parameter && def(x.op).traits.pure && x.types == y.types &&
                 x.regions.empty() && y.regions.empty() && x.operands.size() == y.operands.size() && x.attrs == y.attrs;
    if (!alike) return false;
    for (size_t i = 0; i < x.operands.size(); ++i) pending.emplace_back(x.operands[i], y.operands[i]);
  }
  return true;
}

namespace {

std::shared_ptr<Record> recorded_call(Op op, std::vector<Tensor> operands, Attrs attrs, std::vector<GraphPtr> regions) {
  auto record = std::make_shared<Record>();
  try {
    std::vector<Type> types = broadcast_types(op, operands);
    record->types = infer({op, types, attrs, regions});
  } catch (const Error& error) {
    raise(error.at(current_loc));
  }
  record->op = op;
  record->attrs = std::move(attrs);
  record->operands = std::move(operands);
  record->regions = std::move(regions);
  record->loc = current_loc;
  record->serial = serials.fetch_add(1, std::memory_order_relaxed);
  return record;
}

}  // namespace

std::vector<Tensor> apply_all(Op op, std::vector<Tensor> operands, Attrs attrs, std::vector<GraphPtr> regions) {
  const auto record = recorded_call(op, std::move(operands), std::move(attrs), std::move(regions));
  std::vector<Tensor> results;
  for (uint32_t i = 0; i < record->types.size(); ++i) results.push_back(make_tensor(record, i));
  return results;
}

Tensor apply(Op op, std::vector<Tensor> operands, Attrs attrs, std::vector<GraphPtr> regions) {
  return make_tensor(recorded_call(op, std::move(operands), std::move(attrs), std::move(regions)), 0);
}

Tensor parameter(Type type, std::string name, bool from_outside) {
  if (!type.is_possible())
    raise({ErrorKind::value, cat("'", name, "' has extents that are negative: ", type), "extent", current_loc});
  auto record = std::make_shared<Record>();
  record->op = Op::parameter;
  record->attrs = {{Attr::name, std::move(name)}};
  record->types = {std::move(type)};
  record->loc = current_loc;
  record->serial = from_outside ? 0 : serials.fetch_add(1, std::memory_order_relaxed);
  return make_tensor(std::move(record), 0);
}

Tensor constant(Literal literal) {
  auto record = std::make_shared<Record>();
  record->op = Op::constant;
  record->types = {literal.type()};
  record->attrs = {{Attr::value, std::move(literal)}};
  record->loc = current_loc;
  record->serial = serials.fetch_add(1, std::memory_order_relaxed);
  return make_tensor(std::move(record), 0);
}

namespace {

// What becomes parameters besides placeholders: values recorded before the region, or computed ones, and numbers too.
enum class Takes { surroundings, values, numbers };

// Makes a graph of recorded calls. Computed values that are no parameters are constants. What is read under the mutex
// of records is copied: inference, which may call Python and with it whatever records, runs without it.
class Recorder {
 public:
  Recorder(std::string name, uint64_t since, Takes takes = Takes::surroundings)
      : build_(Level::trace, std::move(name)), since_(since), takes_(takes) {}

  void add_parameter(const Tensor& tensor, std::string name) {
    known(tensor) = {build_.parameter(tensor.type(), std::move(name), tensor.record().loc), true};
  }

  // To be called once.
  GraphPtr finish(std::span<const NamedTensor> outputs, std::span<const Tensor> effects = {}) {
    {
      std::lock_guard lock(record_mutex());
      for (const Tensor& effect : effects) plan(effect);
      for (const NamedTensor& output : outputs) plan(output.tensor);
    }
    for (const Step& step : steps_) build(step);
    std::vector<Output> results;
    for (const NamedTensor& output : outputs)
      results.push_back({known(output.tensor).value, output.name, output.alias});
    return build_.finish(std::move(results));
  }

  const std::vector<Tensor>& captured() const { return captured_; }

 private:
  enum class Becomes { call, constant, parameter };

  struct Known {
    Value value;
    bool is_planned = false;
  };

  struct Step {
    Becomes becomes;
    Tensor tensor;
    std::vector<Tensor> operands = {};   // of a call
    std::vector<GraphPtr> regions = {};  // likewise
    Buffer value = {};                   // of a constant
  };

  // Depth first with an explicit stack: a program may be deeper than the machine's stack.
  void plan(const Tensor& wanted) {
    std::vector<const Tensor*> stack{&wanted};
    while (!stack.empty()) {
      const Tensor& tensor = *stack.back();
      const Record& record = tensor.record();
      if (known(tensor).is_planned) {
        stack.pop_back();
      } else if (is_taken(record)) {
        add({Becomes::parameter, tensor});
      } else if (record.is_computed) {
        add({Becomes::constant, tensor, {}, {}, record.values[tensor.index()]});
      } else {
        size_t before = stack.size();
        for (auto operand = record.operands.rbegin(); operand != record.operands.rend(); ++operand)
          if (!known(*operand).is_planned) stack.push_back(&*operand);
        if (stack.size() == before) add({Becomes::call, tensor, record.operands, record.regions});
      }
    }
  }

  void add(Step step) {
    known(step.tensor).is_planned = true;
    if (step.becomes == Becomes::call) {
      const Record& record = step.tensor.record();
      std::vector<Known>& results = known_[&record];
      results.resize(record.types.size());
      for (Known& result : results) result.is_planned = true;
    }
    steps_.push_back(std::move(step));
  }

  bool is_taken(const Record& record) const {
    if (record.is_computed) return takes_ != Takes::surroundings;
    if (record.op == Op::constant) return takes_ == Takes::numbers && record.types[0].dims.empty();
    return record.serial < since_;
  }

  void build(const Step& step) {
    const Record& record = step.tensor.record();
    if (step.becomes == Becomes::call) return call(record, step);
    if (step.becomes == Becomes::constant) {
      known(step.tensor).value =
          build_.constant(Literal(step.tensor.type(), step.value.data(), std::make_shared<Buffer>(step.value)));
    } else {
      known(step.tensor).value = build_.parameter(step.tensor.type(), "", record.loc);
      captured_.push_back(step.tensor);
    }
  }

  void call(const Record& record, const Step& step) {
    if (record.op == Op::parameter && takes_ != Takes::surroundings)
      fail(ErrorKind::value, "data_dependent", "the value of a traced tensor, ", record.types[0],
           ", is known only when the program runs");
    if (record.op == Op::parameter)
      raise(
          {ErrorKind::value,
           cat("an output depends on placeholder '", record.attrs.text(Attr::name), "', which is not a parameter of '",
               build_.graph().name(), "': a traced array was kept from another trace"),
           "foreign_placeholder", record.loc});
    std::vector<Value> operands;
    for (const Tensor& operand : step.operands) operands.push_back(known(operand).value);
    build_.set_loc(record.loc);
    NodeId id = build_.call(record.op, std::move(operands), record.attrs, step.regions).id();
    std::vector<Known>& results = known_[&record];
    for (uint32_t i = 0; i < record.types.size(); ++i)
      if (!results[i].value) results[i].value = Value(&build_.graph(), id, i);
  }

  Known& known(const Tensor& tensor) {
    std::vector<Known>& results = known_[&tensor.record()];
    results.resize(std::max<size_t>(results.size(), tensor.index() + 1));
    return results[tensor.index()];
  }

  Builder build_;
  uint64_t since_;
  Takes takes_;
  std::vector<Step> steps_;
  std::unordered_map<const Record*, std::vector<Known>> known_;
  std::vector<Tensor> captured_;
};

std::vector<NamedTensor> unnamed(std::span<const Tensor> tensors) {
  std::vector<NamedTensor> results;
  for (const Tensor& tensor : tensors) results.push_back({tensor, ""});
  return results;
}

}  // namespace

GraphPtr record_graph(std::string name, std::span<const NamedTensor> parameters, std::span<const NamedTensor> outputs,
                      std::span<const Tensor> effects) {
  Recorder recorder(std::move(name), 0);
  for (const NamedTensor& parameter : parameters) recorder.add_parameter(parameter.tensor, parameter.name);
  return recorder.finish(outputs, effects);
}

namespace {

// All calls that the outputs depend on; under the lock.
std::unordered_set<const Record*> calls_of(std::span<const Tensor> outputs) {
  std::unordered_set<const Record*> seen;
  std::vector<const Record*> pending;
  const auto meet = [&](const Tensor& tensor) {
    if (seen.insert(&tensor.record()).second) pending.push_back(&tensor.record());
  };
  for (const Tensor& output : outputs) meet(output);
  while (!pending.empty()) {
    const Record* record = pending.back();
    pending.pop_back();
    for (const Tensor& operand : record->operands) meet(operand);
  }
  return seen;
}

double work_of(const Record& record) {
  double given = 0, made = 0;
  for (const Tensor& operand : record.operands) given += operand.type().usual_count();
  for (const Type& type : record.types) made += type.usual_count();
  switch (family(record.op)) {
    case Family::source:
      return 0;
    case Family::unary:
    case Family::binary:
    case Family::compare:
    case Family::ternary:
    case Family::shape:
    case Family::index:
      return made;
    case Family::reduce:
      return given;
    case Family::composite:
      return given + made;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

}  // namespace

double element_work(std::span<const Tensor> outputs) {
  std::lock_guard lock(record_mutex());
  double work = 0;
  for (const Record* record : calls_of(outputs)) work += work_of(*record);
  return work;
}

std::vector<size_t> used_parameters(std::span<const Tensor> parameters, std::span<const Tensor> outputs) {
  std::lock_guard lock(record_mutex());
  const std::unordered_set<const Record*> seen = calls_of(outputs);
  std::vector<size_t> used;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (seen.contains(&parameters[i].record())) used.push_back(i);
  return used;
}

RecordedProgram record_program(std::span<const Tensor> outputs, bool numbers) {
  Recorder recorder("eval", 0, numbers ? Takes::numbers : Takes::values);
  RecordedProgram program{recorder.finish(unnamed(outputs)), {}};
  for (const Tensor& input : recorder.captured()) {
    const Literal* literal = input.record().is_computed ? nullptr : input.constant();
    program.inputs.push_back(literal ? Buffer::copy_of(literal->bytes().data(), literal->dtype(), {})
                                     : input.record().values[input.index()]);
  }
  return program;
}

namespace {

bool only_moves(Op op) {
  switch (op) {
    case Op::constant:
    case Op::iota:
    case Op::extent:
    case Op::convert:
    case Op::broadcast_in_dim:
    case Op::reshape:
    case Op::transpose:
    case Op::slice:
    case Op::reverse:
      return true;
    default:
      return false;
  }
}

// Of all results of a call; of extents that are not known no number compares with it.
double bytes_of(const Record& record) {
  double sum = 0;
  for (const Type& type : record.types) {
    double bytes = static_cast<double>(size_of(type.dtype));
    for (const Dim& dim : type.dims)
      bytes *= dim.is_static() ? static_cast<double>(dim.constant()) : std::numeric_limits<double>::infinity();
    sum += bytes;
  }
  return sum;
}

}  // namespace

std::vector<Tensor> held_results(std::span<const Tensor> outputs) {
  std::lock_guard lock(record_mutex());
  std::unordered_map<const Record*, long>
      operands;                      // handles on each missing call that are operands, or outputs, among them
  std::vector<const Tensor*> calls;  // the tensor that met each of them first
  double most = 0;
  const auto meet = [&](const Tensor& tensor) {
    if (tensor.is_computed())
      most = std::max(most, bytes_of(tensor.record()));
    else if (++operands[&tensor.record()] == 1)
      calls.push_back(&tensor);
  };
  for (const Tensor& output : outputs) {
    meet(output);
    most = std::max(most, bytes_of(output.record()));
  }
  for (size_t i = 0; i < calls.size(); ++i)
    for (const Tensor& operand : calls[i]->record().operands) meet(operand);
  std::vector<Tensor> held;
  for (const Tensor* tensor : calls) {
    const Record& record = tensor->record();
    bool is_pure = record.op != Op::parameter && def(record.op).traits.pure && !only_moves(record.op);
    if (is_pure && tensor->handles() > operands[&record] && bytes_of(record) <= most) held.push_back(*tensor);
  }
  return held;
}

uint64_t next_serial() { return serials.load(std::memory_order_relaxed); }

RecordedRegion record_region(std::span<const Tensor> parameters, std::span<const Tensor> outputs, uint64_t since,
                             std::span<const Tensor> effects) {
  Recorder recorder("body", since);
  for (const Tensor& parameter : parameters) recorder.add_parameter(parameter, "");
  GraphPtr graph = recorder.finish(unnamed(outputs), effects);
  return {std::move(graph), recorder.captured()};
}

}  // namespace weft
