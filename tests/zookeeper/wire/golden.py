"""What a live ZooKeeper 3.9.5 sent, received and wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import pack
from typing import NamedTuple

DATA = Path(__file__).parent / "data"


class Line(NamedTuple):
    """One line of an exchange; `request` is None where the server spoke unasked."""

    connection: str
    what: str
    request: bytes | None
    answer: bytes


def exchange() -> Iterator[Line]:
    for text in (DATA / "exchange.tsv").read_text().splitlines():
        if not text.startswith("#"):
            connection, what, request, answer = text.split("\t")
            asked = None if request == "-" else bytes.fromhex(request)
            yield Line(connection, what, asked, bytes.fromhex(answer))


def golden_bytes(name: str) -> bytes:
    """The file or packet whose title starts with `name`."""
    for section in (DATA / "files.txt").read_text().split("== ")[1:]:
        title, *lines = section.splitlines()
        if title.startswith(name):
            return bytes.fromhex("".join(line for line in lines if not line.startswith("#")))
    raise KeyError(name)


def framed(payload: bytes) -> bytes:
    return pack(">i", len(payload)) + payload
