"""Cells of raw tables: what is missing, and what text is as a number or a date."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from manykernels.kernels.cells import (
    PARSERS,
    is_category,
    is_missing,
    is_time,
    labels_of,
    numbers_of,
    texts_of,
    values_of,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("column", "missing"),
    [
        (pd.Series([1.0, NAN]), [False, True]),
        (pd.Series([1, None], dtype="Int64"), [False, True]),
        (pd.Series(["a", None, pd.NA, NAN]), [False, True, True, True]),
        (pd.Series(["a", None], dtype="string"), [False, True]),
        (pd.Series(["a", None], dtype="category"), [False, True]),
        (pd.to_datetime(pd.Series(["2020-01-01", None])), [False, True]),
        (np.array(["a", None, NAN, pd.NA, pd.NaT], dtype=object), [False, True, True, True, True]),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), [False, True]),
        (np.array([1.0, NAN]), [False, True]),
        (np.array([1, 2]), [False, False]),
        (pl.Series([1.0, None, NAN]), [False, True, True]),
        (pl.Series(["a", None]), [False, True]),
    ],
)
def test_missing_cells(column, missing):
    assert is_missing(column).tolist() == missing
    assert [value is None for value in values_of(column)] == missing


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3.4", 3.4),
        ("-2", -2.0),
        ("<0.5", 0.5),
        (">100", 100.0),
        ("≤ 7", 7.0),
        (">= 7", 7.0),
        ("1,200", 1200.0),
        ("1,200,300.5", 1200300.5),
        ("12 %", 12.0),
        ("1e-3", 1e-3),
        (".5", 0.5),
        ("inf", np.inf),
        ("0", 0.0),
        ("0.25", 0.25),
        ("3,4", None),
        ("12,34,5", None),
        ("007", None),
        ("1_000", None),
        ("3.4 mg", None),
        ("three", None),
        ("1.2.3", None),
    ],
)
def test_numbers_in_text(text, number):
    assert PARSERS["text"](text) == number


@pytest.mark.parametrize("text", ["NA", "n/a", "nan", "-", "?", "NULL", "."])
@pytest.mark.parametrize("form", PARSERS)
def test_words_for_missing(text, form):
    assert np.isnan(PARSERS[form](text))


def test_decimal_commas():
    assert PARSERS["decimal comma"]("3,4") == 3.4 and PARSERS["decimal comma"]("<1,25") == 1.25


@pytest.mark.parametrize(
    ("form", "text", "day"),
    [
        ("date", "1970-01-02", 1.0),
        ("date", "1970/1/2", 1.0),
        ("date", "1970-01-02 12:00", 1.5),
        ("date", "1970-01-02T12:00:00+12:00", 1.0),
        ("d.m.y", "3.2.1970", 33.0),
        ("d/m/y", "03/02/1970", 33.0),
        ("m/d/y", "02/03/1970", 33.0),
        ("date", "1970-13-01", None),
        ("d.m.y", "31.02.1970", None),
        ("m/d/y", "13/01/1970", None),
        ("date", "soon", None),
    ],
)
def test_dates_are_days(form, text, day):
    assert PARSERS[form](text) == day


@pytest.mark.parametrize(
    ("column", "how", "numbers"),
    [
        (pd.Series([True, False]), "", [1.0, 0.0]),
        (pd.Series([1, None], dtype="Int64"), "", [1.0, NAN]),
        (pd.Series([Decimal("1.5"), None]), "", [1.5, NAN]),
        (pl.Series([True, None]), "", [1.0, NAN]),
        (np.array([1, None, "x"], dtype=object), "", [1.0, NAN, NAN]),
        (pd.Series([" 3.4 ", "<0.5", "lost", None]), "text", [3.4, 0.5, NAN, NAN]),
        (pd.to_datetime(pd.Series(["1970-01-03", None])), "date", [2.0, NAN]),
        (pd.to_datetime(pd.Series(["1970-01-03"])).dt.tz_localize("UTC"), "date", [2.0]),
        (pd.to_timedelta(pd.Series(["36h", None])), "date", [1.5, NAN]),
        (pl.Series([date(1970, 1, 3), None]), "date", [2.0, NAN]),
        (pl.Series([datetime(1970, 1, 3, 12)]), "date", [2.5]),
        (pd.Series([date(1970, 1, 3), None]), "date", [2.0, NAN]),
        (pd.Series(["1970-01-03", "?"]), "date", [2.0, NAN]),
    ],
)
def test_columns_as_numbers(column, how, numbers):
    np.testing.assert_array_equal(numbers_of(column, how), numbers)


def test_kinds_by_type():
    assert is_category(pd.Series([1, 2], dtype="category")) and is_category(
        pl.Series(["a"], dtype=pl.Categorical)
    )
    assert not is_category(pd.Series(["a"])) and not is_category(np.array(["a"], dtype=object))
    assert is_time(pl.Series([date(1970, 1, 1)])) and not is_time(pd.Series([1.0]))


def test_labels_and_texts():
    column = pd.Series([" a ", "", None, 3])
    assert labels_of(column).tolist() == ["a", None, None, "3"]
    assert texts_of(column).tolist() == [" a ", "", "", "3"]
