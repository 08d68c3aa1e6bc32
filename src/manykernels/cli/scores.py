"""How good a model is: cross-validated beside its rivals, beside guessing and on permuted targets.

With a bar, and with what there is when it is stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.markup import escape

from .._arguments import number_of
from ..comparison.again import settled
from ..comparison.comparing import in_folds
from ..comparison.folds import Splits, make_folds
from ..comparison.results import Comparison, Permuted, said, verdict
from ..comparison.scores import Learner
from ..inspection.permutations import permuted
from ..report.held import HeldOut, Look, gathered
from ..report.verdict import the
from ._console import UserError, Voice, one_line
from .choices import PERMUTATIONS
from .data import Data
from .learned import Learned

_NO_SCORE = "leave the scores of `fit` out by --no-score"


def folds(data: Data, cv: int, repeats: int = 1, *, only_scores: bool = False) -> Splits:
    """Make the folds of all methods, or raise an error that names options if samples are too few.

    `only_scores` says that the command has nothing to offer without them.
    """
    classes, groups = data.task == "classification", data.sample_groups
    if groups is not None and (found := np.unique(groups).size) < cv:
        raise UserError(
            f"--sample-groups {data.grouped_by}: {number_of(found, 'group')} cannot be cut into {cv} folds. "
            f"Give --cv {found} or less" + ("." if only_scores else f", or {_NO_SCORE}.")
        )
    less = "Give fewer folds by --cv" + (", or add rows." if only_scores else f", add rows, or {_NO_SCORE}.")
    if cv > data.n:
        raise UserError(f"{number_of(data.n, 'sample')} cannot be cut into {cv} folds. {less}")
    try:
        return make_folds(data.y, classes=classes, cv=cv, n_repeats=repeats, groups=groups)
    except ValueError as error:
        said, fewer, _ = str(error).partition("; give a smaller cv.")
        raise UserError(f"{said}. {less}" if fewer else said) from error  # or no number of folds helps


def compared(
    voice: Voice,
    learners: Mapping[str, Learner],
    data: Data,
    splits: Splits,
    jobs: int = 1,
    keep: Mapping[str, Look] | None = None,
) -> Comparison:
    """Scores of all learners and of a constant; ``jobs`` fits at a time. Ctrl-C leaves those until then."""
    with voice.steps("scoring", len(splits) * len(learners)) as advance:
        how: dict[str, Any] = {"task": data.task, "n_jobs": jobs, "advance": advance, "keep": keep}
        how["groups"] = data.sample_groups
        found = in_folds(learners, data.X, data.y, splits, until_stopped=True, **how)
    for name, scores in found.scores.items():
        for text in scores.warned:
            voice.note(text, of=name)
    if any(scores.interrupted for scores in found.scores.values()):
        voice.stopped = True
        voice.note("Stopped by Ctrl-C; only the folds until then have scores.")
    return found


# -- one model ------------------------------------------------------------------------------------
_SECONDS = 30.0  # that the permutations may take, if nobody asked for more of them


@dataclass(frozen=True)
class Judged:
    """Scores of a model and its rivals, and of the model on permuted targets, or why there are none."""

    results: Comparison
    searched: str = ""
    permuted: Permuted | str | None = None
    held_out: HeldOut | None = None  # what the models of the folds say of samples they did not learn from

    @property
    def for_report(self) -> dict[str, Any]:
        told = {"scores": self.results, "searched": self.searched, "permuted": self.permuted}
        return told | {"held_out": self.held_out}

    def say(self, voice: Voice, facts: dict[str, Any]) -> dict[str, Any]:
        """Say how the model compares with guessing and its rivals, and where folds failed; also as values."""
        results = self.results
        for name, scores in results.scores.items():
            if scores.failed:
                voice.note(f"{'the model' if name == 'learned' else name} is not scored: it {scores.error}")
        if "learned" not in results.scores:
            return {"score": None}
        null = self.permuted if isinstance(self.permuted, Permuted) else None
        judged, rival = verdict(results, "learned", null), results.strongest_rival("learned")
        if judged is not None:
            how = {"anew": "searched anew in each", "before": "chosen on all samples: a bit too good"}
            folds = number_of(len(results.scores["learned"].folds), "fold")
            told = f"{folds}; {how[self.searched]}" if facts["chosen"] else folds
            voice.show(f"cross-validated ({told}): {escape(judged.sentence)}")
        found = None if rival is None else results.above_others("learned").get(rival)
        if rival is not None and found is not None:
            voice.show(escape(said("the model", the(rival), found)))
        return {
            "score": results.scores["learned"].as_dict(),
            "chance": results.chance.as_dict(),
            "permutation": None if null is None else null.as_dict(),
            "better_than_chance": None if judged is None else judged.better,
        }


def judged(
    voice: Voice,
    learned: Learned,
    splits: Splits,
    seconds: float,
    *,
    rivals: bool,
    permutations: int = PERMUTATIONS,
    jobs: int = 1,
) -> Judged:
    """A fitted model, which took so many seconds, in these folds."""
    own, searched = learned.to_score(voice, seconds, len(splits), jobs)
    learners = {"learned": own, **(learned.rivals() if rivals else {})}
    results = compared(voice, learners, learned.data, splits, jobs, {"learned": Look()} if rivals else None)
    scores = results.scores["learned"]
    data = learned.data
    held = gathered(scores, splits)
    if not permutations or not scores.complete or scores.interrupted:
        return Judged(results, searched, held_out=held)
    try:
        with voice.waiting(f"learning from {permutations} permutations of the target"):
            null = permuted(
                settled(learned.whole),
                scores,
                data.X,
                data.y,
                splits,
                permutations,
                groups=data.sample_groups,
                n_jobs=jobs,
                seconds=_SECONDS if permutations <= PERMUTATIONS else None,  # whoever asks for more waits
            )
    except KeyboardInterrupt:
        voice.stopped = True
        voice.note("Stopped by Ctrl-C; the test on permuted targets was skipped.")
        return Judged(results, searched, held_out=held)
    except ValueError as error:
        more = (
            f" --permutations {PERMUTATIONS + 1} runs it all the same." if "would take" in str(error) else ""
        )
        voice.note(f"the test on permuted targets was skipped: {one_line(error)}{more}")
        return Judged(results, searched, one_line(error), held)
    return Judged(results, searched, null, held)
