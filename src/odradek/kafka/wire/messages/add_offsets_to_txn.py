"""AddOffsetsToTxn (key 25, versions 0-4, flexible from 3).

Tell the coordinator that a transaction will commit offsets of a group.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Int64, Message, String


class AddOffsetsToTxnRequest(Message, api_key=25, versions="0-4", flexible="3+"):
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16
    group_id: String


class AddOffsetsToTxnResponse(Message, api_key=25, versions="0-4", flexible="3+"):
    throttle_time_ms: Int32
    error_code: Int16
