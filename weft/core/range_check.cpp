#include "weft/core/range_check.h"

#include <algorithm>

namespace weft {

Error range_error(const RangeCheck& check, int64_t limit, int64_t found) {
  if (!check.message.empty()) {
    const ErrorKind kind = check.label == "index_bounds" ? ErrorKind::index : ErrorKind::value;
    return {kind, check.message, check.label, check.loc};
  }
  std::string message =
      cat("index ", found < 0 ? found - std::max<int64_t>(limit, 0) : found, " is out of bounds for axis ", check.axis);
  if (limit >= 0) append(message, " with size ", limit);
  return {ErrorKind::index, std::move(message), check.label, check.loc};
}

}  // namespace weft
