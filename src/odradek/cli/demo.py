"""`odradek demo`: the main job from end to end, on this machine, in a minute or two.

Three brokers and three ZooKeepers, a shop whose orders come in steadily, a Spark stream that joins
and sums them up, results in a topic and in Parquet. On the way the controller is killed, and comes
back; and at the end there is the proof that it adds up.
"""

from __future__ import annotations

import sys
import threading
from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from odradek.demo.proof import Accounts
from odradek.runtime.errors import OdradekError

if TYPE_CHECKING:
    from odradek.demo.accident import Accident
    from odradek.demo.pipeline import Pipeline
    from odradek.demo.servers import Servers
    from odradek.demo.shop import Shop

NEEDED = ("pyspark", "pyarrow", "wasmtime")
LOOK_S = 0.2


def run(arguments: list[str]) -> int:
    given = parser().parse_args(arguments)
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"odradek: the demo needs {', '.join(missing)}: pip install 'odradek[spark]'",
            file=sys.stderr,
        )
        return 1
    directory = Path(given.directory or mkdtemp(prefix="odradek-demo-")).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    try:
        return run_in(directory, given)
    except KeyboardInterrupt:
        say("stopped")
        return 130
    except OdradekError as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1


def parser() -> ArgumentParser:
    it = ArgumentParser(prog="odradek demo", description=(__doc__ or "").partition("\n\n")[2])
    it.add_argument(
        "--seconds",
        type=int,
        default=20,
        help="how long orders come in, not counting what the broker's death takes (20)",
    )
    it.add_argument("--rate", type=int, default=300, help="orders a second (300)")
    it.add_argument(
        "--directory", metavar="DIR", help="where to keep all files (a new one in /tmp)"
    )
    it.add_argument("--keep", action="store_true", help="leave it running until Ctrl-C")
    return it


def run_in(directory: Path, given: Namespace) -> int:
    from odradek.demo.servers import Servers
    from odradek.spark.java import prepare_java
    from odradek.spark.python import prepare_python

    prepare_python()
    say(f"everything is in {directory}")
    say(f"Spark runs on {prepare_java()}")
    servers = Servers(directory)
    try:
        servers.start()
        say(f"three brokers listen on {servers.bootstrap}")
        say(f"three ZooKeepers listen on {servers.zookeeper}")
        return run_on(servers, directory, given)
    finally:
        servers.stop()


def run_on(servers: Servers, directory: Path, given: Namespace) -> int:
    """Open the shop, start the streams, let a broker die, and count."""
    from odradek.demo.accident import strike
    from odradek.demo.pipeline import Pipeline, start_spark
    from odradek.demo.shop import TOPICS, Shop
    from odradek.pipelines.reporting import report_progress

    shop = Shop(servers.bootstrap)
    shop.set_up()
    shop.open(given.rate)
    say(f"the shop is open: {given.rate} orders a second into topic orders")
    spark = start_spark(directory)
    pipeline = Pipeline(spark, servers.bootstrap, directory)
    reporter = report_progress(spark, servers.bootstrap)
    try:
        pipeline.start()
        say(f"two Spark streams run: sums to topic revenue, orders to {pipeline.parquet}")
        pipeline.await_sums()
        say("the first sums are in topic revenue")
        wait(given.seconds / 2)
        accident = strike(servers, shop, TOPICS, say, given.seconds / 4)
        wait(given.seconds / 4)
        accounts = close_books(shop, pipeline)
        code = report(accounts, accident)
        tell_where(servers, directory)
        if given.keep:
            keep_open(servers, shop, given.rate)
        return code
    finally:
        pipeline.stop()
        reporter.close()
        spark.stop()


def close_books(shop: Shop, pipeline: Pipeline) -> Accounts:
    """Stop the orders, let the streams come to the end, and count on both sides."""
    from odradek.demo.orders import totals_of

    shop.close()
    shop.ring()
    say(f"{len(shop.orders) + shop.broken_count:,} orders were sent; the streams catch up")
    pipeline.catch_up()
    rows, orders, broken = pipeline.counts_in_parquet()
    return Accounts(
        totals_of(shop.orders),
        shop.broken_count,
        pipeline.totals_in_topic(),
        pipeline.totals_in_parquet(),
        rows,
        orders,
        broken,
    )


def report(accounts: Accounts, accident: Accident) -> int:
    """Print the tables and the verdict; the exit code says the same."""
    print(f"\n{accident.table()}\n\n{accounts.table()}\n")
    differences = accounts.differences()
    for difference in differences:
        print(f"  {difference}")
    say(
        "it does NOT add up"
        if differences
        else f"inputs and outputs add up: {accounts.order_count:,} orders in"
        f" {len(accounts.expected)} sums, each exactly once;"
        f" {accounts.broken_count} that could not be read are accounted for"
    )
    return 1 if differences else 0


def tell_where(servers: Servers, directory: Path) -> None:
    """Where to look, and with what."""
    brokers, ensemble = servers.bootstrap, servers.zookeeper
    print(
        f"  results  topic revenue on {brokers} (while it runs), {directory}/orders.parquet\n"
        f"  servers  logs {servers.directory}/*/server.log, data {servers.directory}/*/data\n"
        f"  metrics  {' '.join(servers.metrics)}\n"
        f"  Spark    log {directory}/spark.log, errors {directory}/spark.err\n"
        f"  console  odradek console --bootstrap {brokers} --zookeeper {ensemble} (with --keep)\n"
        "  code     odradek/demo/pipeline.py: the Spark job in one page"
    )


def keep_open(servers: Servers, shop: Shop, rate: int) -> None:
    """Let it all go on, and whoever is killed come back, until Ctrl-C."""
    shop.await_morning()
    shop.open(rate)
    say("orders go on coming in, and streams go on running: Ctrl-C ends it")
    pause = threading.Event()
    try:
        while not pause.wait(LOOK_S):
            for name in servers.local.revive():
                say(f"{name} is started again")
    except KeyboardInterrupt:
        shop.close()


def wait(seconds: float) -> None:
    threading.Event().wait(seconds)


def say(text: str) -> None:
    print(f"· {text}", flush=True)
