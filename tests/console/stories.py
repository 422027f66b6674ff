"""What a console can do with any cluster, ours or Apache's: one story, told to both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from odradek.console import keeping
from odradek.console.events import Kind
from odradek.console.observer import Observer, Options
from odradek.console.reading import extents, read_from, read_since
from odradek.console.surveying import places_of
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.topic_admin import create_topic
from odradek.pipelines.reporting import ensure_topic, write
from odradek.pipelines.standing import Standing

WITHIN_S = 60
GROUP = "observed-group"
WHERE = TopicPartition("observed", 0)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not condition():
            await asyncio.sleep(0.02)


async def tell_of_an_observer(bootstrap: str, zookeeper: str) -> None:
    observer = Observer(Options(bootstrap, zookeeper, is_changing=True), Random())
    observer.start()
    try:
        await until(observer.watching.loaded.is_set)
        await see_a_topic(observer)
        await read_and_write(observer)
        await see_a_group(observer)
        await see_the_ensemble(observer)
        await see_sessions(observer)
        await see_a_pipeline(observer)
        await until(lambda: not observer.unkept)
        kept = await observer.kafka.ask(keeping.load)
        assert any(it.text.startswith("topic observed is created") for it in kept)
    finally:
        await observer.stop()


async def see_a_topic(observer: Observer) -> None:
    sights = observer.watching.sights
    assert sights.controller in sights.brokers
    await observer.kafka.ask(create_topic, "observed", partitions=2, replicas=1)
    await until(lambda: len([it for it in sights.states if it.topic == "observed"]) == 2)
    entries = observer.timeline.newest(100, kinds={Kind.TOPIC}, text="observed")
    assert [it.event.text for it in entries] == ["topic observed is created, 2 partitions"]


async def read_and_write(observer: Observer) -> None:
    ask = observer.kafka.ask
    for value in (b"one", b"two", b"three"):
        await observer.actions.produce("observed", b"k", value, 0)
    first = await ask(read_from, WHERE, 0, 2)
    assert [it.value for it in first.records] == [b"one", b"two"]
    rest = await ask(read_from, WHERE, first.next_offset, 2)
    assert [it.value for it in rest.records] == [b"three"]
    assert [it.value for it in (await ask(read_from, WHERE, -1, 5)).records] == [b"three"]
    found = await ask(read_from, WHERE, 0, 5, "TWO")
    assert [it.offset for it in found.records] == [1]
    last = first.records[1].timestamp
    assert (await ask(read_since, WHERE, last, 5)).records[0].timestamp >= last
    assert (await ask(read_since, WHERE, 2**50, 5)).records == []
    assert (await ask(extents, "observed"))[0].count == 3
    assert await observer.actions.elect([WHERE]) == []


async def see_a_group(observer: Observer) -> None:
    await observer.actions.commit(GROUP, {WHERE: 1})
    (place,) = await observer.kafka.ask(places_of, GROUP)
    assert (place.partition, place.committed, place.lag) == (WHERE, 1, 2)
    await until(lambda: GROUP in observer.groups and observer.lags[GROUP])
    assert (observer.groups[GROUP].state, observer.lags[GROUP][-1]) == ("Empty", 2)


async def see_the_ensemble(observer: Observer) -> None:
    await until(lambda: observer.servers)
    (server,) = observer.servers
    assert (server.mode, server.version[:3]) == ("standalone", "3.9")
    assert server.znodes > 10


async def see_sessions(observer: Observer) -> None:
    sights, sessions = observer.watching.sights, await observer.ask_sessions()
    for number, broker in sights.brokers.items():
        session = sessions.by_id[f"{broker.session:#x}"]
        assert f"/brokers/ids/{number}" in session.ephemerals
        assert session in sessions.watching("/controller")
    assert f"{observer.watching.client.session_id:#x}" in sessions.by_id


async def see_a_pipeline(observer: Observer) -> None:
    properties = {"bootstrap.servers": observer.options.bootstrap}
    standing = Standing("q-observed", "copies", 1, offsets={WHERE.topic: {"0": 1}})
    await asyncio.to_thread(ensure_topic, properties)
    await asyncio.to_thread(write, properties, [standing])
    await until(lambda: "q-observed" in observer.pipelines)
    assert observer.pipelines["q-observed"].standing == standing
    await until(lambda: observer.pipelines["q-observed"].lag == 2)
