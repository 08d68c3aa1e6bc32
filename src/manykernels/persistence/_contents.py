"""The description in a model file, and its checks: version, checksum and sizes."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import manykernels

from .._archives import ArchiveError, open_archive, read_member, shown, unpacked_size
from .._files import MODEL_MARK
from ._schema import require_tree

# The number of the file format. Raise it if older versions cannot read new files, or new versions old files.
FORMAT = 3
_SCHEMA = "schema.json"
# How often the contents are in memory while a model is loaded: two buffers, the arrays, and a check.
_COPIES = 4
_DESCRIPTION = 1 << 16  # the largest description, in bytes


class ModelFileError(ValueError):
    """Raised if a model cannot be saved, or a file cannot be loaded as a model."""


def describe(data: bytes, model: str) -> bytes:
    """Add a description with the checksum to the archive that skops made."""
    about: dict[str, Any] = {"format": FORMAT, "version": manykernels.__version__, "model": model}
    buffer = io.BytesIO(data)
    with ZipFile(buffer, "a", compression=ZIP_DEFLATED, compresslevel=1) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
        require_tree(json.loads(parts[_SCHEMA]))
        archive.writestr(MODEL_MARK, json.dumps({**about, "sha256": checksum(about, parts)}))
    return buffer.getvalue()


def checksum(about: dict[str, Any], parts: dict[str, bytes]) -> str:
    """Compute a checksum of the description and all members, in any order."""
    whole = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name in sorted(parts):
        whole.update(json.dumps([name, hashlib.sha256(parts[name]).hexdigest()]).encode())
    return whole.hexdigest()


def unpack(data: bytes, limit: int, check: Callable[[dict[str, Any]], None]) -> bytes:
    """Check sizes, checksum and the description of objects, and return the archive unpacked.

    Each member is read once, up to the size that was checked. Later steps see only the bytes that were
    checked here. ``check`` gets the description first, and raises an error if this version cannot read the
    file.
    """
    with open_archive(io.BytesIO(data), limit, _COPIES) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        if MODEL_MARK not in infos:
            raise ArchiveError("it is an archive of something else, which save(model, path) did not write")
        if infos[MODEL_MARK].file_size > _DESCRIPTION:
            raise ArchiveError("its note of the version that wrote it is damaged")
        about = _about(read_member(archive, infos.pop(MODEL_MARK)))
        check(about)
        parts = {name: read_member(archive, info) for name, info in infos.items()}
    if checksum({key: about[key] for key in about if key != "sha256"}, parts) != about["sha256"]:
        raise ArchiveError("its checksum does not match, so it was changed or damaged after it was written")
    room = limit // _COPIES
    for name, part in parts.items():
        room -= unpacked_size(name, part, room)
    require_tree(json.loads(parts.get(_SCHEMA, b"null")))
    return _stored(parts)


def _about(text: bytes) -> dict[str, Any]:
    try:
        about = json.loads(text)
        kinds = {"format": int, "version": str}
        if all(type(about[key]) is kind for key, kind in kinds.items()) and len(about["version"]) < 40:
            return {**about, "sha256": about.get("sha256")}
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise ArchiveError("its note of the version that wrote it is damaged")


def _stored(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return buffer.getvalue()


def require_known(about: dict[str, Any], path: str) -> None:
    """Raise an error if the file is of a newer version, or of a very early one."""
    ours = manykernels.__version__
    if about["format"] > FORMAT or _numbers(about["version"]) > _numbers(ours):
        raise ModelFileError(
            f"{path} was written by manykernels {shown(about['version'])} (format {about['format']}), "
            f"and this is {ours} (format {FORMAT}). Install that version, or a newer one."
        )
    if about["format"] < FORMAT:
        raise ModelFileError(
            f"{path} was written by an early version of manykernels (format {about['format']}, and this one "
            f"reads format {FORMAT}), and is not read any more. Fit the model again and save it."
        )


def _numbers(version: str) -> tuple[int, ...]:
    parts = (part for part in version.split(".")[:3])
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in parts)
