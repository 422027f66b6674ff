"""Memory for large frames: lent while somebody looks at it, then lent again."""

from __future__ import annotations

from odradek.runtime.frames import LENGTH, Frame, FrameReader
from odradek.runtime.rooms import ROOM_BYTES_MAX, STEP_BYTES, Rooms

MIB = STEP_BYTES


def lent(rooms: Rooms, size: int) -> memoryview:
    room = rooms.lend(size)
    assert room is not None and len(room) == size
    return room


def received(stream: FrameReader, content: bytes) -> Frame:
    """A frame that comes in two pieces, so that it is one for which room is wanted."""
    assert not stream.feed(LENGTH.pack(len(content)) + content[:10])
    (frame,) = stream.feed(content[10:])
    return frame


def test_a_room_is_lent_again_once_nobody_looks_at_it() -> None:
    rooms = Rooms()
    room = lent(rooms, MIB)
    room[:4] = b"mine"
    del room
    assert bytes(lent(rooms, MIB)[:4]) == b"mine"
    assert rooms.size == MIB


def test_a_room_is_not_lent_while_somebody_looks_at_a_part_of_it() -> None:
    rooms = Rooms()
    room = lent(rooms, MIB)
    part = room[10:14]
    part[:] = b"mine"
    del room
    lent(rooms, MIB)[:] = bytes(MIB)
    assert bytes(part) == b"mine"
    assert rooms.size == 2 * MIB


def test_a_larger_room_takes_the_place_of_one_that_is_free() -> None:
    rooms = Rooms()
    lent(rooms, MIB)
    lent(rooms, MIB + 1)
    assert rooms.size == 2 * MIB


def test_a_smaller_frame_gets_a_larger_room() -> None:
    rooms = Rooms()
    lent(rooms, 3 * MIB)
    lent(rooms, 100)
    assert rooms.size == 3 * MIB


def test_rooms_have_so_many_bytes_and_no_more() -> None:
    rooms = Rooms(bytes_max=3 * MIB)
    first, second = lent(rooms, MIB), lent(rooms, 2 * MIB)
    assert rooms.lend(1) is None
    del first
    assert rooms.lend(MIB + 1) is None
    lent(rooms, MIB)
    second[0] = 1
    assert rooms.size == 3 * MIB


def test_what_is_too_large_for_a_room_gets_none() -> None:
    rooms = Rooms()
    assert rooms.lend(ROOM_BYTES_MAX + 1) is None
    assert rooms.size == 0


def test_frames_of_one_stream_lie_in_one_room_if_each_is_dropped_before_the_next() -> None:
    rooms, stream = Rooms(), FrameReader(64 * MIB)
    stream.lender = rooms.lend
    for number in range(5):
        frame = bytes([number]) * (2 * MIB)
        found = received(stream, frame)
        assert found == frame
        del found
    assert rooms.size == 2 * MIB


def test_frames_that_are_kept_stay_as_they_came() -> None:
    rooms, stream = Rooms(bytes_max=4 * MIB), FrameReader(64 * MIB)
    stream.lender = rooms.lend
    sent = [bytes([number]) * (2 * MIB) for number in range(5)]
    kept = [received(stream, each) for each in sent]
    assert kept == sent
    assert rooms.size == 4 * MIB
