"""Settings are described for whoever may be asked about them."""

from __future__ import annotations

from odradek.kafka.admin.resources import ResourceType
from odradek.kafka.settings.sources import Source
from odradek.kafka.settings.topic import TOPIC_BY_KEY
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import CreatableTopicConfig
from odradek.kafka.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from tests.kafka.api.administered import Administered, administered

NEWEST = 4


async def describe(
    stage: Administered,
    *resources: tuple[int, str],
    keys: list[str] | None = None,
    version: int = NEWEST,
) -> list[DescribeConfigsResult]:
    message = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
            for kind, name in resources
        ],
        include_synonyms=version > 0,
    )
    return (await stage.ask(message, version, DescribeConfigsResponse)).results


def by_name(result: DescribeConfigsResult) -> dict[str, DescribeConfigsResourceResult]:
    assert result.error_code == ErrorCode.NONE, result
    return {it.name: it for it in result.configs}


@administered()
async def test_all_configs_of_a_topic_are_listed_with_defaults(stage: Administered) -> None:
    configs = [CreatableTopicConfig(name="retention.ms", value="1234")]
    await stage.create("t", configs=configs)
    for version in range(NEWEST + 1):
        (result,) = await describe(stage, (ResourceType.TOPIC, "t"), version=version)
        entries = by_name(result)
        assert entries.keys() == set(TOPIC_BY_KEY)
        assert entries["retention.ms"].value == "1234"
        assert entries["cleanup.policy"].value == "delete"
        if version > 0:
            assert entries["retention.ms"].config_source == Source.TOPIC
            assert entries["cleanup.policy"].config_source == Source.DEFAULT
            assert entries["cleanup.policy"].synonyms[0].name == "log.cleanup.policy"


@administered(log_retention_ms=5000)
async def test_a_broker_describes_itself_and_all_brokers(stage: Administered) -> None:
    own, everybody = await describe(stage, (ResourceType.BROKER, "1"), (ResourceType.BROKER, ""))
    entries = by_name(own)
    assert len(entries) > 300
    assert entries["log.retention.ms"].value == "5000"
    assert entries["log.retention.ms"].config_source == Source.STATIC_BROKER
    assert not entries["log.retention.ms"].read_only
    assert entries["broker.id"].read_only
    assert by_name(everybody) == {}


@administered()
async def test_only_the_keys_that_were_asked_for_are_told(stage: Administered) -> None:
    await stage.create("t")
    keys = ["flush.ms", "nonsense"]
    (result,) = await describe(stage, (ResourceType.TOPIC, "t"), keys=keys)
    assert by_name(result).keys() == {"flush.ms"}


@administered()
async def test_each_resource_is_refused_for_its_own_reason(stage: Administered) -> None:
    results = await describe(
        stage,
        (ResourceType.TOPIC, "nobody"),
        (ResourceType.TOPIC, "a b"),
        (ResourceType.BROKER, "2"),
        (ResourceType.BROKER, "one"),
        (ResourceType.BROKER_LOGGER, ""),
        (ResourceType.BROKER_LOGGER, "2"),
        (ResourceType.CLIENT_METRICS, "m"),
    )
    assert [ErrorCode(it.error_code) for it in results] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        *[ErrorCode.INVALID_REQUEST] * 5,
    ]
    assert [it.resource_name for it in results[:3]] == ["nobody", "a b", "2"]
    assert all(it.configs == [] for it in results)


@administered()
async def test_an_unknown_kind_of_resource_spoils_the_whole_request(stage: Administered) -> None:
    results = await describe(stage, (ResourceType.BROKER, "1"), (77, "x"))
    assert [it.error_code for it in results] == [ErrorCode.INVALID_REQUEST] * 2


@administered()
async def test_loggers_have_levels(stage: Administered) -> None:
    (result,) = await describe(stage, (ResourceType.BROKER_LOGGER, "1"))
    entries = by_name(result)
    assert {"root", "odradek"} <= entries.keys()
    assert entries["root"].config_source == Source.DYNAMIC_BROKER_LOGGER
    levels = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}
    assert {it.value for it in entries.values()} <= levels
