"""Kernels centred and normalised as on the training data."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from .._fast import elementwise
from .base import Kernel, Member
from .data import Array, Data, is_stack, n_samples, same, take_rows
from .presence import Mask, Rest, Spreads

Normalize = Literal["trace", "max", "cosine", "frobenius"] | None

_MEAN_ROWS = 512  # of K(X, X_fit) at a time
_ROUNDING = 1e-12  # of the uncentred diagonal: what is left below it after centring is noise


class Fitted(Kernel):
    """A kernel that is centred in feature space and normalised, with the constants of the training data.

    With training points x_j of weight w_j (Σw = 1), μ = Σ_j w_j φ(x_j), r(x) = Σ_j w_j k(x, x_j) and
    g = Σ_j w_j r(x_j):

        center:     k̃(x, x') = ⟨φ(x) − μ, φ(x') − μ⟩ = k(x, x') − r(x) − r(x') + g
        normalize:  "trace"      Σ_j w_j k(x_j, x_j) = 1        "max"        max_j k(x_j, x_j) = 1
                    "frobenius"  ‖K_train‖_F = 1                "cosine"     k(x, x') / √(k(x, x) k(x', x'))

    The kernel is first centred, then normalised. All normalisations but "cosine" are k_fitted = scale_ · k̃.
    Sample weights mean repetition. Where samples lack the view that the kernel is of, k is k̂ of
    ``kernels.presence`` in all of this, and the trace is that of the samples that have it. The parameters of
    the base kernel can be read here too: ``fitted.width``, ``fitted.get_params()["width"]``.

    Parameters
    ----------
    kernel : Kernel
        The kernel that is centred and normalised.
    center : bool, default=False
        Whether to centre in feature space: then means of the training data do not count as similarity.
    normalize : {"trace", "max", "frobenius", "cosine"} or None, default=None
        How the kernel is scaled; see above. None leaves it as it is.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    Attributes
    ----------
    X_fit_ : array-like of shape (n_samples, n_features) or None
        The training points, kept only where the kernel is centred.
    scale_ : float
        The factor that the centred kernel is multiplied by; 1 for "cosine".
    row_means_ : ndarray of shape (n_samples,) or None
        The means r(x_j) of the training points; None if the kernel is not centred.
    grand_mean_ : float
        The mean g; 0 if the kernel is not centred.
    weight_ : ndarray of shape (n_samples,) or None
        The weights of the training points; None if all are alike.
    rest_ : Rest or None
        The values of the kernel for samples that lack its view; None where none can.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Fitted, Linear
    >>> X = np.array([[1.0], [3.0]])
    >>> fitted = Fitted(Linear(), center=True, normalize="trace").fit(X)
    >>> fitted(X)
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> fitted(np.array([[2.0]]), X)
    array([[0., 0.]])
    """

    rest_: Rest | None = None

    def __init__(
        self, kernel: Kernel, *, center: bool = False, normalize: Normalize = None, name: str | None = None
    ) -> None:
        self.kernel = kernel
        self.center = center
        self.normalize = normalize
        self.name = name

    def fit(self, X: Data, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the constants on the training points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the points: a point of weight 2 counts as two points. None gives all the weight 1.

        Returns
        -------
        Fitted
            The kernel itself.

        Examples
        --------
        The second sample counts twice, so that the mean is 3:

        >>> import numpy as np
        >>> from manykernels.kernels import Fitted, Linear
        >>> X = np.array([[1.0], [4.0]])
        >>> fitted = Fitted(Linear(), center=True).fit(X, sample_weight=[1.0, 2.0])
        >>> fitted(X).round(6).tolist()
        [[4.0, -2.0], [-2.0, 1.0]]
        """
        if self.normalize not in (None, "trace", "max", "cosine", "frobenius"):
            raise ValueError(
                f"normalize={self.normalize!r} was given; "
                "expected 'trace', 'max', 'cosine', 'frobenius' or None."
            )
        weight = (
            np.ones(n_samples(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        )
        having = self.kernel.present(X)
        self.rest_ = Rest.measured(self.kernel, X, weight)
        d = self._diagonal(X)
        K = self._base(X) if self.center or self.normalize == "frobenius" else None
        means: tuple[Array, float] | None = None
        largest = float(np.max(np.abs(d), initial=0.0, where=weight > 0))
        if self.center:
            assert K is not None
            r = K @ weight / weight.sum()
            means = r, float(weight @ r / weight.sum())
            d = d - 2.0 * r + means[1]
            d[d <= _ROUNDING * largest] = 0.0
        self._set(1.0, X, means, None if sample_weight is None else weight)
        weight = weight if having is None else weight * having
        self._require_diagonal(d, weight)
        if self.normalize == "frobenius":
            assert K is not None
            self.finish(K, X, None)
        self.scale_ = self._scale(d, weight, K)
        return self

    @classmethod
    def from_constants(
        cls,
        kernel: Kernel,
        scale: float,
        X_fit: Data | None = None,
        center: tuple[Array, float] | None = None,
        *,
        sample_weight: Any = None,
        normalize: Normalize = None,
        rest: Rest | None = None,
    ) -> Self:
        """Make a fitted kernel from constants that are known already.

        Parameters
        ----------
        kernel : Kernel
            The base kernel.
        scale : float
            Factor of the centred kernel, 1 for "cosine".
        X_fit : array-like of shape (n_samples, n_features) or None, default=None
            The training points, needed if `center` is given.
        center : tuple of (ndarray, float) or None, default=None
            The means r(x_j) for the rows of `X_fit`, and g, of the kernel before centring. None does not
            centre.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights that the means were computed with.
        normalize : {"trace", "max", "frobenius", "cosine"} or None, default=None
            The normalisation that `scale` stands for.
        rest : Rest or None, default=None
            Values of the kernel for samples that lack its view.

        Returns
        -------
        Fitted
            The fitted kernel.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.kernels import Fitted, Linear
        >>> fitted = Fitted.from_constants(Linear(), scale=0.5, normalize="trace")
        >>> fitted(np.array([[1.0], [3.0]]))
        array([[0.5, 1.5],
               [1.5, 4.5]])
        """
        fitted = cls(kernel, center=center is not None, normalize=normalize)
        fitted.rest_ = rest
        fitted._set(
            float(scale), X_fit, center, None if sample_weight is None else np.asarray(sample_weight, float)
        )
        return fitted

    def _set(
        self, scale: float, X_fit: Data, center: tuple[Array, float] | None, weight: Array | None
    ) -> None:
        self.scale_ = scale
        self.X_fit_ = X_fit if center is not None else None
        self.weight_ = weight if center is not None else None
        self.row_means_: Array | None = None if center is None else center[0]
        self.grand_mean_ = 0.0 if center is None else center[1]

    def _require_diagonal(self, d: Array, weight: Array) -> None:
        if self.normalize is not None and not np.any(d[weight > 0] > 0):
            cause = (
                "is the same for all training points, so centring leaves nothing of it"
                if self.center
                else "is zero"
            )
            raise ValueError(
                f"Kernel {self.label} {cause}: it cannot be normalised to normalize={self.normalize!r}. "
                "Leave it out, or set normalize=None."
            )

    def _scale(self, d: Array, weight: Array, K: Array | None) -> float:
        """The factor that normalises a kernel with training diagonal d and (for Frobenius) matrix K."""
        if self.normalize == "trace":
            return float(weight.sum() / (weight @ d))
        if self.normalize == "max":
            return float(1.0 / d[weight > 0].max())
        if self.normalize == "frobenius":
            assert K is not None
            np.square(K, out=K)
            return float(1.0 / np.sqrt(weight @ K @ weight))
        return 1.0

    # -- samples that lack the view ---------------------------------------------------------------
    @property
    def absence(self) -> Hashable | None:
        return self.kernel.absence

    def present(self, X: Data) -> Mask | None:
        return self.kernel.present(X)

    def mask(self, K: Array, X: Data, Y: Data | None = None) -> None:
        """Write k̂, times the scale, where a sample lacks the view."""
        self._write_rest(K, X, Y, self.scale_)

    def _write_rest(
        self, K: Array, X: Data, Y: Data | None, factor: float = 1.0, known: Spreads | None = None
    ) -> None:
        if self.rest_ is not None:
            self.rest_.write(self.kernel, K, X, Y, factor, known)
        else:
            self.kernel.mask(K, X, Y)

    def _base(self, X: Data, Y: Data | None = None) -> Array:
        """k̂: the kernel, also of samples that lack its view."""
        K = self.kernel(X, Y)
        self._write_rest(K, X, Y)
        return K

    def _diagonal(self, X: Data) -> Array:
        """k̂(x, x)."""
        return self.kernel.diag(X) if self.rest_ is None else self.rest_.diagonal(self.kernel, X)

    # -- values -----------------------------------------------------------------------------------
    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        self._check_fitted()
        K = self.kernel(X, Y, out)
        self.finish(K, X, Y)
        return K

    def finish(self, K: Array, X: Data, Y: Data | None, known: Spreads | None = None) -> None:
        """Centre and normalise, in place, a matrix of the base kernel.

        Parameters
        ----------
        K : ndarray of shape (n_X, n_Y)
            Matrix of the base kernel for X and Y, which is changed.
        X : array-like of shape (n_X, n_features)
            Samples of the rows.
        Y : array-like of shape (n_Y, n_features) or None
            Samples of the columns; None stands for X.
        known : tuple or None, default=None
            Distances of samples from the mean where views are absent, if they are known (`Rest.write`).

        Examples
        --------
        The training points 1 and 3 have the mean 2:

        >>> import numpy as np
        >>> from manykernels.kernels import Fitted, Linear
        >>> X = np.array([[1.0], [3.0]])
        >>> fitted = Fitted(Linear(), center=True).fit(X)
        >>> K = Linear()(X)
        >>> fitted.finish(K, X, None)
        >>> K
        array([[ 1., -1.],
               [-1.,  1.]])
        """
        self._write_rest(K, X, Y, known=known)
        r_X, r_Y = self._both_means(K, X, Y)
        if r_X is not None and r_Y is not None:
            elementwise.subtract_outer(K, r_X - 0.5 * self.grand_mean_, r_Y - 0.5 * self.grand_mean_)
        if self.normalize == "cosine":
            a = self._inverse_norms(X, r_X)
            elementwise.multiply_outer(K, a, a if Y is None else self._inverse_norms(Y, r_Y))
        elif self.scale_ != 1.0:
            K *= self.scale_

    def _both_means(self, K: Array, X: Data, Y: Data | None) -> tuple[Array | None, Array | None]:
        """(r(x) of X, r(y) of Y), from K itself where its columns are the training points."""
        if self.row_means_ is None:
            return None, None
        if same(X, self.X_fit_) and Y is None:
            return self.row_means_, self.row_means_
        if is_stack(X) or (Y is not None and same(Y, self.X_fit_)):
            return self._weighted(K), self.row_means_
        r_X = self._means(X)
        return r_X, r_X if Y is None else self._means(Y)

    def diag(self, X: Data) -> Array:
        self._check_fitted()
        d = self._centred_diag(X, None if self.row_means_ is None else self._means(X))
        return (d > 0).astype(np.float64) if self.normalize == "cosine" else self.scale_ * d

    def _centred_diag(self, X: Data, r: Array | None) -> Array:
        d = self._diagonal(X)
        if r is None:
            return d
        centred = d - 2.0 * r + self.grand_mean_
        centred[centred <= _ROUNDING * (np.abs(d) + abs(self.grand_mean_))] = 0.0
        return centred

    def _inverse_norms(self, X: Data, r: Array | None) -> Array:
        """1/√k̃(x, x), and 0 for a point at the origin of the feature space."""
        norms = np.sqrt(np.maximum(self._centred_diag(X, r), 0.0))
        return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)

    def _weighted(self, K: Array) -> Array:
        """r from the rows K(x, X_fit)."""
        if self.weight_ is None:
            return np.asarray(K.mean(axis=1))
        return np.asarray(K @ self.weight_ / self.weight_.sum())

    def _means(self, X: Data) -> Array:
        """r(x) of every row of X."""
        if self.row_means_ is not None and same(X, self.X_fit_):
            return self.row_means_
        if self.X_fit_ is None:
            raise ValueError(f"Centring {self.label} on new points needs the training points: give X_fit.")
        n = n_samples(X)
        blocks = [
            self._weighted(self._base(take_rows(X, i, i + _MEAN_ROWS), self.X_fit_))
            for i in range(0, n, _MEAN_ROWS)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def _check_fitted(self) -> None:
        if "scale_" not in self.__dict__:
            raise NotFittedError(
                f"Fitted({self.label}) has no constants yet; call fit(X) with the training points."
            )

    @property
    def is_scaling(self) -> bool:
        """True if this is scale_ times the base, without centring and cosine."""
        return getattr(self, "row_means_", None) is None and not self.center and self.normalize != "cosine"

    @property
    def statistic(self) -> Hashable | None:
        return self.kernel.statistic if self.is_scaling else None

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        return self.kernel.compute_statistic(X, Y, out)

    def fill(self, S: Array, out: Array) -> None:
        self._check_fitted()
        self.kernel.fill(S, out)
        if self.scale_ != 1.0:
            out *= self.scale_

    @property
    def member(self) -> Member:
        return self._member or self.kernel.member

    @property
    def has_features(self) -> bool:
        return self.is_scaling and self.kernel.has_features

    def feature_maps(self, *sets: Data) -> list[Any]:
        self._check_fitted()
        return [np.sqrt(self.scale_) * Phi for Phi in self.kernel.feature_maps(*sets)]

    def terms(self) -> list[tuple[float, Kernel]]:
        self._check_fitted()
        if not self.is_scaling:
            return [(1.0, self)]
        return [(self.scale_ * c, kernel) for c, kernel in self.kernel.terms()]

    @property
    def label(self) -> str:
        return self.name if self.name is not None else self.kernel.label

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters, with those of the base kernel under their own names.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the parameters of the base kernel too.

        Returns
        -------
        dict of str to object
            Parameters by name.

        Examples
        --------
        >>> from manykernels.kernels import Fitted, Gaussian
        >>> params = Fitted(Gaussian(2.0), normalize="max").get_params()
        >>> params["normalize"], params["width"]
        ('max', 2.0)
        """
        own: dict[str, Any] = super().get_params(deep=deep)
        return {**self.kernel.get_params(deep=True), **own} if deep else own

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this kernel or of the base kernel.

        Parameters
        ----------
        **params : object
            Parameters by name. Names that this kernel does not have are those of the base kernel.

        Returns
        -------
        Fitted
            The kernel itself.

        Examples
        --------
        >>> from manykernels.kernels import Fitted, Gaussian
        >>> fitted = Fitted(Gaussian(2.0)).set_params(width=5.0, center=True)
        >>> fitted.kernel, fitted.center
        (Gaussian(width=5.0), True)
        """
        base = {
            key: value for key, value in params.items() if key.split("__")[0] not in self._get_param_names()
        }
        self.kernel.set_params(**base)
        super().set_params(**{key: value for key, value in params.items() if key not in base})
        return self

    def __getattr__(self, attribute: str) -> Any:
        kernel = self.__dict__.get("kernel")
        if kernel is not None and not attribute.startswith("_") and not attribute.endswith("_"):
            if attribute in kernel._arguments():
                return getattr(kernel, attribute)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {attribute!r}")
