"""The broker that the tables were read from: its file, and what was altered."""

from __future__ import annotations

from odradek.kafka.settings import Layers
from tests.kafka.settings.server_properties import read

FILE = """\
broker.id=7
listeners=PLAINTEXT://127.0.0.1:9092
log.dirs=/data/logs
zookeeper.connect=127.0.0.1:2181
num.partitions=2
log.retention.hours=48
log.segment.bytes=1000000
log.cleaner.min.cleanable.ratio=0.25
my.plugin.key=abc
sasl.jaas.config=x
listener.name.plaintext.max.connections=50
log.initial.task.delay.ms=10
offsets.topic.replication.factor=1
password.encoder.secret=hunter2
"""
OF_ALL = {
    "log.retention.ms": "5000000",
    "listener.name.plaintext.max.connections": "x",  # Which Apache does not check.
    "min.insync.replicas": "2",
    "nonsense": "5",
    "log.segment.bytes": "2000000",
    "leader.replication.throttled.rate": "5",
    "max.connections": "5000",
}
OF_ONE = {
    "log.retention.ms": "6000000",
    "log.flush.interval.ms": "500",
    "nonsense": "5",
    "num.network.threads": "1",
    "leader.replication.throttled.rate": "5",
    "sasl.jaas.config": "secret",
    "log.cleanup.policy": "delete,compact",
    "listener.name.plaintext.max.connections": "40",
    "listener.name.plaintext.ssl.keystore.password": "p",
    "num.io.threads": "16",
    "listener.name.plaintext.ssl.keystore.type": "JKS",
    "sasl.enabled.mechanisms": "PLAIN",
    "advertised.listeners": "PLAINTEXT://h:1",
}
TOPIC_BEFORE = {"retention.ms": "1000", "cleanup.policy": "compact"}
TOPIC_AFTER = {
    "local.retention.ms": "999999",
    "cleanup.policy": "",
    "message.format.version": "0.10.0",
    "leader.replication.throttled.replicas": "",
    "flush.ms": " 5 ",
    "min.compaction.lag.ms": "9223372036854775807",
    "follower.replication.throttled.replicas": "0:2",
    "local.retention.bytes": "5",
    "retention.ms": "2000",
}
BEFORE = Layers(read(FILE))
AFTER = Layers(read(FILE), OF_ALL, OF_ONE)
