"""What the operator sees: the admin server, metrics, the audit log."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import prefixed, setting
from odradek.runtime.kinds import BOOLEAN, CLASS, INT, STRING
from odradek.zookeeper.settings.kinds import PORT, PROPERTY_INT, PROPERTY_PORT

METRICS_PACKAGE = "org.apache.zookeeper.metrics"
IN_MEMORY_METRICS = f"{METRICS_PACKAGE}.impl.DefaultMetricsProvider"
PROMETHEUS_METRICS = f"{METRICS_PACKAGE}.prometheus.PrometheusMetricsProvider"


class MonitoringSettings(Chapter):
    """All that reports, and nothing that serves."""

    admin_enabled: bool = setting("admin.enableServer", BOOLEAN, default=True)
    admin_address: str = setting("admin.serverAddress", STRING, default="0.0.0.0")
    admin_port: int = setting("admin.serverPort", PROPERTY_PORT, default=8080)
    admin_idle_timeout_ms: int = setting("admin.idleTimeout", PROPERTY_INT, default=30_000)
    admin_command_url: str = setting("admin.commandURL", STRING, default="/commands")
    admin_snapshot_enabled: bool = setting("admin.snapshot.enabled", BOOLEAN, default=True)
    admin_restore_enabled: bool = setting("admin.restore.enabled", BOOLEAN, default=True)
    admin_rate_limiter_interval_ms: int = setting(
        "admin.rateLimiterIntervalInMS", INT, default=300_000
    )
    admin_port_unification: bool = setting("admin.portUnification", BOOLEAN, default=False)
    admin_force_https: bool = setting("admin.forceHttps", BOOLEAN, default=False)
    admin_need_client_auth: bool = setting("admin.needClientAuth", BOOLEAN, default=False)

    metrics_provider_class: str = setting(
        "metricsProvider.className", CLASS, default=IN_MEMORY_METRICS
    )
    metrics_http_host: str = setting("metricsProvider.httpHost", STRING, default="0.0.0.0")
    metrics_http_port: int = setting("metricsProvider.httpPort", PORT, default=7000)
    metrics_export_jvm_info: bool = setting("metricsProvider.exportJvmInfo", BOOLEAN, default=True)
    # A provider may have keys of its own.
    metrics_provider_options: Mapping[str, str] = prefixed("metricsProvider.", STRING)

    audit_enabled: bool = setting("audit.enable", BOOLEAN, default=False)

    @property
    def is_prometheus_served(self) -> bool:
        return self.metrics_provider_class == PROMETHEUS_METRICS
