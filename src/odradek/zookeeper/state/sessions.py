"""Sessions and when they end.

A session expires when nothing was heard of it for its time-out. Time is cut into ticks, and all
sessions that end within one tick end together: hearing from a session then seldom costs more than
a comparison, and expiring costs nothing for those that live.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import pack

PASSWORD_SECRET = 0xB3415C00
_MULTIPLIER, _MASK = 0x5DEECE66D, (1 << 48) - 1


def password_of(session_id: int) -> bytes:
    """The password that goes with a session id: sixteen bytes of Java's random numbers."""
    seed = ((session_id ^ PASSWORD_SECRET) ^ _MULTIPLIER) & _MASK
    password = b""
    for _ in range(4):
        seed = (seed * _MULTIPLIER + 11) & _MASK
        password += pack("<I", seed >> 16)
    return password


def first_session_id(server_id: int, now_ms: int) -> int:
    """Ids count up from the clock, below the id of the server that gave them."""
    low = (now_ms << 24) & 0xFFFFFFFFFFFFFFFF
    unsigned = (server_id << 56) | (low >> 8) & 0x00FFFFFFFFFFFFFF
    return unsigned - (1 << 64) if unsigned >= 1 << 63 else unsigned


@dataclass(slots=True)
class Session:
    """One client's session, whichever connection it is on."""

    session_id: int
    timeout_ms: int
    expires_ms: int = 0
    is_closing: bool = False
    is_local: bool = False  # Known to one server of an ensemble only.


@dataclass(slots=True)
class Sessions:
    """All sessions of a server, by id and by the tick in which they end."""

    tick_ms: int
    by_id: dict[int, Session] = field(default_factory=dict)
    _buckets: dict[int, dict[int, Session]] = field(default_factory=dict)

    def open(self, session_id: int, timeout_ms: int, now_ms: int) -> Session:
        """Start to track a session, or go on with one that is known."""
        session = self.by_id.get(session_id)
        if session is None:
            session = self.by_id[session_id] = Session(session_id, timeout_ms)
        session.timeout_ms = timeout_ms
        self.touch(session, now_ms)
        return session

    def touch(self, session: Session, now_ms: int) -> None:
        """Something was heard of this session."""
        tick_ms = self.tick_ms
        expires_ms = ((now_ms + session.timeout_ms) // tick_ms + 1) * tick_ms
        if expires_ms > session.expires_ms and not session.is_closing:
            self._leave_bucket(session)
            session.expires_ms = expires_ms
            self._buckets.setdefault(expires_ms, {})[session.session_id] = session

    def close(self, session_id: int) -> None:
        """The session is over."""
        if session := self.by_id.pop(session_id, None):
            self._leave_bucket(session)

    def expire(self, now_ms: int) -> list[Session]:
        """Take the sessions whose tick has passed, in the order of their ids; they are closing."""
        due = [expires_ms for expires_ms in self._buckets if expires_ms <= now_ms]
        expired: list[Session] = []
        for expires_ms in sorted(due):
            bucket = self._buckets.pop(expires_ms)
            expired += (bucket[session_id] for session_id in sorted(bucket))
        for session in expired:
            session.is_closing = True
        return expired

    def _leave_bucket(self, session: Session) -> None:
        if bucket := self._buckets.get(session.expires_ms):
            bucket.pop(session.session_id, None)
            if not bucket:
                del self._buckets[session.expires_ms]
