"""AlterClientQuotas (key 49, versions 0-1, flexible from 1).

Change quotas by user, client id and ip.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Float64, Int16, Int32, Message, String, Struct


class EntityData(Struct):
    entity_type: String
    entity_name: String | None


class OpData(Struct):
    key: String
    value: Float64
    remove: Bool


class AlterClientQuotasRequestEntryData(Struct):
    entity: list[EntityData]
    ops: list[OpData]


class AlterClientQuotasRequest(Message, api_key=49, versions="0-1", flexible="1+"):
    entries: list[AlterClientQuotasRequestEntryData]
    validate_only: Bool


class AlterClientQuotasResponseEntryData(Struct):
    error_code: Int16
    error_message: String | None
    entity: list[EntityData]


class AlterClientQuotasResponse(Message, api_key=49, versions="0-1", flexible="1+"):
    throttle_time_ms: Int32
    entries: list[AlterClientQuotasResponseEntryData]
