"""The door, asked as a server would ask it."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from odradek.console.actions import Actions
from odradek.console.entrance import COOKIE, Entrance
from odradek.console.guard import Guard, Receive, Scope, Send
from odradek.console.kafka_side import KafkaSide

HOST = "127.0.0.1:8180"
ORIGIN = f"http://{HOST}"
Message = MutableMapping[str, Any]


async def page(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the page"})


def ask(
    guard: Guard, path: str = "/", method: str = "GET", body: bytes = b"", **headers: str
) -> list[Message]:
    """What the guard sends to one request; a method of "" opens a websocket."""
    given = [(name.encode(), it.encode()) for name, it in ({"host": HOST} | headers).items()]
    scope = {"type": "http" if method else "websocket", "path": path, "headers": given}
    if method:
        scope["method"] = method
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(guard(scope, receive, send))
    return sent


def header(message: Message, name: str) -> str:
    return next((it.decode() for key, it in message["headers"] if key == name.encode()), "")


def guard(password: str | None = None) -> Guard:
    return Guard(page, Entrance(password, False, lambda: "a-token"))


def test_a_page_of_ours_is_shown_and_cannot_be_framed() -> None:
    start, body = ask(guard())
    assert (start["status"], body["body"]) == (200, b"the page")
    assert header(start, "x-frame-options") == "DENY"
    assert ask(guard(), method="", origin=ORIGIN) == [{"type": "websocket.accept"}]


def test_a_foreign_page_gets_neither_answer_nor_websocket() -> None:
    start, body = ask(guard(), method="POST", origin="http://evil.example")
    assert (start["status"], b"foreign origin" in body["body"]) == (403, True)
    (closed,) = ask(guard(), method="", origin="http://evil.example")
    assert (closed["type"], closed["code"]) == ("websocket.close", 1008)


def test_whoever_does_not_know_the_password_is_asked_for_it_and_gets_no_websocket() -> None:
    door = guard("open sesame")
    start, _ = ask(door)
    assert (start["status"], header(start, "location")) == (303, "/login")
    (closed,) = ask(door, method="", origin=ORIGIN)
    assert closed["type"] == "websocket.close"
    _, form = ask(door, "/login")
    assert b'type="password"' in form["body"]
    wrong, _ = ask(door, "/login", "POST", b"password=guess", origin=ORIGIN)
    assert (wrong["status"], header(wrong, "set-cookie")) == (401, "")


def test_whoever_knows_the_password_is_let_in_by_a_cookie() -> None:
    door = guard("open sesame")
    entered, _ = ask(door, "/login", "POST", b"password=open+sesame", origin=ORIGIN)
    cookie = header(entered, "set-cookie")
    assert cookie == f"{COOKIE}=a-token; Path=/; HttpOnly; SameSite=Strict"
    start, _ = ask(door, cookie=f"{COOKIE}=a-token")
    assert start["status"] == 200
    socket = ask(door, method="", origin=ORIGIN, cookie=f"{COOKIE}=a-token")
    assert socket == [{"type": "websocket.accept"}]
    left, _ = ask(door, "/logout", "POST", origin=ORIGIN, cookie=f"{COOKIE}=a-token")
    assert header(left, "location") == "/login"
    start, _ = ask(door, cookie=f"{COOKIE}=a-token")
    assert start["status"] == 303


def test_a_password_that_is_too_long_to_be_one_is_not_read_to_its_end() -> None:
    start, _ = ask(
        guard("open sesame"), "/login", "POST", b"password=" + b"x" * 10**6, origin=ORIGIN
    )
    assert start["status"] == 401


def test_a_console_that_only_looks_refuses_every_change() -> None:
    actions = Actions(KafkaSide("127.0.0.1:1"), is_allowed=False)
    changes = [
        actions.produce("t", None, b"v", None),
        actions.commit("g", {}),
        actions.move({}),
        actions.elect([]),
    ]

    async def all_of_them() -> list[object]:
        return list(await asyncio.gather(*changes, return_exceptions=True))

    assert {type(it).__name__ for it in asyncio.run(all_of_them())} == {"ReadOnly"}
