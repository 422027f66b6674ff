"""Who may decide on a new membership, and who leads it."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.zookeeper.zab.learner_handler import LearnerHandler, Stage
from odradek.zookeeper.zab.quorum import Membership


def designate(my_id: int, membership: Membership, handlers: Iterable[LearnerHandler]) -> int:
    """The present leader, if it keeps its vote; otherwise the new voter that has acked most."""
    if my_id in membership.voters:
        return my_id
    candidates = [it for it in handlers if it.server_id in membership.voters]
    best = max(candidates, key=lambda it: (it.acked_zxid, it.server_id), default=None)
    return best.server_id if best else min(membership.voters, default=my_id)


def acking(current: Membership, handlers: Iterable[LearnerHandler]) -> list[int]:
    """The learners that ack what is proposed, and know the membership in force.

    Who does not know it may be about to lose its vote by it, and is no help with the next.
    """
    return [
        it.server_id
        for it in handlers
        if it.stage is Stage.SERVING
        and it.acked_zxid >= current.version
        and not (it.is_observer or current.is_observer(it.server_id))
    ]
