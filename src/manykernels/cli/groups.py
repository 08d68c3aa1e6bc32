"""Sets of columns from a file, as views."""

from __future__ import annotations

from pathlib import Path

from ..families.gene_sets import matched_sets
from ._console import UserError, Voice


def grouped(path: Path, views: dict[str, list[str]], voice: Voice) -> dict[str, list[str]]:
    """The sets of a file as views: of the columns of one table, or of each view that has some of them.

    A view of which no column is in any set stays as it is. Names are those of the files: columns of views
    have the view's name before theirs.
    """
    own = {
        view: {name.removeprefix(f"{view}__"): name for name in columns} for view, columns in views.items()
    }
    try:
        sets, _ = matched_sets(path, [name for names in own.values() for name in names])
        genes = {gene for members in sets.values() for gene in members}
        of = {view: names for view, names in own.items() if not genes.isdisjoint(names)}
        _, said = matched_sets(path, [name for names in of.values() for name in names])
    except FileNotFoundError as error:
        raise UserError(f"--groups {path}: there is no such file.") from error
    except (OSError, ValueError) as error:
        raise UserError(f"--groups: {error}") from error
    if said:
        voice.note(said)
    found: dict[str, list[str]] = {}
    for view, columns in views.items():
        if view not in of:
            found[view] = columns
            continue
        for name, members in sets.items():
            here = [of[view][gene] for gene in members if gene in of[view]]
            if here:
                found[name if len(of) == 1 else f"{view}: {name}"] = here
    return found
