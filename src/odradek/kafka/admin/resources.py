"""Whose settings are to be altered, and what they would be then.

Each resource of a request stands for itself: one that is refused does not keep the others from
being altered. Only this broker's own settings, those of all brokers and those of topics can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum

from odradek.kafka.admin.names import refuse_name
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.settings.alterations import Alteration, Operation, Refused, altered
from odradek.kafka.settings.broker_alterations import decide_broker_settings
from odradek.kafka.settings.dynamic import declaration_of, is_password
from odradek.kafka.settings.layers import Layers
from odradek.kafka.settings.topic_alterations import (
    decide_topic_alterations,
    decide_topic_settings,
)
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages import alter_configs, incremental_alter_configs

OF_ALL_BROKERS = "brokers/<default>"
OPERATIONS = frozenset(Operation)

Resource = alter_configs.AlterConfigsResource | incremental_alter_configs.AlterConfigsResource


class ResourceType(IntEnum):
    """What has settings, as a number that travels."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16


def refuse_request(reason: str) -> Refusal:
    return Refusal(ErrorCode.INVALID_REQUEST, reason)


def refuse_twice(resources: Sequence[Resource]) -> list[Refusal | None]:
    """For each resource: whether it is refused because it is there more than once."""
    names = [(it.resource_type, it.resource_name) for it in resources]
    times = Counter(names)
    refusal = refuse_request("Each resource must appear at most once.")
    return [refusal if times[name] > 1 else None for name in names]


def refuse_entries(resource: Resource) -> Refusal | None:
    """What is wrong with the list of changes itself."""
    keys = [it.name for it in resource.configs]
    if len(set(keys)) < len(keys):
        return refuse_request("Error due to duplicate config keys")
    nulls = [it.name for it in resource.configs if it.value is None and not is_deletion(it)]
    if nulls:
        return refuse_request(f"Null value not supported for : {', '.join(nulls)}")
    unknown = [code for it in resource.configs if (code := operation_code(it)) not in OPERATIONS]
    return refuse_request(f"Unknown operations type {unknown[0]}") if unknown else None


def operation_code(
    entry: alter_configs.AlterableConfig | incremental_alter_configs.AlterableConfig,
) -> int:
    if isinstance(entry, incremental_alter_configs.AlterableConfig):
        return entry.config_operation
    return Operation.SET


def is_deletion(
    entry: alter_configs.AlterableConfig | incremental_alter_configs.AlterableConfig,
) -> bool:
    return operation_code(entry) == Operation.DELETE


def entity_path(resource: Resource, broker_id: int, topics: Collection[str]) -> str | Refusal:
    """Where the settings of a resource are kept, under /config."""
    if resource.resource_type == ResourceType.BROKER:
        return broker_path(resource.resource_name, broker_id)
    if resource.resource_type == ResourceType.TOPIC:
        return topic_path(resource.resource_name, topics)
    if resource.resource_type == ResourceType.CLIENT_METRICS:
        return refuse_request("Only settings of topics and brokers can be altered")
    return refuse_request(f"Unknown resource type {resource.resource_type}")


def broker_path(name: str, broker_id: int) -> str | Refusal:
    if not name:
        return OF_ALL_BROKERS
    refusal = refuse_broker(name, broker_id)
    return refusal or f"brokers/{broker_id}"


def refuse_broker(name: str, broker_id: int) -> Refusal | None:
    """A broker speaks for itself alone."""
    try:
        given = int(name)
    except ValueError:
        return refuse_request(f"Broker id must be an integer, but it is: {name}")
    if given == broker_id:
        return None
    return refuse_request(f"Unexpected broker id, expected {broker_id}, but received {name}")


def topic_path(name: str, topics: Collection[str]) -> str | Refusal:
    if not name:
        return refuse_request("Default topic resources are not allowed.")
    if name not in topics:
        reason = f"The topic '{name}' does not exist."
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
    return refuse_name(name) or f"topics/{name}"


def decide_resource(
    resource: Resource, path: str, kept: Mapping[str, str], layers: Layers
) -> dict[str, str] | Refusal:
    """What would be kept for a resource, of which this is kept now.

    Passwords are kept encrypted, so they are neither read nor written here: those that nobody
    speaks of stay as they are.
    """
    secrets = {key: text for key, text in kept.items() if is_secret(path, key)}
    texts = {key: text for key, text in kept.items() if key not in secrets}
    if isinstance(resource, alter_configs.AlterConfigsResource):
        secrets.clear()
        after = decide_whole(resource.configs, path, layers)
    else:
        alterations = [
            Alteration(it.name, Operation(it.config_operation), it.value) for it in resource.configs
        ]
        for it in alterations:
            secrets.pop(it.key, None)
        after = decide_alterations(alterations, path, texts, layers)
    if isinstance(after, Refused):
        return Refusal(ErrorCode(after.code), after.message)
    if passwords := [key for key in after if is_secret(path, key)]:
        reason = f"{', '.join(passwords)}: this broker cannot keep passwords in ZooKeeper"
        return refuse_request(reason)
    return secrets | after


def is_secret(path: str, key: str) -> bool:
    return path.startswith("brokers/") and is_password(key)


def decide_whole(
    entries: Iterable[alter_configs.AlterableConfig], path: str, layers: Layers
) -> dict[str, str] | Refused:
    texts = {it.name: it.value or "" for it in entries}
    if path.startswith("topics/"):
        return decide_topic_settings(layers, texts)
    return decide_broker_settings(layers, texts, is_of_all=path == OF_ALL_BROKERS)


def decide_alterations(
    alterations: list[Alteration], path: str, kept: Mapping[str, str], layers: Layers
) -> dict[str, str] | Refused:
    if path.startswith("topics/"):
        return decide_topic_alterations(layers, kept, alterations)
    # What is kept may be newer than what is in force, and need not be usable.
    texts = altered(kept, alterations, declaration_of)
    if isinstance(texts, Refused):
        return texts
    return decide_broker_settings(layers, texts, is_of_all=path == OF_ALL_BROKERS)
