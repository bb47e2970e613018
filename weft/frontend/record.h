// Recorded calls, and the graphs that they make.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "weft/frontend/tensor.h"
#include "weft/ir/builder.h"
#include "weft/ir/graph.h"

namespace weft {

// A recorded call. Once its results are computed it is only these: `values` hold them, and what it was made of is let
// go of.
struct Record {
  Op op = Op::parameter;
  Attrs attrs;
  std::vector<Tensor> operands;
  std::vector<GraphPtr> regions;
  std::vector<Type> types;
  Location loc;
  uint64_t serial = 0;  // grows with every call that is recorded
  std::vector<Buffer> values;
  std::atomic<bool> is_computed = false;  // `values` are set, and will not change
  bool has_run = false;                   // a program computed them and did not keep them
  ~Record();                              // releases long chains without recursion
};

// Held by who reads operands of records that may be computed by other threads, and by who sets values. Nothing is
// inferred, and no value, operand or constant is destroyed under it: that may call Python.
std::mutex& record_mutex();

// Sets where the calls made by this thread are written, for as long as it lives.
class LocationScope {
 public:
  explicit LocationScope(Location loc);
  ~LocationScope();
  LocationScope(const LocationScope&) = delete;
  LocationScope& operator=(const LocationScope&) = delete;

 private:
  Location previous_;
};

// The line of a C++ caller, if it has one, unless something further out has told where the call was written.
class CallerScope {
 public:
  explicit CallerScope(const std::source_location& where);

 private:
  std::optional<LocationScope> scope_;
};

// Throws the error again, naming the function and where it was called.
[[noreturn]] void refuse(std::string_view function, const Error& error);

// What `body` gives; its errors name the function and the caller's line.
template <class Body>
auto recorded(std::string_view function, const std::source_location& where, const Body& body) {
  CallerScope scope(where);
  try {
    return body();
  } catch (const Error& error) {
    refuse(function, error);
  }
}

// Records a call. Error, with the scope's location, where inference rejects it.
Tensor apply(Op op, std::vector<Tensor> operands, Attrs attrs = {}, std::vector<GraphPtr> regions = {});
std::vector<Tensor> apply_all(Op op, std::vector<Tensor> operands, Attrs attrs = {},
                              std::vector<GraphPtr> regions = {});

// A placeholder of a traced function; each call makes another one. One that stands for what was there before anything
// was recorded is of the surroundings of every region.
Tensor parameter(Type type, std::string name, bool from_outside = false);
Tensor constant(Literal literal);

// Another result of the same call.
Tensor sibling(const Tensor& tensor, uint32_t index);

// Whether both are the same calls on the same placeholders, however often they were recorded. Calls with regions or
// side effects are the same only as one call.
bool same_value(const Tensor& lhs, const Tensor& rhs);

struct NamedTensor {
  Tensor tensor;
  std::string name;
  int alias = -1;  // outputs: the parameter that this value is written back to
};

// The graph, at trace level, of everything the outputs need; computed values are constants; parameters in the order
// given, used or not. Error when an output depends on a placeholder that is not among them. `effects`: calls that are
// made whether or not an output needs them (see has_effect), in this order.
GraphPtr record_graph(std::string name, std::span<const NamedTensor> parameters, std::span<const NamedTensor> outputs,
                      std::span<const Tensor> effects = {});

// About how many elements the calls that the outputs depend on take in turn, symbols at their usual values; infinite
// with products, loops, factorisations and whatever else takes more than a few steps for each element. Of calls that
// were recorded before `since` nothing counts.
double element_work(std::span<const Tensor> outputs, uint64_t since = 0);

// Which of the parameters the outputs depend on, as indices in ascending order.
std::vector<size_t> used_parameters(std::span<const Tensor> parameters, std::span<const Tensor> outputs);

// Of which of the tensors the outputs need each element.
std::vector<size_t> read_to_the_last(std::span<const Tensor> tensors, std::span<const Tensor> outputs);

// What a program takes as inputs: values that are there; numbers too, constants of no dimensions; all constants too,
// and where slices begin.
enum class Takes { values, numbers, places };

// As record_graph, of outputs alone; its parameters are what it takes, `inputs` what they are given, in order.
struct RecordedProgram {
  GraphPtr graph;
  std::vector<Buffer> inputs;
};
RecordedProgram record_program(std::span<const Tensor> outputs, Takes takes = Takes::values);

// Of the calls that are missing for `outputs`, one result of each that somebody else holds, so that it would be asked
// for again or recorded upon: a loop that reads a number each turn then holds one turn. Left out are calls that only
// move elements, and results of more bytes than the outputs or any value that is there, which would cost memory that
// the program does not need, unless a program that ran before runs again for them and they are a small part of the
// machine's memory. What is left out counts as run from now on.
std::vector<Tensor> held_results(std::span<const Tensor> outputs);

// The serial number that the next call will get.
uint64_t next_serial();

// The body of a loop or branch: as record_graph, but what was recorded before `since` is of the surroundings and
// becomes a parameter, after those given; constants are taken in.
struct RecordedRegion {
  GraphPtr graph;
  std::vector<Tensor> captured;
};
RecordedRegion record_region(std::span<const Tensor> parameters, std::span<const Tensor> outputs, uint64_t since,
                             std::span<const Tensor> effects = {});

}  // namespace weft
