"""Holds what a fit claims against the truth: P in extended precision, and points of other solvers.

A fit claims that its model has P ≈ ``objective_`` and that no weights and no machine have a P below
``objective_ · (1 − dual_gap_)``. Run ``python -m tests.properties.certificates --cases 2000`` for a list of
the cases in which that is wrong.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from tests.properties.exact import Grams, Value, primal
from tests.properties.problems import SHARES, Case, draw, on_a_grid
from tests.properties.reference import cvxpy_primal

SLACK = 1e-6  # of P: what a claim may be wrong by beside its gap
EXTREME = (
    1e-4  # the same where costs, offsets or weights of 1e5 make much of how kernels round and are centred
)
NEAR = 1e-4  # a gap that every natural problem reaches; rounding may hide what is below it
LONGEST = 15  # seconds of a fit's own time


@dataclass(frozen=True)
class Failure:
    """A claim that does not hold; `kind` groups those of one cause."""

    seed: int
    kind: str
    text: str
    case: str

    def __str__(self) -> str:
        return f"[{self.kind}] {self.text}\n    {self.case}"


class TooLong(BaseException):
    """A fit that did not end; not an Exception, so that nothing on the way handles it."""


@dataclass(frozen=True)
class Fitted:
    """A fitted model, or why there is none, and the warnings on the way."""

    model: Any
    error: Exception | None
    warnings: list[Any]
    seconds: float

    @property
    def warned(self) -> bool:
        return any(issubclass(w.category, ConvergenceWarning) for w in self.warnings)


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooLong after so much time of this process."""

    def stop(*_: Any) -> None:
        raise TooLong

    previous = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def fit(case: Case) -> Fitted:
    """Fit a case, with everything kept that it says; TooLong passes."""
    model, error, begun = clone(case.model), None, time.process_time()
    with warnings.catch_warnings(record=True) as caught, limited(LONGEST):
        warnings.simplefilter("always")
        try:
            model.fit(case.X, case.y, **({} if case.weight is None else {"sample_weight": case.weight}))
        except np.linalg.LinAlgError:  # a ValueError, but nobody's words
            raise
        except (ValueError, TypeError, MemoryError) as refusal:
            error = refusal
    return Fitted(model, error, list(caught), time.process_time() - begun)


def decisions(case: Case, model: Any) -> np.ndarray:
    """(n, outputs) as the model gives them."""
    f = model.decision_function(case.X) if hasattr(model, "classes_") else model.predict(case.X)
    return np.asarray(f, float).reshape(len(case.y), -1)


def _largest(mixture: Any, X: Any) -> float:
    """An entry that K has before it is centred, at most."""
    parts = zip(mixture.kernels, mixture.weights, strict=True)
    return float(sum(w * part.scale_ * np.abs(part.kernel.diag(X)).max() for part, w in parts))


class Check:
    """All that is claimed of one case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.failures: list[Failure] = []
        self.outcome = "fitted"

    def wrong(self, kind: str, text: str) -> None:
        self.failures.append(Failure(self.case.seed, kind, text, str(self.case)))

    def run(self, thorough: bool) -> list[Failure]:
        """Fit and look; `thorough` also fits with another tolerance and solver, and asks cvxpy."""
        try:
            fitted = fit(self.case)
            if self._usable(fitted):
                Ks = Grams(self.case, fitted.model)
                value = self._claims(fitted, Ks)
                if thorough and not self.failures:
                    self._others(fitted.model, value, Ks)
        except TooLong:
            self.outcome = "hang"
            self.wrong("hang", f"over {LONGEST} s of its own time")
        except Exception as error:
            self.outcome = "crash"
            self.wrong(f"crash {type(error).__name__}", f"{error}")
        return self.failures

    def _usable(self, fitted: Fitted) -> bool:
        ours = [
            w
            for w in fitted.warnings
            if issubclass(w.category, RuntimeWarning) and "manykernels" in w.filename
        ]
        for text in sorted(
            {f"{w.message} at {w.filename.split('manykernels/')[-1]}:{w.lineno}" for w in ours}
        ):
            self.wrong("warning", text)
        if fitted.error is None:
            return True
        self.outcome = f"refused: {fitted.error}"
        if self.case.share == "natural":
            self.wrong("refused", str(fitted.error))
        return False

    def _claims(self, fitted: Fitted, Ks: Grams) -> Value:
        model, tol = fitted.model, self.case.model.tol
        P, gap = model.objective_, model.dual_gap_
        if not (np.isfinite(P) and np.isfinite(gap) and gap >= 0.0):
            self.wrong("not a number", f"objective_ {P}, dual_gap_ {gap}")
        if gap > tol and not fitted.warned and model.certified_:
            self.wrong("silent", f"gap {gap:.2e} above tol {tol:.0e} without a warning")
        if gap > max(tol, NEAR) and self._should_converge():
            self.wrong(
                "stalled", f"gap {gap:.2e} above tol {tol:.0e} after {model.n_iter_} iterations, P {P:.8g}"
            )
        f = decisions(self.case, model)
        if not np.isfinite(f).all():
            self.wrong("not finite", "decisions")
            return Value(np.nan, 0.0, 0.0)
        value = primal(self.case, model, Ks)
        seen = primal(self.case, model, Ks, f)
        self._close("true P", value, value.primal, P, gap)
        self._close("P as it predicts", value, seen.primal, P, gap)
        self._consistent(model, f, Ks)
        return value

    def _should_converge(self) -> bool:
        """Natural problems are solved as exactly as asked, unless by a first-order method."""
        model = self.case.model
        natural = self.case.share in ("natural", "grid")
        return natural and model.max_iter >= 1000 and model.solver in ("auto", "active-set")

    def _close(self, what: str, value: Value, found: float, claimed: float, gap: float) -> None:
        """D ≤ P ≤ objective_, where a wide gap, which has been said, may widen both ends."""
        wide = gap * abs(claimed)
        slack = (EXTREME if self.case.share in ("hard", "far") else SLACK) * abs(found) + value.floor
        if not claimed - wide - slack <= found <= claimed + wide + slack:
            side = "above" if found > claimed else "below"
            off = (found - claimed) / abs(found) if found else np.inf
            at = f"{found:.10g} against objective_ {claimed:.10g}, gap {gap:.1e}, {off:+.1e}"
            self.wrong(f"{what} {side} the claim", at)

    def _consistent(self, model: Any, f: np.ndarray, Ks: Grams) -> None:
        """decision_function(X) == kernel_(X, X_fit_) @ dual_coef_ + intercept_, and weights are allowed."""
        kernels = model.kernel_ if isinstance(model.kernel_, list) else [model.kernel_]
        alpha = np.asarray(model.dual_coef_).reshape(len(self.case.y), -1)
        intercept = np.atleast_1d(model.intercept_)
        for k, kernel in enumerate(kernels):
            columns = slice(None) if len(kernels) == 1 else slice(k, k + 1)
            again = kernel(self.case.X, model.X_fit_) @ alpha[:, columns] + intercept[columns]
            large = _largest(kernel, self.case.X)  # what cancels by centring counts too
            size = large * np.abs(alpha[:, columns]).sum(axis=0) + np.abs(intercept[columns])
            if np.any(np.abs(again - f[:, columns]) > 1e-13 * size + 1e-300):
                self.wrong("inconsistent", "decision_function is not kernel_ @ dual_coef_ + intercept_")
        self._new_samples(model, kernels, alpha, Ks)
        if np.any(np.asarray(model.weights_) < 0.0):
            self.wrong("weights", f"negative: {np.min(model.weights_)}")

    def _new_samples(self, model: Any, kernels: list[Any], alpha: np.ndarray, Ks: Grams) -> None:
        """Decisions between the training samples are those of the formula, up to the rounding of its sums."""
        X = self.case.X
        if X.ndim == 3:
            return
        between = 0.5 * (X[:5] + X[-5:][::-1])
        f = decisions(replace(self.case, X=between, y=between), model)
        for k, theta in enumerate(np.atleast_2d(model.weights_)):
            columns = slice(None) if len(kernels) == 1 else slice(k, k + 1)
            exact = np.atleast_1d(model.intercept_)[columns] + sum(
                theta[m] * (Ks.across(m, between) @ alpha[:, columns]) for m in np.flatnonzero(theta)
            )
            large = _largest(kernels[k], np.concatenate([X, between])) * np.abs(alpha[:, columns]).sum(axis=0)
            allowed = 1e-11 * (
                large + np.abs(model.intercept_).max()
            )  # the raw kernels of centred ones are larger
            if np.any(np.abs(exact - f[:, columns]) > allowed):
                worst = float(np.abs(exact - f[:, columns]).max())
                self.wrong("new samples", f"decisions are {worst:.2g} from the formula")

    # -- against others -------------------------------------------------------------------------
    def _others(self, model: Any, value: Value, Ks: Grams) -> None:
        bound = model.objective_ * (1.0 - model.dual_gap_)
        steps = self.case.model.max_iter if self.case.model.solver == "greedy" else 1000  # slow by nature
        tighter = self.case.change(tol=max(1e-3 * self.case.model.tol, 1e-9), max_iter=steps)
        other = fit(tighter)
        if other.error is None:
            P = primal(tighter, other.model).primal
            self._above(f"tol={tighter.model.tol:.0e}", P, bound, value)
            allowed = max(model.dual_gap_, SLACK) * abs(value.primal) + value.floor
            if self.case.model.max_iter >= 1000 and P > value.primal + allowed:
                self.wrong(
                    "worse when tighter", f"P {P:.8g} at tol {tighter.model.tol:.0e}, {value.primal:.8g}"
                )
            theirs = other.model.objective_ * (1.0 - other.model.dual_gap_)
            self._above("the looser fit", value.primal, theirs, value)
        grid = on_a_grid(self.case) if self.case.share == "family" and model.certified_ else None
        if grid is not None:
            self._above("a grid of the family", primal(grid, fit(grid).model).primal, bound, value)
        if self.case.share == "family":
            return
        if len(self.case.y) * len(Ks) <= 300:
            self._above("cvxpy", cvxpy_primal(self.case, model, Ks), bound, value)

    def _above(self, who: str, P: float, bound: float, value: Value) -> None:
        if not P >= bound - 1e-7 * abs(bound) - value.floor:
            excess = f"{(bound - P) / abs(P):.1e}"
            self.wrong("bound above a P", f"P {P:.10g} of {who} is {excess} below the bound {bound:.10g}")


def check(seed: int, share: str | None = None, thorough: bool = False) -> Check:
    """Draw the case of a seed and look at it."""
    found = Check(draw(seed, share))
    found.run(thorough)
    return found


def failures(seeds: Any, share: str | None = None, every: int = 5) -> list[Failure]:
    """What is wrong in the cases of these seeds, one of `every` looked at thoroughly."""
    return [f for seed in seeds for f in check(seed, share, seed % every == 0).failures]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", choices=SHARES)
    parser.add_argument("--every", type=int, default=5, help="one of so many is held against other solvers")
    given = parser.parse_args(arguments)
    kinds: dict[str, list[Failure]] = collections.defaultdict(list)
    outcomes: collections.Counter[str] = collections.Counter()
    for seed in range(given.seed, given.seed + given.cases):
        found = check(seed, given.share, seed % given.every == 0)
        outcomes[found.outcome[:70]] += 1
        for failure in found.failures:
            kinds[failure.kind].append(failure)
            print(failure, flush=True)
    print("\noutcomes:", *(f"  {count} {text}" for text, count in outcomes.most_common()), sep="\n")
    for kind, found_ones in sorted(kinds.items()):
        print(f"{kind}: {len(found_ones)}, smallest seed {min(f.seed for f in found_ones)}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
