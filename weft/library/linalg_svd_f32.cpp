// The singular value decomposition in float.
#include "weft/library/linalg_svd.h"

namespace weft::linalg {

template bool divide_and_conquer<float>(const Matrix<float>&, Wanted, Factors<float>&);
template bool jacobi<float>(const Matrix<float>&, Wanted, Factors<float>&);

}  // namespace weft::linalg
