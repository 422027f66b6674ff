"""Where groups stand: their offsets, and the topic that keeps them."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.settings.kinds import POSITIVE, POSITIVE_LONG
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import INT, SHORT

CODEC_MAX = 4  # As batches number them; this one is zstd.


class OffsetSettings(Chapter):
    """How offsets are committed, kept and forgotten."""

    offset_metadata_max_bytes: int = setting("offset.metadata.max.bytes", INT, default=4 << 10)
    offsets_commit_required_acks: int = setting("offsets.commit.required.acks", SHORT, default=-1)
    offsets_commit_timeout_ms: int = setting("offsets.commit.timeout.ms", POSITIVE, default=5000)
    offsets_load_buffer_size: int = setting("offsets.load.buffer.size", POSITIVE, default=5 << 20)
    offsets_retention_check_interval_ms: int = setting(
        "offsets.retention.check.interval.ms", POSITIVE_LONG, default=600_000
    )
    offsets_retention_minutes: int = setting("offsets.retention.minutes", POSITIVE, default=10_080)
    offsets_topic_compression_codec: int = setting(
        "offsets.topic.compression.codec", INT, default=0
    )
    offsets_topic_num_partitions: int = setting(
        "offsets.topic.num.partitions", POSITIVE, default=50
    )
    offsets_topic_replication_factor: int = setting(
        "offsets.topic.replication.factor", SHORT.at_least(1), default=3
    )
    offsets_topic_segment_bytes: int = setting(
        "offsets.topic.segment.bytes", POSITIVE, default=100 << 20
    )

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if not 0 <= self.offsets_topic_compression_codec <= CODEC_MAX:
            yield "offsets.topic.compression.codec", f"must be from 0 to {CODEC_MAX}"
        acks, replicas = self.offsets_commit_required_acks, self.offsets_topic_replication_factor
        if not -1 <= acks <= replicas:
            yield (
                "offsets.commit.required.acks",
                f"must be from -1 to offsets.topic.replication.factor, which is {replicas}",
            )
