"""Two kinds of small real nodes, to have something to do harm to.

A keeper writes lines into a journal, and says `kept` once they are safe. A watcher asks a keeper
every second whether it is there, and suspects it after three without an answer.
"""

from __future__ import annotations

import asyncio
from functools import partial

from odradek.runtime.disk import File
from odradek.simulation.processes import Environment, Main

PORT = 1000
JOURNAL = "/data/journal"
PATIENCE_S = 3.0


async def keep(environment: Environment) -> None:
    disk = environment.disk
    disk.make_directories("/data")
    lock = disk.lock_directory("/data")
    journal = disk.open(JOURNAL, create=True)
    disk.sync_directory("/")
    disk.sync_directory("/data")
    lines = read_whole_lines(journal)
    environment.narrate(f"keeps {', '.join(lines) or 'nothing'}")
    server = await asyncio.start_server(partial(answer, journal, environment), None, PORT)
    try:
        await server.serve_forever()
    finally:
        lock.release()


def read_whole_lines(journal: File) -> list[str]:
    """What was kept; a last line that is torn was never promised, and is cut off."""
    text = journal.pread(0, journal.size())
    whole, newline, _ = text.rpartition(b"\n")
    journal.truncate(len(whole + newline))
    return [line.decode(errors="replace") for line in whole.splitlines()]


async def answer(
    journal: File,
    environment: Environment,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    try:
        while line := await reader.readline():
            if line != b"ping\n":
                journal.append(line)
                await asyncio.to_thread(journal.sync)
                environment.narrate(f"keeps {line.decode().strip()}")
            writer.write(b"kept\n")
    except OSError:
        environment.narrate("loses a connection")
    finally:
        writer.close()


async def ask(host: str, line: str) -> str:
    """Have a keeper keep a line; what it says."""
    reader, writer = await asyncio.open_connection(host, PORT)
    try:
        writer.write(line.encode() + b"\n")
        return (await reader.readline()).decode().strip() or "goodbye"
    finally:
        writer.close()


def watch(keeper: str) -> Main:
    async def main(environment: Environment) -> None:
        is_trusted = True
        while True:
            try:
                async with asyncio.timeout(PATIENCE_S):
                    is_there = await ask(keeper, "ping") == "kept"
            except OSError:  # Refused, reset, or out of time.
                is_there = False
            if is_there != is_trusted:
                is_trusted = is_there
                environment.narrate(f"{'trusts' if is_trusted else 'suspects'} {keeper}")
            await asyncio.sleep(1)

    return main
