"""A member does what its core asks for, also of what the core has left behind by then."""

from __future__ import annotations

from odradek.simulation.world import World
from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.zab.effects import Retire, Serve
from tests.zookeeper.server.ensemble import Ensemble


def test_a_role_that_ends_as_it_begins_leaves_a_server_that_looks() -> None:
    with World(seed=1) as world:
        ensemble = Ensemble(world)
        ensemble.settle()
        for id_ in (2, 3):
            ensemble.host(id_).kill()
        node = ensemble.nodes[1]
        world.run_until(lambda: node.replica.state is ServerState.LOOKING, limit_s=60)
        zxid = node.peer.history.applied_zxid
        node.peer.history.effects.append(Serve(ServerState.FOLLOWING, 2, zxid, 7))
        node.peer.history.effects.append(Retire("so soon"))
        looking_count = node.member.looking_count
        world.run_until(lambda: node.member.looking_count > looking_count, limit_s=60)
        assert node.peer.learner is None
        assert not node.clients.is_serving
        assert node.clients.tree.last_zxid == 7 << 32
