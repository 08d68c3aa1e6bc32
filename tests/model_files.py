"""Files of models taken apart and put together again, honestly or not."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from manykernels.persistence._contents import FORMAT, checksum

ABOUT = "manykernels.json"


def members(data: bytes) -> dict[str, bytes]:
    """The members of an archive by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: list[tuple[str, bytes]] | dict[str, bytes]) -> bytes:
    """An archive of members, of which two may have one name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, part in parts.items() if isinstance(parts, dict) else parts:
            archive.writestr(name, part)
    return buffer.getvalue()


def sealed(parts: dict[str, bytes], **about: Any) -> bytes:
    """An archive of members with a checksum that matches: what somebody forges who knows the format."""
    inner = {name: part for name, part in parts.items() if name != ABOUT}
    told = {"format": FORMAT, "version": "0.1.0", "model": "Forged", **about}
    return packed({**inner, ABOUT: json.dumps({**told, "sha256": checksum(told, inner)}).encode()})


def array(value: Any) -> bytes:
    """An array as a member of an archive."""
    buffer = io.BytesIO()
    np.save(buffer, value)
    return buffer.getvalue()


def objects(parts: dict[str, bytes]) -> tuple[str, dict[str, Any]]:
    """The member that describes the objects of this package, and what it says."""
    for name, part in parts.items():
        if b'{"classes":' in part[:200]:
            return name, json.loads(np.load(io.BytesIO(part)).tobytes())
    raise AssertionError("no member describes objects")


def with_objects(parts: dict[str, bytes], change: Callable[[dict[str, Any]], Any]) -> dict[str, bytes]:
    """The members with another description of the objects of this package."""
    name, described = objects(parts)
    changed = change(described)
    text = json.dumps(described if changed is None else changed)
    return {**parts, name: array(np.frombuffer(text.encode(), dtype=np.uint8))}
