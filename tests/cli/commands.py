"""Stories of the command line, told to any cluster: each asks commands, and looks at their JSON.

They are told to our servers by `make test` and to Apache's by `make interop`.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer

from odradek.cli.main import main
from tests.waiting import wait_until

WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class Said:
    """What a command says, and how it ends."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        assert self.code == 0, self.err
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True, slots=True)
class Teller:
    """Runs commands against one cluster, in this process."""

    bootstrap: str
    zookeeper: str

    def run(self, *words: object, given: str = "") -> Said:
        out, err, stdin = io.StringIO(), io.StringIO(), sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()))
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = main(list(map(str, words)))
        finally:
            sys.stdin = stdin
        assert "Traceback" not in err.getvalue(), err.getvalue()
        return Said(code, out.getvalue(), err.getvalue())

    def kafka(self, *words: object, given: str = "") -> Said:
        return self.run(*words, "--bootstrap", self.bootstrap, given=given)

    def znode(self, *words: object, given: str = "") -> Said:
        return self.run("znode", *words, "--zookeeper", self.zookeeper, given=given)


def tell_of_topics(to: Teller) -> None:
    name = "cli-topics"
    made = to.kafka("topic", "create", name, "-p", 2, "-c", "retention.ms=90000", "--json").json
    assert (made["topic"], made["dry_run"], len(made["partitions"])) == (name, False, 2)
    again = to.kafka("topic", "create", name)
    assert (again.code, "TOPIC_ALREADY_EXISTS" in again.err) == (1, True)
    assert to.kafka("topic", "create", "a b").code == 1
    would = to.kafka("topic", "create", "cli-would-be", "--dry-run", "--json").json
    assert would == {"topic": "cli-would-be", "dry_run": True}
    (listed,) = [it for it in to.kafka("topic", "list", "--json").json if it["topic"] == name]
    assert listed == {
        "topic": name,
        "partitions": 2,
        "replicas": 1,
        "under_replicated": 0,
        "internal": False,
    }
    (described,) = to.kafka("topic", "describe", name, "--json").json
    assert sorted(described) == ["configs", "internal", "partitions", "topic", "topic_id"]
    assert described["configs"] == {"retention.ms": "90000"}
    broker = described["partitions"][0]["leader"]
    assert described["partitions"][1] == {
        "partition": 1,
        "leader": broker,
        "leader_epoch": 0,
        "replicas": [broker],
        "isr": [broker],
        "offline": [],
    }
    altered = to.kafka("topic", "alter", name, "-p", 3, "-u", "retention.ms", "--json").json
    assert (altered["partitions"], altered["unset"]) == (3, ["retention.ms"])
    assert "INVALID_PARTITIONS" in to.kafka("topic", "alter", name, "-p", 1).err
    (described,) = to.kafka("topic", "describe", name, "--json").json
    assert (len(described["partitions"]), described["configs"]) == (3, {})
    moved = to.kafka("topic", "move", name, "--to", broker, "-p", 0, "--json").json
    assert moved == {
        "moves": [{"topic": name, "partition": 0, "from": [broker], "to": [broker]}],
        "done": True,
        "dry_run": False,
    }
    assert to.kafka("topic", "delete", name, "--json").json == {"deleted": [name]}
    assert "has no topic" in to.kafka("topic", "describe", name).err


def tell_of_plans(to: Teller, directory: Path) -> None:
    name, plan = "cli-plans", directory / "plan.json"
    to.kafka("topic", "create", name, "-p", 2)
    (described,) = to.kafka("topic", "describe", name, "--json").json
    broker = described["partitions"][0]["leader"]
    would = to.kafka("topic", "move", name, "--to", broker, "--plan", plan, "--dry-run", "--json")
    assert would.json["dry_run"]
    row = {"topic": name, "replicas": [broker], "log_dirs": ["any"]}
    assert json.loads(plan.read_text()) == {
        "version": 1,
        "partitions": [{**row, "partition": number} for number in range(2)],
    }
    limits = ("--throttle", 10**6, "--log-dirs-throttle", 10**6)
    moved = to.kafka("topic", "move", "--plan", plan, *limits, "--json").json
    assert moved == {
        "moves": [
            {"topic": name, "partition": number, "from": [broker], "to": [broker]}
            for number in range(2)
        ],
        "done": True,
        "dry_run": False,
    }
    plan.write_text("{}")
    assert "partitions" in to.kafka("topic", "move", "--plan", plan).err
    assert to.kafka("topic", "move", name).code == to.kafka("topic", "move").code == 2
    to.kafka("topic", "delete", name)


def tell_of_records(to: Teller, directory: Path) -> None:
    name = "cli-records"
    to.kafka("topic", "create", name, "-p", 2)
    lines = "".join(f"k{number}:v{number}\n" for number in range(20))
    words = ["produce", name, "-s", ":", "-H", "from=stdin", "--compression", "lz4", "--json"]
    assert to.kafka(*words, given=lines).json == {"topic": name, "records": 20, "bytes": 100}
    read = to.kafka("consume", name, "--json").lines
    assert sorted(it["value"] for it in read) == sorted(f"v{number}" for number in range(20))
    assert sorted(read[0]) == [
        "headers", "key", "offset", "partition", "time", "timestamp", "topic", "value",
    ]  # fmt: skip
    assert read[0]["headers"] == [["from", "stdin"]]
    file = directory / "values"
    file.write_text("\n".join(json.dumps(it) for it in read))
    to.kafka("topic", "create", "cli-copy", "-p", 2)
    copy = to.kafka("produce", "cli-copy", "--objects", "-f", file, "--json").json
    assert copy["records"] == 20
    assert to.kafka("produce", name, "00ff", "--format", "hex", "-p", 1, "-k", "bin").code == 0
    last = to.kafka("consume", name, "-p", 1, "--from=-1", "--format", "base64", "--json").lines
    assert [(it["key"], it["value"]) for it in last] == [("bin", "AP8=")]
    since = last[0]["timestamp"]
    late = to.kafka("consume", name, "--from", f"time:{since}", "--format", "hex").out.split()
    assert late == ["00ff"]
    assert to.kafka("consume", name, "-k", "-n", 1, "-s", "=").out.count("=") == 1
    file.write_bytes(b"a\nb")
    assert to.kafka("produce", name, "--whole", "-f", file, "-p", 0).code == 0
    assert to.kafka("consume", name, "-p", 0, "--from=-1").out == "a\nb\n"


def tell_of_groups(to: Teller) -> None:
    name, group = "cli-groups", "cli-group"
    to.kafka("topic", "create", name)
    to.kafka("produce", name, *"abcde")
    assert to.kafka("consume", name, "-g", group, "-n", 2).out == "a\nb\n"
    listed = to.kafka("group", "list", "--json").json
    assert [it["state"] for it in listed if it["group"] == group] == ["Empty"]
    described = to.kafka("group", "describe", group, "--json").json
    assert (described["state"], described["lag"], described["members"]) == ("Empty", 3, [])
    assert described["partitions"] == [
        {"topic": name, "partition": 0, "committed": 2, "end": 5, "lag": 3, "member": None}
    ]
    shown = to.kafka("group", "reset", group, "--to", "+1", "--json").json
    assert shown == {
        "group": group,
        "partitions": [{"topic": name, "partition": 0, "from": 2, "to": 3}],
        "executed": False,
    }
    words = ["group", "reset", group, "-t", f"{name}:0", "--json"]
    assert to.kafka(*words, "--to", "99").json["partitions"][0]["to"] == 5
    assert to.kafka(*words, "--to", "time:1970-01-02").json["partitions"][0]["to"] == 0
    assert to.kafka(*words, "--to", "earliest", "--execute").json["executed"]
    assert to.kafka("consume", name, "-g", group).out == "a\nb\nc\nd\ne\n"
    assert to.kafka("consume", name, "-g", group).out == ""
    tell_of_members(to, name, group)
    assert to.kafka("group", "delete", group, "--json").json == {"deleted": group}


def tell_of_members(to: Teller, name: str, group: str) -> None:
    consumer = Consumer({"bootstrap.servers": to.bootstrap, "group.id": group})
    consumer.subscribe([name])
    wait_until(lambda: consumer.poll(0.05) is None and consumer.assignment(), WITHIN_S)
    described = to.kafka("group", "describe", group, "--json").json
    assert described["state"] == "Stable"
    assert [it["partitions"] for it in described["members"]] == [[f"{name}-0"]]
    assert described["partitions"][0]["member"] == described["members"][0]["member"]
    refused = to.kafka("group", "reset", group, "--to", "latest", "--execute")
    assert (refused.code, "UNKNOWN_MEMBER_ID" in refused.err) == (1, True)
    consumer.close()


def tell_of_settings(to: Teller) -> None:
    name = "cli-settings"
    to.kafka("topic", "create", name)
    whose = f"topic:{name}"
    assert to.kafka("config", "set", whose, "max.message.bytes=5000", "--json").json == {
        "whose": whose,
        "set": {"max.message.bytes": "5000"},
        "unset": [],
        "dry_run": False,
    }
    wait_until(lambda: len(to.kafka("config", "show", whose, "--json").json) == 1, WITHIN_S)
    (shown,) = to.kafka("config", "show", whose, "--json").json
    assert shown == {
        "key": "max.message.bytes",
        "value": "5000",
        "source": "topic",
        "read_only": False,
        "sensitive": False,
    }
    assert "INVALID_CONFIG" in to.kafka("config", "set", whose, "no.such=1").err
    assert len(to.kafka("config", "show", whose, "--all", "--json").json) > 20
    keys = {it["key"] for it in to.kafka("config", "show", "broker:1", "--json").json}
    assert {"broker.id", "log.dirs"} <= keys


def tell_of_the_cluster(to: Teller) -> None:
    to.kafka("topic", "create", "cli-cluster", "-p", 3)
    said = to.kafka("cluster", "--zookeeper", to.zookeeper, "--check", "--json").json
    assert sorted(said) == [
        "brokers", "cluster_id", "controller", "controller_epoch", "offline", "partitions",
        "topics", "under_replicated",
    ]  # fmt: skip
    assert (said["controller"], said["controller_epoch"]) == (1, 1)
    (broker,) = said["brokers"]
    assert (broker["broker"], broker["endpoint"]) == (1, to.bootstrap)
    assert broker["leads"] == broker["in_sync"] == said["partitions"] >= 3
    assert broker["epoch"] > 0


def tell_of_brokers_by_zookeeper(to: Teller) -> None:
    """`to.bootstrap` is a zk://…"""
    name = "cli-by-zookeeper"
    to.kafka("topic", "create", name, "-p", 2)
    assert name in [row["topic"] for row in to.kafka("topic", "list", "--json").json]
    assert to.kafka("produce", name, "hello").code == 0
    assert to.kafka("consume", name).out == "hello\n"
    said = to.kafka("cluster", "--json").json
    assert said["controller_epoch"] >= 1  # Without being told a second time where ZooKeeper is.
    assert all(it["epoch"] > 0 for it in said["brokers"])
    to.kafka("topic", "delete", name)


def tell_of_znodes(to: Teller, directory: Path) -> None:
    assert to.znode("create", "/cli/a/b", "data", "--parents", "--json").json == {
        "path": "/cli/a/b"
    }
    got = to.znode("get", "/cli/a/b", "--json").json
    assert (got["data"], got["stat"]["version"], len(got["stat"])) == ("data", 0, 11)
    assert to.znode("set", "/cli/a/b", "6d6f7265", "--format", "hex", "-v", 0).code == 0
    assert "BadVersion" in to.znode("set", "/cli/a/b", "x", "-v", 0).err
    assert to.znode("get", "/cli/a/b").out == "more\n"
    assert to.znode("ls", "/cli", "--json").json == {"path": "/cli", "children": ["a"]}
    tree = to.znode("tree", "/cli", "--json").json
    assert [it["path"] for it in tree] == ["/cli", "/cli/a", "/cli/a/b"]
    assert to.znode("stat", "/cli/a", "--json").json["stat"]["children"] == 1
    acl = to.znode("acl", "/cli/a", "--json").json["acl"]
    assert acl == [{"scheme": "world", "id": "anyone", "perms": "rwcda"}]
    entries = ["--set", "world:anyone:rcdaw", "--set", "ip:127.0.0.1:r"]
    assert len(to.znode("acl", "/cli/a", *entries, "--json").json["acl"]) == 2
    file = directory / "tree"
    assert to.znode("export", "/cli", "-f", file).code == 0
    assert to.znode("delete", "/cli", "-r", "--json").json["deleted"][-1] == "/cli"
    assert "NoNode" in to.znode("get", "/cli").err
    counts = to.znode("import", "-f", file, "--json").json
    assert counts == {"created": 3, "replaced": 0, "kept": 0}
    assert to.znode("get", "/cli/a/b").out == "more\n"
    assert to.znode("import", "-f", file, "--replace", "--json").json["replaced"] == 3
    assert to.znode("delete", "/cli", "-r").code == 0


def tell_of_transactions(to: Teller) -> None:
    name, id_ = "cli-transactions", "cli-transaction"
    to.kafka("topic", "create", name)
    producer = Producer({"bootstrap.servers": to.bootstrap, "transactional.id": id_})
    producer.init_transactions(WITHIN_S)
    producer.begin_transaction()
    producer.produce(name, b"open")
    producer.flush(WITHIN_S)
    states = {it["transactional_id"]: it["state"] for it in to.kafka("txn", "list", "--json").json}
    assert states[id_] == "Ongoing"
    described = to.kafka("txn", "describe", id_, "--json").json
    assert described["partitions"] == [f"{name}-0"]
    (writer,) = to.kafka("txn", "producers", f"{name}:0", "--json").json
    assert (writer["producer_id"], writer["open_since"]) == (described["producer_id"], 0)
    committed = ["consume", name, "--isolation", "read_committed"]
    assert to.kafka(*committed).out == ""
    assert to.kafka("consume", name).out == "open\n"
    words = ["txn", "abort", f"{name}:0", "--producer-id", writer["producer_id"], "--json"]
    assert to.kafka(*words).json["aborted"]
    assert "has no transaction open" in to.kafka(*words).err.replace("\n", " ").replace("│ ", "")
    to.kafka("produce", name, "after")
    assert to.kafka(*committed).out == "after\n"


def tell_of_files(to: Teller, data: Path) -> None:
    name = "cli-files"
    to.kafka("topic", "create", name)
    to.kafka("produce", name, "one", "two", "-k", "k")
    rows = to.kafka("log", "dirs", "-t", name, "--json").json
    assert [(it["topic"], it["partition"], it["bytes"] > 0) for it in rows] == [(name, 0, True)]
    directory = data / f"{name}-0"
    (batch, *records) = [
        row
        for row in to.run("log", "dump", directory, "-r", "--json").lines
        if row["kind"] in ("batch", "record")
    ]
    assert (batch["base_offset"], batch["records"], batch["problem"]) == (0, 2, None)
    assert [(it["key"], it["value"]) for it in records] == [("k", "one"), ("k", "two")]
    assert to.run("log", "verify", directory, "--json").json == {"partitions": 1, "problems": []}
    assert to.run("log", "verify", data, "--json").json["problems"] == []


def tell_of_speed(to: Teller) -> None:
    rows = to.kafka("bench", "-n", 2000, "--round-trips", 5, "--json").json
    assert [it["what"] for it in rows] == ["write", "read", "one by one"]
    assert all(it["records_per_s"] > 0 for it in rows)
    assert rows[2]["p50_ms"] > 0


STORIES: list[Callable[[Teller], None]] = [
    tell_of_topics,
    tell_of_groups,
    tell_of_settings,
    tell_of_the_cluster,
    tell_of_transactions,
    tell_of_speed,
]
