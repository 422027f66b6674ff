"""Our broker answers what Apache's 3.9.2 answered when it was asked the same.

`python -m tests.interop.record_kafka` records the answers anew.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kafka.server.dialogues import DIALOGUES, SETTINGS
from tests.kafka.server.recorded import answers_path, answers_to
from tests.kafka.server.running import RunningBroker, running_broker
from tests.zookeeper.server.running import running_server


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    # A broker says where its ZooKeeper is, so it must have been told.
    directory = tmp_path_factory.mktemp("recorded")
    with running_server(directory / "zookeeper") as zookeeper:
        settings = {"zookeeper.connect": f"{zookeeper.connect_string}/ours", **SETTINGS}
        with running_broker(directory / "broker", **settings) as running:
            yield running


@pytest.mark.parametrize("name", DIALOGUES)
def test_the_answers_are_those_of_apache(broker: RunningBroker, name: str) -> None:
    recorded = answers_path(name).read_text()
    assert answers_to(name, broker.port).splitlines() == recorded.splitlines()
