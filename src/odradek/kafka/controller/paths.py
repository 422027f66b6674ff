"""Where things are in ZooKeeper, below the chroot."""

from __future__ import annotations

from odradek.kafka.storage.names import TopicPartition

BROKER_IDS = "/brokers/ids"
BROKER_SEQUENCE = "/brokers/seqid"
TOPICS = "/brokers/topics"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
CLUSTER_ID = "/cluster/id"
FEATURE = "/feature"
CONFIGS = "/config"
CONFIG_CHANGES = "/config/changes"
CONFIG_CHANGE_PREFIX = "config_change_"
DELETE_TOPICS = "/admin/delete_topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_ELECTION = "/admin/preferred_replica_election"
ISR_CHANGES = "/isr_change_notification"
ISR_CHANGE_PREFIX = "isr_change_"
LOG_DIR_EVENTS = "/log_dir_event_notification"
LOG_DIR_EVENT_PREFIX = "log_dir_event_"
PRODUCER_IDS = "/latest_producer_id_block"
DEFAULT_ENTITY = "<default>"

# What every broker makes sure of when it starts, parents first.
AT_START = (
    "/consumers",
    "/brokers",
    BROKER_IDS,
    TOPICS,
    CONFIGS,
    CONFIG_CHANGES,
    "/admin",
    DELETE_TOPICS,
    BROKER_SEQUENCE,
    ISR_CHANGES,
    PRODUCER_IDS,
    LOG_DIR_EVENTS,
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
)
# What only its creator may read where ZooKeeper's ACLs are used, and what is open all the same.
SENSITIVE = ("/config/users", "/config/brokers", "/delegation_token/tokens")
ALWAYS_OPEN = "/consumers"


def broker(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def topic(name: str) -> str:
    return f"{TOPICS}/{name}"


def partitions(name: str) -> str:
    return f"{TOPICS}/{name}/partitions"


def partition(where: TopicPartition) -> str:
    return f"{TOPICS}/{where.topic}/partitions/{where.partition}"


def state(where: TopicPartition) -> str:
    return f"{TOPICS}/{where.topic}/partitions/{where.partition}/state"


def topic_to_delete(name: str) -> str:
    return f"{DELETE_TOPICS}/{name}"


def entity(entity_path: str) -> str:
    """The node of an entity, such as `topics/orders`, `users/u%201/clients/<default>`."""
    return f"{CONFIGS}/{entity_path}"


def topic_config(name: str) -> str:
    return f"{CONFIGS}/topics/{name}"


def is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root + "/")


def parents(path: str) -> list[str]:
    """All that is above a path, from the top."""
    names = path.strip("/").split("/")[:-1]
    return ["/" + "/".join(names[: end + 1]) for end in range(len(names))]


def sequence_number(name: str, prefix: str) -> int:
    """The number that ZooKeeper gave a sequential node; -1 if it is none of these."""
    digits = name.removeprefix(prefix)
    return int(digits) if digits.isdecimal() and name.startswith(prefix) else -1
