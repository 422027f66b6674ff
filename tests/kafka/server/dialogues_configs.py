"""What brokers are asked about configs: all of them, and to change some."""

from __future__ import annotations

from odradek.kafka.wire.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResponse,
)
from odradek.kafka.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from odradek.kafka.wire.messages.incremental_alter_configs import (
    AlterableConfig as Change,
)
from odradek.kafka.wire.messages.incremental_alter_configs import (
    AlterConfigsResource as ChangedResource,
)
from odradek.kafka.wire.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from tests.kafka.server.dialogues_records import make
from tests.kafka.server.transcript import Transcript

TOPIC, BROKER, LOGGER = 2, 4, 8
SET, DELETE, APPEND, SUBTRACT = range(4)


def describe(
    to: Transcript,
    note: str,
    kind: int,
    name: str,
    keys: list[str] | None = None,
    version: int = 4,
    *,
    synonyms: bool = True,
) -> None:
    """Ask for configs: all of them, or those with these keys."""
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    request = DescribeConfigsRequest(
        resources=[resource], include_synonyms=synonyms and version > 0
    )
    to.ask(request, version, DescribeConfigsResponse, note)


def change(
    to: Transcript,
    note: str,
    kind: int,
    name: str,
    *changes: tuple[str, int, str | None],
    version: int = 1,
    only_validate: bool = False,
) -> None:
    configs = [
        Change(name=key, config_operation=operation, value=value)
        for key, operation, value in changes
    ]
    resource = ChangedResource(resource_type=kind, resource_name=name, configs=configs)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=only_validate)
    to.ask(request, version, IncrementalAlterConfigsResponse, note)


def configs_dialogue(to: Transcript) -> None:
    make(to, "plain")
    make(to, "set", retention_ms="1234", cleanup_policy="compact,delete", segment_bytes="5000")
    to.title("DescribeConfigs")
    for version in range(5):
        describe(to, "a topic", TOPIC, "set", ["retention.ms", "flush.ms"], version)
    describe(to, "a plain topic", TOPIC, "plain")
    describe(to, "a topic with its own", TOPIC, "set")
    describe(to, "without synonyms", TOPIC, "set", synonyms=False)
    describe(to, "the broker", BROKER, "1")
    describe(to, "all brokers", BROKER, "")
    describe(to, "no such key", TOPIC, "set", ["no.such.key"])
    describe(to, "no key", TOPIC, "set", [])
    describe(to, "no such topic", TOPIC, "nowhere")
    describe(to, "a bad name", TOPIC, "a b")
    describe(to, "another broker", BROKER, "2")
    describe(to, "no number", BROKER, "one")
    describe(to, "no such kind", 3, "x")

    to.title("IncrementalAlterConfigs")
    for version in range(2):
        change(to, "set", TOPIC, "plain", ("flush.ms", SET, "55"), version=version)
    change(to, "append", TOPIC, "plain", ("cleanup.policy", APPEND, "compact"))
    change(to, "subtract", TOPIC, "plain", ("cleanup.policy", SUBTRACT, "delete"))
    change(to, "delete", TOPIC, "set", ("retention.ms", DELETE, None))
    change(to, "validated", TOPIC, "set", ("retention.ms", SET, "7"), only_validate=True)
    describe(to, "a changed topic", TOPIC, "plain", ["flush.ms", "cleanup.policy"])
    describe(to, "a changed topic", TOPIC, "set", ["retention.ms"])
    change(to, "unknown", TOPIC, "plain", ("no.such", SET, "1"))
    change(to, "bad", TOPIC, "plain", ("flush.ms", SET, "soon"))
    change(to, "null", TOPIC, "plain", ("flush.ms", SET, None))
    change(to, "no list", TOPIC, "plain", ("flush.ms", APPEND, "1"))
    change(to, "twice", TOPIC, "plain", ("flush.ms", SET, "1"), ("flush.ms", SET, "2"))
    change(to, "no such topic", TOPIC, "nowhere", ("flush.ms", SET, "1"))
    change(to, "nothing", TOPIC, "plain")
    change(to, "the broker", BROKER, "1", ("log.cleaner.threads", SET, "2"))
    change(to, "all brokers", BROKER, "", ("log.retention.ms", SET, "777777"))
    change(to, "read-only", BROKER, "1", ("broker.id", SET, "2"))
    change(to, "read-only", BROKER, "1", ("zookeeper.connect", SET, "x"))
    change(to, "too many threads", BROKER, "1", ("num.io.threads", SET, "1000"))
    change(to, "only for one", BROKER, "", ("listeners", SET, "PLAINTEXT://:1"))
    change(to, "another broker", BROKER, "2", ("log.cleaner.threads", SET, "1"))
    change(to, "no such kind", 3, "x", ("a", SET, "b"))
    describe(to, "the changed broker", BROKER, "1", ["log.cleaner.threads", "log.retention.ms"])
    describe(to, "all brokers", BROKER, "")
    describe(to, "a topic of changed brokers", TOPIC, "set", ["retention.ms"])
    change(to, "back", BROKER, "1", ("log.cleaner.threads", DELETE, None))
    change(to, "back", BROKER, "", ("log.retention.ms", DELETE, None))

    to.title("AlterConfigs")
    for version in range(3):
        alter(to, "replaced", TOPIC, "set", {"flush.messages": f"{version + 5}"}, version)
    describe(to, "a replaced topic", TOPIC, "set", ["flush.messages", "cleanup.policy"])
    alter(to, "null", TOPIC, "set", {"flush.ms": None})
    alter(to, "bad", TOPIC, "set", {"flush.ms": "x"})
    alter(to, "no such topic", TOPIC, "nowhere", {"flush.ms": "1"})
    alter(to, "emptied", TOPIC, "set", {})


def alter(
    to: Transcript,
    note: str,
    kind: int,
    name: str,
    configs: dict[str, str | None],
    version: int = 2,
) -> None:
    listed = [AlterableConfig(name=key, value=value) for key, value in configs.items()]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=listed)
    request = AlterConfigsRequest(resources=[resource], validate_only=False)
    to.ask(request, version, AlterConfigsResponse, note)
