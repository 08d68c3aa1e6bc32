"""Parameters of estimators: access to kernels in dicts and lists, and checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from .._arguments import check_types, is_integral, is_number, is_whole, shown
from .._fast.threads import require_jobs
from ..approx import resolve_approx
from ..grams import parse_memory
from ._whole import WholeFits

NORMALIZE = ("trace", "max", "cosine", "frobenius")
_FINEST = 1e-16  # relative: differences below are rounding
TARGETS = ("auto", "classification", "regression")
STORAGE = ("float64", "float32")


class NestedKernels(WholeFits):
    """Gives access to single kernels: `kernels__gene` in a dict, `kernels__0` in a list.

    `kernels__gene__width` is then a parameter of that kernel.
    """

    kernels: Any

    def _given(self) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def _check_types(self) -> None:
        """Raise an error if a parameter is not of the type that the constructor says."""
        check_types(self, but=("verbose", "n_jobs"))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of the estimator.

        Parameters
        ----------
        deep : bool, default=True
            Whether parameters of its parts are in it, and those of each kernel in a dict or list.

        Returns
        -------
        dict
            The parameters by name. ``kernels__gene`` is the kernel called gene in a dict, ``kernels__0`` the
            first kernel of a list, and ``kernels__gene__width`` a parameter of that kernel.

        Examples
        --------
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> params = MKLClassifier({"gene": Gaussian(2.0), "age": Linear()}).get_params()
        >>> params["C"], params["kernels__age"], params["kernels__gene__width"]
        (1.0, Linear(), 2.0)
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name, part in self._members().items():
                params[f"kernels__{name}"] = part
                if hasattr(part, "get_params") and not isinstance(part, type):
                    inner = part.get_params(deep=True).items()
                    params.update({f"kernels__{name}__{key}": value for key, value in inner})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator, of its parts and of its kernels.

        Parameters
        ----------
        **params : dict
            Parameters by name. ``kernels__name`` replaces a kernel in a dict or list, and
            ``kernels__name__parameter`` changes a parameter of it.

        Returns
        -------
        self : estimator
            The estimator.

        Examples
        --------
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> model = MKLClassifier({"gene": Gaussian(2.0), "age": Linear()})
        >>> model.set_params(C=5.0, kernels__gene__width=3.0, kernels__age=Gaussian(1.0)).kernels
        {'gene': Gaussian(width=3.0), 'age': Gaussian(width=1.0)}
        """
        if "kernels" in params:
            self.kernels = params.pop("kernels")
        members = self._members()
        if members:
            mine = {key[9:]: params.pop(key) for key in list(params) if key.startswith("kernels__")}
            for name in [name for name in mine if name in members]:
                self._replace(name, mine.pop(name))
            members = self._members()
            for key, value in mine.items():
                name = max((n for n in members if key.startswith(f"{n}__")), key=len, default="")
                if name not in members or not hasattr(members[name], "set_params"):
                    raise ValueError(
                        f"kernels__{key} was given, and the kernels are called {sorted(members)}. Write "
                        "kernels__name to replace one and kernels__name__parameter to change a parameter of "
                        "it."
                    )
                members[name].set_params(**{key[len(name) + 2 :]: value})
        super().set_params(**params)
        return self

    def _members(self) -> dict[str, Any]:
        """Return the kernels of a dict by name, those of a list by position."""
        spec = self.__dict__.get("kernels")
        if isinstance(spec, Mapping):
            return {str(name): part for name, part in spec.items()}
        return {str(i): part for i, part in enumerate(spec)} if isinstance(spec, list | tuple) else {}

    def _replace(self, name: str, part: Any) -> None:
        """Put another kernel in a copy of the dict or list, which may be shared with other estimators."""
        if isinstance(self.kernels, Mapping):
            self.kernels = {key: part if str(key) == name else value for key, value in self.kernels.items()}
        else:
            self.kernels = type(self.kernels)(
                [part if str(i) == name else k for i, k in enumerate(self.kernels)]
            )


def check_learning(given: Mapping[str, Any], *switches: str) -> None:
    """Check the parameters that every one-stage fit needs."""
    if "C" in given:  # a search has several
        _require_positive(
            "C", given["C"], "how much a training error costs; larger fits the data more closely"
        )
    _require_positive("tol", given["tol"], "the relative duality gap at which to stop, such as 1e-3")
    if given["tol"] < _FINEST:
        raise ValueError(
            f"tol={given['tol']!r} was given; expected {_FINEST} or more: smaller gaps are rounding errors."
        )
    storage = given.get("storage", STORAGE[0])
    if not isinstance(storage, str) or storage not in STORAGE:
        raise ValueError(
            f"storage={shown(storage)} was given; expected 'float64', or 'float32' for kernel "
            "matrices that take half of the memory."
        )
    if "max_iter" in given:  # not where machines are all that is solved
        require_count("max_iter", given["max_iter"])
    check_common(given, "center", "fit_intercept", *switches)


def check_two_stage(given: Mapping[str, Any]) -> None:
    """Check the parameters of two-stage learning."""
    check_common(given, "center")
    if not isinstance(given["target"], str) or given["target"] not in TARGETS:
        raise ValueError(
            f"target={shown(given['target'])} was given; expected one of {', '.join(map(repr, TARGETS))}."
        )


def check_online(given: Mapping[str, Any]) -> None:
    """Check the parameters of online learning."""
    _require_positive("lam", given["lam"], "the strength of the regulariser, about 1/(C n_samples)")
    if not is_number(given["alpha"]) or not (0 <= given["alpha"] < np.inf):
        raise ValueError(
            f"alpha={shown(given['alpha'])} was given; expected a finite number ≥ 0: kernels whose norm "
            "stays below it in a step have no weight."
        )
    require_count("epochs", given["epochs"])
    check_common(given, "average", "shuffle", "fit_intercept", "warm_start")


def check_common(given: Mapping[str, Any], *switches: str) -> None:
    """Check the parameters that all estimators have."""
    resolve_approx(given.get("approx"))
    normalize = given["normalize"]
    if normalize is not None and (not isinstance(normalize, str) or normalize not in NORMALIZE):
        raise ValueError(
            f"normalize={shown(normalize)} was given; expected one of {', '.join(map(repr, NORMALIZE))}, or "
            "None."
        )
    require_jobs(given["n_jobs"])
    for name in switches:
        if name in given and not isinstance(given[name], bool | np.bool_):
            raise ValueError(f"{name}={shown(given[name])} was given; expected True or False.")
    if not isinstance(given["verbose"], bool | np.bool_) and not is_whole(given["verbose"]):
        raise ValueError(f"verbose={shown(given['verbose'])} was given; expected 0, 1 or 2.")
    parse_memory(given["memory_limit"])
    _check_seed(given.get("random_state"))


def _check_seed(seed: Any) -> None:
    if seed is None or seed is np.random or isinstance(seed, np.random.RandomState):
        return
    if not is_integral(seed) or not 0 <= seed < 2**32:
        raise ValueError(
            f"random_state={shown(seed)} was given; expected None, a whole number from 0 to 2**32 - 1, or a "
            "numpy.random.RandomState."
        )


def _require_positive(name: str, value: Any, meaning: str) -> None:
    if not is_number(value) or not (0 < value < np.inf):
        raise ValueError(f"{name}={shown(value)} was given; expected a positive finite number: {meaning}.")


def require_count(name: str, value: Any) -> None:
    """Raise an error unless the value is a whole number of at least 1."""
    if not is_integral(value) or not is_whole(value) or value < 1:
        raise ValueError(f"{name}={shown(value)} was given; expected a whole number, at least 1.")
