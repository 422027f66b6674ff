"""What is kept on disk, how safely and for how long; and the nodes that remove themselves."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, DOUBLE, INT, LONG, STRING, choice
from odradek.zookeeper.settings.kinds import PROPERTY_INT, PROPERTY_LONG, YES_OR_NO

KIB = 1024
SNAP_RETAIN_COUNT_MIN = 3
SNAP_COUNT_MIN = 2
COMMIT_LOG_COUNT_MIN = 500


class Compression(Enum):
    """How snapshots are written; the value is also the end of the file's name."""

    NONE = ""
    GZIP = "gz"
    SNAPPY = "snappy"


class StorageSettings(Chapter):
    """Transaction logs and snapshots."""

    data_dir: str = setting("dataDir", STRING.where(bool, "must name a directory"))
    given_data_log_dir: str | None = setting("dataLogDir", STRING, default=None)
    data_dir_autocreate: bool = setting("datadir.autocreate", BOOLEAN, default=True)
    db_autocreate: bool = setting("db.autocreate", BOOLEAN, default=True)
    pre_alloc_size_kib: int = setting("preAllocSize", LONG.at_least(0), default=65_536)
    given_snap_count: int = setting("snapCount", PROPERTY_INT, default=100_000)
    given_commit_log_count: int = setting("commitLogCount", INT, default=COMMIT_LOG_COUNT_MIN)
    snap_size_limit_kib: int = setting("snapSizeLimitInKb", PROPERTY_LONG, default=4_194_304)
    txn_log_size_limit_kib: int = setting("txnLogSizeLimitInKb", PROPERTY_LONG, default=-1)
    snapshot_size_factor: float = setting("snapshotSizeFactor", DOUBLE, default=0.33)
    force_sync: bool = setting("forceSync", YES_OR_NO, default=True)
    fsync_warning_threshold_ms: int = setting(
        "fsync.warningthresholdms", PROPERTY_LONG, default=1000
    )
    snapshot_compression: Compression = setting(
        "snapshot.compression.method", choice(Compression, any_case=True), default=Compression.NONE
    )
    snapshot_trust_empty: bool = setting("snapshot.trust.empty", BOOLEAN, default=False)
    digest_enabled: bool = setting("digest.enabled", BOOLEAN, default=True)
    serialize_last_processed_zxid_enabled: bool = setting(
        "serializeLastProcessedZxid.enabled", BOOLEAN, default=True
    )
    given_snap_retain_count: int = setting(
        "autopurge.snapRetainCount", INT, default=SNAP_RETAIN_COUNT_MIN
    )
    purge_interval_hours: int = setting("autopurge.purgeInterval", INT, default=0)  # 0 is never.

    @property
    def data_log_dir(self) -> str:
        return self.given_data_log_dir or self.data_dir

    @property
    def snap_retain_count(self) -> int:
        return max(SNAP_RETAIN_COUNT_MIN, self.given_snap_retain_count)

    @property
    def snap_count(self) -> int:
        return max(SNAP_COUNT_MIN, self.given_snap_count)

    @property
    def commit_log_count(self) -> int:
        return max(COMMIT_LOG_COUNT_MIN, self.given_commit_log_count)

    @property
    def pre_alloc_bytes(self) -> int:
        return self.pre_alloc_size_kib * KIB

    @property
    def snap_size_limit_bytes(self) -> int | None:
        return self.snap_size_limit_kib * KIB if self.snap_size_limit_kib > 0 else None

    @property
    def txn_log_size_limit_bytes(self) -> int | None:
        return self.txn_log_size_limit_kib * KIB if self.txn_log_size_limit_kib > 0 else None

    def cautions(self) -> Iterator[tuple[str, str]]:
        for key, given, used in (
            ("autopurge.snapRetainCount", self.given_snap_retain_count, self.snap_retain_count),
            ("snapCount", self.given_snap_count, self.snap_count),
            ("commitLogCount", self.given_commit_log_count, self.commit_log_count),
        ):
            if given < used:
                yield key, f"is below the least possible, so {used} is used"
        for key, path in ("dataDir", self.data_dir), ("dataLogDir", self.data_log_dir):
            if not path.startswith("/") and (key == "dataDir" or path != self.data_dir):
                yield key, "is relative to the directory that the server is started in"


class TreeSettings(Chapter):
    """What nodes may be made, and which of them go by themselves."""

    extended_types_enabled: bool = setting("extendedTypesEnabled", BOOLEAN, default=False)
    emulate_353_ttl_nodes: bool = setting("emulate353TTLNodes", BOOLEAN, default=False)
    enforce_quota: bool = setting("enforceQuota", BOOLEAN, default=False)
    container_check_interval_ms: int = setting(
        "znode.container.checkIntervalMs", PROPERTY_INT.at_least(1), default=60_000
    )
    container_max_per_minute: int = setting(
        "znode.container.maxPerMinute", PROPERTY_INT.at_least(1), default=10_000
    )
    container_max_never_used_interval_ms: int = setting(
        "znode.container.maxNeverUsedIntervalMs", PROPERTY_LONG, default=0
    )
