"""What servers say of themselves: four-letter words, health, metrics; "" or None if they do not."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import Any

from odradek.local.ports import HOST

PATIENCE_S = 2.0


def say(port: int, word: str) -> str:
    """What a ZooKeeper answers to a four-letter word."""
    answer = b""
    with suppress(OSError), socket.create_connection((HOST, port), PATIENCE_S) as connection:
        connection.sendall(word.encode())
        while piece := connection.recv(65536):
            answer += piece
    return answer.decode(errors="replace")


def figures(port: int) -> dict[str, str]:
    """What `mntr` says, by name."""
    lines = (line.partition("\t") for line in say(port, "mntr").splitlines())
    return {name: value for name, tab, value in lines if tab}


def get(port: int, path: str) -> tuple[int, bytes] | None:
    """Status and body of a page; None if nobody answers."""
    connection = HTTPConnection(HOST, port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


def health(http_port: int) -> dict[str, Any] | None:
    """What a broker says of itself, well or not."""
    got = get(http_port, "/health")
    if got is None:
        return None
    said: dict[str, Any] = json.loads(got[1])
    return said


def metrics(http_port: int) -> dict[str, float]:
    """The figures of a broker that have no labels."""
    got = get(http_port, "/metrics")
    found = {}
    for line in (got[1].decode() if got else "").splitlines():
        name, _, value = line.partition(" ")
        if value and not line.startswith("#") and "{" not in name:
            found[name] = float(value)
    return found
