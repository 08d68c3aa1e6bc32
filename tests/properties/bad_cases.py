"""Every way to call the estimators wrongly that can be made from the zoo, and the judge of how each ends.

A call ends well in a model whose answers are finite, or in a ValueError, TypeError or MemoryError whose words
were written for it: by this package, or by scikit-learn where it validates input.
"""

from __future__ import annotations

import inspect
import linecache
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
from joblib import parallel_config
from tests.properties.bad_values import RESULTS, SAMPLES, TARGETS, VALUES, WEIGHTS, N, X, numbers, y
from tests.times import times

import manykernels as mk
from manykernels import approx, families, kernels, losses, penalties, solvers, weightings
from manykernels._fast import threads
from manykernels.approx import Nystroem
from manykernels.kernels import Gaussian, Linear

SECONDS = 15
_WORDS = 4
_OURS = "/manykernels/"
_VALIDATION = ("/sklearn/utils/", "/sklearn/model_selection/_split.py", "/sklearn/metrics/_scorer.py")
_ENDS = (ValueError, TypeError, MemoryError, FileNotFoundError)
STACK = np.stack([X @ X.T, Gaussian(1.0)(X)], axis=2)


@dataclass(frozen=True)
class Case:
    """A call, which returns arrays that are to be finite."""

    name: str
    call: Callable[[], Any]


# -- the estimators, as fast as they get --------------------------------------------------------------
def _kernels() -> dict[str, Any]:
    return {"line": Linear(), "narrow": Gaussian(1.0), "wide": Gaussian(3.0)}


_SEARCH: dict[str, Any] = {"Cs": [1.0], "norms": [2.0], "cv": 2}
_GRAPH: dict[str, Any] = {"kernels": families.PolynomialDAG(degree=2)}
_EXTRA: dict[str, dict[str, Any]] = {
    "MKLClassifierCV": _SEARCH,
    "MKLRegressorCV": _SEARCH,
    "HierarchicalMKLClassifier": _GRAPH,
    "HierarchicalMKLRegressor": _GRAPH,
    "KernelEnsembleClassifier": {"cv": 2},
    "KernelEnsembleRegressor": {"cv": 2},
    "NonlinearMKLClassifier": {"n_starts": 1},
    "NonlinearMKLRegressor": {"n_starts": 1},
    "UFOMKLClassifier": {"epochs": 2},
    "UFOMKLRegressor": {"epochs": 2},
}
ESTIMATORS = [name for name in mk.__all__ if isinstance(getattr(mk, name), type)]


def make(name: str, **options: Any) -> Any:
    """An estimator that is quickly fitted."""
    given = {"kernels": _kernels(), **_EXTRA.get(name, {}), **options}
    allowed = inspect.signature(getattr(mk, name)).parameters
    if "random_state" in allowed:
        given.setdefault("random_state", 0)
    return getattr(mk, name)(**given)


def target_of(name: str) -> Any:
    return times(numbers) if "Survival" in name else numbers if "Regressor" in name else y


def answers(model: Any, data: Any = X) -> list[Any]:
    """All that a fitted model says of samples."""
    if not getattr(model, "refit", True):
        return []
    asked = ["predict", "decision_function", "transform"]
    said = [getattr(model, method)(data) for method in asked if hasattr(model, method)]
    return said + ([model.contributions(data)] if _explains(model) else [])


def _explains(model: Any) -> bool:
    return (
        hasattr(model, "contributions")
        and "Nonlinear" not in type(model).__name__
        and not ("Align" in type(model).__name__ and not hasattr(model, "dual_coef_"))
    )


# -- the cases ----------------------------------------------------------------------------------------
def parameter_cases(name: str) -> Iterator[Case]:
    """Every parameter of an estimator × every value."""
    for parameter in inspect.signature(getattr(mk, name)).parameters:
        for what, value in VALUES.items():

            def call(parameter: str = parameter, value: Any = value) -> Any:
                return answers(make(name, **{parameter: value()}).fit(X, target_of(name)))

            yield Case(f"{name}({parameter}={what})", call)


def fit_cases(name: str) -> Iterator[Case]:
    """Every sample, target and weight, in a fit and (where there is one) in a stream."""
    for what, value in SAMPLES.items():
        yield Case(f"{name}.fit(X={what})", lambda v=value: _fit_on(make(name), v(), target_of(name)))
        yield Case(
            f"{name}('auto').fit(X={what})",
            lambda v=value: _fit_on(make(name, kernels="auto"), v(), target_of(name)),
        )
        if "approx" in inspect.signature(getattr(mk, name)).parameters:
            features = {"approx": Nystroem(5)} | ({"strategy": "finite"} if name.endswith("CV") else {})
            yield Case(
                f"{name}(approx).fit(X={what})",
                lambda v=value, f=features: _fit_on(make(name, **f), v(), target_of(name)),
            )
    for what, value in TARGETS.items():
        yield Case(f"{name}.fit(y={what})", lambda v=value: answers(make(name).fit(X, v())))
    if "sample_weight" in inspect.signature(getattr(mk, name).fit).parameters:
        for what, value in WEIGHTS.items():
            yield Case(
                f"{name}.fit(sample_weight={what})",
                lambda v=value: answers(make(name).fit(X, target_of(name), v())),
            )
    if hasattr(getattr(mk, name), "partial_fit"):
        yield from _stream_cases(name)


def _fit_on(model: Any, data: Any, target: Any) -> Any:
    shape = getattr(data, "shape", None)
    length = shape[0] if isinstance(shape, tuple) and shape and isinstance(shape[0], int) else N
    return answers(model.fit(data, target[:length] if length in range(1, N) else target), _again(data))


def _again(data: Any) -> Any:
    """What can be asked of a model that was fitted on these."""
    return data.compute() if type(data).__module__.startswith("dask") else data


def _stream_cases(name: str) -> Iterator[Case]:
    more = {} if "Regressor" in name else {"classes": [0, 1]}
    for what, value in SAMPLES.items():
        yield Case(
            f"{name}.partial_fit(X={what})",
            lambda v=value: answers(make(name).partial_fit(v(), target_of(name), **more), _again(v())),
        )
        yield Case(
            f"{name}.partial_fit(then X={what})",
            lambda v=value: answers(
                make(name).partial_fit(X, target_of(name), **more).partial_fit(v(), target_of(name))
            ),
        )
    for what, value in TARGETS.items():
        yield Case(
            f"{name}.partial_fit(y={what})", lambda v=value: answers(make(name).partial_fit(X, v(), **more))
        )
        if more:
            yield Case(
                f"{name}.partial_fit(classes={what})",
                lambda v=value: answers(make(name).partial_fit(X, y, classes=v())),
            )


def new_cases(name: str) -> Iterator[Case]:
    """Every sample for a model that is fitted: on an array, a frame and a stack."""
    fitted: dict[str, Any] = {}

    def model(form: str) -> Any:
        if form not in fitted:
            options = {"kernels": "precomputed"} if form == "a stack" else {}
            options = (
                {"kernels": families.views({"v": (["a", "b"], [Linear()])})} if form == "a frame" else options
            )
            data = {"a stack": STACK, "a frame": SAMPLES["frame"]()}.get(form, X)
            fitted[form] = make(name, **options).fit(data, target_of(name))
        return fitted[form]

    graph = name.startswith("Hierarchical")
    for form in ("an array",) if graph else ("an array", "a frame", "a stack"):
        methods = ["predict", "decision_function", "transform", "contributions"]
        for method in methods if form == "an array" else ["predict", "transform"]:
            if not hasattr(getattr(mk, name), method) and not (
                name.endswith("CV") and method == "contributions"
            ):
                continue
            if method == "contributions" and "Nonlinear" in name:
                continue
            for what, value in SAMPLES.items():
                yield Case(
                    f"{name} on {form}.{method}(X={what})",
                    lambda f=form, m=method, v=value: [getattr(model(f), m)(v())],
                )
    if hasattr(getattr(mk, name), "score"):
        for what, value in SAMPLES.items():
            yield Case(
                f"{name}.score(X={what})", lambda v=value: [model("an array").score(v(), target_of(name))]
            )


PARTS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "kernels": (kernels, lambda part: mk.MKLClassifier([part, Gaussian(2.0)])),
    "kernels online": (kernels, lambda part: mk.UFOMKLClassifier([part, Gaussian(2.0)], epochs=1)),
    "kernels aligned": (kernels, lambda part: mk.AlignMKLClassifier([part, Gaussian(2.0)])),
    "kernels in features": (
        kernels,
        lambda part: mk.MKLClassifier([part, Gaussian(2.0)], approx=Nystroem(5)),
    ),
    "families": (families, lambda part: mk.MKLRegressor(part, max_iter=20)),
    "graphs": (families, lambda part: mk.HierarchicalMKLRegressor(part, max_iter=20)),
    "families aligned": (families, lambda part: mk.KernelAligner(part, weighting="greedy")),
    "norms": (penalties, lambda part: mk.MKLRegressor(_kernels(), norm=part)),
    "losses": (losses, lambda part: mk.MKLRegressor(_kernels(), loss=part)),
    "losses online": (losses, lambda part: mk.UFOMKLClassifier(_kernels(), loss=part, epochs=1)),
    "solvers": (solvers, lambda part: mk.MKLRegressor(_kernels(), solver=part, max_iter=20)),
    "solvers of families": (
        solvers,
        lambda part: mk.MKLRegressor(families.Products(degree=2), solver=part, max_iter=20),
    ),
    "solvers of graphs": (solvers, lambda part: mk.HierarchicalMKLRegressor(solver=part, max_iter=20)),
    "approximations": (approx, lambda part: mk.MKLRegressor([Gaussian(1.0)], approx=part)),
    "approximations online": (
        approx,
        lambda part: mk.UFOMKLRegressor([Gaussian(1.0)], approx=part, epochs=1),
    ),
    "weightings": (weightings, lambda part: mk.KernelAligner(_kernels(), weighting=part)),
    "weightings of families": (
        weightings,
        lambda part: mk.KernelAligner(families.Gaussians(), weighting=part),
    ),
}
_GIVEN: dict[str, Any] = {  # what parts need beside the parameter in question
    "kernel": Linear(),
    "kernels": [Linear(), Gaussian(2.0)],
    "columns": [0, 1],
    "index": 0,
    "function": lambda A, B=None: np.asarray(A) if B is None else np.asarray(A) @ np.asarray(B).T,
    "weights": [1.0, 2.0],
    "preparation": kernels.Preparation([0, 1]).fit(X),
    "parents": {"a": (Linear(), []), "b": (Gaussian(1.0), ["a"])},
    "gammas": [1.0],
    "views": {"v": ([0, 1], [Linear()])},
    "low": 0.5,
    "high": 2.0,
    "n": 3,
    "solvers": None,
}
_NO_PARTS = ("resolve_", "evaluate", "combine", "stoppable", "approximation_error", "Result", "Run", "Reason")
_RECORDS = (
    "History",
    "Features",
    "Weighted",
    "Held",
    "Serves",
    "TableWarning",
    "refusal",
    "serving",
    "why_not",
)


def part_cases(place: str) -> Iterator[Case]:
    """Every parameter of every part × every value, and the part as a class."""
    module, use = PARTS[place]
    for name in module.__all__:
        part = getattr(module, name)
        if name.startswith(_NO_PARTS) or name in _RECORDS:
            continue

        def run(value: Any) -> Any:
            model = use(value)
            return answers(model.fit(X, target_of(type(model).__name__)))

        yield Case(f"{place}: {name} itself", lambda p=part, r=run: r(p))
        parameters = inspect.signature(part).parameters
        needed = {
            key: _GIVEN[key]
            for key, p in parameters.items()
            if p.default is inspect.Parameter.empty and key in _GIVEN
        }
        yield Case(f"{place}: {name}()", lambda p=part, r=run, n=needed: r(p(**n)))
        for parameter in parameters:
            for what, value in VALUES.items():
                yield Case(
                    f"{place}: {name}({parameter}={what})",
                    lambda p=part, r=run, n=needed, k=parameter, v=value: r(p(**{**n, k: v()})),
                )


def function_cases(name: str) -> Iterator[Case]:
    """Functions of the user's that return what they should not: as kernels, distances and gates."""
    if name.startswith("Hierarchical"):
        return
    for what, result in RESULTS.items():

        def call(wrap: Any, result: Any = result) -> Any:
            made = result()
            given = wrap(lambda A, B: made(np.asarray(A) @ np.asarray(B).T))
            return answers(make(name, kernels={"f": given, "line": Linear()}).fit(X, target_of(name)))

        yield Case(f"{name}(function -> {what})", lambda c=call: c(kernels.Callable))
        yield Case(f"{name}(distance -> {what})", lambda c=call: c(lambda f: kernels.FromDistance(1.0, f)))
        yield Case(
            f"{name}(function of columns -> {what})",
            lambda c=call: c(lambda f: kernels.OnColumns(kernels.Callable(f), [0, 1])),
        )
        yield Case(
            f"{name}(product with function -> {what})",
            lambda c=call: c(lambda f: kernels.Callable(f) * Linear()),
        )
        if "gating" in inspect.signature(getattr(mk, name)).parameters:
            yield Case(
                f"{name}(gating -> {what})",
                lambda r=result: answers(make(name, gating=lambda A: r()(A)).fit(X, target_of(name))),
            )


def stack_cases(name: str) -> Iterator[Case]:
    """Stacks of matrices that are none, in fit and after it."""
    if name.startswith("Hierarchical"):
        return
    for what, result in RESULTS.items():
        for spec in ("precomputed", families.from_distances([1.0])):

            def call(result: Any = result, spec: Any = spec) -> Any:
                bad = result()(np.abs(X @ X.T))
                bad = np.stack([bad] * 2, axis=2) if isinstance(bad, np.ndarray) and bad.ndim == 2 else bad
                return answers(make(name, kernels=spec).fit(bad, target_of(name)), bad)

            yield Case(f"{name}({spec!r}).fit({what})", call)
    for what, value in SAMPLES.items():
        yield Case(
            f"{name}('precomputed').fit(X={what})",
            lambda v=value: answers(make(name, kernels="precomputed").fit(v(), target_of(name)), v()),
        )
    masked = np.ma.masked_greater(STACK, 0.5)
    yield Case(
        f"{name}('precomputed').fit(masked stack)",
        lambda: answers(make(name, kernels="precomputed").fit(masked, target_of(name)), STACK),
    )


def nested_cases(name: str) -> Iterator[Case]:
    """Kernels inside of kernels, thousands of them, and lists that hold themselves."""

    def deep(step: Callable[[Any], Any]) -> Any:
        kernel: Any = Gaussian(2.0)
        for _ in range(3000):
            kernel = step(kernel)
        return kernel

    steps: dict[str, Callable[[Any], Any]] = {
        "sums": lambda k: kernels.Sum([k, Linear()]),
        "products": lambda k: kernels.Product([k]),
        "multiples": lambda k: kernels.Scaled(k, 1.0),
        "powers": lambda k: kernels.Power(k, 1),
        "columns": lambda k: kernels.OnColumns(k, [0, 1]),
        "mixtures": lambda k: kernels.Mixture([k], [1.0]),
        "lists": lambda k: [k],
        "dicts": lambda k: {"k": k},
    }
    for what, step in steps.items():
        yield Case(
            f"{name}({what} of {what})",
            lambda s=step: answers(make(name, kernels=[deep(s)]).fit(X, target_of(name))),
        )

    def own() -> Any:
        kernel = kernels.Sum([Linear()])
        kernel.kernels = [kernel, Linear()]
        return kernel

    yield Case(
        f"{name}(a sum of itself)", lambda: answers(make(name, kernels=[own()]).fit(X, target_of(name)))
    )


SECTIONS: dict[str, Callable[[], Iterator[Case]]] = {
    **{f"parameters of {name}": (lambda n=name: parameter_cases(n)) for name in ESTIMATORS},
    **{f"fit of {name}": (lambda n=name: fit_cases(n)) for name in ESTIMATORS},
    **{f"new samples of {name}": (lambda n=name: new_cases(n)) for name in ESTIMATORS},
    **{f"functions of {name}": (lambda n=name: function_cases(n)) for name in ESTIMATORS},
    **{f"stacks of {name}": (lambda n=name: stack_cases(n)) for name in ESTIMATORS},
    **{f"nested of {name}": (lambda n=name: nested_cases(n)) for name in ESTIMATORS},
    **{f"parts: {place}": (lambda p=place: part_cases(p)) for place in PARTS},
}


# -- the judge ------------------------------------------------------------------------------------------
class TooLong(BaseException):
    """A case took more than its time."""


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """An alarm after so much work, and after four times as long where nothing is done or others do more."""

    def ring(signum: int, frame: FrameType | None) -> None:
        raise TooLong

    alarms = {
        signal.SIGPROF: (signal.ITIMER_PROF, seconds),
        signal.SIGALRM: (signal.ITIMER_REAL, 4 * seconds),
    }
    before = {alarm: signal.signal(alarm, ring) for alarm in alarms}
    try:
        for timer, after in alarms.values():
            signal.setitimer(timer, after)
        yield
    finally:
        for alarm, (timer, _) in alarms.items():
            signal.setitimer(timer, 0.0)
            signal.signal(alarm, before[alarm])


def defect(case: Case) -> str | None:
    """What is wrong with how a case ends, in words; None where it ends well."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with limited(), parallel_config(backend="threading"):  # processes are slow to start
                finite = [_finite(said) for said in case.call()]
        except TooLong:
            return f"{case.name}: takes more than {SECONDS} s"
        except Exception as error:
            return _judge(case, error)
    if threads._limits:
        return f"{case.name}: leaves BLAS limited"
    fine = ".score(" in case.name or all(finite)  # R² of finite numbers may be −inf
    return None if fine else f"{case.name}: answers that are not finite"


def _finite(said: Any) -> bool:
    A = np.asarray(_again(said))
    return A.dtype.kind not in "fc" or bool(np.isfinite(A).all())


def _judge(case: Case, error: Exception) -> str | None:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{frame.filename.rpartition('site-packages')[2]}:{frame.lineno}"
    told = f"{case.name}: {type(error).__name__}: {str(error)[:200]!r} from {where}"
    ours = _OURS in frame.filename and "/tests/" not in frame.filename
    mine = "/tests/" in frame.filename
    if mine:  # Python refused the call itself, such as a constructor without an argument
        return None
    meant = linecache.getline(frame.filename, frame.lineno or 0).lstrip().startswith("raise")
    written = meant and (ours or any(part in frame.filename for part in _VALIDATION))
    kind = isinstance(error, _ENDS) or (isinstance(error, AttributeError | NotImplementedError) and ours)
    return None if written and kind and len(str(error).split()) >= _WORDS else told
