"""Data, and families of kernels with parameters such as a user might write."""

import numpy as np

from manykernels.families import Parametric
from manykernels.kernels import Constant, Gaussian, Polynomial
from manykernels.oracles import build_oracle

rng = np.random.RandomState(0)
X = rng.normal(size=(40, 2))
LINE = rng.uniform(0, 5, size=(40, 1))


class Rational(Parametric):
    """1/(1 + σ‖x − x'‖²), which is at most 1/4σ steep in σ."""

    bounds = [(0.2, 20.0)]
    lipschitz = 0.25 / 0.2

    def kernel(self, *parameters):
        return RationalKernel(parameters[0])


class RationalKernel(Gaussian):
    rate = None

    def fill(self, S, out):
        np.divide(1.0, 1.0 + self.width * S, out=out)


class Mixed(Parametric):
    """Polynomial kernels of degree 2, a prior, and a diagonal that depends on σ."""

    bounds = [(0.5, 2.0), (-1.0, 3.0)]

    def kernel(self, *parameters):
        gamma, c = parameters
        return Constant() * float(np.exp(c)) + Polynomial(2, coef0=gamma)

    def gradient(self, parameters, X, S):
        return np.array([np.vdot(S, 2 * (X @ X.T + parameters[0])), np.exp(parameters[1]) * S.sum()])

    def prior(self, *parameters):
        return 1.0 + parameters[0] ** 2


def oracle_of(family, data, normalize="trace", **options):
    return build_oracle(family, data, normalize=normalize, **options)
