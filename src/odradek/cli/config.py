"""`odradek config`: the settings of topics and brokers while they run."""

from __future__ import annotations

from typing import Annotated

import typer

from odradek.cli.endpoints import open_cluster
from odradek.cli.options import Bootstrap, DryRun, Json
from odradek.cli.output import say, say_json, table
from odradek.cli.reading import read_settings
from odradek.cli.typed import new_app, run_app
from odradek.kafka.client.config_admin import (
    ConfigSource,
    Resource,
    alter_configs,
    describe_configs,
)

app = new_app("Settings of topics and brokers: show, set.")
Whose = Annotated[
    str, typer.Argument(metavar="WHOSE", help="topic:NAME, broker:ID, or brokers for all of them.")
]


def run(arguments: list[str]) -> int:
    return run_app(app, "config", arguments)


@app.command("show")
def show(
    whose: Whose,
    key: Annotated[list[str] | None, typer.Argument(metavar="[KEY]…")] = None,
    all_: Annotated[bool, typer.Option("--all", "-a", help="Defaults, too.")] = False,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """What is set, where it comes from; secrets are never shown."""
    resource, name = read_whose(whose)
    configs = describe_configs(open_cluster(bootstrap), resource, name)
    is_own = ConfigSource.TOPIC if resource is Resource.TOPIC else ConfigSource.FILE
    rows = [
        {
            "key": it.name,
            "value": None if it.is_sensitive else it.value,
            "source": ConfigSource(max(0, it.config_source)).name.lower(),
            "read_only": it.read_only,
            "sensitive": it.is_sensitive,
        }
        for it in sorted(configs, key=lambda it: it.name)
        if (it.name in key if key else all_ or 0 < it.config_source <= is_own)
    ]
    if json:
        say_json(rows)
    else:
        table([list(it.values()) for it in rows], "key", "value", "source", "read only", "secret")


@app.command("set")
def set_(
    whose: Whose,
    setting: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]…")] = None,
    unset: Annotated[list[str] | None, typer.Option("--unset", "-u", metavar="KEY")] = None,
    dry_run: DryRun = False,
    bootstrap: Bootstrap = None,
    json: Json = False,
) -> None:
    """Set and unset; all that is not named stays as it is."""
    resource, name = read_whose(whose)
    changes = read_settings(setting)
    if not changes and not unset:
        raise typer.BadParameter("nothing to change: name KEY=VALUE or --unset KEY")
    alter_configs(open_cluster(bootstrap), resource, name, changes, unset or (), is_dry_run=dry_run)
    if json:
        say_json({"whose": whose, "set": changes, "unset": unset or [], "dry_run": dry_run})
    else:
        say(f"{whose} {'could be' if dry_run else 'is'} altered")


def read_whose(text: str) -> tuple[Resource, str]:
    kind, _, name = text.partition(":")
    if kind == "topic" and name:
        return Resource.TOPIC, name
    if kind == "broker" and name.isdecimal():
        return Resource.BROKER, name
    if text == "brokers":
        return Resource.BROKER, ""
    raise typer.BadParameter(f"{text!r} is neither topic:NAME nor broker:ID nor brokers")
