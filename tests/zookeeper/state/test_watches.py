"""Who hears of what, how often, and what is forgotten."""

from __future__ import annotations

import sys
import tracemalloc

import pytest

from odradek.zookeeper.state.watches import Kind, Watches
from odradek.zookeeper.wire.codes import EventType, WatcherType


def test_a_data_watch_hears_once() -> None:
    watches = Watches()
    watches.add(Kind.DATA, "/a", "me")
    assert watches.trigger(EventType.CHILDREN_CHANGED, "/a") == []
    assert watches.trigger(EventType.DATA_CHANGED, "/a") == ["me"]
    assert watches.trigger(EventType.DATA_CHANGED, "/a") == []
    assert watches.count() == 0


@pytest.mark.parametrize(
    ("kind", "events"),
    [
        (Kind.DATA, {EventType.CREATED, EventType.DELETED, EventType.DATA_CHANGED}),
        (Kind.CHILD, {EventType.CHILDREN_CHANGED, EventType.DELETED}),
        (Kind.PERSISTENT, {1, 2, 3, 4}),
        (Kind.RECURSIVE, {1, 2, 3}),
    ],
)
def test_each_kind_hears_of_its_events(kind: Kind, events: set[int]) -> None:
    heard = set()
    for event in (1, 2, 3, 4):
        watches = Watches()
        watches.add(kind, "/a", "me")
        if watches.trigger(event, "/a"):
            heard.add(event)
    assert heard == events


def test_a_watcher_hears_of_one_change_once_whatever_it_has_set() -> None:
    watches = Watches()
    for kind in Kind:
        watches.add(kind, "/a", "me")
    watches.add(Kind.RECURSIVE, "/", "me")
    assert watches.trigger(EventType.DELETED, "/a") == ["me"]


def test_a_recursive_watch_hears_of_all_below() -> None:
    watches = Watches()
    watches.add(Kind.RECURSIVE, "/a", "me")
    assert watches.trigger(EventType.CREATED, "/a/b/c") == ["me"]
    assert watches.trigger(EventType.CREATED, "/ab") == []
    watches.add(Kind.RECURSIVE, "/", "all")
    assert watches.trigger(EventType.CREATED, "/ab") == ["all"]


def test_several_watchers_hear_in_the_order_in_which_they_came() -> None:
    watches = Watches()
    for name in ("first", "second", "third"):
        watches.add(Kind.DATA, "/a", name)
    assert watches.trigger(EventType.DATA_CHANGED, "/a") == ["first", "second", "third"]


def test_who_is_gone_is_forgotten() -> None:
    watches = Watches()
    for path in ("/a", "/b"):
        watches.add(Kind.DATA, path, "me")
        watches.add(Kind.DATA, path, "you")
        watches.add(Kind.CHILD, path, "me")
    watches.remove_all("me")
    assert watches.count() == 2
    assert watches.trigger(EventType.DELETED, "/a") == ["you"]


@pytest.mark.parametrize(
    ("meant", "kind"),
    [
        (WatcherType.DATA, Kind.DATA),
        (WatcherType.CHILDREN, Kind.CHILD),
        (WatcherType.PERSISTENT, Kind.PERSISTENT),
        (WatcherType.PERSISTENT_RECURSIVE, Kind.RECURSIVE),
    ],
)
def test_a_watch_can_be_asked_for_and_removed_by_its_type(meant: int, kind: Kind) -> None:
    watches = Watches()
    watches.add(kind, "/a", "me")
    assert [watches.has("/a", each, "me") for each in (meant, WatcherType.ANY)] == [True, True]
    assert not any(watches.has("/a", each, "me") for each in WatcherType if each not in (meant, 3))
    assert not watches.remove(kind, "/a", "you")
    assert watches.remove(kind, "/a", "me")
    assert not watches.has("/a", WatcherType.ANY, "me")


def test_a_hundred_thousand_watches_take_little_memory() -> None:
    paths = [f"/services/{number:06d}" for number in range(100_000)]
    tracemalloc.start()
    watches = Watches()
    for path in paths:
        watches.add(Kind.DATA, path, "me")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken / len(paths) + sys.getsizeof(paths[0]) < 200
