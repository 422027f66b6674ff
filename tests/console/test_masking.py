"""Secrets stay secret."""

from __future__ import annotations

import json

import pytest

from odradek.console.masking import HIDDEN, masked_acl, masked_setting, masked_znode

SCRAM = {"version": 1, "config": {"SCRAM-SHA-256": "salt=abc,stored_key=def", "rate": "5"}}


def test_salted_passwords_of_users_are_hidden_and_their_quotas_are_not() -> None:
    shown = json.loads(masked_znode("/config/users/alice", json.dumps(SCRAM).encode()))
    assert shown["config"] == {"SCRAM-SHA-256": HIDDEN, "rate": "5"}


@pytest.mark.parametrize("path", ["/config/brokers/1", "/config/users/<default>"])
def test_what_cannot_be_understood_where_secrets_are_is_hidden_whole(path: str) -> None:
    assert masked_znode(path, b"password=abc") == HIDDEN.encode()


def test_tokens_are_hidden_whole() -> None:
    assert masked_znode("/delegation_token/tokens/x", b'{"a":1}') == HIDDEN.encode()


def test_a_password_is_hidden_wherever_it_stands() -> None:
    data = b'{"servers":[{"ssl.keystore.password":"abc","host":"h"}]}'
    shown = masked_znode("/anywhere", data)
    assert b"abc" not in shown
    assert json.loads(shown)["servers"][0]["host"] == "h"


def test_what_is_no_secret_is_shown_as_it_is() -> None:
    for data in (b'{"version":  1}', b"plain", b"", b"\xff\x00"):
        assert masked_znode("/brokers/ids/1", data) == data


def test_hashes_in_acls_and_sensitive_settings_are_hidden() -> None:
    assert masked_acl("digest", "alice:hash=") == f"alice:{HIDDEN}"
    assert masked_acl("world", "anyone") == "anyone"
    assert masked_setting("ssl.key.password", "x", is_sensitive=False) == HIDDEN
    assert masked_setting("any", None, is_sensitive=True) == HIDDEN
    assert masked_setting("log.dirs", "/d", is_sensitive=False) == "/d"
