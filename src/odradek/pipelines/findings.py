"""What an audit finds: numbers by partition, the places, and what is wrong in plain sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

CLEANED, LOST, UNTOLD = "cleaned", "lost", "cannot be told"


@dataclass(frozen=True, slots=True)
class PartitionReport:
    """One partition. Where only a broker was asked, what its files alone say is 0."""

    topic: str
    partition: int
    first: int
    last: int
    records: int
    markers: int = 0
    missing: int = 0  # Offsets between the first and the last that have no record.
    offsets_twice: int = 0
    time_went_back: int = 0
    producer_duplicates: int = 0  # Records with the number of an earlier one by the same producer.
    producer_missing: int = 0  # Numbers that a producer must have used, and that are not there.
    producer_disorder: int = 0


@dataclass(frozen=True, slots=True)
class Gap:
    """Offsets without a record, and why."""

    topic: str
    partition: int
    first: int
    last: int
    kind: str

    @property
    def count(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Repeated:
    """What should be there once, and is there more often."""

    topic: str
    identity: str
    count: int
    offsets: list[str]  # Of some of them, as partition:offset.


@dataclass(frozen=True, slots=True)
class Jump:
    """Where a number that should grow by one did not."""

    topic: str
    key: str | None
    before: int
    after: int
    partition: int
    offset: int

    @property
    def is_back(self) -> bool:
        return self.after <= self.before


@dataclass(frozen=True, slots=True)
class GroupLag:
    """How far a group is behind in one partition."""

    group: str
    topic: str
    partition: int
    committed: int
    start: int
    end: int

    @property
    def lag(self) -> int:
        return max(0, self.end - self.committed)

    @property
    def lost(self) -> int:
        """Records that were deleted before the group came to them."""
        return max(0, self.start - self.committed)


@dataclass(frozen=True, slots=True)
class Moment:
    """How many records of a topic belong to a stretch of time."""

    topic: str
    from_ms: int
    records: int


@dataclass(slots=True)
class Audit:
    """All that was found."""

    source: str
    partitions: list[PartitionReport] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    repeated: list[Repeated] = field(default_factory=list)
    repeated_count: int = 0
    jumps: list[Jump] = field(default_factory=list)
    missing_count: int = 0
    back_count: int = 0
    lags: list[GroupLag] = field(default_factory=list)
    timeline: list[Moment] = field(default_factory=list)

    @property
    def records(self) -> int:
        return sum(one.records for one in self.partitions)

    @property
    def problems(self) -> list[str]:
        """What is wrong, worst first; nothing if all is well."""
        return [
            *problems_of_gaps(self.gaps),
            *(line for one in self.partitions for line in problems_of_partition(one)),
            *self._problems_of_records(),
            *(problem_of_lag(one) for one in self.lags if one.lost),
        ]

    @property
    def notes(self) -> list[str]:
        """What is worth knowing, and need not be wrong."""
        untold = sum(gap.count for gap in self.gaps if gap.kind == UNTOLD)
        cleaned = sum(gap.count for gap in self.gaps if gap.kind == CLEANED)
        back = sum(one.time_went_back for one in self.partitions)
        lag = sum(one.lag for one in self.lags)
        notes = [
            (
                untold,
                "offsets have no record: markers of transactions, aborted or cleaned records,"
                " or a loss; the segment files would tell which",
            ),
            (cleaned, "offsets have no record because the log was compacted"),
            (back, "records are older than the one before them in their partition"),
            (lag, "records are still to be read by groups"),
        ]
        return [f"{count:,} {text}" for count, text in notes if count]

    def _problems_of_records(self) -> list[str]:
        counts = [
            (self.repeated_count, "records are there once more than they should be"),
            (self.missing_count, "numbers of the sequence are missing"),
            (self.back_count, "records come after one that they should precede"),
        ]
        return [f"{count:,} {text}" for count, text in counts if count]

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "records": self.records,
            "problems": self.problems,
            "notes": self.notes,
        }


def problems_of_gaps(gaps: list[Gap]) -> list[str]:
    lost: dict[tuple[str, int], list[Gap]] = {}
    for gap in gaps:
        if gap.kind == LOST:
            lost.setdefault((gap.topic, gap.partition), []).append(gap)
    return [
        f"{topic}-{partition}: {sum(gap.count for gap in found):,} offsets are lost, the first from"
        f" {found[0].first} to {found[0].last}; no compaction explains it"
        for (topic, partition), found in lost.items()
    ]


def problems_of_partition(one: PartitionReport) -> list[str]:
    counts = [
        (one.offsets_twice, "offsets are there twice"),
        (one.producer_duplicates, "records repeat the number of an earlier one of their producer"),
        (one.producer_missing, "numbers of producers are missing"),
        (one.producer_disorder, "records are out of their producer's order"),
    ]
    return [f"{one.topic}-{one.partition}: {count:,} {text}" for count, text in counts if count]


def problem_of_lag(one: GroupLag) -> str:
    return (
        f"group {one.group} stands at {one.committed} of {one.topic}-{one.partition}, which begins"
        f" at {one.start}: {one.lost:,} records were deleted before it came to them"
    )
