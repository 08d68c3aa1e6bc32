"""Strategies of model selection: each is a model, with the values of C and norm to try."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from .._arguments import is_integral, is_number, shown
from ..families import Columns, Family, Products, Relevance, Subset
from ..families.columns import suits
from ..families.tables import Table
from ..families.views import JoinedViews
from ..fitting.options import Options
from ..fitting.samples import Given
from ..fitting.spec import needs_stack, short
from ..fitting.targets import Target, require_size
from ..kernels import Kernel
from .paths import Costs, Only, Parts

_MOST = 1000  # values of C in one path
NAMES = ("finite", "continuous", "columns", "products", "aligned", "joined")
COSTS = tuple(10.0**k for k in range(-1, 5))
_EVENT_COSTS = (1e-3, 1e-2, *(10.0 ** (k / 2.0) for k in range(-3, 5)))  # of events
_PRODUCT_COSTS = tuple(10.0 ** (k / 2.0) for k in range(-5, 1))  # sparse: little is gained by more
_SMALL = 4  # values of C for kernels of single columns, which hardly change from then on
_CUBES = 40  # features up to which products have three factors
_PAIRS = 300  # features up to which they have two
_MANY = 40  # kernels, from which they are not tried alone
_NARROW = 0.5  # median distances: the width up to which a kernel is narrow
_VIEWS = 12  # views, up to which each is tried alone, and left out


@dataclass(frozen=True)
class Strategy:
    """A model whose C and norm are to be chosen; `keys` says what they are called in it."""

    name: str
    template: BaseEstimator  # the model, not fitted
    options: Options | None  # what it would be fitted with; None for a model of the user's own
    norms: Sequence[Any]
    Cs: Sequence[float]
    keys: tuple[str, str] = ("C", "norm")
    race: bool = False  # whether a bad first fold rules it out
    reluctant: bool = False  # whether it is taken only where it is clearly better than the others
    parts: Parts | None = None  # more sets of its kernels to learn from
    costs: Costs | None = None  # values of C for a norm and a set of kernels, where these differ
    given: Given | None = None  # the samples as its kernels read them
    target: Target | None = None  # what y is to it
    optional: bool = False  # whether it is left out where none of the columns vary that it needs

    @property
    def has_path(self) -> bool:
        """Whether a whole path in C can be learned at once, from matrices."""
        return self.options is not None and self.options.approx is None and self.keys == ("C", "norm")

    def params(self, norm: Any, only: Only, C: float) -> dict[str, Any]:
        """The parameters that make the template the model for this norm, these kernels and this C."""
        cost, weight = self.keys
        given: dict[str, Any] = {cost: 1.0 / C if cost.endswith("alpha") else C} if cost else {}
        if only is not None:
            given["kernels"] = Subset(self.template.get_params()["kernels"], only)
        return given | ({weight: norm} if weight else {})


@dataclass(frozen=True)
class Wish:
    """What a search chooses from, and functions that make its models."""

    kernels: Any
    strategy: Any
    norms: Any
    Cs: Any
    task: str
    approximate: bool
    own: Callable[[Any], BaseEstimator]  # the model of the task for these kernels
    aligned: Callable[[], BaseEstimator]  # the same in two stages
    options_of: Callable[[BaseEstimator], Options | None]  # what a model of this package is fitted with
    views: bool = False  # whether X came as a dict, whose views have kernels of their own


def strategies(wish: Wish, X: Any, n_outputs: int, table: Table | None = None) -> list[Strategy]:
    """The strategies that were asked for; "auto" takes those that suit the data.

    `table` says what the columns of X hold, where they are prepared.
    """
    asked, auto = wish.strategy, isinstance(wish.strategy, str) and wish.strategy == "auto"
    width = 0 if len(getattr(X, "shape", ())) != 2 else X.shape[1] if table is None else table.size
    if isinstance(asked, str):
        asked = _auto(wish, X, n_outputs, width, table) if auto else [asked]
    if not isinstance(asked, list | tuple) or not asked:
        raise ValueError(
            f"strategy={wish.strategy!r} was given; expected 'auto', one of {', '.join(map(repr, NAMES))}, "
            "or a list of these and of estimators."
        )
    found = [replace(_strategy(wish, given, X, width, table), optional=auto) for given in asked]
    seen: dict[str, int] = {}
    for i, strategy in enumerate(found):
        seen[strategy.name] = seen.get(strategy.name, 0) + 1
        if seen[strategy.name] > 1:
            name = f"{strategy.name} ({seen[strategy.name]})"
            found[i] = replace(strategy, name=name)
    return found


def _auto(wish: Wish, X: Any, n_outputs: int, width: int, table: Table | None) -> list[str]:
    """Return the strategies of "auto": several for kernels="auto", otherwise the kernels that were given."""
    if wish.views or not (isinstance(wish.kernels, str) and wish.kernels == "auto"):
        return ["finite", "joined"] if len(_joined(table)) > 1 and not wish.approximate else ["finite"]
    if sparse.issparse(X) or not width or wish.approximate:
        return ["finite"]
    chosen = ["finite", "continuous"]
    if wish.task == "survival":  # products are hardly ever better, and take most of the time
        return chosen
    if suits(X, table):
        chosen.append("columns")
    if 2 <= width <= _PAIRS and n_outputs == 1:
        chosen.append("products")
    return chosen


def _strategy(wish: Wish, given: Any, X: Any, width: int, table: Table | None) -> Strategy:
    Cs, norms = read_costs(wish.Cs, _EVENT_COSTS if wish.task == "survival" else COSTS), _norms(wish.norms)
    if isinstance(given, BaseEstimator):
        return _of_estimator(wish, given, Cs)
    kernels, parts = wish.kernels, _few_parts if wish.task == "survival" else _parts
    if given == "finite":
        listed = not isinstance(kernels, Family) or kernels.listed
        return _own(wish, "finite", kernels, norms if listed else norms[:1], Cs, parts=parts)
    if given not in NAMES:
        raise ValueError(
            f"strategy={given!r} was given; expected 'auto', one of {', '.join(map(repr, NAMES))}, an "
            "estimator, or a list of these."
        )
    if given == "joined":
        columns = _joined(table)
        if not columns:
            raise ValueError(
                "strategy='joined' was given, which learns from the columns of all views as one table; "
                "expected two or more views whose columns are prepared. Take 'finite', or name views: "
                "views({'gene': columns, 'image': columns})."
            )
        whole = JoinedViews({"all columns": (columns, "auto")})
        return replace(_own(wish, "joined", whole, norms, Cs, parts=parts), reluctant=True)
    if given == "aligned":
        if wish.task == "survival":
            raise ValueError(
                "strategy='aligned' was given for times to an event: alignment needs a target of numbers or "
                "classes. Take 'finite', 'continuous' or 'products'."
            )
        return Strategy("aligned", wish.aligned(), None, [None], Cs, _aligned_keys(wish.task))
    if needs_stack(kernels) or sparse.issparse(X):
        raise ValueError(
            f"strategy={given!r} was given with kernels={short(kernels)}; it makes kernels of its own from a "
            "dense table. Take 'finite' or 'aligned'."
        )
    if given == "continuous":
        chosen = kernels if isinstance(kernels, Family) and not kernels.listed else Relevance()
        return _own(wish, "continuous", chosen, norms if chosen.listed else [1.0], Cs)
    if given == "columns":  # norm 1, which keeps few of them
        few = Cs if wish.Cs is not None or wish.task == "survival" else COSTS[:_SMALL]
        return replace(_own(wish, "columns", Columns(), [1.0], few), race=True)
    degree = 3 if width <= _CUBES else 2
    template = wish.own(Products(degree=degree, atom_scale="rms", scale=True)).set_params(solver="corrective")
    if "loss" in template.get_params(deep=False) and not hasattr(template, "predict_proba"):
        template.set_params(loss="squared")  # the fastest; but probabilities that were asked for stay
    options, costs = wish.options_of(template), read_costs(wish.Cs, _PRODUCT_COSTS)
    return Strategy("products", template, options, [1.0], costs, race=True)


def _joined(table: Table | None) -> list[int]:
    """The columns of all views, where there are several and their columns are prepared."""
    views = [] if table is None else table.views
    return sorted({j for view in views for j in view}) if len(views) > 1 else []


def _own(
    wish: Wish, name: str, kernels: Any, norms: Sequence[Any], Cs: Sequence[float], parts: Parts | None = None
) -> Strategy:
    template = wish.own(kernels)
    return Strategy(name, template, wish.options_of(template), norms, Cs, parts=parts)


def _parts(kernels: Mapping[str, Kernel]) -> list[tuple[Any, Only]]:
    """Every kernel alone, since learning prefers what fits the training samples; wide ones; views."""
    return _singles(kernels) + _wide(kernels) + _of_views(kernels)


def _few_parts(kernels: Mapping[str, Kernel]) -> list[tuple[Any, Only]]:
    """The linear kernel alone, and all but narrow ones: where little is known, many candidates mislead."""
    plain = [name for name, kernel in kernels.items() if kernel.member.role == "linear"]
    return ([(1.0, (plain[0],))] if plain and len(kernels) > 1 else []) + _wide(kernels)


def _singles(kernels: Mapping[str, Kernel]) -> list[tuple[Any, Only]]:
    """Each of a few kernels; one column is not worth while alone where others see the whole table."""
    if not 1 < len(kernels) <= _MANY:
        return []
    whole = [name for name, kernel in kernels.items() if kernel.member.role != "column"]
    return [(1.0, (name,)) for name in whole or kernels]


def _wide(kernels: Mapping[str, Kernel]) -> list[tuple[Any, Only]]:
    """All but the narrow Gaussians, where kernels say which those are."""
    scales = {name: kernel.member.scale for name, kernel in kernels.items()}
    wide = tuple(name for name, scale in scales.items() if scale is None or scale > _NARROW)
    return [(2.0, wide)] if 1 < len(wide) < len(kernels) else []


def _of_views(kernels: Mapping[str, Kernel]) -> list[tuple[Any, Only]]:
    """The plain sum, one similarity in all views, each view alone, all views but one.

    Weights of many kernels are learned from few samples, and these have fewer: what is learned from all
    views has to be better than each of them in the same folds.
    """
    views: dict[str, list[str]] = {}
    alike: dict[str | None, list[str]] = {}
    for name, kernel in kernels.items():
        view = getattr(getattr(kernel, "kernel", None), "view", None)
        if view is not None:
            views.setdefault(view, []).append(name)
            alike.setdefault(kernel.member.within, []).append(name)
    if not 1 < len(views) <= _VIEWS:
        return []
    same = [names for within, names in alike.items() if within is not None and len(names) == len(views)]
    some = [*same, *(names for names in views.values() if len(names) > 1)]
    if len(views) > 2:
        some += [[name for name in kernels if name not in set(names)] for names in views.values()]
    taken = {tuple(kernels)}
    sets: list[tuple[Any, Only]] = [(np.inf, None)]
    for names in map(tuple, some):
        if len(names) > 1 and names not in taken:
            taken.add(names)
            sets.append((2.0, names))
    return sets


def _of_estimator(wish: Wish, given: BaseEstimator, Cs: Sequence[float]) -> Strategy:
    """A model of the user's: its C is chosen if it has one, and all else is as it was given."""
    fits = {"classification": is_classifier, "regression": is_regressor}.get(wish.task, _predicts)
    if not fits(given):
        expected = {"classification": "classifiers", "regression": "regressors"}.get(wish.task, "estimators")
        raise ValueError(f"strategy holds {short(given)}; expected {expected} here, or names of strategies.")
    params = given.get_params(deep=False)
    name, options = type(given).__name__, wish.options_of(given)
    if "C" in params:
        keys = ("C", "norm" if "norm" in params else "")
        return Strategy(name, given, options, [params.get("norm")], Cs, keys)
    return Strategy(name, given, None, [None], [1.0], ("", ""))


def _predicts(given: BaseEstimator) -> bool:
    """Neither a classifier nor a regressor, as scikit-learn has no name for survival models."""
    return not is_classifier(given) and not is_regressor(given) and hasattr(given, "predict")


def _aligned_keys(task: str) -> tuple[str, str]:
    return ("estimator__C" if task == "classification" else "estimator__alpha", "")


def read_costs(given: Any, default: Sequence[float]) -> list[float]:
    """The values of C to try, rising."""
    if given is None:
        return list(default)
    if is_integral(given) and 1 <= given <= _MOST:
        return [float(C) for C in np.geomspace(default[0], default[-1], int(given))]
    several = _is_list(given) and all(map(is_number, given))
    Cs = np.asarray(given, dtype=np.float64) if several else np.empty(0)
    if not Cs.size or not np.all((Cs > 0.0) & np.isfinite(Cs)):
        raise ValueError(
            f"Cs={shown(given)} was given; expected None, how many values to try (at most {_MOST}), or a "
            "list of positive numbers."
        )
    for C in (Cs.min(), Cs.max()):
        require_size("Cs", C, "Leave such values out.")
    return sorted({float(C) for C in Cs})


def _is_list(given: Any) -> bool:
    return isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1)


def _norms(given: Any) -> list[Any]:
    norms = list(given) if _is_list(given) else [given]
    if not norms:
        raise ValueError(f"norms={shown(given)} was given; expected at least one norm, such as (1.0, 2.0).")
    return norms
