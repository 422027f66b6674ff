"""SASL: how clients and brokers say who they are."""

from __future__ import annotations

from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import HOUR_MS, setting
from odradek.runtime.kinds import CLASS, DOUBLE, INT, LIST, LONG, PASSWORD, SHORT, STRING
from odradek.runtime.secret import Secret


class SaslSettings(Chapter):
    """Mechanisms, and who asks."""

    sasl_enabled_mechanisms: tuple[str, ...] = setting(
        "sasl.enabled.mechanisms", LIST, default=("GSSAPI",)
    )
    sasl_mechanism_controller_protocol: str = setting(
        "sasl.mechanism.controller.protocol", STRING, default="GSSAPI"
    )
    sasl_mechanism_inter_broker_protocol: str = setting(
        "sasl.mechanism.inter.broker.protocol", STRING, default="GSSAPI"
    )
    sasl_jaas_config: Secret | None = setting("sasl.jaas.config", PASSWORD, default=None)
    sasl_client_callback_handler_class: str | None = setting(
        "sasl.client.callback.handler.class", CLASS, default=None
    )
    sasl_login_callback_handler_class: str | None = setting(
        "sasl.login.callback.handler.class", CLASS, default=None
    )
    sasl_login_class: str | None = setting("sasl.login.class", CLASS, default=None)
    sasl_server_callback_handler_class: str | None = setting(
        "sasl.server.callback.handler.class", CLASS, default=None
    )
    sasl_server_max_receive_size: int = setting(
        "sasl.server.max.receive.size", INT, default=512 << 10
    )
    connections_max_reauth_ms: int = setting("connections.max.reauth.ms", LONG, default=0)


class SaslLoginSettings(Chapter):
    """How a login is made and kept fresh."""

    sasl_login_connect_timeout_ms: int | None = setting(
        "sasl.login.connect.timeout.ms", INT, default=None
    )
    sasl_login_read_timeout_ms: int | None = setting(
        "sasl.login.read.timeout.ms", INT, default=None
    )
    sasl_login_refresh_buffer_seconds: int = setting(
        "sasl.login.refresh.buffer.seconds", SHORT, default=300
    )
    sasl_login_refresh_min_period_seconds: int = setting(
        "sasl.login.refresh.min.period.seconds", SHORT, default=60
    )
    sasl_login_refresh_window_factor: float = setting(
        "sasl.login.refresh.window.factor", DOUBLE, default=0.8
    )
    sasl_login_refresh_window_jitter: float = setting(
        "sasl.login.refresh.window.jitter", DOUBLE, default=0.05
    )
    sasl_login_retry_backoff_max_ms: int = setting(
        "sasl.login.retry.backoff.max.ms", LONG, default=10_000
    )
    sasl_login_retry_backoff_ms: int = setting("sasl.login.retry.backoff.ms", LONG, default=100)


class KerberosSettings(Chapter):
    """What Kerberos wants to know."""

    sasl_kerberos_kinit_cmd: str = setting(
        "sasl.kerberos.kinit.cmd", STRING, default="/usr/bin/kinit"
    )
    sasl_kerberos_min_time_before_relogin: int = setting(
        "sasl.kerberos.min.time.before.relogin", LONG, default=60_000
    )
    sasl_kerberos_principal_to_local_rules: tuple[str, ...] = setting(
        "sasl.kerberos.principal.to.local.rules", LIST, default=("DEFAULT",)
    )
    sasl_kerberos_service_name: str | None = setting(
        "sasl.kerberos.service.name", STRING, default=None
    )
    sasl_kerberos_ticket_renew_jitter: float = setting(
        "sasl.kerberos.ticket.renew.jitter", DOUBLE, default=0.05
    )
    sasl_kerberos_ticket_renew_window_factor: float = setting(
        "sasl.kerberos.ticket.renew.window.factor", DOUBLE, default=0.8
    )


class OauthSettings(Chapter):
    """What bearer tokens are checked against."""

    sasl_oauthbearer_clock_skew_seconds: int = setting(
        "sasl.oauthbearer.clock.skew.seconds", INT, default=30
    )
    sasl_oauthbearer_expected_audience: tuple[str, ...] | None = setting(
        "sasl.oauthbearer.expected.audience", LIST, default=None
    )
    sasl_oauthbearer_expected_issuer: str | None = setting(
        "sasl.oauthbearer.expected.issuer", STRING, default=None
    )
    sasl_oauthbearer_jwks_endpoint_refresh_ms: int = setting(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms", LONG, default=HOUR_MS
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_max_ms: int = setting(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", LONG, default=10_000
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_ms: int = setting(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", LONG, default=100
    )
    sasl_oauthbearer_jwks_endpoint_url: str | None = setting(
        "sasl.oauthbearer.jwks.endpoint.url", STRING, default=None
    )
    sasl_oauthbearer_scope_claim_name: str = setting(
        "sasl.oauthbearer.scope.claim.name", STRING, default="scope"
    )
    sasl_oauthbearer_sub_claim_name: str = setting(
        "sasl.oauthbearer.sub.claim.name", STRING, default="sub"
    )
    sasl_oauthbearer_token_endpoint_url: str | None = setting(
        "sasl.oauthbearer.token.endpoint.url", STRING, default=None
    )
