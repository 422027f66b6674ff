"""Questions to the controller, whoever it is: in process if it is this broker."""

from __future__ import annotations

from collections.abc import Callable

from odradek.kafka.broker.links import Serve
from odradek.kafka.broker.metadata import Metadata
from odradek.kafka.broker.peers import Peer, PeerLost
from odradek.kafka.settings import BrokerSettings
from odradek.kafka.wire.schema import Message


class ControllerChannel:
    """The way to the controller, as UpdateMetadata last named it."""

    def __init__(
        self, broker_id: int, metadata: Metadata, settings: Callable[[], BrokerSettings]
    ) -> None:
        self.serve_own: Serve | None = None  # Set once there is a broker to serve.
        self._id = broker_id
        self._metadata = metadata
        self._settings = settings
        self._peer: Peer | None = None

    async def ask(self, message: Message, version: int) -> Message:
        """Ask the controller; its answer. Raises `PeerLost`."""
        if self._metadata.controller_id == self._id:
            assert self.serve_own is not None
            answer = await self.serve_own(message, version)
            assert answer is not None
            return answer
        return await self._peer_now().ask(message, version)

    def close(self) -> None:
        if self._peer is not None:
            self._peer.close()
            self._peer = None

    def _peer_now(self) -> Peer:
        settings = self._settings()
        endpoint = self._metadata.controller_at(settings.control_listener_name)
        if endpoint is None:
            raise PeerLost("no controller is known")
        if self._peer is None or self._peer.endpoint != endpoint:
            self.close()
            timeout_s = settings.controller_socket_timeout_ms / 1000
            self._peer = Peer(endpoint, str(self._id), timeout_s)
        return self._peer
