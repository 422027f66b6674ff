"""What is counted, and what follows from the counts."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from pathlib import Path
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from odradek.zookeeper.server.distribution import DETAILED, Distribution
from odradek.zookeeper.server.node import ZooKeeperNode
from odradek.zookeeper.server.stats import Stats, Tally
from odradek.zookeeper.server.version import OUR_VERSION
from tests.zookeeper.server.in_process import HOST, connected, say, serving

PROMETHEUS = """\
4lw.commands.whitelist=*
metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider
metricsProvider.httpHost=127.0.0.1
metricsProvider.httpPort=0
"""


def seen(*values: int) -> Distribution:
    distribution = Distribution(quantiles=DETAILED)
    for value in values:
        distribution.observe(value)
    return distribution


def tally(received: int, writes_ms: list[int], waited_ms: list[int] | None = None) -> Tally:
    result = Tally()
    result.received = received
    result.write_ms.update(writes_ms)
    result.read_ms.update(waited_ms or [])
    result.aside = len(writes_ms) + len(waited_ms or [])
    return result


# Distributions


def test_an_empty_distribution_is_all_zero() -> None:
    none = seen()
    assert (none.count, none.total, none.mean, none.least, none.most) == (0, 0, 0.0, 0, 0)
    assert none.quantile(0.5) == 0


def test_a_distribution_knows_its_extremes_and_its_mean_to_four_decimals() -> None:
    some = seen(0, 0, 7, 3, 3, 6)
    assert (some.count, some.total, some.least, some.most) == (6, 19, 0, 7)
    assert some.mean == 3.1667
    assert some.above(3) == 2


def test_a_quantile_is_a_value_that_was_seen() -> None:
    hundred = seen(*range(1, 101))
    assert [hundred.quantile(share) for share in (0.5, 0.95, 0.999)] == [50, 95, 100]


# Tallies


def test_reads_that_did_not_wait_took_no_time() -> None:
    some = tally(10, [4, 5], [2])
    assert some.reads().counts == {0: 7, 2: 1}
    assert some.requests().count == 10
    assert some.requests().most == 5


def test_what_a_connection_did_stays_done_when_it_is_gone() -> None:
    stats, gone, here = Stats(), tally(5, [1]), tally(3, [])
    stats.take_over(gone)
    assert stats.tally([here]).received == 8
    assert stats.tally([here]).writes().counts == {1: 1}


def test_after_a_reset_the_server_counts_from_zero_and_connections_go_on() -> None:
    stats, here = Stats(), tally(3, [9])
    stats.take_over(tally(5, [1]))
    stats.reset([here])
    assert stats.tally([here]).received == 0
    here.received += 2
    assert stats.tally([here]).reads().counts == {0: 2}
    assert here.received == 5


def test_sizes_of_responses_are_those_of_frames_without_their_length() -> None:
    stats = Stats()
    stats.responded([bytes(104), bytes(24)], 128)
    stats.responded([bytes(20), bytes(50)], 70)
    counts = stats.counts
    assert counts.last_response_bytes == 46
    assert (counts.least_response_bytes, counts.most_response_bytes) == (16, 100)


# A server


def test_reads_and_writes_are_counted_apart(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node, connected(node) as client:
            await asyncio.to_thread(client.create, "/a", b"x")
            for _ in range(3):
                await asyncio.to_thread(client.get, "/a")
            counted = node.operators.overview.tally()
            assert counted.writes().count == 1
            assert counted.reads().count == 3
            assert counted.received == counted.sent == 5  # The session was asked for, too.

    asyncio.run(run())


def test_a_reset_of_connections_leaves_the_server_its_sums(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node, connected(node) as client:
            await asyncio.to_thread(client.create, "/a", b"x")
            before = node.operators.overview.tally().received
            await say(node, b"crst")
            assert all(each.tally.received == 0 for each in node.clients.connections)
            assert node.operators.overview.tally().received == before + 1
            await say(node, b"srst")
            assert node.operators.overview.tally().received == 0
            assert node.pipeline.sync_ms.count == 0

    asyncio.run(run())


def test_watchers_that_were_told_are_counted(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node, connected(node) as client:
            await asyncio.to_thread(client.create, "/a", b"x")
            await asyncio.to_thread(client.get, "/a", lambda event: None)
            await asyncio.to_thread(client.set, "/a", b"y")
            shown = await say(node, b"mntr")
            assert "zk_cnt_node_changed_watch_count\t1\n" in shown
            assert "zk_cnt_node_created_watch_count\t0\n" in shown
            assert node.clients.stats.counts.watch_bytes > 0

    asyncio.run(run())


async def metrics_of(node: ZooKeeperNode, path: str = "/metrics") -> dict[str, float]:
    assert node.operators.metrics is not None
    url = f"http://{HOST}:{node.operators.metrics.port}{path}"

    def fetch() -> str:
        with urlopen(url) as response:
            text: str = response.read().decode()
            return text

    families = text_string_to_metric_families(await asyncio.to_thread(fetch))
    return {
        sample.name + "".join(f"@{value}" for value in sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_prometheus_finds_the_names_that_it_knows(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path, PROMETHEUS) as node, connected(node) as client:
            await asyncio.to_thread(client.create, "/a", b"x" * 10)
            await asyncio.to_thread(client.get, "/a", lambda event: None)
            shown = await metrics_of(node)
            assert shown["znode_count"] == 6
            assert shown["watch_count"] == shown["num_alive_connections"] == 1
            assert shown["updatelatency_count"] == shown["readlatency_count"] == 1
            assert shown["readlatency@0.99"] == 0
            assert shown["connection_request_count"] == 1
            assert shown["fsynctime_count"] == shown["sync_processor_batch_size_sum"] == 2
            assert shown["bytes_received_count"] > 0

    asyncio.run(run())


def test_our_version_is_the_one_that_is_installed() -> None:
    assert version("odradek") == OUR_VERSION
