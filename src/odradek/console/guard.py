"""The door of the console: every request and every websocket goes through here, before any page.

What `entrance` refuses gets 403; who is not known gets the page that asks for the password, and no
websocket. Nothing of NiceGUI is reached before that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from typing import Any
from urllib.parse import parse_qs

from odradek.console.entrance import Entrance, cookie_of
from odradek.runtime.clock import wall_clock_ms

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
BODY_BYTES_MAX = 4096
WRONG_PAUSE_S = 0.5  # A guess has a price.
POLICY_VIOLATION = 1008
SECURITY = [
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    # Not `no-referrer`: then a browser says "null" for the origin of our own form, too.
    (b"referrer-policy", b"same-origin"),
]
LOGIN = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Odradek</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>body{{font:15px system-ui,sans-serif;background:#12151c;color:#e8eaf0;display:grid;
place-items:center;height:100vh;margin:0}}form{{background:#1b2029;padding:32px;border-radius:12px;
width:280px}}h1{{font-size:20px;margin:0 0 16px}}input,button{{width:100%;box-sizing:border-box;
font:inherit;padding:10px;border-radius:8px;border:1px solid #3a4150;margin-top:8px}}
button{{background:#6366f1;color:#fff;border:0;cursor:pointer}}p{{color:#f59e9e}}</style></head>
<body><form method="post" action="/login"><h1>Odradek console</h1>
<label for="password">Password</label>
<input id="password" type="password" name="password" autofocus required>
<button>Enter</button>{trouble}</form></body></html>"""


class Guard:
    """An ASGI application in front of another; `app` is its name by custom."""

    def __init__(self, app: App, entrance: Entrance) -> None:
        self.app = app
        self._entrance = entrance
        self._guesses = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): it.decode("latin-1") for name, it in scope["headers"]}
        is_socket = scope["type"] == "websocket"
        method = scope.get("method", "GET")
        if refusal := self._entrance.refusal(method, headers, is_socket=is_socket):
            await self._refuse(scope, receive, send, refusal)
        elif scope["path"] == "/login" and not is_socket and self._entrance.password is not None:
            await self._login(scope, receive, send)
        elif scope["path"] == "/logout" and method == "POST":
            self._entrance.let_out(headers)
            await answer(send, 303, "", [(b"location", b"/login")])
        elif self._entrance.is_known(headers, wall_clock_ms()):
            await self.app(scope, receive, secured(send))
        elif is_socket:
            await self._refuse(scope, receive, send, "nobody knows you")
        else:
            await answer(send, 303, "", [(b"location", b"/login")])

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, why: str) -> None:
        if scope["type"] == "websocket":
            await receive()  # Its `connect`: only then may it be closed.
            await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": why[:100]})
        else:
            await answer(send, 403, f"refused: {why}\n", [(b"content-type", b"text/plain")])

    async def _login(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await answer(send, 200, LOGIN.format(trouble=""))
            return
        given = parse_qs(await body_of(receive)).get("password", [""])[0]
        token = self._entrance.let_in(given, wall_clock_ms())
        if token is None:
            async with self._guesses:  # One guess after the other, whoever guesses.
                await asyncio.sleep(WRONG_PAUSE_S)
            trouble = f"<p>{escape('That is not the password.')}</p>"
            await answer(send, 401, LOGIN.format(trouble=trouble))
            return
        cookie = cookie_of(token, is_secure=scope.get("scheme") == "https")
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode())]
        await answer(send, 303, "", headers)


def secured(send: Send) -> Send:
    """Add what keeps other sites from framing the page."""

    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *SECURITY]
        await send(message)

    return sent


async def body_of(receive: Receive) -> str:
    body = b""
    while len(body) <= BODY_BYTES_MAX:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return body[:BODY_BYTES_MAX].decode(errors="replace")


async def answer(
    send: Send, status: int, text: str, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = text.encode()
    usual = headers or [(b"content-type", b"text/html; charset=utf-8")]
    length = (b"content-length", str(len(body)).encode())
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [*usual, length, *SECURITY, (b"cache-control", b"no-store")]})
    await send({"type": "http.response.body", "body": body})
