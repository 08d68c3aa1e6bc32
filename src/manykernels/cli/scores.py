"""Cross-validation on the command line: with a bar, and with what there is when it is stopped."""

from __future__ import annotations

from collections.abc import Mapping

from ..comparison.folds import Splits, cross_validate, make_folds
from ..comparison.results import METRIC, Comparison, chance, share_of
from ..comparison.scores import Learner
from ._console import UserError, Voice
from .data import Data


def folds(data: Data, cv: int, repeats: int = 1) -> Splits:
    """The same for all methods; an error in the words of the command line where there are too few samples."""
    try:
        return make_folds(data.y, classes=data.task == "classification", cv=cv, n_repeats=repeats)
    except ValueError as error:
        raise UserError(f"{error} The option is --cv; `fit` can do without scores by --no-score.") from error


def compared(
    voice: Voice, learners: Mapping[str, Learner], data: Data, splits: Splits, jobs: int = 1
) -> Comparison:
    """Scores of all learners and of a constant; ``jobs`` fits at a time. Ctrl-C leaves those until then."""
    with voice.steps("scoring", len(splits) * len(learners)) as advance:
        found = cross_validate(
            learners, data.X, data.y, splits, n_jobs=jobs, advance=advance, until_stopped=True
        )
    for name, scores in found.items():
        for text in scores.warned:
            voice.note(f"{name}: {text}")
    constant = chance(data.y, splits, classes=data.task == "classification")
    return Comparison(METRIC[data.task], found, constant, share_of(splits))
