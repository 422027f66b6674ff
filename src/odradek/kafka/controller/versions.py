"""In which versions brokers are spoken to, which `inter.broker.protocol.version` says.

There is no ApiVersions exchange on the way from the controller: all brokers of a cluster are at
least as new as the protocol that they agreed on.
"""

from __future__ import annotations

from dataclasses import dataclass

from odradek.kafka.settings.versions import BY_TEXT, Version

LEADER_AND_ISR = {"3.4-IV0": 7, "3.2-IV0": 6, "2.8-IV1": 5, "2.4-IV1": 4, "2.4-IV0": 3}
LEADER_AND_ISR |= {"2.2-IV0": 2, "1.0-IV0": 1}
UPDATE_METADATA = {"3.4-IV0": 8, "2.8-IV1": 7, "2.4-IV1": 6, "2.2-IV0": 5, "1.0-IV0": 4}
UPDATE_METADATA |= {"0.10.2-IV0": 3, "0.10.0-IV1": 2, "0.9.0": 1}
STOP_REPLICA = {"3.4-IV0": 4, "2.6-IV0": 3, "2.4-IV1": 2, "2.2-IV0": 1}
CONTROLLED_SHUTDOWN = {"2.4-IV1": 3, "2.2-IV0": 2, "0.9.0": 1}
FETCH = {"3.9-IV0": 17, "3.7-IV4": 16, "3.5-IV1": 15, "3.5-IV0": 14, "3.1-IV0": 13, "2.7-IV1": 12}
FETCH |= {"2.3-IV1": 11, "2.1-IV2": 10, "2.0-IV1": 8, "1.1-IV0": 7, "0.11.0-IV1": 5}
FETCH |= {"0.11.0-IV0": 4, "0.10.1-IV1": 3, "0.10.0-IV0": 2, "0.9.0": 1}
OFFSET_FOR_LEADER_EPOCH = {"2.8-IV0": 4, "2.3-IV1": 3, "2.1-IV1": 2, "2.0-IV0": 1}
LIST_OFFSETS = {"3.9-IV0": 9, "3.5-IV0": 8, "3.0-IV1": 7, "2.8-IV0": 6, "2.2-IV1": 5, "2.1-IV1": 4}
LIST_OFFSETS |= {"2.0-IV1": 3, "0.11.0-IV0": 2, "0.10.1-IV2": 1}
WITH_TOPIC_IDS = BY_TEXT["2.8-IV0"]
WITH_RECOVERY = BY_TEXT["3.2-IV0"]
WITH_FEATURES = BY_TEXT["2.7-IV0"]
WITH_NEWER_FEATURE_NODE = BY_TEXT["3.3-IV0"]


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions to use, and the listener that brokers use among themselves."""

    listener: str
    leader_and_isr: int = 7
    update_metadata: int = 8
    stop_replica: int = 4
    controlled_shutdown: int = 3


def versions_for(protocol: Version, listener: str) -> Versions:
    return Versions(
        listener,
        newest(LEADER_AND_ISR, protocol),
        newest(UPDATE_METADATA, protocol),
        newest(STOP_REPLICA, protocol),
        newest(CONTROLLED_SHUTDOWN, protocol),
    )


def newest(since: dict[str, int], protocol: Version) -> int:
    """The first in the table, newest first, that this protocol already has."""
    return next((it for text, it in since.items() if protocol >= BY_TEXT[text]), 0)
