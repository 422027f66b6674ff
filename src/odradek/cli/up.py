"""`odradek up`: a whole cluster from nothing, here, until Ctrl-C.

By default one process that is a broker and its ZooKeeper: serving comes before everything else, so
nothing is imported that a server does not need. More brokers are processes of their own, watched
over by this one.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.local.directory import DEFAULT, ClusterDirectory
from odradek.local.plan import ClusterPlan, advice_on
from odradek.local.preparing import plan_cluster
from odradek.runtime.errors import OdradekError

if TYPE_CHECKING:
    from odradek.cli.up_console import WantedConsole

SERVERS_MAX = 50


def run(arguments: list[str]) -> int:
    given = parser().parse_args(arguments)
    try:
        with ExitStack() as stack:
            home = ClusterDirectory(directory_of(given, stack))
            home.own()
            stack.callback(home.release)
            return run_in(home, given)
    except (OdradekError, OSError) as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1


def run_in(home: ClusterDirectory, given: Namespace) -> int:
    known = home.known_plan()
    brokers, zookeepers = shape_of(given, known)
    if advice := advice_on(zookeepers):
        print(f"odradek: {advice}", file=sys.stderr)
    plan = plan_cluster(brokers, zookeepers, first_port=given.port, known=known)
    settings = dict(given.override)
    plan = ClusterPlan(plan.brokers, plan.zookeepers, broker_settings=settings)
    console = console_of(given)
    if not zookeepers:
        from odradek.cli.up_alone import serve_alone

        return serve_alone(home, plan, as_json=given.json, console=console)
    from odradek.cli.up_together import supervise

    return supervise(home, plan, as_json=given.json, console=console)


def console_of(given: Namespace) -> WantedConsole | None:
    if given.console is None:
        return None
    from odradek.cli.up_console import WantedConsole
    from odradek.local.ports import asked_port

    return WantedConsole(asked_port(given.console), given.allow_changes)


def shape_of(given: Namespace, known: ClusterPlan | None) -> tuple[int, int]:
    """How many brokers and ZooKeepers: as asked, as before, or one that is both."""
    if known is not None and given.brokers is None and given.zookeepers is None:
        return known.shape
    brokers = given.brokers or 1
    if given.zookeepers is not None:
        return brokers, given.zookeepers
    return brokers, 0 if brokers == 1 else brokers


def directory_of(given: Namespace, stack: ExitStack) -> Path:
    if not given.ephemeral:
        return Path(given.data or DEFAULT)
    from tempfile import TemporaryDirectory

    return Path(stack.enter_context(TemporaryDirectory(prefix="odradek-")))


def parser() -> ArgumentParser:
    it = ArgumentParser(
        prog="odradek up", description="Run a whole cluster on this machine, until Ctrl-C."
    )
    it.add_argument("--port", type=int, metavar="N", help="the first broker's port (9092 or free)")
    it.add_argument("--brokers", type=count, metavar="N", help="how many brokers (1)")
    it.add_argument(
        "--zookeepers",
        type=count,
        metavar="N",
        help="how many ZooKeepers (as many as brokers; a single broker has one inside)",
    )
    where = it.add_mutually_exclusive_group()
    where.add_argument("--data", metavar="DIR", help=f"where the data is (./{DEFAULT})")
    where.add_argument("--ephemeral", action="store_true", help="keep nothing: a temporary one")
    it.add_argument(
        "--override",
        metavar="KEY=VALUE",
        type=read_override,
        action="append",
        default=[],
        help="a line for every server.properties; may be given again",
    )
    it.add_argument(
        "--console", type=int, metavar="PORT", help="show the cluster in a browser there"
    )
    it.add_argument(
        "--allow-changes", action="store_true", help="let the console change things, too"
    )
    it.add_argument("--json", action="store_true", help="say what happens in lines of JSON")
    return it


def count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= SERVERS_MAX:
        raise ArgumentTypeError(f"{text} is not a number from 1 to {SERVERS_MAX}")
    return int(text)


def read_override(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ArgumentTypeError(f"{text} is not of the form KEY=VALUE")
    return key, value


def shown(path: Path) -> str:
    """A path as short as it can be said from here."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)
