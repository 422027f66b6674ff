"""Who may connect, and who has been silent for too long."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

from odradek.kafka.server.connection import Connection
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.kafka.wire.messages.produce import ProduceResponse
from tests.kafka.broker.asking import NAMES_VERSION, fetch_of, produce_of
from tests.kafka.broker.served import Client, Served, with_broker
from tests.kafka.storage.logs import batch_of

VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")


async def greet(client: Client) -> None:
    assert (await client.ask(VERSIONS, 3, ApiVersionsResponse)).error_code == 0


async def until_inside(served: Served, count: int) -> None:
    async with asyncio.timeout(20):
        while served.clients.door.inside.total() != count:
            await asyncio.sleep(0.001)


@with_broker(**{"max.connections": 2})
async def test_when_there_are_enough_the_next_wait_in_their_order(served: Served) -> None:
    first, second = await served.connect(), await served.connect()
    await greet(first)
    await greet(second)
    third, fourth = await served.connect(), await served.connect()
    answers = [asyncio.create_task(greet(it)) for it in (third, fourth)]
    for _ in range(20):
        await greet(first)
    assert not any(it.done() for it in answers)
    assert len(served.clients) == 2
    await first.close()
    await answers[0]
    assert not answers[1].done()
    await second.close()
    await answers[1]
    assert served.broker.meters.connections_made == 4
    assert served.broker.meters.connections_refused == 0


@with_broker(**{"max.connections": 1})
async def test_who_gives_up_waiting_takes_nobodys_place(served: Served) -> None:
    first = await served.connect()
    await greet(first)
    impatient = await served.connect()
    await impatient.close()
    patient = await served.connect()
    await first.close()
    await greet(patient)
    await patient.close()
    await until_inside(served, 0)
    assert not served.clients.door.addresses


@with_broker(**{"max.connections": 5, "listener.name.plaintext.max.connections": 1})
async def test_a_listener_may_have_a_number_of_its_own(served: Served) -> None:
    first = await served.connect()
    await greet(first)
    second = await served.connect()
    greeting = asyncio.create_task(greet(second))
    for _ in range(20):
        await greet(first)
    assert not greeting.done()
    await first.close()
    await greeting


@with_broker(**{"max.connection.creation.rate": 5})
async def test_so_many_come_in_a_second(served: Served) -> None:
    loop = asyncio.get_running_loop()
    clients = [await served.connect() for _ in range(7)]
    begun_s = loop.time()
    await asyncio.gather(*(greet(it) for it in clients[:5]))
    assert len(served.clients) == 5
    await asyncio.gather(*(greet(it) for it in clients[5:]))
    assert loop.time() - begun_s > 0.3


@with_broker(**{"max.connections": 1})
async def test_settings_that_change_let_in_who_waits(served: Served) -> None:
    first, second = await served.connect(), await served.connect()
    await greet(first)
    greeting = asyncio.create_task(greet(second))
    await greet(first)
    served.configs.layers = replace(served.configs.layers, of_all={"max.connections": "2"})
    await greeting


@with_broker(
    **{
        "max.connections": 2,
        "listeners": "PLAINTEXT://:9092,BROKERS://:9093",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,BROKERS:PLAINTEXT",
        "inter.broker.listener.name": "BROKERS",
    }
)
async def test_clients_do_not_keep_brokers_out(served: Served) -> None:
    idle, speaking = await served.connect(), await served.connect()
    await greet(idle)
    await greet(speaking)
    listener = await asyncio.get_running_loop().create_server(
        lambda: Connection(served.clients, "BROKERS"), "127.0.0.1", 0
    )
    served.port = listener.sockets[0].getsockname()[1]
    broker = await served.connect()
    await greet(broker)
    assert await idle.is_ended()
    await greet(speaking)
    listener.close()


@with_broker(**{"max.connections.per.ip": 1, "max.connections.per.ip.overrides": "127.0.0.1:3"})
async def test_an_address_may_have_a_number_of_its_own(served: Served) -> None:
    clients = [await served.connect() for _ in range(3)]
    for client in clients:
        await greet(client)
    assert await (await served.connect()).is_ended()


@with_broker(**{"connections.max.idle.ms": 300, "connection.failed.authentication.delay.ms": 1})
async def test_who_is_silent_for_too_long_is_ended_and_who_waits_or_speaks_is_not(
    served: Served,
) -> None:
    served.lead()
    silent, speaking, waiting = [await served.connect() for _ in range(3)]
    for client in (silent, speaking, waiting):
        await greet(client)
    waiting.send(fetch_of(0, wait_ms=60_000), NAMES_VERSION)
    ended = asyncio.create_task(silent.is_ended())
    while not ended.done():
        await greet(speaking)
        await asyncio.sleep(0.01)
    await greet(speaking)
    assert served.broker.meters.connections_expired == 1
    assert served.broker.parked.fetches == 1
    assert len(served.clients) == 2


@with_broker(**{"connections.max.idle.ms": -1})
async def test_nobody_need_be_idle_for_too_long(served: Served) -> None:
    client = await served.connect()
    await greet(client)
    assert served.clients._timer is None


@with_broker()
async def test_requests_are_counted_by_kind(served: Served) -> None:
    client = await served.connect()
    for _ in range(3):
        await greet(client)
    meter = served.broker.meters.api(18)
    assert meter.count == 3 and meter.request_bytes > 0 and meter.waited == 0


@with_broker()
async def test_answers_are_counted_by_their_errors(served: Served) -> None:
    served.lead()
    client = await served.connect()
    for batch in (batch_of([b"x"]), b"junk", b"junk"):
        await client.ask(produce_of(batch), 9, ProduceResponse)
    await client.ask(produce_of(batch_of([b"x"]), topic="other"), 9, ProduceResponse)
    client.send(fetch_of(100), NAMES_VERSION)
    await client.receive()
    assert served.broker.meters.errors == {
        (0, ErrorCode.INVALID_RECORD): 2,
        (0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION): 1,
        (1, ErrorCode.OFFSET_OUT_OF_RANGE): 1,
    }


@with_broker()
async def test_a_request_takes_less_than_a_tick_of_the_loop_and_more_than_nothing(
    served: Served,
) -> None:
    client = await served.connect()
    await greet(client)
    assert 0 < served.broker.meters.api(18).total_s < 1


@with_broker()
async def test_all_are_ended_with_the_broker(served: Served) -> None:
    clients = [await served.connect() for _ in range(3)]
    for client in clients:
        await greet(client)
    served.clients.close()
    for client in clients:
        assert await client.is_ended()


@with_broker()
async def test_who_comes_while_the_broker_stops_is_sent_away(served: Served) -> None:
    served.clients.close()
    late = await served.connect()
    with suppress(ConnectionError):
        async with asyncio.timeout(20):
            assert await late.reader.read() == b""
    assert len(served.clients) == 0
