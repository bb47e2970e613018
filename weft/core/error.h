// What went wrong, for the one who can act on it.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

#include "weft/core/api.h"
#include "weft/core/location.h"
#include "weft/core/text.h"

namespace weft WEFT_API {

// Which Python exception an Error becomes.
enum class ErrorKind : uint8_t { type, value, index, unsupported, io, runtime };

// Someone outside can act on it: a wrong program, file or argument. `what()` holds the message, the label in
// brackets and, below it, the user's line. The message: what was wanted, what was found, both values; lower case.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message, std::string label = {}, Location loc = {});
  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const std::string& label() const { return label_; }
  const Location& loc() const { return loc_; }
  // The same error at a better known place; keeps the location it has if there is one.
  Error at(const Location& loc) const;

 private:
  ErrorKind kind_;
  std::string message_, label_;
  Location loc_;
};

// An Error by its kind, as it is thrown: a dtype or kind of object that does not fit; a shape, axis, extent or text
// that does not; an index outside of its axis; what cannot be compiled or run here; a file; a run that could not be
// done.
struct ArgumentTypeError : Error {
  explicit ArgumentTypeError(Error error) : Error(std::move(error)) {}
};
struct ArgumentValueError : Error {
  explicit ArgumentValueError(Error error) : Error(std::move(error)) {}
};
struct OutOfBoundsError : Error {
  explicit OutOfBoundsError(Error error) : Error(std::move(error)) {}
};
struct UnsupportedError : Error {
  explicit UnsupportedError(Error error) : Error(std::move(error)) {}
};
struct FileError : Error {
  explicit FileError(Error error) : Error(std::move(error)) {}
};
struct ExecutionError : Error {
  explicit ExecutionError(Error error) : Error(std::move(error)) {}
};
// Throws it as the class of its kind.
[[noreturn]] void raise(Error error);

// We are wrong. `what()` holds the message and where in our sources it was found; `message()` the first alone.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(std::string message, const std::string& place = {});
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

// A condition and where it was checked.
struct Checked {
  Checked(bool holds, std::source_location where = std::source_location::current())  // NOLINT: implicit on purpose
      : holds(holds), where(where) {}
  bool holds;
  std::source_location where;
};
[[noreturn]] void fail_check(const std::string& message, std::source_location where);

// An invariant of ours; on in every build. Throws InternalError.
template <class... Parts>
void check(Checked condition, const Parts&... parts) {
  if (!condition.holds) [[unlikely]]
    fail_check(cat(parts...), condition.where);
}

template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, std::string label, const Parts&... parts) {
  raise({kind, cat(parts...), std::move(label)});
}

}  // namespace weft
