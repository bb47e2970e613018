// Recording calls, and turning what was recorded into a graph.
#include "weft/frontend/tensor.h"

#include <unordered_map>
#include <utility>

namespace weft {
namespace {

thread_local Location current_loc;

// The dims that element-wise operands share at trace level; other operands keep their own.
std::vector<Type> broadcast_types(Op op, const std::vector<Tensor>& operands) {
  std::vector<Type> types;
  for (const Tensor& operand : operands) types.push_back(operand.type());
  if (!def(op).traits.elementwise || types.size() < 2) return types;
  Dims dims = types[0].dims;
  for (const Type& type : types) dims = broadcast(dims, type.dims);
  for (Type& type : types) type.dims = dims;
  return types;
}

}  // namespace

LocationScope::LocationScope(Location loc) : previous_(std::exchange(current_loc, std::move(loc))) {}
LocationScope::~LocationScope() { current_loc = std::move(previous_); }

const Type& Tensor::type() const { return record_->types[index_]; }

const Literal* Tensor::constant() const {
  return record_->op == Op::constant ? &record_->attrs.literal(Attr::value) : nullptr;
}

Record::~Record() {
  // A chain of calls is a chain of owners: taking the operands of sole owners here keeps the stack flat.
  std::vector<Tensor> pending = std::move(operands);
  while (!pending.empty()) {
    Tensor last = std::move(pending.back());
    pending.pop_back();
    if (!last || last.record_.use_count() != 1) continue;
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

std::vector<Tensor> apply_all(Op op, std::vector<Tensor> operands, Attrs attrs, std::vector<GraphPtr> regions) {
  auto record = std::make_shared<Record>();
  try {
    std::vector<Type> types = broadcast_types(op, operands);
    record->types = infer({op, types, attrs, regions});
  } catch (const Error& error) {
    throw error.at(current_loc);
  }
  record->op = op;
  record->attrs = std::move(attrs);
  record->operands = std::move(operands);
  record->regions = std::move(regions);
  record->loc = current_loc;
  std::vector<Tensor> results;
  for (uint32_t i = 0; i < record->types.size(); ++i) results.push_back(make_tensor(record, i));
  return results;
}

Tensor apply(Op op, std::vector<Tensor> operands, Attrs attrs, std::vector<GraphPtr> regions) {
  return apply_all(op, std::move(operands), std::move(attrs), std::move(regions)).front();
}

Tensor parameter(Type type, std::string name) {
  auto record = std::make_shared<Record>();
  record->op = Op::parameter;
  record->attrs = {{Attr::name, std::move(name)}};
  record->types = {std::move(type)};
  record->loc = current_loc;
  return make_tensor(std::move(record), 0);
}

Tensor constant(Literal literal) {
  auto record = std::make_shared<Record>();
  record->op = Op::constant;
  record->types = {literal.type()};
  record->attrs = {{Attr::value, std::move(literal)}};
  record->loc = current_loc;
  return make_tensor(std::move(record), 0);
}

GraphPtr record_graph(std::string name, std::span<const NamedTensor> parameters, std::span<const NamedTensor> outputs) {
  Builder build(Level::trace, std::move(name));
  std::unordered_map<const Record*, NodeId> done;
  for (const NamedTensor& p : parameters) {
    Value value = build.parameter(p.tensor.type(), p.name, p.tensor.record().loc);
    done.emplace(&p.tensor.record(), value.id());
  }
  // Depth first with an explicit stack: a program may be deeper than the machine's stack.
  std::vector<const Record*> stack;
  for (const NamedTensor& output : outputs) {
    stack.push_back(&output.tensor.record());
    while (!stack.empty()) {
      const Record* record = stack.back();
      if (done.count(record)) {
        stack.pop_back();
        continue;
      }
      size_t before = stack.size();
      for (auto operand = record->operands.rbegin(); operand != record->operands.rend(); ++operand)
        if (!done.count(&operand->record())) stack.push_back(&operand->record());
      if (stack.size() != before) continue;
      stack.pop_back();
      if (record->op == Op::parameter)
        throw Error(ErrorKind::value, cat("an output depends on placeholder '", record->attrs.text(Attr::name),
                                          "', which is not a parameter of '", build.graph().name(),
                                          "': a traced array was kept from another trace"),
                    "foreign_placeholder", record->loc);
      std::vector<Value> operands;
      for (const Tensor& operand : record->operands)
        operands.emplace_back(&build.graph(), done.at(&operand.record()), operand.index());
      build.set_loc(record->loc);
      done.emplace(record, build.call(record->op, std::move(operands), record->attrs, record->regions).id());
    }
  }
  std::vector<Output> results;
  for (const NamedTensor& output : outputs)
    results.push_back({Value(&build.graph(), done.at(&output.tensor.record()), output.tensor.index()), output.name,
                       output.alias});
  return build.finish(std::move(results));
}

}  // namespace weft
