"""Who is let in: a host that is ours, an origin that is ours, and whoever knows the password; pure.

A page of another site can make a browser send requests to us, and a name of its own can be made to
mean 127.0.0.1. So the Host header must name us, and what changes anything (a websocket, a POST)
must come from a page of ours: its Origin must be the host that it was sent to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

COOKIE = "odradek_session"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SESSION_MS = 12 * 3600 * 1000
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def is_loopback(host: str) -> bool:
    return host in LOOPBACK_NAMES


def name_in(host_header: str) -> str:
    """The name in a Host header, without the port."""
    try:
        return (urlsplit(f"//{host_header}").hostname or "").lower()
    except ValueError:
        return ""


@dataclass(slots=True)
class Entrance:
    """The rules of one console; `draw` makes tokens nobody can guess."""

    password: str | None
    is_open_to_others: bool  # Bound to more than loopback: any name may be ours.
    draw: Callable[[], str]
    _sessions: dict[str, int] = field(default_factory=dict)  # Hashes of tokens, and their ends.

    def refusal(self, method: str, headers: Mapping[str, str], *, is_socket: bool) -> str:
        """Why a request is not even looked at; "" if it is."""
        host = headers.get("host", "")
        if not self.is_open_to_others and name_in(host) not in LOOPBACK_NAMES:
            return f"no host of this console: {host!r}"
        origin = headers.get("origin")
        if origin is not None and not is_of(origin, host):
            return f"a foreign origin: {origin!r}"
        if origin is None and is_socket:
            return "a websocket without an origin"  # No browser opens one.
        if origin is None and method not in SAFE:
            return "a request that changes something, without an origin"
        return ""

    def is_known(self, headers: Mapping[str, str], now_ms: int) -> bool:
        """Whether the request comes from a session that was let in."""
        if self.password is None:
            return True
        return self._sessions.get(hashed(token_in(headers)), 0) > now_ms

    def let_in(self, password: str, now_ms: int) -> str | None:
        """A token for who knows the password."""
        if self.password is None or not compare_digest(
            sha256(password.encode()).digest(), sha256(self.password.encode()).digest()
        ):
            return None
        self._sessions = {it: end for it, end in self._sessions.items() if end > now_ms}
        token = self.draw()
        self._sessions[hashed(token)] = now_ms + SESSION_MS
        return token

    def let_out(self, headers: Mapping[str, str]) -> None:
        self._sessions.pop(hashed(token_in(headers)), None)


def is_of(origin: str, host: str) -> bool:
    """Whether a page of this origin was served under this host."""
    scheme, separator, rest = origin.partition("://")
    return bool(separator) and scheme in ("http", "https") and rest.lower() == host.lower()


def token_in(headers: Mapping[str, str]) -> str:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def hashed(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def cookie_of(token: str, *, is_secure: bool) -> str:
    """A cookie that no script sees and no other site's page makes a browser send."""
    ending = "; Secure" if is_secure else ""
    return f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict{ending}"
