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

void raise(Error error) {
  switch (error.kind()) {
    case ErrorKind::type:
      throw ArgumentTypeError(std::move(error));
    case ErrorKind::value:
      throw ArgumentValueError(std::move(error));
    case ErrorKind::index:
      throw OutOfBoundsError(std::move(error));
    case ErrorKind::unsupported:
      throw UnsupportedError(std::move(error));
    case ErrorKind::io:
      throw FileError(std::move(error));
    case ErrorKind::runtime:
      break;
  }
  throw ExecutionError(std::move(error));
}

InternalError::InternalError(std::string message, const std::string& place)
    : std::logic_error(place.empty() ? message : cat("internal error at ", place, ": ", message)),
      message_(std::move(message)) {}

void fail_check(const std::string& message, std::source_location where) {
  throw InternalError(message, cat(where.file_name(), ":", where.line()));
}

}  // namespace weft
