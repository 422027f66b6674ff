"""Which settings of a broker can be changed while it runs, and for whom.

Cluster-wide ones are kept for one broker or for all (`<default>`); those of a broker are its own.
Secrets of a listener can be changed for that listener alone.
"""

from __future__ import annotations

from enum import Enum

from odradek.kafka.settings.broker import BY_KEY
from odradek.kafka.settings.kinds import LONG_MAX, NATURAL_LONG
from odradek.kafka.settings.listener_keys import base_of
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import Declaration, setting

CLUSTER_WIDE = frozenset(
    {
        "background.threads",
        "num.io.threads",
        "num.network.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.type",
        "compression.zstd.level",
        "log.cleaner.backoff.ms",
        "log.cleaner.dedupe.buffer.size",
        "log.cleaner.delete.retention.ms",
        "log.cleaner.io.buffer.load.factor",
        "log.cleaner.io.buffer.size",
        "log.cleaner.io.max.bytes.per.second",
        "log.cleaner.max.compaction.lag.ms",
        "log.cleaner.min.cleanable.ratio",
        "log.cleaner.min.compaction.lag.ms",
        "log.cleaner.threads",
        "log.cleanup.policy",
        "log.flush.interval.messages",
        "log.flush.interval.ms",
        "log.index.interval.bytes",
        "log.index.size.max.bytes",
        "log.local.retention.bytes",
        "log.local.retention.ms",
        "log.message.downconversion.enable",
        "log.message.timestamp.after.max.ms",
        "log.message.timestamp.before.max.ms",
        "log.message.timestamp.difference.max.ms",
        "log.message.timestamp.type",
        "log.preallocate",
        "log.retention.bytes",
        "log.retention.ms",
        "log.roll.jitter.ms",
        "log.roll.ms",
        "log.segment.bytes",
        "log.segment.delete.delay.ms",
        "max.connection.creation.rate",
        "max.connections",
        "max.connections.per.ip",
        "max.connections.per.ip.overrides",
        "message.max.bytes",
        "metric.reporters",
        "min.insync.replicas",
        "producer.id.expiration.ms",
        "remote.fetch.max.wait.ms",
        "remote.log.index.file.cache.total.size.bytes",
        "remote.log.manager.copy.max.bytes.per.second",
        "remote.log.manager.fetch.max.bytes.per.second",
        "transaction.partition.verification.enable",
        "unclean.leader.election.enable",
    }
)
OF_A_LISTENER_ALONE = frozenset(
    {
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
PER_BROKER = OF_A_LISTENER_ALONE | frozenset(
    {
        "advertised.listeners",
        "listener.security.protocol.map",
        "listeners",
        "principal.builder.class",
        "sasl.enabled.mechanisms",
        "sasl.jaas.config",
        "sasl.kerberos.kinit.cmd",
        "sasl.kerberos.min.time.before.relogin",
        "sasl.kerberos.principal.to.local.rules",
        "sasl.kerberos.service.name",
        "sasl.kerberos.ticket.renew.jitter",
        "sasl.kerberos.ticket.renew.window.factor",
        "sasl.login.refresh.buffer.seconds",
        "sasl.login.refresh.min.period.seconds",
        "sasl.login.refresh.window.factor",
        "sasl.login.refresh.window.jitter",
        "sasl.mechanism.inter.broker.protocol",
        "ssl.cipher.suites",
        "ssl.client.auth",
        "ssl.enabled.protocols",
        "ssl.endpoint.identification.algorithm",
        "ssl.engine.factory.class",
        "ssl.keymanager.algorithm",
        "ssl.protocol",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
    }
)
# The limits of a listener, which may be the same on all brokers.
LISTENER_LIMITS = frozenset(
    {"max.connections", "max.connection.creation.rate", "num.network.threads"}
)


class UpdateMode(Enum):
    """For whom a setting can be changed while the broker runs."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class ReplicationThrottles(Chapter):
    """Rates of replication, in bytes a second: kept with the settings, and never in the file."""

    leader_replication_throttled_rate: int = setting(
        "leader.replication.throttled.rate", NATURAL_LONG, default=LONG_MAX
    )
    follower_replication_throttled_rate: int = setting(
        "follower.replication.throttled.rate", NATURAL_LONG, default=LONG_MAX
    )
    replica_alter_log_dirs_io_max_bytes_per_second: int = setting(
        "replica.alter.log.dirs.io.max.bytes.per.second", NATURAL_LONG, default=LONG_MAX
    )


THROTTLES = {it.key: it for it in ReplicationThrottles.declared.values()}


def update_mode(key: str) -> UpdateMode:
    if key in CLUSTER_WIDE:
        return UpdateMode.CLUSTER_WIDE
    return UpdateMode.PER_BROKER if key in PER_BROKER else UpdateMode.READ_ONLY


def is_read_only(key: str) -> bool:
    return update_mode(key) is UpdateMode.READ_ONLY


def is_of_one_broker(key: str) -> bool:
    """Whether all brokers cannot share this."""
    base = base_of(key)
    return key in PER_BROKER if base is None else base not in LISTENER_LIMITS


def declaration_of(key: str) -> Declaration | None:
    """How a key is read; None for a key that nobody but a plugin may know."""
    return BY_KEY.get(key) or THROTTLES.get(key) or BY_KEY.get(base_of(key) or "")


def is_hidden(declaration: Declaration | None) -> bool:
    """What nobody knows the type of may be a password, so it is not shown either."""
    return declaration is None or declaration.kind.is_secret


def is_password(key: str) -> bool:
    """Whether the value is kept encrypted."""
    declaration = declaration_of(key)
    return declaration is not None and declaration.kind.is_secret
