"""A principal, as a broker forwards it inside an Envelope."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Message, String


class DefaultPrincipalData(Message, versions="0", flexible="0+"):
    type: String
    name: String
    token_authenticated: Bool
