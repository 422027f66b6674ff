"""Options by the names of Spark's connector: meaning, order, and what is refused."""

from __future__ import annotations

import pytest

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.settings import READ_COMMITTED
from odradek.spark.limits import Bound, GlobalTime, SpecificOffsets, SpecificTimes
from odradek.spark.option_errors import InvalidOptions
from odradek.spark.options import Assigned, Matching, SourceOptions, Subscribed, parse_options

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
HERE = {"kafka.bootstrap.servers": "localhost:9092"}


def parse(is_stream: bool = False, /, **given: str) -> SourceOptions:
    options = {key.replace("_", "."): value for key, value in given.items()}
    if not {"subscribe", "assign", "subscribePattern"} & set(options):
        options["subscribe"] = "t"
    return parse_options({**HERE, **options}, is_stream=is_stream)


def problems(is_stream: bool = False, /, **given: str) -> tuple[str, ...]:
    with pytest.raises(InvalidOptions) as raised:
        parse(is_stream, **given)
    return raised.value.problems


def test_defaults_are_those_of_sparks_connector() -> None:
    batch, stream = parse(), parse(True)
    assert (batch.starting, batch.ending) == (Bound.EARLIEST, Bound.LATEST)
    assert stream.starting is Bound.LATEST
    assert batch.fails_on_data_loss
    assert batch.poll_timeout_ms == 120_000
    assert (batch.offset_retries, batch.offset_retry_interval_ms) == (3, 10)
    assert stream.trigger_delay_ms_max == 15 * 60 * 1000
    assert not batch.is_latest_if_no_match


def test_topics_are_named_in_one_of_three_ways() -> None:
    assert parse(subscribe=" b, a,,a").strategy == Subscribed(("a", "b"))
    assert parse(assign='{"t":[1,0]}').strategy == Assigned((T0, T1))
    assert parse(subscribePattern="or.*").strategy == Matching("or.*")


def test_patterns_are_javas() -> None:
    strategy = parse(subscribePattern=r"(?<kind>[a-z]++)(?<!x)-\d").strategy
    assert strategy == Matching(r"(?P<kind>[a-z]++)(?<!x)-\d")


def test_names_are_told_apart_without_regard_to_case() -> None:
    assert parse(True, STARTINGOFFSETS="Earliest").starting is Bound.EARLIEST


def test_a_time_goes_before_times_and_those_before_offsets() -> None:
    offsets, times = '{"t":{"0":-2,"1":7}}', '{"t":{"0":1000}}'
    assert parse(startingOffsets=offsets).starting == SpecificOffsets({T0: -2, T1: 7})
    both = {"startingOffsets": offsets, "startingOffsetsByTimestamp": times}
    assert parse(**both).starting == SpecificTimes({T0: 1000})
    assert parse(**both, startingTimestamp="5").starting == GlobalTime(5)
    ending = {"endingOffsets": "latest", "endingOffsetsByTimestamp": times}
    assert parse(**ending).ending == SpecificTimes({T0: 1000})
    assert parse(**ending, endingTimestamp="6").ending == GlobalTime(6)


def test_the_rest_is_read() -> None:
    options = parse(
        True,
        failOnDataLoss="false",
        maxOffsetsPerTrigger="10",
        minOffsetsPerTrigger="5",
        maxTriggerDelay="2 min",
        minPartitions="3",
        maxRecordsPerPartition="4",
        minRecordsPerPartition="2",
        startingOffsetsByTimestampStrategy="latest",
        kafkaConsumer_pollTimeoutMs="50",
        kafka_isolation_level="read_committed",
        kafka_group_id="g",
        groupIdPrefix="p",
    )
    assert not options.fails_on_data_loss
    assert (options.offsets_per_trigger_min, options.offsets_per_trigger_max) == (5, 10)
    assert options.trigger_delay_ms_max == 120_000
    assert (options.partitions_min, options.records_per_partition_max) == (3, 4)
    assert options.records_per_partition_min == 2
    assert options.is_latest_if_no_match
    assert options.poll_timeout_ms == 50
    assert options.client.isolation_level == READ_COMMITTED


@pytest.mark.parametrize(
    ("text", "expected_ms"), [("500", 500), ("500ms", 500), ("2s", 2000), ("1h", 3_600_000)]
)
def test_durations_have_sparks_units(text: str, expected_ms: int) -> None:
    assert parse(maxTriggerDelay=text).trigger_delay_ms_max == expected_ms


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"subscribe": "t", "assign": '{"t":[0]}'}, "exactly one of assign, subscribe"),
        ({"subscribe": " , "}, "subscribe= , : names no topic"),
        ({"assign": "t"}, "assign=t: expected something like"),
        ({"assign": "{}"}, "names no partition"),
        ({"subscribePattern": "("}, "is no pattern that we can read"),
        ({"startingOffsets": "sometime"}, "startingOffsets=sometime: expected something like"),
        ({"startingOffsets": '{"t":{"0":1.5}}'}, "expected something like"),
        ({"startingOffsets": "latest"}, "startingOffsets=latest has nothing to read"),
        ({"startingOffsets": '{"t":{"0":-1}}'}, "startingOffsets: t-0 can't be latest"),
        ({"endingOffsets": "earliest"}, "endingOffsets=earliest has nothing to read"),
        ({"endingOffsets": '{"t":{"0":-2}}'}, "endingOffsets: t-0 can't be earliest"),
        ({"startingTimestamp": "noon"}, "must be a number of milliseconds"),
        ({"startingOffsetsByTimestampStrategy": "guess"}, "must be one of error, latest"),
        ({"failOnDataLoss": "maybe"}, "failOnDataLoss=maybe: must be one of true, false"),
        ({"includeHeaders": "yes"}, "includeHeaders=yes: must be one of false, true"),
        ({"minPartitions": "0"}, "minPartitions=0: must be a whole number of at least 1"),
        ({"maxRecordsPerPartition": "-1"}, "maxRecordsPerPartition=-1"),
        ({"maxTriggerDelay": "soon"}, "maxTriggerDelay=soon: must be a duration"),
        ({"startingOffset": "earliest"}, "did you mean startingOffsets?"),
        ({"kafka_auto_offset_reset": "none"}, "use startingOffsets instead"),
        ({"kafka_key_deserializer": "X"}, "kafka.key.deserializer is not supported"),
        ({"kafka_value_deserializer": "X"}, "kafka.value.deserializer is not supported"),
        ({"kafka_enable_auto_commit": "true"}, "kafka.enable.auto.commit is not supported"),
        ({"kafka_interceptor_classes": "X"}, "kafka.interceptor.classes is not supported"),
        ({"kafka_security_protocol": "SSL"}, "kafka.security.protocol=SSL: this client speaks"),
        ({"kafka_bootstrap_servers": "x"}, "kafka.bootstrap.servers=x"),
    ],
)
def test_what_cannot_be_is_refused_by_name(given: dict[str, str], expected: str) -> None:
    (problem,) = problems(**given)
    assert expected in problem


@pytest.mark.parametrize("name", ["endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"])
def test_a_stream_has_no_end(name: str) -> None:
    value = {"endingOffsets": "latest", "endingTimestamp": "5"}.get(name, '{"t":{"0":5}}')
    assert problems(True, **{name: value}) == (f"{name} is for batch queries: a stream has no end",)


def test_the_least_may_not_be_more_than_the_most() -> None:
    (problem,) = problems(True, minOffsetsPerTrigger="9", maxOffsetsPerTrigger="8")
    assert "minOffsetsPerTrigger=9 is more than maxOffsetsPerTrigger=8" in problem


def test_all_that_is_wrong_is_named_at_once() -> None:
    with pytest.raises(InvalidOptions) as raised:
        parse_options(
            {"failOnDataLoss": "?", "minPartitions": "x", "kafka.fetch.max.bytes": "no"},
            is_stream=False,
        )
    message = str(raised.value)
    for name in ("subscribe", "failOnDataLoss", "minPartitions", "fetch.max.bytes", "bootstrap"):
        assert name in message
