"""A recorded exchange with Apache ZooKeeper 3.9.5, played again to our own server."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from odradek.zookeeper.wire.codes import Op
from tests.zookeeper.server.normal import HEADER_BYTES, Normal
from tests.zookeeper.server.raw_client import RawClient
from tests.zookeeper.server.running import running_server
from tests.zookeeper.server.steps import HEADER
from tests.zookeeper.wire.golden import Line, exchange, framed


class Side:
    """What one of the two servers says, without what differs from run to run."""

    def __init__(self) -> None:
        self._normal = Normal()
        self._welcomed: set[str] = set()
        self._types: dict[str, dict[int, int]] = {}

    def asked(self, line: Line) -> None:
        if line.request is not None and line.connection in self._welcomed:
            _, xid, op = HEADER.unpack_from(framed(line.request))
            self._types.setdefault(line.connection, {})[xid] = op

    def says(self, connection: str, answer: bytes) -> str:
        if connection in self._welcomed:
            return self._normal.reply(answer, self._types[connection])
        self._welcomed.add(connection)
        return self._normal.welcome(answer)


def test_we_answer_each_line_as_it_was_recorded(tmp_path: Path) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(running_server(tmp_path, extendedTypesEnabled="true"))
        clients = {name: stack.enter_context(RawClient(server.port)) for name in "AB"}
        ours, theirs = Side(), Side()
        for line in exchange():
            ours.asked(line)
            theirs.asked(line)
            if line.request is not None:
                clients[line.connection].send_frame(line.request)
            answer = clients[line.connection].receive()
            assert answer is not None, line.what
            expected = theirs.says(line.connection, line.answer)
            assert ours.says(line.connection, answer) == expected, line.what
        assert clients["A"].receive() is None  # Its session was closed by the last line.


def test_a_time_that_is_not_that_of_its_zxid_would_be_noticed() -> None:
    normal, types = Normal(), {0x13: Op.EXISTS.value}
    answer = next(line.answer for line in exchange() if line.what == "exists /e")
    elsewhere = bytearray(answer)
    elsewhere[HEADER_BYTES + 16 + 7] ^= 1  # The last byte of the time of its creation.
    assert normal.reply(answer, types) != normal.reply(bytes(elsewhere), types)
