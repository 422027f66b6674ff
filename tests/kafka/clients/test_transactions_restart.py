"""A coordinator that restarts goes on with what was open, and ends what was decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from tests.kafka.clients.members import WAIT_S, make_topic, send
from tests.kafka.clients.transacting import committed_values, producer, transact
from tests.kafka.server.running import RunningBroker, running_broker
from tests.waiting import wait_until

SETTINGS: dict[str, object] = {"transaction.state.log.num.partitions": 3}
Ending = Callable[[RunningBroker], None]


@pytest.mark.parametrize("end", [RunningBroker.stop, RunningBroker.kill])
def test_an_open_transaction_outlives_its_coordinator(tmp_path: Path, end: Ending) -> None:
    with running_broker(tmp_path, **SETTINGS) as broker:
        topic = make_topic(broker, "t", 2)
        made = producer(broker, "x")
        transact(made, topic, b"first", b"second", partitions=2)
        made.begin_transaction()
        made.produce(topic, b"before", partition=0)
        made.flush(WAIT_S)
        end(broker)
        broker.start()
        made.produce(topic, b"after", partition=1)
        made.commit_transaction(WAIT_S)
        for partition in range(2):
            send(broker, topic, b"end", partition=partition)
        values = committed_values(broker, topic, b"end", 2)
        assert Counter(values) == Counter([b"first", b"second", b"before", b"after"])


def test_a_zombie_of_before_the_crash_is_fenced(tmp_path: Path) -> None:
    with running_broker(tmp_path, **SETTINGS) as broker:
        topic = make_topic(broker, "t")
        older = producer(broker, "x")
        older.begin_transaction()
        older.produce(topic, b"of the zombie", partition=0)
        older.flush(WAIT_S)
        broker.kill()
        broker.start()
        transact(producer(broker, "x"), topic, b"of the living")
        send(broker, topic, b"end")
        assert committed_values(broker, topic, b"end") == [b"of the living"]


def test_transactions_are_all_or_nothing_whenever_the_broker_dies(tmp_path: Path) -> None:
    with running_broker(tmp_path, **SETTINGS) as broker:
        topic = make_topic(broker, "t", 2)
        done: list[int] = []

        def work() -> None:
            made = producer(broker, "x")
            for number in range(40):
                transact(made, topic, *values_of(number), partitions=2)
                done.append(number)

        worker = Thread(target=work)
        worker.start()
        for count in (10, 25):
            wait_until(lambda count=count: len(done) >= count)  # type: ignore[misc]
            broker.kill()
            broker.start()
        worker.join(2 * WAIT_S)
        assert done == list(range(40))
        for partition in range(2):
            send(broker, topic, b"end", partition=partition)
        wanted = [value for number in done for value in values_of(number)]
        assert sorted(committed_values(broker, topic, b"end", 2)) == sorted(wanted)


def values_of(number: int) -> tuple[bytes, bytes]:
    """One value for each partition."""
    return b"%d in 0" % number, b"%d in 1" % number
