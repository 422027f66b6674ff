"""The errors in an answer, wherever they stand."""

from __future__ import annotations

from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.error_codes import error_codes, finder_of, has_errors
from odradek.kafka.wire.messages.api_versions import ApiVersionsResponse
from odradek.kafka.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from odradek.kafka.wire.messages.offset_fetch import OffsetFetchResponse
from odradek.kafka.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)


def produced(*codes: int) -> ProduceResponse:
    partitions = [
        PartitionProduceResponse(index=index, error_code=code, base_offset=0)
        for index, code in enumerate(codes)
    ]
    topic = TopicProduceResponse(name="t", partition_responses=partitions)
    return ProduceResponse(responses=[topic, topic])


def test_what_is_well_has_none() -> None:
    assert error_codes(produced(0, 0)) == []
    assert error_codes(ApiVersionsResponse(error_code=0, api_keys=[])) == []


def test_each_part_that_failed_is_found() -> None:
    assert error_codes(produced(0, 3, 6)) == [3, 6, 3, 6]


def test_the_error_of_the_whole_stands_first() -> None:
    data = PartitionData(partition_index=0, error_code=1, high_watermark=0, records=None)
    topic = FetchableTopicResponse(topic="t", partitions=[data])
    assert error_codes(FetchResponse(error_code=70, responses=[topic])) == [70, 1]


def test_what_a_version_lacks_may_be_null() -> None:
    assert error_codes(OffsetFetchResponse(error_code=15)) == [15]


def test_every_answer_can_be_looked_into() -> None:
    for api in APIS.values():
        assert has_errors(api.response)
        finder_of(api.response)
