"""`python -m experiments.cohorts.convert FOLDER`: the pickles of SurvSet as FOLDER/survival/survset_NAME.npz.

A pickle is a program: whoever unpickles a file runs what is in it. So this is done once, in a process of its
own, by an unpickler that knows only the handful of functions that rebuild a pandas frame and refuses all
others, and the package afterwards reads arrays without pickle. Sets with covariates that change in time are
left out. The frames are of an old pandas; it takes SurvSet's own environment:

    pip install SurvSet pandas        # and manykernels
    python -m experiments.cohorts.convert FOLDER
    export MANYKERNELS_DATA=FOLDER
"""

from __future__ import annotations

import argparse
import ast
import csv
import pickle
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from manykernels.datasets._tables import Column, Parts, as_parts

from ..data import Array

# What a frame is rebuilt from. NumPy's internal modules were renamed in 2.0, which is why names differ.
FRAME = {
    "builtins": {"slice"},
    "numpy": {"dtype", "ndarray"},
    "numpy.core.multiarray": {"_reconstruct"},
    "numpy.core.numeric": {"_frombuffer"},
    "numpy._core.multiarray": {"_reconstruct"},
    "numpy._core.numeric": {"_frombuffer"},
    "pandas._libs.arrays": {"__pyx_unpickle_NDArrayBacked"},
    "pandas._libs.internals": {"_unpickle_block"},
    "pandas.core.arrays.boolean": {"BooleanArray", "BooleanDtype"},
    "pandas.core.arrays.categorical": {"Categorical"},
    "pandas.core.arrays.integer": {"IntegerArray", "Int32Dtype", "Int64Dtype"},
    "pandas.core.arrays.string_": {"StringArray", "StringDtype"},
    "pandas.core.dtypes.dtypes": {"CategoricalDtype"},
    "pandas.core.frame": {"DataFrame"},
    "pandas.core.indexes.base": {"Index", "_new_Index"},
    "pandas.core.indexes.range": {"RangeIndex"},
    "pandas.core.internals.managers": {"BlockManager"},
}


class FrameUnpickler(pickle.Unpickler):
    """Rebuilds frames and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if name not in FRAME.get(module, ()):
            raise pickle.UnpicklingError(
                f"{module}.{name} is wanted by the file; only what a pandas frame is made of is allowed."
            )
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def frame_of(stream: BinaryIO) -> Any:
    return FrameUnpickler(stream).load()


def parts_of(frame: Any, description: str) -> Parts:
    """pid, event, time, then features that are called num_… and fac_…; events of any cause count.

    Features lose this prefix, except where a set has both num_A and fac_A.
    """
    called = [str(name) for name in frame.columns if str(name)[:4] in ("num_", "fac_")]
    plain = [name[4:] for name in called]
    counts, table = Counter(plain), {}
    for name, short in zip(called, plain, strict=True):
        numbers = name.startswith("num_")
        column = frame[name]
        table[short if counts[short] == 1 else name] = (
            Column(_numbers(column)) if numbers else _categories(column)
        )
    subject = frame["pid"].to_numpy()
    ids, places = np.unique(subject, return_inverse=True)
    several = {"subject": places} if len(ids) < len(places) else {}
    event, time = frame["event"].to_numpy(dtype=float) > 0, frame["time"].to_numpy(dtype=float)
    return as_parts(table, event, time, description=description, **several)


def _numbers(series: Any) -> Array:
    """R's NA is a NaN of its own, which some functions do not take for one: here all are the same."""
    values = series.to_numpy(dtype=float, na_value=np.nan)
    return np.where(np.isnan(values), np.nan, values)


def _categories(series: Any) -> Column:
    codes = series.astype("category").cat
    places = codes.codes.to_numpy(dtype=float)
    return Column(np.where(places < 0, np.nan, places), tuple(map(str, codes.categories)))


def survset() -> Path:
    """The folder of the package, which is not imported."""
    found = find_spec("SurvSet")
    if found is None or not found.submodule_search_locations:
        sys.exit("SurvSet is not installed here: pip install SurvSet, then run this again.")
    return Path(found.submodule_search_locations[0])


def references(package: Path) -> dict[str, str]:
    """Where SurvSet says that each set is described: a dictionary in its source, read as text."""
    for node in ast.parse((package / "utils" / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "di_ref":
            return dict(ast.literal_eval(node.value))
    return {}


def convert(folder: Path) -> list[str]:
    """Write every static set; the names of those written."""
    package = survset()
    pickles, where = package / "resources" / "pickles", references(package)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with (pickles / "df_ds.csv").open(encoding="utf-8") as stream:
        names = [row["ds"] for row in csv.DictReader(stream) if row["is_td"] == "False"]
    for name in sorted(names, key=str.lower):
        with (pickles / f"{name}.pickle").open("rb") as stream:
            frame = frame_of(stream)
        described = (
            f"{name}, of the package SurvSet; features are described at {where.get(name, 'its source')}"
        )
        np.savez_compressed(folder / f"survset_{name}.npz", **parts_of(frame, described))
        written.append(name)
        print(f"survset_{name}: {frame.shape[0]} rows", flush=True)
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m experiments.cohorts.convert", description=__doc__)
    parser.add_argument("folder", type=Path, help="the one that MANYKERNELS_DATA names")
    print(f"{len(convert(parser.parse_args().folder / 'survival'))} sets")
