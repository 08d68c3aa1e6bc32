"""Checks of the description of objects in a model's file, before skops builds anything from it.

skops writes an object with its ``__id__`` in each place where it occurs, and reads only the first of those
with the same ``__id__``. A forged description can use this to fill the memory: two references to an object
that holds two references, and so on, or thousands of references to one array. So all entries with one
``__id__`` must have the same size, and an array may belong to one ``__id__`` only. The objects are then no
larger than the file.
"""

from __future__ import annotations

from typing import Any

from .._archives import ArchiveError, shown

# How skops builds objects of this package: without calling any of its constructors.
_BUILT = frozenset({"ObjectNode", "TupleNode"})
# Types that read a number from the file and allocate as many bytes. No model of this package holds one.
_GROWING = frozenset({("numpy", "void"), ("numpy", "bytes_"), ("numpy.random._generator", "Generator")})
_GROWING_NODES = frozenset({"RandomGeneratorNode"})


def require_tree(schema: Any) -> None:
    """Raise an error if skops cannot have written this description for a model of this package."""
    if not isinstance(schema, dict):
        raise ArchiveError("its list of objects is missing or damaged")
    _count(schema, {}, {})


def _count(value: Any, sizes: dict[int, int], owners: dict[str, int]) -> int:
    """Count this object and all objects inside it."""
    if isinstance(value, list):
        return sum(_count(item, sizes, owners) for item in value)
    if not isinstance(value, dict):
        return 0
    size = 1 + sum(_count(item, sizes, owners) for item in value.values())
    if "__loader__" in value:
        _require_buildable(value)
    known = value.get("__id__")
    if isinstance(known, dict | None):  # an entry of a dictionary, not an object
        known = None
    elif type(known) is not int or sizes.setdefault(known, size) != size:
        raise ArchiveError("it refers to its objects in a way that save(model, path) never does")
    file = value.get("file")
    if isinstance(file, str) and (known is None or owners.setdefault(file, known) != known):
        raise ArchiveError("it refers to its arrays in a way that save(model, path) never does")
    return size


def _require_buildable(node: dict[str, Any]) -> None:
    names = [node.get(key) for key in ("__module__", "__class__", "__loader__")]
    if not all(isinstance(name, str) for name in names):
        raise ArchiveError("its list of objects is missing or damaged")
    module, name, loader = map(str, names)
    ours = module.split(".")[0] == "manykernels"
    growing = loader in _GROWING_NODES or (module, name) in _GROWING
    if growing or (ours and loader not in _BUILT):
        raise ArchiveError(f"it holds {shown(module)}.{shown(name)}, which models never hold")
