"""Planners of streams, forked from a process that stands by with all that they import.

Spark starts a Python for each streaming query, which imports Spark, Arrow and numpy for a fifth of
a second before it plans anything. The first of a session (`python -m odradek.spark.standby MODULE`)
leaves a copy of itself behind that has imported and not yet begun; later ones ask it for a fork
(`standby_call`), which is given their environment, their directory and their standard files.

Whoever is not sure starts anew: another path of modules, a process with threads, a system that
cannot tell when the JVM has gone. The copy ends with the JVM, or with the session's directory.
"""

from __future__ import annotations

import os
import runpy
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from select import POLLIN, poll
from threading import Thread

from odradek.spark.standby_call import NAME

PRELOADED = ("odradek.spark.source", "odradek.spark.stream", "odradek.spark.resolving")
# An allocator that Arrow has, and does not use here, would start a thread, and forks lose threads.
NO_THREAD_OF_ARROW = "JE_ARROW_MALLOC_CONF", "background_thread:false"
FILES = 3
HEAD_BYTES = 4
LOOK_EVERY_MS = 2_000
TELL_WITHIN_S = 5
STILL_THERE = b"1"


@dataclass(frozen=True, slots=True)
class Call:
    """What is to be run, and as whom."""

    module: str
    directory: bytes
    environment: dict[bytes, bytes]


def main(module: str) -> None:
    """Run a module, here and in all forks to come."""
    os.environ.setdefault(*NO_THREAD_OF_ARROW)
    for name in (*PRELOADED, module):
        import_module(name)
    call = leave_standby()
    name = module if call is None else call.module
    sys.modules.pop(name, None)  # It is to be run once more, as the main one.
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def leave_standby() -> Call | None:
    """Leave a copy behind. Returns here with None, and in each fork of the copy with its call."""
    listener = listen() if can_fork() else None
    if listener is None:
        return None
    jvm = os.pidfd_open(os.getppid())
    taken = None if os.fork() else stand_by(listener, jvm)
    listener.close()
    os.close(jvm)
    if taken is None:
        return None
    call, connection = taken
    Thread(target=end_with, args=[connection], daemon=True).start()
    return call


def can_fork() -> bool:
    """Whether nothing is lost in a fork, and the copy can see the JVM go."""
    tasks = Path("/proc/self/task")
    return hasattr(os, "pidfd_open") and tasks.exists() and len(list(tasks.iterdir())) == 1


def listen() -> socket.socket | None:
    """A socket for this user alone; None: there is no place for it, or another one is there."""
    directory = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0]
    listener = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o077)
    try:
        listener.bind(str(Path(directory) / NAME))
    except OSError:
        listener.close()
        return None
    finally:
        os.umask(mask)
    listener.listen()
    return listener


def stand_by(listener: socket.socket, jvm: int) -> tuple[Call, socket.socket]:
    """Fork for whoever calls; only the forks return."""
    place = Path(listener.getsockname())
    look_away()
    looking = poll()
    for file in (listener.fileno(), jvm):
        looking.register(file, POLLIN)
    while place.exists():
        ready = [file for file, _ in looking.poll(LOOK_EVERY_MS)]
        if jvm in ready:
            break
        if ready:
            taken = answer(listener)
            if taken is not None:
                return taken
    os._exit(0)


def look_away() -> None:
    """The copy holds no file of the first, and hears no signal that was meant for others."""
    with Path(os.devnull).open("r+b", buffering=0) as nothing:
        for file in range(FILES):
            os.dup2(nothing.fileno(), file)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Nobody waits for the forks.


def answer(listener: socket.socket) -> tuple[Call, socket.socket] | None:
    """Take one call; what it was is returned in the fork alone."""
    connection, _ = listener.accept()
    files: list[int] = []
    call = None
    with suppress(OSError, ValueError):
        connection.settimeout(TELL_WITHIN_S)
        head, files, _, _ = socket.recv_fds(connection, HEAD_BYTES, FILES)
        call = receive(connection, int.from_bytes(head, "big"))
        connection.settimeout(None)
    if call is not None and len(files) == FILES and is_like_us(call) and os.fork() == 0:
        become(call, files)
        connection.sendall(STILL_THERE)
        return call, connection
    for file in files:
        os.close(file)
    connection.close()
    return None


def receive(connection: socket.socket, size: int) -> Call:
    """One call, as `standby_call` tells it."""
    with connection.makefile("rb") as told:
        module, directory, *pairs = told.read(size).split(b"\0")
    return Call(module.decode(), directory, dict(pair.split(b"=", 1) for pair in pairs))


def is_like_us(call: Call) -> bool:
    """Whether a Python of its own would look for modules where this one does."""
    return call.environment.get(b"PYTHONPATH") == os.environb.get(b"PYTHONPATH")


def become(call: Call, files: list[int]) -> None:
    """Be what the caller would have started."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environb.clear()
    os.environb.update(call.environment)
    os.chdir(call.directory)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def end_with(connection: socket.socket) -> None:
    """Whoever stops the caller means us."""
    with suppress(OSError):
        connection.recv(1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main(sys.argv[1])
