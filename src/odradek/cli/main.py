"""`odradek`: finds the command and runs it.

A command's module is imported when it is asked for, and brings only what it needs: a server must
be up before anyone notices that it was started.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module

COMMANDS = {
    "broker": "odradek.cli.broker",
    "demo": "odradek.cli.demo",
    "zookeeper": "odradek.cli.zookeeper",
}
USAGE = """usage: odradek COMMAND …

  broker FILE       run a Kafka broker from its server.properties, in the foreground
  demo              the main job from end to end: broker, shop, Spark, proof
  zookeeper FILE    run a ZooKeeper server from its zoo.cfg, in the foreground
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in COMMANDS:
        gc.disable()  # Importing makes much and drops little: there is nothing to collect.
        command = import_module(COMMANDS[words[0]])
        gc.enable()
        code: int = command.run(words[1:])
        return code
    wants_help = words[:1] in (["-h"], ["--help"])
    print(USAGE, end="", file=sys.stdout if wants_help else sys.stderr)
    return 0 if wants_help else 2
