// Plans: what a jitted function does for a signature, and what has to hold for it.
#pragma once

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "executable.h"

namespace weft::py {

// What an output of the Python function is made of.
enum class Source : int { output, leaf };

// What NumPy gives where there are no dimensions.
enum class Form : int { array, scalar, python_number };

struct OutputSlot {
  Source source;
  size_t index;  // of the program's output, or of the leaf that is returned as it is
  Form form;
  std::vector<int> axes;  // the array's axes among those of an output in another order; empty: they are the same
};

// A program input that is an argument.
struct InputLeaf {
  size_t index;
  std::vector<int> axes;  // the argument's axes in the order in which they lie in memory; empty: that of rows
};

// An entry of a dictionary that a plan relies on, or of what a type has itself: it is this object, or there is none. Or
// the class of an object, or what a function is made of.
struct Entry {
  nb::object space, key, value;
  uint64_t version = 0;  // of the dictionary or type when the entry was last found to be as it should
};

// Whether a plan pays: its first calls are measured, then some of the function itself.
struct Trial {
  bool is_on = false;
  bool is_aside =
      false;  // the function has no effects: it is measured beside the calls, whose results stay the program's
  int calls = 0;
  int64_t ours = INT64_MAX, plain = INT64_MAX;  // least nanoseconds of a call
  // Nanoseconds that it took to find the plan, whose guard may compute, too: a part of what a call of ours takes.
  int64_t finding = 0;

  // Whether the next call is the first that counts: by then the plan has to take the time that it will always take.
  bool is_warm() const { return calls == 4; }
  // Whether the next call is one of the function itself.
  bool is_plain() const { return calls >= 8; }
  // Notes what a call took; true when it is known that the plan does not pay.
  bool end_call(int64_t nanoseconds);
  // The same of a call beside which the function may be measured, by `measure`: the least nanoseconds, or -1.
  template <class F>
  bool end_call_aside(int64_t nanoseconds, const F& measure) {
    ours = std::min(ours, nanoseconds + finding);
    if (++calls < 8) return false;
    is_on = false;
    if (ours > longest_aside || (plain = measure()) < 0) return false;
    return ours > plain + plain / 4 + 100;
  }
  static constexpr int64_t longest_aside = 10'000'000'000;
};

// One way through the function for a signature: a program, or (plain) the function itself.
struct Plan {
  nb::object core;  // as Python sees it; None: plain
  Executable executable;
  std::vector<InputLeaf> input_leaves;
  std::vector<nb::object> captured;  // program inputs after those of leaves
  std::vector<OutputSlot> outputs;
  std::vector<size_t> layout_leaves;  // those whose order in memory the plan depends on
  std::string layouts;                // that order
  nb::object build_result;            // outputs, extra → what the function returns; None: the one output itself
  std::vector<Entry> entries;
  nb::object guard;               // (leaves, args, kwargs) → a tuple `extra`, or None where the plan does not apply
  nb::object steps = nb::none();  // what was read while it was recorded, for Python
  // (leaves, args, kwargs, extra) → the result of a call that Python takes through several programs, of which this is
  // the first; None: this is the only one.
  nb::object pieces = nb::none();
  size_t extra_inputs = 0;       // so many of `extra` are program inputs, after the captured ones
  uint64_t inputs_version = 0;   // of the dispatcher's integers that are inputs, when it was recorded
  nb::object key;                // where the dispatcher has it
  std::vector<nb::object> kept;  // objects that the key names by their addresses
  nb::list objects;              // those that are no types
  nb::object kind = nb::none();  // the key of calls that differ in these objects alone
  uint64_t used = 0;             // when, in calls of the function
  int plain_runs = 0;
  int64_t plain_nanoseconds = 0;  // of calls that should have run in pieces and ran plainly
  Trial trial;

  // Waits for better code of its programs.
  void finish();
  // From now on calls run plainly, whatever they read.
  void make_plain();
  bool is_plain() const { return core.is_none() && pieces.is_none(); }
  // Whether that is because a trial said that it does not pay.
  bool was_given_back() const { return is_plain() && trial.plain != INT64_MAX; }
  // The same way for other objects.
  Plan with(nb::object build, nb::handle entries, nb::object guard, nb::object steps) const;
};

// A NumPy scalar as an array of no dimensions.
nb::object array_of_scalar(PyObject* scalar);

// Runs a plan's program: what the function returns, or the list of outputs where there are several and nothing builds a
// result of them.
nb::object run_plan(const Plan& plan, const std::vector<nb::object>& leaves, const nb::object& extra);

// Whether an entry is what it was.
bool is_unchanged(Entry& entry);

void bind_plan(nb::module_& m);

}  // namespace weft::py
