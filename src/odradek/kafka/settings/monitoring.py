"""What the operator sees."""

from __future__ import annotations

from odradek.kafka.settings.kinds import POSITIVE, POSITIVE_LONG
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, LIST, STRING


class MonitoringSettings(Chapter):
    """Metrics and their reporters."""

    kafka_metrics_polling_interval_secs: int = setting(
        "kafka.metrics.polling.interval.secs", POSITIVE, default=10
    )
    kafka_metrics_reporters: tuple[str, ...] = setting("kafka.metrics.reporters", LIST, default=())
    metric_reporters: tuple[str, ...] = setting("metric.reporters", LIST, default=())
    metrics_num_samples: int = setting("metrics.num.samples", POSITIVE, default=2)
    metrics_recording_level: str = setting("metrics.recording.level", STRING, default="INFO")
    metrics_sample_window_ms: int = setting(
        "metrics.sample.window.ms", POSITIVE_LONG, default=30_000
    )
    auto_include_jmx_reporter: bool = setting("auto.include.jmx.reporter", BOOLEAN, default=True)
    telemetry_max_bytes: int = setting("telemetry.max.bytes", POSITIVE, default=1 << 20)
