"""FindCoordinator (key 10, versions 0-6, flexible from 3).

Which broker coordinates a group or a transaction.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int8, Int16, Int32, Message, String, Struct, field


class FindCoordinatorRequest(Message, api_key=10, versions="0-6", flexible="3+"):
    key: String = field("0-3")
    key_type: Int8 = field("1+")
    coordinator_keys: list[String] = field("4+")


class Coordinator(Struct):
    key: String
    node_id: Int32
    host: String
    port: Int32
    error_code: Int16
    error_message: String | None


class FindCoordinatorResponse(Message, api_key=10, versions="0-6", flexible="3+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    error_code: Int16 = field("0-3")
    error_message: String | None = field("1-3", ignorable=True)
    node_id: Int32 = field("0-3")
    host: String = field("0-3")
    port: Int32 = field("0-3")
    coordinators: list[Coordinator] = field("4+")
