"""The replicas of a broker: who is here, who leads, and what fails."""

from __future__ import annotations

import asyncio
from pathlib import Path

from odradek.kafka.storage.checkpoints import read_topic_id
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.update_metadata import UpdateMetadataPartitionState
from odradek.kafka.wire.schema import ZERO_UUID
from tests.kafka.broker.asking import put
from tests.kafka.broker.served import TOPIC_ID, Served, serving, state_of, with_broker
from tests.simulation.storages import LooseStorage

OTHER_ID = bytes(range(2, 18))
WHERE = TopicPartition("t", 0)


@with_broker()
async def test_a_partition_is_made_when_the_controller_says_so(served: Served) -> None:
    partition = served.lead(epoch=3, replicas=(1, 2), isr=(1,))
    assert partition.is_leader and partition.leader_id == 1 and partition.leader_epoch == 3
    assert (partition.replicas, partition.isr, partition.topic_id) == ((1, 2), (1,), TOPIC_ID)
    disk = served.broker.directories.files.disk
    assert read_topic_id(disk, partition.log.directory) == "AQIDBAUGBwgJCgsMDQ4PEA"
    assert served.broker.partitions.topic_name(TOPIC_ID) == "t"


@with_broker()
async def test_an_older_epoch_changes_nothing(served: Served) -> None:
    partition = served.lead(epoch=3)
    stale = served.broker.partitions.follow(state_of(0, 2, 2, (1, 2)), "t", TOPIC_ID)
    assert stale == ErrorCode.STALE_CONTROLLER_EPOCH
    assert partition.is_leader


@with_broker()
async def test_another_topic_of_the_same_name_is_refused(served: Served) -> None:
    served.lead()
    partitions = served.broker.partitions
    wrong = partitions.lead(state_of(0, 1, 1, (1,)), "t", OTHER_ID)
    assert wrong == ErrorCode.INCONSISTENT_TOPIC_ID
    assert partitions.lead(state_of(0, 1, 1, (1,)), "t", ZERO_UUID) == ErrorCode.NONE


@with_broker()
async def test_a_topic_may_get_its_id_later(served: Served) -> None:
    partition = served.lead(topic_id=ZERO_UUID)
    served.lead(topic_id=TOPIC_ID, epoch=1)
    assert partition.topic_id == TOPIC_ID
    disk = served.broker.directories.files.disk
    assert read_topic_id(disk, partition.log.directory) == "AQIDBAUGBwgJCgsMDQ4PEA"


def test_after_a_restart_the_id_on_disk_counts(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path) as served:
            served.lead()
            await put(served, b"a")
        async with serving(tmp_path) as served:
            assert served.broker.partitions.get("t", 0) is None
            state = state_of(0, 1, 1, (1,))
            wrong = served.broker.partitions.lead(state, "t", OTHER_ID)
            assert wrong == ErrorCode.INCONSISTENT_TOPIC_ID
            partition = served.lead(epoch=1, is_new=False)
            assert partition.log.end_offset == partition.log.high_watermark == 1

    asyncio.run(story())


@with_broker()
async def test_why_a_partition_is_not_here(served: Served) -> None:
    partitions, metadata = served.broker.partitions, served.broker.metadata
    assert partitions.leader("t", 0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    metadata.topics["t"] = {
        0: UpdateMetadataPartitionState(
            partition_index=0,
            controller_epoch=1,
            leader=2,
            leader_epoch=0,
            isr=[2],
            zk_version=0,
            replicas=[2],
        )
    }
    assert partitions.leader("t", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    partitions.offline.add(WHERE)
    assert partitions.leader("t", 0) == ErrorCode.KAFKA_STORAGE_ERROR


@with_broker()
async def test_a_stopped_replica_keeps_its_log_and_a_deleted_one_does_not(served: Served) -> None:
    partitions, directories = served.broker.partitions, served.broker.directories
    doomed: list[str] = []
    partitions.doomed = lambda path, delay_ms: doomed.append(path)
    served.lead()
    await put(served, b"a")
    assert partitions.stop(WHERE, delete=False) == ErrorCode.NONE
    assert partitions.get("t", 0) is None and directories.find(WHERE) is not None
    assert partitions.topic_name(TOPIC_ID) is None
    assert served.lead(epoch=1).log.end_offset == 1
    assert partitions.stop(WHERE, delete=True) == ErrorCode.NONE
    assert directories.find(WHERE) is None
    (path,) = doomed
    assert path.endswith("-delete") and directories.files.disk.exists(path)
    assert served.lead(epoch=2).log.end_offset == 0


@with_broker()
async def test_the_figures_of_a_topic_that_is_gone_stay_in_the_sums(served: Served) -> None:
    served.lead()
    await put(served, b"a", b"b")
    meters = served.broker.meters
    assert meters.topic("t").messages_in == 2
    served.broker.partitions.stop(WHERE, delete=True)
    assert "t" not in meters.topics and meters.total().messages_in == 2


def test_a_replica_that_may_be_on_a_failed_directory_is_not_begun_elsewhere() -> None:
    async def story() -> None:
        async with serving(Path("/data"), disk=LooseStorage().disk(), directory_count=2) as served:
            partitions = served.broker.partitions
            first = served.lead()
            directory = served.broker.directories.directory_of(first.log)
            partitions.fail_directory(directory, OSError("gone"))
            assert partitions.leader("t", 0) == ErrorCode.KAFKA_STORAGE_ERROR
            old = partitions.lead(state_of(1, 1, 0, (1,)), "t", TOPIC_ID)
            assert old == ErrorCode.KAFKA_STORAGE_ERROR
            new = partitions.lead(state_of(1, 1, 0, (1,), is_new=True), "t", TOPIC_ID)
            assert new == ErrorCode.NONE

    asyncio.run(story())
