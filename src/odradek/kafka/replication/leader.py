"""What a partition's leader knows of its replicas, and what follows from it.

The high watermark is the end that all of the *maximal* in-sync set have: who is in sync, who is
about to be (asked for, not yet confirmed by the controller), and who has caught up and will be.
One that is about to be taken out counts until that is confirmed, for if the leader died it might
lead. The high watermark stands still while fewer than `min.insync.replicas` are in sync.

A follower that fetches from an offset has all that is before it. It is in sync as long as it was
at the leader's end, as that was when it asked, not longer ago than `replica.lag.time.max.ms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

UNKNOWN = -1
NEVER = -(2**62)  # Long before any clock began.
IsAlive = Callable[[int], bool]


@dataclass(slots=True)
class Follower:
    """How far a replica elsewhere is, as its fetches tell."""

    start_offset: int = UNKNOWN
    end_offset: int = UNKNOWN
    caught_up_ms: int = NEVER  # When it last had all that the leader had.
    fetched_ms: int = NEVER
    leader_end_offset: int = UNKNOWN  # The leader's end when it last fetched.

    def fetched(self, offset: int, start_offset: int, leader_end_offset: int, now_ms: int) -> None:
        """It asks for what is at an offset."""
        if offset >= leader_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)
        elif offset >= self.leader_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.start_offset = start_offset
        self.end_offset = offset
        self.fetched_ms = now_ms
        self.leader_end_offset = max(self.leader_end_offset, leader_end_offset)

    def is_caught_up(self, leader_end_offset: int, now_ms: int, lag_max_ms: int) -> bool:
        return self.end_offset == leader_end_offset or now_ms - self.caught_up_ms <= lag_max_ms


class Leadership:
    """One leader's epoch of one partition."""

    __slots__ = ("asked_isr", "broker_id", "epoch", "followers", "isr", "start_offset")

    def __init__(
        self, broker_id: int, epoch: int, start_offset: int, replicas: Iterable[int]
    ) -> None:
        self.broker_id = broker_id
        self.epoch = epoch
        self.start_offset = start_offset  # Where the log ended when this epoch began.
        self.isr: frozenset[int] = frozenset()
        self.asked_isr: frozenset[int] | None = None  # What the controller has not confirmed.
        self.followers = {each: Follower() for each in replicas if each != broker_id}

    @property
    def maximal_isr(self) -> frozenset[int]:
        return self.isr if self.asked_isr is None else self.isr | self.asked_isr

    def assign(
        self, replicas: Iterable[int], isr: Iterable[int], end_offset: int, now_ms: int
    ) -> None:
        """The controller has spoken. Who is in sync gets its time to say so anew."""
        known = self.followers
        self.isr, self.asked_isr = frozenset(isr), None
        self.followers = {
            each: known.get(each) or Follower() for each in replicas if each != self.broker_id
        }
        for broker_id, follower in self.followers.items():
            time_ms = now_ms if broker_id in self.isr else NEVER
            follower.caught_up_ms = time_ms
            if follower.end_offset != UNKNOWN:
                follower.leader_end_offset, follower.fetched_ms = end_offset, time_ms

    def keep(self, replicas: Iterable[int]) -> None:
        """The controller has said again what it had said: what was asked is still on its way."""
        known = self.followers
        self.followers = {
            each: known.get(each) or Follower() for each in replicas if each != self.broker_id
        }

    # Progress

    def high_watermark(
        self, end_offset: int, min_isr: int, lag_max_ms: int, now_ms: int, is_alive: IsAlive
    ) -> int | None:
        """What all that count have; None while it must not move."""
        if len(self.isr) < min_isr:
            return None
        lowest, maximal = end_offset, self.maximal_isr
        for broker_id, follower in self.followers.items():
            if follower.end_offset < lowest and (
                broker_id in maximal
                or (follower.is_caught_up(end_offset, now_ms, lag_max_ms) and is_alive(broker_id))
            ):
                lowest = follower.end_offset
        return lowest

    def is_held_at(self, high_watermark: int) -> bool:
        """Whether one that counts in any case has no more than this: then it cannot move."""
        followers, isr = self.followers, self.isr
        for broker_id, follower in followers.items():
            if follower.end_offset <= high_watermark and broker_id in isr:
                return True
        return False

    def low_watermark(self, start_offset: int, is_alive: IsAlive) -> int:
        """Below this no living replica has anything."""
        living = (each.start_offset for id_, each in self.followers.items() if is_alive(id_))
        return min((start_offset, *living))

    # Who is in sync

    def may_join(self, broker_id: int, high_watermark: int, is_alive: IsAlive) -> bool:
        """Whether a follower is to be taken in; one change at a time is asked for."""
        if self.asked_isr is not None or broker_id in self.isr:
            return False
        follower = self.followers.get(broker_id)
        if follower is None or not is_alive(broker_id):
            return False
        return follower.end_offset >= max(high_watermark, self.start_offset)

    def out_of_sync(self, end_offset: int, now_ms: int, lag_max_ms: int) -> frozenset[int]:
        """Who is to be taken out."""
        if self.asked_isr is not None:
            return frozenset()
        return frozenset(
            broker_id
            for broker_id, follower in self.followers.items()
            if broker_id in self.isr and not follower.is_caught_up(end_offset, now_ms, lag_max_ms)
        )

    def ask(self, isr: Iterable[int]) -> None:
        """A change is on its way to the controller."""
        assert self.asked_isr is None
        self.asked_isr = frozenset(isr)

    def confirm(self, isr: Iterable[int]) -> None:
        """The controller has written this down."""
        self.isr, self.asked_isr = frozenset(isr), None

    def give_up(self) -> None:
        """The controller has refused: what was, is."""
        self.asked_isr = None
