"""The demo adds up although its controller is killed, and goes on if it is to be kept."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from odradek.kafka.client.offsets import LATEST, list_offsets
from tests.kafka.client.brokers import topics_of
from tests.spark.test_sink_crashes import members
from tests.waiting import wait_until

PATIENCE_S = 600


def offsets_of(address: str, topic: str) -> int:
    """How many records a topic has."""
    with topics_of(address) as topics:
        partitions = topics.cluster.partitions_of([topic])
        found = list_offsets(topics.cluster, dict.fromkeys(partitions, LATEST))
        return sum(offset or 0 for offset in found.values())


def test_a_demo_survives_its_controller_and_goes_on_until_it_is_interrupted(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "odradek.cli", "demo", "--keep", "--seconds", "0"]
    said = tmp_path / "said"
    with said.open("wb") as out:
        demo = subprocess.Popen(
            [*command, "--directory", str(tmp_path / "demo")],
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        wait_until(lambda: demo.poll() is not None or "Ctrl-C" in said.read_text(), PATIENCE_S)
        text = said.read_text()
        assert demo.poll() is None and "inputs and outputs add up" in text, text
        assert has_table_of_the_kill(text), text
        listens = re.search(r"brokers listen on (\S+)", text)
        assert listens is not None
        before = offsets_of(listens[1], "orders")
        wait_until(lambda: offsets_of(listens[1], "orders") > before, PATIENCE_S)
        demo.send_signal(signal.SIGINT)
        assert demo.wait(PATIENCE_S) == 0, said.read_text()
        wait_until(lambda: not members(demo.pid), PATIENCE_S)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(demo.pid, signal.SIGKILL)
        demo.wait()


def has_table_of_the_kill(text: str) -> bool:
    """Whether the story is there, and makes sense: another broker took over."""
    struck = re.search(r"killed \(SIGKILL\) +(broker-\d), pid \d+: .*orders-\d.*revenue-\d", text)
    successor = re.search(r"controller since +(broker-\d)", text)
    seconds = re.search(r"next ack +([\d.]+) s after the kill", text)
    assert struck and successor and seconds, text
    return struck[1] != successor[1] and float(seconds[1]) > 0
