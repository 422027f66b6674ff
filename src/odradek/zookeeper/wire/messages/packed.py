"""Answers as a server writes them: with a stat that is packed already.

On the wire each is the same as the response after which it is named. A server has the numbers of a
stat in a znode, and packs them at once; to put them into a record first would double the cost.
"""

from __future__ import annotations

from typing import Annotated

from odradek.zookeeper.wire.jute import Buffer, Record, String

StatBytes = Annotated[bytes, "68s"]  # A Stat has no field without a fixed size.


class PackedStat(Record):
    """ExistsResponse, SetDataResponse, SetACLResponse."""

    stat: StatBytes


class PackedData(Record):
    """GetDataResponse."""

    data: Buffer | None
    stat: StatBytes


class PackedCreate2(Record):
    """Create2Response."""

    path: String
    stat: StatBytes
