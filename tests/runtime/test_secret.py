"""What must never be shown."""

from __future__ import annotations

import pytest

from odradek.runtime.secret import Secret


@pytest.mark.parametrize("show", [str, repr, "{}".format, "{!r:>20}".format, lambda it: f"{[it]}"])
def test_a_secret_is_shown_by_nothing_but_reveal(show: object) -> None:
    assert callable(show)
    assert "hunter2" not in show(Secret("hunter2"))
    assert "[hidden]" in show(Secret("hunter2"))
    assert Secret("hunter2").reveal() == "hunter2"


def test_secrets_are_equal_by_what_they_hide() -> None:
    assert Secret("é") == Secret("é")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
