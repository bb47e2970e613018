// The loops of Fourier transforms for any CPU.
#include "weft/library/fft_loops.h"

namespace weft {

const FftEngine<float> fft_engine_16_f32 = Loops<float, 16>::engine();
const FftEngine<double> fft_engine_16_f64 = Loops<double, 16>::engine();

}  // namespace weft
