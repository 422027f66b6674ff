"""A real cluster to be used by tests, and what can be done to it.

Servers are named as in `odradek up`: `broker-1` (or just 1), `zookeeper-2`; `client` is everybody
else. Between all of them stand relays (`relay`), unless `faults=False`: then bytes go straight from
one to the other, and only processes can be disturbed.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from odradek.kafka.wire.messages.metadata import MetadataResponseBroker
from odradek.local.asking import health
from odradek.local.cluster import LocalCluster, wait_until
from odradek.local.directory import ClusterDirectory
from odradek.local.plan import BrokerPlan, ClusterPlan, ZooKeeperPlan
from odradek.local.ports import HOST
from odradek.local.preparing import plan_cluster
from odradek.local.process import ServerProcess
from odradek.local.status import ServerStatus, look_at
from odradek.testing import disks, sessions
from odradek.testing.errors import CannotBeDone
from odradek.testing.rules import CLIENT, Fault, Rule, api_named, error_named
from odradek.testing.topics import Topics
from odradek.testing.wires import Wires

# Failures are noticed soon, and yet a busy machine is not taken for a dead one.
QUICK: dict[str, str] = {
    "zookeeper.session.timeout.ms": "3000",
    "replica.lag.time.max.ms": "3000",
    "replica.fetch.backoff.ms": "200",
    "log.initial.task.delay.ms": "100",
    "log.retention.ms": "-1",  # Records of tests are often of 1970.
    "num.partitions": "1",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
}
QUICK_ZOOKEEPER: dict[str, str] = {"tickTime": "500", "preAllocSize": "64"}
WITHIN_S = 60.0
Name = str | int


class Cluster:
    """Brokers and ZooKeepers, running inside a `with`, or from `start` to `stop`."""

    def __init__(
        self,
        brokers: int = 1,
        zookeepers: int = 1,
        *,
        settings: Mapping[str, object] | None = None,
        zookeeper_settings: Mapping[str, object] | None = None,
        chroot: str = "",
        data: Path | str | None = None,
        faults: bool = True,
    ) -> None:
        self._shape = brokers, zookeepers
        self._settings = QUICK | {key: str(it) for key, it in (settings or {}).items()}
        self._zookeeper_settings = QUICK_ZOOKEEPER | {
            key: str(it) for key, it in (zookeeper_settings or {}).items()
        }
        self._chroot = chroot
        self._data = data
        self._has_faults = faults
        self._stack = ExitStack()
        self._wires: Wires | None = None
        self._local: LocalCluster | None = None
        self._topics: Topics | None = None
        self._paused: set[str] = set()
        self._full: set[str] = set()

    # Life

    def start(self) -> Self:
        """Start all servers; return when all serve."""
        home = ClusterDirectory(Path(self._data or self._stack.enter_context(new_directory())))
        home.own()
        self._stack.callback(home.release)
        plan = plan_cluster(*self._shape, known=home.known_plan(), has_usual_ports=False)
        plan = replace(
            plan,
            broker_settings=self._settings,
            zookeeper_settings=self._zookeeper_settings,
            chroot=self._chroot,
        )
        if self._has_faults:
            self._wires = Wires(self._names_by_pid)
            self._stack.callback(self._wires.close)
            plan = wired(plan, self._wires)
        self._local = LocalCluster(plan, home)
        self._local.start(WITHIN_S)
        self._await_everybody()
        return self

    def stop(self) -> None:
        """Stop all servers; what they wrote is gone, unless `data` was named."""
        for name in self._paused.copy():
            self.resume(name)
        if self._topics is not None:
            self._topics.close()
        if self._local is not None:
            self._local.stop()
        self._local = self._topics = self._wires = None
        self._stack.close()

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *reason: object) -> None:
        self.stop()

    # What it is

    @property
    def bootstrap(self) -> str:
        """For `bootstrap.servers`."""
        return self._running.plan.bootstrap

    @property
    def zookeeper(self) -> str:
        """A connect string; behind `zk://` our own clients take it for `bootstrap.servers`."""
        return self._running.plan.zookeeper

    @property
    def brokers(self) -> list[str]:
        return [it.name for it in self._running.plan.brokers]

    @property
    def zookeepers(self) -> list[str]:
        return [it.name for it in self._running.plan.zookeepers]

    @property
    def topics(self) -> Topics:
        """Topics that are made for a test, and taken away after it."""
        if self._topics is None:
            self._topics = Topics(self.bootstrap, len(self.brokers))
        return self._topics

    def status(self) -> list[ServerStatus]:
        """How each server is, by its own account."""
        return look_at(self._running)

    def leader_of(self, topic: str, partition: int = 0) -> str:
        """The broker that leads a partition now."""
        return f"broker-{self.topics.leader_of(topic, partition)}"

    def controller(self) -> str:
        """The broker that is the controller, as the living say."""
        for server in self._running.plan.brokers:
            if server.name not in self._paused and self._running.processes[server.name].is_alive:
                said = health(server.http_port)
                if said is not None and said["controller_id"] >= 0:
                    return f"broker-{said['controller_id']}"
        raise CannotBeDone("no broker knows of a controller")

    def zookeeper_leader(self) -> str:
        """The leader of the ensemble (or the one that stands alone)."""
        for row in self.status():
            if row.role in ("leader", "standalone"):
                return row.name
        raise CannotBeDone("the ensemble has no leader just now")

    def log_of(self, server: Name) -> str:
        """What a server has written to its log."""
        return self._process(server).log.read_text(errors="replace")

    def wait_until(
        self, condition: Callable[[], bool], what: str = "it", within_s: float = WITHIN_S
    ) -> None:
        """Look again and again until the condition holds."""
        wait_until(condition, what, within_s)

    # Processes

    def kill(self, server: Name) -> None:
        """kill -9: nothing is flushed, nobody is told."""
        self._paused.discard(self._name(server))
        self._process(server).kill()

    def shut_down(self, server: Name) -> None:
        """SIGTERM: it leaves in order."""
        process = self._process(server)
        process.ask_to_stop()
        process.await_end()

    def restart(self, server: Name, within_s: float = WITHIN_S) -> None:
        """Start a server that does not run; return when it serves.

        A broker that was killed is let in once its last session has ended.
        """
        self._running.restart(self._name(server), within_s)

    def pause(self, server: Name) -> None:
        """SIGSTOP: its connections stay open, and nobody answers."""
        self._process(server).send(signal.SIGSTOP)
        self._paused.add(self._name(server))

    def resume(self, server: Name) -> None:
        self._process(server).send(signal.SIGCONT)
        self._paused.discard(self._name(server))

    # The network

    def cut(self, one: Name, other: Name) -> None:
        """Let nothing through between the two, either of which may be `client`."""
        self._with_wires("cut").cut(self._pair(one, other))

    def heal(self, one: Name | None = None, other: Name | None = None) -> None:
        """End one cut, or all."""
        both = None if one is None or other is None else self._pair(one, other)
        self._with_wires("heal").heal(both)

    def isolate(self, server: Name) -> None:
        """Cut a server off from all other servers; clients still reach it."""
        for name in self._running.servers:
            if name != self._name(server):
                self.cut(server, name)

    # Requests

    def fail(
        self, api: str, error: str, *, times: int | None = None, broker: Name | None = None
    ) -> Fault:
        """Have requests of an API refused before the broker sees them; `times`: only so often."""
        rule = Rule(api_named(api, is_refused=True), error=error_named(error), left=times)
        return self._disturb(rule, broker)

    def delay(
        self, api: str, seconds: float, *, times: int | None = None, broker: Name | None = None
    ) -> Fault:
        """Hold up requests of an API, and what comes after them on their connections."""
        return self._disturb(Rule(api_named(api), delay_s=seconds, left=times), broker)

    def _disturb(self, rule: Rule, broker: Name | None) -> Fault:
        rules = self._with_wires("disturb requests").rules.rules
        rule.broker = None if broker is None else self._name(broker)
        rules.append(rule)

        def end() -> None:
            with suppress(ValueError):
                rules.remove(rule)

        return Fault(rule, end)

    # ZooKeeper sessions and disks

    def expire_session(self, broker: Name | None = None, *, session_id: int = 0) -> None:
        """End the session of a broker, or any by its id, as if it had not been heard of."""
        servers = ",".join(f"{HOST}:{it.port}" for it in self._running.plan.zookeepers)
        zookeeper = servers + self._chroot
        wires = self._with_wires("expire a session")
        if broker is not None:
            number = self._name(broker).rpartition("-")[2]
            path = f"/brokers/ids/{number}"
            session_id = wires.do(sessions.owner_of(zookeeper, path))
        wires.do(sessions.end_session(zookeeper, session_id))

    def fill_disk(self, server: Name) -> None:
        """Let a server write nothing more (Linux alone: see `disks`)."""
        pid = self._process(server).pid
        assert pid is not None
        disks.fill(pid)
        self._full.add(self._name(server))

    def free_disk(self, server: Name) -> None:
        pid = self._process(server).pid
        if pid is not None and self._process(server).is_alive:
            disks.free(pid)
        self._full.discard(self._name(server))

    def calm(self) -> None:
        """Undo all that was done: nobody paused, cut off, full or dead, no request disturbed."""
        if self._wires is not None:
            self._wires.rules.rules.clear()
            self._wires.heal()
        # One that had no room may be about to give up: it lives, but does not serve any more.
        doubtful = self._full.copy()
        for name in doubtful:
            self.free_disk(name)
        for name in self._paused.copy():
            self.resume(name)
        dead = {it.name for it in self._running.processes.values() if not it.is_alive}
        for name in sorted(dead | doubtful, reverse=True):  # ZooKeepers first.
            self.restart(name)

    # Inside

    @property
    def _running(self) -> LocalCluster:
        if self._local is None:
            raise CannotBeDone("the cluster does not run: use it as `with cluster() as c:`")
        return self._local

    def _name(self, server: Name) -> str:
        name = f"broker-{server}" if isinstance(server, int) else server
        if name not in self._running.servers:
            raise CannotBeDone(f"there is no {name}; there are {', '.join(self._running.servers)}")
        return name

    def _process(self, server: Name) -> ServerProcess:
        return self._running.processes[self._name(server)]

    def _pair(self, one: Name, other: Name) -> frozenset[str]:
        return frozenset(it if it == CLIENT else self._name(it) for it in (one, other))

    def _with_wires(self, what: str) -> Wires:
        if self._wires is None:
            raise CannotBeDone(f"a cluster with faults=False cannot {what}")
        return self._wires

    def _names_by_pid(self) -> dict[int, str]:
        local = self._local
        processes = local.processes.values() if local is not None else ()
        return {it.pid: it.name for it in processes if it.pid is not None}

    def _await_everybody(self) -> None:
        """Return when each broker knows of all."""
        self._running.await_ready()
        count = len(self.brokers)
        wait_until(lambda: self.topics.broker_count() == count, "all brokers", WITHIN_S)


cluster = Cluster


def new_directory() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="odradek-test-")


def wired(plan: ClusterPlan, wires: Wires) -> ClusterPlan:
    """The same servers, each to be reached through relays."""
    return replace(
        plan,
        brokers=tuple(_wired_broker(it, wires) for it in plan.brokers),
        zookeepers=tuple(_wired_zookeeper(it, wires) for it in plan.zookeepers),
    )


def _wired_broker(broker: BrokerPlan, wires: Wires) -> BrokerPlan:
    port = wires.open(broker.name, is_broker=True)
    wires.lead_to(broker.name, 0, broker.port)
    wires.brokers.append(MetadataResponseBroker(node_id=broker.id, host=HOST, port=port))
    return replace(broker, advertised=port)


def _wired_zookeeper(server: ZooKeeperPlan, wires: Wires) -> ZooKeeperPlan:
    ports = []
    for place, port in enumerate((server.port, server.quorum_port, server.election_port)):
        ports.append(wires.open(server.name, place))
        wires.lead_to(server.name, place, port)
    return replace(server, advertised=(ports[0], ports[1], ports[2]))
