// Instructions and computations of an HLO module while it is written.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "weft/interop/hlo_frames.h"
#include "weft/interop/hlo_type.h"
#include "weft/ir/graph.h"

namespace weft {

// An instruction that yields an array.
struct HloValue {
  int64_t id = 0;
  Type type;
};
using HloValues = std::vector<HloValue>;

// How a computation takes its parameters and gives its outputs: one by one, or as a single tuple each (the bodies of
// while and conditional). Several outputs always are a tuple.
struct Signature {
  bool tuple_parameters = false;
  bool tuple_result = false;
};

// A computation that is done: its id, name and program shape.
struct HloCallee {
  int64_t id = 0;
  std::string name;
  Message program_shape;
};

// Hands out names and ids, and gathers the computations: those called before those that call.
class HloModule {
 public:
  // Writes a graph, and before it the regions that it calls.
  HloCallee add(const Graph& graph, std::string_view name, Signature signature = {});
  // A name that no other instruction, or no other computation, has, of the characters that XLA allows.
  std::string instruction_name(std::string_view wanted, int64_t id) { return unique(instruction_names_, wanted, id); }
  std::string computation_name(std::string_view wanted, int64_t id) { return unique(computation_names_, wanted, id); }
  int64_t next_id() { return ++last_id_; }
  const std::vector<Message>& computations() const { return computations_; }
  // The places in the user's code that metadata refers to.
  HloFrames& frames() { return frames_; }

 private:
  static std::string unique(std::unordered_set<std::string>& taken, std::string_view wanted, int64_t id);

  std::unordered_set<std::string> instruction_names_, computation_names_;
  std::vector<Message> computations_;
  HloFrames frames_;
  int64_t last_id_ = 0;
};

// A computation being written from a graph. The helpers below add instructions for the node at hand.
class HloComputation {
 public:
  explicit HloComputation(HloModule& module) : module_(module) {}

  // An instruction of one array; `fields` are those that only its opcode has.
  HloValue add(std::string_view opcode, const Type& type, const HloValues& operands, const Message& fields = {});
  // One of a tuple, and its elements.
  HloValues add_tuple(std::string_view opcode, const std::vector<Type>& types, const HloValues& operands,
                      const Message& fields = {});
  // One array or a tuple of several, in shapes that have layouts of their own.
  HloValues add_shaped(std::string_view opcode, const std::vector<Type>& types, const std::vector<Message>& shapes,
                       const HloValues& operands, const Message& fields = {});
  // The values as one tuple, which has no type of its own: only to be an operand.
  HloValue tuple(const HloValues& values);
  // A region of the node at hand as a computation of its own.
  HloCallee region(size_t index, Signature signature = {});

  // A constant; one of equal elements is a scalar and its broadcast.
  HloValue constant(const Literal& literal);
  HloValue splat(const Type& type, double value);
  // The elements along new dimensions: `dimensions` are the places of the operand's.
  HloValue broadcast(const HloValue& x, const Type& type, const Ints& dimensions);
  HloValue reshape(const HloValue& x, const Dims& dims);
  HloValue convert(const HloValue& x, DType dtype);
  // direction: EQ NE LT LE GT GE; order: TOTALORDER, or empty for the natural one of the element type.
  HloValue compare(std::string_view direction, const HloValue& lhs, const HloValue& rhs, std::string_view order = {});

  // Writes the parameters, nodes and root of a graph; the result is complete but for name and id.
  HloCallee write(const Graph& graph, Signature signature, Message& message);

 private:
  int64_t write_instruction(std::string_view opcode, const Message& shape, const std::vector<int64_t>& operands,
                            const Message& fields, std::string_view name = {});
  void write_parameters(const Graph& graph, Signature signature, Message& program_shape);
  int64_t write_root(const Graph& graph, Signature signature, Message& program_shape);
  HloValue element(int64_t tuple, int64_t index, const Type& type, const Message& shape);
  Message metadata() const;

  HloModule& module_;
  const Node* node_ = nullptr;     // whose instructions are being written; null for those of no node
  std::vector<HloValues> values_;  // results by node
  Message* message_ = nullptr;
};

}  // namespace weft
