"""Whether a running broker, or all of them, may have these settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from odradek.kafka.settings.alterations import INVALID_REQUEST, Alteration, Refused, altered
from odradek.kafka.settings.broker import BY_KEY, FIELDS, BrokerSettings
from odradek.kafka.settings.dynamic import (
    LISTENER_LIMITS,
    OF_A_LISTENER_ALONE,
    declaration_of,
    is_of_one_broker,
    is_password,
    is_read_only,
)
from odradek.kafka.settings.layers import Layers
from odradek.kafka.settings.listener_keys import base_of, listener_of
from odradek.runtime.declarations import TRIMMED
from odradek.runtime.settings import SettingsRefused

# Pools of threads grow and shrink by half at most, lest a slip of the pen stop a broker.
POOLS = (
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "log.cleaner.threads",
)


def decide_broker_alterations(
    layers: Layers, alterations: Iterable[Alteration], *, is_of_all: bool
) -> dict[str, str] | Refused:
    """IncrementalAlterConfigs: what is said of this broker, or of all, would become this."""
    current = layers.of_all if is_of_all else layers.of_one
    texts = altered(current, alterations, declaration_of)
    if isinstance(texts, Refused):
        return texts
    return decide_broker_settings(layers, texts, is_of_all=is_of_all)


def decide_broker_settings(
    layers: Layers, texts: Mapping[str, str], *, is_of_all: bool
) -> dict[str, str] | Refused:
    """AlterConfigs: whether these can be all that is said of this broker, or of all."""
    keys = (why_not(key, layers.file, is_of_all=is_of_all) for key in texts)
    reasons = [*filter(None, keys), *value_reasons(texts)]
    if not reasons:
        after = replace(layers, of_all=texts) if is_of_all else replace(layers, of_one=texts)
        reasons = list(change_reasons(layers.broker, after))
    return Refused(INVALID_REQUEST, "; ".join(reasons)) if reasons else dict(texts)


def usable(
    texts: Mapping[str, str], file: BrokerSettings, *, is_of_all: bool
) -> tuple[dict[str, str], list[str]]:
    """What was kept in ZooKeeper by whomever: what can be used of it, and why the rest cannot."""
    reasons = {key: why_not(key, file, is_of_all=is_of_all) for key in texts}
    good = {key: text for key, text in texts.items() if not reasons[key]}
    return good, [reason for reason in reasons.values() if reason]


def why_not(key: str, file: BrokerSettings, *, is_of_all: bool) -> str:
    """Why a key cannot be changed at all, or not for these; an unknown one may be a plugin's."""
    if key in BY_KEY and is_read_only(key):
        return f"{key} cannot be changed while the broker runs"
    if key in OF_A_LISTENER_ALONE:
        return f"{key} can be changed for one listener only: listener.name.<listener>.{key}"
    if is_of_all and is_of_one_broker(key):
        return f"{key} cannot be the same for all brokers: name one"
    if is_password(key) and file.password_encoder_secret is None:
        return f"{key} is a password, and without password.encoder.secret none is kept"
    return ""


def value_reasons(texts: Mapping[str, str]) -> Iterator[str]:
    for key, text in texts.items():
        declaration = declaration_of(key)
        if declaration is None:
            continue
        try:
            declaration.kind.read(text.strip(TRIMMED))
        except ValueError as error:
            yield f"{key}: {error}" if declaration.kind.is_secret else f"{key}={text!r}: {error}"


def change_reasons(before: BrokerSettings, layers: Layers) -> Iterator[str]:
    """What a running broker could not live with, although one that starts might."""
    try:
        after = layers.broker
    except SettingsRefused as refused:
        yield from (f"{it.key}: {it.reason}" for it in refused.problems)
        return
    for key in POOLS:
        yield from pool_reasons(key, getattr(before, FIELDS[key]), getattr(after, FIELDS[key]))
    yield from retention_reasons(after)
    yield from listener_reasons(before, after)


def pool_reasons(key: str, before: int, after: int) -> Iterator[str]:
    if not before // 2 <= after <= before * 2:
        yield f"{key} can be halved or doubled at most, and is {before}"


def retention_reasons(after: BrokerSettings) -> Iterator[str]:
    """What is kept here cannot be more than what is kept anywhere."""
    for name, local, whole in (
        ("ms", after.log_local_retention_ms, after.log_retention_ms),
        ("bytes", after.log_local_retention_bytes, after.log_retention_bytes),
    ):
        if -1 < whole < local:
            yield f"log.local.retention.{name} must not exceed log.retention.{name}, {whole}"


def listener_reasons(before: BrokerSettings, after: BrokerSettings) -> Iterator[str]:
    """A listener that stays cannot become another."""
    protocols = {it.name: it.protocol for it in before.listeners}
    for endpoint in after.listeners:
        name = endpoint.name
        if name not in protocols:
            continue
        if endpoint.protocol is not protocols[name]:
            yield f"the security protocol of listener {name} cannot be changed while it is open"
        if fixed_options(before, name) != fixed_options(after, name):
            yield f"the options of listener {name} cannot be changed while it is open"


def fixed_options(settings: BrokerSettings, listener: str) -> dict[str, str]:
    return {
        key: entry.value
        for key, entry in settings.properties.entries.items()
        if listener_of(key) == listener
        and base_of(key) not in OF_A_LISTENER_ALONE | LISTENER_LIMITS
    }
