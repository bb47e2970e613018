// What is no loop nest: routines that compiled programs and the interpreter call by name.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

// Runs over `buffers` (operands, then results, dense and row-major) as `numbers` say. `bodies`: compiled region bodies,
// each taking pointers to its scalar operands, then to its scalar results.
using RoutineBody = void (*)(void** scalars, int64_t begin, int64_t end);
using Routine = void (*)(const int64_t* numbers, void* const* buffers, const RoutineBody* bodies);

// The routines, and their numbers (the first is always the dtype where there is one):
//   cholesky            dtype batch n lower;                        a -> l, info
//   triangular_solve    dtype batch n nrhs left lower unit transpose; a b -> x
//   lu                  dtype batch m n;                            a -> lu, pivots (from 1), info
//   qr                  dtype batch m n;                            a -> factors, taus
//   householder_product dtype batch m n k;                          factors taus -> q
//   eigh                dtype batch n lower vectors;                a -> v, w, info
//   svd                 dtype batch m n full vectors;               a -> a, s, u, vt, info
//   eig                 dtype batch n left right;                   a -> w (real dtypes: wr, wi), vl, vr, info
//   hessenberg          dtype batch n;                              a -> factors, taus, info
//   schur               dtype batch n vectors;                      a -> t, vs, w (real dtypes: wr, wi), selected, info
//   tridiagonal         dtype batch n lower;                        a -> factors, d, e, taus, info
//   tridiagonal_solve   dtype batch n nrhs;                         dl d du b -> x
//   gtsv                dtype batch n nrhs;                         dl d du b -> dl, d, du, x, info
//   fft                 dtype batch kind rank lengths…;             x -> y, scratch (see fft.h; none of no size)
//   custom              see custom.h; bodies are texts
//   collective          see collective.h; bodies are texts;         x -> y
//   rank                likewise;                                   -> number
//   sort                operands outer length inner key descending sizes… slices begins and ends…;
//                                                                   x… -> y… (see sort.h)
// Null where there is none of that name.
Routine find_routine(std::string_view name);
// Runs one whose bodies are texts, for who an error can be thrown to.
void run_told(std::string_view name, const char* const* texts, const int64_t* numbers, void* const* buffers);
// Those of linear algebra, which a process that only runs programs loads when one needs them.
Routine find_linalg_routine(std::string_view name);

}  // namespace weft
