"""Predictions as tables: their columns, the files they are written to, and how those are known again."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._arguments import number_of, shown
from ..estimators import face_of
from ._console import UserError, Voice
from .data import New
from .outcomes import read_moments, strata_of, survival_columns

KINDS = (".csv", ".parquet", ".npy")
CONFIDENCE = {"predict_proba": "probability", "decision_function": "decision"}  # by method, the best first
RISK = "risk"  # what the predictions of survival models are called
_OF_TIMES = ("median time", "survival at ")  # columns that stand beside it
_INTERVAL = ("lower end", "upper end")
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # with the wide forms, which some spreadsheets take too
_HEADER = 1 << 20  # bytes that the first line of a table may have


def names_of_rows(ids: pd.Series | None, n: int, target: str) -> dict[str, Any]:
    """The first column: the ids of the samples, or else the numbers of the rows as messages count them.

    So that an answer can be sorted by what was predicted, and its rows are still known.
    """
    if ids is not None and ids.name != target:
        return {str(ids.name): ids.to_numpy()}
    return {"row number" if target == "row" else "row": np.arange(1, n + 1)}


def confidence(method: str, values: Any, classes: Any) -> dict[str, Any]:
    """Probabilities or decision values, whichever the method gave: one column, or one for each class."""
    title, values = CONFIDENCE[method], np.asarray(values)
    if values.ndim == 1:
        return {f"{title} of {classes[1]}": values}
    return {f"{title} of {c}": values[:, k] for k, c in enumerate(classes)}


def beside_risks(
    model: Any, risk: Any, new: New, about: Any, times: str | None, voice: Voice
) -> dict[str, Any]:
    """Medians, and survival at the times that are asked for; nothing of other models."""
    if about["task"] != "survival":
        if times is not None:
            raise UserError(
                f"--times {times}: the model predicts {about['target']!r}, not the time to an "
                "event. Leave --times out."
            )
        return {}
    baseline, moments = face_of(model)[0].baseline_, [] if times is None else read_moments(times)
    stratum = new.stratum
    if baseline.labels is not None and stratum is not None:
        stratum = strata_of(stratum, about["outcome"]["stratum"], baseline.labels)
    return survival_columns(baseline, risk, stratum, moments, about["outcome"], voice)


def ends_of_intervals(model: Any, X: Any, coverage: float | None) -> dict[str, Any]:
    """Two columns beside the predictions of numbers, where they are asked for."""
    if coverage is None:
        return {}
    if not 0.0 < coverage < 1.0:
        raise UserError(f"--interval {coverage:g}: expected a share between 0 and 1, such as 0.9.")
    if not hasattr(model, "predict_interval"):
        raise UserError(
            f"--interval {coverage:g}: the model was learned without intervals. Learn it anew with "
            "`manykernels fit … --intervals`, for numbers and with --method auto."
        )
    ends = model.predict_interval(X, coverage)
    return {f"{name} ({100 * coverage:g} %)": ends[:, k] for k, name in enumerate(_INTERVAL)}


def in_bytes(frame: pd.DataFrame, predicted: Any, kind: str) -> bytes:
    """The contents of a file with predictions."""
    buffer = io.BytesIO()
    if kind == ".csv":
        buffer.write(frame.to_csv(index=False).encode())
    elif kind == ".parquet":
        frame.to_parquet(buffer, index=False)
    else:
        plain = predicted.astype(str) if predicted.dtype == object else predicted
        np.save(buffer, plain, allow_pickle=False)
    return buffer.getvalue()


# -- spreadsheets ---------------------------------------------------------------------------------
def neutralised(frame: pd.DataFrame, voice: Voice) -> pd.DataFrame:
    """Put ' before text that a spreadsheet would run as a formula, such as =HYPERLINK(…)."""
    formulas = [str(name) for name in frame.columns if _is_formula(name)]
    new = frame.rename(columns={name: f"'{name}" for name in formulas})
    for j, name in enumerate(new.columns):
        if new[name].dtype.kind not in "biufc":
            found = [_is_formula(value) for value in frame.iloc[:, j]]
            formulas += [str(value) for value, bad in zip(frame.iloc[:, j], found, strict=True) if bad]
            new[name] = [f"'{v}" if bad else v for v, bad in zip(frame.iloc[:, j], found, strict=True)]
    if formulas:
        voice.note(
            f"a spreadsheet would run {number_of(len(formulas), 'cell')} such as {shown(formulas[0])} as a "
            "formula: each is written with ' before it. --verbatim writes them as they are."
        )
    return new


def _is_formula(value: Any) -> bool:
    """Text that begins as formulas do; signs alone, and numbers, are none."""
    text = value.strip() if isinstance(value, str) else ""
    if len(text) < 2 or not text.startswith(_FORMULA):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


# -- known again ----------------------------------------------------------------------------------
def is_predictions(path: Path) -> bool:
    """Whether `predict` wrote a file, as far as its columns tell: one column alone may be anybody's."""
    kind = path.suffix.lower()
    names: list[str] = []
    try:
        if kind == ".csv":
            with path.open("rb") as file:
                line = file.readline(_HEADER).decode()
            names = next(csv.reader([line]), [])
        elif kind == ".parquet":
            import pyarrow.parquet

            names = pyarrow.parquet.read_schema(path).names
    except MemoryError:
        raise
    except Exception:  # whatever it is, it is no table of ours
        return False
    starts = (*(f"{title} of " for title in CONFIDENCE.values()), *_OF_TIMES, *_INTERVAL)
    known = [name for name in names if name.startswith(starts)]  # behind the name of the row and the target
    return bool(known) and names[2:] == known
