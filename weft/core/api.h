// What programs that link our shared libraries may use; everything else is hidden in them.
#pragma once

// `namespace weft WEFT_API {` in a header: all that it declares there.
#define WEFT_API __attribute__((visibility("default")))
