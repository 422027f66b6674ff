"""Questions to other brokers, by their ids: one connection to each, made when it is needed."""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.peers import Peer, PeerLost
from odradek.kafka.wire.schema import Message


class BrokerPeers:
    """The other brokers, as one part of this one knows them."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._peers: dict[int, Peer] = {}

    async def ask(self, broker_id: int, message: Message, version: int) -> Message:
        """Ask a broker; its answer. Raises `PeerLost`."""
        settings = self._broker.settings
        listener = settings.inter_broker_listener_name
        endpoint = self._broker.metadata.endpoint(broker_id, listener)
        if endpoint is None:
            raise PeerLost(f"broker {broker_id} has no address now")
        peer = self._peers.get(broker_id)
        if peer is None or peer.endpoint != endpoint:
            if peer is not None:
                peer.close()
            timeout_s = settings.request_timeout_ms / 1000
            peer = self._peers[broker_id] = Peer(endpoint, str(self._broker.id), timeout_s)
        # Handlers ask before they have a task, and a time limit needs one.
        return await asyncio.create_task(peer.ask(message, version))

    def close(self) -> None:
        for peer in self._peers.values():
            peer.close()
        self._peers.clear()
