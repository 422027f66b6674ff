"""The admin server, asked over HTTP."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha1
from pathlib import Path
from socket import socket
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from kazoo.security import make_digest_acl

from odradek.zookeeper.server.admin import NAMES
from odradek.zookeeper.server.admin_commands import ALIASES
from odradek.zookeeper.server.node import ZooKeeperNode
from tests.zookeeper.server.in_process import HOST, connected, serving

SUPER = f"super:{b64encode(sha1(b'super:secret').digest()).decode()}"
SUPER_FLAGS = f"-Dzookeeper.DigestAuthenticationProvider.superDigest={SUPER}"
APACHE_NAMES = (
    "configuration connection_stat_reset connections dirs dump environment get_trace_mask hash "
    "initial_configuration is_read_only last_snapshot leader monitor "
    "observer_connection_stat_reset observers restore ruok server_stats set_trace_mask snapshot "
    "stat_reset stats system_properties voting_view watch_summary watches watches_by_path zabstate"
)


class Answer:
    """What came back."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = json.loads(self.body)
        return fields


def request(url: str, method: str, headers: dict[str, str]) -> Answer:
    try:
        with urlopen(Request(url, method=method, headers=headers)) as response:
            return Answer(response.status, dict(response.headers), response.read())
    except HTTPError as error:
        with error:
            return Answer(error.code, dict(error.headers), error.read())


async def get(
    node: ZooKeeperNode, path: str, method: str = "GET", authorization: str = ""
) -> Answer:
    assert node.operators.admin is not None
    headers = {"Authorization": authorization} if authorization else {}
    url = f"http://{HOST}:{node.operators.admin.port}{path}"
    return await asyncio.to_thread(request, url, method, headers)


def asked(tmp_path: Path, path: str, method: str = "GET", authorization: str = "") -> Answer:
    """What a fresh server answers."""

    async def run() -> Answer:
        async with serving(tmp_path, "", SUPER_FLAGS) as node:
            return await get(node, path, method, authorization)

    return asyncio.run(run())


def test_all_commands_are_listed_as_links(tmp_path: Path) -> None:
    page = asked(tmp_path, "/commands")
    links = [f'<a href="/commands/{name}">{name}</a>' for name in APACHE_NAMES.split()]
    assert page.body.decode().split("\n<br/>\n")[:-1] == links
    assert page.headers["Content-Type"] == "text/html;charset=utf-8"


def test_an_answer_is_json_with_the_command_and_the_error(tmp_path: Path) -> None:
    page = asked(tmp_path, "/commands/ruok")
    assert page.body == b'{\n  "command" : "ruok",\n  "error" : null\n}'
    assert page.headers["Content-Type"] == "application/json"


def test_every_command_answers_under_each_of_its_names(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node:
            for name in [*NAMES, *ALIASES]:
                page = await get(node, f"/commands/{name}")
                assert page.fields["command"] == ALIASES.get(name, name)
                assert page.status == (
                    401 if page.fields["command"] in ("restore", "snapshot") else 200
                )

    asyncio.run(run())


def test_an_unknown_command_is_an_error_that_names_it(tmp_path: Path) -> None:
    page = asked(tmp_path, "/commands/nosuch")
    assert page.status == 200
    assert page.fields == {"command": "nosuch", "error": "Unknown command: nosuch"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/commandsx", 404),
        ("HEAD", "/commands/ruok", 200),
        ("PUT", "/commands/ruok", 405),
        ("POST", "/commands/ruok", 405),
        ("POST", "/commands", 200),
    ],
)
def test_only_commands_are_there_and_only_to_be_read(
    tmp_path: Path, method: str, path: str, status: int
) -> None:
    assert asked(tmp_path, path, method).status == status


def test_a_server_that_does_not_serve_answers_what_it_can(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node:
            node.operators.overview.is_serving = False
            ruok, environment = [
                await get(node, f"/commands/{name}") for name in ("ruok", "environment")
            ]
            expected = "This ZooKeeper instance is not currently serving requests"
            assert ruok.fields["error"] == expected
            assert environment.fields["error"] is None

    asyncio.run(run())


def test_clients_are_told_with_their_sessions_watches_and_ephemerals(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node, connected(node) as client:
            session_id = client.client_id[0]
            await asyncio.to_thread(client.create, "/mine", b"", ephemeral=True)
            await asyncio.to_thread(client.get, "/mine", print)
            (one,) = (await get(node, "/commands/cons")).fields["connections"]
            assert one["session_id"] == session_id
            assert one["last_operation"] == "GETD"
            dump = (await get(node, "/commands/dump")).fields
            assert list(dump["expiry_time_to_session_ids"].values()) == [[session_id]]
            assert dump["session_id_to_ephemeral_paths"] == {str(session_id): ["/mine"]}
            watches = (await get(node, "/commands/wchc")).fields["session_id_to_watched_paths"]
            assert watches == {str(session_id): ["/mine"]}
            by_path = (await get(node, "/commands/wchp")).fields["path_to_session_ids"]
            assert by_path == {"/mine": [session_id]}

    asyncio.run(run())


def test_server_stats_tell_the_same_as_srvr(tmp_path: Path) -> None:
    fields = asked(tmp_path, "/commands/srvr").fields
    assert fields["version"].startswith("3.9.5-")
    assert fields["server_stats"]["server_state"] == "standalone"
    assert fields["server_stats"]["fsync_threshold_exceed_count"] == 0
    assert fields["client_response"]["last_buffer_size"] == -1
    assert fields["node_count"] == 5


def test_a_mask_is_set_by_number(tmp_path: Path) -> None:
    complaint = "setTraceMask requires long traceMask argument"
    assert asked(tmp_path, "/commands/stmk?traceMask=5").fields["tracemask"] == 5
    assert asked(tmp_path, "/commands/stmk").fields["error"] == complaint
    for wrong in ("x", str(1 << 63)):
        page = asked(tmp_path, f"/commands/stmk?traceMask={wrong}")
        assert page.fields["error"] == f"{complaint}, got {wrong}"


def test_the_configuration_is_told_without_secrets(tmp_path: Path) -> None:
    text = asked(tmp_path, "/commands/icfg").fields["initial_configuration"]
    assert f"dataDir={tmp_path}\n" in text
    assert SUPER not in text
    assert SUPER not in asked(tmp_path, "/commands/sysp").body.decode()


# Snapshots


@pytest.mark.parametrize(
    ("authorization", "status", "error"),
    [
        ("", 401, "Auth info is missing for the command"),
        ("digest", 401, "Not authenticated"),
        ("world anyone", 401, "Not authenticated"),
        ("digest a:b c", 401, "Not authenticated"),
        ("ip", 200, None),
        ("digest any:body", 200, None),  # The root is open to all.
    ],
)
def test_a_snapshot_needs_an_authorization(
    tmp_path: Path, authorization: str, status: int, error: str | None
) -> None:
    page = asked(tmp_path, "/commands/snapshot?streaming=false", authorization=authorization)
    assert (page.status, page.fields["error"]) == (status, error)


def test_who_has_not_all_permissions_on_the_root_may_not(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path, "", SUPER_FLAGS) as node, connected(node) as client:
            mine = make_digest_acl("me", "secret", all=True)
            await asyncio.to_thread(client.set_acls, "/", [mine])
            statuses = {
                who: (
                    await get(node, "/commands/snap?streaming=false", "GET", f"digest {who}")
                ).status
                for who in ("me:wrong", "me:secret")
            }
            assert statuses == {"me:wrong": 403, "me:secret": 200}

    asyncio.run(run())


def test_the_super_user_may(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path, "", SUPER_FLAGS) as node, connected(node) as client:
            mine = make_digest_acl("me", "secret", all=True)
            await asyncio.to_thread(client.set_acls, "/", [mine])
            page = await get(node, "/commands/snap", authorization="digest super:secret")
            assert page.status == 200

    asyncio.run(run())


def test_a_snapshot_is_written_and_sent(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path) as node, connected(node) as client:
            await asyncio.to_thread(client.create, "/a", b"x" * 500_000)
            page = await get(node, "/commands/snapshot", authorization="ip")
            stored = (tmp_path / "version-2" / "snapshot.2").read_bytes()
            assert page.body == stored
            assert page.headers["last_zxid"] == "0x2"
            assert page.headers["snapshot_size"] == str(len(stored))
            last = (await get(node, "/commands/lsnp")).fields
            assert last["zxid"] == "2"
            assert last["timestamp"] > 0

    asyncio.run(run())


def test_snapshots_are_not_taken_one_upon_the_other(tmp_path: Path) -> None:
    async def run() -> None:
        text = "admin.rateLimiterIntervalInMS=1000000000\n"
        async with serving(tmp_path, text) as node:
            answers = [
                await get(node, "/commands/snap?streaming=false", authorization="ip")
                for _ in range(2)
            ]
            assert [it.status for it in answers] == [200, 429]
            assert node.clients.stats.counts.snapshot_rate_limited_count == 1

    asyncio.run(run())


def test_a_fresh_server_has_a_snapshot_of_nothing(tmp_path: Path) -> None:
    fields = asked(tmp_path, "/commands/lsnp").fields
    assert fields["zxid"] == "0"
    assert fields["timestamp"] > 0


def test_a_running_server_does_not_restore(tmp_path: Path) -> None:
    page = asked(tmp_path, "/commands/restore", "POST", "ip")
    assert page.status == 503
    assert "stop the server" in page.fields["error"]


# The port


def test_a_port_that_is_taken_is_no_reason_not_to_serve(tmp_path: Path) -> None:
    async def run() -> None:
        with socket() as taken:
            taken.bind((HOST, 0))
            taken.listen()
            text = f"admin.serverPort={taken.getsockname()[1]}\n"
            async with serving(tmp_path, text) as node, connected(node) as client:
                assert node.operators.admin is None
                assert await asyncio.to_thread(client.exists, "/")

    asyncio.run(run())


def test_the_server_can_do_without(tmp_path: Path) -> None:
    async def run() -> None:
        async with serving(tmp_path, "admin.enableServer=false\n") as node:
            assert node.operators.admin is None
            assert node.operators.metrics is None

    asyncio.run(run())
