"""Recorded answers: what Apache's broker said to each dialogue, and the same asked of another."""

from __future__ import annotations

from pathlib import Path

from tests.kafka.server.dialogues import DIALOGUES
from tests.kafka.server.transcript import Transcript

DATA = Path(__file__).parent / "data"


def answers_path(name: str) -> Path:
    return DATA / f"answers-{name}.txt"


def answers_to(name: str, port: int) -> str:
    """Hold a dialogue with the broker at a port, and give what was said."""
    with Transcript(port) as transcript:
        transcript.wait_until_up()
        DIALOGUES[name](transcript)
        return transcript.text()
