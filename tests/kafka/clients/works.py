"""Three kinds of work at once: acknowledged, idempotent, and copied in transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.kafka.clients.clusters import Cluster
from tests.kafka.clients.loads import Copier, Load, Promise
from tests.kafka.clients.replica_files import until_equal

Go = Callable[[], None]  # Returns when all three have got on.


class Works(NamedTuple):
    """The topic of the idempotent producer, and how one waits for all to go on."""

    topic: str
    go: Go


@contextmanager
def at_work(cluster: Cluster, name: str, partitions: int) -> Iterator[Works]:
    """All three, as long as the block; then every promise is checked, and every replica."""
    topics = [cluster.create(f"{name}-{it}", partitions) for it in ("acked", "once", "copy")]
    acked = Load(cluster.address, topics[0], partitions, Promise.ACKED)
    once = Load(cluster.address, topics[1], partitions)
    copier = Copier(cluster.address, topics[1], topics[2], partitions, size=500)
    works = (acked, once, copier)

    def go() -> None:
        for work in works:
            work.until_more(3)

    for work in works:
        work.start()
    try:
        go()
        yield Works(topics[1], go)
        go()
    finally:
        acked.stop()
        once.stop()
        try:
            copier.until_copied(dict.fromkeys(range(partitions), once.sent))
        finally:
            copier.stop()
    for work in works:
        work.check()
    until_equal(cluster, topics)
