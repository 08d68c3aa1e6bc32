"""Models of the commands: fitting, saving, scoring and reports."""

from __future__ import annotations

import os
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..comparison.again import anew, settled
from ..comparison.grouped import splitter_of
from ..comparison.scores import Learner
from ..estimators import copies_of, face_of, finalists_of, model_of, opened
from ..inspection import weight_stability
from ..persistence import save
from ..report import baseline_models, report_data, width_stability, write_report
from ..selection.splits import FOLDS
from ..solvers import stoppable
from ._console import Voice
from .data import Data
from .resamples import Again, resampled
from .tables import facts_without_kernels, model_facts
from .work import searches_again


@dataclass(frozen=True)
class Learned:
    """An estimator, often behind a preparation of columns, and the data that it learns from."""

    whole: Any
    data: Data

    def fit(self, voice: Voice, jobs: int = 1, checkpoint: Path | None = None) -> None:
        """Fit, with a progress bar if there is a terminal."""
        voice.flush()
        last = opened(self.whole).last
        known = last.get_params(deep=False)
        while_fitting: dict[str, Any] = {"n_jobs": jobs} if "strategy" in known else {}
        if "checkpoint" in known:
            while_fitting["checkpoint"] = checkpoint
        if voice.interactive and "verbose" in known:
            while_fitting["verbose"] = 1
        last.set_params(**while_fitting)
        barred = "verbose" in while_fitting
        with nullcontext() if barred else voice.waiting(f"learning from {self.data.n} samples"):
            self.whole.fit(self.data.X, self.data.y, **self._groups())
        last.set_params(**{name: known[name] for name in while_fitting})
        if barred and hasattr(last, "best_estimator_"):
            last.best_estimator_.set_params(verbose=known["verbose"])

    def _groups(self) -> dict[str, Any]:
        """Arguments that tell a search which samples belong together; its folds then do not split them."""
        groups, parts = self.data.sample_groups, opened(self.whole)
        given = parts.given_groups(groups)
        if given and parts.last.cv is None:
            count, classes = min(FOLDS, np.unique(groups).size), self.data.task != "regression"
            parts.last.set_params(cv=splitter_of(count, classes=classes, grouped=True))
        return given

    def fit_until_stopped(self, voice: Voice) -> bool:
        """Whether Ctrl-C ended it before it was done; it then is what was learned until then."""

        def said() -> None:
            warnings.simplefilter("ignore", ConvergenceWarning)  # whoever stops it knows
            if not voice.quiet:  # not by the console, which may be in the middle of a line
                os.write(2, b"\nstopping after this iteration; Ctrl-C again leaves at once.\n")

        with warnings.catch_warnings(), stoppable(said) as wish:
            self.fit(voice)
            if stopped := wish.is_set():
                voice.note(
                    "Stopped by Ctrl-C: these are the weights until then, nothing was scored or written."
                )
        return stopped

    def save(self, path: Path, about: dict[str, Any], force: bool) -> None:
        """Save the model, with what `predict` must know of the data."""
        self.whole.manykernels_ = about
        save(self.whole, path, overwrite=force)

    # -- what is told of it ---------------------------------------------------------------------
    def facts(self) -> dict[str, Any]:
        """Weights, certificate and views, as plain values."""
        parts = opened(self.whole)
        try:
            model, _ = model_of(self.whole)
        except TypeError:  # of another package
            return facts_without_kernels(type(parts.last).__name__)
        found = parts.searched
        return model_facts(
            model, None if found is None else found.best, "" if found is None else found.end_of_path
        )

    def to_score(self, voice: Voice, seconds: float, cv: int, jobs: int) -> tuple[Learner, str]:
        """Return the model to score in the folds, and whether its search chooses "anew" or "before"."""
        search = opened(self.whole).searched
        if search is not None and searches_again(voice, search.comparison["seconds"], seconds, cv, jobs):
            return anew(self.whole), "anew"
        return settled(self.whole), "before"

    def rivals(self) -> dict[str, Learner]:
        """Return the models that it is compared with."""
        return baseline_models(self.whole, self.data.X)

    def settled(self) -> Any:
        """Return the model, not fitted, with the choice of a search in place of the search."""
        return opened(self.whole).settled()

    def spread(self, voice: Voice, jobs: int) -> dict[str, Any]:
        """Compute how weights or widths, and the choice of a search, vary over halves of the data."""
        model, X = model_of(self.whole, self.data.X)
        face, parts, y = face_of(self.whole)[0], opened(self.whole), self.data.y
        searched = face if parts.searched is None else parts.last
        finalists, half = finalists_of(searched, X, y), np.arange(0, len(y), 2)
        learn = copies_of(face).relearn if finalists is None else finalists.choose
        again = Again(
            partial(learn, X, y, half),
            partial(weight_stability, searched, X, y, sample_groups=self.data.sample_groups),
            partial(width_stability, face, X, y),
            1 if finalists is None else len(finalists.models),
            not copies_of(face).classifies or int(np.unique(y, return_counts=True)[1].min()) > 1,
        )
        return resampled(voice, model, face.kernels, again, jobs)

    def write_report(self, path: Path, told: dict[str, Any], force: bool) -> None:
        """Write the report, with title, scores and so on."""
        write_report(report_data(self.whole, self.data.X, self.data.y, **told), path, overwrite=force)
