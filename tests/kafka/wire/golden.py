"""Bytes of Apache's own software, kept as text: "== name", "#" notes, hex over several lines."""

from __future__ import annotations

from pathlib import Path


def golden_files(path: Path) -> dict[str, bytes]:
    """The bytes by name."""
    found: dict[str, str] = {}
    name = ""
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            name = line.removeprefix("== ")
            found[name] = ""
        elif line and not line.startswith("#"):
            found[name] += line
    return {name: bytes.fromhex(digits) for name, digits in found.items()}
