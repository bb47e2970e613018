// The singular value decomposition in double.
#include "weft/library/linalg_svd.h"

namespace weft::linalg {

template bool divide_and_conquer<double>(const Matrix<double>&, Wanted, Factors<double>&);
template bool jacobi<double>(const Matrix<double>&, Wanted, Factors<double>&);

}  // namespace weft::linalg
