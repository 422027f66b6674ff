"""A cluster of processes on this machine: started together, kept alive, stopped in order.

All start at once: brokers wait for the ensemble by themselves. They stop the other way round, for a
broker that leaves wants a controller to take its partitions, and a controller wants a ZooKeeper.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic

from odradek.local import asking
from odradek.local.directory import ClusterDirectory
from odradek.local.errors import NotInTime, ServerDied
from odradek.local.plan import BrokerPlan, ClusterPlan, ZooKeeperPlan
from odradek.local.preparing import write_broker_files, write_zookeeper_files
from odradek.local.process import ServerProcess

START_WITHIN_S = 60.0
LOOK_AGAIN_S = 0.02
RESTART_AFTER_S = (0.2, 0.5, 1.0, 2.0, 5.0)
CALM_S = 20.0  # Who has lived so long did not die of how it was started.
Server = BrokerPlan | ZooKeeperPlan


@dataclass(slots=True)
class Deaths:
    """Each death in a row makes the next wait longer: what cannot live is not to spin."""

    count: int = 0
    seen_at: float | None = None  # When it was found dead.
    revived_at: float = 0.0

    def may_start(self, now: float) -> bool:
        """Whether one that is found dead has waited long enough; then it is taken for alive."""
        if self.seen_at is None:
            self.count = 1 if now - self.revived_at > CALM_S else self.count + 1
            self.seen_at = now
            return False
        if now - self.seen_at < RESTART_AFTER_S[min(self.count, len(RESTART_AFTER_S)) - 1]:
            return False
        self.seen_at, self.revived_at = None, now
        return True


class LocalCluster:
    """Servers by name: `zookeeper-1` …, `broker-1` …"""

    def __init__(self, plan: ClusterPlan, home: ClusterDirectory) -> None:
        self.plan = plan
        self.home = home
        servers: list[Server] = [*plan.zookeepers, *plan.brokers]
        self.servers = {it.name: it for it in servers}
        self.processes = {name: self._process(it) for name, it in self.servers.items()}
        self._deaths: dict[str, Deaths] = {}

    def _process(self, server: Server) -> ServerProcess:
        if isinstance(server, BrokerPlan):
            file = write_broker_files(self.home, self.plan, server)
            command = ["broker", str(file), "--http", str(server.http_port)]
        else:
            file = write_zookeeper_files(self.home, self.plan, server)
            command = ["zookeeper", str(file)]
        return ServerProcess(server.name, command, file.parent)

    # Starting

    def start(self, within_s: float = START_WITHIN_S) -> None:
        """Start all; return when all serve."""
        self.home.write(self.plan)
        try:
            for process in self.processes.values():
                process.spawn()
            self.await_ready(within_s=within_s)
        except BaseException:
            for process in self.processes.values():
                process.kill()
            raise

    def await_ready(
        self, names: Iterable[str] | None = None, within_s: float = START_WITHIN_S
    ) -> None:
        """Return when these serve (all, if none is named); `ServerDied` if one has died."""
        left = list(self.processes if names is None else names)
        what = f"{', '.join(left)} ready"

        def all_serve() -> bool:
            while left and self.is_ready(left[0]):
                left.pop(0)
            for name in left:
                self.processes[name].check()
            return not left

        wait_until(all_serve, what, within_s)

    def is_ready(self, name: str) -> bool:
        """Whether a server serves, by its own account."""
        server = self.servers[name]
        if isinstance(server, ZooKeeperPlan):
            return "Mode: " in asking.say(server.port, "srvr")
        said = asking.health(server.http_port)
        return said is not None and said["status"] == "ok" and said["controller_id"] >= 0

    # Keeping alive

    def revive(self) -> list[str]:
        """Start those again that died by themselves and have waited long enough; their names."""
        revived = []
        for name, process in self.processes.items():
            if not process.is_wanted or process.is_alive:
                continue
            if self._deaths.setdefault(name, Deaths()).may_start(monotonic()):
                process.spawn()
                process.restarts += 1
                revived.append(name)
        return revived

    def restart(self, name: str, within_s: float = START_WITHIN_S) -> None:
        """Start a server that does not run; return when it serves.

        A broker that was killed is let in once its last session has ended: until then it dies
        again, and is started again.
        """
        process, deadline = self.processes[name], monotonic() + within_s
        while True:
            if not process.is_alive:
                process.spawn()
            try:
                return self.await_ready([name], deadline - monotonic())
            except ServerDied:
                if monotonic() > deadline:
                    raise

    # Stopping

    def stop(self) -> None:
        """Stop all: brokers, the controller last, then the ensemble."""
        try:
            brokers = [it.name for it in self.plan.brokers]
            last = [name for name in brokers if self._is_controller(name)]
            self._stop([name for name in brokers if name not in last])
            self._stop(last)
            self._stop([it.name for it in self.plan.zookeepers])
        finally:
            for process in self.processes.values():
                process.kill()

    def _is_controller(self, name: str) -> bool:
        server = self.servers[name]
        assert isinstance(server, BrokerPlan)
        said = asking.health(server.http_port) if self.processes[name].is_alive else None
        return said is not None and said["controller_id"] == server.id

    def _stop(self, names: list[str]) -> None:
        for name in names:
            self.processes[name].ask_to_stop()
        for name in names:
            self.processes[name].await_end()


def wait_until(condition: Callable[[], bool], what: str, within_s: float) -> None:
    """Look again and again; `NotInTime` if it takes too long."""
    deadline, between_looks = monotonic() + within_s, threading.Event()
    while not condition():
        if monotonic() > deadline:
            raise NotInTime(f"waited {within_s:g} s in vain for {what}")
        between_looks.wait(LOOK_AGAIN_S)
