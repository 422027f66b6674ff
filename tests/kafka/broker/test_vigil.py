"""A broker's process that is gone is missed at once, its session notwithstanding."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest
import uvloop

from odradek.kafka.broker.election import Election
from odradek.kafka.broker.vigil import GRACE_S, Sight, keep_vigil
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from tests.kafka.broker.clusters import ask_for_isr, led_by, make, state
from tests.kafka.broker.members import SESSION_MS, Cluster

ENDPOINT = Endpoint("PLAINTEXT", "peer", 9092, SecurityProtocol.PLAINTEXT)
AT_ONCE_S = 1.0
assert AT_ONCE_S < SESSION_MS / 1000 / 2


def test_who_was_known_is_missing_with_the_first_refusal() -> None:
    sight = Sight()
    sight.accepted()
    sight.refused(100.0)
    assert not sight.is_there
    sight.accepted()
    assert sight.is_there


def test_a_stranger_has_time_to_open_its_doors() -> None:
    sight = Sight()
    sight.refused(100.0)
    assert sight.is_there
    sight.refused(100.0 + GRACE_S)
    assert not sight.is_there


def test_silence_tells_nothing() -> None:
    sight = Sight()
    sight.refused(100.0)
    sight.unanswered()
    sight.refused(100.0 + GRACE_S)
    assert sight.is_there
    sight.accepted()
    sight.unanswered()
    assert sight.is_there


class Watched:
    """A world with a peer that has its doors open, and somebody who watches it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.heard: list[bool] = []
        self.peer = world.host("peer")
        self.watcher = world.host("watcher")

    def open(self, after_s: float = 0.0) -> None:
        async def main(_: Environment) -> None:
            await asyncio.sleep(after_s)
            loop = asyncio.get_running_loop()
            server = await loop.create_server(asyncio.Protocol, None, 9092)
            await server.serve_forever()

        self.peer.start(main)

    def watch(self) -> None:
        async def main(_: Environment) -> None:
            await keep_vigil(ENDPOINT, self.heard.append)

        self.watcher.start(main)
        self.world.run_for(AT_ONCE_S)


def test_a_process_is_seen_to_go_and_to_come_back() -> None:
    with World(1) as world:
        watched = Watched(world)
        watched.open()
        watched.watch()
        assert watched.heard == []
        watched.peer.kill()
        world.run_for(AT_ONCE_S)
        assert watched.heard == [False]
        watched.open(after_s=3)
        world.run_for(2)
        assert watched.heard == [False]
        world.run_for(2)
        assert watched.heard == [False, True]


def test_nothing_is_heard_of_one_who_is_paused_cut_off_or_without_power() -> None:
    with World(1) as world:
        watched = Watched(world)
        watched.open()
        watched.watch()
        watched.peer.pause()
        world.run_for(60)
        watched.peer.resume()
        world.network.cut("watcher", "peer")
        world.run_for(60)
        watched.peer.power_off()
        world.run_for(60)
        assert watched.heard == []


def test_one_that_opens_its_doors_in_time_is_never_missed() -> None:
    with World(1) as world:
        watched = Watched(world)
        watched.open(after_s=GRACE_S / 2)
        watched.watch()
        world.run_for(60)
        assert watched.heard == []


def test_one_that_never_opens_them_is() -> None:
    with World(1) as world:
        watched = Watched(world)
        watched.watch()
        assert watched.heard == [False]


class Host(asyncio.Protocol):
    """Receives one visitor, and can show it out."""

    def __init__(self, received: asyncio.Future[asyncio.BaseTransport]) -> None:
        self._received = received

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._received.set_result(transport)


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_on_a_real_loop_too(run: Callable[[Coroutine[Any, Any, None]], None], name: str) -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        told: asyncio.Queue[bool] = asyncio.Queue()
        received: asyncio.Future[asyncio.BaseTransport] = loop.create_future()
        server = await loop.create_server(lambda: Host(received), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        endpoint = Endpoint("PLAINTEXT", name, port, SecurityProtocol.PLAINTEXT)
        vigil = loop.create_task(keep_vigil(endpoint, told.put_nowait))
        async with asyncio.timeout(10):
            visitor = cast(asyncio.Transport, await received)
            server.close()
            visitor.abort()
            assert await told.get() is False
        vigil.cancel()

    run(story())


# In a cluster


async def registered(client: ZooKeeperClient) -> list[str]:
    return sorted(await client.get_children("/brokers/ids"))


def two_and_a_controller(cluster: Cluster) -> tuple[int, int, int]:
    """Three brokers and a topic; the controller leads nothing, then the leader, then a follower."""
    cluster.start(1, 2, 3)
    controller = cluster.controller.id
    leader, follower = (it for it in (1, 2, 3) if it != controller)
    make(cluster, {0: [leader, follower, controller]})
    cluster.world.run_for(AT_ONCE_S)
    return controller, leader, follower


def test_another_leads_long_before_the_session_of_a_killed_leader_ends() -> None:
    with Cluster() as cluster:
        controller, leader, follower = two_and_a_controller(cluster)
        cluster.world.host(f"b{leader}").kill()
        cluster.until(lambda: led_by(cluster, follower), AT_ONCE_S)
        now = state(cluster)
        assert (now["leader"], now["isr"]) == (follower, [follower, controller])
        assert leader not in cluster.controller.metadata.brokers
        assert cluster.look(registered) == ["1", "2", "3"]
        cluster.restart(leader)
        cluster.until(lambda: leader in cluster.controller.metadata.brokers)
        ask_for_isr(cluster, follower, [follower, controller, leader])
        assert state(cluster)["isr"] == [follower, controller, leader]


def test_the_session_decides_about_a_leader_without_power() -> None:
    with Cluster() as cluster:
        _, leader, follower = two_and_a_controller(cluster)
        cluster.world.host(f"b{leader}").power_off()
        cluster.world.run_for(AT_ONCE_S)
        assert led_by(cluster, leader)
        cluster.until(lambda: led_by(cluster, follower))
        assert cluster.look(registered) == sorted(str(it) for it in (1, 2, 3) if it != leader)


def test_one_that_hears_nobody_for_a_while_is_taken_back_with_the_same_registration() -> None:
    with Cluster() as cluster:
        controller, leader, follower = two_and_a_controller(cluster)
        member = cluster.members[leader]
        epoch = member.keeper.epoch
        cluster.do(leader, member.close_doors)
        cluster.until(lambda: led_by_for(cluster, controller, follower), AT_ONCE_S)
        cluster.do(leader, member.take_port)
        cluster.do(leader, member.open_doors)
        cluster.until(lambda: led_by(cluster, follower), 2 * AT_ONCE_S)
        assert set(cluster.controller.metadata.brokers) == {1, 2, 3}
        assert member.keeper.epoch == epoch
        partition = member.broker.partitions.get("t", 0)
        cluster.until(lambda: partition is not None and not partition.is_leader)
        ask_for_isr(cluster, follower, [follower, controller, leader])
        assert state(cluster)["isr"] == [follower, controller, leader]


def led_by_for(cluster: Cluster, witness: int, leader: int) -> bool:
    known = cluster.members[witness].metadata.partition("t", 0)
    return known is not None and known.leader == leader


def test_another_controls_long_before_the_session_of_a_killed_controller_ends() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2, 3)
        first = cluster.controller.id
        others = [it for it in (1, 2, 3) if it != first]
        make(cluster, {0: [first, *others]})
        cluster.world.run_for(AT_ONCE_S)
        cluster.world.host(f"b{first}").kill()
        del cluster.members[first]
        cluster.until(lambda: any(it.controller.is_active for it in cluster.members.values()), 0.5)
        cluster.until(lambda: led_by(cluster, others[0]), AT_ONCE_S)
        assert cluster.controller.controller.epoch == 2
        assert cluster.look(registered) == ["1", "2", "3"]


def test_a_controller_that_hears_nobody_is_deposed_and_learns_it() -> None:
    with Cluster() as cluster:
        controller, leader, follower = two_and_a_controller(cluster)
        member = cluster.members[controller]
        cluster.do(controller, member.close_doors)
        others = [cluster.members[leader], cluster.members[follower]]
        cluster.until(lambda: any(it.controller.is_active for it in others), 10)
        cluster.until(lambda: not member.controller.is_active)


def test_a_successor_is_not_deposed_for_its_predecessor() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        election = Election(2, cluster.members[2].keeper)
        cluster.do(2, lambda: election.depose(0x1234))
        assert cluster.read("/controller_epoch") == b"1"
        owner = cluster.controller.keeper.client.session_id
        cluster.do(2, lambda: election.depose(owner))
        cluster.until(lambda: cluster.read("/controller_epoch") == b"2")
