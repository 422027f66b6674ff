"""Four-letter words, as monitors and kazoo hear the answers."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from struct import pack

import pytest

from odradek.zookeeper.wire.words import WORDS
from tests.zookeeper.server.in_process import connected, say, serving

VERSION_LINE = r"Zookeeper version: 3\.9\.5-\S+, built on \d{4}-\d\d-\d\d \d\d:\d\d UTC\n"
FIGURES = (
    r"Latency min/avg/max: \d+/\d+\.\d{1,4}/\d+\nReceived: \d+\nSent: \d+\nConnections: 2\n"
    r"Outstanding: 0\nZxid: 0x[0-9a-f]+\nMode: standalone\nNode count: \d+\n"
)
PLACE = r" /127\.0\.0\.1:\d+\[[01]\]"
CONF_KEYS = (
    "clientPort secureClientPort dataDir dataDirSize dataLogDir dataLogSize tickTime "
    "maxClientCnxns minSessionTimeout maxSessionTimeout clientPortListenBacklog serverId"
)
DATE = r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d UTC \d{4}"


def answer(tmp_path: Path, word: bytes, text: str = "4lw.commands.whitelist=*\n") -> str:
    """What a fresh server says."""

    async def run() -> str:
        async with serving(tmp_path, text) as node:
            return await say(node, word)

    return asyncio.run(run())


def answer_with_client(tmp_path: Path, word: bytes) -> tuple[str, str]:
    """What a server says that has one client, and the id of the client's session.

    The client has an ephemeral znode, two watches of data and one of children.
    """

    async def run() -> tuple[str, str]:
        async with serving(tmp_path) as node, connected(node) as client:
            await asyncio.to_thread(client.create, "/mine", b"x", ephemeral=True)
            for path in ("/mine", "/"):
                await asyncio.to_thread(client.get, path, print)
            await asyncio.to_thread(client.get_children, "/", print)
            return await say(node, word), f"{client.client_id[0]:#x}"

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (b"ruok", "imok"),
        (b"isro", "rw"),
        (b"gtmk", "306"),
        (b"stmk" + pack(">q", 5), "5"),
        (b"crst", "Connection stats reset.\n"),
        (b"srst", "Server stats reset.\n"),
        (b"wchs", "0 connections watching 0 paths\nTotal watches:0\n"),
        (b"wchc", "\n"),
        (b"hash", ""),
    ],
)
def test_a_simple_word_gets_its_simple_answer(tmp_path: Path, word: bytes, expected: str) -> None:
    assert answer(tmp_path, word) == expected


def test_a_mask_that_was_set_is_shown(tmp_path: Path) -> None:
    async def run() -> str:
        async with serving(tmp_path) as node:
            await say(node, b"stmk" + pack(">q", 8))
            return await say(node, b"gtmk")

    assert asyncio.run(run()) == "8"


def test_only_srvr_is_allowed_unless_the_whitelist_says_more(tmp_path: Path) -> None:
    refused = answer(tmp_path / "a", b"ruok", "")
    assert refused == "ruok is not executed because it is not in the whitelist.\n"
    assert answer(tmp_path / "b", b"srvr", "").startswith("Zookeeper version: 3.9.5-")
    assert answer(tmp_path / "c", b"ruok", "4lw.commands.whitelist=mntr, ruok\n") == "imok"


def test_every_word_that_is_known_has_an_answer(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node:
            for word in sorted(WORDS - {b"stmk", b"hash"}):
                assert await say(node, word), word

    asyncio.run(run())


def test_a_server_that_does_not_serve_says_so(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node:
            node.operators.overview.is_serving = False
            expected = "This ZooKeeper instance is not currently serving requests\n"
            assert await say(node, b"srvr") == expected
            assert await say(node, b"ruok") == "imok"
            assert (await say(node, b"envi")).startswith("Environment:\n")

    asyncio.run(run())


def test_srvr_tells_the_figures_of_the_server(tmp_path: Path) -> None:
    text, _ = answer_with_client(tmp_path, b"srvr")
    assert re.fullmatch(VERSION_LINE + FIGURES, text)


def test_stat_tells_of_each_client_too(tmp_path: Path) -> None:
    text, _ = answer_with_client(tmp_path, b"stat")
    clients = rf"Clients:\n({PLACE}\(queued=0,recved=\d+,sent=\d+\)\n){{2}}\n"
    assert re.fullmatch(VERSION_LINE + clients + FIGURES, text)


def test_cons_tells_all_of_a_client_with_a_session(tmp_path: Path) -> None:
    text, session_id = answer_with_client(tmp_path, b"cons")
    first, second, *rest = text.split("\n")
    assert re.fullmatch(
        rf"{PLACE}\(queued=0,recved=\d+,sent=\d+,sid={session_id},lop=GETC,est=\d{{13}},to=10000,"
        r"lcxid=0x[0-9a-f]+,lzxid=0x2,lresp=\d+,llat=0,minlat=0,avglat=\d+,maxlat=\d+\)",
        first,
    )
    assert re.fullmatch(PLACE + r"\(queued=0,recved=1,sent=0\)", second)
    assert rest == ["", ""]


def test_dump_tells_when_sessions_end_and_what_they_own(tmp_path: Path) -> None:
    text, session_id = answer_with_client(tmp_path, b"dump")
    assert re.fullmatch(
        rf"SessionTracker dump:\nSession Sets \(1\)/\(1\):\n1 expire at {DATE}:\n\t{session_id}\n"
        rf"ephemeral nodes dump:\nSessions with Ephemerals \(1\):\n{session_id}:\n\t/mine\n"
        rf"Connections dump:\nConnections Sets \(2\)/\(2\):\n"
        rf"(1 expire at {DATE}:\n\tip: /127\.0\.0\.1:\d+ sessionId: (0x0|{session_id})\n){{2}}",
        text,
    )


def test_watches_of_children_are_not_told(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node, connected(node) as client:
            for path in ("/", "/zookeeper"):
                await asyncio.to_thread(client.get, path, print)
            await asyncio.to_thread(client.get_children, "/", print)
            session_id = f"{client.client_id[0]:#x}"
            assert await say(node, b"wchs") == "1 connections watching 2 paths\nTotal watches:2\n"
            assert await say(node, b"wchc") == f"{session_id}\n\t/\n\t/zookeeper\n\n"
            by_path = f"/\n\t{session_id}\n/zookeeper\n\t{session_id}\n\n"
            assert await say(node, b"wchp") == by_path

    asyncio.run(run())


def test_conf_tells_what_is_configured(tmp_path: Path) -> None:
    shown = dict(line.split("=") for line in answer(tmp_path, b"conf").splitlines())
    assert " ".join(shown) == CONF_KEYS
    assert shown["dataDir"] == f"{tmp_path}/version-2"
    assert (shown["minSessionTimeout"], shown["maxSessionTimeout"]) == ("4000", "40000")
    assert int(shown["clientPort"]) > 0


def test_dirs_tells_how_much_is_stored(tmp_path: Path) -> None:
    text, _ = answer_with_client(tmp_path, b"dirs")
    found = re.fullmatch(r"datadir_size: (\d+)\nlogdir_size: (\d+)\n", text)
    assert found
    assert int(found[1]) >= 65536  # One step of the log.


def test_envi_tells_what_the_server_runs_on(tmp_path: Path) -> None:
    first, *lines = answer(tmp_path, b"envi").splitlines()
    shown = dict(line.split("=", 1) for line in lines)
    assert first == "Environment:"
    assert list(shown)[:2] == ["zookeeper.version", "host.name"]
    assert re.fullmatch(r"\d+MB", shown["os.memory.total"])


def test_hash_tells_the_digest_after_every_128th_transaction(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node, connected(node) as client:
            await asyncio.to_thread(client.create, "/a", b"")
            while node.clients.tree.last_zxid < 127:
                await asyncio.to_thread(client.set, "/a", b"x")
            await asyncio.to_thread(client.set, "/a", b"y")
            assert node.clients.tree.last_zxid == 128
            assert await say(node, b"hash") == f"80: {node.clients.tree.digest}\n"

    asyncio.run(run())


def test_mntr_tells_one_figure_a_line(tmp_path: Path) -> None:
    text, _ = answer_with_client(tmp_path, b"mntr")
    lines = [line.split("\t") for line in text.splitlines()]
    shown = dict(lines)
    assert [name for name, _ in lines[:2]] == ["zk_version", "zk_server_state"]
    assert shown["zk_server_state"] == "standalone"
    assert shown["zk_watch_count"] == "3"
    assert shown["zk_ephemerals_count"] == shown["zk_global_sessions"] == "1"
    assert shown["zk_znode_count"] == "6"
    assert shown["zk_min_client_response_size"] == "25"  # A header, and "/mine" with its length.
    assert re.fullmatch(r"\d+\.\d+", shown["zk_avg_updatelatency"])
    assert {f"zk_{part}_readlatency" for part in ("avg", "min", "max", "cnt", "p999")} <= set(shown)
    assert "zk_p50_fsynctime" not in shown


def test_kazoo_understands_the_answers(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node, connected(node) as client:
            assert await asyncio.to_thread(client.server_version) == (3, 9, 5)
            assert "zk_version\t3.9.5" in await asyncio.to_thread(client.command, b"mntr")

    asyncio.run(run())
