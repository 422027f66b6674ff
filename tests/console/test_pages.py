"""What is written into the fields of pages, read; and what they say."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="the console is made with nicegui")

from odradek.console.decoding import Form
from odradek.console.gatherings import Server
from odradek.console.pages.ensemble import followers_text, session_row
from odradek.console.pages.messages import NoTime, detail, time_of
from odradek.console.pages.moving import NoBrokers, brokers_in
from odradek.console.pages.pipelines import partition_rows, pipeline_row
from odradek.console.pages.session import facts_of as session_facts
from odradek.console.pages.session import watcher_rows
from odradek.console.pages.znodes import acl_text, facts_of, in_order, joined, watchers_text
from odradek.console.pipelines import Pipeline
from odradek.console.reading import told
from odradek.console.sessions import Session, Sessions
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.wire.records import Record
from odradek.pipelines.standing import Standing
from odradek.zookeeper.wire.messages.data import ACL, Id, Stat


def test_a_time_without_a_zone_is_utc() -> None:
    assert time_of("1970-01-01T00:00:01") == time_of("1970-01-01T01:00:01+01:00") == 1000
    assert time_of("12345") == 12345
    with pytest.raises(NoTime, match="is no time"):
        time_of("yesterday")


def test_brokers_are_numbers() -> None:
    assert brokers_in("3, 1 2") == [3, 1, 2]
    for text in ("", "one", "1,-2"):
        with pytest.raises(NoBrokers, match="are no brokers"):
            brokers_in(text)


def test_a_record_is_told_whole() -> None:
    record = Record(5, 7, b"k", b'{"a":1}', (("h", b"v"), ("n", None)))
    assert detail(record, Form.AUTO) == (
        'key      k\nheader   h = v\nheader   n = null\n\n{\n  "a": 1\n}'
    )
    assert told(Record(5, 7, None, None), Form.AUTO) == {
        "offset": 5, "timestamp": 7, "key": None, "value": None, "headers": [],
    }  # fmt: skip


def test_children_stand_in_the_order_of_their_numbers() -> None:
    assert sorted(["b", "10", "9", "a"], key=in_order) == ["9", "10", "a", "b"]
    assert joined("/", ["a"]) + joined("/a", ["b"]) == ["/a", "/a/b"]


def test_a_znode_tells_whose_it_is_and_hides_hashes() -> None:
    stat = Stat(1, 2, 3, 4, 5, 6, 7, 0xAB, 8, 9, 10)
    facts = facts_of(stat, [ACL(31, Id("digest", "alice:hash"))])
    assert facts["ephemeral owner"] == "0xab"
    assert "hash" not in facts["ACL"] and facts["ACL"].endswith(":rwcda")
    assert acl_text(ACL(1, Id("world", "anyone"))) == "world:anyone:r"


SESSION = Session("0x1a", "127.0.0.1:46120", "z:1", "2000 ms", "PING", ("/a", "/b"), ("/e",))


def test_a_session_is_told_with_its_owner_and_what_hangs_on_it() -> None:
    assert session_row(SESSION, {"0x1a": "broker 1"}) == {
        "session": "0x1a", "owner": "broker 1", "peer": "127.0.0.1:46120", "server": "z:1",
        "timeout": "2000 ms", "last": "PING", "ephemerals": 1, "watches": 2,
        "href": "/session?id=0x1a",
    }  # fmt: skip
    assert session_facts(SESSION, {})["whose"] == "unknown"
    assert session_facts(None, {}) == {"state": "it has ended, or is between two servers"}


def test_a_znode_tells_who_watches_it_where_that_is_allowed() -> None:
    sessions = Sessions({"0x1a": SESSION}, tells_watches=True)
    (row,) = watcher_rows(sessions, "/b", {"0x1a": "broker 1"})
    assert (row["session"], row["owner"]) == ("0x1a", "broker 1")
    assert watcher_rows(sessions, "/c", {}) == []
    assert watchers_text(0, tells=True) == "No session watches its data."
    assert "wchc" in watchers_text(0, tells=False)


def test_a_query_is_a_row_and_so_are_the_partitions_that_it_reads() -> None:
    standing = Standing(
        "q1", "revenue", 1000, batch=3, rows=1234, offsets={"a b": {"0": 5, "1": 7}}
    )
    pipeline = Pipeline(standing, {TopicPartition("a b", 0): 9})
    row = pipeline_row(pipeline, 2000)
    assert (row["name"], row["state"], row["rows"], row["lag"]) == (
        "revenue",
        "running",
        "1,234",
        4,
    )
    assert row["href"] == "/pipeline?query=q1"
    first, second = partition_rows(pipeline)
    assert (first["partition"], first["offset"], first["end"], first["lag"]) == ("a b-0", 5, 9, 4)
    assert (second["end"], second["lag"], second["href"]) == (None, None, "/topics/a%20b/1")


def test_followers_are_told_where_that_is_allowed() -> None:
    assert followers_text(None) == ("0", "")
    assert followers_text(Server("z:1", "standalone")) == ("0", "it stands alone")
    synced = (("zk_synced_followers", "2"),)
    assert followers_text(Server("z:1", "leader", figures=synced)) == ("2", "")
    assert "mntr" in followers_text(Server("z:1", "leader"))[1]
