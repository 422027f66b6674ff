"""What group coordinators count, from the start of their broker on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class GroupFigures:
    """Shared by all shards of a broker."""

    offsets_committed: int = 0
    offsets_expired: int = 0
    offsets_deleted: int = 0  # Because somebody asked for it.
    rebalances_completed: int = 0  # Their assignments are in the log.
