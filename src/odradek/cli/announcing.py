"""What `odradek up` says when all serve."""

from __future__ import annotations

import json
from pathlib import Path

from odradek.cli.up import shown


def announce(
    data: Path,
    *,
    bootstrap: str,
    zookeeper: str,
    metrics: list[str],
    as_json: bool,
    console: str | None = None,
) -> None:
    """Where the cluster is to be found: for people, or in one line of JSON."""
    if as_json:
        said = {"bootstrap": bootstrap, "zookeeper": zookeeper, "metrics": metrics}
        more = {} if console is None else {"console": console}
        print(json.dumps({"event": "ready", **said, "data": str(data), **more}), flush=True)
        return
    console_line = "" if console is None else f"console            {console}\n"
    print(
        f"bootstrap.servers  {bootstrap}\n"
        f"zookeeper          {zookeeper}\n"
        f"metrics            {' '.join(metrics)}\n"
        f"{console_line}"
        f"data and logs      {shown(data)}\n"
        "Ctrl-C stops it.",
        flush=True,
    )
