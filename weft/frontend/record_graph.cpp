// Graphs of recorded calls.
#include <algorithm>
#include <unordered_map>

#include "weft/frontend/record.h"

namespace weft {
namespace {

// Makes a graph of recorded calls. Its parameters are placeholders, and of a program what that takes, else what was
// recorded before a region. Computed values that are no parameters are constants. What is read under the mutex of
// records is copied: inference, which may call Python and with it whatever records, runs without it.
class Recorder {
 public:
  Recorder(std::string name, uint64_t since, std::optional<Takes> takes = {})
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
    if (record.is_computed) return takes_.has_value();
    if (record.op == Op::constant)
      return takes_ == Takes::places || (takes_ == Takes::numbers && record.types[0].dims.empty());
    return record.serial < since_;
  }

  void build(const Step& step) {
    const Record& record = step.tensor.record();
    if (step.becomes == Becomes::call) return call(record, step);
    if (step.becomes == Becomes::constant) {
      known(step.tensor).value =
          build_.constant(Literal(step.tensor.type(), step.value.data(), std::make_shared<Buffer>(step.value)));
    } else {
      known(step.tensor).value = input(step.tensor);
    }
  }

  Value input(const Tensor& tensor) {
    captured_.push_back(tensor);
    return build_.parameter(tensor.type(), "", tensor.record().loc);
  }

  void call(const Record& record, const Step& step) {
    if (record.op == Op::parameter && takes_)
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
    const NodeId id = takes_ == Takes::places && record.op == Op::slice
                          ? slice_anywhere(operands[0], record.attrs).id()
                          : build_.call(record.op, std::move(operands), record.attrs, step.regions).id();
    std::vector<Known>& results = known_[&record];
    for (uint32_t i = 0; i < record.types.size(); ++i)
      if (!results[i].value) results[i].value = Value(&build_.graph(), id, i);
  }

  // The same slice where the program is told where it begins in each dimension of which it is a part.
  Value slice_anywhere(Value x, const Attrs& attrs) {
    const Dims &begin = attrs.dims(Attr::start_indices), &end = attrs.dims(Attr::limit_indices);
    std::vector<Value> operands{x};
    Dims sizes, origin;
    for (size_t i = 0; i < begin.size(); ++i) {
      sizes.push_back(end[i] - begin[i]);
      origin.emplace_back(0);
      operands.push_back(sizes[i] == x.type().dims[i]
                             ? build_.scalar(DType::i64, 0)
                             : input(constant(Literal::scalar_int(DType::i64, begin[i].constant()))));
    }
    const Value part = build_(Op::dynamic_slice, std::move(operands), {{Attr::slice_sizes, sizes}});
    const Ints& strides = attrs.ints(Attr::strides);
    if (std::ranges::all_of(strides, [](int64_t stride) { return stride == 1; })) return part;
    return build_(Op::slice, {part},
                  {{Attr::start_indices, origin}, {Attr::limit_indices, sizes}, {Attr::strides, strides}});
  }

  Known& known(const Tensor& tensor) {
    std::vector<Known>& results = known_[&tensor.record()];
    results.resize(std::max<size_t>(results.size(), tensor.index() + 1));
    return results[tensor.index()];
  }

  Builder build_;
  uint64_t since_;
  std::optional<Takes> takes_;
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

RecordedProgram record_program(std::span<const Tensor> outputs, Takes takes) {
  Recorder recorder("eval", 0, takes);
  RecordedProgram program{recorder.finish(unnamed(outputs)), {}};
  for (const Tensor& input : recorder.captured()) {
    const Literal* literal = input.record().is_computed ? nullptr : input.constant();
    program.inputs.push_back(
        literal ? Buffer::copy_of(literal->bytes().data(), literal->dtype(), literal->type().static_dims())
                : input.record().values[input.index()]);
  }
  return program;
}

RecordedRegion record_region(std::span<const Tensor> parameters, std::span<const Tensor> outputs, uint64_t since,
                             std::span<const Tensor> effects) {
  Recorder recorder("body", since);
  for (const Tensor& parameter : parameters) recorder.add_parameter(parameter, "");
  GraphPtr graph = recorder.finish(unnamed(outputs), effects);
  return {std::move(graph), recorder.captured()};
}

}  // namespace weft
