"""The settings of one broker, whole: all that a server.properties can say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from odradek.kafka.settings.cleaner import CleanerSettings
from odradek.kafka.settings.groups import (
    ConsumerGroupSettings,
    GroupSettings,
    ShareGroupSettings,
)
from odradek.kafka.settings.identity import (
    IdentitySettings,
    ZooKeeperSettings,
    ZooKeeperTlsSettings,
)
from odradek.kafka.settings.kraft import MetadataLogSettings, QuorumSettings
from odradek.kafka.settings.listener_keys import base_of, listener_of, prefix_of
from odradek.kafka.settings.listeners import ListenerSettings
from odradek.kafka.settings.logs import (
    FlushSettings,
    LogDirectorySettings,
    RetentionSettings,
    SegmentSettings,
)
from odradek.kafka.settings.monitoring import MonitoringSettings
from odradek.kafka.settings.network import ConnectionSettings, RequestSettings, SocketSettings
from odradek.kafka.settings.offsets import OffsetSettings
from odradek.kafka.settings.quotas import QuotaSettings
from odradek.kafka.settings.records import RecordSettings
from odradek.kafka.settings.remote import RemoteStorageSettings, RemoteTaskSettings
from odradek.kafka.settings.replication import LeadershipSettings, ReplicationSettings
from odradek.kafka.settings.sasl import (
    KerberosSettings,
    OauthSettings,
    SaslLoginSettings,
    SaslSettings,
)
from odradek.kafka.settings.security import (
    AuthorizationSettings,
    DelegationTokenSettings,
    PasswordEncoderSettings,
)
from odradek.kafka.settings.tls import TlsSettings
from odradek.kafka.settings.topic_creation import TopicCreationSettings
from odradek.kafka.settings.transactions import TransactionSettings
from odradek.kafka.settings.without_effect import why_without_effect
from odradek.runtime.declarations import TRIMMED, Declaration
from odradek.runtime.kinds import INT
from odradek.runtime.properties import Entry, Problem, Properties

ONE_ID = ("broker.id", "node.id")


class BrokerSettings(
    IdentitySettings,
    ZooKeeperSettings,
    ZooKeeperTlsSettings,
    ListenerSettings,
    ConnectionSettings,
    SocketSettings,
    RequestSettings,
    LogDirectorySettings,
    SegmentSettings,
    RetentionSettings,
    FlushSettings,
    RecordSettings,
    CleanerSettings,
    ReplicationSettings,
    LeadershipSettings,
    TopicCreationSettings,
    GroupSettings,
    ConsumerGroupSettings,
    ShareGroupSettings,
    OffsetSettings,
    TransactionSettings,
    QuotaSettings,
    RemoteStorageSettings,
    RemoteTaskSettings,
    AuthorizationSettings,
    DelegationTokenSettings,
    PasswordEncoderSettings,
    TlsSettings,
    SaslSettings,
    SaslLoginSettings,
    KerberosSettings,
    OauthSettings,
    MonitoringSettings,
    QuorumSettings,
    MetadataLogSettings,
):
    """Each key has a field named like it; one named `given_` has a property that says what is used.

    `log.segment.bytes` is `log_segment_bytes`; `log.retention.ms` is `given_log_retention_ms`,
    and `log_retention_ms` knows about minutes, hours and for ever.
    """

    properties: Properties
    without_effect: Sequence[Problem]

    def __init__(self, properties: Properties) -> None:
        properties = with_both_ids(properties)
        vars(self)["properties"] = properties
        super().__init__(properties)
        fields = vars(self)
        fields["warnings"] = [*self.warnings, *self._cautions()]
        fields["without_effect"] = list(self._without_effect())

    def of_listener(self, name: str) -> BrokerSettings:
        """The settings as one listener sees them: what is said of it alone comes first."""
        return BrokerSettings(self.properties.overridden_by(self.properties.under(prefix_of(name))))

    def disagreements(self) -> Iterator[tuple[str, str]]:
        for chapter in BrokerSettings.chapters():
            yield from chapter.disagreements(self)
        yield from self._security_disagreements()
        yield from self._option_disagreements()
        if self.given_node_id != self.given_broker_id:
            yield "node.id", "must be the same as broker.id"
        if self.early_start_listeners:
            yield "early.start.listeners", "must not be given where ZooKeeper is used"
        if 0 < self.queued_max_request_bytes < self.socket_request_max_bytes:
            yield "queued.max.request.bytes", "must not be less than socket.request.max.bytes"

    def cautions(self) -> Iterator[tuple[str, str]]:
        for chapter in BrokerSettings.chapters():
            yield from chapter.cautions(self)
        known = {it.name for it in self.listeners}
        for key in self.properties.entries:
            if (listener := listener_of(key)) is not None and listener not in known:
                yield key, f"not used: there is no listener {listener}"

    def _security_disagreements(self) -> Iterator[tuple[str, str]]:
        if self.properties.entries.keys() >= {
            "inter.broker.listener.name",
            "security.inter.broker.protocol",
        }:
            yield (
                "security.inter.broker.protocol",
                "cannot be given with inter.broker.listener.name",
            )
        protocol = self.listener_security_protocol_map.get(self.inter_broker_listener_name)
        mechanism = self.sasl_mechanism_inter_broker_protocol
        if protocol and protocol.is_sasl and mechanism not in self._mechanisms_among_brokers():
            yield (
                "sasl.mechanism.inter.broker.protocol",
                f"{mechanism} is not in sasl.enabled.mechanisms",
            )

    def _mechanisms_among_brokers(self) -> tuple[str, ...]:
        key = f"{prefix_of(self.inter_broker_listener_name)}sasl.enabled.mechanisms"
        entry = self.properties.entries.get(key)
        if entry is None:
            return self.sasl_enabled_mechanisms
        mechanisms: tuple[str, ...] = BY_KEY["sasl.enabled.mechanisms"].kind.read(entry.value)
        return mechanisms

    def _option_disagreements(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the options of listeners that there are."""
        for key, entry in self.properties.entries.items():
            declaration = BY_KEY.get(base_of(key) or "")
            if declaration and listener_of(key) in self.listener_security_protocol_map:
                try:
                    declaration.kind.read(entry.value.strip(TRIMMED))
                except ValueError as error:
                    yield key, str(error)

    def _cautions(self) -> Iterator[Problem]:
        for key, reason in self.cautions():
            entry = self.properties.entries.get(key)
            # Without the value, which may be a secret.
            place = (entry.file, entry.line) if entry else (self.properties.file, None)
            yield Problem(reason, key, *place)

    def _without_effect(self) -> Iterator[Problem]:
        for key, entry in self.properties.entries.items():
            if reason := why_without_effect(base_of(key) or key):
                yield Problem(reason, entry.key, entry.file, entry.line)


def with_both_ids(properties: Properties) -> Properties:
    """`broker.id` and `node.id` are one: whoever gives one has given the other."""
    entries = properties.entries
    given = [entries[key] for key in ONE_ID if key in entries]
    if len(given) != 1 or not is_id(given[0]):
        return properties
    return replace(properties, entries={**entries, **dict.fromkeys(ONE_ID, given[0])})


def is_id(entry: Entry) -> bool:
    """What is wrong with one key need not be said of both."""
    try:
        INT.read(entry.value.strip(TRIMMED))
    except ValueError:
        return False
    return True


BY_KEY: Mapping[str, Declaration] = {it.key: it for it in BrokerSettings.declared.values()}
FIELDS: Mapping[str, str] = {it.key: name for name, it in BrokerSettings.declared.items()}
