"""Groups, transactions and quotas by Java's clients, judged by what they see at Apache's broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.kafka_pair import Brokers, both_brokers
from tests.interop.kafka_programs import CLIENTS, told

PROGRAMS = ["Groups", "Commits", "GroupAdmin", "Transactions", "TransactionAdmin", "Quotas"]
SETTINGS: dict[str, object] = {
    "offsets.topic.num.partitions": 5,
    "transaction.state.log.num.partitions": 5,
    # How often transactions are looked at that have taken too long.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 200,
}


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    with both_brokers(tmp_path_factory.mktemp("brokers"), **SETTINGS) as pair:
        yield pair


@pytest.mark.parametrize("version", CLIENTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_java_client_sees_what_it_sees_at_apache(
    brokers: Brokers, kafka_classes: Path, program: str, version: str
) -> None:
    ours = told(program, version, kafka_classes, brokers.ours)
    assert ours == told(program, version, kafka_classes, brokers.theirs)
