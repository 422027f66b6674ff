"""Who may connect, and who has been silent for too long."""

from __future__ import annotations

import asyncio

from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.kafka.broker.asking import NAMES_VERSION, fetch_of
from tests.kafka.broker.served import Client, Served, with_broker

VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")


async def greet(client: Client) -> None:
    assert (await client.ask(VERSIONS, 3, ApiVersionsResponse)).error_code == 0


@with_broker(**{"max.connections": 2})
async def test_there_are_so_many_connections_and_no_more(served: Served) -> None:
    first, second = await served.connect(), await served.connect()
    await greet(first)
    await greet(second)
    third = await served.connect()
    assert await third.is_ended()
    assert served.broker.meters.connections_refused == 1
    await first.close()
    while len(served.clients) > 1:
        await asyncio.sleep(0.001)
    fourth = await served.connect()
    await greet(fourth)


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
async def test_all_are_ended_with_the_broker(served: Served) -> None:
    clients = [await served.connect() for _ in range(3)]
    for client in clients:
        await greet(client)
    served.clients.close()
    for client in clients:
        assert await client.is_ended()
