"""Links of a controller to brokers: in order, once each, through broken connections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from odradek.kafka.broker.links import Links
from odradek.kafka.broker.peers import Peer, PeerLost
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.kafka.wire.connection import ServerConnection
from odradek.kafka.wire.messages.update_metadata import (
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from odradek.kafka.wire.schema import Message
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks
from odradek.simulation.processes import Environment
from odradek.simulation.world import World

NOTE = NodeLog("test")
ENDPOINT = Endpoint("PLAINTEXT", "peer", 9092, SecurityProtocol.PLAINTEXT)


class Obedient(asyncio.Protocol):
    """Answers what it hears; `heed` says whether, and with how much of a pause."""

    def __init__(self, heard: list[int], heed: Callable[[int], float | None]) -> None:
        self._wire = ServerConnection()
        self._heard = heard
        self._heed = heed

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for request in self._wire.receive(data):
            message = request.message
            assert isinstance(message, UpdateMetadataRequest)
            assert request.client_id == "1"
            self._heard.append(message.controller_epoch)
            pause_s = self._heed(len(self._heard))
            if pause_s is None:
                self._transport.abort()
                return
            self._wire.respond(request, UpdateMetadataResponse(error_code=0))
            output = b"".join(self._wire.take_output())
            asyncio.get_running_loop().call_later(pause_s, self._transport.write, output)


def order(number: int) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(controller_id=1, controller_epoch=number, live_brokers=[])


def serving(
    heard: list[int], heed: Callable[[int], float | None]
) -> Callable[[Environment], object]:
    async def main(_: Environment) -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Obedient(heard, heed), None, 9092)
        await server.serve_forever()

    return main


def send(world: World, count: int) -> list[int]:
    """Send orders to the peer; which were answered, in the order of their answers."""
    answered: list[int] = []

    async def main(_: Environment) -> None:
        tasks = Tasks(NOTE)
        links = Links(1, 5.0, tasks, NOTE)
        links.open(2, ENDPOINT)
        done = asyncio.Event()
        for number in range(count):

            def hear(answer: Message, number: int = number) -> None:
                assert isinstance(answer, UpdateMetadataResponse)
                answered.append(number)
                if len(answered) == count:
                    done.set()

            links.send(2, order(number), 8, hear)
        await done.wait()
        links.close_all()
        tasks.stop()
        await tasks.until_stopped()

    world.run_to_end(world.host("controller").start(main))
    return answered


def test_orders_are_heard_and_answered_in_their_order() -> None:
    heard: list[int] = []
    with World(1) as world:
        world.host("peer").start(serving(heard, lambda _: 0.1))  # type: ignore[arg-type]
        assert send(world, 5) == [0, 1, 2, 3, 4]
    assert heard == [0, 1, 2, 3, 4]


def test_an_order_whose_connection_breaks_is_given_again() -> None:
    heard: list[int] = []
    with World(1) as world:
        world.host("peer").start(serving(heard, lambda count: None if count == 2 else 0.0))  # type: ignore[arg-type]
        assert send(world, 3) == [0, 1, 2]
    assert heard == [0, 1, 1, 2]


def test_an_order_that_is_not_answered_in_time_is_given_again() -> None:
    heard: list[int] = []
    with World(1) as world:
        world.host("peer").start(serving(heard, lambda count: 60.0 if count == 1 else 0.0))  # type: ignore[arg-type]
        assert send(world, 2) == [0, 1]
    assert heard == [0, 0, 1]


def test_a_broker_that_cannot_be_reached_yet_is_waited_for() -> None:
    heard: list[int] = []
    with World(1) as world:
        late = serving(heard, lambda _: 0.0)
        world.after(20, lambda: world.host("peer").start(late))  # type: ignore[arg-type]
        assert send(world, 1) == [0]
        assert world.now_s > 20


def test_what_a_broker_was_to_hear_is_void_once_it_is_gone() -> None:
    heard: list[int] = []

    async def main(_: Environment) -> None:
        tasks = Tasks(NOTE)
        links = Links(1, 5.0, tasks, NOTE)
        links.open(2, ENDPOINT)
        links.send(2, order(0), 8, lambda _: heard.append(-1))
        await asyncio.sleep(1)
        links.close(2)
        links.send(2, order(1), 8, lambda _: heard.append(-1))
        await asyncio.sleep(10)
        assert not tasks.is_stopping

    with World(1) as world:
        late = serving(heard, lambda _: 0.0)
        world.after(2, lambda: world.host("peer").start(late))  # type: ignore[arg-type]
        world.run_to_end(world.host("controller").start(main))
    assert heard == []


def test_our_own_orders_need_no_socket() -> None:
    served: list[int] = []

    async def serve(message: Message, version: int) -> Message:
        assert isinstance(message, UpdateMetadataRequest)
        served.append(version)
        return UpdateMetadataResponse(error_code=0)

    async def main(_: Environment) -> None:
        tasks = Tasks(NOTE)
        links = Links(1, 5.0, tasks, NOTE)
        links.serve_own = serve
        links.open(1, None)
        answered = asyncio.get_running_loop().create_future()
        links.send(1, order(0), 8, answered.set_result)
        assert isinstance(await answered, UpdateMetadataResponse)

    with World(1) as world:
        world.run_to_end(world.host("controller").start(main))
    assert served == [8]


def test_each_question_has_its_own_time() -> None:
    heard: list[int] = []

    async def main(_: Environment) -> tuple[float, str]:
        peer, loop, lost = Peer(ENDPOINT, "1", 3.0), asyncio.get_running_loop(), (0.0, "")
        await peer.ask(order(0), 8)
        await asyncio.sleep(2)
        await peer.ask(order(1), 8)
        await asyncio.sleep(0.5)
        asked_s = loop.time()
        try:
            await peer.ask(order(2), 8)
        except PeerLost as error:
            lost = loop.time() - asked_s, str(error)
        await peer.ask(order(3), 8)
        return lost

    with World(1) as world:
        world.host("peer").start(serving(heard, lambda count: 60.0 if count == 3 else 0.1))  # type: ignore[arg-type]
        lost_s, why = world.run_to_end(world.host("controller").start(main))
    assert 3.0 <= lost_s < 3.1 and why == f"{ENDPOINT}: no answer in time"
    assert heard == [0, 1, 2, 3]


def test_a_peer_that_is_not_there_is_said_to_be() -> None:
    async def main(_: Environment) -> str:
        peer = Peer(ENDPOINT, "1", 3.0)
        try:
            await peer.ask(order(0), 8)
        except PeerLost as error:
            return str(error)
        return ""

    with World(1) as world:
        world.host("peer")
        assert "peer:9092" in str(world.run_to_end(world.host("controller").start(main)))
