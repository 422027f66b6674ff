"""The same requests to Apache's broker and to ours, live: each is answered the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek.kafka.server.dispatch import HANDLERS
from odradek.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.interop.kafka_pair import Brokers, both_brokers
from tests.kafka.server.dialogues import DIALOGUES, SETTINGS
from tests.kafka.server.recorded import answers_to
from tests.kafka.server.transcript import Transcript

# SASL and envelopes (17, 36, 58), and the groups of KIP-848, which a broker in ZooKeeper mode
# advertises and then refuses (68, 69).
NOT_YET = {17, 36, 58, 68, 69}


@pytest.fixture(scope="module")
def new_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    with both_brokers(tmp_path_factory.mktemp("brokers"), **SETTINGS) as pair:
        yield pair


@pytest.mark.parametrize("name", DIALOGUES)
def test_nobody_can_tell_the_brokers_apart(new_brokers: Brokers, name: str) -> None:
    ours = answers_to(name, new_brokers.ours.port)
    assert ours.splitlines() == answers_to(name, new_brokers.theirs.port).splitlines()


def advertised(port: int, version: int) -> dict[int, tuple[int, int]]:
    request = ApiVersionsRequest(client_software_name="it", client_software_version="1")
    with Transcript(port) as to:
        answer = to.ask_silently(request, version, ApiVersionsResponse)
        assert answer.error_code == 0
        assert (answer.finalized_features, answer.supported_features) == ([], [])
        assert answer.finalized_features_epoch == (0 if version >= 3 else -1)
        return {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}


@pytest.mark.parametrize("version", range(5))
def test_what_we_advertise_is_what_apache_does_less_what_does_not_work_yet(
    new_brokers: Brokers, version: int
) -> None:
    ours = advertised(new_brokers.ours.port, version)
    theirs = advertised(new_brokers.theirs.port, version)
    assert {key: theirs[key] for key in ours} == ours
    assert set(ours) == set(HANDLERS)
    assert set(theirs) - set(ours) == NOT_YET
