"""Quotas of clients: which there are, whom a filter means, what an alteration makes of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from odradek.kafka.admin.entities import CLIENT_ID, IP, USER, Entity
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.settings.texts import text_of
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_client_quotas import OpData
from odradek.kafka.wire.messages.describe_client_quotas import ComponentData

LONG, INT, DOUBLE = "LONG", "INT", "DOUBLE"
OF_CLIENTS = {
    "producer_byte_rate": LONG,
    "consumer_byte_rate": LONG,
    "request_percentage": DOUBLE,
    "controller_mutation_rate": DOUBLE,
}
OF_ADDRESSES = {"connection_creation_rate": INT}
LARGEST = {LONG: 2**63 - 1, INT: 2**31 - 1}
EXACT, DEFAULT, ANY = 0, 1, 2
NEARLY = 1e-6  # How far a number on the wire may be from a whole one.


class Filter(NamedTuple):
    """Whom a client asks about; `strict` leaves out who has parts that are not named."""

    components: Mapping[str, ComponentData]
    strict: bool

    def matches(self, entity: Entity) -> bool:
        parts = entity.parts()
        return all(self._matches(kind, parts) for kind in (USER, CLIENT_ID, IP))

    def may_match(self, *kinds: str) -> bool:
        """Whether anybody of these parts can be meant, whatever the names."""
        if self.strict and not self.components.keys() >= set(kinds):
            return False
        return self.components.keys() <= set(kinds)

    def may_be_user(self, name: str | None) -> bool:
        """Whether this user can be meant, alone or with client ids."""
        return self._matches(USER, {USER: name})

    def _matches(self, kind: str, parts: Mapping[str, str | None]) -> bool:
        component = self.components.get(kind)
        if component is None:
            return kind not in parts or not self.strict
        if component.match_type == ANY:
            return kind in parts
        wanted = component.match if component.match_type == EXACT else None
        return kind in parts and parts[kind] == wanted


def read_filter(components: Iterable[ComponentData], *, strict: bool) -> Filter | Refusal:
    by_kind: dict[str, ComponentData] = {}
    for component in components:
        kind = component.entity_type
        if refusal := refuse_component(component, is_known=kind in by_kind):
            return refusal
        by_kind[kind] = component
    if IP in by_kind and len(by_kind) > 1:
        reason = "An ip cannot be asked for together with a user or a client id"
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    return Filter(by_kind, strict)


def refuse_component(component: ComponentData, *, is_known: bool) -> Refusal | None:
    kind = component.entity_type
    if component.match_type not in (EXACT, DEFAULT, ANY):
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    if component.match_type == EXACT and component.match is None:
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    if not kind:
        reason = "Unexpected empty filter component entity type"
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    if kind not in (USER, CLIENT_ID, IP):
        reason = f"Custom entity type '{kind}' not supported"
        return Refusal(ErrorCode.UNSUPPORTED_VERSION, reason)
    if is_known:
        reason = f"Duplicate {kind} filter component entity type"
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    return None


def quotas_of(entity: Entity, texts: Mapping[str, str]) -> dict[str, float]:
    """The limits among what is kept for someone. Raises ValueError for what is no number."""
    return {key: float(text) for key, text in texts.items() if key in keys_of(entity)}


def keys_of(entity: Entity) -> Mapping[str, str]:
    return OF_ADDRESSES if IP in entity.parts() else OF_CLIENTS


def decide_quotas(
    entity: Entity, texts: Mapping[str, str], operations: Iterable[OpData]
) -> dict[str, str] | Refusal:
    """What would be kept for someone after these changes."""
    after = dict(texts)
    for operation in operations:
        if operation.remove:
            after.pop(operation.key, None)
            continue
        text = quota_text(keys_of(entity).get(operation.key), operation)
        if isinstance(text, Refusal):
            return text
        after[operation.key] = text
    return after


def quota_text(kind: str | None, operation: OpData) -> str | Refusal:
    """A limit as it is kept: whole numbers but for shares and rates of operations."""
    if kind is None:
        reason = f"Invalid configuration key {operation.key}"
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    if kind == DOUBLE and math.isfinite(operation.value):
        return text_of(operation.value) or ""
    whole = whole_number(operation.value, LARGEST[kind]) if kind in LARGEST else None
    if whole is None:
        reason = f"Configuration {operation.key} must be a {kind} value"
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    return str(whole)


def whole_number(value: float, largest: int) -> int | None:
    """The number that was meant; None if it is none.

    Kafka adds a little and cuts what is behind the point, so nothing below zero is whole.
    """
    if math.isnan(value):
        return None
    bounded = min(max(value + NEARLY, -largest - 1), largest)
    whole = int(bounded)
    return whole if abs(float(whole) - value) <= NEARLY else None
