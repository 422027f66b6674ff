"""One server of an ensemble, wired: its peers know it by its id, its clients by its address."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from odradek.runtime.disk import Disk
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.server.member import Member
from odradek.zookeeper.server.node import ZooKeeperNode, snapshot_format
from odradek.zookeeper.server.replica import Replica
from odradek.zookeeper.server.shelf import Shelf
from odradek.zookeeper.server.snapshots import Rolling, Source
from odradek.zookeeper.server.votes import Votes
from odradek.zookeeper.settings import ZooKeeperSettings
from odradek.zookeeper.settings.members import ANY_HOST, Address
from odradek.zookeeper.state.paths import CONFIG
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.recover import Recovered
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.peer import Peer
from odradek.zookeeper.zab.quorum import Membership, membership_of, read_membership
from odradek.zookeeper.zab.timing import Timing
from odradek.zookeeper.zab.window import Entry

READS_AFTER_MS_MIN = 2000

if TYPE_CHECKING:
    from odradek.zookeeper.server.standing import Standing


class MemberNode(ZooKeeperNode):
    """A server that has others: it serves clients while there is a leader, itself or another."""

    member_type: type[Member] = Member
    peer_type: type[Peer] = Peer

    def __init__(
        self,
        settings: ZooKeeperSettings,
        disk: Disk,
        random: Random,
        config_path: str | None = None,
    ) -> None:
        """`config_path` is the zoo.cfg, which names other members after a reconfiguration."""
        super().__init__(settings, disk, random)
        self.note = NodeLog(f"zookeeper {settings.server_id}")
        self.tasks = Tasks(self.note)
        self._config_path = config_path

    def _wire(self, found: Recovered) -> None:
        settings = self.settings
        assert settings.server_id is not None
        self._make_clients(found, settings.server_id)
        writer = self._make_writer()
        shelf = self._make_shelf(found)
        timing = timing_of(settings)
        self.peer = self.peer_type(settings.server_id, timing, self._history(found, shelf))
        self.member = self.member_type(
            self.peer,
            shelf,
            writer,
            self.tasks,
            self.note,
            timing=timing,
            data_bytes_max=2 * settings.jute_max_buffer_bytes,
            leader_serves=settings.leader_serves,
            hosts=self._hosts,
            reads_after_ms=reads_after_ms(settings),
        )
        self.replica = Replica(
            self.peer,
            self.clients,
            self._new_processor,
            found.timeouts,
            writer,
            self.member.wake,
            self.note,
            standalone_enabled=settings.standalone_enabled,
            has_local_sessions=settings.local_sessions_enabled,
            upgrades_sessions=settings.local_sessions_upgrading_enabled,
        )
        self.member.replica = self.replica
        self.member.votes = self._make_votes(settings.server_id)

    def _make_shelf(self, found: Recovered) -> Shelf:
        settings = self.settings
        return Shelf(
            self._disk,
            self._directories,
            self._log,
            self._load,
            base_zxid=found.base_zxid,
            size_factor=settings.snapshot_size_factor,
            parts=snapshot_format(settings),
            compression=settings.snapshot_compression.value,
            config_path=self._config_path,
        )

    def _history(self, found: Recovered, shelf: Shelf) -> History:
        settings = self.settings
        accepted_epoch, current_epoch = shelf.read_epochs(found.last_zxid)
        return History(
            membership_in_file(settings),
            accepted_epoch,
            current_epoch,
            found.last_zxid,
            [Entry(it.zxid, it.data) for it in found.recent],
            proposed=membership_in_tree(found.tree) if settings.reconfig_enabled else None,
            is_fixed=not settings.reconfig_enabled,
            committed_log_count=settings.commit_log_count,
        )

    def _make_votes(self, my_id: int) -> Votes:
        member = self.member
        return Votes(
            my_id,
            member.election_addresses(my_id),
            member.election_addresses,
            member.hear,
            member.gone,
            self.settings.cnx_timeout_ms / 1000,
            self.note,
        )

    async def _listen(self) -> None:
        me = self.settings.me
        assert me is not None
        hosts = self._hosts(me.election_addresses)
        await self.member.votes.open(hosts, me.election_addresses[0].port)
        if self.settings.client_address is not None:
            await super()._listen()

    def _hosts(self, addresses: Sequence[Address]) -> list[str] | None:
        """What to listen on: our own addresses, or all."""
        if self.settings.quorum_listen_on_all_ips:
            return None
        return [it.host for it in addresses if it.host != ANY_HOST] or None

    def _keep_house(self) -> None:
        super()._keep_house()
        self.snapshots.in_turn = self.member.journal.in_turn
        self.tasks.start("member", self.member.run())

    def _standing(self) -> Standing | None:
        from odradek.zookeeper.server.standing import Standing

        return Standing(self.member)

    def _rolling_log(self) -> Rolling:
        return self.member.journal

    def _is_leading(self) -> bool:
        return self.replica.is_leading

    async def _in_thread(self, work: Callable[[], list[str]]) -> list[str]:
        """What removes files takes its turn with what writes them."""
        return await self.member.journal.in_turn(work)

    def _snapshot_source(self) -> Source:
        return self.clients.tree, self.replica.timeouts

    async def stop(self) -> None:
        """Leave: the others will notice at once, and the disk is left in order."""
        self._close_doors()
        self.member.close()
        await self.member.journal.drain()
        await self._end()


def reads_after_ms(settings: ZooKeeperSettings) -> int | None:
    """How long there must be no leader before clients may read without one; None is for ever."""
    if not settings.read_only_mode_enabled:
        return None
    return max(READS_AFTER_MS_MIN, settings.tick_time_ms)


def timing_of(settings: ZooKeeperSettings) -> Timing:
    return Timing(
        settings.tick_time_ms,
        settings.init_limit,
        settings.sync_limit,
        connect_limit=settings.connect_to_learner_master_limit,
        connect_retry_ms=settings.leader_connect_retry_delay_ms,
        notification_min_ms=settings.min_notification_interval_ms,
        notification_max_ms=settings.max_notification_interval_ms,
    )


def membership_in_file(settings: ZooKeeperSettings) -> Membership:
    """The members as the configuration names them; our own line knows where our clients go."""
    members = dict(settings.members)
    me = settings.me
    assert me is not None and settings.server_id is not None
    members[settings.server_id] = replace(me, client_address=settings.client_address)
    return membership_of(members, settings.groups, settings.weights, settings.config_version)


def membership_in_tree(tree: Tree) -> Membership | None:
    """The newest membership that was written, if there ever was one beside the file's."""
    node = tree.get(CONFIG)
    if node is None or not node.data:
        return None
    return read_membership(node.data.decode(errors="replace"))
