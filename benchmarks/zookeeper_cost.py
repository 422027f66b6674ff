"""What a request costs our ZooKeeper server: microseconds of processor time, user and system.

Rates need a machine of their own; this does not, so it is what to look at while changing code:

    python -m benchmarks.zookeeper_cost              one server
    python -m benchmarks.zookeeper_cost --nodes 3    an ensemble: of all members together, and each

The load is the one that `zookeeper_server` is measured by: 4 connections with 64 requests
outstanding on each, 100 bytes of data, and then one connection with one request at a time. The
least of all rounds is the figure to compare: neighbours on the machine can only make it larger.
"""

from __future__ import annotations

import argparse
import selectors
import socket
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import median

from benchmarks.zookeeper_processes import ServerProcess, servers, session
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.data import open_acl
from odradek.zookeeper.wire.messages.requests import CreateRequest, GetDataRequest, SetDataRequest
from odradek.zookeeper.wire.operations import Body
from odradek.zookeeper.wire.requests import encode_request

DATA = bytes(range(100))
CONNECTIONS = 4
OUTSTANDING = 64
WORKERS = CONNECTIONS * OUTSTANDING
HEADER = slice(12, 16)  # Where a reply has its error, behind xid and zxid.
OK = bytes(4)

Ask = Callable[[int, int], tuple[Op, Body]]  # By worker, and how often it has asked before.


class Caller:
    """One connection: it sends as many requests as it gets answers."""

    def __init__(self, talking: socket.socket, requests: Iterator[bytes]) -> None:
        self.socket = talking
        self.answered = 0
        self._requests = requests
        self._rest = b""

    def send(self, count: int) -> None:
        self.socket.sendall(b"".join(islice(self._requests, count)))

    def receive(self) -> None:
        data = self._rest + self.socket.recv(1 << 18)
        position, count = 0, 0
        while position + 4 <= len(data):
            start = position + 4
            end = start + int.from_bytes(data[position:start], "big")
            if end > len(data):
                break
            error = data[start:end][HEADER]
            assert error == OK, f"a request was refused: {int.from_bytes(error, 'big') - 2**32}"
            position, count = end, count + 1
        self._rest = data[position:]
        self.answered += count
        self.send(count)


def encoded(ask: Ask, workers: list[int], count: int) -> list[bytes]:
    """The requests of one connection, ready to be sent: the next of each worker in turn."""
    times = -(-count // len(workers))
    asked = [ask(worker, number) for number in range(times) for worker in workers]
    return [encode_request(xid, *each) for xid, each in enumerate(asked[:count], 1)]


def run(ports: list[socket.socket], ask: Ask, count: int, outstanding: int) -> None:
    """Send so many requests on each connection, and wait for all answers."""
    callers = []
    for number, talking in enumerate(ports):
        workers = [worker * len(ports) + number for worker in range(outstanding)]
        callers.append(Caller(talking, iter(encoded(ask, workers, count))))
    with selectors.DefaultSelector() as selector:
        for caller in callers:
            selector.register(caller.socket, selectors.EVENT_READ, caller)
            caller.send(outstanding)
        while any(caller.answered < count for caller in callers):
            for key, _ in selector.select():
                key.data.receive()


def creates(name: str) -> Ask:
    def ask(worker: int, number: int) -> tuple[Op, Body]:
        path = f"/c/{worker}/{name}{number}"
        return Op.CREATE, CreateRequest(path, DATA, open_acl(), 0)

    return ask


def sets(worker: int, number: int) -> tuple[Op, Body]:
    return Op.SET_DATA, SetDataRequest(f"/s/{worker}", DATA, -1)


def gets(worker: int, number: int) -> tuple[Op, Body]:
    return Op.GET_DATA, GetDataRequest(f"/g/{worker}", False)


def prepare(talking: socket.socket) -> None:
    """Make the znodes that the load is about."""

    def tops(worker: int, number: int) -> tuple[Op, Body]:
        return Op.CREATE, CreateRequest(("/c", "/s", "/g")[number], b"", open_acl(), 0)

    def below(worker: int, number: int) -> tuple[Op, Body]:
        path = f"{('/c', '/s', '/g')[number // WORKERS]}/{number % WORKERS}"
        return Op.CREATE, CreateRequest(path, DATA, open_acl(), 0)

    run([talking], tops, 3, 1)
    run([talking], below, 3 * WORKERS, 1)


def measure(
    made: list[ServerProcess], ports: list[socket.socket], ask: Ask, count: int, outstanding: int
) -> list[float]:
    """Microseconds a request, of each server."""
    before = [server.cpu_s() for server in made]
    run(ports, ask, count, outstanding)
    total = count * len(ports)
    return [(server.cpu_s() - b) / total * 1e6 for server, b in zip(made, before, strict=True)]


def report(what: str, rounds: list[list[float]]) -> None:
    sums = sorted(map(sum, rounds))
    line = f"{what:<22} least {sums[0]:7.1f} us   median {median(sums):7.1f} us"
    if len(rounds[0]) > 1:
        each = " ".join(f"{min(column):6.1f}" for column in zip(*rounds, strict=True))
        line += f"   of each {each}"
    print(line, flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nodes", type=int, default=1)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--requests", type=int, default=40_000)
    given = options.parse_args()
    with servers(given.nodes) as made:
        for server in made:
            server.start()
        ports = [session(made[number % given.nodes]) for number in range(CONNECTIONS)]
        prepare(ports[0])
        shares: list[tuple[str, list[socket.socket], int, int, Callable[[int], Ask]]] = []
        many, few = given.requests // CONNECTIONS, given.requests // 10
        for name, make in (
            ("create", lambda number: creates(f"t{number}-")),
            ("set", lambda number: sets),
            ("get", lambda number: gets),
        ):
            shares.append((f"{name}, pipelined", ports, many, OUTSTANDING, make))
        for name, make in (
            ("create", lambda number: creates(f"l{number}-")),
            ("get", lambda _: gets),
        ):
            shares.append((f"{name}, one at a time", ports[:1], few, 1, make))
        for what, used, count, outstanding, make in shares:
            rounds = [
                measure(made, used, make(number), count, outstanding)
                for number in range(given.rounds)
            ]
            report(what, rounds)


if __name__ == "__main__":
    main()
