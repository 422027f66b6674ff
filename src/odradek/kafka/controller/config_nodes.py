"""What is in the znodes of configs, and in the notifications that one has changed.

An entity is named by its path below `/config`: `topics/orders`, `brokers/7`, `brokers/<default>`,
`users/u%201/clients/<default>`, `ips/10.0.0.1`.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.kafka.controller.znodes import checked, dumped, parsed

OLD_TYPES = ("topics", "clients")  # All that notifications of version 1 can be about.


def write_config(texts: Mapping[str, str]) -> bytes:
    return dumped({"version": 1, "config": dict(texts)})


def read_config(data: bytes) -> dict[str, str]:
    """What is said of an entity; a node without data says nothing."""
    if not data:
        return {}
    value = parsed(data)
    with checked("a config"):
        return {str(key): str(text) for key, text in value["config"].items()}


def write_change(entity_path: str) -> bytes:
    return dumped({"version": 2, "entity_path": entity_path})


def read_change(data: bytes) -> str:
    """The entity that a notification is about. Raises `BadZnode`."""
    value = parsed(data)
    with checked("a notification of a config"):
        if value["version"] == 1:
            if value["entity_type"] not in OLD_TYPES:
                raise ValueError(f"no such type: {value['entity_type']}")
            return f"{value['entity_type']}/{value['entity_name']}"
        return str(value["entity_path"])
