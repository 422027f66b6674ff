"""`odradek console`: a page that shows a cluster as it coordinates itself."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from odradek.cli.endpoints import bootstrap_of, zookeeper_of
from odradek.cli.options import Bootstrap, Json, ZooKeeper
from odradek.cli.output import say, say_json
from odradek.cli.typed import run_app, single_app
from odradek.local.directory import DEFAULT, ClusterDirectory, running_address
from odradek.local.ports import HOST
from odradek.runtime.errors import OdradekError

app = single_app()
PORT = 8180


class NotInstalled(OdradekError):
    """The console is an extra."""


def run(arguments: list[str]) -> int:
    return run_app(app, "console", arguments)


@app.command()
def console(
    bootstrap: Bootstrap = None,
    zookeeper: ZooKeeper = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = PORT,
    host: Annotated[
        str, typer.Option(help="Where to listen; others than loopback want a --password.")
    ] = HOST,
    password: Annotated[
        str | None,
        typer.Option(envvar="ODRADEK_CONSOLE_PASSWORD", help="Who comes must know it."),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="A broker's /metrics; may be given again."),
    ] = None,
    allow_changes: Annotated[
        bool, typer.Option("--allow-changes", help="Produce, move, elect, set offsets.")
    ] = False,
    browse: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
    json: Json = False,
) -> None:
    """Show a cluster in the browser, until Ctrl-C. Nothing is changed without --allow-changes."""
    try:
        from odradek.console.observer import Options
        from odradek.console.serving import Where, serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("odradek"):
            raise
        raise NotInstalled(
            f"the console needs {error.name}: pip install 'odradek[console]'"
        ) from error
    options = Options(
        bootstrap_of(bootstrap),
        zookeeper_of(zookeeper, bootstrap),
        tuple(metrics or ([] if bootstrap else local_metrics())),
        allow_changes,
        has_login=password is not None,
    )

    def announce(url: str) -> None:
        if json:
            say_json({"event": "ready", "console": url})
        else:
            say(f"console            {url}\nCtrl-C stops it.")
        if browse:
            webbrowser.open(url)

    serve(options, Where(host, port, password), announce)


def local_metrics() -> list[str]:
    """Where the brokers of the cluster that runs here tell their figures."""
    home = Path(DEFAULT)
    plan = ClusterDirectory(home).known_plan() if running_address(home) else None
    return [f"http://{HOST}:{it.http_port}/metrics" for it in plan.brokers] if plan else []
