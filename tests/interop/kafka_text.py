"""What our Java programs and Apache's tools print, less what no two brokers share."""

from __future__ import annotations

import re

from tests.interop.apache_kafka import ApacheBroker
from tests.kafka.server.running import RunningBroker
from tests.processes import HOST

Broker = RunningBroker | ApacheBroker
HEAD = re.compile(r"\b(zookeeper\.connect)=\S+?(?=[ ,\]}])")


def shared(text: str, broker: Broker) -> list[str]:
    """The lines of a text, without port and directories of a broker."""
    text = text.replace(f"{HOST}:{broker.port}", "BROKER").replace(str(broker.data), "DIRECTORY")
    return HEAD.sub(r"\1=ZOOKEEPER", text).splitlines()
