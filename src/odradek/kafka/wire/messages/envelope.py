"""Envelope (key 58, version 0, flexible from 0).

A request that one broker forwards to the controller for a client.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bytes, Int16, Message


class EnvelopeRequest(Message, api_key=58, versions="0", flexible="0+"):
    request_data: Bytes
    request_principal: Bytes | None
    client_host_address: Bytes


class EnvelopeResponse(Message, api_key=58, versions="0", flexible="0+"):
    response_data: Bytes | None = None
    error_code: Int16
