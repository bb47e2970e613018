"""Calls of libraries that ship neither tests nor many doctests, as their manuals show them."""

from __future__ import annotations

import numpy as np


def quaternions() -> None:
    from pyquaternion import Quaternion

    a = Quaternion(axis=[1, 0, 0], angle=0.7)
    b = Quaternion(0.5, -0.5, 0.3, 0.1).normalised
    rotation = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    c = Quaternion(matrix=rotation)
    for q in (a, b, c):
        q.rotate([1.0, 2.0, 3.0])
        q.rotate(np.array([1.0, 2.0, 3.0]))
        q.rotate((1.0, 2.0, 3.0))
        q.rotate(b)
        q.derivative([0.1, 0.2, 0.3])
        q.to_degrees(0.3)
        q.is_unit()
    Quaternion.slerp(a, b, 0.3)
    Quaternion.exp_map(a, b)
    Quaternion.sym_exp_map(a, b)
    Quaternion.sym_log_map(a, b)
    Quaternion.distance(a, b)
    Quaternion.absolute_distance(a, b)
    Quaternion.sym_distance(a, b)
    Quaternion(1.0, 2.0, 3.0, 4.0).integrate([0.1, 0.2, 0.3], 0.1)


def splines() -> None:
    from geomdl import NURBS, BSpline, convert, fitting, helpers, knotvector, linalg, operations, utilities

    curve = BSpline.Curve()
    curve.degree = 3
    curve.ctrlpts = [[5.0, 10.0], [15.0, 25.0], [30.0, 30.0], [45.0, 5.0], [55.0, 5.0], [70.0, 40.0]]
    curve.knotvector = knotvector.generate(3, 6)
    curve.delta = 0.1
    curve.evaluate()
    curve.evaluate_single(0.4)
    curve.evaluate_list([0.0, 0.5, 1.0])
    curve.derivatives(0.3, 2)
    operations.tangent(curve, 0.5)
    operations.insert_knot(curve, [0.3], [1])
    operations.split_curve(curve, 0.5)
    operations.derivative_curve(curve)
    operations.translate(curve, [1.0, 2.0])
    operations.rotate(curve, 30.0)
    operations.scale(curve, 2.0)
    operations.degree_operations(curve, [1])
    points = [[0.0, 0.0], [3.0, 4.0], [-1.0, 4.0], [-4.0, 0.0], [-4.0, -3.0]]
    fitting.interpolate_curve(points, 3)
    fitting.approximate_curve(points, 3)
    surface = NURBS.Surface()
    surface.degree_u, surface.degree_v = 2, 2
    surface.set_ctrlpts([[float(i), float(j), float(i * j), 1.0] for i in range(4) for j in range(4)], 4, 4)
    surface.knotvector_u = utilities.generate_knot_vector(2, 4)
    surface.knotvector_v = utilities.generate_knot_vector(2, 4)
    surface.delta = 0.25
    surface.evaluate()
    surface.evaluate_single((0.3, 0.7))
    surface.derivatives(0.3, 0.7, 1)
    operations.normal(surface, (0.3, 0.7))
    convert.bspline_to_nurbs(curve)
    knots = list(curve.knotvector)
    helpers.find_span_linear(3, knots, 6, 0.4)
    helpers.basis_function(3, knots, 4, 0.4)
    helpers.basis_function_ders(3, knots, 4, 0.4, 2)
    vectors()
    matrices(linalg)


def vectors() -> None:
    from geomdl import linalg

    u, v = [1.0, 2.0, 3.0], (4.0, 5.0, 7.0)
    linalg.vector_cross(u, v)
    linalg.vector_dot(u, v)
    linalg.vector_sum(u, v, 2.0)
    linalg.vector_multiply(u, 2.0)
    linalg.vector_normalize(u)
    linalg.vector_magnitude(v)
    linalg.vector_angle_between(u, v, degrees=True)
    linalg.vector_mean(u, v)
    linalg.point_translate(u, v)
    linalg.point_distance(u, v)
    linalg.point_mid(u, v)
    linalg.binomial_coefficient(6, 2)
    linalg.linspace(0.0, 1.0, 7)
    linalg.frange(0.0, 1.0, 0.1)
    linalg.convex_hull([(0.0, 0.0), (1.0, 0.0), (0.5, 0.5), (1.0, 1.0), (0.0, 1.0)])
    linalg.is_left((0.0, 0.0), (1.0, 0.0), (0.5, 0.5))
    linalg.wn_poly((0.5, 0.5), [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)])


def matrices(linalg) -> None:
    m = [[4.0, 1.0, 2.0], [1.0, 3.0, 0.5], [2.0, 0.5, 5.0]]
    linalg.matrix_transpose(m)
    linalg.matrix_identity(3)
    linalg.matrix_multiply(m, m)
    linalg.matrix_scalar(m, 2.0)
    linalg.matrix_inverse(m)
    linalg.matrix_determinant(m)
    linalg.matrix_pivot(m)
    linalg.lu_decomposition(m)
    linalg.lu_solve(m, [[1.0], [2.0], [3.0]])
    linalg.lu_factor(m, [[1.0], [2.0], [3.0]])
    linalg.forward_substitution([[1.0, 0.0], [0.5, 1.0]], [1.0, 2.0])
    linalg.backward_substitution([[1.0, 0.5], [0.0, 2.0]], [1.0, 2.0])


def transport() -> None:
    import ot

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((12, 2)), rng.standard_normal((10, 2)) + 1
    a, b = ot.unif(12), ot.unif(10)
    cost = ot.dist(x, y)
    ot.emd(a, b, cost)
    ot.emd2(a, b, cost)
    for method in ("sinkhorn", "sinkhorn_log", "sinkhorn_stabilized", "greenkhorn"):
        ot.sinkhorn(a, b, cost, 0.5, method=method)
    ot.sinkhorn2(a, b, cost, 0.5)
    ot.emd_1d(x[:, 0], y[:, 0])
    ot.wasserstein_1d(x[:, 0], y[:, 0])
    ot.sliced_wasserstein_distance(x, y, seed=0)
    ot.gaussian.bures_wasserstein_distance(x[0], y[0], np.cov(x.T), np.cov(y.T))
    ot.gaussian.empirical_bures_wasserstein_mapping(x, y)
    ot.unbalanced.sinkhorn_unbalanced(a, b, cost, 0.5, 1.0)
    ot.unbalanced.mm_unbalanced(a, b, cost, 1.0)
    ot.partial.partial_wasserstein(a, b, cost, m=0.5)
    ot.partial.entropic_partial_wasserstein(a, b, cost, 0.5, m=0.5)
    ot.smooth.smooth_ot_dual(a, b, cost, 1.0)
    ot.gromov.gromov_wasserstein(ot.dist(x, x), ot.dist(y, y), a, b)
    ot.gromov.entropic_gromov_wasserstein(ot.dist(x, x), ot.dist(y, y), a, b, epsilon=1.0)
    ot.bregman.barycenter(np.stack([a, a[::-1]], 1), ot.dist(x, x), 0.5)
    ot.lp.free_support_barycenter([x, y], [a, b], x[:4].copy())
    ot.stochastic.solve_semi_dual_entropic(a, b, cost, 1.0, "SAG", 50)
    ot.optim.cg(a, b, cost, 0.1, lambda g: 0.5 * np.sum(g**2), lambda g: g)


def filters() -> None:
    from pykalman import KalmanFilter, UnscentedKalmanFilter

    rng = np.random.default_rng(0)
    seen = np.cumsum(rng.standard_normal((15, 2)), 0)
    masked = np.ma.array(seen, mask=np.zeros_like(seen, bool))
    masked[3] = np.ma.masked
    simple = KalmanFilter(transition_matrices=[[1, 1], [0, 1]], observation_matrices=[[0.1, 0.5], [-0.3, 0.0]])
    for observations in (seen, masked):
        simple.filter(observations)
        simple.smooth(observations)
        simple.loglikelihood(observations)
    simple.em(seen, n_iter=2)
    simple.sample(5, initial_state=np.zeros(2), random_state=0)
    simple.filter_update(np.zeros(2), np.eye(2), seen[0])
    unscented = UnscentedKalmanFilter(
        lambda x, w: x + w, lambda x, v: x + v, np.eye(2), np.eye(2), np.zeros(2), np.eye(2)
    )
    unscented.filter(seen)
    unscented.smooth(seen)


OF = {
    "pyquaternion": (quaternions,),
    "geomdl": (splines, vectors),
    "POT": (transport,),
    "pykalman": (filters,),
}
