// The loops of Fourier transforms for AVX-512.
#include "weft/library/fft_loops.h"

namespace weft {

const FftEngine<float> fft_engine_64_f32 = Loops<float, 64>::engine();
const FftEngine<double> fft_engine_64_f64 = Loops<double, 64>::engine();

}  // namespace weft
