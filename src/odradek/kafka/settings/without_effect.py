"""Keys that are read, checked and then not acted upon; the broker names each that was given.

Whoever makes one of them work takes it out of the set. A name that ends in a dot stands for all
keys that begin so.
"""

from __future__ import annotations

WITHOUT_EFFECT_YET = frozenset(
    {
        # TLS and SASL.
        "ssl.",
        "sasl.",
        "zookeeper.ssl.",
        "connections.max.reauth.ms",
        "connection.failed.authentication.delay.ms",
        "security.providers",
        "principal.builder.class",
        # Who may do what.
        "authorizer.class.name",
        "delegation.token.",
        "zookeeper.set.acl",
        "create.topic.policy.class.name",
        "alter.config.policy.class.name",
        # Passwords in ZooKeeper.
        "password.encoder.",
        # Quotas.
        "client.quota.callback.class",
        # Groups of the newer protocols, which need KRaft.
        "group.consumer.",
        "group.coordinator.",
        "group.share.",
        # Many brokers.
        "replica.socket.receive.buffer.bytes",
        # Tiered storage.
        "remote.",
        "log.local.",
        # A cluster without ZooKeeper.
        "controller.quorum.",
        "controller.listener.names",
        "metadata.",
        "broker.heartbeat.interval.ms",
        "broker.session.timeout.ms",
        "initial.broker.registration.timeout.ms",
        "early.start.listeners",
        "eligible.leader.replicas.enable",
        "unclean.leader.election.interval.ms",
        "unstable.",
        "server.max.startup.time.ms",
        "log.dir.failure.timeout.ms",
        "alter.config.policy.kraft.compatibility.enable",
        "zookeeper.metadata.migration.",
        # Metrics that are pushed.
        "telemetry.max.bytes",
    }
)

# What steers the threads and classes of a JVM has nothing to steer here, and never will.
OF_THE_JVM = frozenset(
    {
        "num.network.threads",
        "num.io.threads",
        "background.threads",
        "num.recovery.threads.per.data.dir",
        "queued.max.requests",
        "queued.max.request.bytes",
        "delete.records.purgatory.purge.interval.requests",
        "fetch.purgatory.purge.interval.requests",
        "producer.purgatory.purge.interval.requests",
        "zookeeper.clientCnxnSocket",
        "auto.include.jmx.reporter",
        "kafka.metrics.",
        "metric.reporters",
        "metrics.",
    }
)


def why_without_effect(key: str) -> str:
    """Why this key changes nothing; "" if it does."""
    if is_among(key, OF_THE_JVM):
        return "has no effect: it steers the inside of a JVM"
    if is_among(key, WITHOUT_EFFECT_YET):
        return "has no effect yet"
    return ""


def is_among(key: str, names: frozenset[str]) -> bool:
    return key in names or any(name.endswith(".") and key.startswith(name) for name in names)
