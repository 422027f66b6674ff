"""Streams of steps, made from a seed: all that clients may do, and much that they should not.

Three clients ask, watch, leave and come back, alone and many requests at once; now and then one
sends bytes that make no sense. Whatever ends a connection is followed by its client's return.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

from odradek.zookeeper.wire.codes import Op, Xid
from odradek.zookeeper.wire.messages.requests import DeleteRequest
from odradek.zookeeper.wire.requests import encode_request
from tests.zookeeper.server.random_requests import RandomRequests, auth
from tests.zookeeper.server.random_values import FREE_PATHS, RandomValues
from tests.zookeeper.server.steps import Deed, Step, opening, saying

CLIENTS = "ABC"
UNKNOWN_OPS = [10, 13, 23, 99, 108, -1, 0, -12]
TIMEOUTS_MS = [100, 20_000, 90_000]
# Lengths that no frame may have, a frame too short for a header, and one of nothing at all.
BAD_FRAMES = ["7fffffff", "ffffffff", "00100001", "0000000400000001", "00000000"]
ODD_BYTES = b"\x00\x01\x20\x2f\x7f\x80\xff"


def stream(seed: int, count: int) -> list[Step]:
    """The first steps of the stream with this seed."""
    return list(islice(Stream(seed).steps(), count))


class Stream:
    """An endless stream."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self._values = RandomValues(random)
        self._requests = RandomRequests(self._values)
        # Quotas look at what is committed, so a crowd of requests must not depend on one.
        self._crowd = RandomRequests(RandomValues(random, FREE_PATHS), is_crowd=True)
        self._xids = dict.fromkeys(CLIENTS, 0)
        self._sessions = dict.fromkeys(CLIENTS, 0)  # The number of the session of each client.
        self._session_count = 0

    def steps(self) -> Iterator[Step]:
        """First everybody arrives, then anything may happen."""
        for client in CLIENTS:
            yield self._arrive(client)
        while True:
            yield from self._next(self._values.pick(CLIENTS))

    def _next(self, client: str) -> Iterator[Step]:
        chance = self._values.random.random()
        if chance < 0.85:
            yield saying(client, self._alone(client))
        elif chance < 0.92:
            count = self._values.random.randint(2, 8)
            crowd = [encode_request(self._xid(client), *self._crowd.any()) for _ in range(count)]
            yield saying(client, *crowd)
        elif chance < 0.95:
            yield from self._come_back(client)
        elif chance < 0.965:
            yield from self._leave(client)
        elif chance < 0.985:
            yield saying(client, self._malformed(client))
            yield opening(client, self._sessions[client])
        else:
            yield self._misbehave(client)
            yield opening(client, self._sessions[client])

    # Coming and going

    def _arrive(self, client: str, read_only: bool | None = False) -> Step:
        self._session_count += 1
        self._sessions[client] = self._session_count
        return opening(client, read_only=read_only, timeout_ms=self._values.pick(TIMEOUTS_MS))

    def _come_back(self, client: str) -> Iterator[Step]:
        """On a new connection, and often with the watches that were on the old one."""
        if self._values.happens():
            yield Step(client, Deed.CUT)
        yield opening(client, self._sessions[client], last_zxid=self._values.pick([0, 1, 2]))
        if self._values.happens(0.7):
            yield saying(client, self._requests.set_watches())

    def _leave(self, client: str) -> Iterator[Step]:
        """End the session; try in vain to go on with it; start a new one, as some old client."""
        yield saying(client, encode_request(self._xid(client), Op.CLOSE_SESSION))
        if self._values.happens(0.3):
            yield opening(client, self._sessions[client])
        yield self._arrive(client, self._values.pick([False, False, True, None]))

    # Requests

    def _alone(self, client: str) -> bytes:
        """Any request, also one whose answer would be out of turn among others."""
        chance = self._values.random.random()
        if chance < 0.02:
            return encode_request(Xid.PING, Op.PING)
        if chance < 0.04:
            return self._requests.set_watches()
        if chance < 0.06:
            return self._requests.good_auth()
        if chance < 0.14:
            return encode_request(self._xid(client), *self._requests.about_quota())
        return self._request(client)

    def _request(self, client: str) -> bytes:
        return encode_request(self._xid(client), *self._requests.any())

    def _malformed(self, client: str) -> bytes:
        """A good request: cut short, gone on with, or with other bytes in it."""
        values, frame = self._values, bytearray(self._request(client)[4:])
        kind = values.random.random()
        if kind < 0.6:
            del frame[values.random.randint(8, len(frame)) :]
        elif kind < 0.7:
            frame += b"more"
        else:
            for at in values.random.choices(range(8, len(frame)), k=2) if len(frame) > 8 else ():
                frame[at] = values.pick(ODD_BYTES)
        return len(frame).to_bytes(4) + frame

    def _misbehave(self, client: str) -> Step:
        """Something that ends the connection."""
        values, mine = self._values, self._sessions[client]
        body = values.pick([None, DeleteRequest("/a", -1)])
        unknown = encode_request(self._xid(client), values.pick(UNKNOWN_OPS), body)
        return values.pick(
            [
                saying(client, auth("nobody", b"knows")),
                saying(client, auth("sasl", b"x")),
                saying(client, unknown),
                saying(client, unknown),
                saying(client, bytes.fromhex(values.pick(BAD_FRAMES))),
                opening(client, mine, password=b"0123456789abcdef"),
                opening(client, mine, password=b"short"),
                opening(client, 77),
                opening(client, mine, last_zxid=1 << 40),
            ]
        )

    def _xid(self, client: str) -> int:
        self._xids[client] += 1
        return self._xids[client]
