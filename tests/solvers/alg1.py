"""Orabona & Jie 2011, Alg. 1 as it is printed, in NumPy with explicit features: a reference for tests."""

import numpy as np


def scalar_steps(epsilon=0.1):
    """−∂ℓ(y, f) of the scalar losses, one number each."""
    return {
        "hinge": lambda y, f: y * (y * f < 1),
        "squared_hinge": lambda y, f: y * max(1 - y * f, 0),
        "logistic": lambda y, f: y / (1 + np.exp(y * f)),
        "squared": lambda y, f: y - f,
        "epsilon_insensitive": lambda y, f: np.sign(y - f) * (abs(y - f) > epsilon),
        "pinball": lambda y, f: 0.3 * (y > f) - 0.7 * (y < f),
        "huber": lambda y, f: max(min(y - f, 0.2), -0.2),
    }


def descent(name, y, f):
    """−∂ℓ(y, f), (k,), for targets (k,) or the number of the class in y[0]."""
    if name in scalar_steps():
        return np.array([scalar_steps()[name](a, b) for a, b in zip(y, f, strict=True)])
    own = int(y[0])
    e = np.eye(f.size)
    if name == "multinomial":
        p = np.exp(f - f.max())
        return e[own] - p / p.sum()
    margins = (np.abs(own - np.arange(f.size)) if name == "ordinal" else 1.0 - e[own]) + f
    worst = int(margins.argmax())
    if name == "multiclass":
        rivals = np.where(np.arange(f.size) == own, -np.inf, f)
        worst = int(rivals.argmax()) if f[own] - rivals.max() < 1 else own
    return e[own] - e[worst]


def weights(theta, t, lam, alpha, q, lag):
    """Lines 6 and 7."""
    sizes = np.array([np.linalg.norm(part) for part in theta])
    v = np.maximum(sizes - alpha * t, 0)
    length = (v**q).sum() ** (1 / q)
    return [
        np.zeros_like(part)
        if v[j] == 0
        else v[j] * part / ((t + lag) * lam * sizes[j]) * (v[j] / length) ** (q - 2)
        for j, part in enumerate(theta)
    ]


def ufo(maps, Y, name, lam, alpha, q, *, k=1, order=None, lag=0.0, curvature=0.0):
    """Every θ^j apart, norms computed directly; maps[j] is (n, d_j), ones (n, 1) for the constant kernel.

    Returns the iterates w_2 … w_{T+1}, each a list of (d_j, k), θ, and the lag, which grows with `curvature`.
    """
    theta = [np.zeros((Phi.shape[1], k)) for Phi in maps]
    w, iterates = [np.zeros_like(part) for part in theta], []
    for t, i in enumerate(range(len(Y)) if order is None else order, start=1):
        sample = [Phi[[i]] for Phi in maps]
        g = descent(name, Y[i], predict(sample, w)[0])
        before = predict(sample, weights(theta, t, lam, alpha, q, lag))[0]
        for Phi, part in zip(maps, theta, strict=True):
            part += np.outer(Phi[i], g)
        w = weights(theta, t, lam, alpha, q, lag)
        if curvature and g.any():
            moved = g @ (predict(sample, w)[0] - before) / (g @ g)
            if curvature * (t + lag) * moved > lag:
                lag = curvature * (t + lag) * moved
                w = weights(theta, t, lam, alpha, q, lag)
        iterates.append(w)
    return iterates, theta, lag


def predict(maps, w):
    return sum(Phi @ part for Phi, part in zip(maps, w, strict=True))


def mean(iterates):
    return [np.mean(parts, axis=0) for parts in zip(*iterates, strict=True)]
