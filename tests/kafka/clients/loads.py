"""Steady work of librdkafka's clients while brokers die, and what must be true of it afterwards.

A load numbers what it sends to each partition. With `Promise.IDEMPOTENT` nothing may fail, and all
must be there once, in order. With `Promise.ACKED` what was acknowledged must be there, in order;
what was not may be there or not. A leader that is deposed refuses what its followers may have, and
librdkafka then sends it again, whatever its settings say: so the last numbers that are there may
come once more, all of them and right behind themselves. Any other repetition is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from enum import Enum
from itertools import pairwise
from threading import Event, Thread
from time import monotonic

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from tests.kafka.clients.clusters import PATIENCE_S
from tests.waiting import wait_until

BURST = 5
RESENT_MAX = 2000  # More is not under way at once.
BETWEEN_BURSTS_S = 0.02
GIVEN_UP_S = 30.0
NEVER_RETURNS_S = 20.0
AGAIN_SOON: dict[str, object] = {
    "retry.backoff.ms": 50,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 300,
    "topic.metadata.refresh.interval.ms": 1000,
    "socket.timeout.ms": 5000,
    "log_level": 0,
}


class Promise(Enum):
    """What a producer is set up for."""

    IDEMPOTENT = "idempotent"
    ACKED = "acks=all"


SETTINGS: dict[Promise, dict[str, object]] = {
    Promise.IDEMPOTENT: {"enable.idempotence": True},
    # What a broker refused was not written, and is sent again even so: one after the other, then.
    Promise.ACKED: {
        "acks": "all",
        "retries": 0,
        "max.in.flight": 1,
        "message.timeout.ms": 3000,
    },
}


class Load:
    """Numbers for every partition of a topic, from a thread of its own, until it is stopped."""

    def __init__(
        self,
        address: str,
        topic: str,
        partitions: int,
        promise: Promise = Promise.IDEMPOTENT,
        burst: int = BURST,
    ) -> None:
        given = {"bootstrap.servers": address, "linger.ms": 1, **AGAIN_SOON, **SETTINGS[promise]}
        self.address, self.topic, self.promise = address, topic, promise
        self.acked: dict[int, list[int]] = {number: [] for number in range(partitions)}
        self.sent = 0  # To each partition.
        self.failed: list[str] = []
        self._producer = Producer(given)
        self._burst = burst
        self._end = Event()
        self._thread = Thread(target=self._run)

    @property
    def acked_count(self) -> int:
        return sum(map(len, self.acked.values()))

    def start(self) -> None:
        self._thread.start()

    def until_more(self, count: int = 100) -> None:
        """Wait until more was acknowledged, of every partition."""
        before = {number: len(acked) for number, acked in self.acked.items()}
        each = count // len(before) + 1
        wait_until(
            lambda: all(len(self.acked[it]) >= before[it] + each for it in before), PATIENCE_S
        )

    def stop(self) -> None:
        """Send no more, and wait for what is under way."""
        if self._thread.is_alive():
            self._end.set()
            self._thread.join(PATIENCE_S)
        assert self._producer.flush(PATIENCE_S) == 0

    def check(self) -> None:
        """All that was acknowledged is there once, in order, and nothing that was never sent."""
        if self.promise is Promise.IDEMPOTENT:
            assert self.failed == []
        for partition, acked in self.acked.items():
            found = [int(value) for value in read_partition(self.address, self.topic, partition)]
            where = f"{self.topic}-{partition}"
            if self.promise is Promise.ACKED:
                found = without_resent(found)
            assert found == sorted(set(found)), f"{where}: {disorder(found)}"
            lost = set(acked) - set(found)
            assert not lost, f"{where}: of {len(acked)} were lost {sorted(lost)[:20]}"
            assert acked == sorted(acked)
            if self.promise is Promise.IDEMPOTENT:
                assert len(found) == self.sent, where

    def _run(self) -> None:
        while not self._end.wait(BETWEEN_BURSTS_S):
            for _ in range(self._burst):
                for partition in self.acked:
                    value = b"%d" % self.sent
                    self._producer.produce(
                        self.topic, value, partition=partition, on_delivery=self._answered
                    )
                self.sent += 1
            self._producer.poll(0)
            # Who is far ahead waits for the cluster to come back.
            while len(self._producer) > 20_000 and not self._end.is_set():
                self._producer.poll(0.1)

    def _answered(self, error: KafkaError | None, message: Message) -> None:
        value, partition = message.value(), message.partition()
        assert value is not None and partition is not None
        if error is None:
            self.acked[partition].append(int(value))
        else:
            self.failed.append(f"{int(value)} to {partition}: {error}")


def without_resent(found: list[int]) -> list[int]:
    """The numbers without those that came again, whole and right behind themselves."""
    kept: list[int] = []
    again: list[int] = []
    for number in found:
        if again and number == again[0]:
            del again[0]
        elif not again and number in kept[-RESENT_MAX:]:
            again = kept[kept.index(number) + 1 :]
        else:
            kept.append(number)
    return kept if not again else found


def disorder(found: list[int]) -> str:
    """Where numbers do not grow."""
    pairs = [(a, b) for a, b in pairwise(found) if a >= b]
    return f"twice, or not in order: {pairs[:10]}"


def read_partition(address: str, topic: str, partition: int) -> list[bytes]:
    """All values that are committed, from the first to the last stable offset."""
    given = {"bootstrap.servers": address, "group.id": "unused", "enable.auto.commit": False}
    more = {"isolation.level": "read_committed", "enable.partition.eof": True}
    consumer = Consumer({**given, **more, **AGAIN_SOON})
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
    values: list[bytes] = []
    deadline = monotonic() + PATIENCE_S
    try:
        while True:
            assert monotonic() < deadline, f"{topic}-{partition} does not come to its end"
            for message in consumer.consume(1000, 0.2):
                error = message.error()
                if error is None:
                    values.append(message.value() or b"")
                elif error.code() == KafkaError._PARTITION_EOF:
                    return values
    finally:
        consumer.close()


class Copier:
    """Copies a topic to another, partition by partition, in small transactions.

    The group's offsets are part of each transaction. If one fails it is aborted, and the copy goes
    on from what is committed; who is fenced or broken is made anew.
    """

    def __init__(self, address: str, source: str, target: str, partitions: int, size: int) -> None:
        self.address, self._source, self._target = address, source, target
        self._size = size
        self.transactions = 0
        self.aborted = 0
        self.copied = dict.fromkeys(range(partitions), 0)  # How far each partition is.
        self.trouble: list[str] = []
        self._end = Event()
        self._thread = Thread(target=self._run)
        self._taken: list[Message] = []

    def start(self) -> None:
        self._thread.start()

    def until_more(self, transactions: int = 5) -> None:
        wanted = self.transactions + transactions
        while self.transactions < wanted:
            self._until_next(PATIENCE_S)

    def until_copied(self, ends: dict[int, int], patience_s: float = PATIENCE_S) -> None:
        """Wait until each partition is copied up to an offset of the source."""
        while any(self.copied[it] < end for it, end in ends.items()):
            self._until_next(patience_s)

    def _until_next(self, patience_s: float) -> None:
        """As long as the copy goes on, patience is renewed."""
        before = self.transactions
        try:
            wait_until(lambda: self.transactions > before, patience_s)
        except AssertionError:
            told = f"{self.copied}, after {self.trouble[-5:]}"
            raise AssertionError(f"the copy stands still at {told}") from None

    def stop(self) -> None:
        if self._thread.is_alive():
            self._end.set()
            self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def check(self) -> None:
        """There is exactly one committed copy, in order."""
        for partition in self.copied:
            wanted = read_partition(self.address, self._source, partition)
            found = read_partition(self.address, self._target, partition)
            assert found == wanted, (
                f"{self._target}-{partition}: {len(found)} of {len(wanted)}, "
                f"{len(found) - len(set(found))} twice"
            )

    # The work

    def _run(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": f"copier of {self._source}",
                "session.timeout.ms": 6000,
                "heartbeat.interval.ms": 500,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                **AGAIN_SOON,
            }
        )
        consumer.subscribe([self._source], on_assign=self._forget, on_revoke=self._forget)
        producer = self._new_producer()
        while not self._end.is_set():
            self._take(consumer)
            if self._taken and not self._end.is_set():
                producer = self._copy(consumer, producer)
        consumer.close()

    def _new_producer(self) -> Producer:
        id_ = {"transactional.id": f"copier of {self._source}", "transaction.timeout.ms": 30_000}
        producer = Producer(
            {"bootstrap.servers": self.address, **id_, "linger.ms": 0, **AGAIN_SOON}
        )
        self._steadily(lambda: producer.init_transactions(10))
        return producer

    def _forget(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """What was taken before a rebalance is taken again after it."""
        self._taken = []

    def _take(self, consumer: Consumer) -> None:
        self._taken = []
        while len(self._taken) < self._size:
            message = consumer.poll(0.1)
            if message is None:
                return
            if message.error() is None:
                self._taken.append(message)

    def _copy(self, consumer: Consumer, producer: Producer) -> Producer:
        offsets: dict[int, int] = {}
        try:
            producer.begin_transaction()
            for message in self._taken:
                partition, offset = message.partition(), message.offset()
                assert partition is not None and offset is not None
                producer.produce(self._target, message.value(), partition=partition)
                offsets[partition] = offset + 1
            places = [TopicPartition(self._source, *it) for it in offsets.items()]
            group = consumer.consumer_group_metadata()
            self._steadily(
                lambda: bounded(lambda: producer.send_offsets_to_transaction(places, group, 10))
            )
            self._steadily(lambda: producer.commit_transaction(10))
        except KafkaException as failed:
            producer = self._give_up(consumer, producer, failed)
        else:
            self.transactions += 1
            self.copied |= offsets
        return producer

    def _give_up(self, consumer: Consumer, producer: Producer, failed: KafkaException) -> Producer:
        self.aborted += 1
        error = failed.args[0]
        self.trouble.append(str(error))
        try:
            if error.fatal():
                raise failed
            self._steadily(lambda: producer.abort_transaction(10))
        except KafkaException:
            producer = self._new_producer()
        self._steadily(lambda: self._rewind(consumer))
        return producer

    def _rewind(self, consumer: Consumer) -> None:
        """Go back to what is committed."""
        for place in consumer.committed(consumer.assignment(), 10):
            offset = place.offset if place.offset >= 0 else OFFSET_BEGINNING
            consumer.seek(TopicPartition(place.topic, place.partition, offset))

    def _steadily(self, call: Callable[[], object]) -> None:
        """Ask until there is an answer that is not "ask again", but not for ever."""
        deadline = monotonic() + GIVEN_UP_S
        while True:
            try:
                call()
            except KafkaException as failed:
                error = failed.args[0]
                is_lost = error.code() in (KafkaError._TIMED_OUT, KafkaError._TRANSPORT)
                is_over = self._end.is_set() or monotonic() > deadline or error.fatal()
                if is_over or not (error.retriable() or is_lost):
                    raise
            else:
                return


def bounded(call: Callable[[], object], seconds: float = NEVER_RETURNS_S) -> None:
    """Leave a call that does not return to itself: whoever made it is broken for good.

    librdkafka waits for a group's coordinator that it knows of even after the cluster has told it
    that this broker is gone, and minds no timeout meanwhile (its issues 5456 and 5511).
    """
    done: Future[object] = Future()

    def run() -> None:
        try:
            done.set_result(call())
        except KafkaException as failed:
            done.set_exception(failed)

    Thread(target=run, daemon=True).start()
    try:
        done.result(seconds)
    except TimeoutError:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "no return", fatal=True)) from None
