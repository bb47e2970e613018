// The Schur form, on which the eigenvalues of general matrices stand too; for linalg_*.cpp only.
#pragma once

#include "weft/library/linalg_eigen.h"

namespace weft::linalg {

// a = u t u^H as `schur` has it; u may be null. False when a is not finite or the iteration does not converge.
template <class T>
bool schur_form(Matrix<T> a, Matrix<T>& t, Matrix<T>* u);

extern template bool schur_form<float>(Matrix<float>, Matrix<float>&, Matrix<float>*);
extern template bool schur_form<double>(Matrix<double>, Matrix<double>&, Matrix<double>*);
extern template bool schur_form<std::complex<float>>(Matrix<std::complex<float>>, Matrix<std::complex<float>>&,
                                                     Matrix<std::complex<float>>*);
extern template bool schur_form<std::complex<double>>(Matrix<std::complex<double>>, Matrix<std::complex<double>>&,
                                                      Matrix<std::complex<double>>*);

}  // namespace weft::linalg
