"""Pipes: one direction of one connection, as TCP keeps it.

Bytes arrive in order and once, cut at any place. While packets do not arrive, or while their
acknowledgements do not, everything waits; once that lasts too long the sender gives up, and the
receiver hears nothing of it.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from enum import Enum
from typing import TYPE_CHECKING
from zlib import crc32

from odradek.simulation.network.links import Conditions, Link
from odradek.simulation.schedule import SECOND_NS, Moment

if TYPE_CHECKING:
    from odradek.simulation.network.sockets import Socket

HEADER_BYTES = 66  # Of Ethernet, IP and TCP: what even a mark costs a narrow link.


class Mark(Enum):
    """What can travel besides bytes."""

    OPENING = "opening"
    OPENED = "opened"
    GREETED = "greeted"
    END = "end"
    RESET = "reset"


Segment = bytes | Mark


class Pipe:
    """What is under way from one socket to another."""

    __slots__ = (
        "_conditions",
        "_is_stalled",
        "_last_arrival_ns",
        "_next",
        "_patience",
        "_segments",
        "_stalled_since_ns",
        "_window",
        "back",
        "is_wanted",
        "link",
        "receiver",
        "sender",
        "unread_bytes",
    )

    def __init__(self, link: Link, back: Link, sender: Socket, receiver: Socket) -> None:
        self.link = link
        self.back = back
        self.sender = sender
        self.receiver = receiver
        self.unread_bytes = 0
        self.is_wanted = False  # The sender has more than there is room for.
        self._conditions: Conditions = link.conditions
        self._segments: deque[tuple[int, Segment]] = deque()  # With the times of their arrival.
        self._last_arrival_ns = 0
        self._next: Moment | None = None
        self._window: Moment | None = None
        self._patience: Moment | None = None
        self._is_stalled = False
        self._stalled_since_ns = 0

    @property
    def room_bytes(self) -> int:
        return max(0, self._conditions.socket_bytes - self.unread_bytes)

    def send(self, data: bytes) -> None:
        """Send bytes, for which there is room."""
        self.unread_bytes += len(data)
        draw = self._conditions.random.random
        while draw() < self._conditions.split_chance and len(data) > 1:
            cut = 1 + int(draw() * (len(data) - 1))
            self._launch(data[:cut], cut)
            data = data[cut:]
        self._launch(data, len(data))

    def send_mark(self, mark: Mark) -> None:
        if mark is Mark.RESET and self._is_stalled:
            self.forget()  # Whoever resets has no memory of what it sent before.
        else:
            self._launch(mark, 0)

    def forget(self) -> None:
        """The sender's kernel knows this connection no more, so nothing is sent again."""
        if self._is_stalled:
            self._segments.clear()
        self._be_patient_no_more()

    def taken(self, count: int) -> None:
        """The receiver has read so many bytes."""
        self.unread_bytes -= count
        if self.is_wanted:
            self._tell_of_room()

    def revive(self) -> None:
        """A link that we wait for is open again: what was lost is sent once more."""
        if self.link.is_open and self.back.is_open:
            self._be_patient_no_more()
        if self._is_stalled and self.link.is_open:
            self._is_stalled = False
            stalled_ns = self._conditions.schedule.now_ns - self._stalled_since_ns
            pause_ns = min(stalled_ns, int(self._conditions.retransmit_s_max * SECOND_NS))
            delay_ns = int(self._conditions.random.random() * pause_ns)
            self._arrive_in(delay_ns + self.link.latency_draw_ns())
        elif self._is_stalled:
            self.link.stalled[self] = None
        if self.is_wanted:
            self._tell_of_room()

    def _launch(self, segment: Segment, size: int) -> None:
        arrival_ns = max(self.link.arrival_ns(size + HEADER_BYTES), self._last_arrival_ns)
        self._last_arrival_ns = arrival_ns
        self._segments.append((arrival_ns, segment))
        if self._next is None and not self._is_stalled:
            self._arrive_in(arrival_ns - self._conditions.schedule.now_ns)

    def _arrive_in(self, delay_ns: int) -> None:
        self._next = self._conditions.schedule.after(delay_ns, self._arrive)

    def _arrive(self) -> None:
        self._next = None
        now_ns = self._conditions.schedule.now_ns
        segments = self._segments
        while segments and segments[0][0] <= now_ns:
            if not self.link.is_open:
                return self._stall()
            segment = segments.popleft()[1]
            if self._conditions.trace.is_on:
                self._note(segment)
            self.receiver.arrived(segment)
            if not self.back.is_open:
                self._be_patient(self.back)
        if segments and self._next is None:
            self._arrive_in(segments[0][0] - now_ns)
        return None

    def _stall(self) -> None:
        if any(segment is Mark.RESET for _, segment in self._segments):
            self._segments.clear()  # A reset is sent but once.
            return
        self._is_stalled = True
        self._stalled_since_ns = self._conditions.schedule.now_ns
        self._be_patient(self.link)

    def _be_patient(self, link: Link) -> None:
        """Wait for a link, but not for ever."""
        link.stalled[self] = None
        if self._patience is None:
            conditions = self._conditions
            is_open = self.sender.is_open
            limit_s = conditions.give_up_s if is_open else conditions.connect_give_up_s
            self._patience = conditions.schedule.after(int(limit_s * SECOND_NS), self._give_up)

    def _be_patient_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._patience = None
        self._segments.clear()
        self._conditions.trace.note(f"{self.sender.label} gives up on {self.receiver.label}")
        self.sender.fail(TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)))

    def _tell_of_room(self) -> None:
        if self._window is None:
            self._window = self._conditions.schedule.after(
                self.back.latency_draw_ns(), self._open_window
            )

    def _open_window(self) -> None:
        self._window = None
        if not self.back.is_open:
            self.back.stalled[self] = None
        elif self.room_bytes:
            self.is_wanted = False
            self.sender.writable()

    def _note(self, segment: Segment) -> None:
        if isinstance(segment, bytes):
            what = f"{len(segment)} bytes {crc32(segment):08x}"
        else:
            what = segment.value
        self._conditions.trace.note(f"{self.sender.label} > {self.receiver.label} {what}")
