"""Sessions of an ensemble, what each watches and what each owns, read from four-letter words; pure.

`cons` tells of connections, `wchc` of watches on data, `dump` of ephemeral znodes. Each server
tells of its own clients only, but for `dump`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

CONNECTION = re.compile(r"/(?P<peer>\S+?)\[\d+\]\((?P<about>.*)\)$")
OWNERS = "Sessions with Ephemerals"
AFTER_OWNERS = "Connections dump:"
ID = re.compile(r"0x[0-9a-f]+$")


@dataclass(frozen=True, slots=True)
class Session:
    """One session: who carries it, and what hangs on it."""

    id: str
    peer: str
    server: str
    timeout: str = ""
    last: str = ""
    watches: tuple[str, ...] = ()
    ephemerals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """What one server answered; "" where a word is not allowed."""

    server: str
    cons: str = ""
    wchc: str = ""
    dump: str = ""


@dataclass(frozen=True, slots=True)
class Sessions:
    """All that are known, by id."""

    by_id: Mapping[str, Session] = field(default_factory=dict)
    tells_watches: bool = False  # Whether any server does.

    def watching(self, path: str) -> list[Session]:
        """Who watches the data of a znode."""
        return [it for it in self.by_id.values() if path in it.watches]


def read_sessions(all_said: Iterable[Said]) -> Sessions:
    """Put together what the servers of an ensemble say."""
    answers = list(all_said)
    owned: dict[str, tuple[str, ...]] = {}
    for said in answers:
        owned |= {it: tuple(paths) for it, paths in by_heading(owners_in(said.dump)).items()}
    found: dict[str, Session] = {}
    for said in answers:
        watched = by_heading(said.wchc.splitlines())
        for line in said.cons.splitlines():
            if (it := read_connection(line, said.server)) is not None:
                watches = tuple(watched.get(it.id, ()))
                found[it.id] = Session(
                    it.id, it.peer, it.server, it.timeout, it.last, watches, owned.get(it.id, ())
                )
    return Sessions(found, any(it.wchc and is_answer(it.wchc) for it in answers))


def read_connection(line: str, server: str) -> Session | None:
    """One line of `cons`; None if it carries no session."""
    match = CONNECTION.match(line.strip())
    if match is None:
        return None
    said = dict(it.split("=", 1) for it in match["about"].split(",") if "=" in it)
    if not ID.match(said.get("sid", "")):
        return None
    timeout = f"{said['to']} ms" if "to" in said else ""
    return Session(said["sid"], match["peer"], server, timeout, said.get("lop", ""))


def by_heading(lines: Iterable[str]) -> dict[str, list[str]]:
    """Indented lines, by the session above them."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in lines:
        if line.startswith("\t") and heading:
            found[heading].append(line[1:])
        elif ID.match(line.rstrip(":")):
            heading = line.rstrip(":")
            found.setdefault(heading, [])
        else:
            heading = ""
    return found


def owners_in(dump: str) -> list[str]:
    """The part of `dump` that tells of ephemeral znodes."""
    return dump.partition(OWNERS)[2].partition(AFTER_OWNERS)[0].splitlines()


def is_answer(text: str) -> bool:
    """Whether a word was answered, and not refused."""
    return "is not executed because" not in text and "not currently serving" not in text
