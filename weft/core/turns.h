// What is known of loops before their turns are compiled.
#pragma once

namespace weft {

// Loops of so many turns, those of the loops around them counted, become functions of their own, where the kernels of a
// turn are few: numbers stay in registers there. Shorter ones call their kernels one by one.
inline constexpr double least_short_turns = 256;

}  // namespace weft
