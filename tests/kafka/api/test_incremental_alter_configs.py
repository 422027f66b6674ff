"""Single settings are set and deleted, lists grow and shrink, loggers are turned up and down."""

from __future__ import annotations

import logging

from odradek.kafka.admin.resources import ResourceType
from odradek.kafka.settings.alterations import Operation
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from tests.kafka.api.administered import Administered, administered

SET, DELETE, APPEND, SUBTRACT = Operation
LOGGER = "odradek.tests.alterable"


def resource(kind: int, name: str, *changes: tuple[str, int, str | None]) -> AlterConfigsResource:
    return AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            AlterableConfig(name=key, config_operation=code, value=value)
            for key, code, value in changes
        ],
    )


def topic(*changes: tuple[str, int, str | None]) -> AlterConfigsResource:
    return resource(ResourceType.TOPIC, "t", *changes)


def loggers(*changes: tuple[str, int, str | None], name: str = "1") -> AlterConfigsResource:
    return resource(ResourceType.BROKER_LOGGER, name, *changes)


async def alter(
    stage: Administered,
    *resources: AlterConfigsResource,
    version: int = 1,
    validate_only: bool = False,
) -> list[ErrorCode]:
    message = IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    response = await stage.ask(message, version, IncrementalAlterConfigsResponse)
    return [ErrorCode(it.error_code) for it in response.responses]


@administered()
async def test_a_topics_settings_change_one_by_one(stage: Administered) -> None:
    await stage.create("t")
    fetch = stage.broker.configs.fetch
    for version in (0, 1):
        both = topic(("flush.ms", SET, "1"), ("cleanup.policy", APPEND, "compact"))
        assert await alter(stage, both, version=version) == [ErrorCode.NONE]
        assert await fetch("topics/t") == {"flush.ms": "1", "cleanup.policy": "delete,compact"}
        less = topic(("flush.ms", DELETE, None), ("cleanup.policy", SUBTRACT, "delete"))
        assert await alter(stage, less, version=version) == [ErrorCode.NONE]
        assert await fetch("topics/t") == {"cleanup.policy": "compact"}
        assert await alter(stage, topic(("cleanup.policy", DELETE, None))) == [ErrorCode.NONE]
        assert await fetch("topics/t") == {}


@administered()
async def test_a_brokers_settings_come_into_force(stage: Administered) -> None:
    own = resource(ResourceType.BROKER, "1", ("log.retention.ms", SET, "1000"))
    everybody = resource(ResourceType.BROKER, "", ("log.retention.ms", SET, "2000"))
    assert await alter(stage, own, everybody) == [ErrorCode.NONE, ErrorCode.NONE]
    await stage.until(lambda: stage.broker.layers.of_one and stage.broker.layers.of_all)
    assert stage.broker.settings.log_retention_ms == 1000
    forgotten = resource(ResourceType.BROKER, "1", ("log.retention.ms", DELETE, None))
    assert await alter(stage, forgotten) == [ErrorCode.NONE]
    await stage.until(lambda: stage.broker.settings.log_retention_ms == 2000)


@administered()
async def test_each_resource_is_refused_for_its_own_reason(stage: Administered) -> None:
    await stage.create("t")
    assert await alter(stage, topic(("flush.ms", SET, "soon"))) == [ErrorCode.INVALID_CONFIG]
    assert await alter(stage, topic(("nonsense", SET, "1"))) == [ErrorCode.INVALID_CONFIG]
    assert await alter(stage, topic(("flush.ms", APPEND, "1"))) == [ErrorCode.INVALID_CONFIG]
    assert await alter(stage, topic(("flush.ms", SET, None))) == [ErrorCode.INVALID_REQUEST]
    assert await alter(stage, topic(("flush.ms", 9, "1"))) == [ErrorCode.INVALID_REQUEST]
    twice = topic(("flush.ms", SET, "1"), ("flush.ms", SET, "2"))
    assert await alter(stage, twice) == [ErrorCode.INVALID_REQUEST]
    same = topic(("flush.ms", SET, "1"))
    assert await alter(stage, same, same) == [ErrorCode.INVALID_REQUEST] * 2
    other = resource(ResourceType.BROKER, "2", ("log.retention.ms", SET, "1"))
    fixed = resource(ResourceType.BROKER, "1", ("log.dirs", SET, "/x"))
    unknown = resource(77, "x", ("a", SET, "1"))
    assert await alter(stage, other, fixed, unknown) == [ErrorCode.INVALID_REQUEST] * 3
    assert await stage.broker.configs.fetch("topics/t") == {}


@administered()
async def test_nothing_is_written_where_it_is_only_to_be_checked(stage: Administered) -> None:
    await stage.create("t")
    good = topic(("flush.ms", SET, "1"))
    quiet = loggers((LOGGER, SET, "ERROR"))
    logging.getLogger(LOGGER).setLevel(logging.INFO)
    assert await alter(stage, good, quiet, validate_only=True) == [ErrorCode.NONE] * 2
    assert await stage.broker.configs.fetch("topics/t") == {}
    assert logging.getLogger(LOGGER).level == logging.INFO


@administered()
async def test_loggers_are_turned_up_and_down(stage: Administered) -> None:
    logger = logging.getLogger(LOGGER)
    assert await alter(stage, loggers((LOGGER, SET, "ERROR"))) == [ErrorCode.NONE]
    assert logger.level == logging.ERROR
    assert await alter(stage, loggers((LOGGER, DELETE, None))) == [ErrorCode.NONE]
    assert logger.level == logging.NOTSET


@administered()
async def test_loggers_are_refused_what_they_cannot_be(stage: Administered) -> None:
    logging.getLogger(LOGGER)
    refused = [
        (loggers((LOGGER, SET, "LOUD")), ErrorCode.INVALID_CONFIG),
        (loggers(("odradek.tests.nobody", SET, "INFO")), ErrorCode.INVALID_CONFIG),
        (loggers(("root", DELETE, None)), ErrorCode.INVALID_REQUEST),
        (loggers((LOGGER, APPEND, "INFO")), ErrorCode.INVALID_REQUEST),
        (loggers((LOGGER, SET, "INFO"), name="2"), ErrorCode.INVALID_REQUEST),
    ]
    for asked, code in refused:
        assert await alter(stage, asked) == [code]
