"""Whatever is wrong with a file is said in one line, with exit code 2."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fitted_models import X, y
from typer.testing import CliRunner

import manykernels
from manykernels.cli._console import UserError, Voice
from manykernels.cli.app import app
from manykernels.cli.data import training_data
from manykernels.cli.sources import Asked


def refused(*args):
    """The one line."""
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == 2, result.output
    assert not result.stdout and "Traceback" not in result.stderr
    line = result.stderr.strip()
    assert "\n" not in line and line.startswith("error: ")
    return line


GOOD = "a,b,t\n" + "".join(f"{i + 40 * (i // 19)},{i * i % 7},{'xy'[i % 2]}\n" for i in range(20))

FILES = {
    "no such column": (GOOD.replace("t\n", "u\n", 1), "no column 't'. There are 'a', 'b', 'u'"),
    "empty": ("", "is empty"),
    "blank": (" \n\n", "is empty"),
    "a header only": ("a,b,t\n", "a header and no rows"),
    "a long row": (GOOD + "1,2,x,4\n", "line 22: 4 fields, and the header has 3"),
    "a short row": (GOOD + "1,2\n", "line 22: 2 fields, and the header has 3"),
    "one value": (GOOD.replace(",y\n", ",x\n"), "only the value 'x'"),
    "no header": ("1,2,3\n4,5,6\n7,8,9\n", "does the file lack a header"),
    "two columns of a name": (GOOD.replace("a,b", "a,a", 1), "two columns are called 'a'"),
    "infinite values": (GOOD.replace("\n3,", "\ninf,"), "'a' has infinite values"),
    "enormous values": (GOOD.replace("\n3,", "\n3e200,"), "'a' has values as large as 3e+200"),
    "nothing to learn from": ("t\nx\ny\nx\ny\n", "no column is left"),
    "an infinite target": (
        "a,t\n" + "".join(f"{i % 7},{i / 7}\n" for i in range(20)) + "1,inf\n",
        "infinite values",
    ),
    "zero bytes": ("\0\0\0", "zero bytes"),
    "folds of one": (
        "a,t\n" + "".join(f"{i % 4},{i / 7}\n" for i in range(7)),
        "7 samples make 5 folds of fewer than two",
    ),
    "a class of one": (GOOD + "1,2,z\n", "class 'z' has 1 sample, fewer than the 5 folds"),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_tables(name, tmp_path):
    text, words = FILES[name]
    (tmp_path / "d.csv").write_text(text)
    assert words in refused("fit", tmp_path / "d.csv", "--target", "t")


def test_wrong_encoding(tmp_path):
    (tmp_path / "d.csv").write_bytes(GOOD.replace("x", "ä").encode("latin-1"))
    assert "byte 0xe4" in (line := refused("fit", tmp_path / "d.csv", "-t", "t")) and "--encoding" in line
    asked = ["fit", tmp_path / "d.csv", "-t", "t", "-m", "sparse", "--no-score", "-q", "--encoding"]
    assert CliRunner().invoke(app, [str(a) for a in [*asked, "latin-1"]]).exit_code == 0
    assert "--encoding klingon: there is no such encoding; expected utf-8" in refused(*asked, "klingon")


def test_the_encoding_is_guessed_from_the_mark(tmp_path):
    (tmp_path / "d.csv").write_bytes(GOOD.encode("utf-16"))
    assert "--encoding utf-16" in refused("fit", tmp_path / "d.csv", "-t", "t")
    asked = ["fit", tmp_path / "d.csv", "-t", "t", "-m", "sparse", "--no-score", "-q", "--encoding", "utf-16"]
    assert CliRunner().invoke(app, [str(a) for a in asked]).exit_code == 0


def test_views_of_one_name(tmp_path):
    for name in ("d.csv", "e.csv"):
        (tmp_path / name).write_text(GOOD)
    asked = ["fit", tmp_path / "d.csv", "-t", "t", "--view", f"data={tmp_path / 'e.csv'}"]
    assert "a view called 'data' already" in refused(*asked)


def test_kernels_for_a_method_that_makes_its_own(tmp_path):
    (tmp_path / "d.csv").write_text(GOOD)
    asked = ["fit", tmp_path / "d.csv", "-t", "t", "-m", "hierarchical", "-k", "columns"]
    assert "has its own kernels" in refused(*asked)


def test_binary_in_a_text_file(tmp_path):
    (tmp_path / "d.csv").write_bytes(os.urandom(2000))
    refused("fit", tmp_path / "d.csv", "-t", "t")


@pytest.mark.parametrize("name", ["d.parquet", "d.npz", "d.npy"])
def test_damaged_binary_files(name, tmp_path):
    (tmp_path / name).write_bytes(b"not what it says")
    said = refused("fit", tmp_path / name, "-t", "t")
    assert ("cannot be read" if name == "d.parquet" else "not a file that NumPy wrote") in said


def header(shape, kind="<f8"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue()


def test_arrays_that_declare_more_than_there_is_or_than_fits(tmp_path):
    """The sizes in a file are looked at, and not believed, before anything is read."""
    with zipfile.ZipFile(tmp_path / "d.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("a.npy", "w", force_zip64=True) as member:
            member.write(header((1 << 13, 1 << 10)))
            for _ in range(1 << 6):
                member.write(bytes(1 << 20))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("manykernels.cli.files.free_memory", lambda: 1 << 26)
        line = refused("fit", tmp_path / "d.npz", "-t", "t")
    assert "unpacks from" in line and "to 64 MB" in line and "32 MB are allowed" in line
    (tmp_path / "d.npy").write_bytes(header((1 << 40,)) + bytes(80))
    assert "declares shape (1099511627776,)" in refused("fit", tmp_path / "d.npy", "-t", "t")
    (tmp_path / "d.npy").write_bytes(header((2,), "|O") + bytes(16))
    assert "Python objects" in refused("fit", tmp_path / "d.npy", "-t", "t")
    with zipfile.ZipFile(tmp_path / "d.npz", "w") as archive:
        archive.writestr("a.npy", header((1 << 40,)))
    assert "in its member 'a.npy', the array declares" in refused("fit", tmp_path / "d.npz", "-t", "t")
    with zipfile.ZipFile(tmp_path / "d.npz", "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    assert "not that of an array" in refused("fit", tmp_path / "d.npz", "-t", "t")


def test_a_parquet_file_of_many_equal_values(tmp_path, monkeypatch):
    pd.DataFrame({"a": np.zeros(2_000_000), "t": np.zeros(2_000_000)}).to_parquet(tmp_path / "d.parquet")
    monkeypatch.setattr("manykernels.cli.files.free_memory", lambda: 100 << 20)
    assert "would need about 0.064 GB of memory" in refused("fit", tmp_path / "d.parquet", "-t", "t")


def test_a_huge_file_is_refused_with_its_size_and_the_way_out(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(GOOD)
    with path.open("r+b") as file:
        file.truncate(2_200_000_000)  # a hole, which takes no room
    line = refused("fit", path, "-t", "t")
    assert "2.2 GB" in line and "--first" in line and "partial_fit" in line
    asked = ["fit", str(path), "-t", "t", "--rows", "20", "-m", "sparse", "--no-score", "-q"]
    assert CliRunner().invoke(app, asked).exit_code == 0


def test_a_target_of_numbers_in_text(tmp_path):
    """It is read as columns are; what is no number is named, whichever task is asked for."""
    cells = ["<0.5" if i % 5 == 0 else f"{i / 10 + 0.5:.2f}" for i in range(40)]
    path = tmp_path / "d.csv"

    def target(cells, task="auto"):
        pd.DataFrame({"a": np.arange(40) % 7, "t": cells}).to_csv(path, index=False)
        voice = Voice(quiet=True)
        data = training_data(Asked(path, [], "t", task), voice)
        return data.task, data.y, voice.notes

    for task in ("auto", "regression"):
        found, y, said = target(cells, task)
        assert found == "regression" and y[0] == 0.5 and y[1] == 0.6
        assert "8 cells such as '<0.5' are read as numbers in 't'." in said
        with pytest.raises(
            UserError, match=r"no number in row 4 \('high'\). Correct or empty .* --task class"
        ):
            target([*cells[:3], "high", *cells[4:]], task)
    found, y, said = target([*cells[:3], "?", *cells[4:]])
    assert len(y) == 39 and any("1 row without a value" in note for note in said)
    for classes in (["1", "2", "3", "x"] * 10, ["<0.5", ">0.5"] * 20):
        assert target(classes)[0] == "classification"


def test_files_and_options_that_are_not_there(tmp_path):
    (tmp_path / "d.csv").write_text(GOOD)
    assert "no such file" in refused("fit", tmp_path / "none.csv", "-t", "t")
    assert "is a folder" in refused("fit", tmp_path, "-t", "t")
    assert "--target is missing" in refused("fit", tmp_path / "d.csv")
    assert "no data" in refused("fit", "-t", "t")
    assert "expected one of auto" in refused("fit", tmp_path / "d.csv", "-t", "t", "--method", "magic")
    assert "expected one of auto" in refused("fit", tmp_path / "d.csv", "-t", "t", "--task", "magic")
    assert "expected auto, linear" in refused("fit", tmp_path / "d.csv", "-t", "t", "--kernels", "magic")
    assert "no such column" in refused("fit", tmp_path / "d.csv", "-t", "t", "--drop", "z")
    assert "not for regression" in refused("fit", tmp_path / "d.csv", "-t", "t", "--task", "regression")
    (tmp_path / "d.xls").write_text("x")
    assert "end in .xls are not read" in refused("fit", tmp_path / "d.xls", "-t", "t")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["fit", "--nonsense"], "--nonsense"),
        (["fit", "d.csv", "--rows", "x"], "--rows"),
        (["fit", "d.csv", "--cv", "1"], "--cv"),
        (["fit", "d.csv", "e.csv"], "e.csv"),
        (["predict"], "model"),
        (["magic"], "No such command 'magic'"),
    ],
)
def test_usage_that_is_wrong_is_one_line_too(asked, words):
    line = refused(*asked)
    assert words in line and "--help` lists the commands and options." in line


def test_no_command_is_a_question():
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0 and "compare" in result.stdout
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0 and result.stdout == f"manykernels {manykernels.__version__}\n"


def test_outputs_that_cannot_be_written_are_said_before_the_work(tmp_path):
    (tmp_path / "d.csv").write_text(GOOD)
    asked = ["fit", tmp_path / "d.csv", "-t", "t"]
    assert "no folder" in refused(*asked, "--model", tmp_path / "none" / "m")
    assert "is a folder" in refused(*asked, "--report", tmp_path)
    if Path("/proc/self").is_dir():  # where nobody may make files
        assert "/proc/m cannot be written: " in refused(*asked, "--model", "/proc/m")
    if os.geteuid() != 0:  # root may write anywhere
        (tmp_path / "locked").mkdir(mode=0o500)
        assert "permission denied" in refused(*asked, "--model", tmp_path / "locked" / "m")


def test_a_full_disk_leaves_the_old_model(tmp_path, monkeypatch):
    (tmp_path / "d.csv").write_text(GOOD)
    (tmp_path / "m").write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    asked = ["fit", tmp_path / "d.csv", "-t", "t", "-m", "sparse", "--no-score", "--model", tmp_path / "m"]
    line = refused(*asked, "--force")
    assert (
        line == f"error: {tmp_path / 'm'}: No space left on device."
        and (tmp_path / "m").read_bytes() == b"old"
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.csv", "m"]


def test_bad_models(tmp_path, monkeypatch):
    data, model = tmp_path / "d.csv", tmp_path / "m"
    data.write_text(GOOD)
    assert "no such file" in refused("predict", model, data)
    asked = ["fit", data, "-t", "t", "-m", "sparse", "--no-score", "--model", model]
    assert CliRunner().invoke(app, [str(a) for a in asked]).exit_code == 0
    whole = model.read_bytes()
    model.write_bytes(whole[: len(whole) // 2])
    assert "cut off" in refused("predict", model, data)
    model.write_bytes(b"something else")
    assert "cannot be read as a model" in refused("predict", model, data)
    monkeypatch.setattr(manykernels, "__version__", "99.0")
    assert CliRunner().invoke(app, [*(str(a) for a in asked), "--force"]).exit_code == 0
    monkeypatch.undo()
    assert "written by manykernels 99.0" in refused("predict", model, data)
    manykernels.save(manykernels.MKLClassifier().fit(X, y), model)
    assert "not written by `manykernels fit`" in refused("predict", model, data)


def test_arrays_that_do_not_fit_together(tmp_path):
    np.savez(tmp_path / "d.npz", a=X, t=y[:5])
    assert "different numbers of rows" in refused("fit", tmp_path / "d.npz", "-t", "t")
    np.savez(tmp_path / "d.npz", a=np.zeros((2, 2, 2)), t=y[:2])
    assert "--precomputed" in refused("fit", tmp_path / "d.npz", "-t", "t")
    assert "must name an array" in refused("fit", tmp_path / "d.npz", "-t", "u", "--precomputed")
    np.save(tmp_path / "d.npy", np.zeros((0, 3)))
    assert "empty array" in refused("fit", tmp_path / "d.npy", "-t", "t")


# -- any table ------------------------------------------------------------------------------------
CELLS = st.one_of(
    st.sampled_from(
        ["", "1", "-2.5", "1e3", "nan", "inf", "a", "b", "yes", "1,5", '"', "ä", "\t", ";", "0", " "]
    ),
    st.integers(-5, 5).map(str),
    st.text(max_size=4),
)


@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=0, max_size=12),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["t", "a", ""]),
)
def test_any_text_is_read_or_refused(tmp_path_factory, rows, separator, target):
    """No other way out: a table to learn from, or an error in plain words."""
    path = tmp_path_factory.mktemp("csv") / "d.csv"
    width = max(map(len, rows), default=1)
    header = separator.join(["t", "a", "b", "c"][:width])
    lines = [header, *(separator.join(row) for row in rows)]
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace", newline="")
    try:
        data = training_data(Asked(path, [], target), Voice(quiet=True))
    except UserError as error:
        assert str(error) and "\n" not in str(error)
        return
    assert len(data.X) == len(data.y) and len(set(data.y)) > 1
    assert data.used and set(data.used) <= set(data.X.columns) and target not in data.X.columns


@given(st.integers(1, 6), st.integers(2, 15), st.sampled_from([",", ";", "\t", "|"]), st.booleans())
def test_clean_tables_survive_the_way_through_a_file(tmp_path_factory, width, height, separator, comma):
    rng = np.random.default_rng(width * 100 + height)
    frame = pd.DataFrame(rng.standard_normal((height, width)), columns=[f"c {j}" for j in range(width)])
    frame["t"] = np.arange(height) + 0.5
    path = tmp_path_factory.mktemp("csv") / "d.csv"
    comma = comma and separator == ";"
    frame.to_csv(path, index=False, sep=separator, decimal="," if comma else ".")
    data = training_data(Asked(path, [], "t"), Voice(quiet=True))
    assert data.task == "regression"
    np.testing.assert_allclose(data.X.to_numpy(dtype=float), frame.drop(columns="t"))
    np.testing.assert_allclose(data.y, frame["t"])


def test_kernels_that_would_be_taken_for_features_are_pointed_out(tmp_path):
    """They would be learned from without a word, and the model would be of no use for new samples."""
    K = X @ X.T
    np.savez(tmp_path / "k.npz", line=K, table=X, y=y)
    training_data(Asked(tmp_path / "k.npz", [], target="y"), voice := Voice())
    said = " ".join(voice.notes)
    assert "'line' is symmetric, and its columns are taken for features" in said and "--precomputed" in said
    np.savez(tmp_path / "x.npz", table=X, y=y)
    training_data(Asked(tmp_path / "x.npz", [], target="y"), voice := Voice())
    assert "symmetric" not in " ".join(voice.notes)
