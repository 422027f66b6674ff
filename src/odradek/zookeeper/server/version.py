"""Which ZooKeeper we are, for those who ask.

Clients and monitors read the number at the start, up to the dash, and decide by it what they may
ask for. What follows says whose it is.
"""

from __future__ import annotations

PROTOCOL_VERSION = "3.9.5"
OUR_VERSION = "0.1.0.dev0"  # As pyproject.toml has it: to ask for it costs 20 ms at the start.
BUILT = "2026-11-15 00:00 UTC"
FULL_VERSION = f"{PROTOCOL_VERSION}-odradek-{OUR_VERSION}, built on {BUILT}"
