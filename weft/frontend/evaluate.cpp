// Values of tensors: what was recorded is compiled as one program, or found compiled, and run.
#include <mutex>
#include <unordered_set>

#include "weft/compiler/compile.h"
#include "weft/frontend/programs.h"
#include "weft/frontend/record.h"

namespace weft {
namespace {

ProgramCache& programs() {
  static ProgramCache cache(512);
  return cache;
}

std::mutex counts_mutex;
EvalCounts counts;

void note_program(const Graph& graph) {
  std::string inputs;
  for (NodeId parameter : graph.parameters())
    inputs += cat(inputs.empty() ? "" : ", ", Value(&graph, parameter, 0).type().short_text());
  std::lock_guard lock(counts_mutex);
  ++counts.programs;
  counts.newest_calls = graph.size();
  counts.newest_inputs = std::move(inputs);
}

// The results of the calls that are not computed, each call once.
std::vector<Tensor> missing(std::span<const Tensor> tensors) {
  std::vector<Tensor> results;
  std::unordered_set<const Record*> known;
  for (const Tensor& tensor : tensors) {
    const Record& wanted = tensor.record();
    if (tensor.is_computed() || !known.insert(&wanted).second) continue;
    for (uint32_t i = 0; i < wanted.types.size(); ++i) results.push_back(sibling(tensor, i));
  }
  return results;
}

// The program with its numbers in it; or where that would be the third one that differs by them alone, one that takes
// them as inputs, and likewise one that is told where its slices begin: a number or a place that changes from step to
// step does not compile another program each time.
std::shared_ptr<KnownProgram> known(RecordedProgram& program, std::span<const Tensor> wanted) {
  const auto same = [&](const KnownProgram& known) { return equal(*known.graph, *program.graph); };
  const auto found_or_added = [&] {
    return programs().find(hash(*program.graph), same, [&](KnownProgram& added) { added.graph = program.graph; });
  };
  if (auto found = programs().find(hash(*program.graph), same)) return found;
  RecordedProgram plain = std::move(program);
  for (const Takes takes : {Takes::numbers, Takes::places}) {
    program = record_program(wanted, takes);
    if (program.inputs.size() == plain.inputs.size()) continue;
    auto general = found_or_added();
    if (++general->variants > 2) return general;
  }
  program = std::move(plain);
  return found_or_added();
}

// Sets the results of calls. What these were made of is let go of when the mutex is: it may be what Python owns.
void set_values(std::span<const Tensor> tensors, std::vector<Buffer> values) {
  std::vector<std::shared_ptr<Record>> released;
  std::lock_guard lock(record_mutex());
  for (size_t i = 0; i < tensors.size();) {
    auto& record = const_cast<Record&>(tensors[i].record());
    size_t count = record.types.size();
    if (!record.is_computed) {
      auto& parts = released.emplace_back(std::make_shared<Record>());
      parts->operands = std::exchange(record.operands, {});
      parts->regions = std::exchange(record.regions, {});
      record.values.assign(values.begin() + static_cast<int64_t>(i), values.begin() + static_cast<int64_t>(i + count));
      record.is_computed = true;
    }
    i += count;
  }
}

Literal only_element(const Tensor& tensor, Where where) {
  const Buffer& value = tensor.eval(where);
  return recorded("item", where, [&] {
    if (value.count() != 1)
      fail(ErrorKind::value, "item_count", "only a tensor of one element is a number, got ", tensor.type());
    return Literal(tensor.type(), value.data(), nullptr);
  });
}

void compute(std::span<const Tensor> tensors) {
  std::vector<Tensor> wanted = missing(tensors);
  if (wanted.empty()) return;
  std::vector<Tensor> held = held_results(wanted), all = std::move(wanted);
  all.insert(all.end(), held.begin(), held.end());
  wanted = missing(all);
  RecordedProgram program = record_program(wanted);
  std::shared_ptr<KnownProgram> found = known(program, wanted);
  std::call_once(found->once, [&] {
    found->executable = compile(*found->graph, {.tiered = true}).executable;
    note_program(*found->graph);
  });
  set_values(wanted, found->executable.run(program.inputs));
  std::lock_guard lock(counts_mutex);
  ++counts.runs;
}

}  // namespace

void eval(std::span<const Tensor> tensors, Where where) {
  recorded("eval", where, [&] { compute(tensors); });
}

EvalCounts eval_counts() {
  std::lock_guard lock(counts_mutex);
  return counts;
}

Tensor::Tensor(Buffer buffer) {
  auto record = std::make_shared<Record>();
  record->types = {{buffer.dtype(), Dims(buffer.dims().begin(), buffer.dims().end())}};
  record->values = {std::move(buffer)};
  record->is_computed = true;
  record_ = std::move(record);
}

bool Tensor::is_computed() const { return record_ && record_->is_computed; }

const Buffer& Tensor::eval(Where where) const {
  if (!is_computed()) weft::eval({this, 1}, where);
  return record_->values[index_];
}

const void* Tensor::elements(DType wanted, Where where) const {
  if (is_valid() && wanted != dtype())
    recorded("data", where, [&] {
      fail(ErrorKind::type, "element_type", "elements of ", type(), " were asked for as ", numpy_name(wanted));
    });
  return eval(where).data();
}

void Tensor::require_count(int64_t count, const Ints& dims) {
  int64_t wanted = 1;
  for (int64_t dim : dims) wanted = checked_multiply(wanted, dim);
  if (count != wanted) fail(ErrorKind::value, "element_count", count, " elements are not a tensor of shape ", dims);
}

int64_t Tensor::item_as_integer(Where where) const { return only_element(*this, where).as_int(0); }
std::complex<double> Tensor::item_as_complex(Where where) const { return only_element(*this, where).as_complex(0); }

}  // namespace weft
