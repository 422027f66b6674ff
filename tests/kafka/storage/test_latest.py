"""What was appended last comes from memory, and is what the file has."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.kafka.storage.appending import append_as_follower
from odradek.kafka.storage.latest import KEPT_BYTES_MAX, AllLatest, Latest
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.lookup import Wanted, fetch
from odradek.kafka.storage.retention import raise_start_offset
from odradek.kafka.storage.source import ColdSource
from odradek.kafka.storage.truncation import truncate_to
from tests.kafka.storage.disks import new_disk
from tests.kafka.storage.logs import NOW_MS, batch_of, get, new_log, put, records_in

MUCH = 1 << 20
COUNTS = st.integers(1, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), COUNTS),
        st.tuples(st.just("follow"), COUNTS),
        st.tuples(st.just("read"), COUNTS),
        st.tuples(st.just("read back"), COUNTS),
        st.tuples(st.just("read little"), COUNTS),
        st.tuples(st.sampled_from(("cut", "roll", "sleep", "delete")), COUNTS),
    ),
    min_size=4,
    max_size=40,
)


def in_file(log: Log, offset: int, bytes_max: int, upper: int) -> bytes:
    """What a reader would get who knows nothing but the files."""
    with ColdSource(log.files.disk) as source:
        views = log.views(log.number_of(offset))
        return bytes(fetch(source, views, Wanted(offset, bytes_max, upper)).data)


def take(log: Log, step: str, number: int) -> None:
    if step == "append":
        put(log, *[b"x" * 40] * number)
    elif step == "follow":
        append_as_follower(log, placed(batch_of([b"y" * 30] * number), log.end_offset), NOW_MS)
    elif step == "cut":
        truncate_to(log, max(log.start_offset, log.end_offset - number))
    elif step == "roll":
        log.roll(NOW_MS)
    elif step == "sleep":
        log.sleep()
    elif step == "delete":
        log.raise_high_watermark(log.end_offset)
        raise_start_offset(log, min(log.end_offset, log.start_offset + number))


def placed(batch: bytes, offset: int) -> bytes:
    """A batch as its leader has it."""
    return offset.to_bytes(8, "big") + batch[8:]


def compare(log: Log, step: str, number: int, reader: int) -> int:
    """Read as a reader who goes on from where it was; where it is now."""
    if not log.start_offset <= reader <= log.end_offset or step == "read back":
        reader = max(log.start_offset, log.end_offset - number)
    bytes_max = 60 * number if step == "read little" else MUCH
    upper = log.end_offset
    if reader >= upper:
        return reader
    expected = in_file(log, reader, bytes_max, upper)
    found = get(log, reader, bytes_max)
    assert bytes(found.data) == expected
    return found.next_offset


@settings(max_examples=200, deadline=None)
@given(STEPS)
def test_every_reader_gets_what_is_in_the_file(steps: list[tuple[str, int]]) -> None:
    log, reader = new_log(new_disk()), 0
    for step, number in steps:
        if step.startswith("read"):
            reader = compare(log, step, number, reader)
        else:
            take(log, step, number)
    compare(log, "read", 1, reader)


def read_to_the_end(log: Log) -> None:
    get(log, log.end_offset - 1)


def test_who_waits_at_the_end_gets_the_next_append_from_memory() -> None:
    log = new_log(new_disk())
    put(log, b"a")
    assert log.latest(0, MUCH) is None
    read_to_the_end(log)
    put(log, b"b")
    kept = log.latest(1, MUCH)
    assert kept is not None and [record.value for record in records_in(kept)] == [b"b"]
    assert bytes(kept.data) == in_file(log, 1, MUCH, 2)
    assert get(log, 1).data is kept.data


def test_what_nobody_took_is_not_kept_any_longer() -> None:
    log = new_log(new_disk())
    put(log, b"a")
    read_to_the_end(log)
    put(log, b"b")
    put(log, b"c")
    assert log.latest(1, MUCH) is None and log.latest(2, MUCH) is None
    assert not len(log.files.latest)


def test_a_limit_is_a_limit() -> None:
    log = new_log(new_disk())
    put(log, b"a")
    read_to_the_end(log)
    put(log, b"b")
    assert log.latest(1, 10) is None


def test_a_log_that_ends_its_segment_keeps_nothing() -> None:
    for end in ("cut", "roll", "sleep"):
        log = new_log(new_disk())
        put(log, b"a")
        read_to_the_end(log)
        put(log, b"b")
        assert len(log.files.latest) == 1
        take(log, end, 1)
        assert log.latest(1, MUCH) is None and not len(log.files.latest)


def test_large_appends_are_not_kept() -> None:
    all_latest = AllLatest()
    latest = Latest(all_latest)
    latest.await_next()
    latest.appended(0, KEPT_BYTES_MAX + 1, (bytes(KEPT_BYTES_MAX + 1),))
    assert latest.kept is None and not len(all_latest)


def test_so_many_logs_keep_something_and_no_more() -> None:
    all_latest = AllLatest(2)
    logs = [Latest(all_latest) for _ in range(3)]
    for latest in logs:
        latest.await_next()
        latest.appended(5, 1, (b"a",))
    assert [latest.kept is not None for latest in logs] == [False, True, True]
    assert len(all_latest) == 2
