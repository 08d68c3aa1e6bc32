"""`load_survival(name)`: sets of time to event that installed packages carry, or that a folder holds.

scikit-survival and lifelines hold theirs as text, which is read without importing them. SurvSet holds
pickles, which run code when they are read: `experiments/cohorts/convert.py` converts them once.
"""

from __future__ import annotations

import difflib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ._cohorts import COHORTS
from ._load import FOLDER, Dataset, MissingDataset, data_folder
from ._tables import Parts, as_frame

ENDPOINT = np.dtype([("event", np.bool_), ("time", np.float64)])
SUBFOLDER = "survival"


def survival_names(folder: str | Path | None = None) -> list[str]:
    """List the names of all sets that `load_survival` can load here.

    Parameters
    ----------
    folder : path or None, default=None
        As in `load_survival`.

    Returns
    -------
    list of str
        Sorted names: files of the folder, and sets of installed packages. They begin with the package that
        the set is of: ``sksurv_`` (scikit-survival), ``lifelines_``, and for files that were converted
        ``survset_``.

    Examples
    --------
    >>> from manykernels.datasets import survival_names
    >>> all(isinstance(name, str) for name in survival_names())
    True
    """
    where = _survival_folder(folder)
    files = [file.stem for file in where.glob("*.npz")] if where is not None and where.is_dir() else []
    return sorted({*files, *(name for name, known in COHORTS.items() if known.file)})


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

    Raises
    ------
    MissingDataset
        If there is no such set here; the message says how to get it.

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
    known = COHORTS.get(name)
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
    description = str(parts.pop("description", f"{name}.npz"))
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
    if name in COHORTS:
        package = COHORTS[name].package
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
    every = {*there, *COHORTS}
    near = [known for known in every if name.lower() in known.lower()]
    near = near or difflib.get_close_matches(name, every, n=3, cutoff=0.7)
    hint = f" Did you mean {' or '.join(map(repr, sorted(near)))}?" if near else ""
    listed = (
        f"survival_names() lists the {len(there)} that can be loaded here."
        if there
        else "None can be loaded here yet: pip install --no-deps scikit-survival lifelines brings some."
    )
    return f"No set of time to event is called {name!r}, and {looked}.{hint} {listed}"
