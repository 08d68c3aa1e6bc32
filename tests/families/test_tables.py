"""What columns of a raw table are taken for, from nothing but the samples at hand, and what is said of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from manykernels.families.remarks import TableWarning, look_at_new, remarks, warn_of
from manykernels.families.tables import read_columns, require_moderate

RNG = np.random.RandomState(0)
N = 60
SMILES = ["".join(RNG.choice(list("CNO=c1()"), RNG.randint(6, 15))) for _ in range(N)]
HOSPITALS = [f"hospital {i}" for i in range(12)]


def with_noise(**columns):
    return pd.DataFrame({"noise": RNG.randn(N), **columns})


def kinds(table):
    found = dict.fromkeys(table.numbers, "number") | dict.fromkeys(table.levels, "levels")
    found |= dict.fromkeys(table.text, "text") | dict.fromkeys(table.left_out, "out")
    return [found[j] for j in sorted(found)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (RNG.randn(N), "number"),
        (RNG.randint(0, 90, N), "number"),
        (RNG.rand(N) < 0.5, "number"),
        (pd.array([None, *range(0, 10 * N - 10, 10)], dtype="Int64"), "number"),
        (np.arange(1, N + 1), "out"),
        (RNG.permutation(N) + 1000, "out"),
        (np.arange(1950, 1950 + N), "number"),  # years
        (np.arange(N) + 0.5, "number"),
        ([f"P-{i:03d}" for i in range(N)], "out"),
        ([f"{i:05d}" for i in range(N)], "out"),
        (SMILES, "text"),
        (RNG.choice(HOSPITALS, N), "levels"),
        (pd.Categorical(RNG.choice([1, 2, 3], N)), "levels"),
        (pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.randint(0, 99, N), unit="D"), "number"),
        ([f"2020-01-{d:02d}" for d in RNG.randint(1, 29, N)], "number"),
        ([f"{v:.1f}" if v > 0.5 else "<0.5" for v in RNG.exponential(size=N)], "number"),
        (["7 mg"] * 30 + ["8.5"] * 30, "levels"),
        ([None] * N, "out"),
        (["mg"] * N, "out"),
    ],
)
def test_kinds(values, kind):
    table = with_noise(column=values)
    assert kinds(read_columns(table)) == ["number", kind]


def test_other_frames_and_arrays():
    frame = pd.DataFrame({"a": RNG.randn(N), "b": RNG.choice(HOSPITALS, N), "c": SMILES, "d": np.arange(N)})
    whole = kinds(read_columns(frame))
    assert whole == ["number", "levels", "text", "out"]
    assert kinds(read_columns(pl.DataFrame(frame.to_dict("list")))) == whole
    assert kinds(read_columns(frame.drop(columns="d").to_numpy())) == whole[:3]
    assert kinds(read_columns(np.column_stack([np.arange(N), RNG.randn(N)]))) == ["number", "number"]
    assert kinds(read_columns(frame[["d"]])) == ["number"]  # alone it is all there is
    assert kinds(read_columns(frame[["b"]].assign(b=[f"P-{i}" for i in range(N)]))) == ["text"]


def test_parts_of_row_numbers_are_row_numbers():
    frame = with_noise(id=np.arange(1, N + 1))
    for rows in (np.arange(0, N, 2), RNG.choice(N, 40, replace=False)):
        assert kinds(read_columns(frame.iloc[rows])) == ["number", "out"]


def test_levels_are_the_commonest_and_the_others_together():
    many = [f"town {i % 55}" for i in range(165)] + ["rare"]
    table = read_columns(pd.DataFrame({"x": np.arange(166) % 7 + 0.5, "town": many}))
    *common, other = table.levels[1]
    assert len(common) == 50 and len(other) == 6 and "rare" in other and table.crowded == {1: 56}
    few = read_columns(pd.DataFrame({"x": np.arange(9) % 4 + 0.5, "c": ["a"] * 5 + ["b", "c", "d", None]}))
    assert few.levels[1] == ["a", ("b", "c", "d"), None]
    one = read_columns(pd.DataFrame({"x": np.arange(9) % 4 + 0.5, "c": ["a"] * 5 + ["b"] * 3 + ["c"]}))
    assert one.levels[1] == ["a", "b", "c"]


def test_numbers_in_text_are_told_once_with_how_many():
    cells = ["<0.5"] * 3 + ["1,200"] + ["lost"] + ["3.4"] * 55
    table = read_columns(with_noise(crp=cells, ldh=cells))
    (said,) = [remark.text for remark in remarks(table) if remark.guess]
    assert "8 cells such as '1,200' are read as numbers" in said and "in 'crp', 'ldh'" in said
    assert "2 cells such as 'lost' are taken as missing" in said
    assert table.formats == {1: "text", 2: "text"} and table.gaps == [1, 2]
    commas = read_columns(with_noise(a=["1,5", "2,25"] * 30, b=["1,500", "2,250"] * 30))
    assert commas.formats == {1: "decimal comma", 2: "text"}


def test_mixtures_are_told():
    table = read_columns(with_noise(dose=["7", "8", "low"] * 20))
    (said,) = [remark.text for remark in remarks(table) if remark.guess]
    assert "'dose' mixes numbers and text such as 'low', and is taken for categories" in said


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["01/02/2020", "13/02/2020"], "d/m/y"),
        (["01/02/2020", "02/13/2020"], "m/d/y"),
        (["01.02.2020", "13.02.2020"], "d.m.y"),
        (["2020-02-01", "n/a"], "date"),
    ],
)
def test_formats_of_dates(cells, form):
    assert read_columns(with_noise(day=cells * 30)).formats == {1: form}


DAYS = [f"2020-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(N)]


def guesses(table):
    return [remark.text for remark in remarks(table) if remark.guess]


@pytest.mark.parametrize("bad", [["2020-02-30"], ["soon", "2020-13-01", "soon"]])
def test_few_cells_that_are_no_dates_are_missing(bad):
    """One bad cell made the values all differ, and the column an identifier."""
    table = read_columns(with_noise(day=[*bad, *DAYS[len(bad) :]]))
    assert table.formats == {1: "date"} and table.gaps == [1]
    (said,) = guesses(table)
    assert f"'day' looks like dates, and {len(bad)} of {N} cells" in said and "taken as missing" in said
    assert all(repr(label) in said for label in bad)


@pytest.mark.parametrize("column", ["day", "visit"])
def test_many_cells_that_are_no_dates_are_told_with_what_was_done(column):
    days = DAYS if column == "day" else [f"2020-01-0{1 + i % 3}" for i in range(N)]
    table = read_columns(with_noise(**{column: ["not yet"] * 20 + days[20:]}))
    assert not table.formats
    done = "taken for text" if table.text else "taken for categories"
    assert f"20 of {N} cells are none ('not yet'): the column is {done}" in guesses(table)[-1]
    assert not guesses(read_columns(with_noise(day=["not yet"] * 40 + DAYS[40:])))  # most cells are no dates


def test_columns_with_cells_that_are_no_dates_share_a_sentence():
    cells = ["soon", *DAYS[1:]]
    (said,) = guesses(read_columns(with_noise(first=cells, last=cells)))
    assert "2 columns ('first', 'last') look like dates, and 2 of 120 cells are none" in said


def test_new_cells_that_are_no_dates():
    frame = with_noise(day=DAYS)
    table = read_columns(frame)
    with pytest.warns(TableWarning, match=r"'soon' in 'day' is taken as missing: expected dates"):
        look_at_new(
            read_columns(with_noise(day=[None, *DAYS[1:]])), frame.head(2).assign(day=["soon", DAYS[0]])
        )
    with pytest.raises(ValueError, match="'day' holds 'soon' and no date at all"):
        look_at_new(table, frame.head(2).assign(day="soon"))


def test_one_sentence_for_each_kind():
    wide = pd.DataFrame({f"c{j}": [f"{j}-{i}" for i in range(N)] for j in range(48)}).assign(x=RNG.randn(N))
    wide = wide.assign(**{f"g{j}": np.where(np.arange(N) == j, np.nan, RNG.randn(N)) for j in range(20)})
    table = read_columns(wide)
    texts = [remark.text for remark in remarks(table)]
    assert len(texts) == 2 and texts[0].startswith(
        "48 columns ('c0', 'c1', 'c2', 'c3', 'c4' and 43 more) are"
    )
    assert "median in 'g0', 'g1', 'g2', 'g3', 'g4' and 15 more" in texts[1]
    with pytest.warns(TableWarning) as caught:
        warn_of(table)
    assert len(caught) == 1 and "docs/tables.md" in str(caught[0].message)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e200])
def test_enormous_numbers_name_their_column(value):
    frame = with_noise(dose=np.r_[value, RNG.randn(N - 1)])
    for data in (frame, frame.astype({"dose": object}), frame.assign(dose=[str(v) for v in frame["dose"]])):
        with pytest.raises(
            ValueError, match=r"Column 'dose' has (infinite values|values as large as 1e\+200)"
        ):
            read_columns(data)


def test_new_samples_are_looked_at_once_for_all_kernels():
    frame = with_noise(place=RNG.choice(HOSPITALS, N), crp=["<0.5", "3"] * 30, age=RNG.randn(N))
    table = read_columns(frame)
    look_at_new(table, frame)
    new = frame.head(3).assign(place=["moon", None, HOSPITALS[0]], crp=["lost", "4", None], age=[1, None, 2])
    with pytest.warns(TableWarning) as caught:
        look_at_new(table, new)
    said = [str(warning.message) for warning in caught]
    assert len(said) == 3
    assert "1 cell such as 'lost' in 'crp' is taken as missing" in said[0]
    assert "missing in 'crp', 'age', where none were in training: the median is taken" in said[1]
    assert "not seen: 'missing', 'moon', in 'place'" in said[2]
    with pytest.raises(ValueError, match="Column 'age' has infinite values"):
        look_at_new(table, frame.head(2).assign(age=np.inf))
    with pytest.raises(ValueError, match="'age' holds 'old' and no number at all"):
        look_at_new(table, frame.head(2).assign(age="old"))


def test_objects_that_are_no_cells_are_refused():
    with pytest.raises(ValueError, match=r"Column 'bag' holds values of type set; .*kernel of its own"):
        read_columns(with_noise(bag=[{1}] * N))


def test_the_na_of_r_is_a_missing_cell():
    """It is a signalling NaN, which fmin and fmax do not skip."""
    X = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 1.0], [2.0, 2.0]] * 20)
    X.view(np.uint64)[::3, 1] = 0x7FF00000000007A2
    require_moderate(["a", "b"], [0, 1], X)
    table = read_columns(pd.DataFrame(X, columns=["a", "b"]))
    assert table.numbers == [0, 1] and table.gaps == [1] and not table.left_out


def test_gaps_as_r_writes_them():
    """R's NA is a NaN that signals; numbers around it must not be lost."""
    from manykernels import MKLRegressor

    rng = np.random.RandomState(0)
    X = rng.randn(40, 3)
    gone = rng.uniform(size=X.shape) < 0.3
    plain, signalling = X.copy(), X.copy()
    plain[gone] = np.nan
    signalling.view(np.uint64)[gone] = 0x7FF00000000007A2
    for as_given in (np.asarray, lambda A: pd.DataFrame(A, columns=list("abc"))):
        expected, found = (
            MKLRegressor().fit(as_given(A), X[:, 0]).predict(as_given(A)) for A in (plain, signalling)
        )
        np.testing.assert_array_equal(found, expected)
