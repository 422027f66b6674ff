"""What whole servers tell the ledger is what they did."""

from __future__ import annotations

from odradek.simulation.world import World
from odradek.zookeeper.state.asker import NOBODY
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.data import open_acl
from odradek.zookeeper.wire.messages.requests import CreateRequest
from tests.zookeeper.server.ensemble import TICK_MS, Ensemble, read_names
from tests.zookeeper.server.ledger import Ledger
from tests.zookeeper.server.watched import watched_by

SILENCE_MS = 4 * TICK_MS  # More than syncLimit allows.


def test_what_a_leader_proposed_in_its_last_turn_was_proposed() -> None:
    """Its own disk gets it and nobody else; if it leads again, it brings that along."""
    ledger = Ledger()
    with World(seed=1) as world:
        ensemble = Ensemble(world, node_type=watched_by(ledger))
        ensemble.settle()
        node = ensemble.nodes[ensemble.leader]
        request = CreateRequest("/last", b"", open_acl(), 0)
        node.replica.propose(NOBODY, 0, Op.CREATE, request, None)
        zxid = node.replica.processor.zxid
        node.peer.tick(node.member.now_ms() + SILENCE_MS)
        assert node.peer.leader is None
        world.run_until(lambda: not node.replica.is_leading)
        ensemble.settle()
        assert ensemble.do(read_names()) == ["last"]
    assert zxid in [it.zxid for it in ledger.delivered]
