"""InitProducerId (key 22, versions 0-5, flexible from 2).

Get a producer id and epoch, and fence older ones.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Int64, Message, String, field


class InitProducerIdRequest(Message, api_key=22, versions="0-5", flexible="2+"):
    transactional_id: String | None
    transaction_timeout_ms: Int32
    producer_id: Int64 = field("3+", default=-1)
    producer_epoch: Int16 = field("3+", default=-1)


class InitProducerIdResponse(Message, api_key=22, versions="0-5", flexible="2+"):
    throttle_time_ms: Int32
    error_code: Int16
    producer_id: Int64 = -1
    producer_epoch: Int16
