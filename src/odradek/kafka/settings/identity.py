"""Who this broker is, and the ZooKeeper it finds the others by."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.settings.kinds import NATURAL, POSITIVE
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, INT, LIST, PASSWORD, STRING
from odradek.runtime.secret import Secret


class IdentitySettings(Chapter):
    """The id, given or generated, and where the broker stands."""

    given_broker_id: int = setting("broker.id", INT, default=-1)
    broker_id_generation_enable: bool = setting(
        "broker.id.generation.enable", BOOLEAN, default=True
    )
    reserved_broker_max_id: int = setting("reserved.broker.max.id", NATURAL, default=1000)
    broker_rack: str | None = setting("broker.rack", STRING, default=None)

    @property
    def broker_id(self) -> int | None:
        """None if the id is to be found in a log directory, or else generated."""
        return None if self.given_broker_id < 0 else self.given_broker_id

    def disagreements(self) -> Iterator[tuple[str, str]]:
        given, reserved = self.given_broker_id, self.reserved_broker_max_id
        if not self.broker_id_generation_enable and given < 0:
            yield "broker.id", "must be at least 0 if broker.id.generation.enable is false"
        elif self.broker_id_generation_enable and not -1 <= given <= reserved:
            # Beyond are the ids that are generated.
            yield "broker.id", f"must be from -1 to reserved.broker.max.id, which is {reserved}"


class ZooKeeperSettings(Chapter):
    """How ZooKeeper is reached."""

    given_zookeeper_connect: str | None = setting("zookeeper.connect", STRING, default=None)
    zookeeper_session_timeout_ms: int = setting("zookeeper.session.timeout.ms", INT, default=18_000)
    given_zookeeper_connection_timeout_ms: int | None = setting(
        "zookeeper.connection.timeout.ms", INT, default=None
    )
    zookeeper_max_in_flight_requests: int = setting(
        "zookeeper.max.in.flight.requests", POSITIVE, default=10
    )
    zookeeper_set_acl: bool = setting("zookeeper.set.acl", BOOLEAN, default=False)
    zookeeper_client_cnxn_socket: str | None = setting(
        "zookeeper.clientCnxnSocket", STRING, default=None
    )

    @property
    def zookeeper_connect(self) -> str | None:
        """None if nobody named a ZooKeeper: the broker then brings its own."""
        return self.given_zookeeper_connect or None

    @property
    def zookeeper_connection_timeout_ms(self) -> int:
        given = self.given_zookeeper_connection_timeout_ms
        return self.zookeeper_session_timeout_ms if given is None else given


class ZooKeeperTlsSettings(Chapter):
    """TLS on the way to ZooKeeper."""

    zookeeper_ssl_cipher_suites: tuple[str, ...] | None = setting(
        "zookeeper.ssl.cipher.suites", LIST, default=None
    )
    zookeeper_ssl_client_enable: bool = setting(
        "zookeeper.ssl.client.enable", BOOLEAN, default=False
    )
    zookeeper_ssl_crl_enable: bool = setting("zookeeper.ssl.crl.enable", BOOLEAN, default=False)
    zookeeper_ssl_enabled_protocols: tuple[str, ...] | None = setting(
        "zookeeper.ssl.enabled.protocols", LIST, default=None
    )
    zookeeper_ssl_endpoint_identification_algorithm: str = setting(
        "zookeeper.ssl.endpoint.identification.algorithm", STRING, default="HTTPS"
    )
    zookeeper_ssl_keystore_location: str | None = setting(
        "zookeeper.ssl.keystore.location", STRING, default=None
    )
    zookeeper_ssl_keystore_password: Secret | None = setting(
        "zookeeper.ssl.keystore.password", PASSWORD, default=None
    )
    zookeeper_ssl_keystore_type: str | None = setting(
        "zookeeper.ssl.keystore.type", STRING, default=None
    )
    zookeeper_ssl_ocsp_enable: bool = setting("zookeeper.ssl.ocsp.enable", BOOLEAN, default=False)
    zookeeper_ssl_protocol: str = setting("zookeeper.ssl.protocol", STRING, default="TLSv1.2")
    zookeeper_ssl_truststore_location: str | None = setting(
        "zookeeper.ssl.truststore.location", STRING, default=None
    )
    zookeeper_ssl_truststore_password: Secret | None = setting(
        "zookeeper.ssl.truststore.password", PASSWORD, default=None
    )
    zookeeper_ssl_truststore_type: str | None = setting(
        "zookeeper.ssl.truststore.type", STRING, default=None
    )
