"""Who is let in, and who is not."""

from __future__ import annotations

from itertools import count

import pytest

from odradek.console.entrance import (
    COOKIE,
    SESSION_MS,
    Entrance,
    cookie_of,
    is_loopback,
    name_in,
)

OURS = {"host": "127.0.0.1:8080", "origin": "http://127.0.0.1:8080"}


def entrance(password: str | None = None, *, is_open: bool = False) -> Entrance:
    numbers = count()
    return Entrance(password, is_open, lambda: f"token-{next(numbers)}")


def test_pages_of_ours_may_look_and_change() -> None:
    door = entrance()
    assert door.refusal("GET", {"host": "localhost:8080"}, is_socket=False) == ""
    assert door.refusal("POST", OURS, is_socket=False) == ""
    assert door.refusal("GET", OURS, is_socket=True) == ""


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://127.0.0.1:9999",
        "null",
        "127.0.0.1:8080",
        "ftp://127.0.0.1:8080",
    ],
)
def test_a_foreign_origin_is_refused(origin: str) -> None:
    headers = OURS | {"origin": origin}
    assert "foreign origin" in entrance().refusal("GET", headers, is_socket=True)
    assert "foreign origin" in entrance().refusal("POST", headers, is_socket=False)


def test_what_changes_something_must_have_an_origin() -> None:
    headers = {"host": "127.0.0.1:8080"}
    assert "without an origin" in entrance().refusal("GET", headers, is_socket=True)
    assert "without an origin" in entrance().refusal("POST", headers, is_socket=False)


def test_a_name_that_was_made_to_mean_loopback_is_refused() -> None:
    headers = {"host": "evil.example:8080", "origin": "http://evil.example:8080"}
    assert "no host" in entrance().refusal("GET", headers, is_socket=True)
    assert entrance("p", is_open=True).refusal("GET", headers, is_socket=True) == ""
    assert "no host" in entrance().refusal("GET", {}, is_socket=False)


def test_whoever_knows_the_password_is_known_until_the_session_ends() -> None:
    door = entrance("open sesame")
    assert not door.is_known({}, 0)
    assert door.let_in("open", 0) is None
    token = door.let_in("open sesame", 0)
    assert token is not None
    headers = {"cookie": f"other=1; {COOKIE}={token}"}
    assert door.is_known(headers, 1)
    assert not door.is_known({"cookie": f"{COOKIE}=guess"}, 1)
    assert not door.is_known({"cookie": f"{COOKIE}="}, 1)
    assert not door.is_known(headers, SESSION_MS)
    door.let_out(headers)
    assert not door.is_known(headers, 1)


def test_without_a_password_everybody_on_this_machine_is_known() -> None:
    assert entrance().is_known({}, 0)
    assert entrance().let_in("", 0) is None


def test_no_script_sees_the_cookie_and_no_other_site_makes_a_browser_send_it() -> None:
    assert cookie_of("t", is_secure=False).endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert cookie_of("t", is_secure=True).endswith("; Secure")


def test_hosts_are_told_apart() -> None:
    assert [name_in(it) for it in ("[::1]:80", "LOCALHOST", "a:b:c", "[")] == [
        "::1", "localhost", "a", "",
    ]  # fmt: skip
    assert is_loopback("127.0.0.1") and not is_loopback("0.0.0.0")
