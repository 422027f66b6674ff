"""AllocateProducerIds (key 67, version 0, flexible from 0).

A broker asks the controller for a block of producer ids.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Int64, Message


class AllocateProducerIdsRequest(Message, api_key=67, versions="0", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64 = -1


class AllocateProducerIdsResponse(Message, api_key=67, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    producer_id_start: Int64
    producer_id_len: Int32
