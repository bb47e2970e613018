"""A training loop of 50 steps by jit(model.step) with Adam."""

import numpy as np
from weftwork import jit


class Adam:
    def __init__(self, lr=0.05):
        self.lr, self.t, self.m, self.v = lr, 0, {}, {}

    def update(self, name, w, g):
        m = self.m[name] = 0.9 * self.m.get(name, 0.0) + 0.1 * g
        v = self.v[name] = 0.999 * self.v.get(name, 0.0) + 0.001 * g**2
        return w - self.lr * (m / (1 - 0.9**self.t)) / (np.sqrt(v / (1 - 0.999**self.t)) + 1e-8)


class Model:
    def __init__(self):
        rng = np.random.default_rng(0)
        self.p = {"w1": rng.normal(size=(2, 4)), "b1": np.zeros(4), "w2": rng.normal(size=(4, 1))}
        self.adam = Adam()
        self.losses = []

    def step(self, x, y):
        p = self.p
        h = np.tanh(x @ p["w1"] + p["b1"])
        e = h @ p["w2"] - y
        dh = e @ p["w2"].T * (1 - h**2)
        g = {"w2": h.T @ e / len(x), "w1": x.T @ dh / len(x), "b1": dh.mean(axis=0)}
        self.adam.t += 1
        for name in g:
            p[name] = self.adam.update(name, p[name], g[name])
        loss = float((e**2).mean())
        self.losses.append(loss)
        return loss


model = Model()
step = jit(model.step)
x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = np.array([[0.0], [1.0], [1.0], [0.0]])

# calls
step(x, y)
step(x, y)
for _ in range(50):
    step(x, y)
model.adam.lr = 0.001
step(x[:3], y[:3])
step(x, y)
