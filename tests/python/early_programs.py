"""Functions whose loops end when values say so, as they are written in many fields."""

from __future__ import annotations

import math

import numpy as np


def newton(a, tolerance):
    x, error, turns = a.copy(), 1.0, 0
    while error > tolerance:
        y = 0.5 * (x + a / x)
        error = np.max(np.abs(y - x))
        x = y
        turns += 1
    return x, turns


def first_place(x, value):
    for i in range(len(x)):
        if x[i] == value:
            return i
    return -1


def sum_until(x, limit):
    total = 0.0
    for i in range(len(x)):
        if x[i] > limit:
            break
        total += x[i]
    return total


def insertion_sort(a):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


def binary_search(x, value):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def places_of(x, queries):
    out = np.zeros(len(queries), np.int64)
    for q in range(len(queries)):
        low, high = 0, len(x)
        while low < high:
            middle = (low + high) // 2
            if x[middle] < queries[q]:
                low = middle + 1
            else:
                high = middle
        out[q] = low
    return out


def root_of_one(a):
    x = a
    while True:
        y = 0.5 * (x + a / x)
        if abs(y - x) < 1e-12:
            break
        x = y
    return x


def escape_times(c):
    out = np.zeros(c.shape, np.int64)
    for i in range(c.shape[0]):
        z = 0j
        n = 0
        while n < 50 and abs(z) < 2.0:
            z = z * z + c[i]
            n += 1
        out[i] = n
    return out


def halved(x):
    for _ in range(20):
        x = x * 0.5
        if x < 1e-3:
            break
    else:
        return -x
    return x


def collatz(starts):
    lengths = np.zeros(len(starts), np.int64)
    for i in range(len(starts)):
        n, length = starts[i], 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            length += 1
        lengths[i] = length
    return lengths


def greatest_divisors(a, b):
    out = np.zeros_like(a)
    for i in range(len(a)):
        x, y = a[i], b[i]
        while y != 0:
            x, y = y, x % y
        out[i] = x
    return out


def merged(a, b):
    out = np.empty(len(a) + len(b))
    i, j, k = 0, 0, 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
        k += 1
    while i < len(a):
        out[k] = a[i]
        i += 1
        k += 1
    while j < len(b):
        out[k] = b[j]
        j += 1
        k += 1
    return out


def united(parents, pairs):
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        while parents[a] != a:
            parents[a] = parents[parents[a]]
            a = parents[a]
        while parents[b] != b:
            b = parents[b]
        if a != b:
            parents[a] = b
    count = 0
    for i in range(len(parents)):
        if parents[i] == i:
            count += 1
    return parents, count


def conjugate_gradient(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p, rs = r.copy(), r @ r
    for i in range(200):  # noqa: B007
        q = a @ p
        alpha = rs / (p @ q)
        x, r = x + alpha * p, r - alpha * q
        new = r @ r
        if np.sqrt(new) < 1e-8:
            break
        p, rs = r + (new / rs) * p, new
    return x, i


def power_iteration(a):
    v, old = np.ones(len(a)), 0.0
    while True:
        w = a @ v
        value = np.sqrt(w @ w)
        v = w / value
        if abs(value - old) < 1e-10:
            return value, v
        old = value


def bisected(low, high):
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        if np.cos(middle) - middle > 0:
            low = middle
        else:
            high = middle
    return low


def descent(a, b):
    x, turns, halves = np.zeros_like(b), 0, 0
    while True:
        g = a @ x - b
        if np.linalg.norm(g) < 1e-5 or turns > 200:
            return x, turns, halves
        t = 1.0
        while 0.5 * (x - t * g) @ a @ (x - t * g) - b @ (x - t * g) > 0.5 * x @ a @ x - b @ x - 0.4 * t * (g @ g):
            t *= 0.5
            halves += 1
        x, turns = x - t * g, turns + 1


def order_of(a, b):
    for i in range(len(a)):
        if a[i] < b[i]:
            return -1
        if a[i] > b[i]:
            return 1
    return 0


def has_zero_row(grid):
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            if grid[i, j] != 0:
                break
        else:
            return True, i
    return False, -1


def runs_of(x):
    n, i, longest, count = len(x), 0, 0, 0
    while i < n:
        j = i + 1
        while j < n and x[j] == x[i]:
            j += 1
        if j - i > longest:
            longest = j - i
        count += 1
        i = j
    return count, longest


def kepler(mean, eccentricity):
    out = np.empty(len(mean))
    for i in range(len(mean)):
        e = mean[i]
        for _ in range(50):
            step = (e - eccentricity * math.sin(e) - mean[i]) / (1 - eccentricity * math.cos(e))
            e -= step
            if abs(step) < 1e-12:
                break
        out[i] = e
    return out


def relaxed(grid, tolerance):
    turns = 0
    while True:
        before = grid.copy()
        grid[1:-1] = 0.5 * (grid[2:] + grid[:-2])
        turns += 1
        if np.abs(grid - before).max() < tolerance:
            return turns


def walked(steps, start):
    place, visited = start, 0
    while steps[place] != 0 and visited < 100:
        place = (place + steps[place]) % len(steps)
        visited += 1
    return place, visited


def simulated(x, dt):
    t, v, bounces = 0.0, 0.0, 0
    while t < 3.0:
        v -= 9.81 * dt
        x += v * dt
        if x < 0.0:
            x, v = -x, -0.8 * v
            bounces += 1
            if bounces >= 4:
                break
        t += dt
    return x, t, bounces


def sparse_product(first, columns, values, x):
    y = np.zeros(len(first) - 1)
    for i in range(len(first) - 1):
        total = 0.0
        for k in range(first[i], first[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total
    return y


def powers_of(x, exponents):
    out = np.ones(len(x))
    for i in range(len(x)):
        for _ in range(exponents[i]):
            out[i] *= x[i]
    return out


def last_number(stops):
    j = -5
    for i in range(len(stops)):
        for j in range(stops[i] - 1, -1, -1):
            if j == 3:
                break
    return j


def without_small(rows, lengths):
    count = 0
    for i in range(len(lengths)):
        for j in range(lengths[i]):
            if rows[i, j] < 0.1:
                break
        else:
            count += 1
    return count


def eigenvalues(a):
    a, n, rotations = a.copy(), len(a), 0
    while True:
        off = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                off += a[i, j] ** 2
        if off < 1e-18:
            break
        for p in range(n):
            for q in range(p + 1, n):
                if abs(a[p, q]) > 1e-12:
                    angle = 0.5 * math.atan2(2 * a[p, q], a[q, q] - a[p, p])
                    c, s = math.cos(angle), math.sin(angle)
                    for k in range(n):
                        x, y = a[k, p], a[k, q]
                        a[k, p], a[k, q] = c * x - s * y, s * x + c * y
                    for k in range(n):
                        x, y = a[p, k], a[q, k]
                        a[p, k], a[q, k] = c * x - s * y, s * x + c * y
                    rotations += 1
    return np.sort(np.diag(a)), rotations


def filled(grid, y, x):
    height, width = grid.shape
    stack = np.zeros((height * width * 4, 2), np.int64)
    stack[0, 0], stack[0, 1] = y, x
    top, count = 1, 0
    while top > 0:
        top -= 1
        y, x = stack[top, 0], stack[top, 1]
        if y < 0 or x < 0 or y >= height or x >= width or grid[y, x] != 0:
            continue
        grid[y, x] = 2
        count += 1
        for dy, dx in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            stack[top, 0], stack[top, 1] = y + dy, x + dx
            top += 1
    return grid, count


def shortest_ways(weights, start):
    n = len(weights)
    distance, done = np.full(n, np.inf), np.zeros(n, bool)
    distance[start] = 0
    while True:
        nearest, least = -1, np.inf
        for v in range(n):
            if not done[v] and distance[v] < least:
                nearest, least = v, distance[v]
        if nearest < 0:
            break
        done[nearest] = True
        for v in range(n):
            if distance[nearest] + weights[nearest, v] < distance[v]:
                distance[v] = distance[nearest] + weights[nearest, v]
    return distance


def table_of(keys, size):
    table, probes = np.full(size, -1, np.int64), 0
    for key in keys:
        place = key % size
        while table[place] != -1 and table[place] != key:
            place = (place + 1) % size
            probes += 1
        table[place] = key
    return table, probes


def nearest_pair(x, limit):
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            k = 0
            while x[i] + x[j] > k * 0.1:
                k += 1
                if k > 18:
                    return i, j, k
            if abs(x[i] - x[j]) < limit:
                return i, j, 0
    return -1, -1, -1


def bubble_sort(a):
    swapped = True
    while swapped:
        swapped = False
        for i in range(len(a) - 1):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
                swapped = True
    return a


def occurrences(text, word):
    """Knuth, Morris, Pratt; ``k`` is Python's number or NumPy's."""
    length, k, count = len(word), 0, 0
    border = np.zeros(length, np.int64)
    for i in range(1, length):
        while k > 0 and word[k] != word[i]:
            k = border[k - 1]
        if word[k] == word[i]:
            k += 1
        border[i] = k
    k = 0
    for i in range(len(text)):
        while k > 0 and word[k] != text[i]:
            k = border[k - 1]
        if word[k] == text[i]:
            k += 1
        if k == length:
            count += 1
            k = border[k - 1]
    return count


def cases():
    """Each with arguments; arrays among them may be written to."""
    rng = np.random.default_rng(0)
    x, a = rng.random(60), rng.standard_normal((20, 20))
    a = a @ a.T + 20 * np.eye(20)
    grid = (rng.random((12, 5)) < 0.5).astype(float)
    zero = grid.copy()
    zero[7] = 0
    return [
        (newton, x + 1, 1e-10), (first_place, x, x[40]), (first_place, x, -1.0), (sum_until, x, 0.95), (sum_until, x, 2.0),
        (insertion_sort, x), (binary_search, np.sort(x), 0.4), (places_of, np.sort(x), x + 0.1), (root_of_one, np.float64(7.0)),
        (escape_times, rng.normal(size=50) + 1j * rng.normal(size=50)), (halved, np.float64(3.0)), (halved, np.float64(3e9)),
        (collatz, np.arange(1, 40)), (greatest_divisors, rng.integers(1, 99, 30), rng.integers(1, 99, 30)),
        (merged, np.sort(x[:25]), np.sort(x[25:])), (united, np.arange(40), rng.integers(0, 40, (25, 2))),
        (conjugate_gradient, a, x[:20]), (power_iteration, a), (bisected, np.float64(0.0), np.float64(1.0)),
        (descent, np.diag([1.0, 2.0, 8.0]) + 0.5, np.array([1.0, -2.0, 3.0])), (order_of, x, x + (x == x[50])),
        (order_of, x, x), (has_zero_row, grid + (grid.sum(1) == 0)[:, None]), (has_zero_row, zero),
        (runs_of, rng.integers(0, 2, 60)), (kepler, 6 * x, 0.3), (relaxed, np.linspace(0, 1, 9) ** 2, 1e-3),
        (walked, rng.integers(0, 5, 30), np.int64(3)), (simulated, np.float64(1.0), 0.01), (bubble_sort, x),
        (nearest_pair, x, 1e-3), (nearest_pair, x, 0.0), (nearest_pair, x[:12] * 0.1, 0.0),
        (sparse_product, np.array([0, 0, 4, 9, 9, 20, 33, 40, 40, 60, 60]), rng.integers(0, 60, 60), x, x[::-1].copy()),
        (powers_of, x, rng.integers(-2, 20, 60)), (last_number, rng.integers(0, 8, 40)), (last_number, np.zeros(40, np.int64)),
        (without_small, rng.random((40, 30)), rng.integers(0, 30, 40)), (eigenvalues, np.diag([1.0, 3.0, 7.0, 2.0] * 3) + 0.3),
        (filled, (rng.random((12, 12)) < 0.3).astype(np.int64), 5, 5), (shortest_ways, rng.random((30, 30)) * 10, 0),
        (table_of, rng.integers(0, 1000, 60), 101), (occurrences, rng.integers(0, 2, 200), np.array([0, 1, 0, 1])),
    ]  # fmt: skip
