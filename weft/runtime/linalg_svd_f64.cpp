// The singular value decomposition in double.
#include "weft/runtime/linalg_svd.h"

template bool weft::linalg::real_svd<double>(const Matrix<double>&, Wanted, Factors<double>&);
