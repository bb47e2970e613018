// Error texts.
#include "weft/core/error.h"

namespace weft {
namespace {

std::string compose(const std::string& message, const std::string& label, const Location& loc) {
  std::string out = message;
  if (!label.empty()) append(out, "  [", label, "]");
  if (loc) append(out, "\n", loc.trace_text());
  return out;
}

}  // namespace

Error::Error(ErrorKind kind, std::string message, std::string label, Location loc)
    : std::runtime_error(compose(message, label, loc)),
      kind_(kind),
      message_(std::move(message)),
      label_(std::move(label)),
      loc_(std::move(loc)) {}

Error Error::at(const Location& loc) const {
  if (loc_ || !loc) return *this;
  return Error(kind_, message_, label_, loc);
}

void fail_check(const std::string& message, std::source_location where) {
  throw InternalError(cat("internal error at ", where.file_name(), ":", where.line(), ": ", message));
}

}  // namespace weft
