"""`odradek doctor [PATH]`: says in plain sentences what is wrong with this machine, with a config
file or with a data directory. Exit code 1 if something is wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import Annotated

import typer

from odradek.doctor import Finding, Level, examine, is_well

COLOURS = {
    Level.GOOD: "green",
    Level.NOTE: "dim",
    Level.WARNING: "yellow",
    Level.WRONG: "red",
}
app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def doctor(
    path: Annotated[
        str | None,
        typer.Argument(help="a server.properties, a zoo.cfg, a log or data directory; or nothing"),
    ] = None,
    is_quick: Annotated[
        bool, typer.Option("--quick", help="of each log, read only the newest segment")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Say what is wrong with this machine, a config file or a data directory."""
    findings = list(examine(path, is_quick=is_quick))
    is_fine = is_well(findings)
    if as_json:
        found = [asdict(finding) for finding in findings]
        print(json.dumps({"well": is_fine, "findings": found}))
    else:
        print_findings(findings)
    if not is_fine:
        raise typer.Exit(1)


def print_findings(findings: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(box=None, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    table.add_column(overflow="fold", ratio=2)
    for finding in findings:
        level = Text(finding.level, style=COLOURS[finding.level])
        table.add_row(level, Text(finding.subject), Text(finding.text))
    console.print(table)
    counts = Counter(finding.level for finding in findings)
    if counts[Level.WRONG]:
        console.print(f"{counts[Level.WRONG]} wrong, {counts[Level.WARNING]} to think about")
    elif counts[Level.WARNING]:
        console.print(f"nothing is wrong; {counts[Level.WARNING]} to think about")
    else:
        console.print("all is well")


def run(arguments: list[str]) -> int:
    """Run the command; return the exit code."""
    try:
        app(arguments, prog_name="odradek doctor")
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0
