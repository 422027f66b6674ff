"""The table of an accident says who was struck and what was felt of it."""

from __future__ import annotations

from odradek.demo.accident import Accident
from odradek.kafka.client.errors import TopicPartition


def test_the_table_tells_the_story_in_order() -> None:
    led = TopicPartition("orders", 1), TopicPartition("revenue", 0)
    accident = Accident("broker-2", 4711, led, "broker-3", 6.94, 12.0, 1.25)
    lines = [line.split("  ", 1) for line in accident.table().splitlines()]
    assert [(what, text.strip()) for what, text in lines] == [
        (
            "killed (SIGKILL)",
            "broker-2, pid 4711: the controller, and leader of orders-1, revenue-0",
        ),
        ("next ack", "6.9 s after the kill"),
        ("controller since", "broker-3"),
        ("started again", "12.0 s after the kill"),
        ("all in sync", "1.2 s after that"),
    ]
