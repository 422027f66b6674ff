"""What a batch of records may be like."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.settings.kinds import (
    COMPRESSION_TYPE,
    LONG_MAX,
    NATURAL,
    NATURAL_LONG,
    TIMESTAMP_TYPE,
    CompressionType,
    TimestampType,
)
from odradek.kafka.settings.versions import BY_TEXT, LATEST, VERSION_TEXT, Version, read_version
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, INT

FORMAT_IS_FIXED = BY_TEXT["3.0"]


class RecordSettings(Chapter):
    """Sizes, compression, timestamps, formats."""

    message_max_bytes: int = setting("message.max.bytes", NATURAL, default=1_048_588)
    compression_gzip_level: int = setting(
        "compression.gzip.level", INT.between(1, 9, or_else=-1), default=-1
    )
    compression_lz4_level: int = setting("compression.lz4.level", INT.between(1, 17), default=9)
    compression_type: CompressionType = setting(
        "compression.type", COMPRESSION_TYPE, default=CompressionType.PRODUCER
    )
    compression_zstd_level: int = setting(
        "compression.zstd.level", INT.between(-131072, 22), default=3
    )
    log_message_downconversion_enable: bool = setting(
        "log.message.downconversion.enable", BOOLEAN, default=True
    )
    given_log_message_format_version: str = setting(
        "log.message.format.version", VERSION_TEXT, default="3.0-IV1"
    )
    given_log_message_timestamp_after_max_ms: int = setting(
        "log.message.timestamp.after.max.ms", NATURAL_LONG, default=LONG_MAX
    )
    given_log_message_timestamp_before_max_ms: int = setting(
        "log.message.timestamp.before.max.ms", NATURAL_LONG, default=LONG_MAX
    )
    log_message_timestamp_difference_max_ms: int = setting(
        "log.message.timestamp.difference.max.ms", NATURAL_LONG, default=LONG_MAX
    )
    log_message_timestamp_type: TimestampType = setting(
        "log.message.timestamp.type", TIMESTAMP_TYPE, default=TimestampType.CREATE_TIME
    )
    given_inter_broker_protocol_version: str = setting(
        "inter.broker.protocol.version", VERSION_TEXT, default=LATEST.text
    )

    @property
    def log_message_timestamp_before_max_ms(self) -> int:
        return limit_or_difference(
            self.given_log_message_timestamp_before_max_ms,
            self.log_message_timestamp_difference_max_ms,
        )

    @property
    def log_message_timestamp_after_max_ms(self) -> int:
        return limit_or_difference(
            self.given_log_message_timestamp_after_max_ms,
            self.log_message_timestamp_difference_max_ms,
        )

    @property
    def inter_broker_protocol_version(self) -> Version:
        return read_version(self.given_inter_broker_protocol_version)

    @property
    def log_message_format_version(self) -> Version:
        """From 3.0 on there is one format, whatever was said of it (KIP-724)."""
        is_fixed = self.inter_broker_protocol_version >= FORMAT_IS_FIXED
        return FORMAT_IS_FIXED if is_fixed else self._given_format()

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if self._given_format().record_version > self.inter_broker_protocol_version.record_version:
            yield (
                "log.message.format.version",
                f"cannot be {self.given_log_message_format_version} where "
                f"inter.broker.protocol.version is {self.given_inter_broker_protocol_version}",
            )

    def _given_format(self) -> Version:
        return read_version(self.given_log_message_format_version)


def limit_or_difference(limit_ms: int, difference_ms: int) -> int:
    """The older key limits both sides, and counts where the newer one says nothing (KIP-937)."""
    return difference_ms if limit_ms == LONG_MAX else limit_ms
