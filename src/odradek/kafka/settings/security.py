"""Who may do what, and what guards the secrets."""

from __future__ import annotations

from odradek.kafka.settings.kinds import DAY_MS, POSITIVE_LONG
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import HOUR_MS, setting
from odradek.runtime.kinds import CLASS, INT, PASSWORD, STRING
from odradek.runtime.secret import Secret

DEFAULT_PRINCIPAL_BUILDER = (
    "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
)


class AuthorizationSettings(Chapter):
    """Who a principal is, and what it may."""

    authorizer_class_name: str = setting("authorizer.class.name", STRING, default="")
    principal_builder_class: str = setting(
        "principal.builder.class", CLASS, default=DEFAULT_PRINCIPAL_BUILDER
    )
    security_providers: str | None = setting("security.providers", STRING, default=None)


class DelegationTokenSettings(Chapter):
    """Tokens that stand for a login."""

    delegation_token_expiry_check_interval_ms: int = setting(
        "delegation.token.expiry.check.interval.ms", POSITIVE_LONG, default=HOUR_MS
    )
    delegation_token_expiry_time_ms: int = setting(
        "delegation.token.expiry.time.ms", POSITIVE_LONG, default=DAY_MS
    )
    delegation_token_master_key: Secret | None = setting(
        "delegation.token.master.key", PASSWORD, default=None
    )
    delegation_token_max_lifetime_ms: int = setting(
        "delegation.token.max.lifetime.ms", POSITIVE_LONG, default=7 * DAY_MS
    )
    delegation_token_secret_key: Secret | None = setting(
        "delegation.token.secret.key", PASSWORD, default=None
    )


class PasswordEncoderSettings(Chapter):
    """How passwords are encrypted in ZooKeeper."""

    password_encoder_cipher_algorithm: str = setting(
        "password.encoder.cipher.algorithm", STRING, default="AES/CBC/PKCS5Padding"
    )
    password_encoder_iterations: int = setting(
        "password.encoder.iterations", INT.at_least(1024), default=4096
    )
    password_encoder_key_length: int = setting(
        "password.encoder.key.length", INT.at_least(8), default=128
    )
    password_encoder_keyfactory_algorithm: str | None = setting(
        "password.encoder.keyfactory.algorithm", STRING, default=None
    )
    password_encoder_old_secret: Secret | None = setting(
        "password.encoder.old.secret", PASSWORD, default=None
    )
    password_encoder_secret: Secret | None = setting(
        "password.encoder.secret", PASSWORD, default=None
    )
