"""A broker as a process: how it starts, what it refuses, and what it leaves behind."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

import pytest
from kazoo.client import KazooClient

from tests.kafka.server.asking import consumed, created, produced
from tests.kafka.server.running import RunningBroker, running_broker
from tests.processes import HOST
from tests.waiting import wait_until
from tests.zookeeper.server.running import RunningServer, running_server

CLEAN = ".kafka_cleanshutdown"


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("zookeeper"), maxClientCnxns=0) as server:
        yield server


def page(broker: RunningBroker, path: str) -> str:
    with urlopen(f"http://{HOST}:{broker.http_port}{path}") as answer:
        return str(answer.read(), "utf-8")


def test_a_broker_without_a_zookeeper_brings_its_own_and_says_so(tmp_path: Path) -> None:
    with running_broker(tmp_path) as broker:
        assert "runs a ZooKeeper of its own" in broker.log
        assert (tmp_path / "data-zookeeper" / "version-2").is_dir()
        said = json.loads(page(broker, "/health"))
        assert (said["status"], said["broker_id"]) == ("ok", 1)


def test_what_was_acknowledged_is_there_after_a_clean_stop(tmp_path: Path) -> None:
    with running_broker(tmp_path) as broker:
        created(broker, "t", 2)
        produced(broker, "t", 1, b"1", b"2")
        broker.stop()
        assert (broker.data / CLEAN).exists()
        broker.start()
        assert not (broker.data / CLEAN).exists()
        assert consumed(broker, "t", 1, 2) == [b"1", b"2"]
        assert "[broker 1] read /" not in broker.log  # Nothing had to be recovered.


def test_a_killed_broker_recovers_and_says_what_it_did(tmp_path: Path) -> None:
    with running_broker(tmp_path) as broker:
        created(broker, "t", 1)
        produced(broker, "t", 0, *(b"x" * 100 for _ in range(500)))
        broker.kill()
        torn = next(broker.data.glob("t-0/*.log"))
        with torn.open("ab") as file:
            file.write(b"torn off in the middle of a batch")
        broker.start()
        assert f"cut {torn}" in broker.log
        assert len(consumed(broker, "t", 0, 500)) == 500


def test_metrics_have_kafkas_names(tmp_path: Path) -> None:
    with running_broker(tmp_path) as broker:
        created(broker, "t", 1)
        produced(broker, "t", 0, b"1", b"2", b"3")
        text = page(broker, "/metrics")
    lines = text.splitlines()
    assert 'kafka_server_brokertopicmetrics_messagesin_total{topic="t"} 3.0' in lines
    assert "kafka_controller_kafkacontroller_activecontrollercount 1.0" in lines
    assert 'kafka_log_log_logendoffset{partition="0",topic="t"} 3.0' in lines
    assert any(
        line.startswith('kafka_network_requestmetrics_requests_total{request="Produce"}')
        for line in lines
    )


def test_a_second_broker_with_the_same_id_is_refused(
    tmp_path: Path, zookeeper: RunningServer
) -> None:
    shared = {"zookeeper.connect": f"{zookeeper.address}/same-id"}
    with running_broker(tmp_path / "a", **shared):
        second = RunningBroker(tmp_path / "b", shared)
        assert second.spawn().wait(20) == 1
        assert "broker.id=1: a broker with this id is registered already" in second.log
        assert "Traceback" not in second.log


def test_clusters_share_an_ensemble_without_seeing_each_other(
    tmp_path: Path, zookeeper: RunningServer
) -> None:
    def at(chroot: str) -> dict[str, object]:
        return {"zookeeper.connect": f"{zookeeper.address}/{chroot}", "broker.id": 7}

    with (
        running_broker(tmp_path / "a", **at("east/a")) as east,
        running_broker(tmp_path / "b", **at("west")) as west,
    ):
        created(east, "t", 1)
        created(west, "t", 1)
        produced(east, "t", 0, b"east")
        produced(west, "t", 0, b"west")
        assert consumed(east, "t", 0, 1) == [b"east"]
        assert consumed(west, "t", 0, 1) == [b"west"]
        with closing(KazooClient(zookeeper.address)) as client:
            client.start()
            assert client.get_children("/east/a/brokers/ids") == ["7"]
            registration = json.loads(client.get("/west/brokers/ids/7")[0])
            assert registration["endpoints"] == [f"PLAINTEXT://{HOST}:{west.port}"]
            client.stop()


def test_an_id_is_given_and_kept(tmp_path: Path, zookeeper: RunningServer) -> None:
    given = {"zookeeper.connect": f"{zookeeper.address}/generated", "broker.id": -1}
    with running_broker(tmp_path, **given) as broker:
        meta = (broker.data / "meta.properties").read_text()
        assert "broker.id=1001\n" in meta
        broker.stop()
        broker.start()
        assert (broker.data / "meta.properties").read_text() == meta
        assert "[broker 1001]" in broker.log


def test_a_directory_of_another_cluster_is_refused(
    tmp_path: Path, zookeeper: RunningServer
) -> None:
    with running_broker(tmp_path, **{"zookeeper.connect": f"{zookeeper.address}/one"}) as broker:
        broker.stop()
        stranger = RunningBroker(tmp_path, {"zookeeper.connect": f"{zookeeper.address}/two"})
        assert stranger.spawn().wait(20) == 1
        assert "belongs to broker 1 of cluster" in stranger.log
        assert "Traceback" not in stranger.log


def test_a_port_that_is_taken_gets_a_sentence(tmp_path: Path, zookeeper: RunningServer) -> None:
    taken = {"listeners": f"PLAINTEXT://{HOST}:{zookeeper.port}"}
    broker = RunningBroker(tmp_path, taken)
    assert broker.spawn().wait(20) == 1
    assert f"listener PLAINTEXT://{HOST}:{zookeeper.port}" in broker.log.splitlines()[-1]
    assert "Traceback" not in broker.log


def test_settings_that_cannot_be_used_are_all_named(tmp_path: Path) -> None:
    broker = RunningBroker(tmp_path, {"log.segment.bytes": "many", "num.partitions": -3})
    assert broker.spawn().wait(20) == 1
    assert "log.segment.bytes" in broker.log
    assert "num.partitions" in broker.log
    assert "Traceback" not in broker.log


def test_what_has_no_effect_is_named_at_the_start(tmp_path: Path) -> None:
    with running_broker(tmp_path, **{"num.io.threads": 4, "no.such.key": 1}) as broker:
        assert "num.io.threads" in broker.log
        assert "no.such.key" in broker.log


def test_a_log_directory_that_cannot_be_used_takes_nothing_else_with_it(tmp_path: Path) -> None:
    (tmp_path / "broken").parent.mkdir(exist_ok=True)
    (tmp_path / "broken").write_text("no directory")
    good = tmp_path / "good"
    with running_broker(tmp_path, **{"log.dirs": f"{tmp_path / 'broken'},{good}"}) as broker:
        assert f"{tmp_path / 'broken'} is offline" in broker.log
        created(broker, "t", 3)
        produced(broker, "t", 0, b"1")
        assert consumed(broker, "t", 0, 1) == [b"1"]
        assert sorted(it.name for it in good.glob("t-*")) == ["t-0", "t-1", "t-2"]


def test_a_broker_may_open_as_many_files_as_the_system_allows(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard), hard))
    try:
        with running_broker(tmp_path) as broker:
            assert resource.prlimit(broker.pid, resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_old_segments_go(tmp_path: Path) -> None:
    settings = {
        "log.segment.bytes": 2000,
        "log.retention.bytes": 4000,
        "log.retention.check.interval.ms": 50,
        "log.segment.delete.delay.ms": 10,
    }
    with running_broker(tmp_path, **settings) as broker:
        created(broker, "t", 1)
        for _ in range(20):
            produced(broker, "t", 0, b"x" * 900)
        wait_until(lambda: len(list(broker.data.glob("t-0/*"))) < 20)
        wait_until(lambda: not list(broker.data.glob("t-0/*.deleted")))
        assert "segments go: retention.bytes 4000" in broker.log
