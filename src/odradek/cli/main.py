"""`odradek`: finds the command and runs it.

A command's module is imported when it is asked for, and brings only what it needs: a server must
be up before anyone notices that it was started.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

COMMANDS = {
    "bench": "odradek.cli.bench",
    "broker": "odradek.cli.broker",
    "cluster": "odradek.cli.cluster",
    "completion": "odradek.cli.completion",
    "config": "odradek.cli.config",
    "console": "odradek.cli.console",
    "consume": "odradek.cli.consume",
    "demo": "odradek.cli.demo",
    "doctor": "odradek.cli.doctor",
    "group": "odradek.cli.group",
    "log": "odradek.cli.log",
    "pipeline": "odradek.cli.pipeline",
    "produce": "odradek.cli.produce",
    "topic": "odradek.cli.topic",
    "txn": "odradek.cli.txn",
    "up": "odradek.cli.up",
    "znode": "odradek.cli.znode",
    "zookeeper": "odradek.cli.zookeeper",
}
USAGE = """usage: odradek COMMAND …

  bench             how fast a cluster takes and gives records
  broker FILE       run a Kafka broker from its server.properties, in the foreground
  cluster           who is there, who controls, what is out of sync
  completion SHELL  what bash, zsh or fish want to complete our commands
  config            settings of topics and brokers: show, set
  console           a page that shows a cluster as it coordinates itself
  consume TOPIC     print records of topics
  demo              the main job from end to end: broker, shop, Spark, proof
  doctor [PATH]     look for what is wrong with this machine, a config or a data directory
  group             consumer groups: list, describe, reset, delete
  log               a broker's files: dump, verify, dirs
  pipeline NAME     archive, replay, mirror or audit topics with Spark, or init a project
  produce TOPIC     write records to a topic
  topic             topics: create, list, describe, alter, delete, move
  txn               transactions: list, describe, producers, abort
  up                a whole cluster on this machine, until Ctrl-C
  znode             ZooKeeper's tree: get, set, ls, tree, watch, export …
  zookeeper FILE    run a ZooKeeper server from its zoo.cfg, in the foreground
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if "_ODRADEK_COMPLETE" in os.environ:
        from odradek.cli.completion import complete

        return complete()
    if words and words[0] in COMMANDS:
        gc.disable()  # Importing makes much and drops little: there is nothing to collect.
        command = import_module(COMMANDS[words[0]])
        gc.enable()
        code: int = command.run(words[1:])
        return code
    wants_help = words[:1] in (["-h"], ["--help"])
    print(USAGE, end="", file=sys.stdout if wants_help else sys.stderr)
    return 0 if wants_help else 2
