"""SCRAM credentials of users: which may be kept, and how they are written.

    salt=<base64>,stored_key=<base64>,server_key=<base64>,iterations=4096

A password never gets here: clients send it salted and hashed already (RFC 5802).
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping

from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_user_scram_credentials import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)

MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
HASHES = {1: "sha256", 2: "sha512"}
ITERATIONS_MIN = 4096
ITERATIONS_MAX = 16384
Alteration = ScramCredentialUpsertion | ScramCredentialDeletion


def refuse_alterations(alterations: Iterable[Alteration]) -> dict[str, Refusal]:
    """By user: why none of what is asked for one may be done, before anybody looks at what is."""
    refusals: dict[str, Refusal] = {}
    alterations = list(alterations)
    for it in alterations:
        if refusal := refuse_alteration(it):
            refusals[it.name] = refusal
    pairs = Counter((it.name, it.mechanism) for it in alterations)
    for (user, _), times in pairs.items():
        if times > 1 and user not in refusals:
            reason = "A user credential cannot be altered twice in the same request"
            refusals[user] = Refusal(ErrorCode.DUPLICATE_RESOURCE, reason)
    return refusals


def refuse_alteration(it: Alteration) -> Refusal | None:
    if not it.name:
        return Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if it.mechanism not in MECHANISMS:
        return Refusal(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(it, ScramCredentialDeletion):
        return None
    if it.iterations > ITERATIONS_MAX:
        return Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    if it.iterations < ITERATIONS_MIN:
        return Refusal(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    return None


def decide_credentials(
    texts: Mapping[str, str], alterations: Iterable[Alteration]
) -> dict[str, str] | Refusal:
    """What would be kept for a user after these changes."""
    after = dict(texts)
    for it in alterations:
        mechanism = MECHANISMS[it.mechanism]
        if isinstance(it, ScramCredentialUpsertion):
            after[mechanism] = credential_text(it)
        elif after.pop(mechanism, None) is None:
            reason = "Attempt to delete a user credential that does not exist"
            return Refusal(ErrorCode.RESOURCE_NOT_FOUND, reason)
    return after


def credential_text(it: ScramCredentialUpsertion) -> str:
    """The keys that prove a password without being it."""
    name = HASHES[it.mechanism]
    client_key = hmac.digest(it.salted_password, b"Client Key", name)
    server_key = hmac.digest(it.salted_password, b"Server Key", name)
    stored_key = hashlib.new(name, client_key).digest()
    parts = {"salt": it.salt, "stored_key": stored_key, "server_key": server_key}
    texts = [f"{key}={b64encode(value).decode()}" for key, value in parts.items()]
    return ",".join([*texts, f"iterations={it.iterations}"])


def iterations_of(texts: Mapping[str, str]) -> dict[int, int]:
    """By mechanism, for each that a user has. Raises ValueError for what is no credential."""
    return {
        number: read_iterations(texts[name]) for number, name in MECHANISMS.items() if name in texts
    }


def read_iterations(text: str) -> int:
    parts = dict(part.partition("=")[::2] for part in text.split(","))
    if not parts.keys() >= {"salt", "stored_key", "server_key", "iterations"}:
        raise ValueError("is not a credential")
    return int(parts["iterations"])
