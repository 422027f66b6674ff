"""Credentials are kept as Kafka keeps them, and never as passwords."""

from __future__ import annotations

import hashlib
from base64 import b64decode

import pytest

from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.admin.scram import (
    credential_text,
    decide_credentials,
    iterations_of,
    refuse_alterations,
)
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_user_scram_credentials import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)


def upsertion(
    name: str = "alice", mechanism: int = 1, iterations: int = 4096, password: bytes = b"secret"
) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"salt",
        salted_password=password,
    )


def deletion(name: str = "alice", mechanism: int = 1) -> ScramCredentialDeletion:
    return ScramCredentialDeletion(name=name, mechanism=mechanism)


def test_the_keys_are_those_of_the_rfc() -> None:
    """The exchange of RFC 7677: user "user", password "pencil", 4096 iterations."""
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", salt, 4096)
    text = credential_text(
        ScramCredentialUpsertion(
            name="user", mechanism=1, iterations=4096, salt=salt, salted_password=salted
        )
    )
    assert text == (
        "salt=W22ZaJ0SNY7soEsUEjb6gQ==,"
        "stored_key=WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=,"
        "server_key=wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=,"
        "iterations=4096"
    )


def test_credentials_are_added_beside_what_a_user_has() -> None:
    kept = {"producer_byte_rate": "1"}
    after = decide_credentials(kept, [upsertion(), upsertion(mechanism=2, iterations=5000)])
    assert not isinstance(after, Refusal)
    assert after.keys() == {"producer_byte_rate", "SCRAM-SHA-256", "SCRAM-SHA-512"}
    assert iterations_of(after) == {1: 4096, 2: 5000}
    assert decide_credentials(after, [deletion(), deletion(mechanism=2)]) == kept


def test_what_is_not_there_cannot_be_deleted() -> None:
    refusal = decide_credentials({}, [deletion()])
    assert isinstance(refusal, Refusal)
    assert refusal.code is ErrorCode.RESOURCE_NOT_FOUND


@pytest.mark.parametrize(
    ("alterations", "user", "code"),
    [
        ([upsertion(name="")], "", ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([deletion(name="")], "", ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([upsertion(mechanism=0)], "alice", ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ([deletion(mechanism=3)], "alice", ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ([upsertion(iterations=4095)], "alice", ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([upsertion(iterations=16385)], "alice", ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([upsertion(), deletion()], "alice", ErrorCode.DUPLICATE_RESOURCE),
    ],
)
def test_bad_alterations_are_refused_by_user(
    alterations: list[ScramCredentialUpsertion | ScramCredentialDeletion],
    user: str,
    code: ErrorCode,
) -> None:
    refusals = refuse_alterations([*alterations, upsertion(name="bob")])
    assert {name: it.code for name, it in refusals.items()} == {user: code}


def test_a_text_that_is_no_credential_is_said_to_be_none() -> None:
    with pytest.raises(ValueError, match="credential"):
        iterations_of({"SCRAM-SHA-256": "nonsense"})
