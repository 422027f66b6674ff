"""`python -m tests.interop.record_zookeeper`: record anew what Apache ZooKeeper says to streams."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.interop.apache import ApacheZooKeeper
from tests.zookeeper.server.oddities import odd_steps
from tests.zookeeper.server.player import play
from tests.zookeeper.server.steps import Step
from tests.zookeeper.server.streams import stream
from tests.zookeeper.server.transcripts import SETTINGS, transcript_path, write_transcript

SEEDS = range(1, 7)
STEP_COUNT = 1500


def record(name: str, steps: list[Step]) -> None:
    path = transcript_path(name)
    with (
        TemporaryDirectory() as directory,
        ApacheZooKeeper(Path(directory), SETTINGS) as server,
    ):
        write_transcript(path, play(server.port, steps))
    print(f"{path.name}: {len(steps)} steps, {path.stat().st_size} bytes")


def main() -> None:
    record("oddities", odd_steps())
    for seed in SEEDS:
        record(f"stream-{seed}", stream(seed, STEP_COUNT))


if __name__ == "__main__":
    main()
