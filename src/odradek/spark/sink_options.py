"""The options of the sink: those of Spark's Kafka connector, and how surely it delivers.

`delivery` is at-least-once or, for streams, exactly-once; what the latter decided is kept in the
topic `decisionsTopic`, and its transactions have ids that start with `transactionalIdPrefix`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odradek.kafka.client.producer_settings import (
    ProducerSettings,
    problems_of_producer,
    producer_settings,
)
from odradek.spark.option_errors import InvalidOptions
from odradek.spark.options import GivenOptions

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

AT_LEAST_ONCE, EXACTLY_ONCE = "at-least-once", "exactly-once"
KNOWN = (
    "topic",
    "includeHeaders",
    "delivery",
    "decisionsTopic",
    "transactionalIdPrefix",
    # Spark's own, which it hands on.
    "checkpointLocation",
    "queryName",
    "path",
)
REFUSED = {
    "kafka.key.serializer": "keys are strings or bytes: cast the column instead",
    "kafka.value.serializer": "values are strings or bytes: cast the column instead",
    "kafka.interceptor.classes": "interceptors are classes of Java",
    "kafka.partitioner.class": "partitioners are classes of Java: add a column partition",
    "kafka.transactional.id": "use delivery=exactly-once, and transactionalIdPrefix if need be",
}
HEADERS = "array<struct<key:string,value:binary>>"
COLUMNS: dict[str, tuple[str, ...]] = {
    "topic": ("string",),
    "key": ("string", "binary"),
    "value": ("string", "binary"),
    "headers": (HEADERS,),
    "partition": ("int",),
}
# The most that brokers allow by default: a decision must be carried out before it is over.
TRANSACTION_TIMEOUT_MS = 900_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkOptions:
    """What a query asked for."""

    producer: ProducerSettings
    topic: str | None = None
    is_exactly_once: bool = False
    decisions_topic: str = "odradek-decisions"
    transactional_id_prefix: str = "odradek"


def parse_sink_options(
    given: Mapping[str, str], schema: StructType, *, is_stream: bool
) -> SinkOptions:
    """Read the options of a query; refuse them, and its columns, with all that is wrong."""
    options = GivenOptions(given)
    delivery = options.word("delivery", (AT_LEAST_ONCE, EXACTLY_ONCE))
    topic = options.get("topic")
    options.word("includeHeaders", ("false", "true"))
    options.refuse_what_is_unknown(KNOWN, REFUSED)
    options.problems += problems_of_columns(schema, topic)
    properties = options.properties()
    is_exactly_once = delivery == EXACTLY_ONCE
    if is_exactly_once:
        options.problems += problems_of_exactly_once(properties, is_stream)
    problems = problems_of_producer(properties)
    options.problems += [f"kafka.{problem}" for problem in problems]
    if options.problems:
        raise InvalidOptions(options.problems)
    more: dict[str, Any] = {}
    if is_exactly_once and "transaction.timeout.ms" not in properties:
        more["transaction_timeout_ms"] = TRANSACTION_TIMEOUT_MS
    return SinkOptions(
        producer=producer_settings(properties, **more).for_task(),
        topic=topic,
        is_exactly_once=is_exactly_once,
        decisions_topic=options.get("decisionsTopic") or "odradek-decisions",
        transactional_id_prefix=options.get("transactionalIdPrefix") or "odradek",
    )


def problems_of_columns(schema: StructType, topic: str | None) -> list[str]:
    """What is wrong with the columns; those that a topic has no place for are left alone."""
    types = {field.name: field.dataType.simpleString() for field in schema.fields}
    problems = [
        f"column {name} {types[name]}: must be {' or '.join(allowed)}"
        for name, allowed in COLUMNS.items()
        if name in types and types[name] not in allowed
    ]
    if "value" not in types:
        problems.append("there is no column value")
    if "topic" not in types and topic is None:
        problems.append("there is neither an option topic nor a column topic")
    return problems


def problems_of_exactly_once(properties: Mapping[str, str], is_stream: bool) -> list[str]:
    problems = []
    if not is_stream:
        problems.append(f"delivery={EXACTLY_ONCE} is for streams: a batch query has no second try")
    if properties.get("acks", "all").lower() not in ("all", "-1"):
        problems.append(f"kafka.acks={properties['acks']}: {EXACTLY_ONCE} needs all")
    if properties.get("enable.idempotence", "true").lower() != "true":
        problems.append(f"kafka.enable.idempotence=false: {EXACTLY_ONCE} needs it")
    return problems
