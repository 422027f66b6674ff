"""What Apache ZooKeeper said to a stream, kept to be compared with what we say.

A transcript is text, compressed: a line for each step, after it what was heard.

    > A say 0000000f0000000100000003000000022f6101
    A 1 4 OK <3@/3@/3 v0.0.0 owner 0 1 0>
    B event 4 created 3 /a
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.zookeeper.server.random_values import SUPER_DIGEST
from tests.zookeeper.server.steps import Step

DATA = Path(__file__).parent / "data"
MARK = "> "

# Both servers run with these. Nothing is lost by not syncing: what is compared is never a crash.
SETTINGS: dict[str, object] = {
    "extendedTypesEnabled": "true",
    "enforceQuota": "true",
    "forceSync": "no",
    "DigestAuthenticationProvider.superDigest": SUPER_DIGEST,
}

Played = tuple[Step, list[str]]


def transcript_path(name: str) -> Path:
    return DATA / f"{name}.txt.gz"


def recorded() -> list[Path]:
    return sorted(DATA.glob("*.txt.gz"))


def write_transcript(path: Path, played: Iterable[Played]) -> None:
    lines: list[str] = []
    for step, heard in played:
        lines += [MARK + step.text(), *heard]
    # Without a time in it, the same transcript is the same file.
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))


def read_transcript(path: Path) -> Iterator[Played]:
    step: Step | None = None
    heard: list[str] = []
    for line in gzip.decompress(path.read_bytes()).decode().split("\n"):
        if not line.startswith(MARK):
            heard.append(line)
            continue
        if step is not None:
            yield step, heard
        step, heard = Step.parse(line.removeprefix(MARK)), []
    if step is not None:
        yield step, heard
