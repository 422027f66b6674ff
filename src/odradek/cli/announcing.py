"""What `odradek up` says when all serve."""

from __future__ import annotations

import json
from pathlib import Path

from odradek.cli.up import shown


def announce(
    data: Path, *, bootstrap: str, zookeeper: str, metrics: list[str], as_json: bool
) -> None:
    """Where the cluster is to be found: for people, or in one line of JSON."""
    if as_json:
        said = {"bootstrap": bootstrap, "zookeeper": zookeeper, "metrics": metrics}
        print(json.dumps({"event": "ready", **said, "data": str(data)}), flush=True)
        return
    print(
        f"bootstrap.servers  {bootstrap}\n"
        f"zookeeper          {zookeeper}\n"
        f"metrics            {' '.join(metrics)}\n"
        f"data and logs      {shown(data)}\n"
        "Ctrl-C stops it.",
        flush=True,
    )
