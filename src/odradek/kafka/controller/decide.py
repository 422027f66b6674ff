"""What to do when brokers, topics and partitions come and go.

    New ──a replica lives──► Online ◄──elect──► Offline

A partition is new as long as it has no state, offline as long as nobody leads it. A broker that
goes leaves the ISR of what it held, but never empties it: whoever was the last in it must come
back, or a leader be chosen uncleanly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from odradek.kafka.controller.decision import Change, Decision
from odradek.kafka.controller.elections import (
    Election,
    offline_election,
    online,
    shutdown_election,
)
from odradek.kafka.controller.image import NO_LEADER, Image, LiveBroker, PartitionState, without
from odradek.kafka.storage.names import TopicPartition

AllowsUnclean = Callable[[str], bool]  # Whether a topic would rather lose records than wait.


class BrokersChanged(NamedTuple):
    """How the registered brokers differ from those we knew."""

    joined: list[int]
    bounced: list[int]
    left: list[int]
    altered: list[int]  # The same registration, with other endpoints.


def compare_brokers(image: Image, registered: Mapping[int, LiveBroker]) -> BrokersChanged:
    known, found = image.brokers, dict(registered)
    for broker_id, missing in image.missing.items():
        if broker_id in found and found[broker_id].epoch == missing.epoch:
            del found[broker_id]
    both = [it for it in sorted(found) if it in known]
    bounced = [it for it in both if found[it].epoch > known[it].epoch]
    return BrokersChanged(
        joined=[it for it in sorted(found) if it not in known],
        bounced=bounced,
        left=[it for it in sorted(known) if it not in found],
        altered=[
            it
            for it in both
            if it not in bounced and found[it].registration != known[it].registration
        ],
    )


def decide_new(image: Image, partitions: Iterable[TopicPartition]) -> Decision:
    """Give partitions their first state: all live replicas are in sync, for all are empty."""
    decision = Decision()
    for where in partitions:
        live = online(image, where, image.replicas(where))
        if where not in image.states and live:
            state = PartitionState(live[0], 0, live, image.epoch)
            decision.changes.append(Change(where, state, live, is_first=True, brings_new=live))
    return decision


def decide_elections(
    image: Image, partitions: Iterable[TopicPartition], election: Election
) -> tuple[Decision, list[TopicPartition]]:
    """Have leaders elected; also for which partitions nobody could be."""
    decision, failed = Decision(), []
    for where in partitions:
        state = image.states.get(where)
        elected = None if state is None else election(image, where, state)
        if elected is None:
            failed.append(where)
        else:
            decision.changes.append(Change(where, elected.state, elected.recipients))
    return decision, failed


def decide_online(image: Image, partitions: Iterable[TopicPartition]) -> Decision:
    """Try to bring up what is new."""
    return decide_new(image, [it for it in partitions if not image.is_being_deleted(it.topic)])


def decide_leaders(
    image: Image,
    partitions: Iterable[TopicPartition],
    allows_unclean: AllowsUnclean,
    *,
    marks_recovery: bool = True,
) -> Decision:
    """Elect leaders for those of the partitions that have none."""
    decision = Decision()
    for where in partitions:
        state = image.states.get(where)
        if state is None or image.is_being_deleted(where.topic) or image.has_leader(where):
            continue
        has_choice = any(image.is_online(it, where) for it in state.isr)
        is_unclean = not has_choice and allows_unclean(where.topic)
        election = offline_election(is_unclean=is_unclean, marks_recovery=marks_recovery)
        elected = election(image, where, state)
        if elected is not None:
            decision.changes.append(Change(where, elected.state, elected.recipients))
    return decision


def decide_offline(
    image: Image, replicas: Iterable[tuple[TopicPartition, int]], *, stops: bool = False
) -> Decision:
    """Take replicas out of their ISRs, because their brokers or disks are gone.

    With `stops`, brokers that are still there are told to stop them.
    """
    decision = Decision()
    gone: dict[TopicPartition, list[int]] = {}
    for where, broker_id in replicas:
        if not image.is_being_deleted(where.topic):
            gone.setdefault(where, []).append(broker_id)
    for where, brokers in gone.items():
        change = shrunk(image, where, brokers)
        if change is not None:
            decision.changes.append(change)
        else:
            # Nothing to write, but everybody must know which replicas are offline.
            decision.requests.tell_all([where])
        for broker_id in brokers if stops else ():
            decision.requests.stop_replica(broker_id, where, delete=False)
    return decision


def shrunk(image: Image, where: TopicPartition, gone: list[int]) -> Change | None:
    """A partition's state without these replicas; None if it is that already."""
    state = image.states.get(where)
    if state is None or not set(gone) & {state.leader, *state.isr}:
        return None
    isr = without(state.isr, gone) or state.isr[-1:]
    leader = NO_LEADER if state.leader in gone else state.leader
    if (leader, isr) == (state.leader, state.isr):
        return None
    return Change(where, state.led_by(leader, isr), without(image.replicas(where), gone))


def decide_introduced(image: Image, brokers: list[int]) -> list[Decision]:
    """Let the others know who joined, and those who joined all that there is.

    Nobody can follow a leader whose address it was not told, so this comes before LeaderAndIsr.
    """
    others, new = Decision(), Decision()
    others.requests.tell(without(image.broker_ids(), brokers))
    new.requests.tell(brokers, image.states)
    return [others, new]


def decide_joined(image: Image, brokers: list[int]) -> Decision:
    """Tell brokers that joined, or lost a disk, which replicas they are to serve."""
    decision = Decision()
    for broker_id in brokers:
        for where in image.held_by(broker_id):
            if where in image.states and not image.is_being_deleted(where.topic):
                decision.requests.lead_or_follow([broker_id], where)
    return decision


def decide_known() -> Decision:
    """Let every broker know which brokers there are."""
    decision = Decision()
    decision.requests.tell_all()
    return decision


def decide_failover(image: Image) -> Decision:
    """A new controller tells every broker all that it is to do, and all there is."""
    decision = Decision()
    for where in image.states:
        live = online(image, where, image.replicas(where))
        if not image.is_being_deleted(where.topic):
            decision.requests.lead_or_follow(live, where)
    return decision


def decide_shutdown(image: Image, broker_id: int) -> tuple[Decision, Decision]:
    """A broker is about to stop: what it leads goes to others, what it follows it stops.

    What has a single replica stays where it is.
    """
    led: list[TopicPartition] = []
    followed: list[TopicPartition] = []
    for where in image.held_by(broker_id):
        state = image.states.get(where)
        if state is None or len(image.replicas(where)) < 2 or image.is_being_deleted(where.topic):
            continue
        (led if state.leader == broker_id else followed).append(where)
    moved, _ = decide_elections(image, led, shutdown_election)
    stopped = decide_offline(image, [(where, broker_id) for where in followed], stops=True)
    return moved, stopped


def led_by(image: Image, broker_id: int) -> list[TopicPartition]:
    """The partitions that a broker leads although others could."""
    return [
        where
        for where in image.held_by(broker_id)
        if (state := image.states.get(where)) is not None
        and state.leader == broker_id
        and len(image.replicas(where)) > 1
        and not image.is_being_deleted(where.topic)
    ]


class StorageNews(NamedTuple):
    """How the replicas that a broker can serve differ from those we knew."""

    lost: list[TopicPartition]
    back: list[TopicPartition]


def take_storage_errors(
    image: Image, broker_id: int, failed: Iterable[TopicPartition], fine: Iterable[TopicPartition]
) -> StorageNews:
    """Note which replicas a broker cannot serve for its disks, and which it can again."""
    known = image.offline.setdefault(broker_id, {})
    back = [it for it in fine if it in known]
    for where in back:
        del known[where]
    lost = [it for it in failed if it not in known]
    known |= dict.fromkeys(lost)
    return StorageNews(lost, back)


def imbalanced(image: Image, percentage: int) -> list[TopicPartition]:
    """What the preferred leaders should get back, of brokers that lead too little of their own."""
    preferred: dict[int, list[TopicPartition]] = {}
    for where in image.all_partitions():
        if not image.is_being_deleted(where.topic) and (replicas := image.replicas(where)):
            preferred.setdefault(replicas[0], []).append(where)
    found = []
    for broker_id, partitions in sorted(preferred.items()):
        astray = [
            where
            for where in partitions
            if (state := image.states.get(where)) is not None and state.leader != broker_id
        ]
        if len(astray) * 100 > percentage * len(partitions):
            found += [it for it in astray if can_lead_again(image, it, broker_id)]
    return found


def can_lead_again(image: Image, where: TopicPartition, broker_id: int) -> bool:
    assignment = image.assignment(where)
    is_moving = assignment is not None and assignment.is_being_reassigned
    is_in_sync = broker_id in image.states[where].isr
    return not is_moving and is_in_sync and image.is_online(broker_id, where)
