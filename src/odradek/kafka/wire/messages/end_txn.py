"""EndTxn (key 26, versions 0-4, flexible from 3): commit or abort a transaction."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int16, Int32, Int64, Message, String


class EndTxnRequest(Message, api_key=26, versions="0-4", flexible="3+"):
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16
    committed: Bool


class EndTxnResponse(Message, api_key=26, versions="0-4", flexible="3+"):
    throttle_time_ms: Int32
    error_code: Int16
