"""A cluster of real processes: all serve, the dead come back, nothing is left at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.local.asking import health
from odradek.local.cluster import Deaths, LocalCluster
from odradek.local.directory import ClusterDirectory
from odradek.local.errors import ServerDied
from odradek.local.plan import ClusterPlan
from odradek.local.preparing import plan_cluster
from odradek.local.status import look_at
from odradek.testing.topics import Topics
from tests.waiting import wait_until

START_WITHIN_S = 120.0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    home = ClusterDirectory(tmp_path_factory.mktemp("local") / "cluster")
    home.own()
    cluster = LocalCluster(plan_cluster(2, 3, has_usual_ports=False), home)
    cluster.start(START_WITHIN_S)
    yield cluster
    cluster.stop()
    home.release()
    assert not any(it.is_alive for it in cluster.processes.values())


def test_every_server_says_what_it_is(cluster: LocalCluster) -> None:
    rows = {row.name: row for row in look_at(cluster)}
    assert list(rows) == ["zookeeper-1", "zookeeper-2", "zookeeper-3", "broker-1", "broker-2"]
    roles = sorted(row.role for row in rows.values())
    assert roles == ["broker", "controller", "follower", "follower", "leader"]
    assert all(row.epoch for row in rows.values())
    assert rows["zookeeper-1"].sessions == 2
    assert rows["broker-1"].under_replicated == 0
    assert all((row.memory_bytes or 0) > 1_000_000 for row in rows.values())


def test_a_server_that_dies_is_started_again(cluster: LocalCluster) -> None:
    process = cluster.processes["zookeeper-2"]
    pid = process.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: cluster.revive() == ["zookeeper-2"])
    wait_until(lambda: cluster.is_ready("zookeeper-2"), START_WITHIN_S)
    assert process.pid != pid
    assert {row.name: row.restarts for row in look_at(cluster)}["zookeeper-2"] == 1


def test_what_dies_again_and_again_is_started_more_and_more_seldom() -> None:
    deaths, now, waited = Deaths(), 100.0, []
    for _ in range(7):
        assert not deaths.may_start(now)
        began = now
        while not deaths.may_start(now):
            now += 0.1
        waited.append(round(now - began, 1))
    assert waited == sorted(waited) and waited[0] < 0.5 and waited[-1] >= 5
    now += 60
    assert not deaths.may_start(now)
    assert deaths.may_start(now + 0.3)


def test_a_server_that_is_stopped_stays_so(cluster: LocalCluster) -> None:
    process = cluster.processes["zookeeper-3"]
    process.ask_to_stop()
    process.await_end()
    assert cluster.revive() == []
    assert [row.role for row in look_at(cluster) if row.name == "zookeeper-3"] == ["down"]
    process.spawn()
    cluster.await_ready(["zookeeper-3"], START_WITHIN_S)


def test_a_server_that_cannot_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    home = ClusterDirectory(tmp_path / "cluster")
    home.own()
    plan = plan_cluster(1, 1, has_usual_ports=False)
    plan = ClusterPlan(plan.brokers, plan.zookeepers, {"log.segment.bytes": "many"})
    with pytest.raises(ServerDied, match=r"broker-1 ended:(.|\n)*log.segment.bytes"):
        LocalCluster(plan, home).start(START_WITHIN_S)
    home.release()


def test_servers_do_not_outlive_whoever_started_them(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from odradek.local.cluster import Deaths, LocalCluster
from odradek.local.directory import ClusterDirectory
from odradek.local.preparing import plan_cluster
home = ClusterDirectory(Path({str(tmp_path / "c")!r}))
home.own()
cluster = LocalCluster(plan_cluster(1, 1, has_usual_ports=False), home)
cluster.start()
print(*(it.pid for it in cluster.processes.values()), flush=True)
sys.stdin.read()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None and parent.stdin is not None
    pids = [int(word) for word in parent.stdout.readline().split()]
    assert len(pids) == 2
    parent.kill()
    parent.wait()
    parent.stdout.close()
    parent.stdin.close()
    wait_until(lambda: not any(is_alive(pid) for pid in pids))


def is_alive(pid: int) -> bool:
    """Whether it runs; one that nobody has buried yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_broker_stops_though_its_zookeeper_answers_no_more(tmp_path: Path) -> None:
    """It is the controller itself, and what it leads it cannot give away."""
    home = ClusterDirectory(tmp_path / "cluster")
    home.own()
    plan = plan_cluster(2, 1, has_usual_ports=False)
    quick = {"controller.socket.timeout.ms": "300", "controlled.shutdown.retry.backoff.ms": "100"}
    cluster = LocalCluster(ClusterPlan(plan.brokers, plan.zookeepers, quick), home)
    cluster.start(START_WITHIN_S)
    topics = Topics(cluster.plan.bootstrap, 2)
    topics.create(partitions=2, replicas=2)  # Each broker leads one.
    topics.close()
    said = health(plan.brokers[0].http_port)
    assert said is not None
    cluster.processes["zookeeper-1"].send(signal.SIGSTOP)
    broker = cluster.processes[f"broker-{said['controller_id']}"]
    broker.ask_to_stop()
    wait_until(lambda: not broker.is_alive, 25)
    assert "leaves without being relieved" in broker.log.read_text()
    cluster.stop()
    home.release()
