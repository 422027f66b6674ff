"""`odradek consume`: records of topics, from where one likes, as far as one likes."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from time import sleep
from typing import TYPE_CHECKING, Annotated, Any

import typer

from odradek.cli.endpoints import open_cluster
from odradek.cli.options import Bootstrap, Json
from odradek.cli.output import say_json
from odradek.cli.payloads import Format, shown
from odradek.cli.positions import NOWHERE, positions
from odradek.cli.progress import Meter
from odradek.cli.reading import time_text
from odradek.cli.typed import run_app, single_app
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import OffsetRange
from odradek.kafka.client.group_offsets import commit_offsets
from odradek.kafka.client.offsets import LATEST, list_offsets
from odradek.kafka.client.records_in import read_ranges

if TYPE_CHECKING:
    from odradek.kafka.client.cluster import Cluster
    from odradek.kafka.wire.records import Record

app = single_app()
LOOK_AGAIN_S = 0.1
FROM = "earliest, latest, an offset, -N for the last N, or time:… (2026-11-15T12:00, 5m)"


class Isolation(StrEnum):
    """Whether records of open and aborted transactions are seen."""

    COMMITTED = "read_committed"
    UNCOMMITTED = "read_uncommitted"


def run(arguments: list[str]) -> int:
    return run_app(app, "consume", arguments)


@app.command()
def consume(
    topic: Annotated[list[str], typer.Argument(metavar="TOPIC…")],
    start: Annotated[
        str, typer.Option("--from", metavar="WHERE", help=FROM, show_default="earliest")
    ] = NOWHERE,
    partition: Annotated[list[int] | None, typer.Option("--partition", "-p", min=0)] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", "-g", help="Go on from its offsets, and commit; without joining."),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-F", help="Go on as records come.")] = False,
    count: Annotated[int | None, typer.Option("--count", "-n", min=1)] = None,
    keys: Annotated[bool, typer.Option("--keys", "-k", help="Keys, too.")] = False,
    separator: Annotated[str, typer.Option("--separator", "-s")] = "\t",
    value_format: Annotated[Format, typer.Option("--format")] = Format.TEXT,
    key_format: Annotated[Format, typer.Option("--key-format")] = Format.TEXT,
    isolation: Annotated[Isolation, typer.Option()] = Isolation.UNCOMMITTED,
    progress: Annotated[bool | None, typer.Option(help="A bar, on stderr.")] = None,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """Print records up to where the topics end now, or with --follow for ever."""
    cluster = open_cluster(bootstrap, **{"isolation.level": isolation})
    at = positions(cluster, topic, partition, start, group)
    expected = None if follow else count
    with Meter("read", total=expected, is_wanted=progress) as meter:
        try:
            for where, record in stream(cluster, at, is_endless=follow):
                if json:
                    say_json(told(where, record, key_format, value_format))
                else:
                    shown_as = line(record, key_format, value_format, separator if keys else None)
                    print(shown_as, flush=follow)
                at[where] = record.offset + 1
                meter.add(1, len(record.value or b"") + len(record.key or b""))
                if meter.records == count:
                    break
        except KeyboardInterrupt:
            pass  # That is how one who follows stops.
        finally:
            if group is not None:
                commit_offsets(cluster, group, at)


def stream(
    cluster: Cluster, at: dict[TopicPartition, int], *, is_endless: bool
) -> Iterator[tuple[TopicPartition, Record]]:
    """Records from these offsets on, up to the ends as they are now, or for ever."""
    reached = dict(at)
    while True:
        ends = list_offsets(cluster, dict.fromkeys(reached, LATEST))
        ranges = [OffsetRange(it, start, ends[it] or 0) for it, start in reached.items()]
        yield from read_ranges(cluster, ranges)
        reached = {it.partition: max(it.start, it.end) for it in ranges}
        if not is_endless:
            # The last of it may have been markers, which nobody is shown.
            at.update(reached)
            return
        sleep(LOOK_AGAIN_S)


def line(record: Record, key_format: Format, value_format: Format, separator: str | None) -> str:
    value = text(shown(record.value, value_format))
    return value if separator is None else text(shown(record.key, key_format)) + separator + value


def text(value: Any) -> str:
    import json

    if value is None:
        return "null"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def told(
    where: TopicPartition, record: Record, key_format: Format, value_format: Format
) -> dict[str, Any]:
    return {
        "topic": where.topic,
        "partition": where.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "time": time_text(record.timestamp),
        "key": shown(record.key, key_format),
        "value": shown(record.value, value_format),
        "headers": [[name, shown(value, Format.TEXT)] for name, value in record.headers],
    }
