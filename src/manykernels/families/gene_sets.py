"""Groups of columns from a file of gene sets, as pathway databases publish them."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .._arguments import and_more, number_of, shown
from .._warn import warn

_SHOWN = 5  # names in a sentence


def gene_sets(path: str | os.PathLike[str], columns: Any) -> dict[str, list[str]]:
    """The gene sets of a GMT file, with the genes that a table has: groups of columns for :func:`views`.

    Sets may overlap: a gene of several sets is a column of each of their kernels, and with ``norm=1`` and
    linear kernels the model is the latent group lasso (Obozinski, Jacob and Vert 2011). What does not match
    is said once: genes that the table does not have, sets of which it has none (which are left out), and
    columns that are in no set.

    Parameters
    ----------
    path : str or path
        A file in GMT format (``.gmt``, also ``.gmt.gz``): a set in each line, as its name, a description and
        its genes, separated by tabs.
    columns : frame, AnnData, or sequence of str
        The table that will be learned from, or the names of its columns.

    Returns
    -------
    dict of str to list of str
        The sets in the order of the file, each with its columns in the order of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from manykernels.families import gene_sets, views
    >>> from manykernels.kernels import Linear
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "sets.gmt")
    ...     _ = path.write_text("REPAIR\\tdna\\tTP53\\tATM\\nCYCLE\\tcell\\tTP53\\tCDK1\\n")
    ...     sets = gene_sets(path, ["TP53", "ATM", "CDK1"])
    >>> sets
    {'REPAIR': ['TP53', 'ATM'], 'CYCLE': ['TP53', 'CDK1']}
    >>> kernels = views(sets, Linear())
    """
    matched, said = matched_sets(path, _names(columns))
    if said:
        warn(said)
    return matched


def matched_sets(path: str | os.PathLike[str], names: list[str]) -> tuple[dict[str, list[str]], str]:
    """Keep the genes of a file's sets that are among these names, and describe all others."""
    whole, known = read_gmt(path), set(names)
    found = {name: [gene for gene in genes if gene in known] for name, genes in whole.items()}
    matched = {name: genes for name, genes in found.items() if genes}
    if not matched:
        raise ValueError(_no_match(path, whole, names))
    return matched, _mismatch(path, whole, matched, names)


def read_gmt(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """All sets of a GMT file, each with its genes once."""
    sets: dict[str, list[str]] = {}
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path={shown(path)} was given; expected the path of a GMT file of gene sets.")
    source = Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"{shown(str(path))} is no file; expected a GMT file of gene sets.")
    zipped = source.suffix == ".gz"
    with gzip.open(source, "rt", encoding="utf-8") if zipped else source.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            name, *rest = (field.strip() for field in line.rstrip("\r\n").split("\t"))
            genes = list(dict.fromkeys(gene for gene in rest[1:] if gene))
            if not name or not genes:
                raise ValueError(
                    f"{source}, line {number}: {shown(line.strip())} was read; expected a set's name, a "
                    "description and at least one gene, separated by tabs."
                )
            if name in sets:
                raise ValueError(
                    f"{source}, line {number}: there is a set called {name!r} already. Give every set a name "
                    "of its own."
                )
            sets[name] = genes
    if not sets:
        raise ValueError(f"{source} holds no sets; expected a line for each: name, description, genes.")
    return sets


def _names(columns: Any) -> list[str]:
    """The names of the columns of a frame or of AnnData, or as they are given."""
    for attribute in ("columns", "var_names"):
        if hasattr(columns, attribute):
            columns = getattr(columns, attribute)
            break
    flat = getattr(columns, "ndim", 1) == 1
    if isinstance(columns, str) or not isinstance(columns, Iterable) or not flat:
        raise ValueError(
            f"columns={shown(columns)} was given, which has no names; expected a frame, AnnData, or the "
            "names of the columns."
        )
    return [str(name) for name in columns]


def _no_match(path: Any, whole: dict[str, list[str]], names: list[str]) -> str:
    """Return why no gene was found, as far as names tell."""
    genes = dict.fromkeys(gene for members in whole.values() for gene in members)
    same = {name.casefold() for name in names}.intersection(gene.casefold() for gene in genes)
    hint = (
        "Names are compared as they are written, with case: rename the columns."
        if same
        else ("Give the table the identifiers that the file has (symbols, Ensembl or Entrez ids).")
    )
    return (
        f"No gene of {path} is a column of the table: the file has {_some(list(genes))}, the table has "
        f"{_some(names)}. {hint}"
    )


def _mismatch(path: Any, whole: dict[str, list[str]], matched: dict[str, list[str]], names: list[str]) -> str:
    """Describe what is not used: genes without a column, sets without genes, columns without a set."""
    used = {gene for genes in matched.values() for gene in genes}
    absent = list(dict.fromkeys(gene for genes in whole.values() for gene in genes if gene not in used))
    empty = [name for name in whole if name not in matched]
    unused = [name for name in names if name not in used]
    said = []
    if absent:
        are = "is" if len(absent) == 1 else "are"
        said.append(f"{number_of(len(absent), 'gene')} of {path} {are} not in the table: {_some(absent)}.")
    if empty:
        none = "has no gene" if len(empty) == 1 else "have no gene"
        are = "is" if len(empty) == 1 else "are"
        said.append(f"{number_of(len(empty), 'set')} {none} in the table and {are} left out: {_some(empty)}.")
    if unused:
        are = "is" if len(unused) == 1 else "are"
        said.append(f"{number_of(len(unused), 'column')} {are} in no set and not used: {_some(unused)}.")
    return " ".join(said)


def _some(names: list[str]) -> str:
    return and_more([repr(name) for name in names], _SHOWN)
