"""What the parts of a multi ask for."""

from __future__ import annotations

import pytest

from odradek.zookeeper.state.parts import parts_of
from odradek.zookeeper.state.tree import OPEN_LIST
from odradek.zookeeper.wire.codes import CreateMode, Op
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.requests import CreateRequest, CreateTTLRequest, DeleteRequest
from odradek.zookeeper.wire.multi import MultiRequest
from tests.zookeeper.state.asking import Asking


def create(flags: int) -> CreateRequest:
    return CreateRequest("/a", b"", OPEN_LIST, flags)


def create_ttl(flags: int) -> CreateTTLRequest:
    return CreateTTLRequest("/a", b"", OPEN_LIST, flags, 1000)


@pytest.mark.parametrize("op", [Op.CREATE, Op.CREATE2, Op.CREATE_CONTAINER])
def test_the_flag_of_a_container_makes_one(op: int) -> None:
    request = MultiRequest([(op, create(CreateMode.CONTAINER))])
    assert parts_of(request) == [(Op.CREATE_CONTAINER, create(CreateMode.CONTAINER))]


def test_without_a_flag_for_it_there_is_no_time_to_live() -> None:
    request = MultiRequest([(Op.CREATE_TTL, create_ttl(CreateMode.EPHEMERAL))])
    assert parts_of(request) == [(Op.CREATE, create(CreateMode.EPHEMERAL))]


def test_what_has_the_flag_keeps_its_time_to_live() -> None:
    operations = [(Op.CREATE_TTL, create_ttl(CreateMode.PERSISTENT_WITH_TTL))]
    assert parts_of(MultiRequest([*operations])) == operations


@pytest.mark.parametrize(
    "spoiling",
    [
        create(7),
        create(-1),
        create(CreateMode.PERSISTENT_WITH_TTL),
        CreateRequest("/a", b"", None, 0),
    ],
    ids=["unknown", "negative", "no time to live", "no ACL"],
)
def test_one_part_without_sense_spoils_the_whole(spoiling: CreateRequest) -> None:
    request = MultiRequest([(Op.DELETE, DeleteRequest("/a", -1)), (Op.CREATE, spoiling)])
    assert parts_of(request) is None
    assert Asking().ask(Op.MULTI, request) is Error.MARSHALLING_ERROR


def test_a_multi_that_could_not_be_read_takes_a_zxid() -> None:
    asking = Asking()
    assert asking.ask(Op.MULTI, None) is Error.MARSHALLING_ERROR
    assert asking.tree.last_zxid == 1
