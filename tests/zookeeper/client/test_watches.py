"""Who is told of which event, and what a new connection must know."""

from __future__ import annotations

import pytest

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.client.watches import PACKET_BYTES, Kind, Watcher, Watches, WatchEvent
from odradek.zookeeper.wire.codes import EventType, WatcherType
from odradek.zookeeper.wire.connection import JUTE_MAXBUFFER
from odradek.zookeeper.wire.messages.requests import SetWatches, SetWatches2
from odradek.zookeeper.wire.messages.responses import WatcherEvent


def watcher(event: WatchEvent) -> None:
    """Somebody."""


def other(event: WatchEvent) -> None:
    """Somebody else."""


def told(watches: Watches, event_type: int, path: str) -> list[Watcher]:
    happened, watchers = watches.take(WatcherEvent(event_type, 3, path))
    assert happened == event_type
    return list(watchers)


FIRES = [
    (Kind.DATA, {EventType.DATA_CHANGED, EventType.DELETED, EventType.CREATED}),
    (Kind.EXISTS, {EventType.DATA_CHANGED, EventType.DELETED, EventType.CREATED}),
    (Kind.CHILD, {EventType.CHILDREN_CHANGED, EventType.DELETED}),
    (Kind.PERSISTENT, {1, 2, 3, 4}),
    (Kind.RECURSIVE, {1, 2, 3}),
]


@pytest.mark.parametrize(("kind", "fires"), FIRES, ids=str)
def test_a_watch_fires_on_what_it_is_for(kind: Kind, fires: set[int]) -> None:
    for event_type in (1, 2, 3, 4):
        watches = Watches()
        watches.add(kind, "/a", watcher)
        assert told(watches, event_type, "/b") == []
        assert (told(watches, event_type, "/a") == [watcher]) == (event_type in fires)


def test_a_one_shot_watch_is_told_once_and_a_persistent_one_always() -> None:
    watches = Watches()
    watches.add(Kind.DATA, "/a", watcher)
    watches.add(Kind.PERSISTENT, "/a", other)
    assert told(watches, 3, "/a") == [watcher, other]
    assert told(watches, 3, "/a") == [other]


def test_a_recursive_watch_hears_of_all_below() -> None:
    watches = Watches()
    watches.add(Kind.RECURSIVE, "/a", watcher)
    watches.add(Kind.RECURSIVE, "/", other)
    assert told(watches, 1, "/a/b/c") == [watcher, other]
    assert told(watches, 1, "/ab") == [other]
    assert told(watches, 3, "/") == [other]


def test_a_watcher_is_told_once_an_event_however_often_it_watches() -> None:
    watches = Watches()
    for kind in Kind:
        watches.add(kind, "/a", watcher)
    assert told(watches, 2, "/a") == [watcher]


@pytest.mark.parametrize("event_type", [-1, 0, 5, 6, 7, 99])
def test_an_event_that_servers_do_not_send_is_refused(event_type: int) -> None:
    with pytest.raises(ProtocolError):
        Watches().take(WatcherEvent(event_type, 3, "/a"))


def test_removed_watchers_hear_what_was_removed() -> None:
    watches = Watches()
    watches.add(Kind.DATA, "/a", watcher)
    watches.add(Kind.CHILD, "/a", watcher)
    assert watches.remove("/a", WatcherType.DATA) == [(EventType.DATA_WATCH_REMOVED, watcher)]
    assert watches.remove("/a", WatcherType.ANY) == [(EventType.CHILD_WATCH_REMOVED, watcher)]
    assert watches.remove("/a", WatcherType.ANY) == []


def test_a_forgotten_watcher_hears_nothing_more() -> None:
    watches = Watches()
    watches.add(Kind.DATA, "/a", watcher)
    watches.add(Kind.DATA, "/a", other)
    watches.forget("/a", watcher)
    assert told(watches, 3, "/a") == [other]
    watches.forget("/a", other)
    assert list(watches.packets(1)) == []


def test_a_new_connection_is_told_in_the_oldest_form_that_will_do() -> None:
    watches = Watches()
    watches.add(Kind.CHILD, "/c", watcher)
    watches.add(Kind.EXISTS, "/b", watcher)
    watches.add(Kind.DATA, "/a", watcher)
    assert list(watches.packets(9)) == [SetWatches(9, ["/a"], ["/b"], ["/c"])]
    watches.add(Kind.RECURSIVE, "/e", watcher)
    watches.add(Kind.PERSISTENT, "/d", watcher)
    assert list(watches.packets(9)) == [SetWatches2(9, ["/a"], ["/b"], ["/c"], ["/d"], ["/e"])]


def test_many_watches_go_in_packets_that_a_server_takes() -> None:
    watches = Watches()
    for number in range(10_000):
        watches.add(Kind.DATA, f"/brokers/topics/orders/partitions/{number}/state", watcher)
    packets = list(watches.packets(9))
    assert len(packets) > 3
    assert max(len(packet.encode()) for packet in packets) < PACKET_BYTES + 1000 < JUTE_MAXBUFFER
    assert sum(len(packet.data_watches) for packet in packets) == 10_000


def test_at_the_end_everybody_is_told_once() -> None:
    watches = Watches()
    for path in ("/a", "/b"):
        watches.add(Kind.DATA, path, watcher)
        watches.add(Kind.RECURSIVE, path, other)
    assert set(watches.take_all()) == {watcher, other}
    assert list(watches.take_all()) == []
