"""The small HTTP server: what it understands, what it refuses, and when it hangs up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from odradek.runtime.http import (
    HEAD_BYTES_MAX,
    HttpRequest,
    HttpResponse,
    HttpServer,
)
from tests.zookeeper.server.in_process import HOST, ask

CLOSE = b"Connection: close\r\n\r\n"


async def pieces() -> AsyncIterator[bytes]:
    yield b"one "
    yield b"two"


async def echo(request: HttpRequest) -> HttpResponse:
    """Answer with what was understood."""
    if request.path == "/pieces":
        return HttpResponse(pieces=pieces(), piece_bytes=7)
    return HttpResponse(f"{request.method} {request.path} {dict(request.query)}".encode())


@asynccontextmanager
async def listening(silence_max_s: float = 20.0) -> AsyncIterator[HttpServer]:
    server = HttpServer(echo, silence_max_s)
    await server.open(HOST, 0)
    try:
        yield server
    finally:
        server.close()


def answer(data: bytes, silence_max_s: float = 20.0) -> tuple[str, str]:
    """The first line and the body of what is answered until the connection ends."""

    async def run() -> bytes:
        async with listening(silence_max_s) as server:
            return await ask(server.port, data)

    head, _, body = asyncio.run(run()).decode().partition("\r\n\r\n")
    return head.partition("\r\n")[0], body


def test_a_request_is_taken_apart() -> None:
    got = answer(b"GET /a%20b?x=1&y=&x=2 HTTP/1.1\r\nHost: me\r\n" + CLOSE)
    assert got == ("HTTP/1.1 200 OK", "GET /a b {'x': '1', 'y': ''}")


def test_head_has_no_body() -> None:
    assert answer(b"HEAD / HTTP/1.1\r\n" + CLOSE) == ("HTTP/1.1 200 OK", "")


def test_a_long_answer_comes_in_pieces() -> None:
    assert answer(b"GET /pieces HTTP/1.1\r\n" + CLOSE) == ("HTTP/1.1 200 OK", "one two")


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", "400 Bad Request"),
        (b"GET / HTTP/1.1 \r\n\r\n", "400 Bad Request"),
        (b"GET http://[ HTTP/1.1\r\n\r\n", "400 Bad Request"),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", "400 Bad Request"),
        (b"GET / HTTP/1.1\r\n folded: x\r\n\r\n", "400 Bad Request"),
        (b"GET / HTTP/2.0\r\n\r\n", "505 HTTP Version Not Supported"),
        (b"GET /" + b"x" * 3 * HEAD_BYTES_MAX, "431 Request Header Fields Too Large"),
    ],
)
def test_what_makes_no_sense_is_refused_and_ends_the_connection(data: bytes, status: str) -> None:
    assert answer(data)[0] == f"HTTP/1.1 {status}"


def test_several_requests_share_a_connection_until_one_says_close() -> None:
    async def run() -> bytes:
        async with listening() as server:
            return await ask(
                server.port, b"GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n" + CLOSE + b"GET /3"
            )

    text = asyncio.run(run()).decode()
    assert text.count("HTTP/1.1 200 OK") == 2
    marks = ["Connection: keep-alive", "GET /1", "Connection: close", "GET /2"]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)


def test_an_older_client_is_not_kept() -> None:
    assert answer(b"GET / HTTP/1.0\r\n\r\n")[1] == "GET / {}"


def test_nothing_is_read_behind_a_body() -> None:
    data = b"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    assert answer(data)[1] == "POST / {}"


def test_a_silent_client_is_cut_off() -> None:
    assert answer(b"GET / HTTP/1.1\r\n", silence_max_s=0.01) == ("", "")


def test_clients_are_cut_off_when_the_server_closes() -> None:
    async def run() -> bytes:
        async with listening() as server:
            reader, writer = await asyncio.open_connection(HOST, server.port)
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            await reader.readuntil(b"GET / {}")
        try:
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()

    assert asyncio.run(run()) == b""
