"""Configs that are kept in ZooKeeper: read at the start, followed from there on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.wire.codes import CreateMode
from tests.kafka.broker.members import SESSION_MS, Cluster

Story = Callable[[ZooKeeperClient], Awaitable[object]]


def config(**texts: str) -> bytes:
    listed = ",".join(f'"{key.replace("_", ".")}":"{text}"' for key, text in texts.items())
    return f'{{"version":1,"config":{{{listed}}}}}'.encode()


def changed(entity_path: str, data: bytes, notification: bytes | None = None) -> Story:
    """What a tool does: the entity's node, then the notification."""
    note = notification or f'{{"version":2,"entity_path":"{entity_path}"}}'.encode()

    async def story(client: ZooKeeperClient) -> None:
        path = f"/config/{entity_path}"
        if await client.exists(path) is None:
            await client.create(path, data)
        else:
            await client.set_data(path, data)
        await client.create(
            "/config/changes/config_change_", note, mode=CreateMode.PERSISTENT_SEQUENTIAL
        )

    return story


async def children_of_changes(client: ZooKeeperClient) -> list[str]:
    return sorted(await client.get_children("/config/changes"))


def test_a_change_of_a_topic_is_heard_and_told() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        configs, told = cluster.members[1].configs, list[str]()
        configs.changed.append(told.append)
        cluster.look(changed("topics/t", config(retention_ms="5")))
        cluster.until(lambda: configs.topic_settings("t").retention_ms == 5)
        cluster.look(changed("topics/t", config()))
        cluster.until(lambda: configs.topic_settings("t") is configs.layers.topics)
        assert told == ["topics/t", "topics/t"]


def test_notifications_of_the_oldest_kind_are_understood() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        configs = cluster.members[1].configs
        note = b'{"version":1,"entity_type":"topics","entity_name":"t"}'
        cluster.look(changed("topics/t", config(retention_ms="5"), note))
        cluster.until(lambda: configs.topic_settings("t").retention_ms == 5)


def test_all_brokers_and_one_broker_have_layers_of_their_own() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        configs = cluster.members[1].configs
        cluster.look(changed("brokers/<default>", config(log_retention_ms="70000")))
        cluster.until(lambda: configs.layers.broker.log_retention_ms == 70000)
        cluster.look(changed("brokers/1", config(log_retention_ms="80000")))
        cluster.until(lambda: configs.layers.broker.log_retention_ms == 80000)
        cluster.look(changed("brokers/2", config(log_retention_ms="90000")))
        cluster.world.run_for(5)
        assert configs.layers.broker.log_retention_ms == 80000
        assert configs.topic_settings("any").retention_ms == 80000


def test_what_cannot_be_used_changes_nothing() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        configs = cluster.members[1].configs
        before = configs.layers.broker.log_retention_ms
        cluster.look(changed("brokers/1", config(log_retention_ms="soon")))
        cluster.look(changed("brokers/1", b"no JSON at all"))
        cluster.look(changed("topics/t", config(retention_ms="5")))
        cluster.until(lambda: configs.topic_settings("t").retention_ms == 5)
        assert configs.layers.broker.log_retention_ms == before


def test_quotas_of_users_and_clients_are_kept_as_they_are() -> None:
    async def with_parents(client: ZooKeeperClient) -> None:
        for path in ("/config/users/u%201", "/config/users/u%201/clients"):
            await client.create(path, None)

    with Cluster() as cluster:
        cluster.start(1)
        configs, path = cluster.members[1].configs, "users/u%201/clients/<default>"
        cluster.look(with_parents)
        cluster.look(changed(path, config(producer_byte_rate="100")))
        cluster.until(lambda: configs.clients == {path: {"producer.byte.rate": "100"}})
        cluster.launch(2)
        cluster.until(lambda: cluster.knows(2))
        assert cluster.members[2].configs.clients == configs.clients


def test_notifications_are_removed_after_a_quarter_of_an_hour() -> None:
    with Cluster() as cluster:
        cluster.start(1)
        configs = cluster.members[1].configs
        cluster.look(changed("topics/t", config(retention_ms="5")))
        cluster.look(changed("topics/t", config(retention_ms="6")))
        cluster.until(lambda: configs.topic_settings("t").retention_ms == 6)
        assert len(cluster.look(children_of_changes)) == 2  # type: ignore[arg-type]
        cluster.world.run_for(16 * 60)
        cluster.look(changed("topics/t", config(retention_ms="7")))
        cluster.until(lambda: configs.topic_settings("t").retention_ms == 7)
        cluster.world.run_for(1)
        assert cluster.look(children_of_changes) == ["config_change_0000000002"]


def test_what_was_missed_without_a_session_is_read_with_the_next() -> None:
    async def delete(client: ZooKeeperClient) -> None:
        await client.delete("/config/ips/10.0.0.1")

    with Cluster() as cluster:
        cluster.start(1)
        configs = cluster.members[1].configs
        cluster.look(changed("ips/10.0.0.1", config(connection_creation_rate="5")))
        cluster.until(lambda: "ips/10.0.0.1" in configs.clients)
        cluster.world.network.cut("b1", "zookeeper")
        cluster.world.run_for(SESSION_MS / 1000 * 3)
        cluster.look(changed("topics/t", config(retention_ms="5")))
        cluster.look(delete)
        cluster.world.network.heal("b1", "zookeeper")
        cluster.until(lambda: configs.topic_settings("t").retention_ms == 5)
        cluster.until(lambda: not configs.clients)


def test_a_change_of_ours_is_heard_by_every_broker() -> None:
    with Cluster() as cluster:
        cluster.start(1, 2)
        texts = {"retention.ms": "5"}
        cluster.do(1, lambda: cluster.members[1].configs.write("topics/t", texts))
        both = [it.configs for it in cluster.members.values()]
        cluster.until(lambda: all(it.topic_settings("t").retention_ms == 5 for it in both))
        assert cluster.do(2, lambda: cluster.members[2].configs.fetch("topics/t")) == texts
