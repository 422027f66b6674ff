"""Who is who, and who may do what: digests, SASL, TLS. Whatever is secret is a `Secret`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import prefixed, setting
from odradek.runtime.kinds import BOOLEAN, CLASS, LIST, PASSWORD, STRING, choice
from odradek.runtime.secret import Secret
from odradek.zookeeper.settings.kinds import PROPERTY_INT, YES_OR_NO


class ClientAuth(Enum):
    """Whether a TLS client must show a certificate."""

    NONE = "none"
    WANT = "want"
    NEED = "need"


CLIENT_AUTH = choice(ClientAuth, any_case=True)


class AuthSettings(Chapter):
    """How clients say who they are, and what they must have said."""

    skip_acl: bool = setting("skipACL", YES_OR_NO, default=False)
    enable_eager_acl_check: bool = setting("enableEagerACLCheck", BOOLEAN, default=False)
    auth_providers: Mapping[str, str] = prefixed("authProvider.", CLASS)
    digest_auth_enabled: bool = setting(
        "DigestAuthenticationProvider.enabled", BOOLEAN, default=True
    )
    super_digest: Secret | None = setting(
        "DigestAuthenticationProvider.superDigest", PASSWORD, default=None
    )
    digest_algorithm: str = setting(
        "DigestAuthenticationProvider.digestAlg", STRING, default="SHA1"
    )
    ip_auth_uses_forwarded_for: bool = setting(
        "IPAuthenticationProvider.usexforwardedfor", BOOLEAN, default=False
    )
    x509_super_user: str | None = setting(
        "X509AuthenticationProvider.superUser", STRING, default=None
    )
    super_user: str | None = setting("superUser", STRING, default=None)
    sasl_super_password: Secret | None = setting(
        "SASLAuthenticationProvider.superPassword", PASSWORD, default=None
    )
    ensemble_auth_names: tuple[str, ...] = setting("ensembleAuthName", LIST, default=())
    session_require_client_sasl_auth: bool = setting(
        "sessionRequireClientSASLAuth", BOOLEAN, default=False
    )
    enforce_auth_enabled: bool = setting("enforce.auth.enabled", BOOLEAN, default=False)
    enforce_auth_schemes: tuple[str, ...] = setting("enforce.auth.schemes", LIST, default=())
    allow_sasl_failed_clients: bool = setting("allowSaslFailedClients", BOOLEAN, default=False)
    jaas_config: str | None = setting("java.security.auth.login.config", STRING, default=None)


class ClientTlsSettings(Chapter):
    """TLS between clients and this server."""

    ssl_key_store_location: str | None = setting("ssl.keyStore.location", STRING, default=None)
    ssl_key_store_password: Secret | None = setting("ssl.keyStore.password", PASSWORD, default=None)
    ssl_key_store_password_path: str | None = setting(
        "ssl.keyStore.passwordPath", STRING, default=None
    )
    ssl_key_store_type: str | None = setting("ssl.keyStore.type", STRING, default=None)
    ssl_trust_store_location: str | None = setting("ssl.trustStore.location", STRING, default=None)
    ssl_trust_store_password: Secret | None = setting(
        "ssl.trustStore.password", PASSWORD, default=None
    )
    ssl_trust_store_password_path: str | None = setting(
        "ssl.trustStore.passwordPath", STRING, default=None
    )
    ssl_trust_store_type: str | None = setting("ssl.trustStore.type", STRING, default=None)
    ssl_protocol: str = setting("ssl.protocol", STRING, default="TLSv1.3")
    ssl_enabled_protocols: tuple[str, ...] = setting("ssl.enabledProtocols", LIST, default=())
    ssl_cipher_suites: tuple[str, ...] = setting("ssl.ciphersuites", LIST, default=())
    ssl_context_supplier_class: str | None = setting(
        "ssl.context.supplier.class", CLASS, default=None
    )
    ssl_hostname_verification: bool = setting("ssl.hostnameVerification", BOOLEAN, default=True)
    ssl_client_hostname_verification: bool = setting(
        "ssl.clientHostnameVerification", BOOLEAN, default=False
    )
    ssl_allow_reverse_dns_lookup: bool = setting(
        "ssl.allowReverseDnsLookup", BOOLEAN, default=False
    )
    ssl_crl: bool = setting("ssl.crl", BOOLEAN, default=False)
    ssl_ocsp: bool = setting("ssl.ocsp", BOOLEAN, default=False)
    ssl_client_auth: ClientAuth = setting("ssl.clientAuth", CLIENT_AUTH, default=ClientAuth.NEED)
    ssl_handshake_detection_timeout_ms: int = setting(
        "ssl.handshakeDetectionTimeoutMillis", PROPERTY_INT, default=5000
    )
    ssl_auth_provider: str = setting("ssl.authProvider", STRING, default="x509")
    ssl_provider: str | None = setting("ssl.sslProvider", STRING, default=None)
    fips_mode: bool = setting("fips-mode", BOOLEAN, default=True)
    client_cert_reload: bool = setting("client.certReload", BOOLEAN, default=False)
    client_port_unification: bool = setting("client.portUnification", BOOLEAN, default=False)


class QuorumTlsSettings(Chapter):
    """TLS among the servers of an ensemble."""

    ssl_quorum: bool = setting("sslQuorum", BOOLEAN, default=False)
    port_unification: bool = setting("portUnification", BOOLEAN, default=False)
    ssl_quorum_reload_cert_files: bool = setting("sslQuorumReloadCertFiles", BOOLEAN, default=False)
    # The keys are those of the clients' TLS after another beginning. All stay hidden, since
    # passwords are among them.
    ssl_quorum_options: Mapping[str, Secret] = prefixed("ssl.quorum.", PASSWORD)


class SecuritySettings(AuthSettings, ClientTlsSettings, QuorumTlsSettings):
    """All that keeps strangers out."""
