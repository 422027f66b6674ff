"""TLS between clients or brokers and this broker."""

from __future__ import annotations

from odradek.kafka.settings.kinds import CLIENT_AUTH, ClientAuth
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, CLASS, LIST, PASSWORD, STRING
from odradek.runtime.secret import Secret


class TlsSettings(Chapter):
    """Keys, certificates, protocols."""

    ssl_allow_dn_changes: bool = setting("ssl.allow.dn.changes", BOOLEAN, default=False)
    ssl_allow_san_changes: bool = setting("ssl.allow.san.changes", BOOLEAN, default=False)
    ssl_cipher_suites: tuple[str, ...] = setting("ssl.cipher.suites", LIST, default=())
    ssl_client_auth: ClientAuth = setting("ssl.client.auth", CLIENT_AUTH, default=ClientAuth.NONE)
    ssl_enabled_protocols: tuple[str, ...] = setting(
        "ssl.enabled.protocols", LIST, default=("TLSv1.2", "TLSv1.3")
    )
    ssl_endpoint_identification_algorithm: str = setting(
        "ssl.endpoint.identification.algorithm", STRING, default="https"
    )
    ssl_engine_factory_class: str | None = setting("ssl.engine.factory.class", CLASS, default=None)
    ssl_key_password: Secret | None = setting("ssl.key.password", PASSWORD, default=None)
    ssl_keymanager_algorithm: str = setting("ssl.keymanager.algorithm", STRING, default="SunX509")
    ssl_keystore_certificate_chain: Secret | None = setting(
        "ssl.keystore.certificate.chain", PASSWORD, default=None
    )
    ssl_keystore_key: Secret | None = setting("ssl.keystore.key", PASSWORD, default=None)
    ssl_keystore_location: str | None = setting("ssl.keystore.location", STRING, default=None)
    ssl_keystore_password: Secret | None = setting("ssl.keystore.password", PASSWORD, default=None)
    ssl_keystore_type: str = setting("ssl.keystore.type", STRING, default="JKS")
    ssl_principal_mapping_rules: str = setting(
        "ssl.principal.mapping.rules", STRING, default="DEFAULT"
    )
    ssl_protocol: str = setting("ssl.protocol", STRING, default="TLSv1.3")
    ssl_provider: str | None = setting("ssl.provider", STRING, default=None)
    ssl_secure_random_implementation: str | None = setting(
        "ssl.secure.random.implementation", STRING, default=None
    )
    ssl_trustmanager_algorithm: str = setting("ssl.trustmanager.algorithm", STRING, default="PKIX")
    ssl_truststore_certificates: Secret | None = setting(
        "ssl.truststore.certificates", PASSWORD, default=None
    )
    ssl_truststore_location: str | None = setting("ssl.truststore.location", STRING, default=None)
    ssl_truststore_password: Secret | None = setting(
        "ssl.truststore.password", PASSWORD, default=None
    )
    ssl_truststore_type: str = setting("ssl.truststore.type", STRING, default="JKS")
