"""Which replica a consumer had better read from (KIP-392), as `replica.selector.class` says.

LeaderSelector              always the leader
RackAwareReplicaSelector    one in the consumer's rack: the leader if it is there, otherwise the
                            one that has most; without any, the leader

Only those are asked about that are in sync and have the offset: one that lags would make its
readers lag for ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

PACKAGE = "org.apache.kafka.common.replica."
RACK_AWARE = PACKAGE + "RackAwareReplicaSelector"
KNOWN = frozenset({RACK_AWARE, PACKAGE + "LeaderSelector"})


class Candidate(NamedTuple):
    """A replica that could serve."""

    broker_id: int
    rack: str | None
    end_offset: int
    behind_ms: int = 0  # Since it last had all that the leader had.


def nearest(rack: str, leader: Candidate, others: Iterable[Candidate]) -> int | None:
    """The broker to read from instead of the leader; None if the leader is the one."""
    if not rack or leader.rack == rack:
        return None
    near = [it for it in others if it.rack == rack]
    if not near:
        return None
    return max(near, key=lambda it: (it.end_offset, -it.behind_ms, -it.broker_id)).broker_id
