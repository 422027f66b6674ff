"""Shell completion, and all commands as one tree for it.

`odradek completion bash` prints what a shell wants to source. The shell then runs `odradek` with
`_ODRADEK_COMPLETE` in its environment, and only then is the whole tree imported.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import typer

VARIABLE = "_ODRADEK_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
TYPED = (
    "bench",
    "cluster",
    "config",
    "consume",
    "group",
    "log",
    "produce",
    "topic",
    "txn",
    "znode",
)
MORE = (
    "odradek.cli.topic_move",
    "odradek.cli.group_reset",
    "odradek.cli.znode_tree",
    "odradek.cli.znode_acl",
)


def run(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in SHELLS:
        print(f"usage: odradek completion {{{'|'.join(SHELLS)}}}", file=sys.stderr)
        return 2
    from typer._completion_shared import get_completion_script

    print(get_completion_script(prog_name="odradek", complete_var=VARIABLE, shell=arguments[0]))
    return 0


def tree() -> Any:
    """All commands under one root; those that do not use typer have no options there."""
    from odradek.cli.main import COMMANDS

    root = typer.Typer(add_completion=False)
    for name in sorted(COMMANDS):
        if name in TYPED:
            app: typer.Typer = import_module(COMMANDS[name]).app
            single = app.registered_commands[0] if len(app.registered_commands) == 1 else None
            if single is not None and single.name is None and single.callback is not None:
                root.command(name)(single.callback)
            else:
                root.add_typer(app, name=name)
        else:
            root.command(name)(nothing)
    for module in MORE:
        import_module(module)
    return typer.main.get_command(root)


def nothing() -> None:
    """A command that does not use typer."""


def complete() -> int:
    """Answer the shell that asks what could come next."""
    from typer._completion_classes import completion_init

    completion_init()
    try:
        tree().main(prog_name="odradek", complete_var=VARIABLE)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def is_asked() -> bool:
    return VARIABLE in os.environ
