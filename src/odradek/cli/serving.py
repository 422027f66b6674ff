"""How a server runs in the foreground: on its loop, under its own pid, until a signal comes."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from odradek.runtime.disk import DiskError
from odradek.runtime.errors import OdradekError
from odradek.runtime.tasks import Tasks

# Most of what a request makes is gone with its answer, and is not garbage in a circle. The
# collector may look for such circles less often than it does by default.
COLLECT_AFTER = (50_000, 20, 50)

# A thread that has synced a file wants the interpreter back to say so. By default a busy loop
# keeps it for 5 ms more, as long as many syncs together.
SWITCH_S = 0.0005


class Server(Protocol):
    """What can be started and stopped."""

    @property
    def tasks(self) -> Tasks: ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


def serve(make: Callable[[], Server]) -> int:
    """Run a server until SIGTERM or SIGINT, or until it dies; return the exit code."""
    gc.set_threshold(*COLLECT_AFTER)
    allow_many_files()
    sys.setswitchinterval(SWITCH_S)
    try:
        new_loop()(_serve(make))
    except (OdradekError, DiskError, OSError) as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1
    return 0


def allow_many_files() -> None:
    """Let this process open as many files as the system lets it, as a JVM does.

    What a shell gives by default, often 1,024, is too few for connections and logs together.
    """
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # Some systems have a lower limit than they name.
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def new_loop() -> Callable[..., None]:
    """uvloop's runner, or asyncio's own where there is no uvloop."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    run: Callable[..., None] = uvloop.run
    return run


async def _serve(make: Callable[[], Server]) -> None:
    server = make()
    loop = asyncio.get_running_loop()
    asked_to_stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked_to_stop.set)
    loop.set_exception_handler(server.tasks.take_loop_error)
    await server.start()
    gc.freeze()  # What was loaded stays: the collector need not walk it again and again.
    stopping = loop.create_task(asked_to_stop.wait())
    dying = loop.create_task(server.tasks.until_stopped())
    await asyncio.wait([stopping, dying], return_when=asyncio.FIRST_COMPLETED)
    if dying.done():
        stopping.cancel()
        dying.result()
    await server.stop()  # Its tasks run until it is relieved: who waits for them is not cancelled.
    await dying
