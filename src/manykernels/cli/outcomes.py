"""Times to an event from the columns of a table: --time, --event, --entry and --strata."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._arguments import and_more, number_of
from ..fitting.survival import CENSORED, as_truth
from ..kernels.cells import MISSING, labels_of
from ._console import UserError, Voice
from .ids import numbered
from .sources import Asked
from .targets import Target, find_column, in_numbers, quoted, say_left_out

OPTIONS = {"time": "--time", "event": "--event", "entry": "--entry", "stratum": "--strata"}
_ALIKE = 0.9995  # rank correlation from which on a column is the time in other units
_ROWS = 20  # that two columns must have in common to be compared


def require_outcome(asked: Asked) -> None:
    """Raise an error for options that do not go together."""
    given = {OPTIONS[part]: name for part, name in asked.outcome.items()}
    said = " ".join(f"{option} {name}" for option, name in given.items())
    if asked.task == "survival" and not given:
        raise UserError("--task survival needs --time (when?) and --event (did it happen?), with columns.")
    if given and asked.task not in ("auto", "survival"):
        raise UserError(f"{said} was given with --task {asked.task}; leave one of them out.")
    if given and asked.target:
        raise UserError(
            f"{said} was given with --target {asked.target}: both say what is to be predicted. Leave one out."
        )
    for option, what in (
        ("--time", "when was each sample seen last?"),
        ("--event", "did it have the event then?"),
    ):
        if given and option not in given:
            raise UserError(f"{said} was given without {option}: {what} Name the column by {option} COLUMN.")


def event_times(frame: pd.DataFrame, asked: Asked, voice: Voice) -> Target:
    """Records of event and time (and entry and stratum), of the rows that have all of them."""
    event, value = _event_column(frame, asked.outcome["event"])
    names = {"time": find_column(frame, asked.outcome["time"], "--time"), "event": event}
    for part in ("entry", "stratum"):
        if part in asked.outcome:
            names[part] = find_column(frame, asked.outcome[part], OPTIONS[part])
    if len(set(names.values())) < len(names):
        raise UserError(
            "--time, --event, --entry and --strata name the same column twice; each needs its own."
        )
    found: dict[str, Any] = {"time": _times(frame[names["time"]], names["time"], voice)}
    found["event"], known = _events(frame[event], event, value)
    known &= ~np.isnan(found["time"])
    if "entry" in names:
        found["entry"] = _times(frame[names["entry"]], names["entry"], voice, "--entry")
        known &= ~np.isnan(found["entry"])
    if "stratum" in names:
        found["stratum"] = labels_of(frame[names["stratum"]])
        known &= np.array([label is not None for label in found["stratum"]], dtype=bool)
    say_left_out(int((~known).sum()), list(names.values()), voice)
    _require_order(found, known, names, frame.index)
    kinds = {"event": np.bool_, "time": np.float64, "entry": np.float64, "stratum": object}
    y = np.empty(int(known.sum()), dtype=[(part, kinds[part]) for part in kinds if part in found])
    for part, values in found.items():
        y[part] = values[known]
    _require_events(y, event)
    return Target(y, event, "survival", known, list(names.values()), names)


def warn_of_copies(X: pd.DataFrame, y: NDArray[Any], outcome: dict[str, str], voice: Voice) -> None:
    """Say which columns look like the outcome once more: the order of the times, or who had the event."""
    when = pd.Series(y["time"]).rank()
    alike = [str(name) for name, column in X.select_dtypes("number").items() if _ordered_alike(column, when)]
    same = [str(name) for name, column in X.items() if _tells_events(column, y["event"])]
    for names, what in ((alike, "order the samples as {time!r} does"), (same, "tell who had {event!r}")):
        if names:
            voice.note(
                f"the values of {quoted(names)} {what.format(**outcome)}: if that is the outcome once more, "
                "or known only afterwards, the scores mean nothing. --drop leaves a column out."
            )


def _tells_events(column: pd.Series, event: NDArray[np.bool_]) -> bool:
    """Whether a column has two values, one for those with the event and one for the others."""
    there = column.notna().to_numpy()
    if there.sum() < _ROWS or event[there].all() or not event[there].any():
        return False
    with_event, without = column[there & event].unique(), column[there & ~event].unique()
    return len(with_event) == len(without) == 1 and bool(with_event[0] != without[0])


def _ordered_alike(column: pd.Series, when: pd.Series) -> bool:
    there = column.notna().to_numpy()
    if there.sum() < _ROWS:
        return False
    a, b = column[there].rank().to_numpy(dtype=float), when[there].to_numpy(dtype=float)
    if a.std() == 0.0 or b.std() == 0.0:
        return False
    return abs(float(np.corrcoef(a, b)[0, 1])) > _ALIKE


# -- columns --------------------------------------------------------------------------------------
def _event_column(frame: pd.DataFrame, given: str) -> tuple[str, list[str] | None]:
    """The column of --event died, or of --event died=yes with its values that are the event."""
    name, sign, values = given.rpartition("=")
    ends = any(str(column).endswith(f"__{given}") for column in frame.columns)
    if not sign or given in frame.columns or ends:
        return find_column(frame, given, "--event"), None
    meant = [value.strip() for value in values.split(",") if value.strip()]
    if not meant:
        raise UserError(f"--event {given}: expected COLUMN=VALUE, such as {name or 'died'}=yes.")
    return find_column(frame, name, "--event"), meant


def _times(column: pd.Series, name: str, voice: Voice, option: str = "--time") -> NDArray[np.float64]:
    """As numbers; NaN where a cell is empty."""
    if pd.api.types.is_timedelta64_dtype(column):
        return np.asarray(column.dt.total_seconds().to_numpy(dtype=float) / 86400.0)
    read = in_numbers(column, f"the column {name!r} of {option}", "numbers", voice)
    if not pd.api.types.is_numeric_dtype(read) or pd.api.types.is_bool_dtype(read):
        some = next((str(label) for label in labels_of(column) if label is not None), "nothing")
        raise UserError(
            f"{option} {name}: the column holds {some!r}, for example; expected numbers, such as the days or "
            "months from the start (diagnosis, say) until then. Of two dates, give their difference."
        )
    return np.asarray(read.to_numpy(dtype=float, na_value=np.nan))


def _events(
    column: pd.Series, name: str, meant: list[str] | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each row had the event, and whether that is known."""
    labels = [_plain(label) for label in labels_of(column)]
    known = np.array([label is not None and label.lower() not in MISSING for label in labels], dtype=bool)
    kinds = sorted({str(label) for label, there in zip(labels, known, strict=True) if there})
    if not kinds:
        raise UserError(f"--event {name}: the column is empty; expected who had the event, and who had not.")
    if meant is not None:
        said = [_plain(value) for value in meant]
        unknown = [value for value in said if value not in kinds]
        if unknown:
            raise UserError(
                f"--event {name}={','.join(meant)}: no row holds {quoted(unknown)}; expected one of "
                f"{quoted(kinds)}."
            )
        return np.isin(np.array(labels, dtype=str), said), known
    truth = as_truth(kinds)
    if truth is None:
        example = kinds[-1]
        raise UserError(
            f"--event {name}: the column holds {quoted(kinds)}; which of them says that the event was "
            f"observed? Say it: --event {name}={example}, for example (several: {name}=A,B)."
        )
    if name.split("__")[-1].lower() in CENSORED:
        raise UserError(
            f"--event {name}: does {kinds[-1]!r} mean that a sample is censored, or that the event was "
            f"observed? Say which value is the event: --event {name}={kinds[0]}, for example."
        )
    happened = {kind for kind, true in zip(kinds, truth, strict=True) if true}
    return np.array([label in happened for label in labels], dtype=bool), known


def _plain(label: Any) -> Any:
    """1.0 is 1, as files with gaps have it."""
    text = str(label)
    return text[:-2] if label is not None and text.endswith(".0") and text[:-2].isdigit() else label


# -- what cannot be -------------------------------------------------------------------------------
def _require_order(found: dict[str, Any], known: Any, names: dict[str, str], rows: Any) -> None:
    time = found["time"]
    bad = known & ~(np.isfinite(time) & (time >= 0.0))
    if bad.any():
        words = {row: f"{value:g}" for row, value in zip(rows, time, strict=True)}
        raise UserError(
            f"--time {names['time']}: negative or infinite in {numbered(rows[bad], words)}; expected numbers "
            "from 0 on. Correct or empty these cells: rows without a time are left out."
        )
    late = known & ~(found.get("entry", np.full(len(time), -np.inf)) < time)
    if late.any():
        raise UserError(
            f"--entry {names['entry']}: not before {names['time']!r} in {numbered(rows[late])}; expected the "
            "time from which on a sample was seen. Correct or empty these cells: such rows are left out."
        )


def _require_events(y: NDArray[Any], name: str) -> None:
    if not len(y):
        raise UserError(
            "no row has both a time and an event: there is nothing to learn. Are these the right columns?"
        )
    if not y["event"].any():
        raise UserError(
            f"--event {name}: no row says that the event was observed, so that there is nothing to learn. Is "
            f"it the right column? --event {name}=VALUE says which value is the event."
        )


def said_of(y: NDArray[Any], outcome: dict[str, str]) -> str:
    """Describe the training data in a line."""
    events = number_of(int(y["event"].sum()), "event")
    strata = "" if "stratum" not in outcome else f" in {np.unique(y['stratum'].astype(str)).size} strata"
    return f"{events} ({outcome['event']!r} by {outcome['time']!r}){strata}"


def read_moments(given: str) -> list[float]:
    """--times 12,24,60."""
    try:
        times = [float(part) for part in given.split(",") if part.strip()]
    except ValueError:
        times = []
    if not times or not all(np.isfinite(t) and t >= 0.0 for t in times):
        raise UserError(f"--times {given}: expected numbers from 0 on with commas between, such as 12,24,60.")
    return times


def survival_columns(
    baseline: Any, risk: Any, stratum: Any, times: list[float], outcome: dict[str, str], voice: Voice
) -> dict[str, Any]:
    """The median, and the survival at each time, of samples with these risks."""
    from ..survival import median_time

    if baseline.labels is not None and stratum is None:
        if times:
            raise UserError(
                "the model has strata, each with its own survival curve, and the data lack the column "
                f"{outcome['stratum']!r} that names the stratum of each sample. Add this column, or leave "
                "--times out."
            )
        voice.note(f"medians are left out: the data lack the column {outcome['stratum']!r} of strata.")
        return {}
    median = np.asarray(median_time(baseline.survival(risk, stratum)))
    never = int(np.isinf(median).sum())
    if never:
        voice.note(
            f"the median of {number_of(never, 'sample')} is inf: their predicted survival stays above "
            "50 % as long as training samples were observed."
        )
    S = baseline.survival_at(risk, times, stratum) if times else np.empty((len(median), 0))
    return {"median time": median} | {f"survival at {t:g}": S[:, j] for j, t in enumerate(times)}


def strata_of(found: Any, name: str, labels: Any) -> NDArray[Any]:
    """The strata of new samples, which must be those that were learned from."""
    given = labels_of(found)
    missing = [i for i, label in enumerate(given) if label not in set(labels)]
    if missing:
        words = {i: str(given[i]) for i in missing}
        raise UserError(
            f"{name!r} is not a stratum of the model in {numbered(missing, words)}; expected one of "
            f"{and_more([str(v) for v in labels], 5)}. Correct these cells, or leave the rows out."
        )
    return np.asarray(given, dtype=object)
