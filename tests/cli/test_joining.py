"""Files are joined by what their samples are called, never by luck."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from manykernels import load, save
from manykernels.cli._console import UserError, Voice
from manykernels.cli.app import app
from manykernels.cli.files import Reading
from manykernels.cli.ids import Joining, like_id
from manykernels.cli.sources import Asked, gather
from manykernels.estimators import opened

N = 12
IDS = [f"P{i}" for i in range(N)]
SHUFFLED = np.random.default_rng(0).permutation(N)


def run(*args, code=0):
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert "Traceback" not in result.output and result.exit_code == code, result.output
    return result


def table(column, ids=IDS, name="sample_id"):
    """A table of one column, whose value says which sample it is of."""
    return pd.DataFrame({name: ids, column: np.arange(len(ids)) * 1.5})


@pytest.fixture
def join(tmp_path):
    """Files of tables, joined; with what was said."""

    def joined(*frames, how=None, first=None, **options):
        paths = []
        for i, frame in enumerate(frames):
            paths.append(tmp_path / f"{'dab'[i]}.{'npy' if isinstance(frame, np.ndarray) else 'csv'}")
            if isinstance(frame, np.ndarray):
                np.save(paths[-1], frame)
            else:
                frame.to_csv(paths[-1], index=False)
        voice = Voice(quiet=True)
        views = [f"{'dab'[i]}={path}" for i, path in enumerate(paths) if i]
        asked = Asked(paths[0], views, how=Reading(rows=first))
        found = gather(asked, how or Joining(**options), voice)
        said = [note.replace(f"{tmp_path}/", "") for note in voice.notes]
        return found.frame, found.ids, said

    def refused(*frames, **options):
        with pytest.raises(UserError) as error:
            joined(*frames, **options)
        return str(error.value).replace(f"{tmp_path}/", "")

    joined.refused = refused
    return joined


# -- one id ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["sample_id", "Sample ID", "sampleId", "SAMPLEID"])
def test_rows_are_joined_by_a_shared_column(join, name):
    shuffled = table("x", name=name).iloc[SHUFFLED]
    frame, ids, said = join(table("t"), shuffled, table("z"))
    assert list(frame.columns) == ["t", "a__x", "b__z"]
    np.testing.assert_array_equal(frame["a__x"], frame["t"])
    assert list(ids) == IDS and ids.name == "sample_id"
    assert said == ["12 rows of 3 files are joined by 'sample_id'."]


def test_a_shared_column_need_not_be_called_an_id(join):
    frame, ids, _ = join(table("t", name="who"), table("x", name="who").iloc[SHUFFLED])
    np.testing.assert_array_equal(frame["a__x"], frame["t"])
    assert ids.name == "who"


def test_numbers_of_rows_and_measurements_are_no_ids(join):
    """They say no more than the order: a file without ids that pandas wrote with its index, for example."""
    numbered = [
        table(c, ids=range(N), name="index").assign(dose=np.arange(N) * 0.7 + i) for i, c in enumerate("tx")
    ]
    frame, ids, said = join(*numbered)
    assert ids is None and "taken in order" in said[0]
    assert list(frame.columns) == ["index", "t", "dose", "a__index", "a__x", "a__dose"]
    frame, ids, _ = join(numbered[0], numbered[1].iloc[SHUFFLED])  # and here it says more
    np.testing.assert_array_equal(frame["a__x"], frame["t"])
    assert ids.name == "index"


def test_two_columns_that_pair_other_rows(join):
    other = table("x").assign(visit_id=IDS[::-1])
    assert "joined by 'sample_id' or by 'visit_id'" in join.refused(table("t").assign(visit_id=IDS), other)
    frame, ids, _ = join(table("t").assign(visit_id=IDS), other, id="visit_id")
    assert list(frame["a__x"]) == list(frame["t"])[::-1] and ids.name == "visit_id"
    assert list(frame["sample_id"]) == IDS  # as any other column
    frame, _, _ = join(table("t").assign(visit_id=IDS), table("x").assign(visit_id=IDS))
    np.testing.assert_array_equal(frame["a__x"], frame["t"])  # no matter by which


def test_an_id_that_is_named(join):
    said = join.refused(table("t"), table("x", name="who"), id="sample_id")
    assert said == "--id sample_id: a.csv has no such column. There are 'who', 'x'."
    twice = [*IDS[:-2], "P0", "P1"]
    for options in ({}, {"id": "sample_id"}):
        said = join.refused(table("t"), table("x", ids=twice), **options)
        assert (
            "a.csv: 'sample_id' names some samples more than once ('P0', 'P1', in rows 1, 2, 11, 12)" in said
        )
        said = join.refused(table("t"), table("x", ids=[*IDS[:4], None, *IDS[5:]]), **options)
        assert said == "a.csv: 'sample_id', which names the samples, is empty in row 5. Fill these cells."
    assert "--no-id says that there is none" in join.refused(table("t"), id="sample_id", in_order=True)


def test_categories_in_all_files_are_no_ids(join):
    sites = ["north", "south", "west"] * 4
    frame, ids, _ = join(table("t", sites, "site_id"), table("x", sites, "site_id"))
    assert ids is None and "site_id" in frame.columns


@pytest.mark.parametrize(
    ("ids", "others", "same"),
    [
        (range(1, N + 1), [f"{i:03d}" for i in range(1, N + 1)], False),
        (np.arange(N), np.arange(N, dtype=float), False),
        (IDS, [i.lower() for i in IDS], False),
        (IDS, [f" {i} " for i in IDS], True),
    ],
    ids=["zeros", "floats", "case", "blanks"],
)
def test_ids_of_different_types(join, ids, others, same):
    frame, found, said = join(table("t", list(ids)), table("x", list(others)).iloc[SHUFFLED])
    np.testing.assert_array_equal(frame["a__x"], frame["t"])
    assert list(found) == list(ids)
    first = SHUFFLED[0]
    told = f"ids such as '{ids[first]}' and '{others[first]}' are taken for the same in 'sample_id'."
    assert [note for note in said if "taken for the same" in note] == ([] if same else [told])


def test_ids_stay_as_they_are_written(join):
    """Also where other ids differ from them by zeros only."""
    ids = ["01", "1", "001"]
    frame, found, _ = join(table("t", ids), table("x", ids[::-1]), id="sample_id")
    assert list(found) == ids and list(frame["a__x"]) == [3.0, 1.5, 0.0]


# -- rows without a partner -----------------------------------------------------------------------
def test_rows_without_a_partner(join):
    more = [*IDS[3:], "Q1", "Q2"]
    given = table("t").assign(flag=True), table("x", more).assign(flag=True)
    said = join.refused(*given)
    told = (
        "d.csv rows 1 ('P0'), 2 ('P1'), 3 ('P2'), not in a.csv; a.csv rows 10 ('Q1'), 11 ('Q2'), not in d.csv"
    )
    assert f"no partner in other files by 'sample_id': {told}." in said
    assert "--rows inner" in said and "--rows outer" in said
    frame, ids, said = join(*given, rows="inner")
    assert list(ids) == IDS[3:] and not frame.isna().any(axis=None)
    assert list(frame["t"]) == [1.5 * i for i in range(3, N)] and list(frame.index) == list(range(3, N))
    assert f"left out: {told}." in said[0]
    frame, ids, said = join(*given, rows="outer")
    assert list(ids) == [*IDS, "Q1", "Q2"] and f"kept, with missing values: {told}." in said[0]
    assert list(np.flatnonzero(frame["a__x"].isna())) == [0, 1, 2]
    assert list(np.flatnonzero(frame["t"].isna())) == [N, N + 1]
    assert frame["flag"].dtype.kind == frame["a__flag"].dtype.kind == "f"


def test_many_rows_without_a_partner_are_counted(join):
    said = join.refused(table("t"), table("x", IDS[8:]))
    assert "rows 1 ('P0'), 2 ('P1'), 3 ('P2'), 4 ('P3'), 5 ('P4') and 3 more" in said


def test_ids_with_nothing_in_common(join):
    """With --id and without: rows in their order would be pairs of different samples."""
    other = table("x", [f"P_{i}" for i in range(N)])
    for options in ({"id": "sample_id"}, {}):
        said = join.refused(table("t"), other, **options)
        assert said.startswith(
            "no value of 'sample_id' is in all files (the first ones are 'P0' in d.csv, 'P_0' in a.csv):"
        )
        assert "--id NAME" in said and "--no-id" in said
    assert "no value of 'sample_id'" in join.refused(table("t"), other, table("z")[["z"]])
    assert len(join(table("t"), other, in_order=True)[0]) == N


def test_an_id_of_another_name(join):
    """Its values say what it is; whole numbers could count anything."""
    other = table("x", name="patient").iloc[SHUFFLED]
    frame, ids, said = join(table("t"), other, table("z").iloc[SHUFFLED])
    assert list(frame.columns) == ["t", "a__x", "b__z"] and list(ids) == IDS
    np.testing.assert_array_equal(frame["a__x"], frame["t"])
    np.testing.assert_array_equal(frame["b__z"], frame["t"])
    assert said == ["12 rows of 3 files are joined by 'sample_id' ('patient' in a.csv)."]
    assert "no partner" in join.refused(table("t"), other[:9])
    assert "different orders by 'sample_id' ('patient'" in join.refused(table("t"), other, table("z")[["z"]])
    numbers = table("t", range(N)), table("x", range(N), name="patient")
    assert "one name" in join.refused(numbers[0], numbers[1].iloc[SHUFFLED])
    assert "taken in order" in (said := join(*numbers)[2][0]) and "in common" not in said
    twice = other.assign(donor=other["patient"].to_numpy()[::-1])
    assert "('donor' in a.csv), which pair different rows" in join.refused(table("t"), twice)


def test_ids_of_another_name_that_share_some_values(join):
    """Rows in their order would be pairs of different samples, and a note would not stop that."""
    other = table("x", [*IDS[:4], *(f"Q{i}" for i in range(N - 4))], name="patient")
    said = join.refused(table("t"), other)
    assert said.startswith("'sample_id' in d.csv and 'patient' in a.csv look like ids, and share 4 of 12")
    assert "--no-id" in said and "--rows inner" in said
    assert len(join(table("t"), other, in_order=True)[0]) == N
    apart = table("x", [f"Q{i}" for i in range(N)], name="patient")
    assert "have no value in common: look whether" in join(table("t"), apart)[2][0]
    other = table("x", [IDS[0], *(f"words {i}" for i in range(N - 1))], name="remark")
    assert "taken in order" in join(table("t"), other)[2][0]


# -- in order -------------------------------------------------------------------------------------
def test_rows_without_ids_are_taken_in_order(join):
    frame, ids, said = join(table("t")[["t"]], table("x")[["x"]])
    assert ids is None and said == [
        "rows of several files are taken in order: no column of unique values is in all of them."
    ]
    np.testing.assert_array_equal(frame["a__x"], frame["t"])
    said = join.refused(table("t")[["t"]], table("x")[["x"]][:5])
    assert "different numbers of rows (DATA 12, a 5)" in said and "--id NAME" in said
    assert "no column names the rows" in join.refused(table("t")[["t"]], table("x")[["x"]], rows="inner")


def test_ids_that_contradict_the_order_are_not_passed_over(join):
    """Two files have ids in different orders, and the third has none: no order is right for all."""
    three = table("t"), table("x").iloc[SHUFFLED], table("z")[["z"]]
    assert "d.csv and a.csv are in different orders by 'sample_id'" in join.refused(*three)
    frame, _, _ = join(*three, in_order=True)
    assert "sample_id" in frame.columns and list(frame["a__x"] / 1.5) == list(SHUFFLED)
    _, ids, said = join(table("t"), table("x"), table("z")[["z"]])
    assert list(ids) == IDS and "taken in order" in said[0]


def test_arrays_go_with_the_first_table(join):
    image = np.arange(N)[:, None] * 1.5
    frame, ids, said = join(table("t").iloc[SHUFFLED], table("x"), image)
    assert "rows of b.npy, without ids, are in the order of d.csv" in said[-1]
    np.testing.assert_array_equal(frame["a__x"], frame["t"])
    np.testing.assert_array_equal(frame["b__x0"], image[:, 0])
    frame, _, _ = join(table("t", [*IDS[:-1], "Q"]), table("x"), image, rows="outer")
    assert list(frame["b__x0"].isna()) == [False] * N + [True]
    assert "b.npy has no ids" in join.refused(table("t"), table("x"), image[:5])
    _, ids, said = join(table("t"), image)
    assert list(ids) == IDS and len(said) == 2
    assert "no file has columns with names" in join.refused(image, id="sample_id")


@pytest.mark.parametrize("other", ["ids", "array", "order"])
def test_the_first_rows_are_those_of_the_first_file(join, other):
    """Their partners may be anywhere in the others, whose other rows are not missed."""
    if other == "ids":
        frame, ids, _ = join(table("t"), table("x").iloc[SHUFFLED], first=4)
        assert list(ids) == IDS[:4]
        np.testing.assert_array_equal(frame["a__x"], frame["t"])
    elif other == "array":
        frame, _, _ = join(np.arange(N)[:, None], table("x"), table("z").iloc[SHUFFLED], first=4)
        np.testing.assert_array_equal(frame["b__z"], frame["x0"] * 1.5)
    else:
        frame, _, _ = join(table("t")[["t"]], table("x")[["x"]], first=4)
    assert len(frame) == 4


# -- one file -------------------------------------------------------------------------------------
def test_a_column_that_names_the_rows_of_one_file(join):
    frame, ids, said = join(table("t"))
    assert list(frame.columns) == ["t"] and list(ids) == IDS and "'sample_id' names the rows" in said[0]
    frame, ids, said = join(table("t", ids=["1", "1", "2"]))
    assert ids is None and list(frame.columns) == ["sample_id", "t"] and not said
    frame, ids, _ = join(table("t", ids=["001", "002", "003"]))
    assert list(ids) == ["001", "002", "003"]
    frame, ids, _ = join(table("t"), how=Joining(learned=frozenset({"sample_id"})))
    assert ids is None and "sample_id" in frame.columns
    frame, ids, said = join(table("t", ids=["1", "1", "2"]), id="sample_id")  # nothing is joined
    assert list(ids) == [1, 1, 2] and not said


@pytest.mark.parametrize(
    "name", ["id", "ID", "patient_id", "PatientID", "SEQN id", "Sample", "sampleid", "case.uuid"]
)
def test_names_of_ids(name):
    assert like_id(name)


@pytest.mark.parametrize(
    "name", ["", "x0", "acid", "solid", "age", "covid", "idle", "id_count", "sample size", "é"]
)
def test_names_of_other_columns(name):
    assert not like_id(name)


def test_the_index_of_a_parquet_file_may_name_the_samples(tmp_path):
    table("t").set_index("sample_id").to_parquet(tmp_path / "d.parquet")
    table("x").iloc[SHUFFLED].to_parquet(tmp_path / "a.parquet")
    asked = Asked(tmp_path / "d.parquet", [f"a={tmp_path / 'a.parquet'}"])
    joined = gather(asked, Joining(), Voice(quiet=True))
    np.testing.assert_array_equal(joined.frame["a__x"], joined.frame["t"])
    assert list(joined.frame.columns) == ["t", "a__x"] and list(joined.ids) == IDS


# -- commands -------------------------------------------------------------------------------------
@pytest.fixture
def study(tmp_path, monkeypatch):
    """Two views of patients, of whom one knows the outcome; the files are in different orders."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    ids = [f"{i:03d}" for i in range(60)]
    A, B = rng.standard_normal((2, 60, 3))
    y = np.where(B[:, 0] > 0, "yes", "no")
    pd.DataFrame({"patient": ids, "sick": y}).to_csv("y.csv", index=False)
    pd.DataFrame(A, columns=list("uvw")).assign(patient=ids).to_csv("a.csv", index=False)
    pd.DataFrame(B, columns=list("xyz")).assign(patient=ids).to_csv("right.csv", index=False)
    pd.DataFrame(B, columns=list("xyz")).assign(patient=ids).sample(frac=1, random_state=0).to_csv(
        "b.csv", index=False
    )
    return ["--view", "mrna=a.csv", "--view", "mirna=b.csv"]


@pytest.mark.slow
def test_the_order_of_a_file_changes_nothing(study):
    asked = ["fit", "y.csv", "-t", "sick", "-m", "sparse", "--cv", 3, "--json", "--view", "mrna=a.csv"]
    asked += ["--no-importance", "--no-significance"]
    answers = [
        json.loads(run(*asked, "--view", f"mirna={name}", "--model", name + ".m").stdout)
        for name in ("right.csv", "b.csv")
    ]
    assert (
        answers[0]["views"] == answers[1]["views"]
        and answers[0]["score"]["folds"] == answers[1]["score"]["folds"]
    )
    assert answers[1]["views"]["mirna"] > 0.6 and answers[1]["score"]["mean"] > 0.8
    assert "60 rows of 3 files are joined by 'patient'." in answers[1]["notes"]
    assert not [note for note in answers[1]["notes"] if "left out" in note]
    backwards = pd.read_csv("y.csv", dtype=str)[["patient"]].iloc[::-1]
    backwards.to_csv("new.csv", index=False)
    run("predict", "b.csv.m", "new.csv", *study, "--out", "p.csv")
    found = pd.read_csv("p.csv", dtype={"patient": str})
    assert list(found.columns) == ["patient", "sick", "decision of yes"]
    assert list(found["patient"]) == list(backwards["patient"])
    truth = pd.read_csv("y.csv", dtype=str).set_index("patient").loc[found["patient"], "sick"]
    assert (found["sick"].to_numpy() == truth.to_numpy()).mean() > 0.9
    answer = json.loads(run("predict", "b.csv.m", "new.csv", *study, "--json").stdout)
    assert answer["predictions"]["patient"] == list(backwards["patient"])
    backwards[:5].to_csv("few.csv", index=False)
    assert "--rows inner" in run("predict", "b.csv.m", "few.csv", *study, code=2).stderr
    assert run("predict", "b.csv.m", "few.csv", *study, "--rows", "inner").stdout.count("\n") == 6
    pd.DataFrame({"patient": [*backwards["patient"][:2], "new one"]}).to_csv("few.csv", index=False)
    outer = run("predict", "b.csv.m", "few.csv", *study, "--rows", "outer")
    assert [line.split(",")[0] for line in outer.stdout.splitlines()[1:]] == [
        *backwards["patient"][:2],
        "new one",
    ]


def test_rows_of_which_a_view_is_missing_are_learned_from(study):
    pd.read_csv("b.csv", dtype=str)[5:].to_csv("b.csv", index=False)
    asked = ["fit", "y.csv", "-t", "sick", "-m", "sparse", "--no-score", "--json", *study, "--rows"]
    samples = [json.loads(run(*asked, rows).stdout)["samples"] for rows in ("inner", "outer")]
    assert samples == [55, 60]


def test_files_of_which_no_sample_is_in_all_are_joined_with_the_samples_that_lack_views(study):
    for file, rows in (("a.csv", slice(0, 40)), ("b.csv", slice(40, None))):
        pd.read_csv(file, dtype=str).sort_values("patient")[rows].to_csv(file, index=False)
    asked = ["fit", "y.csv", "-t", "sick", "-m", "sparse", "--no-score", "--no-importance", *study]
    assert "is in all files" in run(*asked, code=2).stderr
    answer = json.loads(run(*asked, "--json", "--rows", "outer").stdout)
    assert sorted(answer["present"].values())[:2] == [20, 40]
    told = [check["message"] for check in answer["checks"] if check["code"] == "MK411"]
    assert len(told) == 1 and told[0].startswith("Only 20 of 60 samples have")


def test_an_id_may_be_dropped_too(study):
    asked = ["fit", "y.csv", "-t", "sick", "-m", "sparse", "--no-score", *study]
    run(*asked, "--drop", "patient", "--drop", "mrna__patient")
    assert "--drop nobody" in run(*asked, "--drop", "nobody", code=2).stderr


def test_ids_of_precomputed_kernels(tmp_path):
    rng = np.random.default_rng(2)
    F = rng.standard_normal((20, 3))
    np.savez(
        tmp_path / "k.npz", K=F @ F.T, y=np.where(F[:, 0] > 0, "a", "b"), who=[f"s{i}" for i in range(20)]
    )
    asked = ["fit", tmp_path / "k.npz", "--precomputed", "-t", "y", "-m", "sparse", "--no-score", "--id"]
    run(*asked, "who", "--model", tmp_path / "m")
    assert (
        run("predict", tmp_path / "m", tmp_path / "k.npz", "--first", 2)
        .stdout.splitlines()[2]
        .startswith("s1,")
    )
    assert "--id nobody" in run(*asked, "nobody", code=2).stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rows", "left"], "--rows left: expected inner or outer"),
        (["--rows", "0"], "--rows 0: expected inner or outer"),
        (["--rows", "4", "--first", "4"], "leave one of them out"),
    ],
)
def test_options_about_rows(study, options, words):
    said = run("fit", "y.csv", "-t", "sick", *options, code=2).stderr
    assert words in said and said.count("\n") == 1


def test_a_number_after_rows_still_means_the_first_rows(study):
    asked = ["fit", "a.csv", "-t", "u", "-m", "sparse", "--no-score", "--json"]
    assert json.loads(run(*asked, "--rows", "30").stdout)["samples"] == 30
    assert json.loads(run(*asked, "--first", "31").stdout)["samples"] == 31


def test_probabilities_are_written_where_the_model_has_them(study):
    """Beside the id, which is the first column."""
    run("fit", "y.csv", "-t", "sick", "-m", "sparse", "--no-score", *study, "--model", "m")
    model = load("m")
    opened(model).last.set_params(loss="logistic")
    about, frame = model.manykernels_, gather(Asked(Path("y.csv"), study[1::2]), Joining(), Voice()).frame
    model.fit(frame.drop(columns="sick"), frame["sick"])
    model.manykernels_ = about
    save(model, "m", overwrite=True)
    run("predict", "m", "y.csv", *study, "--out", "p.parquet")
    found = pd.read_parquet("p.parquet")
    assert list(found.columns) == ["patient", "sick", "probability of no", "probability of yes"]
    np.testing.assert_allclose(found.iloc[:, 2] + found.iloc[:, 3], 1.0)
    assert list(found["patient"][:2]) == ["000", "001"]
    run("predict", "m", "y.csv", *study, "--out", "p.parquet")  # known again as predictions
