// Ranks that exchange NumPy arrays.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <span>

#include "convert.h"
#include "numpy_array.h"
#include "weft/core/cpu.h"
#include "weft/core/error.h"
#include "weft/distributed/current.h"
#include "weft/distributed/host_lock.h"

namespace weft::py {
namespace {

// Python's lock during a call of ranks.
//
// Ranks that are threads hand it to each other at each call. A thread that has to sleep for it comes some microseconds
// late; so who has what it waited for looks for a while whether the one that holds the lock lets go of it.
class HeldGil final : public HostLock {
 public:
  explicit HeldGil(const Communicator& communicator) : hands_over_(communicator.is_of_threads()) {
    if (hands_over_) holder.store(this_thread(), std::memory_order_relaxed);
    set_host_lock(this);
  }
  ~HeldGil() {
    set_host_lock(nullptr);
    if (!state_) return;
    if (hands_over_) await_turn();
    PyEval_RestoreThread(state_);
  }
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;

  void let_go() override {
    if (state_) return;
    state_ = PyEval_SaveThread();
    const void* own = this_thread();
    if (hands_over_) holder.compare_exchange_strong(own, nullptr);
  }

 private:
  static const void* this_thread() {
    static thread_local char place;
    return &place;
  }
  static void await_turn() {
    for (int turn = 0; turn < 500; ++turn) {
      const void* none = nullptr;
      if (!holder.load(std::memory_order_relaxed) && holder.compare_exchange_strong(none, this_thread())) return;
      relax();
    }
    holder.store(this_thread());
  }

  // The thread that holds the lock between two calls of ranks, as far as is known.
  static inline std::atomic<const void*> holder = nullptr;
  bool hands_over_;
  PyThreadState* state_ = nullptr;
};

Collective to_collective(std::string_view text) {
  for (auto kind = Collective::all_reduce; kind <= Collective::receive;
       kind = static_cast<Collective>(static_cast<int>(kind) + 1))
    if (name(kind) == text) return kind;
  fail(ErrorKind::value, "collective", "no collective is called '", text, "'");
}

ReduceOp to_reduction(std::string_view text) {
  std::optional<ReduceOp> op = reduction_named(text);
  if (!op) fail(ErrorKind::value, "reduction", "op must be 'sum', 'prod', 'max', 'min' or 'mean', got '", text, "'");
  return *op;
}

// The extents of the result, whose first is the one that parts are along.
Ints result_dims(const Communicator& communicator, const CollectiveCall& call) {
  Ints dims = call.operand.dims;
  bool gathers = call.kind == Collective::all_gather;
  if (!gathers && call.kind != Collective::reduce_scatter) return dims;
  auto parts = static_cast<int64_t>(communicator.members_of(call).size());
  if (gathers && dims.empty()) dims.push_back(1);
  if (gathers)
    dims[0] *= parts;
  else if (!dims.empty())
    dims[0] /= parts;
  return dims;
}

// The array's elements as they are sent; `array` is made dense where it is not.
Payload to_payload(nb::object& array, std::string_view what) {
  std::optional<ArrayView> seen = is_array(array.ptr()) ? view(array.ptr()) : std::nullopt;
  if (!seen)
    fail(ErrorKind::type, "dtype", what, ": elements must be booleans or numbers, got ",
         shown(nb::hasattr(array, "dtype") ? nb::object(array.attr("dtype")) : nb::borrow(array.type())));
  if (!seen->dense) {
    array = checked(as_dense(array.ptr()));
    seen = view(array.ptr());
  }
  return {seen->data, seen->dtype, Ints(seen->dims, seen->dims + seen->ndim)};
}

// Whether the ranks can write what they combine of `operand` to `out`, an array of the result's type, at once.
bool can_be_result(const CollectiveCall& call, nb::handle operand, nb::handle out, const ArrayView& seen) {
  bool takes_own =
      call.kind == Collective::all_reduce || call.kind == Collective::broadcast || call.kind == Collective::receive;
  return seen.dense && ((takes_own && seen.data == call.operand.data) || !ranges_overlap(out.ptr(), operand.ptr()));
}

// The array that a result is written to: `out` where it can be, else a new one.
nb::object array_for(const CollectiveCall& call, nb::handle operand, Ints dims, nb::handle out) {
  Payload result{nullptr, call.operand.dtype, std::move(dims)};
  if (!out.is_none()) {
    std::optional<ArrayView> seen = is_array(out.ptr()) ? view(out.ptr()) : std::nullopt;
    if (!seen || seen->dtype != result.dtype ||
        !std::ranges::equal(std::span(seen->dims, static_cast<size_t>(seen->ndim)), result.dims))
      fail(ErrorKind::value, "out", name(call.kind), ": out must be an array of ", numpy_name(result.dtype),
           result.dims);
    if (!seen->writable) fail(ErrorKind::value, "out", name(call.kind), ": out is read-only");
    if (can_be_result(call, operand, out, *seen)) return nb::borrow(out);
  }
  return checked(new_array(result.dtype, static_cast<int>(result.dims.size()), result.dims.data()));
}

// Runs it with `array`, whose axis `axis` was moved to the front; `shape`: as it was before, where it was moved.
nb::object run_collective(Communicator& communicator, std::string_view kind, nb::object array, std::string_view op,
                          nb::handle groups, nb::handle pairs, int root, int axis, nb::handle shape, nb::object out) {
  CollectiveCall call{.root = root, .axis = axis, .loc = caller_location()};
  if (!groups.is_none()) call.groups = nb::cast<std::vector<std::vector<int>>>(groups);
  if (!pairs.is_none()) call.pairs = nb::cast<std::vector<std::pair<int, int>>>(pairs);
  nb::object result;
  try {
    call.kind = to_collective(kind);
    call.op = to_reduction(op);
    call.operand = to_payload(array, kind);
    Ints dims = result_dims(communicator, call);
    bool has_result = call.kind != Collective::barrier && call.kind != Collective::send;
    if (has_result) {
      result = array_for(call, array, std::move(dims), out);
      call.result = data_of(result.ptr());
    }
    if (!shape.is_none()) call.operand.dims = to_ints(shape);
  } catch (const Error& error) {
    raise(error.at(call.loc));
  }
  {
    HeldGil held(communicator);
    communicator.run(std::move(call));
  }
  if (!result.is_valid()) return nb::none();
  if (out.is_none()) return checked(scalar_or_array(result.release().ptr()));
  if (!result.is(out) && copy_into(out.ptr(), result.ptr()) < 0) throw nb::python_error();
  return out;
}

// What the functions of the package use.
Communicator* joined() {
  nb::gil_scoped_acquire gil;
  return nb::cast<Communicator*>(nb::module_::import_("weftwork.distributed.ranks").attr("current")());
}

}  // namespace

void bind_distributed(nb::module_& m) {
  nb::class_<Communicator>(
      m, "Communicator",
      "One rank's end of what ranks exchange; made by :func:`weftwork.distributed.init`. Its calls are those of the\n"
      "module, made by one thread at a time.")
      .def_prop_ro("rank", &Communicator::rank, "The number of this rank, from 0.")
      .def_prop_ro("size", &Communicator::size, "How many ranks there are.")
      .def("close", &Communicator::close, nb::call_guard<nb::gil_scoped_release>(),
           "Says that this rank makes no more calls; ranks that wait for it raise.")
      .def("run", &run_collective, nb::arg("kind"), nb::arg("array"), nb::arg("op") = "sum",
           nb::arg("groups") = nb::none(), nb::arg("pairs") = nb::none(), nb::arg("root") = 0, nb::arg("axis") = 0,
           nb::arg("shape") = nb::none(), nb::arg("out") = nb::none(),
           "One collective by its name; the functions of the module say what each does.")
      .def("__repr__", [](const Communicator& self) {
        return cat("<weftwork.distributed.Communicator, rank ", self.rank(), " of ", self.size(), ">");
      });
  m.def("set_thread_communicator", &set_thread_communicator, nb::arg("communicator").none(),
        "The communicator of programs that this thread runs, for as long as somebody keeps it; None: that of the "
        "process.");
  m.def("set_process_communicator", &set_process_communicator, nb::arg("communicator").none());
  m.def("set_joining", [] { set_joining(joined); }, "Has programs join the launch where nobody has.");
  m.def("local_communicators", [](int size, double timeout) {
    nb::list communicators;
    for (auto& communicator : local_communicators(size, timeout))
      communicators.append(nb::cast(std::move(communicator)));
    return communicators;
  });
  m.def("shared_memory_communicator", &shared_memory_communicator, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace weft::py
