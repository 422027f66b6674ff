"""Four-letter words to ZooKeepers, and pages of brokers: "" where nobody answers in time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

from odradek.console.gatherings import Server, read_server
from odradek.console.sessions import Said
from odradek.zookeeper.client.connect_string import Address

PATIENCE_S = 3.0
ANSWER_BYTES_MAX = 4 * 1024 * 1024


async def say(address: Address, word: str) -> str:
    """What a ZooKeeper answers to a word."""
    return (await exchange(*address, word.encode())).decode(errors="replace")


async def exchange(host: str, port: int, question: bytes) -> bytes:
    """All that comes back until the other side closes."""
    answer = b""
    with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
        async with asyncio.timeout(PATIENCE_S):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(question)
                while len(answer) < ANSWER_BYTES_MAX and (piece := await reader.read(65536)):
                    answer += piece
            finally:
                writer.close()
    return answer


async def server_at(address: Address) -> Server:
    """How a ZooKeeper is. Apache's answers `srvr` to all, and `mntr` where it is allowed."""
    srvr, mntr = await asyncio.gather(say(address, "srvr"), say(address, "mntr"))
    return read_server(str(address), srvr, mntr)


async def sessions_at(address: Address) -> Said:
    """What a ZooKeeper tells of its clients, as far as its whitelist allows."""
    cons, wchc, dump = await asyncio.gather(*[say(address, it) for it in ("cons", "wchc", "dump")])
    return Said(str(address), cons, wchc, dump)


async def page_at(url: str) -> str:
    """The body of a page; "" if there is none."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 80
    question = f"GET {parts.path or '/metrics'} HTTP/1.0\r\nHost: {host}\r\n\r\n"
    head, _, body = (await exchange(host, port, question.encode())).partition(b"\r\n\r\n")
    return body.decode(errors="replace") if b" 200 " in head.split(b"\r\n", 1)[0] + b" " else ""
