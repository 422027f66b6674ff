"""What Apache's command line tools say of two brokers, less what no two brokers share."""

from __future__ import annotations

import re

from tests.interop.apache_kafka import run_tool
from tests.interop.kafka_pair import Brokers
from tests.interop.kafka_text import Broker, shared

DRAWN = re.compile(r"(TopicId|Cluster ID): \S+|\"(usableBytes|totalBytes)\":\d+|Time:\S+")
UUID = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
TIME = re.compile(r"\b1[789]\d{11}\b(\s+\d+(?=\s))?")


def told(broker: Broker, tool: str, *arguments: str, given: str = "") -> tuple[int, list[str]]:
    """How a tool ended, and what it printed that any broker could have made it print."""
    done = run_tool(tool, "--bootstrap-server", broker.address, *arguments, given=given)
    lines = [DRAWN.sub(r"\1\2", line) for line in shared(done.stdout, broker)]
    return done.returncode, lines


def assert_equal(brokers: Brokers, tool: str, *arguments: str, given: str = "") -> list[str]:
    ours = told(brokers.ours, tool, *arguments, given=given)
    assert ours == told(brokers.theirs, tool, *arguments, given=given), (tool, arguments)
    return ours[1]


def same_table(brokers: Brokers, tool: str, *arguments: str) -> list[str]:
    """Rows that both brokers give, in whatever order: one blank between words, drawn ids left out.

    A time is left out with the number behind it, which is how long it is past.
    """

    def rows(broker: Broker) -> tuple[int, list[str]]:
        code, lines = told(broker, tool, *arguments)
        words = (TIME.sub("TIME", UUID.sub("UUID", line)).split() for line in lines)
        return code, sorted(" ".join(each) for each in words if each)

    ours, theirs = rows(brokers.ours), rows(brokers.theirs)
    assert ours == theirs, (tool, arguments)
    return ours[1]
