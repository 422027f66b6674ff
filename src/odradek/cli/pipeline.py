"""`odradek pipeline …`: ready-made Spark jobs over topics, and a project for one's own.

Results go to standard output, as tables or with `--json` as one object; progress goes to standard
error. Exit codes: 0 done, 1 it failed or the audit found something, 2 wrong arguments, 130 stopped.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from odradek.cli.pipeline_output import Report, print_audit, print_result
from odradek.runtime.errors import OdradekError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from odradek.pipelines import Progress
    from odradek.pipelines.progress import Listener

NEEDED = ("pyspark", "pyarrow", "wasmtime")
app = typer.Typer(
    name="pipeline",
    help="Ready-made Spark jobs over topics.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Topics = Annotated[list[str], typer.Argument(help="topics; * in a name stands for anything")]
Bootstrap = Annotated[str, typer.Option("--servers", help="bootstrap servers, or zk://…")]
Property = Annotated[
    list[str] | None,
    typer.Option("--property", metavar="KEY=VALUE", help="a property of Kafka's client"),
]
Master = Annotated[
    str | None,
    typer.Option(help="local[n], spark://…, yarn, k8s://… or, for Spark Connect, sc://…"),
]
Conf = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="a setting of Spark")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]
Reports = Annotated[
    bool, typer.Option("--report", help="tell the progress in a topic of the cluster too")
]
Format = Annotated[str, typer.Option("--format", help="parquet, delta or iceberg")]


def run(arguments: list[str]) -> int:
    """Run one of the pipelines; return the exit code."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing and not {"--help", "init"} & set(arguments):
        wanted = ", ".join(missing)
        print(f"odradek: pipelines need {wanted}: pip install 'odradek[spark]'", file=sys.stderr)
        return 1
    try:
        app(arguments, prog_name="odradek pipeline")
    except SystemExit as ended:
        return int(ended.code or 0)
    except OdradekError as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        if not is_of_spark(error):
            raise
        print(f"odradek: Spark says: {first_lines(str(error))}", file=sys.stderr)
        return 1
    return 0


def is_of_spark(error: Exception) -> bool:
    """Whether an error comes from Spark; it is not imported for that."""
    return any(kind.__module__.startswith("pyspark.") for kind in type(error).__mro__)


def first_lines(text: str, count: int = 6) -> str:
    """What Spark says, without the stack of its JVM."""
    lines = [line for line in text.splitlines() if not line.strip().startswith("at ")]
    return "\n".join(lines[:count])


@app.command()
def archive(
    topics: Topics,
    to: Annotated[str, typer.Option(help="the folder (for iceberg: the table)")],
    servers: Bootstrap = "localhost:9092",
    properties: Property = None,
    file_format: Format = "parquet",
    checkpoint: Annotated[str | None, typer.Option(help="where progress is kept")] = None,
    starting: Annotated[str, typer.Option(help="earliest, latest or JSON")] = "earliest",
    follow: Annotated[bool, typer.Option("--follow", help="go on until Ctrl-C")] = False,
    every: Annotated[float, typer.Option(help="with --follow: seconds between files")] = 30,
    compacts: Annotated[
        bool, typer.Option("--compact/--no-compact", help="join small files")
    ] = True,
    grace: Annotated[float, typer.Option(help="seconds that joined files stay for readers")] = 600,
    master: Master = None,
    conf: Conf = None,
    reports: Reports = False,
    as_json: Json = False,
) -> None:
    """Write topics to files, exactly once, a folder for each topic and day."""
    from odradek.pipelines import archive as run_archive

    cluster = with_properties(servers, properties)
    with (
        Report("archive") as report,
        stopping(follow) as stop,
        spark_on(master, conf) as spark,
        telling_of_queries(spark, "archive", cluster if reports else None),
    ):
        done = run_archive(
            cluster,
            topics,
            to,
            spark=spark,
            file_format=file_format,
            checkpoint=checkpoint,
            starting=starting,
            follow=follow,
            trigger_s=every,
            compacts=compacts,
            grace_s=grace,
            progress=report.tell,
            stop=stop,
        )
    print_result(asdict(done), as_json)


@app.command()
def replay(
    path: Annotated[str, typer.Argument(help="the folder of an archive")],
    servers: Bootstrap = "localhost:9092",
    properties: Property = None,
    topics: Annotated[
        list[str] | None, typer.Option("--topic", help="only this one; again for more")
    ] = None,
    to: Annotated[str | None, typer.Option(help="the topic that all go to")] = None,
    prefix: Annotated[str, typer.Option(help="put before the archived names")] = "",
    keep_partitions: Annotated[
        bool, typer.Option("--keep-partitions", help="to the same partition numbers")
    ] = False,
    where: Annotated[str | None, typer.Option(help="a condition in SQL")] = None,
    name: Annotated[str | None, typer.Option(help="another name replays it all again")] = None,
    file_format: Format = "parquet",
    master: Master = None,
    conf: Conf = None,
    reports: Reports = False,
    as_json: Json = False,
) -> None:
    """Write archived files to topics, exactly once, each key in its order."""
    from odradek.pipelines import replay as run_replay

    cluster = with_properties(servers, properties)
    with (
        Report("replay") as report,
        spark_on(master, conf) as spark,
        telling(report, "replay", cluster if reports else None) as tell,
    ):
        done = run_replay(
            path,
            cluster,
            spark=spark,
            file_format=file_format,
            topics=topics or (),
            to=to,
            prefix=prefix,
            keep_partitions=keep_partitions,
            where=where,
            name=name,
            progress=tell,
        )
    print_result(asdict(done), as_json)


@app.command()
def mirror(
    topics: Topics,
    source: Annotated[str, typer.Option("--from", help="bootstrap servers of the source")],
    target: Annotated[str, typer.Option("--to", help="bootstrap servers of the target")],
    source_properties: Annotated[
        list[str] | None, typer.Option("--from-property", metavar="KEY=VALUE")
    ] = None,
    target_properties: Annotated[
        list[str] | None, typer.Option("--to-property", metavar="KEY=VALUE")
    ] = None,
    prefix: Annotated[str, typer.Option(help="put before the names on the target")] = "",
    groups: Annotated[
        list[str] | None, typer.Option("--groups", help="translate this group's offsets; * for all")
    ] = None,
    name: Annotated[str | None, typer.Option(help="who this mirror is")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="go on until Ctrl-C")] = False,
    loss: Annotated[
        bool, typer.Option("--skip-lost", help="go on after what was deleted before it was copied")
    ] = False,
    master: Master = None,
    conf: Conf = None,
    reports: Reports = False,
    as_json: Json = False,
) -> None:
    """Copy topics to another cluster, exactly once; offsets of groups are translated."""
    from odradek.pipelines import mirror as run_mirror

    to = with_properties(target, target_properties)
    with (
        Report("mirror") as report,
        stopping(follow) as stop,
        spark_on(master, conf) as spark,
        telling(report, "mirror", to if reports else None) as tell,
    ):
        done = run_mirror(
            with_properties(source, source_properties),
            to,
            topics,
            spark=spark,
            name=name,
            prefix=prefix,
            groups=groups or (),
            follow=follow,
            fail_on_data_loss=not loss,
            progress=tell,
            stop=stop,
        )
    print_result(asdict(done), as_json)


@app.command()
def audit(
    topics: Annotated[list[str] | None, typer.Argument(help="topics; * for anything")] = None,
    servers: Annotated[str | None, typer.Option("--servers", help="bootstrap servers")] = None,
    log_dir: Annotated[str | None, typer.Option(help="or else a folder of log.dirs")] = None,
    properties: Property = None,
    identity: Annotated[str | None, typer.Option(help="SQL: what no two records share")] = None,
    sequence: Annotated[str | None, typer.Option(help="SQL: a number that grows by one")] = None,
    sequence_of: Annotated[str, typer.Option(help="SQL: among whom it does")] = "key",
    groups: Annotated[
        list[str] | None, typer.Option("--group", help="tell its lag; * for all")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="write a page with pictures")] = None,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Say what is lost, there twice, out of order, missing or not read yet."""
    from odradek.pipelines import audit as run_audit
    from odradek.pipelines import page_of

    with spark_on(master, conf) as spark:
        found = run_audit(
            None if servers is None else with_properties(servers, properties),
            topics or [],
            log_dir=log_dir,
            spark=spark,
            identity=identity,
            sequence=sequence,
            sequence_of=sequence_of,
            groups=groups or (),
        )
    if plot is not None:
        plot.write_text(page_of(found))
    print_audit(found, as_json)
    if found.problems:
        raise typer.Exit(1)


@app.command()
def init(
    directory: Annotated[Path, typer.Argument(help="a folder that is new or empty")],
    servers: Bootstrap = "localhost:9092",
    source: Annotated[str, typer.Option("--from", help="the topic to read")] = "orders",
    target: Annotated[str, typer.Option("--to", help="the topic to write")] = "revenue",
) -> None:
    """Make a project of Spark Declarative Pipelines that runs as it is."""
    from odradek.pipelines.scaffold import scaffold

    made = scaffold(directory, servers, source, target)
    for file in made:
        print(file)
    print(f"run it: cd {directory} && spark-pipelines run")


def with_properties(servers: str, given: list[str] | None) -> dict[str, str]:
    """The properties of a client."""
    return {"bootstrap.servers": servers, **pairs(given)}


def pairs(given: list[str] | None) -> dict[str, str]:
    found = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{text}: KEY=VALUE is wanted")
        found[key] = value
    return found


@contextmanager
def spark_on(master: str | None, conf: list[str] | None) -> Iterator[SparkSession]:
    from odradek.pipelines.session import session

    with session(master=master, settings=pairs(conf)) as spark:
        yield spark


@contextmanager
def telling_of_queries(
    spark: SparkSession, name: str, servers: dict[str, str] | None
) -> Iterator[None]:
    """Let queries tell a cluster how they stand, if one is named."""
    from odradek.pipelines import Reporter

    if servers is None:
        yield
        return
    with Reporter(servers, name) as reporter:
        reporter.listen_to(spark)
        yield


@contextmanager
def telling(report: Report, name: str, servers: dict[str, str] | None) -> Iterator[Listener]:
    """Who is to hear of the progress: the user, and a cluster if one is named."""
    from odradek.pipelines import Reporter

    if servers is None:
        yield report.tell
        return
    with Reporter(servers, name) as reporter:

        def tell(progress: Progress) -> None:
            report.tell(progress)
            reporter.hear(progress)

        yield tell


@contextmanager
def stopping(follow: bool) -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set, if the pipeline would go on for ever."""
    stop = threading.Event()
    if not follow or threading.current_thread() is not threading.main_thread():
        yield stop
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before: list[Any] = [signal.signal(number, lambda *_: stop.set()) for number in numbers]
    try:
        yield stop
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
