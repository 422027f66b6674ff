"""All that is said of a topic or of brokers is replaced at once."""

from __future__ import annotations

from odradek.kafka.admin.resources import ResourceType
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResponse,
)
from tests.kafka.api.administered import Administered, administered


def resource(kind: int, name: str, **texts: str | None) -> AlterConfigsResource:
    return AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            AlterableConfig(name=key.replace("_", "."), value=text) for key, text in texts.items()
        ],
    )


async def alter(
    stage: Administered,
    *resources: AlterConfigsResource,
    version: int = 2,
    validate_only: bool = False,
) -> list[ErrorCode]:
    message = AlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    response = await stage.ask(message, version, AlterConfigsResponse)
    assert all(bool(it.error_code) == bool(it.error_message) for it in response.responses)
    return [ErrorCode(it.error_code) for it in response.responses]


@administered()
async def test_what_is_left_out_falls_back_to_its_default(stage: Administered) -> None:
    await stage.create("t")
    configs = stage.broker.configs
    for version in range(3):
        first = resource(ResourceType.TOPIC, "t", flush_ms=str(version + 1), segment_ms="7")
        assert await alter(stage, first, version=version) == [ErrorCode.NONE]
        assert await configs.fetch("topics/t") == {
            "flush.ms": str(version + 1),
            "segment.ms": "7",
        }
        second = resource(ResourceType.TOPIC, "t", retention_ms="9")
        assert await alter(stage, second, version=version) == [ErrorCode.NONE]
        assert await configs.fetch("topics/t") == {"retention.ms": "9"}
    await stage.until(lambda: configs.topic_settings("t").retention_ms == 9)


@administered()
async def test_brokers_hear_of_it_by_a_notification(stage: Administered) -> None:
    change = resource(ResourceType.BROKER, "", log_retention_ms="4321")
    assert await alter(stage, change) == [ErrorCode.NONE]
    (name,) = await stage.broker.keeper.children("/config/changes")
    found = await stage.broker.keeper.read(f"/config/changes/{name}")
    assert found is not None and b'"entity_path":"brokers/<default>"' in found[0]
    await stage.until(lambda: stage.broker.settings.log_retention_ms == 4321)


@administered()
async def test_each_resource_is_refused_for_its_own_reason(stage: Administered) -> None:
    await stage.create("t")
    await stage.create("u")
    assert await alter(
        stage,
        resource(ResourceType.TOPIC, "t", flush_ms="soon"),
        resource(ResourceType.TOPIC, "nobody", flush_ms="1"),
        resource(ResourceType.TOPIC, "", flush_ms="1"),
        resource(ResourceType.BROKER, "2", log_retention_ms="1"),
        resource(ResourceType.BROKER, "1", broker_rack="r"),
        resource(ResourceType.BROKER_LOGGER, "1", root="INFO"),
        resource(ResourceType.BROKER, "", log_retention_ms=None),
        resource(ResourceType.TOPIC, "u", flush_ms="1"),
    ) == [
        ErrorCode.INVALID_CONFIG,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NONE,
    ]
    assert await stage.broker.configs.fetch("topics/t") == {}
    assert await stage.broker.configs.fetch("topics/u") == {"flush.ms": "1"}


@administered()
async def test_nothing_is_written_where_it_is_only_to_be_checked(stage: Administered) -> None:
    await stage.create("t")
    good = resource(ResourceType.TOPIC, "t", flush_ms="1")
    assert await alter(stage, good, validate_only=True) == [ErrorCode.NONE]
    assert await stage.broker.configs.fetch("topics/t") == {}
    assert await stage.broker.keeper.children("/config/changes") == []
