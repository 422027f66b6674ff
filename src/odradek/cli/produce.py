"""`odradek produce`: records from standard input, files or arguments into a topic."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from odradek.cli.endpoints import bootstrap_of
from odradek.cli.lines import STDIN, lines_of
from odradek.cli.options import Bootstrap, Json
from odradek.cli.output import say_json
from odradek.cli.payloads import Format, read_header, to_bytes
from odradek.cli.progress import Meter
from odradek.cli.reading import read_settings
from odradek.cli.typed import run_app, single_app
from odradek.cli.writing import LineReader, NewRecord

if TYPE_CHECKING:
    from odradek.kafka.client.recording import Recorder

app = single_app()


def run(arguments: list[str]) -> int:
    return run_app(app, "produce", arguments)


@app.command()
def produce(
    topic: Annotated[str, typer.Argument(metavar="TOPIC")],
    value: Annotated[
        list[str] | None, typer.Argument(metavar="[VALUE]…", help="Values; none: from --file.")
    ] = None,
    file: Annotated[
        list[Path] | None, typer.Option("--file", "-f", help="Lines of a file; - is stdin.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Each file is one value.")] = False,
    key: Annotated[str | None, typer.Option("--key", "-k", help="The key of all.")] = None,
    separator: Annotated[
        str | None, typer.Option("--separator", "-s", help="Between key and value in a line.")
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", metavar="NAME=VALUE")
    ] = None,
    partition: Annotated[int | None, typer.Option("--partition", "-p", min=0)] = None,
    value_format: Annotated[Format, typer.Option("--format")] = Format.TEXT,
    key_format: Annotated[Format, typer.Option("--key-format")] = Format.TEXT,
    objects: Annotated[
        bool, typer.Option("--objects", help="Lines as `consume --json` writes them.")
    ] = False,
    acks: Annotated[str, typer.Option(metavar="all|1|0")] = "all",
    compression: Annotated[str, typer.Option(metavar="none|gzip|snappy|lz4|zstd")] = "none",
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="As Kafka's producer.")
    ] = None,
    progress: Annotated[bool | None, typer.Option(help="A bar, on stderr.")] = None,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """Write records; return when all are acknowledged."""
    from odradek.kafka.client.recording import Recorder

    settings = {"acks": acks, "compression.type": compression, **read_settings(setting)}
    settings |= {"bootstrap.servers": bootstrap_of(bootstrap), "client.id": "odradek-cli"}
    reader = LineReader(
        value_format,
        key_format,
        to_bytes(key, key_format),
        separator,
        tuple(read_header(it) for it in header or ()),
        objects,
    )
    with Recorder(topic, settings) as recorder, Meter("sent", is_wanted=progress) as meter:
        for record in records(reader, value, file, is_whole=whole):
            if record is None:
                recorder.flush()
                continue
            placed = record if partition is None else record._replace(partition=partition)
            send(recorder, placed)
            meter.add(1, len(record.value or b"") + len(record.key or b""))
    if json:
        say_json({"topic": topic, "records": recorder.count, "bytes": recorder.bytes})


def send(recorder: Recorder, record: NewRecord) -> None:
    recorder.send(record.key, record.value, record.headers, record.partition, record.timestamp)


def records(
    reader: LineReader, values: list[str] | None, files: list[Path] | None, *, is_whole: bool
) -> Iterator[NewRecord | None]:
    """All that is to be written, as it comes; None whenever nothing came for a while."""
    if values:
        yield from map(reader.read, values)
    elif is_whole:
        for path in files or [STDIN]:
            data = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
            yield NewRecord(reader.key, data, reader.headers)
    else:
        for line in lines_of(files or [STDIN]):
            yield None if line is None else reader.read(line)
