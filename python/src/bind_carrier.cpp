// Communicators whose bytes a Python object moves.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>

#include "convert.h"
#include "weft/core/error.h"
#include "weft/distributed/carrier.h"

namespace weft::py {
namespace {

class PythonCarrier final : public Carrier {
 public:
  explicit PythonCarrier(nb::object object)
      : object_(std::move(object)),
        runs_beside_(nb::cast<bool>(nb::getattr(object_, "runs_beside", nb::bool_(false)))) {}
  ~PythonCarrier() override {
    nb::gil_scoped_acquire held;
    object_ = nb::object();
  }

  Outcome exchange(bool is_message, std::span<const Parcel> sent, std::span<const Parcel> received) override {
    nb::gil_scoped_acquire held;
    nb::object found = object_.attr("exchange")(is_message, parcels(sent), parcels(received));
    if (found.is_none()) return {};
    auto [rank, has_ended] = nb::cast<std::pair<int, bool>>(found);
    return {has_ended ? Outcome::Kind::ended : Outcome::Kind::late, rank};
  }

  bool runs_beside() const override { return runs_beside_; }
  void close() override {
    nb::gil_scoped_acquire held;
    object_.attr("close")();
  }

 private:
  // (rank, memory) of each; the memory is only there during the call.
  static nb::list parcels(std::span<const Parcel> all) {
    nb::list list;
    for (const Parcel& parcel : all) {
      PyObject* memory = PyMemoryView_FromMemory(reinterpret_cast<char*>(parcel.data), parcel.bytes, PyBUF_WRITE);
      list.append(nb::make_tuple(parcel.rank, checked(memory)));
    }
    return list;
  }

  nb::object object_;
  bool runs_beside_;
};

}  // namespace

void bind_carrier(nb::module_& m) {
  m.def("carried_communicator", [](nb::object carrier, int rank, int size, double timeout) {
    return carried_communicator(std::make_unique<PythonCarrier>(std::move(carrier)), rank, size, timeout);
  });
}

}  // namespace weft::py
