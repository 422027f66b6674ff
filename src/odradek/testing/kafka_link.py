"""A connection to a broker, passed on request by request, so that some can be disturbed.

Answers come in the order of the requests. One that we give ourselves waits for the broker's answers
to those before it. A request that is held up holds up what comes after it on its connection.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.codec import encode, read
from odradek.kafka.wire.connection import REQUEST_START, RESPONSE_HEAD, Route, route_of
from odradek.kafka.wire.messages.header import RequestHeader
from odradek.kafka.wire.messages.metadata import MetadataResponse, MetadataResponseBroker
from odradek.kafka.wire.messages.produce import ProduceRequest
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import ProtocolError
from odradek.runtime.frames import LENGTH
from odradek.testing.answers import refusal
from odradek.testing.relay import Broken, Link, Network, Pair
from odradek.testing.rules import Rules

PRODUCE = 0


@dataclass(slots=True, eq=False)
class Place:
    """The place of one request in the line of answers."""

    answer: bytes | None = None  # What we say ourselves; None: what the broker says.


class KafkaLink(Link):
    """One client of one broker."""

    def __init__(
        self,
        network: Network,
        pair: Pair,
        source: str,
        broker: str,
        rules: Rules,
        brokers: list[MetadataResponseBroker],
    ) -> None:
        super().__init__(network, pair)
        self._source = source
        self._broker = broker
        self._rules = rules
        self._brokers = brokers
        self._line: deque[Place] = deque()

    async def forward(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        back: asyncio.StreamWriter,
    ) -> None:
        with suppress(*Broken):
            while True:
                frame = await read_frame(reader)
                place = await self._judge(frame)
                if place is not None:
                    self._line.append(place)
                if place is None or place.answer is None:
                    await self.send(writer, LENGTH.pack(len(frame)) + frame)
                else:
                    await self._send_own(back)

    async def back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(*Broken):
            while True:
                frame = await read_frame(reader)
                if self._line:
                    self._line.popleft()
                await self.send(writer, LENGTH.pack(len(frame)) + frame)
                await self._send_own(writer)

    async def _send_own(self, writer: asyncio.StreamWriter) -> None:
        while self._line and (said := self._line[0].answer) is not None:
            self._line.popleft()
            await self.send(writer, said)

    async def _judge(self, frame: bytes) -> Place | None:
        """What becomes of a request; None if nobody answers it."""
        route = known_route(frame)
        if route is None:
            return Place()
        delay_s, error = self._rules.match(route.key, self._broker, self._source)
        if delay_s:
            await asyncio.sleep(delay_s)
        if route.key != PRODUCE and error is None:
            return Place()
        request = opened(route, frame)
        if isinstance(request.message, ProduceRequest) and not request.message.acks:
            return None  # It cannot be refused either: nobody listens.
        if error is None:
            return Place()
        refused = refusal(route.api, request.message, route.version, error)
        if isinstance(refused, MetadataResponse):  # Who is told of no broker has nobody to ask.
            refused = MetadataResponse(brokers=self._brokers, topics=refused.topics)
        return Place(framed(route, request.correlation_id, refused))


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    (size,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
    return await reader.readexactly(size)


def known_route(frame: bytes) -> Route | None:
    """How to read a request; None if we cannot, which is for the broker to complain about."""
    if len(frame) < REQUEST_START.size:
        return None
    kind, _ = REQUEST_START.unpack_from(frame)
    return route_of(kind) if kind >> 16 in APIS else None


class Opened(NamedTuple):
    """A request, taken apart."""

    correlation_id: int
    message: Message


def opened(route: Route, frame: bytes) -> Opened:
    try:
        header, end = read(RequestHeader, route.header_version, frame, 0)
        message, _ = read(route.request, route.version, frame, end)
    except ProtocolError as error:
        raise OSError(str(error)) from error
    return Opened(header.correlation_id, message)


def framed(route: Route, correlation_id: int, answer: Message) -> bytes:
    """An answer as it travels."""
    body = route.tags + b"".join(encode(answer, route.version))
    return RESPONSE_HEAD.pack(4 + len(body), correlation_id) + body
