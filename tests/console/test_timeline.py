"""The timeline, and its events as JSON."""

from __future__ import annotations

import json
from collections import deque

import pytest

from odradek.console.events import Event, Kind, event_from_json
from odradek.console.keeping import events_in
from odradek.console.timeline import Timeline


def happening(number: int, kind: Kind = Kind.ISR, zxid: int = 0) -> Event:
    return Event(number, kind, f"thing {number}", f"/path/{number}", zxid=zxid)


def test_the_newest_come_first_and_no_more_than_asked_for() -> None:
    timeline = Timeline()
    timeline.add(happening(number) for number in range(10))
    assert [it.event.time_ms for it in timeline.newest(3)] == [9, 8, 7]
    assert (timeline.newest(1)[0].number, timeline.last_number) == (10, 10)


def test_filters_take_kinds_and_any_text() -> None:
    timeline = Timeline()
    timeline.add([happening(1), happening(2, Kind.ELECTION), happening(3, Kind.ELECTION)])
    assert [it.event.time_ms for it in timeline.newest(9, kinds={Kind.ELECTION})] == [3, 2]
    assert [it.event.time_ms for it in timeline.newest(9, text="THING 1")] == [1]
    assert [it.event.time_ms for it in timeline.newest(9, text="/path/3")] == [3]
    assert timeline.newest(9, kinds=set()) == []


def test_one_thing_that_is_told_twice_stands_there_once() -> None:
    timeline = Timeline()
    seen = Event(5, Kind.LEADER, "a leads", "/p", zxid=7)
    by_another = Event(6, Kind.LEADER, "a leads", "/p", zxid=7)
    assert timeline.add([seen, by_another, happening(1), happening(1)]) == [seen, happening(1)]


def test_what_is_too_old_is_forgotten() -> None:
    timeline = Timeline(kept_max=3)
    timeline.add(happening(number) for number in range(5))
    assert (len(timeline), timeline.last_number) == (3, 5)
    assert timeline.add([happening(0)]) == [happening(0)]


def test_what_was_kept_comes_before_what_is_known_and_not_twice() -> None:
    timeline = Timeline()
    timeline.add([happening(8), happening(9)])
    timeline.add_before([happening(1), happening(8)])
    assert [it.event.time_ms for it in timeline.newest(9)] == [9, 8, 1]


def test_an_event_comes_back_from_json_and_nonsense_does_not() -> None:
    event = Event(5, Kind.ISR, "täxt", "/p", "topic", 3, "group", 9)
    written = json.dumps(event.as_json()).encode()
    strange: deque[bytes | None] = deque(
        [b"{}", None, b"[]", b'{"time_ms":1,"kind":"?","text":""}']
    )
    assert list(events_in([*strange, written])) == [event]
    with pytest.raises(KeyError):
        event_from_json({})
