"""zkCli as somebody at a terminal uses it: a command, what it prints, the next command.

Behind each command stands a `sync`. Its answer goes through the same queue as the events, so by
then all that the command has caused is on the screen. A story says SERVER for the address, and so
does its transcript.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from itertools import count

from tests.interop.java_clients import RUN_SECONDS, java

MAIN = "org.apache.zookeeper.ZooKeeperMain"
SERVER = "SERVER"
FENCE = "sync /"
FENCE_ANSWERS = ("Sync is OK", "Not connected")
MARK = "printwatches"  # Without an argument it only prints one line, connected or not.
MARK_ANSWER = re.compile(r"^printwatches is (?:on|off)\n", re.MULTILINE)
EVENT = "WatchedEvent "
AROUND_EVENTS = ("", "WATCHER::")
# What these print was a set, at Apache's server or in the client, and has the order of hashes.
UNORDERED = ("whoami", "getEphemerals", "removewatches")
END_OF_CLIENT = "state:Closed"  # Comes when the client likes: no server has a part in it.

TIME = re.compile(r"(?<=[cm]time = )(?!Thu Jan 01 00:00:00 UTC 1970).*")
SESSION = re.compile(r"0x1[0-9a-f]{14}")


def one_command(connect_string: str, *words: str) -> tuple[int, str]:
    """zkCli with its command as arguments: the exit code, and what was printed."""
    command = java(MAIN, "-server", connect_string, *words)
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=RUN_SECONDS
    )
    return done.returncode, "\n".join(in_order(normal(done.stdout, connect_string)))


def transcript(connect_string: str, story: str) -> str:
    """The story with what zkCli prints to each command."""
    commands = [line for line in story.splitlines() if line and not line.startswith("#")]
    typed = [line for command in commands for line in (command, FENCE, MARK)]
    done = subprocess.run(
        java(MAIN, "-server", connect_string),
        input="\n".join(typed).replace(SERVER, connect_string),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=RUN_SECONDS,
    )
    answers = MARK_ANSWER.split(normal(done.stdout, connect_string))
    assert len(answers) > len(commands), f"zkCli ended early:\n{done.stdout}"
    return "\n".join(narrated(commands, answers))


def narrated(commands: list[str], answers: list[str]) -> Iterator[str]:
    for command, answer in zip(commands, answers, strict=False):
        yield f"> {command}"
        lines = in_order(answer)
        yield from alphabetical(lines) if command.split()[0] in UNORDERED else lines


def in_order(answer: str) -> Iterator[str]:
    """The events, then the answer: two threads print, and race each other."""
    lines = [line for line in answer.splitlines() if line not in AROUND_EVENTS]
    if lines and lines[-1] in FENCE_ANSWERS:
        lines.pop()
    yield from (line for line in lines if line.startswith(EVENT) and END_OF_CLIENT not in line)
    yield from (line for line in lines if not line.startswith(EVENT))


def alphabetical(lines: Iterable[str]) -> list[str]:
    """Lines in order, and the lists in them."""
    return sorted(", ".join(sorted(line.strip("[]").split(", "))) for line in lines)


def normal(printed: str, connect_string: str) -> str:
    """Without what no two servers have in common: address, times, ids of sessions."""
    numbers = count(1)
    for session_id in dict.fromkeys(SESSION.findall(printed)):
        printed = printed.replace(session_id, f"session {next(numbers)}")
    return TIME.sub("then", printed.replace(connect_string, SERVER))
