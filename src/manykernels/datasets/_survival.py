"""`load_survival(name)`: sets of time to event that installed packages carry, or that a folder holds.

scikit-survival and lifelines hold theirs as text, which is read without importing them. SurvSet holds
pickles, which run code when they are read: `experiments/cohorts/convert.py` converts them once.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ._load import FOLDER, Dataset, MissingDataset, data_folder
from ._packages import Carried
from ._tables import Parts, Recipe, as_frame, as_parts, read_arff, read_csv

ENDPOINT = np.dtype([("event", np.bool_), ("time", np.float64)])
SUBFOLDER = "survival"


def survival_names(folder: str | Path | None = None) -> list[str]:
    """All that `load_survival` can load here: files of the folder, and sets of installed packages.

    Parameters
    ----------
    folder : path, default=None
        As in :func:`load_survival`.

    Returns
    -------
    list of str
        Sorted names. They begin with the package that the set is of: ``sksurv_`` (scikit-survival),
        ``lifelines_``, and for files that were converted ``survset_``.
    """
    where = _survival_folder(folder)
    files = [file.stem for file in where.glob("*.npz")] if where is not None and where.is_dir() else []
    return sorted({*files, *(name for name, known in SURVIVAL.items() if known.file)})


def load_survival(name: str, folder: str | Path | None = None) -> Dataset:
    """A set of time to event by its name; :func:`survival_names` lists those that can be loaded here.

    Sets of scikit-survival (``sksurv_whas500``) and lifelines (``lifelines_rossi``) are read from the files
    of these packages, where they are installed; ``pip install --no-deps`` is enough. Those of SurvSet
    (``survset_DLBCL``) are pickles, which run code when they are read. So they are converted once, by
    ``python -m experiments.cohorts.convert FOLDER`` in a checkout of this project. Sets whose features change
    in time, and those that are not right-censored, are not offered.

    Parameters
    ----------
    name : str
        Such as ``"sksurv_gbsg2"``.
    folder : path, default=None
        Where FOLDER/survival/NAME.npz is looked for first. By default the folder that the environment
        variable MANYKERNELS_DATA names.

    Returns
    -------
    Dataset
        ``data`` is a pandas frame of numbers and categories, in which cells may be missing. ``target`` is a
        structured array with the fields ``event`` (whether the event was observed) and ``time`` (until the
        event, or the end of observation), as scikit-survival has it. ``other`` holds ``subject`` where
        subjects have several rows, and ``entry`` where they were observed from a later time on. Events of
        different causes (``sksurv_bmt``, ``sksurv_cgvhd``, ``survset_follic``) are one event.

    Examples
    --------
    >>> from manykernels.datasets import load_survival, survival_names
    >>> "sksurv_whas500" in survival_names()  # doctest: +SKIP
    True
    >>> load_survival("sksurv_whas500")  # doctest: +SKIP
    <Dataset sksurv_whas500: 500 × 14>
    """
    if not isinstance(name, str) or not name or Path(name).name != name:
        raise ValueError(f"name={name!r} was given; expected a plain name such as 'sksurv_whas500'.")
    where = _survival_folder(folder)
    known = SURVIVAL.get(name)
    carried = known.file if known else None
    if where is not None and (where / f"{name}.npz").is_file():
        with np.load(where / f"{name}.npz", allow_pickle=False) as file:
            return _dataset(name, {key: file[key] for key in file.files})
    if known is None or carried is None:
        raise MissingDataset(_missing(name, where, folder))
    return _dataset(name, known.read(carried))


def _survival_folder(folder: str | Path | None) -> Path | None:
    where = data_folder(folder)
    return None if where is None else where / SUBFOLDER


def _dataset(name: str, parts: Parts) -> Dataset:
    needed = ("X", "feature_names", "categorical", "n_levels", "levels", "event", "time")
    lacking = [key for key in needed if key not in parts]
    if lacking:
        held = ", ".join(parts) or "nothing"
        raise ValueError(
            f"{name}.npz holds {held}; expected {', '.join(lacking)} too. Convert the set again with "
            "python -m experiments.cohorts.convert FOLDER."
        )
    y = endpoint(parts.pop("event"), parts.pop("time"))
    about = SURVIVAL[name].package if name in SURVIVAL else f"{name}.npz"
    description = str(parts.pop("description", f"{name}, of the package {about}"))
    try:
        frame = as_frame(parts)
    except ImportError as reason:
        raise ImportError(
            "load_survival gives a frame, and pandas is not installed: pip install pandas."
        ) from reason
    names = tuple(frame.columns)
    return Dataset(name, frame, y, feature_names=names, description=description, other=parts)


def endpoint(event: NDArray[np.bool_], time: NDArray[np.float64]) -> NDArray[np.void]:
    """Both in one structured array, as scikit-survival takes them."""
    y = np.empty(len(time), dtype=ENDPOINT)
    y["event"], y["time"] = event, time
    return y


def _missing(name: str, where: Path | None, folder: str | Path | None) -> str:
    if name in SURVIVAL:
        package = SURVIVAL[name].package
        return (
            f"{name!r} comes with the package {package}, which is not installed here, or without this file: "
            f"pip install --no-deps {package}."
        )
    looked = f"{FOLDER} is not set" if where is None else f"there is no {name}.npz in {where}"
    if name.startswith("survset_"):
        return (
            f"{name!r} is one of SurvSet's, which are pickles and have to be converted once, and {looked}. "
            "In a checkout of manykernels: pip install SurvSet, then python -m experiments.cohorts.convert "
            f"FOLDER, and let {FOLDER}, or folder=, name FOLDER."
        )
    there = survival_names(folder)
    near = difflib.get_close_matches(name, {*there, *SURVIVAL}, n=3, cutoff=0.5)
    near = near or [known for known in {*there, *SURVIVAL} if name.lower() in known.lower()]
    hint = f" Did you mean {' or '.join(map(repr, sorted(near)))}?" if near else ""
    listed = f"survival_names() lists the {len(there)} that can be loaded here"
    return f"No set of time to event is called {name!r}, and {looked}.{hint} {listed}."


# -- scikit-survival --------------------------------------------------------------------------------
def _graft(file: Path) -> Parts:
    """The first of graft-versus-host disease, relapse and death, as scikit-survival's load_cgvhd has it."""
    table = read_arff(file)
    times = {"cgvhtime": "cgvh", "reltime": "rcens", "survtime": "stat"}
    T = np.column_stack([table[time].values for time in times])
    first = T.min(axis=1)
    levels = [(table[name].levels or (), table[name].values) for name in times.values()]
    seen = np.column_stack([np.array(names)[places.astype(int)] == "1" for names, places in levels])
    event = np.any(seen & (first[:, None] == T), axis=1)
    return as_parts({name: table[name] for name in ("dx", "tx", "extent", "age")}, event, first)


def _sksurv(file: str, read: Callable[[Path], Parts]) -> Carried:
    return Carried("scikit-survival", "sksurv", f"datasets/data/{file}.arff", read)


# -- lifelines --------------------------------------------------------------------------------------
def _lifelines(file: str, read: Callable[[Path], Parts]) -> Carried:
    return Carried("lifelines", "lifelines", f"datasets/{file}", read)


_arff = partial(Recipe, read=read_arff)
SURVIVAL: dict[str, Carried] = {
    "sksurv_whas500": _sksurv("whas500", _arff("lenfol", "fstat")),
    "sksurv_gbsg2": _sksurv("GBSG2", _arff("time", "cens")),
    "sksurv_veteran": _sksurv("veteran", _arff("Survival_in_days", "Status", ("dead",))),
    "sksurv_aids": _sksurv("actg320", _arff("time", "censor", without=("time_d", "censor_d"))),
    "sksurv_aids_death": _sksurv("actg320", _arff("time_d", "censor_d", without=("time", "censor"))),
    "sksurv_breast_cancer": _sksurv("breast_cancer_GSE7390-metastasis", _arff("t.tdm", "e.tdm")),
    # chapter is the cause of death: only the dead have one
    "sksurv_flchain": _sksurv("flchain", _arff("futime", "death", ("dead",), without=("chapter",))),
    "sksurv_bmt": _sksurv("bmt", _arff("ftime", "status", ("1", "2"))),
    "sksurv_cgvhd": _sksurv("cgvhd", _graft),
    "lifelines_gbsg2": _lifelines("gbsg2.csv", Recipe("time", "cens")),
    "lifelines_rossi": _lifelines("rossi.csv", Recipe("week", "arrest")),
    "lifelines_larynx": _lifelines("larynx.csv", Recipe("time", "death")),
    "lifelines_lung": _lifelines("lung.csv", Recipe("time", "status", codes=("inst", "sex"))),
    "lifelines_lymphoma": _lifelines("lymphoma.csv", Recipe("Time", "Censor", codes=("Stage_group",))),
    "lifelines_lymph_node": _lifelines(
        "lymph_node.csv",
        Recipe(
            "rectime",
            "censrec",
            without=("id", "diagdateb", "recdate", "deathdate", "survtime", "censdead"),
            codes=("menopause", "hormone"),
        ),
    ),
    "lifelines_kidney_transplant": _lifelines("kidney_transplant.csv", Recipe("time", "death")),
    "lifelines_leukemia": _lifelines(
        "anderson.csv", Recipe("t", "status", read=partial(read_csv, separator=" "))
    ),
    "lifelines_psychiatric_patients": _lifelines(
        "psychiatric_patients.csv", Recipe("T", "C", codes=("sex",))
    ),
    "lifelines_lupus": _lifelines(
        "merrell1955.csv",
        Recipe(
            "time_between_diagnosis_and_last_observation_(years)",
            "dead",
            ("True",),
            without=("id", "year_month_of_diagnosis", "year_month_of_last_observation"),
        ),
    ),
    "lifelines_regression": _lifelines("regression.csv", Recipe("T", "E")),
    "lifelines_waltons": _lifelines("waltons_dataset.csv", Recipe("T", "E")),
    "lifelines_g3": _lifelines("g3.csv", Recipe("time", "event", ("True",), without=("no.",))),
    "lifelines_canadian_senators": _lifelines(
        "canadian_senators.csv",
        Recipe(
            "diff_days",
            "observed",
            ("True",),
            without=("Name", "Term (yyyy.mm.dd)", "start_date", "end_date", "reason"),
        ),
    ),
    "lifelines_dd": _lifelines(
        "dd.csv",
        Recipe("duration", "observed", without=("cowcode2", "politycode", "ehead", "leaderspellreg")),
    ),
    "lifelines_multicenter_aids_cohort": _lifelines(
        "multicenter_aids_cohort.tsv",
        Recipe("T", "D", without=("i",), entry="W", read=partial(read_csv, separator="\t")),
    ),
}
