"""The console in a real Chromium, at a real cluster.

With ODRADEK_PICTURES=1 the pages are also written to docs/pictures.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("selenium", reason="selenium drives the browser")
pytest.importorskip("nicegui", reason="the console is made with nicegui")

from confluent_kafka import Consumer, Producer

from odradek.console.reading import extent_of, read_from
from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster as Picture
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.group_admin import all_committed
from odradek.kafka.client.group_offsets import commit_offsets
from odradek.kafka.client.settings import client_settings
from odradek.kafka.client.topic_admin import create_topic, describe
from odradek.kafka.controller.image import Assignment, PartitionState
from odradek.kafka.controller.znodes import write_state, write_topic
from odradek.pipelines.reporting import ensure_topic, write
from odradek.pipelines.standing import Standing
from odradek.testing import Cluster
from odradek.zookeeper.client.aio import ZooKeeperClient
from tests.console.consoles import Page, console
from tests.waiting import wait_until

if TYPE_CHECKING:
    from selenium.webdriver.chrome.webdriver import WebDriver

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
PASSWORD = "open sesame"
ROWS = "tbody tr"
GROUP = "billing"
PAGES = {
    "overview": "/",
    "timeline": "/timeline",
    "topics": "/topics",
    "topic": "/topics/orders",
    "messages": "/topics/orders/0",
    "groups": "/groups",
    "group": f"/group?name={GROUP}",
    "pipelines": "/pipelines",
    "pipeline": "/pipeline?query=q-sums",
    "znodes": "/znodes?path=/brokers/ids/1",
    "ensemble": "/ensemble",
}


SUMS = Standing(
    "q-sums", "sums of orders", 0, batch=7, rows=1200, rows_per_s=310.0, arriving_per_s=295.5,
    offsets={"orders": {"0": 30, "1": 0}}, sink="Parquet",
)  # fmt: skip


@pytest.fixture(scope="module")
def picture(cluster: Cluster) -> Iterator[Picture]:
    """The cluster as administrators see it, with something in it."""
    brokers = Brokers(client_settings({"bootstrap.servers": cluster.bootstrap}))
    picture = Picture(brokers)
    create_topic(picture, "orders", partitions=3, replicas=2)
    produce(cluster, 0, 40)
    commit_offsets(picture, GROUP, {TopicPartition("orders", 0): 25})
    ensure_topic({"bootstrap.servers": cluster.bootstrap})
    report(cluster, SUMS)
    yield picture
    brokers.close()


@pytest.fixture(scope="module")
def changing(cluster: Cluster, directory: Path, picture: Picture) -> Iterator[str]:
    urls = [f"--metrics={it}" for it in metrics_of(directory)]
    with console(*addresses(cluster), "--allow-changes", *urls) as base:
        yield base


@pytest.fixture(scope="module")
def looking(cluster: Cluster, picture: Picture) -> Iterator[str]:
    """A console that only looks, behind a password."""
    with console(*addresses(cluster), "--password", PASSWORD) as base:
        yield base


@pytest.fixture
def page(browser: WebDriver, changing: str) -> Page:
    browser.get_log("browser")  # type: ignore[no-untyped-call]
    return Page(browser, changing)


def addresses(cluster: Cluster, chroot: str = "") -> list[str]:
    return ["-b", cluster.bootstrap, "-z", cluster.zookeeper + chroot]


def metrics_of(directory: Path) -> list[str]:
    plan = json.loads((directory / "cluster.json").read_text())
    return [f"http://127.0.0.1:{it['http_port']}/metrics" for it in plan["brokers"]]


def produce(cluster: Cluster, start: int, count: int) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
    for number in range(start, start + count):
        value = json.dumps({"order": number, "amount": number * 17 % 101, "customer": "Odradek"})
        producer.produce("orders", value, f"key-{number}", partition=0)
    assert producer.flush(30) == 0


def report(cluster: Cluster, *standings: Standing) -> None:
    """As a query of Spark's does that tells of itself."""
    now_ms = int(time.time() * 1000)
    fresh = [replace(it, time_ms=now_ms) for it in standings]
    write({"bootstrap.servers": cluster.bootstrap}, fresh)


def take_picture(page: Page, name: str) -> None:
    if os.environ.get("ODRADEK_PICTURES"):
        PICTURES.mkdir(exist_ok=True)
        wait_until(lambda: not page.texts("[class*='q-transition--']"))
        page.driver.save_screenshot(str(PICTURES / f"{name}.png"))


CONTENT = {
    "overview": "controller",
    "timeline": "begins to look",
    "topics": "orders",
    "topic": "retention.ms",
    "messages": '"order": 39',
    "groups": GROUP,
    "group": "orders-0",
    "pipelines": "sums of orders",
    "pipeline": "orders-0",
    "znodes": "PLAINTEXT",
    "ensemble": "this console",
}


@pytest.mark.parametrize("name", PAGES)
def test_each_page_opens_and_the_browser_has_nothing_to_complain_about(
    page: Page, name: str
) -> None:
    page.open(PAGES[name])
    page.see(CONTENT[name], ".nicegui-content")
    assert not any(page.texts(".trouble"))
    assert page.errors() == []


def test_one_seeks_by_offset_and_by_time_and_filters(page: Page) -> None:
    page.open(PAGES["messages"])
    page.see('"order": 39', ROWS)
    page.choose("the last ones", "from offset")
    page.write("input[placeholder*='offset']", "37", end="\n")
    wait_until(lambda: len(page.texts(ROWS)) == 3)
    assert '"order": 37' in page.texts(ROWS)[0]
    page.write("input[placeholder*='filter']", "KEY-38", end="\n")
    wait_until(lambda: len(page.texts(ROWS)) == 1)
    page.write("input[placeholder*='filter']", " ", end="\b\n")
    page.choose("from offset", "from time")
    page.write("input[placeholder*='2026']", "1", end="\n")
    wait_until(lambda: len(page.texts(ROWS)) == 40)
    page.write("input[placeholder*='2026']", "never", end="\n")
    page.see("is no time", ".q-notification")
    assert page.errors() == []


def test_whoever_follows_sees_messages_come(page: Page, cluster: Cluster) -> None:
    page.open(PAGES["messages"])
    page.see('"order": 39', ROWS)
    page.driver.find_element("css selector", ".q-toggle").click()
    produce(cluster, 1000, 1)
    page.see('"order": 1000', ROWS)
    produce(cluster, 1001, 1)
    page.see('"order": 1001', ROWS)
    assert '"order": 1001' in page.texts(ROWS)[0], "the newest stands on top"
    assert page.errors() == []


def test_messages_are_exported_as_lines_of_json(page: Page, tmp_path: Path) -> None:
    allow = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", allow)
    page.open(PAGES["messages"])
    page.see('"order": 39', ROWS)
    page.click("Export")
    file = tmp_path / "orders-0-0.jsonl"
    wait_until(file.exists)
    wait_until(lambda: len(file.read_text().splitlines()) >= 40)
    first = json.loads(file.read_text().splitlines()[0])
    assert (first["offset"], first["key"]) == (0, "key-0")
    assert json.loads(first["value"])["customer"] == "Odradek"


def test_a_message_is_opened_by_a_click(page: Page) -> None:
    page.open(PAGES["messages"])
    page.see('"order": 39', ROWS)
    page.driver.find_element("css selector", "tbody tr td").click()
    page.see("orders-0 · offset 0", ".q-dialog")
    page.see('"customer": "Odradek"', ".q-dialog pre")
    assert page.errors() == []


def test_offsets_are_edited_with_a_preview(page: Page, picture: Picture) -> None:
    page.open(PAGES["group"])
    field = "td input"
    wait_until(lambda: page.value(field) == "25")
    page.write(field, "99999")
    page.click("Preview changes")
    page.see("is not within the log", ".q-dialog")
    assert not page.button("Commit").is_enabled()
    page.click("Leave it")
    page.see_no("is not within the log")
    page.write(field, "10")
    page.click("Preview changes")
    page.see("orders-0", ".q-dialog")
    take_picture(page, "offsets")
    assert all_committed(picture, GROUP)[TopicPartition("orders", 0)] == 25
    page.click("Commit")
    wait_until(lambda: all_committed(picture, GROUP)[TopicPartition("orders", 0)] == 10)
    wait_until(lambda: page.value(field) == "10")
    assert page.errors() == []


def test_a_rebalance_is_on_the_timeline_and_members_are_on_their_page(
    page: Page, cluster: Cluster
) -> None:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "readers"})
    consumer.subscribe(["orders"])
    wait_until(lambda: consumer.poll(0.05) is None and consumer.assignment())
    page.open("/timeline")
    page.see("group readers", ROWS)
    page.open("/group?name=readers")
    page.see("orders-0, orders-1, orders-2", ROWS)
    page.see("Stable", ".figure")
    consumer.close()
    page.see("Empty", ".figure")


def test_replicas_are_moved_and_preferred_leaders_elected(page: Page, picture: Picture) -> None:
    create_topic(picture, "moving", assignment={0: [1, 2]})
    page.open("/topics/moving")
    page.see("1, 2", ROWS)
    page.click("Move replicas")
    wait_until(lambda: page.value(".q-dialog td input") == "1, 2")
    page.write(".q-dialog td input", "2, 1")
    page.driver.find_element("xpath", "//button[normalize-space()='Move']").click()
    page.see("1 partitions begin to move", ".q-notification")
    page.see("2, 1", ROWS)
    page.click("Elect preferred leaders")
    page.see("preferred replicas lead", ".q-notification")
    wait_until(lambda: describe(picture, ["moving"]).topics[0].partitions[0].leader_id == 2)


def test_a_message_is_written_by_hand(page: Page) -> None:
    page.open("/topics/orders/1")
    page.click("Produce")
    page.write(".q-dialog textarea", "by hand")
    page.click("Write")
    page.see("written", ".q-notification")
    page.click("Go")
    page.see("by hand", ROWS)


def test_a_znode_lives_on_the_page(page: Page, cluster: Cluster) -> None:
    async def story() -> None:
        async with ZooKeeperClient(cluster.zookeeper, random=Random()) as client:
            await client.create("/alive", b"one")
            await asyncio.to_thread(page.open, "/znodes?path=/alive")
            await asyncio.to_thread(page.see, "one", "pre")
            await client.set_data("/alive", b"two")
            await asyncio.to_thread(page.see, "two", "pre")
            await client.create("/alive/child", b"")
            await asyncio.to_thread(page.see, "alive", ".q-tree")
            await client.create("/alive-too", b"")
            await asyncio.to_thread(page.see, "alive-too", ".q-tree")
            await client.delete("/alive/child")
            await client.delete("/alive")
            await asyncio.to_thread(page.see, "gone", "pre")

    asyncio.run(story())
    assert page.errors() == []


def test_a_query_tells_where_it_is_and_how_far_behind(
    page: Page, cluster: Cluster, picture: Picture
) -> None:
    page.open("/pipelines")
    page.see("sums of orders", ROWS)
    (row,) = page.texts(ROWS)
    assert "running" in row and "310" in row and "1,200" in row
    page.follow("sums of orders")
    page.see("batch 7", ".figure")
    end = extent_of(picture, TopicPartition("orders", 0)).end
    wait_until(lambda: cells(page, "orders-0") == ["orders-0", "30", str(end), str(end - 30)])
    moved = replace(SUMS, offsets={"orders": {"0": end, "1": 0}}, batch=8)
    report(cluster, moved)
    page.see("batch 8", ".figure")
    wait_until(lambda: cells(page, "orders-0")[3] == "0")
    report(cluster, moved.ended(0, "out of disk"))
    page.see("failed", ".figure")
    page.see("out of disk", ".figure")
    report(cluster, SUMS)
    assert page.errors() == []


def cells(page: Page, first: str) -> list[str]:
    """The row of a table that begins so."""
    found = [it.split("\t") for it in page.texts(ROWS) if it.startswith(first)]
    return [it.strip() for it in found[0]] if found else [""] * 4


def test_a_znode_tells_who_watches_it_and_a_session_what_hangs_on_it(
    page: Page, cluster: Cluster
) -> None:
    page.open("/znodes?path=/controller")
    page.see("broker 1", ROWS)
    page.see("broker 2", ROWS)
    row = next(it for it in page.texts(ROWS) if "broker 1" in it)
    page.follow(row.split("\t")[0].strip())
    page.see("Session 0x")
    page.see("broker 1", ".facts")
    page.see("/brokers/ids/1", ROWS)
    page.see("/controller", ROWS)
    take_picture(page, "session")
    page.open("/ensemble")
    page.see("broker 1", ROWS)
    page.open("/session?id=0x123")
    page.see("it has ended", ".facts")
    assert page.errors() == []


def test_an_election_is_on_the_timeline_when_the_controller_is_killed(
    page: Page, cluster: Cluster
) -> None:
    page.open("/timeline")
    page.see("begins to look", ROWS)
    killed = cluster.controller()
    other = next(it for it in cluster.brokers if it != killed)
    cluster.kill(killed)
    number = other.rpartition("-")[2]
    page.see(f"broker {number} is elected controller", ROWS)
    seen_ms = time.time() * 1000
    (row,) = [it for it in page.texts(ROWS) if f"broker {number} is elected" in it]
    elected_ms = read_time_ms(row.split("\t")[0])
    assert seen_ms - elected_ms < 5000, "a change is shown as soon as ZooKeeper has it"
    for text in ("is gone: its session", "controller epoch 2", "ISR shrinks", "leads after"):
        page.see(text, ROWS)
    page.driver.set_window_size(1360, 1500)
    take_picture(page, "timeline")
    page.driver.set_window_size(1360, 940)
    page.open("/")
    page.see("not there", ROWS)
    cluster.restart(killed)
    page.open("/timeline")
    page.see(f"broker {killed.rpartition('-')[2]} registers", ROWS)
    page.see("ISR expands", ROWS)
    page.write("input[placeholder*='filter']", "elected")
    wait_until(lambda: len(page.texts(ROWS)) == 1)
    assert page.errors() == []


def read_time_ms(text: str) -> float:
    return datetime.fromisoformat(text.strip()).replace(tzinfo=UTC).timestamp() * 1000


def test_the_timeline_is_kept_in_a_topic_and_read_by_the_next_console(
    browser: WebDriver, picture: Picture, page: Page, request: pytest.FixtureRequest
) -> None:
    where = TopicPartition("__odradek_timeline", 0)

    def kept() -> list[str]:
        found = read_from(picture, where, 0, 1000).records
        return [json.loads(it.value or b"")["text"] for it in found]

    wait_until(lambda: any("is elected controller" in it for it in kept()))
    later = Page(browser, request.getfixturevalue("looking"))  # It is started only now.
    log_in(later)
    later.open("/timeline")
    later.see("is elected controller", ROWS)
    rows = later.texts(ROWS)
    assert len(rows) == len(set(rows))


def log_in(page: Page) -> None:
    page.driver.get(page.base)
    page.write("#password", PASSWORD, end="\n")
    page.see("Overview")


def test_a_console_that_only_looks_asks_for_the_password_and_changes_nothing(
    browser: WebDriver, looking: str
) -> None:
    page = Page(browser, looking)
    browser.delete_all_cookies()
    browser.get(looking + "/topics/orders/0")
    assert browser.current_url == looking + "/login"
    page.write("#password", "guess", end="\n")
    page.see("That is not the password")
    page.write("#password", PASSWORD, end="\n")
    page.see("Overview")
    assert page.shows("read-only", ".mode")
    page.open("/topics/orders/0")
    page.see('"order": 39', ROWS)
    assert not page.shows("Produce", "button")
    page.open("/topics/orders")
    page.see("Refresh", "button")
    assert not page.shows("Move", "button") and not page.shows("Elect", "button")
    page.open(PAGES["group"])
    page.see("orders-0", ROWS)
    assert not page.texts("td input") and not page.shows("Preview", "button")
    page.click("Log out")
    wait_until(lambda: browser.current_url == looking + "/login")


def test_a_page_of_another_origin_gets_no_websocket(
    browser: WebDriver, changing: str, looking: str
) -> None:
    opened = """
        const done = arguments[1], socket = new WebSocket(arguments[0]);
        socket.onopen = () => done('open'); socket.onerror = () => done('refused');
    """
    path = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    target = changing.replace("http", "ws") + path
    browser.get(changing + "/")
    assert browser.execute_async_script(opened, target) == "open"
    browser.get(looking + "/login")  # Another port is another origin.
    assert browser.execute_async_script(opened, target) == "refused"


def test_a_thousand_topics_are_found_at_once(browser: WebDriver, cluster: Cluster) -> None:
    asyncio.run(write_topics(cluster, 1000, 10))
    with console(*addresses(cluster, "/thousand")) as base:
        page = Page(browser, base)
        page.open("/topics")
        page.see("1,000 of 1,000 topics")
        began = time.monotonic()
        page.open("/topics")
        page.see("topic-0001", ROWS)
        assert time.monotonic() - began < 10
        assert len(page.texts(ROWS)) == 50
        page.write("input[placeholder*='filter']", "0777")
        wait_until(lambda: len(page.texts(ROWS)) == 1)
        page.open("/")
        page.see("10,000 partitions")


async def write_topics(cluster: Cluster, topics: int, partitions: int) -> None:
    """As a controller would, in a tree of their own."""
    topic = write_topic(bytes(range(16)), dict.fromkeys(range(partitions), Assignment((1, 2))))
    state = write_state(PartitionState(1, 0, (1, 2), 1))
    async with ZooKeeperClient(cluster.zookeeper, random=Random()) as client:
        for path in ("/thousand", "/thousand/brokers", "/thousand/brokers/topics"):
            await client.create(path)
        made = []
        for number in range(topics):
            root = f"/thousand/brokers/topics/topic-{number:04d}"
            made += [client.create(root, topic), client.create(f"{root}/partitions")]
            for it in range(partitions):
                made.append(client.create(f"{root}/partitions/{it}"))
                made.append(client.create(f"{root}/partitions/{it}/state", state))
        await asyncio.gather(*made)


def test_pictures_of_all_pages_are_taken_when_asked_for(page: Page, cluster: Cluster) -> None:
    if not os.environ.get("ODRADEK_PICTURES"):
        pytest.skip("set ODRADEK_PICTURES=1 to have docs/pictures written")
    with busy(cluster):
        for name, path in reversed(PAGES.items()):
            page.open(path)
            page.see('"order"' if name == "messages" else CONTENT[name], ".nicegui-content")
            if name == "overview":
                wait_until(lambda: page.driver.execute_script(LINE_HAS_POINTS))
            if name != "timeline":  # That one was taken when there was something to see.
                take_picture(page, name)


LINE_HAS_POINTS = "return document.querySelector('polyline').points.length > 12"


@contextmanager
def busy(cluster: Cluster) -> Iterator[None]:
    """Messages come, now more, now less, as long as the block."""
    is_over = threading.Event()

    def work() -> None:
        number = 2000
        while not is_over.wait(0.2):
            count = 40 + number * 7 % 160
            produce(cluster, number, count)
            number += count

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
