"""How commands that are made with typer run under `odradek`: refusals are sentences, not traces.

Exit codes: 0 done, 1 refused or failed, 2 not understood.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer

from odradek.cli.endpoints import TO_CLOSE
from odradek.runtime.errors import OdradekError


def new_app(about: str) -> typer.Typer:
    """A command with subcommands."""
    return typer.Typer(
        help=about,
        no_args_is_help=True,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )


def single_app() -> typer.Typer:
    """A command without subcommands."""
    return typer.Typer(
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )


def run_app(app: typer.Typer, name: str, arguments: list[str], *more: str) -> int:
    """Run a command; the exit code. `more` modules add subcommands."""
    for module in more:
        import_module(module)
    command: Any = typer.main.get_command(app)
    to_close: list[Callable[[], None]] = []
    TO_CLOSE.set(to_close)
    try:
        command.main(args=arguments, prog_name=f"odradek {name}")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except (OdradekError, OSError) as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1
    finally:
        for close in to_close:
            close()
    return 0
