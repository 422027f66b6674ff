"""ControlledShutdown (key 7, versions 0-3, flexible from 3).

A broker asks the controller to move its leaderships before it stops.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Int64, Message, String, Struct, field


class ControlledShutdownRequest(Message, api_key=7, versions="0-3", flexible="3+"):
    broker_id: Int32
    broker_epoch: Int64 = field("2+", default=-1, ignorable=True)


class RemainingPartition(Struct):
    topic_name: String
    partition_index: Int32


class ControlledShutdownResponse(Message, api_key=7, versions="0-3", flexible="3+"):
    error_code: Int16
    remaining_partitions: list[RemainingPartition]
