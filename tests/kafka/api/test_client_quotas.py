"""Quotas are kept in ZooKeeper as Kafka keeps them, and found again by filters."""

from __future__ import annotations

import json

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
)
from odradek.kafka.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from tests.kafka.api.administered import Administered, administered

Entity = dict[str, str | None]
ALICE: Entity = {"user": "alice"}
BOTH: Entity = {"user": "alice", "client-id": None}
APP: Entity = {"client-id": "app 1"}
ADDRESS: Entity = {"ip": "127.0.0.1"}


async def alter(
    stage: Administered,
    entity: Entity,
    version: int = 1,
    *,
    validate_only: bool = False,
    **values: float | None,
) -> ErrorCode:
    entry = AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[
            OpData(key=key, value=value or 0.0, remove=value is None)
            for key, value in values.items()
        ],
    )
    message = AlterClientQuotasRequest(entries=[entry], validate_only=validate_only)
    response = await stage.ask(message, version, AlterClientQuotasResponse)
    (answer,) = response.entries
    assert {it.entity_type: it.entity_name for it in answer.entity} == entity
    return ErrorCode(answer.error_code)


async def describe(
    stage: Administered, *components: ComponentData, strict: bool = False
) -> list[tuple[Entity, dict[str, float]]]:
    message = DescribeClientQuotasRequest(components=list(components), strict=strict)
    response = await stage.ask(message, 1, DescribeClientQuotasResponse)
    assert response.error_code == ErrorCode.NONE and response.entries is not None
    return [
        (
            {each.entity_type: each.entity_name for each in it.entity},
            {each.key: each.value for each in it.values},
        )
        for it in response.entries
    ]


def component(kind: str, match_type: int, match: str | None = None) -> ComponentData:
    return ComponentData(entity_type=kind, match_type=match_type, match=match)


@administered()
async def test_quotas_are_kept_and_found(stage: Administered) -> None:
    assert await alter(stage, ALICE, 0, producer_byte_rate=1024.0) == ErrorCode.NONE
    assert await alter(stage, BOTH, consumer_byte_rate=2048.0) == ErrorCode.NONE
    assert await alter(stage, APP, request_percentage=12.5) == ErrorCode.NONE
    assert await alter(stage, ADDRESS, connection_creation_rate=5.0) == ErrorCode.NONE
    alice = (ALICE, {"producer_byte_rate": 1024.0})
    both = (BOTH, {"consumer_byte_rate": 2048.0})
    app = (APP, {"request_percentage": 12.5})
    address = (ADDRESS, {"connection_creation_rate": 5.0})
    assert await describe(stage) == [alice, app, both, address]
    exactly = component("user", 0, "alice")
    assert await describe(stage, exactly) == [alice, both]
    assert await describe(stage, exactly, strict=True) == [alice]
    assert await describe(stage, component("client-id", 1)) == [both]
    assert await describe(stage, component("ip", 2)) == [address]
    assert await describe(stage, strict=True) == []


@administered()
async def test_the_nodes_are_those_of_kafka(stage: Administered) -> None:
    await alter(stage, BOTH, consumer_byte_rate=2048.0)
    path = "/config/users/alice/clients/<default>"
    found = await stage.broker.keeper.read(path)
    assert found is not None
    assert json.loads(found[0]) == {"version": 1, "config": {"consumer_byte_rate": "2048"}}
    (change,) = await stage.broker.keeper.children("/config/changes")
    told = await stage.broker.keeper.read(f"/config/changes/{change}")
    assert told is not None
    assert json.loads(told[0]) == {
        "version": 2,
        "entity_path": "users/alice/clients/<default>",
    }
    await alter(stage, APP, request_percentage=1.0)
    assert await stage.broker.keeper.children("/config/clients") == ["app%201"]


@administered()
async def test_who_has_no_limit_any_more_leaves_no_node(stage: Administered) -> None:
    children = stage.broker.keeper.children
    await alter(stage, BOTH, consumer_byte_rate=2048.0)
    assert await alter(stage, BOTH, consumer_byte_rate=None) == ErrorCode.NONE
    assert await children("/config/users") == []
    await alter(stage, ALICE, producer_byte_rate=1.0)
    await alter(stage, BOTH, consumer_byte_rate=2048.0)
    await alter(stage, BOTH, consumer_byte_rate=None)
    assert await children("/config/users") == ["alice"]
    assert await children("/config/users/alice") == []
    await alter(stage, BOTH, consumer_byte_rate=2048.0)
    await alter(stage, ALICE, producer_byte_rate=None)
    assert await describe(stage) == [(BOTH, {"consumer_byte_rate": 2048.0})]


@administered()
async def test_what_makes_no_sense_is_refused(stage: Administered) -> None:
    invalid = ErrorCode.INVALID_REQUEST
    assert await alter(stage, {}, producer_byte_rate=1.0) == invalid
    assert await alter(stage, {"ip": "1.2.3.4", "user": "u"}, producer_byte_rate=1.0) == invalid
    assert await alter(stage, ALICE, nonsense=1.0) == invalid
    assert await alter(stage, ALICE, producer_byte_rate=1.5) == invalid
    nowhere: Entity = {"ip": "no such host.invalid"}
    assert await alter(stage, nowhere, connection_creation_rate=1.0) == invalid
    assert await stage.broker.keeper.children("/config/users") == []


@administered()
async def test_nothing_is_written_where_it_is_only_to_be_checked(stage: Administered) -> None:
    code = await alter(stage, ALICE, validate_only=True, producer_byte_rate=1.0)
    assert code == ErrorCode.NONE
    assert await stage.broker.keeper.children("/config/users") == []


@administered()
async def test_a_filter_that_makes_no_sense_is_refused(stage: Administered) -> None:
    for kind, code in (
        ("", ErrorCode.INVALID_REQUEST),
        ("group", ErrorCode.UNSUPPORTED_VERSION),
    ):
        message = DescribeClientQuotasRequest(components=[component(kind, 2)], strict=False)
        response = await stage.ask(message, 1, DescribeClientQuotasResponse)
        assert (response.error_code, response.entries) == (code, None)
