"""WriteTxnMarkers (key 27, versions 0-1, flexible from 1).

A coordinator has commit or abort markers written.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int16, Int32, Int64, Message, String, Struct


class WritableTxnMarkerTopic(Struct):
    name: String
    partition_indexes: list[Int32]


class WritableTxnMarker(Struct):
    producer_id: Int64
    producer_epoch: Int16
    transaction_result: Bool
    topics: list[WritableTxnMarkerTopic]
    coordinator_epoch: Int32


class WriteTxnMarkersRequest(Message, api_key=27, versions="0-1", flexible="1+"):
    markers: list[WritableTxnMarker]


class WritableTxnMarkerPartitionResult(Struct):
    partition_index: Int32
    error_code: Int16


class WritableTxnMarkerTopicResult(Struct):
    name: String
    partitions: list[WritableTxnMarkerPartitionResult]


class WritableTxnMarkerResult(Struct):
    producer_id: Int64
    topics: list[WritableTxnMarkerTopicResult]


class WriteTxnMarkersResponse(Message, api_key=27, versions="0-1", flexible="1+"):
    markers: list[WritableTxnMarkerResult]
