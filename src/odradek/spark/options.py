"""The options of the source: those of Spark's Kafka connector, by name, meaning and default.

Where several say the same, a time for all goes before times by partition, and those go before
offsets. Names are told apart without regard to case. An option that nobody knows is refused:
a misspelt one would be a wrong answer without a word. `kafka.*` goes to the client, but for what
would change the meaning of a read behind Spark's back.

Ours alone: `columns` (a narrow schema), `minRecordsPerPartition` (partitions of topics that have
fewer new records than this share a task), `commitOffsets` (a stream commits what it has done to
`kafka.group.id`, for others to see) and `startingOffsets=committed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.settings import ClientSettings, client_settings, problems_of
from odradek.spark.limits import Bound, Committed, GlobalTime, Limit, SpecificOffsets, SpecificTimes
from odradek.spark.offsets import parse_offsets, parse_partitions
from odradek.spark.option_errors import InvalidOptions

T = TypeVar("T")
STRATEGIES = ("assign", "subscribe", "subscribePattern")
ENDINGS = ("endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp")
KNOWN = (
    *STRATEGIES,
    *ENDINGS,
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingTimestamp",
    "startingOffsetsByTimestampStrategy",
    "failOnDataLoss",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
    "minRecordsPerPartition",
    "groupIdPrefix",
    "includeHeaders",
    "columns",
    "commitOffsets",
)
REFUSED = {
    "kafka.auto.offset.reset": "Spark keeps the offsets: use startingOffsets instead",
    "kafka.key.deserializer": "keys are bytes: cast the column instead",
    "kafka.value.deserializer": "values are bytes: cast the column instead",
    "kafka.enable.auto.commit": "Spark keeps the offsets in its checkpoint",
    "kafka.interceptor.classes": "interceptors are classes of Java",
}
_DURATION = re.compile(r"(\d+)\s*(us|ms|s|m|min|h|d|)")
_UNITS_MS = {"us": 0.001, "ms": 1, "s": 1e3, "m": 60e3, "min": 60e3, "h": 3600e3, "d": 86400e3}


@dataclass(frozen=True, slots=True)
class Assigned:
    """Partitions by name."""

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class Subscribed:
    """All partitions of topics by name."""

    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """All partitions of topics whose whole name matches."""

    pattern: str


Strategy = Assigned | Subscribed | Matching


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What a query asked for."""

    client: ClientSettings
    strategy: Strategy
    starting: Limit
    ending: Limit = Bound.LATEST
    is_latest_if_no_match: bool = False
    fails_on_data_loss: bool = True
    poll_timeout_ms: int = 120_000
    offset_retries: int = 3
    offset_retry_interval_ms: int = 10
    offsets_per_trigger_max: int | None = None
    offsets_per_trigger_min: int | None = None
    trigger_delay_ms_max: int = 900_000
    partitions_min: int | None = None
    records_per_partition_max: int | None = None
    records_per_partition_min: int | None = None
    commit_group_id: str | None = None  # None: nothing is committed to a group.


def parse_options(given: Mapping[str, str], *, is_stream: bool) -> SourceOptions:
    """Read the options of a query; refuse them with all that is wrong."""
    options = GivenOptions(given)
    strategy = options.strategy()
    default = Bound.LATEST if is_stream else Bound.EARLIEST
    starting = options.committed(default) or options.limit("starting", default)
    ending = options.limit("ending", Bound.LATEST)
    no_match = options.word("startingOffsetsByTimestampStrategy", ("error", "latest"))
    fields: dict[str, Any] = {
        "is_latest_if_no_match": no_match == "latest",
        "fails_on_data_loss": options.word("failOnDataLoss", ("true", "false")) == "true",
        "poll_timeout_ms": options.number("kafkaConsumer.pollTimeoutMs", 120_000),
        "offset_retries": options.number("fetchOffset.numRetries", 3, least=0),
        "offset_retry_interval_ms": options.number("fetchOffset.retryIntervalMs", 10, least=0),
        "offsets_per_trigger_max": options.number("maxOffsetsPerTrigger"),
        "offsets_per_trigger_min": options.number("minOffsetsPerTrigger"),
        "trigger_delay_ms_max": options.read("maxTriggerDelay", _duration_ms, 900_000),
        "partitions_min": options.number("minPartitions"),
        "records_per_partition_max": options.number("maxRecordsPerPartition"),
        "records_per_partition_min": options.number("minRecordsPerPartition"),
        "commit_group_id": options.commit_group(is_stream),
    }
    options.word("includeHeaders", ("false", "true"))  # For the schema; here it is only checked.
    options.refuse_what_is_unknown(KNOWN, REFUSED)
    if is_stream:
        options.refuse_what_streams_lack(fields)
    else:
        options.refuse_what_batches_lack(starting, ending)
    client = options.client()
    if options.problems or client is None or strategy is None:
        raise InvalidOptions(options.problems)
    return SourceOptions(
        client=client, strategy=strategy, starting=starting, ending=ending, **fields
    )


class GivenOptions:
    """The options as they were given, and what was found wrong with them so far."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        self._given = {key.lower(): str(value) for key, value in given.items()}

    def get(self, name: str) -> str | None:
        return self._given.get(name.lower())

    def read(self, name: str, parse: Callable[[str], T], default: T) -> T:
        """The value of an option, or the default where there is none or a wrong one."""
        text = self.get(name)
        if text is None:
            return default
        try:
            return parse(text)
        except ValueError as error:
            self.problems.append(f"{name}={text}: {error}")
            return default

    def number(self, name: str, default: int | None = None, least: int = 1) -> int | None:
        def parse(text: str) -> int | None:
            if not re.fullmatch(r"\s*[+-]?\d+\s*", text) or int(text) < least:
                raise ValueError(f"must be a whole number of at least {least}")
            return int(text)

        return self.read(name, parse, default)

    def word(self, name: str, words: tuple[str, ...]) -> str:
        def parse(text: str) -> str:
            if text.strip().lower() not in words:
                raise ValueError(f"must be one of {', '.join(words)}")
            return text.strip().lower()

        return self.read(name, parse, words[0])

    def strategy(self) -> Strategy | None:
        given = [name for name in STRATEGIES if self.get(name) is not None]
        if len(given) != 1:
            found = f"not {' and '.join(given)}" if given else "and none is given"
            self.problems.append(f"exactly one of {', '.join(STRATEGIES)} is needed, {found}")
            return None
        parsers: dict[str, Callable[[str], Strategy | None]] = {
            "assign": lambda text: Assigned(tuple(parse_partitions(text))),
            "subscribe": _subscribed,
            "subscribePattern": _matching,
        }
        return self.read(given[0], parsers[given[0]], None)

    def group_id(self, why: str) -> str:
        group_id = self.get("kafka.group.id")
        if not group_id:
            self.problems.append(f"{why} needs kafka.group.id")
        return group_id or ""

    def committed(self, otherwise: Bound) -> Limit | None:
        """Where a group stands, if that is where to start; times go before it."""
        word = (self.get("startingOffsets") or "").strip().lower()
        times = ("startingTimestamp", "startingOffsetsByTimestamp")
        if word != "committed" or any(self.get(name) is not None for name in times):
            return None
        return Committed(self.group_id("startingOffsets=committed"), otherwise)

    def commit_group(self, is_stream: bool) -> str | None:
        """The group that a stream commits to."""
        if self.word("commitOffsets", ("false", "true")) == "false":
            return None
        if not is_stream:
            self.problems.append("commitOffsets is for streams: a batch query has no progress")
        return self.group_id("commitOffsets")

    def limit(self, end: str, default: Limit) -> Limit:
        """The first of the three options that say where to start or to end."""
        if self.get(f"{end}Timestamp") is not None:
            return self.read(f"{end}Timestamp", _global_time, default)
        if self.get(f"{end}OffsetsByTimestamp") is not None:
            return self.read(f"{end}OffsetsByTimestamp", _specific_times, default)
        return self.read(f"{end}Offsets", _offsets, default)

    def refuse_what_is_unknown(
        self, known_names: Iterable[str], refused: Mapping[str, str]
    ) -> None:
        known = {name.lower(): name for name in known_names}
        for key in self._given:
            # Spark marks what it adds for itself.
            if key in known or key.startswith(("kafka.", "__")):
                continue
            similar = get_close_matches(key, known, n=1)
            hint = f": did you mean {known[similar[0]]}?" if similar else ""
            self.problems.append(f"{key} is no option here{hint}")
        for key, reason in refused.items():
            if self.get(key) is not None:
                self.problems.append(f"{key} is not supported: {reason}")

    def refuse_what_streams_lack(self, fields: Mapping[str, Any]) -> None:
        for name in ENDINGS:
            if self.get(name) is not None:
                self.problems.append(f"{name} is for batch queries: a stream has no end")
        least, most = fields["offsets_per_trigger_min"], fields["offsets_per_trigger_max"]
        if least is not None and most is not None and least > most:
            self.problems.append(
                f"minOffsetsPerTrigger={least} is more than maxOffsetsPerTrigger={most}"
            )

    def refuse_what_batches_lack(self, starting: Limit, ending: Limit) -> None:
        for name, limit, bound in (
            ("startingOffsets", starting, Bound.LATEST),
            ("endingOffsets", ending, Bound.EARLIEST),
        ):
            word = bound.name.lower()
            if limit is bound:
                self.problems.append(f"{name}={word} has nothing to read in a batch query")
            if isinstance(limit, SpecificOffsets):
                wrong = [str(p) for p, offset in limit.offsets.items() if offset == bound.value]
                if wrong:
                    self.problems.append(
                        f"{name}: {', '.join(wrong)} can't be {word} in a batch query"
                    )

    def client(self) -> ClientSettings | None:
        """What is for the client."""
        properties = self.properties()
        problems = problems_of(properties)
        self.problems += [f"kafka.{problem}" for problem in problems]
        return None if problems else client_settings(properties).for_task()

    def properties(self) -> dict[str, str]:
        """The options under `kafka.`, as Kafka names them."""
        prefix = "kafka."
        return {
            key.removeprefix(prefix): value
            for key, value in self._given.items()
            if key.startswith(prefix)
        }


def _subscribed(text: str) -> Strategy:
    topics = tuple(sorted({topic.strip() for topic in text.split(",") if topic.strip()}))
    if not topics:
        raise ValueError("names no topic")
    return Subscribed(topics)


def _matching(text: str) -> Strategy:
    if not text.strip():
        raise ValueError("is an empty pattern")
    pattern = text.strip().replace("(?<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!")
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is no pattern that we can read: {error}") from error
    return Matching(pattern)


def _offsets(text: str) -> Limit:
    word = text.strip().lower()
    if word in ("earliest", "latest"):
        return Bound[word.upper()]
    return SpecificOffsets(parse_offsets(text))


def _specific_times(text: str) -> Limit:
    return SpecificTimes(parse_offsets(text))


def _global_time(text: str) -> Limit:
    if not text.strip().isdecimal():
        raise ValueError("must be a number of milliseconds since 1970")
    return GlobalTime(int(text))


def _duration_ms(text: str) -> int:
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError("must be a duration like 500ms, 30s, 15m or 1h")
    return int(int(match[1]) * _UNITS_MS[match[2] or "ms"])
