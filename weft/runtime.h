// All that loads and runs compiled programs: links libweft_runtime, no compiler.
#pragma once

#include "weft/core/error.h"
#include "weft/distributed/current.h"
#include "weft/runtime/buffer.h"
#include "weft/runtime/device.h"
#include "weft/runtime/event.h"
#include "weft/runtime/executable.h"
