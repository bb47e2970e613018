// Which error a call ends with.
#pragma once

#include <string>

#include "weft/core/error.h"

namespace weft {

// Its label, or "none".
std::string label_of(auto call) {
  try {
    call();
  } catch (const Error& error) {
    return error.label();
  }
  return "none";
}

}  // namespace weft
