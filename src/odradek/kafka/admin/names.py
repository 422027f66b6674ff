"""Names of topics: which are allowed, which would be confused, which are Kafka's own.

Metrics know a topic by its name with `.` written as `_`, so two names that differ in nothing
else cannot both be topics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode

LENGTH_MAX = 249
LEGAL = re.compile(r"[a-zA-Z0-9._-]+")

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
CLUSTER_METADATA = "__cluster_metadata"
INTERNAL = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, "__share_group_state"})


def refuse_name(name: str) -> Refusal | None:
    """Say what is wrong with a topic's name, if anything is."""
    reason = why_illegal(name)
    if not reason:
        return None
    return Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


def why_illegal(name: str) -> str:
    if not name:
        return "it must not be empty"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > LENGTH_MAX:
        return f"'{name}' is longer than {LENGTH_MAX} characters"
    if not LEGAL.fullmatch(name):
        return f"'{name}' has characters other than ASCII letters and digits, '.', '_' and '-'"
    return ""


def is_internal(name: str) -> bool:
    """Whether Kafka keeps its own state in it."""
    return name in INTERNAL


def may_collide(name: str) -> bool:
    return "." in name or "_" in name


def colliding(name: str, others: Iterable[str]) -> list[str]:
    """Those of the others that metrics could not tell from this one."""
    if not may_collide(name):
        return []
    unified = name.replace(".", "_")
    return [other for other in others if other.replace(".", "_") == unified]
