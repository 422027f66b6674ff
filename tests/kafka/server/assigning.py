"""How the leader of a simulated group shares out partitions.

Evenly: to each its part, whoever had it before. Stickily and in cooperation: whoever has something
keeps it unless it has too much, and what is to move is nobody's until it was given up.
"""

from __future__ import annotations

from odradek.kafka.wire.codec import decode
from odradek.kafka.wire.messages.consumer_protocol import ConsumerProtocolSubscription

Owned = dict[str, tuple[int, frozenset[int]]]  # By member: a generation, and what it has from it.


def owned_by(metadata: bytes) -> tuple[int, frozenset[int]]:
    """What a member says that it has, and since when."""
    subscription = decode(ConsumerProtocolSubscription, 2, bytes(metadata)[2:])
    found = frozenset(each for it in subscription.owned_partitions for each in it.partitions)
    return subscription.generation_id, found


def share_evenly(partitions: int, owned: Owned) -> dict[str, list[int]]:
    ids = sorted(owned)
    return {each: list(range(partitions))[number :: len(ids)] for number, each in enumerate(ids)}


def share_stickily(partitions: int, owned: Owned) -> dict[str, list[int]]:
    """A claim of an older generation counts for nothing: the partition is another's since."""
    latest = max(generation for generation, _ in owned.values())
    claims = {
        each: sorted(found) if generation == latest else []
        for each, (generation, found) in owned.items()
    }
    least, more = divmod(partitions, len(owned))
    shares: dict[str, list[int]] = {}
    for each in sorted(owned, key=lambda it: (-len(claims[it]), it)):
        most = least + (1 if more else 0)
        more -= 1 if more and len(claims[each]) > least else 0
        shares[each] = claims[each][:most]
    claimed = {partition for found in claims.values() for partition in found}
    free = [it for it in range(partitions) if it not in claimed]
    for partition in free:
        fewest = min(sorted(shares), key=lambda it: len(shares[it]))
        shares[fewest].append(partition)
    return shares
