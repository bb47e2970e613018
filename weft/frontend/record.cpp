// Recording calls, and what is asked of those that were recorded.
#include "weft/frontend/record.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
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

// All calls that the outputs depend on, by operands that count; under the lock.
template <class Counts>
std::unordered_set<const Record*> calls_of(std::span<const Tensor> outputs, const Counts& counts) {
  std::unordered_set<const Record*> seen;
  std::vector<const Record*> pending;
  const auto meet = [&](const Tensor& tensor) {
    if (seen.insert(&tensor.record()).second) pending.push_back(&tensor.record());
  };
  for (const Tensor& output : outputs) meet(output);
  while (!pending.empty()) {
    const Record* record = pending.back();
    pending.pop_back();
    for (size_t i = 0; i < record->operands.size(); ++i)
      if (counts(*record, i)) meet(record->operands[i]);
  }
  return seen;
}
std::unordered_set<const Record*> calls_of(std::span<const Tensor> outputs) {
  return calls_of(outputs, [](const Record&, size_t) { return true; });
}

std::vector<size_t> places_among(const std::unordered_set<const Record*>& calls, std::span<const Tensor> tensors) {
  std::vector<size_t> found;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (calls.contains(&tensors[i].record())) found.push_back(i);
  return found;
}

// Whether a slice leaves out no row: all, or of a gather parts of what lies at each place.
bool keeps_places(const Record& slice) {
  const Record& from = slice.operands[0].record();
  const Dims &dims = slice.operands[0].type().dims, &kept = slice.types[0].dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto has = [&] {
      return std::ranges::count(from.attrs.ints(Attr::offset_dims), static_cast<int64_t>(i)) > 0;
    };
    if (!(kept[i] == dims[i]) && !(from.op == Op::gather && has())) return false;
  }
  return true;
}

// Whether all elements of an operand are looked at where all of the result are wanted.
bool reads_all(const Record& record, size_t operand) {
  if (std::ranges::any_of(record.types, [](const Type& type) { return type.count().is(0); })) return false;
  switch (record.op) {
    case Op::slice:
      return keeps_places(record);
    case Op::gather:
    case Op::dynamic_slice:
    case Op::dynamic_update_slice:
    case Op::update_slice:
      return operand > 0;
    case Op::pad:
    case Op::strided_view:
    case Op::reduce_window:
    case Op::convolution:
      return false;
    default:
      return true;
  }
}

double work_of(const Record& record) {
  double given = 0, made = 0, product = 1;
  for (const Tensor& operand : record.operands) {
    given += operand.type().usual_count();
    product *= operand.type().usual_count();
  }
  for (const Type& type : record.types) made += type.usual_count();
  // What is not written stays where it is.
  if (record.op == Op::update_slice || record.op == Op::dynamic_update_slice || record.op == Op::scatter) {
    return record.operands[record.op == Op::scatter ? 2 : 1].type().usual_count();
  }
  // m x n elements of k products each, of operands of m x k and k x n.
  if (record.op == Op::dot_general) return std::sqrt(made * product);
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

double element_work(std::span<const Tensor> outputs, uint64_t since) {
  std::lock_guard lock(record_mutex());
  double work = 0;
  const auto is_since = [&](const Record& record, size_t i) { return record.operands[i].record().serial >= since; };
  for (const Record* record : calls_of(outputs, is_since)) {
    if (record->serial >= since) work += work_of(*record);
  }
  return work;
}

std::vector<size_t> used_parameters(std::span<const Tensor> parameters, std::span<const Tensor> outputs) {
  std::lock_guard lock(record_mutex());
  return places_among(calls_of(outputs), parameters);
}

std::vector<size_t> read_to_the_last(std::span<const Tensor> tensors, std::span<const Tensor> outputs) {
  std::lock_guard lock(record_mutex());
  return places_among(calls_of(outputs, reads_all), tensors);
}

namespace {

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
  // To run again costs time where the values may cost the memory that there is.
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double most_again = std::max(most, memory / 16);
  // Operands are recorded before the calls that take them.
  std::ranges::sort(calls, {}, [](const Tensor* tensor) { return tensor->record().serial; });
  std::vector<Tensor> held;
  std::unordered_set<const Record*> repeated;  // that, or an operand of theirs, ran before
  for (const Tensor* tensor : calls) {
    auto& record = const_cast<Record&>(tensor->record());
    if (only_moves(record.op) && record.operands.empty()) continue;
    const bool runs_again = record.has_run || std::ranges::any_of(record.operands, [&](const Tensor& operand) {
                              return repeated.contains(&operand.record());
                            });
    bool is_pure = record.op != Op::parameter && def(record.op).traits.pure && !only_moves(record.op);
    if (is_pure && tensor->handles() > operands[&record] && bytes_of(record) <= (runs_again ? most_again : most)) {
      held.push_back(*tensor);
    } else {
      if (runs_again) repeated.insert(&record);
      record.has_run = true;
    }
  }
  return held;
}

uint64_t next_serial() { return serials.load(std::memory_order_relaxed); }

}  // namespace weft
