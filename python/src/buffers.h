// Buffers and the arrays of other libraries: ours made of theirs, theirs made of ours.
#pragma once

#include "convert.h"
#include "weft/runtime/buffer.h"

namespace weft::py {

// Where elements may be copied: never (an error says what would have to be), where they must be, or always.
enum class Copying { never, where_needed, always };
// Python's copy=: None, True or False; Error(type) for everything else.
Copying to_copying(nb::handle copy);

// A Buffer itself, a NumPy array, an object with __dlpack__ or with the buffer protocol; anything dense and of our byte
// order is used where it lies and never written where it is read-only. Error(type) for everything else.
Buffer to_buffer(nb::handle object, const Device& device, Copying copying);
// The array over a buffer's memory, whose base is the Python object of the buffer.
nb::object numpy_view(nb::handle buffer_object);
// None, a Device, or its name.
Device to_device(nb::handle device);

// By DLPack, which array libraries exchange arrays with.
Buffer from_dlpack(nb::handle object, const Device& device, Copying copying);
nb::object to_dlpack(const Buffer& buffer, nb::handle stream, nb::handle max_version, nb::handle wanted_device,
                     nb::handle copy);
nb::tuple dlpack_device(const Device& device);

}  // namespace weft::py
