"""An echo server and its client, written for production: they know nothing of simulation."""

from __future__ import annotations

import asyncio
from struct import pack, unpack
from typing import cast

from odradek.runtime.frames import FrameReader

FRAME_BYTES_MAX = 1 << 20


class EchoServer(asyncio.BufferedProtocol):
    """Sends each frame back, and stops reading while the client does not read."""

    def __init__(self) -> None:
        self._frames = FrameReader(FRAME_BYTES_MAX)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._frames.get_buffer()

    def buffer_updated(self, nbytes: int) -> None:
        for frame in self._frames.received(nbytes):
            self._transport.writelines([pack(">i", len(frame)), frame])

    def pause_writing(self) -> None:
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._transport.resume_reading()


class EchoClient(asyncio.Protocol):
    """Asks many things at once; answers come in the order of the questions."""

    def __init__(self) -> None:
        self._frames = FrameReader(FRAME_BYTES_MAX)
        self._answers: asyncio.Queue[bytes] = asyncio.Queue()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        for frame in self._frames.feed(data):
            self._answers.put_nowait(bytes(frame))

    async def ask(self, *questions: bytes) -> list[bytes]:
        for question in questions:
            self._transport.write(pack(">i", len(question)) + question)
        return [await self._answers.get() for _ in questions]

    def close(self) -> None:
        self._transport.close()


async def serve(host: str, port: int = 0) -> asyncio.AbstractServer:
    return await asyncio.get_running_loop().create_server(EchoServer, host, port)


async def connect(host: str, port: int) -> EchoClient:
    _, client = await asyncio.get_running_loop().create_connection(EchoClient, host, port)
    return client


async def stream_serve(host: str, port: int = 0) -> asyncio.AbstractServer:
    """The same with streams."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while header := await reader.read(4):
            header += await reader.readexactly(4 - len(header))
            writer.write(header + await reader.readexactly(unpack(">i", header)[0]))
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    return await asyncio.start_server(answer, host, port)


async def stream_ask(host: str, port: int, question: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(pack(">i", len(question)) + question)
    await writer.drain()
    answer = await reader.readexactly(4 + len(question))
    writer.close()
    await writer.wait_closed()
    return answer[4:]
