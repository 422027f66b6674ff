"""Keys of one listener: `listener.name.<listener>.<key>`, perhaps with a SASL mechanism between."""

from __future__ import annotations

import re

LISTENER_KEY = re.compile(r"listener\.name\.([^.]*)\.(.*)", re.DOTALL)

# What may be said of one mechanism: `listener.name.internal.scram-sha-256.sasl.jaas.config`.
OF_A_MECHANISM = (
    "sasl.jaas.config",
    "sasl.login.class",
    "sasl.login.callback.handler.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)


def prefix_of(listener: str) -> str:
    return f"listener.name.{listener.lower()}."


def listener_of(key: str) -> str | None:
    """The listener that a key is about, in capitals as listeners are; None for other keys."""
    match = LISTENER_KEY.fullmatch(key)
    return match[1].upper() if match else None


def base_of(key: str) -> str | None:
    """The key that a listener's own one refines; None for other keys."""
    match = LISTENER_KEY.fullmatch(key)
    if match is None:
        return None
    return next((it for it in OF_A_MECHANISM if match[2].endswith(it)), match[2])
