"""Small problems, and cvxpy's answer to them: the references that several folders of tests share."""

import cvxpy as cp
import numpy as np
from benchmarks.references import optimal_value, root
from sklearn.datasets import make_classification

from manykernels.approx import Nystroem
from manykernels.grams import StackGram
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.losses import EpsilonInsensitive, Hinge, Huber, Logistic, Pinball, Squared, SquaredHinge
from manykernels.objectives import Separable
from manykernels.penalties import ElasticNet, L2Ball, LpBall, Simplex
from manykernels.solvers import Run

LOSSES = [Hinge(), SquaredHinge(), Logistic(), Squared(), EpsilonInsensitive(0.1), Pinball(0.3), Huber(0.5)]
PENALTIES = [
    Simplex(),
    LpBall(4 / 3),
    LpBall(2.0),
    LpBall(np.inf),
    L2Ball(mu0=0.3, radius=0.7),
    ElasticNet(0.4),
]


def gaussians(X, gammas):
    """The stack exp(−γ‖x − x'‖²), one matrix a γ."""
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-np.asarray(gammas)[:, None, None] * squares)


def problem(seed=0, n=22, M=4, outputs=1):
    """Gaussian kernels and one singular linear kernel, with labels and real targets (n, outputs)."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 3)
    stack = np.concatenate([gaussians(X, np.logspace(-2, 1, M - 1)), (X @ X.T / 3)[None]])
    signal = np.stack([X[:, 0] * X[:, 1], X[:, 2] - X[:, 0], np.sin(2 * X[:, 1])][:outputs], axis=1)
    targets = signal + 0.2 * rng.randn(n, outputs)
    labels = np.where(signal + 0.4 * rng.randn(n, outputs) > 0, 1.0, -1.0)
    return stack, labels, targets


def risk_of(loss, labels, targets, C=1.0, fit_intercept=True):
    """The risk of a loss on the labels or on the targets, whichever it is for."""
    Y = labels if loss.task == "classification" else targets
    return Separable(loss, Y, np.broadcast_to(np.asarray(C, dtype=float), Y.shape).copy(), fit_intercept)


def run(solver, stack, risk, penalty, tol=1e-7, max_iter=1000, **options):
    """Solve with a stored stack (or any Gram)."""
    gram = StackGram(stack) if isinstance(stack, np.ndarray) else stack
    return solver.run(gram, risk, penalty, told(tol, max_iter, **options))


def told(tol=1e-7, max_iter=1000, seed=0, **options):
    """What a solver is told beside its problem."""
    return Run(tol=tol, max_iter=max_iter, rng=np.random.RandomState(seed), **options)


def featured():
    """Explicit features (n, p) of four kernels, where those of each begin, labels and costs (n, 1)."""
    X, y = make_classification(300, 5, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
    kernels = [Gaussian(1.5), Gaussian(5.0), Linear(), OnColumns(Gaussian(1.0), [0, 1])]
    features = Nystroem(15).fit(kernels, X, rng=np.random.RandomState(0))
    signs = np.where(y == 1, 1.0, -1.0)[:, None]
    return features.transform(X), features.ptr, signs, np.random.RandomState(1).uniform(0.3, 2.0, signs.shape)


def cvxpy_loss(loss, Y, C, F):
    """Σ C ℓ(Y, F), written with cvxpy's own atoms."""
    margin, root = cp.multiply(Y, F), np.sqrt(C)
    if isinstance(loss, SquaredHinge):
        return 0.5 * cp.sum_squares(cp.multiply(root, cp.pos(1 - margin)))
    if isinstance(loss, Squared):
        return 0.5 * cp.sum_squares(cp.multiply(root, Y - F))
    terms = {
        Hinge: lambda: cp.pos(1 - margin),
        Logistic: lambda: cp.logistic(-margin),
        EpsilonInsensitive: lambda: cp.pos(cp.abs(Y - F) - loss.epsilon),
        Pinball: lambda: loss.tau * cp.pos(Y - F) + (1 - loss.tau) * cp.pos(F - Y),
        Huber: lambda: 0.5 * cp.huber(Y - F, loss.delta),  # cvxpy's is twice Huber's
    }
    return cp.sum(cp.multiply(C, terms[type(loss)]()))


def cvxpy_optimum(stack, risk, penalty):
    """min P over w, b and θ, from the definition of the group norm that the penalty means."""
    n, outputs = risk.Y.shape
    roots = [root(K) for K in stack]
    W = [cp.Variable((L.shape[1], outputs)) for L in roots]
    F = sum(L @ w for L, w in zip(roots, W, strict=True))
    if risk.fit_intercept:
        F = F + np.ones((n, 1)) @ cp.Variable((1, outputs))
    norms = [cp.norm(w, "fro") for w in W]
    constraints = []
    if isinstance(penalty, ElasticNet):
        lam = penalty.lam
        size = sum(0.5 * lam * cp.sum_squares(w) + (1 - lam) * a for w, a in zip(W, norms, strict=True))
    elif isinstance(penalty, L2Ball):
        theta = cp.Variable(len(W))
        size = 0.5 * sum(cp.quad_over_lin(w, theta[m]) for m, w in enumerate(W))
        constraints = [theta >= 0, cp.norm(theta - penalty.mu0) <= penalty.radius]
    else:
        e = 2.0 if penalty.p == np.inf else 2 * penalty.p / (penalty.p + 1)
        size = 0.5 * cp.square(cp.pnorm(cp.hstack(norms), e))
    task = cp.Problem(cp.Minimize(size + cvxpy_loss(risk.loss, risk.Y, risk.C, F)), constraints)
    return optimal_value(task, 1e-10)


def primal_of(stack, risk, penalty, theta, alpha, intercept):
    """P of the function f = K_θ α + b at the weights that suit it best, computed from scratch."""
    f = np.einsum("m,mij,jk->ik", theta, stack, alpha) + intercept
    q = np.einsum("ik,mij,jk->m", alpha, stack, alpha)
    fit = np.sum(risk.C * risk.loss.value(risk.Y, f))
    return 0.5 * penalty.group_norm(theta * np.sqrt(np.maximum(q, 0.0))) + fit
