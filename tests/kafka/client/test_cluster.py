"""The picture of the cluster, the versions spoken, and offsets by time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek.kafka.client import brokers as pools
from odradek.kafka.client.addresses import Address
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import TimedOut, TopicPartition, UnknownTopic, UnsupportedApi
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.kafka.client.versions import ApiVersions
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.messages.api_versions import ApiVersion
from odradek.kafka.wire.messages.fetch import FetchRequest
from odradek.kafka.wire.messages.list_offsets import ListOffsetsRequest
from odradek.kafka.wire.records import Record
from tests.kafka.client.scripted import ScriptedCluster

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
def cluster() -> Iterator[ScriptedCluster]:
    with ScriptedCluster(brokers=2) as scripted:
        scripted.create("t", leaders=[0, 1])
        scripted.create("other", leaders=[1])
        for partition in (0, 1):
            for offset in range(3):
                record = Record(offset, 1000 * (offset + 1), None, b"x")
                scripted.append("t", partition, write_batch([record]))
        yield scripted


def test_all_topics_are_listed(cluster: ScriptedCluster) -> None:
    assert set(Cluster(cluster.brokers()).topics()) == {"t", "other"}


def test_the_partitions_of_topics_are_found(cluster: ScriptedCluster) -> None:
    found = Cluster(cluster.brokers()).partitions_of(["t", "other"])
    assert found == [TopicPartition("other", 0), T0, T1]


def test_an_unknown_topic_is_an_error_that_names_it(cluster: ScriptedCluster) -> None:
    with pytest.raises(UnknownTopic, match="no topic nothing"):
        Cluster(cluster.brokers()).partitions_of(["t", "nothing"])


def test_any_reachable_broker_will_do(cluster: ScriptedCluster) -> None:
    cluster.stop(0)
    assert Cluster(cluster.brokers()).partitions_of(["other"])


def test_when_none_can_be_reached_each_is_named(cluster: ScriptedCluster) -> None:
    cluster.stop(0)
    cluster.stop(1)
    nobody = cluster.brokers(default_api_timeout_ms=50)
    with pytest.raises(TimedOut, match=r"127\.0\.0\.1:\d+.*; 127\.0\.0\.1:\d+") as raised:
        Cluster(nobody).topics()
    assert "gave up after 0.05 s" in str(raised.value)


def test_offsets_are_found_by_time_at_each_leader(cluster: ScriptedCluster) -> None:
    picture = Cluster(cluster.brokers())
    assert list_offsets(picture, {T0: EARLIEST, T1: LATEST}) == {T0: 0, T1: 3}
    assert list_offsets(picture, {T0: 1500, T1: 9999}) == {T0: 1, T1: None}


def test_a_leader_that_moved_is_found(cluster: ScriptedCluster) -> None:
    picture = Cluster(cluster.brokers())
    list_offsets(picture, {T0: LATEST})
    cluster.logs["t"][0].leader = 1
    assert list_offsets(picture, {T0: LATEST}) == {T0: 3}


def test_an_older_broker_is_spoken_to_in_its_versions(cluster: ScriptedCluster) -> None:
    cluster.versions = {1: 4, 2: 1, 3: 4}  # Those of 0.11, the oldest with batches.
    assert list_offsets(Cluster(cluster.brokers()), {T0: 1500}) == {T0: 1}


def test_the_newest_common_version_is_chosen() -> None:
    spoken = ApiVersions(
        [
            ApiVersion(api_key=1, min_version=4, max_version=99),
            ApiVersion(api_key=2, min_version=50, max_version=60),
        ]
    )
    assert spoken.version_of(FetchRequest) == 12  # From 13 on topics have ids for names.
    with pytest.raises(UnsupportedApi, match="ListOffsets 50 to 60"):
        spoken.version_of(ListOffsetsRequest)


def test_equal_settings_share_a_pool_within_a_process(
    cluster: ScriptedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = cluster.settings()
    pool = pools.shared_brokers(settings)
    assert pools.shared_brokers(cluster.settings()) is pool
    assert pools.shared_brokers(cluster.settings(client_id="another")) is not pool
    monkeypatch.setattr(pools, "getpid", lambda: -1)
    assert pools.shared_brokers(settings) is not pool


def test_a_connection_that_the_broker_closed_is_not_lent_again(cluster: ScriptedCluster) -> None:
    pool = cluster.brokers()
    address: Address = cluster.address(0)
    with pool.lend(address) as first:
        pass
    for connection in cluster._sockets[0]:
        connection.shutdown(2)
    with pool.lend(address) as second:
        assert second is not first
