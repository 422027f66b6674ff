"""The ensemble: who its servers are, who of them votes, and how patient they are.

A single `server.N` line is no ensemble, unless `standaloneEnabled=false` says that it may grow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import Alias, prefixed, setting
from odradek.runtime.kinds import BOOLEAN, INT, LONG, STRING
from odradek.zookeeper.settings.kinds import (
    CONFIG_VERSION,
    PROPERTY_INT,
    PROPERTY_LONG,
    YES_OR_NO,
)
from odradek.zookeeper.settings.members import GROUP, MEMBER, ROLE, Member, Role

# Not a key of the file: `load` finds the id in a file of its own.
MYID = "dataDir/myid"


class MembershipSettings(Chapter):
    """Who is in the ensemble."""

    server_id: int | None = setting(MYID, LONG, default=None)
    members: Mapping[int, Member] = prefixed("server.", MEMBER, names=LONG)
    groups: Mapping[int, tuple[int, ...]] = prefixed("group.", GROUP, names=LONG)
    weights: Mapping[int, int] = prefixed("weight.", LONG, names=LONG)
    config_version: int = setting("version", CONFIG_VERSION, default=0)
    dynamic_config_file: str | None = setting("dynamicConfigFile", STRING, default=None)
    given_peer_type: Role = setting("peerType", ROLE, default=Role.PARTICIPANT)
    standalone_enabled: bool = setting("standaloneEnabled", BOOLEAN, default=True)
    reconfig_enabled: bool = setting("reconfigEnabled", BOOLEAN, default=False)
    multi_address_enabled: bool = setting("multiAddress.enabled", BOOLEAN, default=False)
    multi_address_reachability_check_enabled: bool = setting(
        "multiAddress.reachabilityCheckEnabled", BOOLEAN, default=True
    )
    multi_address_reachability_check_timeout_ms: int = setting(
        "multiAddress.reachabilityCheckTimeoutMs", INT, default=1000
    )
    oracle_path: str | None = setting("oraclePath", STRING, default=None)

    @property
    def voters(self) -> Mapping[int, Member]:
        return {id_: it for id_, it in self.members.items() if it.role is Role.PARTICIPANT}

    @property
    def observers(self) -> Mapping[int, Member]:
        return {id_: it for id_, it in self.members.items() if it.role is Role.OBSERVER}

    @property
    def is_distributed(self) -> bool:
        return not self.standalone_enabled or len(self.voters) > 1

    @property
    def me(self) -> Member | None:
        """This server's own line."""
        return None if self.server_id is None else self.members.get(self.server_id)

    @property
    def role(self) -> Role:
        """The list of servers is right, whatever `peerType` says."""
        return self.me.role if self.me else Role.PARTICIPANT

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if not self.voters and not self.standalone_enabled:
            yield "standaloneEnabled", "needs at least one participant among the servers if false"
        elif self.observers and not self.is_distributed:
            yield f"server.{min(self.observers)}", "observes, but there is no quorum to observe"
        for id_, member in self.members.items():
            if len(member.endpoints) > 1 and not self.multi_address_enabled:
                yield f"server.{id_}", "has several addresses, but multiAddress.enabled is not true"
        yield from self._group_disagreements()
        if self.is_distributed:
            yield from self._id_disagreements()

    def cautions(self) -> Iterator[tuple[str, str]]:
        if self.is_distributed and len(self.voters) <= 2:
            yield first_key(self.voters), "with fewer than three voters no failure is survived"
        elif len(self.voters) > 2 and len(self.voters) % 2 == 0:
            yield first_key(self.voters), "an even number of voters survives no more than one less"
        elif self.members and not self.is_distributed:
            yield first_key(self.members), "a single server is run standalone"
        if self.members and self.role is not self.given_peer_type:
            yield "peerType", f"the list of servers says {self.role.value}, and the list counts"

    def _group_disagreements(self) -> Iterator[tuple[str, str]]:
        if not self.groups and not self.weights:
            return
        grouped: set[int] = set()
        for group, ids in self.groups.items():
            if twice := sorted(grouped.intersection(ids)):
                yield f"group.{group}", f"server {twice[0]} is in another group too"
            grouped.update(ids)
        for id_ in sorted(self.voters.keys() - grouped):
            yield f"server.{id_}", "is in no group, but there are groups"

    def _id_disagreements(self) -> Iterator[tuple[str, str]]:
        if self.server_id is None:
            yield MYID, "is missing: a server of an ensemble must know its id"
        elif self.me is None:
            yield MYID, f"there is no server.{self.server_id}"


class QuorumSettings(Chapter):
    """How the servers of an ensemble find a leader and stay with it; limits are in ticks."""

    init_limit: int = setting("initLimit", INT.at_least(0), default=0)
    sync_limit: int = setting("syncLimit", INT.at_least(0), default=0)
    given_connect_to_learner_master_limit: int = setting(
        "connectToLearnerMasterLimit", INT, default=0
    )
    election_alg: int = setting("electionAlg", INT.one_of(3), default=3)
    leader_serves: bool = setting("leaderServes", YES_OR_NO, default=True)
    cnx_timeout_ms: int = setting("cnxTimeout", INT, default=5000)
    quorum_cnxn_timeout_ms: int = setting("quorumCnxnTimeoutMs", PROPERTY_INT, default=-1)
    election_port_bind_retry: int = setting("electionPortBindRetry", PROPERTY_INT, default=3)
    quorum_listen_on_all_ips: bool = setting("quorumListenOnAllIPs", BOOLEAN, default=False)
    tcp_keep_alive: bool = setting("tcpKeepAlive", BOOLEAN, default=False)
    min_notification_interval_ms: int = setting(
        "fastleader.minNotificationInterval", PROPERTY_INT, default=200
    )
    max_notification_interval_ms: int = setting(
        "fastleader.maxNotificationInterval", PROPERTY_INT, default=60_000
    )
    max_time_to_wait_for_epoch_ms: int = setting(
        "leader.maxTimeToWaitForEpoch", PROPERTY_INT, default=-1
    )
    max_concurrent_snap_syncs: int = setting(
        "leader.maxConcurrentSnapSyncs", PROPERTY_INT, default=10
    )
    max_concurrent_diff_syncs: int = setting(
        "leader.maxConcurrentDiffSyncs", PROPERTY_INT, default=100
    )
    force_snapshot_sync: bool = setting("forceSnapshotSync", BOOLEAN, default=False)
    learner_async_sending: bool = setting("learner.asyncSending", BOOLEAN, default=False)
    leader_connect_retry_delay_ms: int = setting(
        "leaderConnectDelayDuringRetryMs", PROPERTY_INT, default=100
    )
    observer_master_port: int = setting("observerMasterPort", INT, default=0)
    observer_master_size_limit_bytes: int = setting(
        "observerMaster.sizeLimit", PROPERTY_INT, default=32 * 1024 * 1024
    )
    observer_reconnect_delay_ms: int = setting(
        "observer.reconnectDelayMs", PROPERTY_LONG, default=0
    )
    observer_election_delay_ms: int = setting(
        "observer.election.DelayMs", PROPERTY_LONG, default=200
    )
    sync_enabled: bool = setting(
        "observer.syncEnabled", BOOLEAN, default=True, otherwise=[Alias("syncEnabled")]
    )

    @property
    def connect_to_learner_master_limit(self) -> int:
        return self.given_connect_to_learner_master_limit or self.init_limit


class QuorumSaslSettings(Chapter):
    """SASL among the servers of an ensemble."""

    quorum_sasl_enabled: bool = setting("quorum.auth.enableSasl", BOOLEAN, default=False)
    quorum_server_require_sasl: bool = setting(
        "quorum.auth.serverRequireSasl", BOOLEAN, default=False
    )
    quorum_learner_require_sasl: bool = setting(
        "quorum.auth.learnerRequireSasl", BOOLEAN, default=False
    )
    quorum_learner_login_context: str = setting(
        "quorum.auth.learner.saslLoginContext", STRING, default="QuorumLearner"
    )
    quorum_server_login_context: str = setting(
        "quorum.auth.server.saslLoginContext", STRING, default="QuorumServer"
    )
    quorum_service_principal: str = setting(
        "quorum.auth.kerberos.servicePrincipal", STRING, default="zkquorum/localhost"
    )
    quorum_cnxn_threads_size: int = setting("quorum.cnxn.threads.size", INT, default=20)

    def disagreements(self) -> Iterator[tuple[str, str]]:
        for key, is_required in (
            ("quorum.auth.serverRequireSasl", self.quorum_server_require_sasl),
            ("quorum.auth.learnerRequireSasl", self.quorum_learner_require_sasl),
        ):
            if is_required and not self.quorum_sasl_enabled:
                yield key, "needs quorum.auth.enableSasl=true"
        if self.quorum_server_require_sasl and not self.quorum_learner_require_sasl:
            yield "quorum.auth.serverRequireSasl", "needs quorum.auth.learnerRequireSasl=true"


class EnsembleSettings(MembershipSettings, QuorumSettings, QuorumSaslSettings):
    """All that one server need not know."""

    def disagreements(self) -> Iterator[tuple[str, str]]:
        yield from MembershipSettings.disagreements(self)
        yield from QuorumSaslSettings.disagreements(self)
        if self.is_distributed:
            for key, limit in ("initLimit", self.init_limit), ("syncLimit", self.sync_limit):
                if limit == 0:
                    yield key, "is required with several servers"


def first_key(members: Mapping[int, Member]) -> str:
    return f"server.{min(members)}"
