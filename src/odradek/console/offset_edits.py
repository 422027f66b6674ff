"""Where a group shall go on from: what was written into the fields, checked against the log; pure.

An edit is prefilled with what is committed now; what was left as it is changes nothing. An offset
outside of the log is refused, not bent: who wrote it was mistaken about something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from odradek.kafka.client.errors import TopicPartition


class Place(NamedTuple):
    """A partition, what the log holds of it, and how far the group is."""

    partition: TopicPartition
    first: int
    end: int
    committed: int | None
    member: str = ""

    @property
    def lag(self) -> int | None:
        return None if self.committed is None else max(0, self.end - self.committed)


class Edit(NamedTuple):
    """One offset that shall change."""

    partition: TopicPartition
    before: int | None
    after: int
    lag_after: int


def edits_of(
    places: Iterable[Place], written: Mapping[TopicPartition, str]
) -> tuple[list[Edit], list[str]]:
    """What would change, and what cannot be, in words."""
    edits, problems = [], []
    for place in places:
        text = written.get(place.partition, "").strip()
        if not text:
            continue
        after = offset_of(text, place)
        if after is None:
            problems.append(f"{place.partition}: {text!r} is no offset")
        elif not place.first <= after <= place.end:
            within = f"{place.first} to {place.end}"
            problems.append(f"{place.partition}: {after} is not within the log, {within}")
        elif after != place.committed:
            lag = place.end - after
            edits.append(Edit(place.partition, place.committed, after, lag))
    return edits, problems


def offset_of(text: str, place: Place) -> int | None:
    """An offset, `earliest`, `latest`, or +N and -N from where the group is."""
    named = {"earliest": place.first, "latest": place.end}
    if text in named:
        return named[text]
    try:
        number = int(text)
    except ValueError:
        return None
    return (place.committed or 0) + number if text[0] in "+-" else number
