"""Replicas and leaderships that move because somebody asked for it, by an API or by a znode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from odradek.kafka.broker.deleting import Deleting
from odradek.kafka.broker.office import Office
from odradek.kafka.controller import decide, deletion, paths, reassignment, znodes
from odradek.kafka.controller.elections import Election, offline_election, preferred_election
from odradek.kafka.controller.image import Assignment, without
from odradek.kafka.controller.reassignment import FINE, Verdict
from odradek.kafka.controller.versions import WITH_RECOVERY
from odradek.kafka.controller.writes import Delete, Set
from odradek.kafka.controller.znodes import BadZnode
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode

PREFERRED = 0  # Of the types that ElectLeaders knows; the other is unclean.
Targets = Mapping[TopicPartition, Sequence[int] | None]


class Moving:
    """What is being moved, on behalf of a controller."""

    def __init__(self, office: Office, deleting: Deleting) -> None:
        self._office = office
        self._deleting = deleting
        self._image = office.image

    # Replicas

    async def reassign(self, targets: Targets) -> dict[TopicPartition, Verdict]:
        """Begin to move replicas to these targets; None cancels."""
        verdicts: dict[TopicPartition, Verdict] = {}
        for where, target in targets.items():
            judged = reassignment.judge_target(self._image, where, target)
            if isinstance(judged, Verdict):
                verdicts[where] = judged
            else:
                verdicts[where] = FINE
                await self._start(where, judged)
        return verdicts

    async def take_znode(self, data: bytes) -> None:
        """What old tools ask for by /admin/reassign_partitions."""
        try:
            targets = znodes.read_reassignments(data)
        except BadZnode as error:
            self._office.note.error("%s: %s", paths.REASSIGN_PARTITIONS, error)
            targets = {}
        fresh = {it: to for it, to in targets.items() if not self._is_on_its_way(it, to)}
        verdicts = await self.reassign(fresh)
        for where, verdict in verdicts.items():
            if verdict.error:
                self._office.note.warning("%s stays: %s", where, verdict.message)
        await self._forget_done(targets)

    async def go_on(self, where: TopicPartition) -> None:
        """Go on with a move: finish it if its target is in sync, else see that all know of it."""
        assignment = self._image.assignment(where)
        if assignment is None or not assignment.is_being_reassigned:
            return
        deletion.hold_deletion(self._image, [where.topic])
        if reassignment.is_complete(self._image, where):
            await self._finish(where, assignment)
        else:
            await self._settle(where, reassignment.decide_started)

    async def finish_if_complete(self, where: TopicPartition) -> None:
        """Somebody joined an ISR: that may have been what was waited for."""
        if where in self._image.moving and reassignment.is_complete(self._image, where):
            await self.go_on(where)

    async def _start(self, where: TopicPartition, assignment: Assignment) -> None:
        before = self._image.assignment(where)
        assert before is not None
        if assignment != before:
            await self._put(where, assignment)
            await self._remove(where, without(before.replicas, assignment.replicas))
        if assignment.is_being_reassigned:
            await self.go_on(where)
        else:
            await self._finish(where, assignment)

    async def _finish(self, where: TopicPartition, assignment: Assignment) -> None:
        final = Assignment(assignment.target)
        self._image.put_assignment(where, final)
        await self._settle(where, reassignment.decide_moved_leader)
        await self._remove(where, assignment.removing)
        await self._put(where, final)
        self._office.tell_about([where])
        await self._forget_finished()
        deletion.resume_deletion(self._image, [where.topic])
        await self._deleting.go_on()

    async def _remove(self, where: TopicPartition, removed: Sequence[int]) -> None:
        """Nobody counts on these replicas any more; then they can be deleted."""
        await self._office.take_offline((where, it) for it in removed)
        self._office.tell(reassignment.deleted(where, removed))

    async def _settle(self, where: TopicPartition, choose: reassignment.DecideOne) -> None:
        await self._office.settle([where], lambda _: choose(self._image, where))

    async def _put(self, where: TopicPartition, assignment: Assignment) -> None:
        write = reassignment.write_assignment(self._image, where, assignment)
        await self._office.write([(write,)])
        self._image.put_assignment(where, assignment)

    def _is_on_its_way(self, where: TopicPartition, target: Sequence[int]) -> bool:
        current = self._image.assignment(where)
        return where in self._image.moving and current is not None and current.target == target

    async def _forget_finished(self) -> None:
        found = await self._office.keeper.read(paths.REASSIGN_PARTITIONS)
        if found is not None:
            try:
                await self._forget_done(znodes.read_reassignments(found[0]))
            except BadZnode as error:
                self._office.note.error("%s: %s", paths.REASSIGN_PARTITIONS, error)

    async def _forget_done(self, asked: Mapping[TopicPartition, tuple[int, ...]]) -> None:
        """Take out of the znode what is not moving; without anything left it goes."""
        left = {it: to for it, to in asked.items() if it in self._image.moving}
        if not left:
            await self._office.write([(Delete(paths.REASSIGN_PARTITIONS),)])
        elif left != asked:
            data = znodes.write_reassignments(left)
            await self._office.write([(Set(paths.REASSIGN_PARTITIONS, data),)])

    # Leaderships

    async def elect(
        self, partitions: Iterable[TopicPartition], election_type: int
    ) -> dict[TopicPartition, Verdict]:
        """Have leaders elected where that makes a difference."""
        verdicts, wanted = self._judge_elections(partitions, election_type)
        election: Election = preferred_election
        missing = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
        if election_type != PREFERRED:
            marks = self._office.settings.inter_broker_protocol_version >= WITH_RECOVERY
            election = offline_election(is_unclean=True, marks_recovery=marks)
            missing = ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        _, failed = decide.decide_elections(self._image, wanted, election)
        verdicts |= {it: Verdict(missing, f"No leader can be elected for {it}.") for it in failed}
        able = [it for it in wanted if it not in verdicts]
        choose = partial(decide.decide_elections, self._image, election=election)
        await self._office.settle(able, lambda left: choose(left)[0])
        return verdicts | dict.fromkeys(able, FINE)

    async def take_preferred_znode(self, data: bytes) -> None:
        """What old tools ask for by /admin/preferred_replica_election."""
        try:
            await self.elect(znodes.read_partitions(data), PREFERRED)
        except BadZnode as error:
            self._office.note.error("%s: %s", paths.PREFERRED_ELECTION, error)
        await self._office.write([(Delete(paths.PREFERRED_ELECTION),)])

    async def balance(self) -> None:
        """Give leaderships back to those who are the first choice for them."""
        percentage = self._office.settings.leader_imbalance_per_broker_percentage
        await self.elect(decide.imbalanced(self._image, percentage), PREFERRED)

    def _judge_elections(
        self, partitions: Iterable[TopicPartition], election_type: int
    ) -> tuple[dict[TopicPartition, Verdict], list[TopicPartition]]:
        verdicts: dict[TopicPartition, Verdict] = {}
        wanted: list[TopicPartition] = []
        for where in partitions:
            state = self._image.states.get(where)
            if self._image.assignment(where) is None or state is None:
                verdicts[where] = reassignment.UNKNOWN
            elif self._image.is_being_deleted(where.topic):
                verdicts[where] = Verdict(
                    ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic is being deleted."
                )
            elif (
                state.leader == self._image.replicas(where)[0]
                if election_type == PREFERRED
                else self._image.has_leader(where)
            ):
                verdicts[where] = Verdict(ErrorCode.ELECTION_NOT_NEEDED)
            else:
                wanted.append(where)
        return verdicts, wanted
