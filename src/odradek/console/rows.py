"""What stands in the tables of pages, from what is known; pure.

One pass over all partitions, however many there are: ten thousand are a few milliseconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from odradek.console.decoding import Form, clipped, shown
from odradek.console.gatherings import Group
from odradek.console.sights import NOBODY, Sights, listed
from odradek.console.timeline import Entry
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.records import Record

Row = dict[str, Any]


def time_text(time_ms: int) -> str:
    """A time as people read it, in UTC; "" if there is none."""
    if time_ms < 0:
        return ""
    moment = datetime.fromtimestamp(time_ms / 1000, UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{time_ms % 1000:03d}"


def znode_link(path: str) -> str:
    return f"/znodes?path={quote(path, safe='/')}"


def partition_link(topic: str, partition: int) -> str:
    return f"/topics/{quote(topic)}" + (f"/{partition}" if partition >= 0 else "")


def group_link(name: str) -> str:
    return f"/group?name={quote(name, safe='')}"


def broker_rows(sights: Sights) -> list[Row]:
    leads: Counter[int] = Counter()
    in_sync: Counter[int] = Counter()
    replicas: Counter[int] = Counter()
    for state in sights.states.values():
        leads[state.leader] += 1
        in_sync.update(state.isr)
    for topic in sights.topics.values():
        for assignment in topic.partitions.values():
            replicas.update(assignment.replicas)
    numbers = sorted({*sights.brokers, *replicas})
    return [broker_row(sights, it, leads[it], in_sync[it], replicas[it]) for it in numbers]


def broker_row(sights: Sights, number: int, leads: int, in_sync: int, replicas: int) -> Row:
    broker = sights.brokers.get(number)
    role = "controller" if number == sights.controller else "broker"
    return {
        "broker": number,
        "role": role if broker else "not there",
        "endpoint": broker.endpoint if broker else "",
        "rack": (broker.rack if broker else "") or "",
        "leads": leads,
        "in_sync": in_sync,
        "replicas": replicas,
        "session": f"{broker.session:#x}" if broker else "",
        "epoch": broker.epoch if broker else None,
        "href": znode_link(f"/brokers/ids/{number}"),
    }


def topic_rows(sights: Sights) -> list[Row]:
    short = Counter(it.topic for it in sights.short())
    leaderless = Counter(it.topic for it in sights.leaderless())
    return [
        {
            "topic": name,
            "partitions": len(node.partitions),
            "replicas": max((len(it.replicas) for it in node.partitions.values()), default=0),
            "short": short[name],
            "leaderless": leaderless[name],
            "internal": "internal" if name.startswith("__") else "",
            "href": partition_link(name, -1),
        }
        for name, node in sorted(sights.topics.items())
    ]


def partition_rows(sights: Sights, topic: str) -> list[Row]:
    node = sights.topics.get(topic)
    rows = []
    for number, assignment in sorted(node.partitions.items()) if node else ():
        state = sights.states.get(TopicPartition(topic, number))
        rows.append(
            {
                "partition": number,
                "leader": state.leader if state and state.leader != NOBODY else None,
                "epoch": state.leader_epoch if state else None,
                "isr": listed(state.isr) if state else "",
                "replicas": listed(assignment.replicas),
                "moving": "moving" if assignment.adding or assignment.removing else "",
                "is_short": bool(state and len(state.isr) < len(assignment.replicas)),
                "href": partition_link(topic, number),
                "znode": znode_link(f"/brokers/topics/{topic}/partitions/{number}/state"),
            }
        )
    return rows


def group_rows(groups: Iterable[Group], lags: dict[str, int | None]) -> list[Row]:
    return [
        {
            "group": it.name,
            "state": it.state,
            "members": len(it.members),
            "protocol": " ".join(filter(None, (it.protocol, it.assignor))),
            "coordinator": it.coordinator,
            "lag": lags.get(it.name),
            "href": group_link(it.name),
        }
        for it in groups
    ]


def event_rows(entries: Iterable[Entry]) -> list[Row]:
    return [
        {
            "number": number,
            "time": time_text(event.time_ms),
            "kind": str(event.kind),
            "text": event.text,
            **event_links(event.path, event.topic, event.partition, event.group),
        }
        for number, event in entries
    ]


def event_links(path: str, topic: str, partition: int, group: str) -> dict[str, str]:
    """Where the thing is that an event is about, and the znode that told of it."""
    found = {"about": "", "href": "", "path": path, "znode": "", "znode_href": ""}
    if topic:
        about = topic if partition < 0 else f"{topic}-{partition}"
        found |= {"about": about, "href": partition_link(topic, partition)}
    elif group:
        found |= {"about": group, "href": group_link(group)}
    if path:
        found |= {"znode": "znode" if topic else path, "znode_href": znode_link(path)}
    return found


def message_rows(records: Iterable[Record], form: Form) -> list[Row]:
    return [
        {
            "offset": it.offset,
            "time": time_text(it.timestamp),
            "key": "" if it.key is None else clipped(shown(it.key, form), 60),
            "value": clipped(shown(it.value, form)),
            "is_null": it.value is None,
            "headers": len(it.headers) or "",
        }
        for it in records
    ]
