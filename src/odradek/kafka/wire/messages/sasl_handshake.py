"""SaslHandshake (key 17, versions 0-1, never flexible): choose a SASL mechanism."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Message, String


class SaslHandshakeRequest(Message, api_key=17, versions="0-1"):
    mechanism: String


class SaslHandshakeResponse(Message, api_key=17, versions="0-1"):
    error_code: Int16
    mechanisms: list[String]
