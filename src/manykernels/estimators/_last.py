"""The last stage of a search over many rows: the chosen model, on all of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from .._fast.stopping import goes_on, within
from .._pieces import current, fingerprint, kept, part
from ..approx import Nystroem
from ..families import resolve_kernels
from ..families.remarks import quiet_about_tables
from ..fitting.layout import take
from ..fitting.model import Model
from ..fitting.options import Options
from ..fitting.outside import is_mapped
from ..fitting.samples import AnySamples, read
from ..selection.calibration import Calibration
from ..selection.data import Index
from ..selection.landmarks import Fit, Held, around, fit_landmarks, grow
from ..selection.paths import refit_path
from ..selection.plan import LANDMARKS, ROWS
from ..selection.race import Contender, model_of, names_among, near, with_kernels
from ..selection.widths import has_widths, learn_again

if TYPE_CHECKING:
    from ._large import Round, Stages

_FEWEST = 100  # landmarks that there are in any case
_FEATURES = 2000  # explicit features in all, for losses that need every sample


def last_stage(stages: Stages, options: Options, found: Round) -> BaseEstimator:
    """Fit the chosen model on all rows: exactly, at landmarks, or by explicit features of its kernels."""
    search, data, best = stages.search, stages.data, found.contenders[0]
    assert best.strategy.options is not None
    adjusted = search.covariates is not None or data.covariates is not None
    if stages.plan.exact or adjusted or not best.strategy.options.loss.quadratic:
        return _fitted(stages, best)
    growing = _Landmarks(stages, options, found, stages.rng.permutation(found.train))
    chosen, fit = growing.best()
    stages.publish(chosen, fit.score, fit.C)
    if data.classes is not None:
        f = np.asarray(fit.decision, dtype=float)
        search.calibration_ = Calibration.fit(f, data.y[found.held], data.classes, data.cost(found.held))
    model = _template(chosen, fit.C)
    # of a file one row was looked at, and of these rows every cell
    some = chosen.strategy.given if is_mapped(data.X) else None
    layout = (stages.layout if some is None else some.layout).of(model.get_params(deep=False)["kernels"])
    learned = fit.finish(options)
    model._publish(replace(learned, layout=layout, target=stages.samples.target, n_jobs=search.n_jobs))
    return model


def _template(chosen: Contender, C: float) -> Any:
    """Make the estimator of this choice, not fitted."""
    strategy, step = chosen.strategy, chosen.step
    model: Any = clone(strategy.template).set_params(**strategy.params(step.norm, step.only, float(C)))
    return model.set_params(verbose=0)


# -- as a user would --------------------------------------------------------------------------------
def _fitted(stages: Stages, best: Contender) -> BaseEstimator:
    """Fit the chosen model on all rows: exactly, or by explicit features of its kernels."""
    data, plan = stages.data, stages.plan
    model = _template(_renamed(stages, best), best.step.C)
    with quiet_about_tables(), warnings.catch_warnings(), within(max(stages.left(), 1.0)):
        if stages.search.time_budget is not None:
            warnings.simplefilter("ignore", ConvergenceWarning)
        if not plan.exact:
            count = int(np.clip(_FEATURES // max(1, best.step.n_active), 50, 500))
            model.set_params(approx=Nystroem(count, "uniform"))  # columns may be of any kind
            stages.said.append(
                "Last: this loss, or the covariates, need all rows in memory, so explicit features "
                f"({model.approx!r}) stand for each kernel."
            )
        elif model._options().listed:
            stages.said.append(f"Last: exact kernels on all {plan.n} rows.")
            return _exact(stages, best, model)
        fitted: BaseEstimator = kept(current(), ("refit",), data.fitted, model)
        return fitted


def _renamed(stages: Stages, best: Contender) -> Contender:
    """Rename the kernels to the names that they have on all rows."""
    spec, given = best.strategy.template.get_params(deep=False)["kernels"], stages.data.given
    if best.step.only is None or given is None:
        return best
    layout = stages.layout
    kernels = resolve_kernels(layout.of(spec).seen(spec), given.X, given.weight, layout.names)
    return replace(best, step=replace(best.step, only=names_among(kernels, best.step.only)))


def _exact(stages: Stages, best: Contender, model: Any) -> BaseEstimator:
    """Fit the exact model at one C, with the samples as they were read."""
    data = stages.data
    given = data.X, data.targets, data.weight, data, data.covariates
    read_again = stages.search._with_samples(best.strategy, *given).given
    learned, *_ = refit_path(model._options(), read_again, [])
    model._publish(learned)
    fitted: BaseEstimator = model
    return fitted


# -- at landmarks -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Landmarks:
    """Kernels at landmarks, which are the first of the rows in a random `order`."""

    stages: Stages
    options: Options
    found: Round
    order: Index

    def best(self) -> tuple[Contender, Fit]:
        """Find the best kernel, at as many landmarks as lower the error."""
        stages, few = self.stages, self.stages.plan.steps[0]
        while few > _FEWEST and not stages.affords(stages.plan.pass_seconds(few)):
            few = max(few // 2, _FEWEST)
        going = near(self.found.contenders)
        again = self._again()
        going += [] if again is None else [again]
        models = [model_of(one, self.found.learned) for one in going]
        chosen, first = 0, None
        if len(going) > 1:
            rows = self._rows(few)
            fits = [
                self._fit(m, few, self._costs(one.step.C, 2), rows)
                for m, one in zip(models, going, strict=True)
            ]
            chosen = int(np.argmin([fit.error for fit in fits]))
            first = fits[chosen] if rows is None else None
        one, model = going[chosen], models[chosen]
        if first is None:
            first = self._fit(model, few, self._costs(one.step.C, 2))

        def more(count: int, last: float) -> Fit:
            return self._fit(model, count, sorted({*self._costs(one.step.C, 1), last}))

        fit, tried = grow(first, [m for m in stages.plan.steps if m > few], more, self._affordable)
        words = ", ".join(f"{error:.4g} with {count}" for count, error in tried)
        learned = ", learned again from more rows" if one is again else ""
        stages.said.append(
            f"Last: the kernels and weights of {one.strategy.name}{learned}. The function of them is learned "
            f"from all {stages.plan.n} rows at {fit.count} landmarks. Errors on {self.found.held.size} "
            f"held-out rows: {words} landmarks. These errors also chose C. Then the held-out rows joined the "
            "others."
        )
        return one, fit

    def _again(self) -> Contender | None:
        """The best model with a width for each feature, whose widths and weights more rows say anew."""
        stages, plan = self.stages, self.stages.plan
        wide = [
            one
            for one in self.found.contenders
            if one.known is not None and one.step.weights is not None and has_widths(one.known.kernels)
        ]
        if not wide or not stages.affords(plan.widths_seconds):
            return None
        (one, *_), rows = wide, self.order[: plan.widths]
        known, weights = one.known, one.step.weights
        assert known is not None and weights is not None
        if weights.ndim != 1:
            return None
        sorted_rows, back = np.unique(rows, return_inverse=True)  # rows of a cluster come in rising order
        X = take(stages.samples.take(sorted_rows), back)
        Y, cost = stages.samples.take_targets(sorted_rows)[back], stages.data.cost(rows)
        given = known.kernels, one.step.C * weights, X, Y, cost, LANDMARKS, stages.data.classes is not None
        with within(max(stages.left(), 0.0)):
            found = kept(current(), ("widths", fingerprint((one.step.C, weights, rows))), learn_again, *given)
        stages.shown.step("widths", plan.widths_seconds)
        return with_kernels(one, found.kernels, found.weights)

    def _costs(self, C: float, steps: int) -> list[float]:
        given = self.stages.search.Cs
        return around(C, steps) if given is None else list(self.found.contenders[0].strategy.Cs)

    def _affordable(self, count: int) -> bool:
        return goes_on(0, 1) and self.stages.affords(self.stages.plan.pass_seconds(count))

    def _rows(self, few: int) -> Index | None:
        """Draw the rows on which kernels are compared; None means all rows."""
        held = self.found.held
        if self.stages.plan.n <= ROWS:
            return None
        return np.unique(np.concatenate([self.order[: max(ROWS - held.size, few)], held]))

    def _spare(self) -> Index | None:
        """Rows that the split of the user's `cv` does not let a model learn from that the others judge.

        They are of a group of which other rows are held out, or later in time, or in a gap.
        """
        used = np.union1d(self.found.train, self.found.held)
        spare = np.setdiff1d(self.stages.rows, used, assume_unique=True)
        return spare if spare.size else None

    def _fit(self, model: Model, count: int, Cs: list[float], rows: Index | None = None) -> Fit:
        stages, held, landmarks = self.stages, self.found.held, self.order[:count]
        data, samples = stages.data, stages.samples
        judge: Any = data.judge(self.found.train, held, data.classes)
        spare = self._spare() if rows is None else None
        if rows is not None:
            samples = _in_memory(stages, rows)
            held, landmarks = np.searchsorted(rows, held), np.searchsorted(rows, landmarks)
        with part("landmarks", rows is None):
            out = Held(held, samples.take(held), judge, spare)
            fit = fit_landmarks(model, samples, out, landmarks, Cs, self.options, stages.search.Cs is None)
        stages.shown.step(f"{count} landmarks", stages.plan.pass_seconds(count) * samples.n / stages.plan.n)
        return fit


def _in_memory(stages: Stages, rows: Index) -> AnySamples:
    """Load some of the samples into memory."""
    data, search = stages.data, stages.search
    if data.given is not None:
        return data.given.part(rows).in_place()
    options = Options(type(search).__name__, kernels=search.kernels, approx=Nystroem())
    weight = None if data.weight is None else data.weight[rows]
    given = read(options, stages.samples.take(rows), data.y[rows], weight, search._target(), quiet=True)
    return given.in_place()
