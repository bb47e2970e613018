// The singular value decomposition in float.
#include "weft/runtime/linalg_svd.h"

template bool weft::linalg::real_svd<float>(const Matrix<float>&, Wanted, Factors<float>&);
