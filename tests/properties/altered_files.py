"""Ways to change the file of a model, drawn at random: by accident, or with a checksum that matches."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import skops.io
from tests.model_files import ABOUT, members, packed, sealed, with_objects

Rng = np.random.Generator
FOREIGN = ["antigravity", "this", "evil_module", "turtle"]  # modules that nobody imports
_HEADER, _ENTRY = b"PK\x03\x04", b"PK\x01\x02"


def pick(rng: Rng, things: Any) -> Any:
    things = list(things)
    return things[int(rng.integers(len(things)))]


# -- bytes ----------------------------------------------------------------------------------------
def flip_bytes(rng: Rng, data: bytes) -> bytes:
    changed = bytearray(data)
    for position in rng.integers(0, len(data), int(rng.integers(1, 9))):
        changed[position] ^= int(rng.integers(1, 256))
    return bytes(changed)


def cut(rng: Rng, data: bytes) -> bytes:
    return data[: int(rng.integers(0, len(data)))]


def lose_a_piece(rng: Rng, data: bytes) -> bytes:
    start, stop = sorted(rng.integers(0, len(data), 2))
    return data[:start] + data[stop:]


def add_a_piece(rng: Rng, data: bytes) -> bytes:
    at = int(rng.choice([0, rng.integers(0, len(data)), len(data)]))
    return data[:at] + rng.bytes(int(rng.integers(1, 5000))) + data[at:]


def forge_fields(rng: Rng, data: bytes) -> bytes:
    """Sizes, checks, methods and flags in the headers of the archive."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        mark = pick(rng, [_HEADER, _ENTRY])
        places = [found.start() for found in re.finditer(re.escape(mark), data)]
        offset, width = pick(
            rng, [(6, 2), (8, 2), (10, 2), (14, 4), (16, 4), (18, 4), (20, 4), (22, 4), (24, 4)]
        )
        value = pick(
            rng, [0, 1, 8, 12, 14, 100, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF, int(rng.integers(1 << 32))]
        )
        at = pick(rng, places) + offset
        changed[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "little")
    return bytes(changed)


# -- members --------------------------------------------------------------------------------------
Parts = dict[str, bytes]


def drop_a_member(rng: Rng, parts: Parts) -> Parts:
    lost = pick(rng, parts)
    return {name: part for name, part in parts.items() if name != lost}


def rename_a_member(rng: Rng, parts: Parts) -> Parts:
    old = pick(rng, parts)
    new = pick(
        rng, ["../x", "/etc/passwd", "schema.json", "1.npy", "a" * 300, "x/", "ü", old + "x", old.upper()]
    )
    return {new if name == old else name: part for name, part in parts.items()}


def swap_members(rng: Rng, parts: Parts) -> Parts:
    a, b = pick(rng, parts), pick(rng, parts)
    return {**parts, a: parts[b], b: parts[a]}


def add_a_member(rng: Rng, parts: Parts) -> Parts:
    return {**parts, pick(rng, ["more", "0.npy", "x.npz", "evil_module.py"]): rng.bytes(50)}


def change_a_member(rng: Rng, parts: Parts) -> Parts:
    name = pick(rng, parts)
    change = pick(rng, [flip_bytes, cut, lose_a_piece, add_a_piece])
    return {**parts, name: change(rng, parts[name])} if parts[name] else parts


def change_an_array(rng: Rng, parts: Parts) -> Parts:
    """Another array in the place of one: other values, another shape or another type."""
    arrays = [name for name in parts if name.endswith(".npy")]
    if not arrays:
        return parts
    name = pick(rng, arrays)
    A = np.load(io.BytesIO(parts[name]), allow_pickle=False)
    numbers = A.dtype.kind in "biuf"
    others: list[Callable[[], Any]] = [
        lambda: A.ravel()[:-1],
        lambda: A[None],
        lambda: A.astype(str),
        lambda: np.zeros(0),
        lambda: np.array(np.nan),
        lambda: A[::-1] if A.ndim else A,
    ]
    if numbers:
        others += [
            lambda: A + 1,
            lambda: -A.astype(float),
            lambda: A * np.nan,
            lambda: A.astype(np.complex128),
        ]
    buffer = io.BytesIO()
    np.save(buffer, pick(rng, others)(), allow_pickle=False)
    return {**parts, name: buffer.getvalue()}


def forge_a_header(rng: Rng, parts: Parts) -> Parts:
    """An array that declares a shape or a type which it does not have."""
    arrays = [name for name in parts if name.endswith(".npy")]
    if not arrays:
        return parts
    name = pick(rng, arrays)
    shape = pick(rng, [(1 << 40,), (1 << 33, 1 << 33), (-1,), (0,), (3,), (), (1,) * 70, (1 << 62, 0)])
    kind = pick(
        rng, ["<f8", "|O", "<U0", "|V0", "<U1000000000", "<c16", "nonsense", [("a", "<f8", (1 << 20,))]]
    )
    header = io.BytesIO()
    told = {"descr": kind, "fortran_order": bool(rng.integers(2)), "shape": shape}
    np.lib.format.write_array_header_2_0(header, told)
    forged = {**parts, name: header.getvalue() + parts[name][int(rng.integers(0, 200)) :]}
    if rng.random() < 0.3:  # NumPy goes by the beginning of a file, not by its name
        other = name.replace(".npy", ".bin")
        forged[other] = forged.pop(name)
        forged["schema.json"] = forged["schema.json"].replace(name.encode(), other.encode())
    return forged


# -- the description of objects -------------------------------------------------------------------
def change_the_schema(rng: Rng, parts: Parts) -> Parts:
    schema = json.loads(parts["schema.json"])
    for _ in range(int(rng.integers(1, 4))):
        _change_a_value(rng, schema)
    return {**parts, "schema.json": json.dumps(schema).encode()}


def change_the_objects(rng: Rng, parts: Parts) -> Parts:
    """Those of this package, which are a text of their own."""

    def change(described: dict[str, Any]) -> None:
        for _ in range(int(rng.integers(1, 4))):
            _change_a_value(rng, described)

    return with_objects(parts, change)


def _change_a_value(rng: Rng, schema: Any) -> None:
    places = list(_places(schema))
    named = [
        place for place in places if place[1] in ("__class__", "__module__", "__loader__", "file", "__id__")
    ]
    holder, key = pick(rng, named if named and rng.random() < 0.5 else places)
    if rng.random() < 0.2:
        del holder[key]
    elif rng.random() < 0.2:
        other, at = pick(rng, places)
        holder[key] = other[at] if isinstance(other[at], str | int | float | bool | None) else None
    else:
        holder[key] = pick(rng, _VALUES)


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from _places(item)


_NODES = (
    "DictNode ListNode TupleNode SetNode ObjectNode FunctionNode PartialNode TypeNode SliceNode JsonNode "
    "MethodNode NdArrayNode MaskedArrayNode DTypeNode RandomStateNode RandomGeneratorNode CachedNode "
    "SparseMatrixNode BytesNode BytearrayNode OperatorFuncNode ConstructorFromReduceNode LossNode TreeNode "
    "DefaultDictNode Nonsense"
).split()
_VALUES: list[Any] = [
    *(
        None,
        True,
        0,
        1,
        -1,
        2,
        10**30,
        0.5,
        "",
        "x",
        "1",
        [],
        {},
        [[]],
        {"__id__": 1},
        "null",
        "[",
        '"pandas"',
    ),
    *(
        "numpy",
        "float64",
        "void",
        "ndarray",
        "builtins",
        "exec",
        "eval",
        "object",
        "os",
        "system",
        "int",
        "list",
    ),
    *(
        "sklearn.svm._classes",
        "SVC",
        "manykernels.persistence",
        "write_atomically",
        "manykernels.demo",
        "main",
    ),
    *("manykernels.kernels", "Linear", "manykernels.grams.stack", "StackGram", "schema.json", "9" * 5000),
    *FOREIGN,
    *(json.dumps(name) for name in FOREIGN),  # texts are kept as JSON in JSON
    *_NODES,
]


# -- what it says of itself, and other files ------------------------------------------------------
def change_the_description(rng: Rng, parts: Parts) -> Parts:
    about = json.loads(parts[ABOUT])
    key = pick(rng, about)
    values = [
        None,
        0,
        1,
        2,
        3,
        -1,
        1e400,
        "",
        "0.1.0",
        "9.9",
        "0.1.0.dev1",
        "x" * 1000,
        [],
        {},
        about["sha256"][::-1],
    ]
    about[key] = pick(rng, values)
    text = (
        json.dumps(about) if rng.random() < 0.8 else pick(rng, ["", "null", "[]", "[" * 100_000, "7", "{}"])
    )
    return {**parts, ABOUT: text.encode()}


def another_file(rng: Rng, data: bytes) -> bytes:
    arrays = io.BytesIO()
    np.savez(arrays, a=np.zeros(3))
    twice = [*members(data).items(), (pick(rng, members(data)), b"again")]
    others = [
        b"",
        b"PK",
        b"a,b\n1,2\n",
        arrays.getvalue(),
        skops.io.dumps([1]),
        packed({}),
        packed({"x": b""}),
    ]
    return pick(rng, [*others, packed(twice), packed({ABOUT: members(data)[ABOUT]}), _packed_otherwise(data)])


def _packed_otherwise(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as archive:
        for name, part in members(data).items():
            archive.writestr(name, part)
    return buffer.getvalue()


OF_BYTES = [flip_bytes, cut, lose_a_piece, add_a_piece, forge_fields, another_file]
OF_MEMBERS = [drop_a_member, rename_a_member, swap_members, add_a_member, change_a_member, change_an_array]
OF_MEMBERS += [forge_a_header, change_the_schema, change_the_objects]


def by_accident(rng: Rng, data: bytes) -> tuple[str, bytes]:
    """(what was done, a file whose checksum was not made anew)."""
    if rng.random() < 0.4:
        change = pick(rng, OF_BYTES)
        return change.__name__, change(rng, data)
    change = pick(rng, [*OF_MEMBERS, change_the_description])
    return change.__name__, packed(change(rng, members(data)))


def forged(rng: Rng, data: bytes) -> tuple[str, bytes]:
    """(what was done, a file with a checksum that matches)."""
    change = pick(rng, [*OF_MEMBERS, *[change_the_schema, change_the_objects] * len(OF_MEMBERS)])
    return change.__name__, sealed(change(rng, members(data)))
