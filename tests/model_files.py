"""Files of models taken apart and put together again, honestly or not."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

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
