// Weftwork for C++: lazy tensors and their functions, functions compiled by jit, executables. Link weftwork::weft.
#pragma once

#include "weft/core/error.h"
#include "weft/frontend/control.h"
#include "weft/frontend/functions.h"
#include "weft/frontend/jit.h"
#include "weft/frontend/linalg.h"
#include "weft/frontend/random.h"
#include "weft/runtime/executable.h"
