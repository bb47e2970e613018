// Interval arithmetic over recorded calls.
#include "weft/frontend/bounds.h"

namespace weft {
namespace {

// Walks up the calls, the mutex of records being held.
class Search {
 public:
  std::optional<Bounds> of(const Tensor& x) {
    const Record& record = x.record();
    if (record.is_computed || budget_-- <= 0) return bounds_of_dtype(x.dtype());
    Operands operands(*this, record);
    return bounds_of_result(record.op, record.attrs, x.type(), x.index(), operands);
  }

 private:
  class Operands final : public BoundedOperands {
   public:
    Operands(Search& search, const Record& record) : search_(search), record_(record) {}
    size_t count() const override { return record_.operands.size(); }
    const Type& type(size_t i) const override { return record_.operands[i].type(); }
    std::optional<Bounds> bounds(size_t i) override { return search_.of(record_.operands[i]); }

   private:
    Search& search_;
    const Record& record_;
  };

  int budget_ = 256;  // calls that are looked at, so that chains of indices are recorded in linear time
};

}  // namespace

std::optional<Bounds> bounds_of(const Tensor& integers) {
  std::lock_guard lock(record_mutex());
  return Search().of(integers);
}

}  // namespace weft
