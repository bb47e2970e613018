// erf.
#include "weft/codegen/llvm/vector_math.h"

namespace weft::inlined {

V erf(const V& x) {
  V t = abs_of(x), s = x * x;
  V r = mad(t, -1.72853470e-5, x.w->real(Elem::f32, 3.83197126e-4));
  V u = mad(t, -3.88396438e-3, x.w->real(Elem::f32, 2.42546219e-2));
  r = mad(mad(mad(mad(r, s, u), t, -1.06777877e-1), t, -6.34846687e-1), t, -1.28717512e-1);
  r = mad(r, t, -t);
  V large = copysign_of(x.w->real(Elem::f32, 1) - exp(r), x);
  V p = polynomial(s, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  return select(greater(t, 0.927734375), large, mad(p, x, x));
}

}  // namespace weft::inlined
