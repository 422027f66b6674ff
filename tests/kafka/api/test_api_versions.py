"""ApiVersions: what is advertised is what is served."""

from __future__ import annotations

from odradek.kafka.server.dispatch import HANDLERS
from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.kafka.broker.served import Served, with_broker


async def ask(
    served: Served, version: int, name: str = "a", number: str = "1.0"
) -> ApiVersionsResponse:
    message = ApiVersionsRequest(client_software_name=name, client_software_version=number)
    return await served.ask(message, version, ApiVersionsResponse)


@with_broker()
async def test_all_that_is_in_the_table_is_advertised_with_all_its_versions(
    served: Served,
) -> None:
    for version in range(5):
        answer = await ask(served, version)
        assert answer.error_code == 0
        assert [each.api_key for each in answer.api_keys] == sorted(HANDLERS)
        for each in answer.api_keys:
            assert (each.min_version, each.max_version) == APIS[each.api_key].versions


@with_broker()
async def test_the_features_have_the_epoch_that_zookeeper_gives_them(served: Served) -> None:
    served.broker.metadata.features_epoch = 7
    assert (await ask(served, 3)).finalized_features_epoch == 7
    assert (await ask(served, 2)).finalized_features_epoch == -1


@with_broker()
async def test_a_name_that_no_software_has_is_refused(served: Served) -> None:
    for name in ("", "-a", "a-", "a b", "a\n", "ä"):
        for names in ((name, "1"), ("a", name)):
            answer = await ask(served, 3, *names)
            assert (answer.error_code, answer.api_keys) == (ErrorCode.INVALID_REQUEST, [])
            assert (await ask(served, 2, *names)).error_code == 0
    for name in ("a", "apache-kafka-java", "librdkafka", "1.2.3-rc.1"):
        assert (await ask(served, 4, name, name)).error_code == 0
