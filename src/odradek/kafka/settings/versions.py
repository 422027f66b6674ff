"""Versions of the protocol among brokers, and what a cluster of that version can do.

A version is written as a release, `2.8` or `2.8.1`, or as one of the steps that led to it, such
as `2.8-IV0`. A release means its last step.
"""

from __future__ import annotations

from typing import NamedTuple

from odradek.kafka.settings.kinds import readable

# How many steps each release took; those that took none have no -IV in their names.
STEPS = {
    "0.8.0": 0,
    "0.8.1": 0,
    "0.8.2": 0,
    "0.9.0": 0,
    "0.10.0": 2,
    "0.10.1": 3,
    "0.10.2": 1,
    "0.11.0": 3,
    "1.0": 1,
    "1.1": 1,
    "2.0": 2,
    "2.1": 3,
    "2.2": 2,
    "2.3": 2,
    "2.4": 2,
    "2.5": 1,
    "2.6": 1,
    "2.7": 3,
    "2.8": 2,
    "3.0": 2,
    "3.1": 1,
    "3.2": 1,
    "3.3": 4,
    "3.4": 1,
    "3.5": 3,
    "3.6": 3,
    "3.7": 5,
    "3.8": 1,
    "3.9": 1,
}


class Version(NamedTuple):
    """One step; later ones are greater."""

    place: int
    release: str
    text: str

    @property
    def record_version(self) -> int:
        """The newest format of records that every broker of this version can read (magic)."""
        if self < RECORDS_WITH_TIMES:
            return 0
        return 1 if self < RECORDS_IN_BATCHES else 2


def all_versions() -> list[Version]:
    names = [
        (release, f"{release}-IV{step}" if steps else release)
        for release, steps in STEPS.items()
        for step in range(max(steps, 1))
    ]
    return [Version(place, *name) for place, name in enumerate(names)]


BY_TEXT = {version.text: version for version in all_versions()}
BY_TEXT |= {version.release: version for version in all_versions()}
RECORDS_WITH_TIMES = BY_TEXT["0.10.0-IV0"]
RECORDS_IN_BATCHES = BY_TEXT["0.11.0-IV0"]
LATEST = BY_TEXT["3.9"]


def read_version(text: str) -> Version:
    """The version that a text means; only the first numbers count, so `3.9.2` is `3.9`."""
    numbers = text.split(".")
    release = ".".join(numbers[: 3 if numbers[0] == "0" else 2])
    version = BY_TEXT.get(text) or BY_TEXT.get(release)
    if version is None:
        raise ValueError(f"must be a version from 0.8.0 to {LATEST.text}")
    return version


VERSION_TEXT = readable(read_version)
