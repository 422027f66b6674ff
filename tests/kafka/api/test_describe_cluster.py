"""The cluster is described as one listener's clients may use it."""

from __future__ import annotations

from odradek.kafka.admin.operations import ALL_OF_A_CLUSTER, NOT_ASKED
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from tests.kafka.api.administered import OTHERS, Administered, administered


def asking(*, operations: bool = False, endpoint_type: int = 1) -> DescribeClusterRequest:
    return DescribeClusterRequest(
        include_cluster_authorized_operations=operations, endpoint_type=endpoint_type
    )


@administered(broker_rack="attic")
async def test_brokers_and_controller_are_told(stage: Administered) -> None:
    for version in (0, 1):
        response = await stage.ask(asking(), version, DescribeClusterResponse, OTHERS)
        assert response.error_code == ErrorCode.NONE
        assert response.cluster_id == stage.broker.cluster_id
        assert response.controller_id == 1
        (broker,) = response.brokers
        assert (broker.broker_id, broker.port, broker.rack) == (1, stage.port(OTHERS), "attic")
        assert response.cluster_authorized_operations == NOT_ASKED


@administered()
async def test_operations_are_told_when_asked_for(stage: Administered) -> None:
    response = await stage.ask(asking(operations=True), 1, DescribeClusterResponse)
    assert response.cluster_authorized_operations == ALL_OF_A_CLUSTER


@administered()
async def test_a_controller_that_cannot_be_reached_by_the_listener_is_none(
    stage: Administered,
) -> None:
    response = await stage.ask(asking(), 1, DescribeClusterResponse, "NOBODY'S")
    assert (response.brokers, response.controller_id) == ([], -1)


@administered()
async def test_there_are_no_other_endpoints_than_brokers(stage: Administered) -> None:
    response = await stage.ask(asking(endpoint_type=2), 1, DescribeClusterResponse)
    assert response.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE
    response = await stage.ask(asking(endpoint_type=9), 1, DescribeClusterResponse)
    assert response.error_code == ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
