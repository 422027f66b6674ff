"""A finding: how bad it is, what it is about, and a plain sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """From well to wrong. Only what is wrong makes a command fail."""

    GOOD = "good"
    NOTE = "note"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    subject: str
    text: str


def good(subject: str, text: str) -> Finding:
    return Finding(Level.GOOD, subject, text)


def note(subject: str, text: str) -> Finding:
    return Finding(Level.NOTE, subject, text)


def warning(subject: str, text: str) -> Finding:
    return Finding(Level.WARNING, subject, text)


def wrong(subject: str, text: str) -> Finding:
    return Finding(Level.WRONG, subject, text)


def is_well(findings: Iterable[Finding]) -> bool:
    """Whether nothing is wrong."""
    return all(finding.level is not Level.WRONG for finding in findings)
