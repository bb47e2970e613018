// The loops of Fourier transforms for AVX2 and FMA.
#include "weft/library/fft_loops.h"

namespace weft {

const FftEngine<float> fft_engine_32_f32 = Loops<float, 32>::engine();
const FftEngine<double> fft_engine_32_f64 = Loops<double, 32>::engine();

}  // namespace weft
