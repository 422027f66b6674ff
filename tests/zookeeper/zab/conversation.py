"""One peer, spoken to by hand: what it is told goes in, what it wants done comes out as words."""

from __future__ import annotations

from odradek.zookeeper.wire.codes import PacketType, ServerState
from odradek.zookeeper.wire.election import Notification
from odradek.zookeeper.wire.messages.quorum import QuorumPacket
from odradek.zookeeper.zab import effects as fx
from odradek.zookeeper.zab import packets
from odradek.zookeeper.zab.configuration import Configuration
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.packets import packet
from odradek.zookeeper.zab.peer import Peer
from odradek.zookeeper.zab.quorum import Membership
from odradek.zookeeper.zab.timing import Timing
from odradek.zookeeper.zab.window import Entry
from tests.zookeeper.zab.ensemble import membership
from tests.zookeeper.zab.singles import singles

TIMING = Timing(tick_ms=2000, init_limit=10, sync_limit=5)


class Conversation:
    """A peer at a time that only moves when told."""

    def __init__(self, my_id: int, history: History, members: Membership | None = None) -> None:
        self.now_ms = 1000
        self.history = history
        if members:
            history.configuration = Configuration(members)
        self.peer = Peer(my_id, TIMING, history)
        self.peer.start(self.now_ms)
        self.sent: list[QuorumPacket] = []

    def follow(self, leader: int = 3) -> list[str]:
        """Let a quorum say whom it follows; the first link is asked for then."""
        for server_id in (2 if leader != 2 else 1, leader):
            state = ServerState.LEADING if server_id == leader else ServerState.FOLLOWING
            self.peer.hear(server_id, Notification(state, leader, 0, 1, 0), self.now_ms)
        return self.take()

    def lead(self, *voters: int) -> list[str]:
        """Let these vote for us, and wait for the others in vain."""
        me = self.peer.my_id
        vote = self.history.last_zxid, self.peer.round, self.history.current_epoch
        for server_id in voters or (1, 2):
            self.peer.hear(server_id, Notification(ServerState.LOOKING, me, *vote), self.now_ms)
        self.wait(TIMING.finalize_ms)
        return self.take()

    def wait(self, duration_ms: int) -> list[str]:
        self.now_ms += duration_ms
        self.peer.tick(self.now_ms)
        return self.take()

    def arrive(self, server_id: int, accepted_epoch: int = 0, *, observes: bool = False) -> int:
        """Connect as a learner and say so; what is answered stays to be taken."""
        link = self.peer.accept(self.now_ms)
        assert link is not None
        type_ = PacketType.OBSERVERINFO if observes else PacketType.FOLLOWERINFO
        self.peer.receive(link, [learner_info(type_, accepted_epoch, server_id)], self.now_ms)
        return link

    def say(self, link: int, *said: QuorumPacket) -> list[str]:
        for each in said:
            self.peer.receive(link, [each], self.now_ms)
        return self.take()

    def say_at_once(self, link: int, *said: QuorumPacket) -> list[str]:
        self.peer.receive(link, said, self.now_ms)
        return self.take()

    def written(self) -> list[str]:
        """All that the disk was asked for is durable."""
        self.peer.durable(self.history.mark, self.now_ms)
        return self.take()

    def take(self) -> list[str]:
        """What is to be done, in words, without what belongs to elections or is only told."""
        effects = self.peer.take_effects()
        self.sent += [packet for it in effects if isinstance(it, fx.Send) for packet in it.packets]
        return [word for word in map(words, singles(effects)) if word]


def learner_info(type_: PacketType, accepted_epoch: int, server_id: int) -> QuorumPacket:
    return packets.learner_info(type_, accepted_epoch, server_id, 0)


def words(effect: fx.Effect) -> str:
    match effect:
        case fx.Send():
            (packet,) = effect.packets
            name = PacketType(packet.type).name
            return f"send {','.join(map(str, effect.links))} {name} {packet.zxid:#x}"
        case fx.Log() | fx.Commit():
            return f"{type(effect).__name__.lower()} {effect.entries[0].zxid:#x}"
        case fx.Truncate():
            return f"truncate {effect.zxid:#x}"
        case fx.InstallSnapshot():
            return f"install {effect.zxid:#x}"
        case fx.WriteEpoch():
            return f"write {effect.file.value} {effect.epoch}"
        case fx.Serve():
            return f"serve {effect.state.name} {effect.zxid:#x}"
        case fx.SendSnapshot() | fx.ReadLog():
            name = "snapshot" if isinstance(effect, fx.SendSnapshot) else "read log"
            return f"{name} {effect.link} {effect.zxid:#x}"
        case fx.Connect():
            return f"connect {effect.link} to {effect.server_id}"
        case fx.Close():
            return f"close {effect.link}"
        case fx.Retire():
            return f"retire: {effect.reason}"
        case fx.Tell() | fx.Notify():
            return ""
        case _:
            return type(effect).__name__


def fresh(accepted: int = 0, current: int = 0, last_zxid: int = 0, *recent: int) -> History:
    """A history with these entries at its end, all of them applied."""
    return History(membership(3), accepted, current, last_zxid, [entry(zxid) for zxid in recent])


def entry(zxid: int) -> Entry:
    return Entry(zxid, b"%x" % zxid)


def proposal(zxid: int) -> QuorumPacket:
    return packet(PacketType.PROPOSAL, zxid, entry(zxid).data)


def commit(zxid: int) -> QuorumPacket:
    return packet(PacketType.COMMIT, zxid)
