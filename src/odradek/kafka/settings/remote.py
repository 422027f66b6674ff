"""Tiered storage: segments kept elsewhere (KIP-405)."""

from __future__ import annotations

from odradek.kafka.settings.kinds import (
    LONG_MAX,
    NATURAL,
    NOT_BLANK,
    POOL_SIZE,
    POSITIVE,
    POSITIVE_LONG,
)
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, DOUBLE, STRING


class RemoteStorageSettings(Chapter):
    """What keeps them, and what knows where they are."""

    remote_log_storage_manager_class_name: str | None = setting(
        "remote.log.storage.manager.class.name", NOT_BLANK, default=None
    )
    remote_log_storage_manager_class_path: str | None = setting(
        "remote.log.storage.manager.class.path", STRING, default=None
    )
    remote_log_storage_manager_impl_prefix: str = setting(
        "remote.log.storage.manager.impl.prefix", NOT_BLANK, default="rsm.config."
    )
    remote_log_storage_system_enable: bool = setting(
        "remote.log.storage.system.enable", BOOLEAN, default=False
    )
    remote_log_metadata_custom_metadata_max_bytes: int = setting(
        "remote.log.metadata.custom.metadata.max.bytes", NATURAL, default=128
    )
    remote_log_metadata_manager_class_name: str = setting(
        "remote.log.metadata.manager.class.name",
        NOT_BLANK,
        default="org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
    )
    remote_log_metadata_manager_class_path: str | None = setting(
        "remote.log.metadata.manager.class.path", STRING, default=None
    )
    remote_log_metadata_manager_impl_prefix: str = setting(
        "remote.log.metadata.manager.impl.prefix", NOT_BLANK, default="rlmm.config."
    )
    remote_log_metadata_manager_listener_name: str | None = setting(
        "remote.log.metadata.manager.listener.name", NOT_BLANK, default=None
    )


class RemoteTaskSettings(Chapter):
    """How they are copied, read and expired."""

    remote_fetch_max_wait_ms: int = setting("remote.fetch.max.wait.ms", POSITIVE, default=500)
    remote_log_index_file_cache_total_size_bytes: int = setting(
        "remote.log.index.file.cache.total.size.bytes", POSITIVE_LONG, default=1 << 30
    )
    given_remote_log_manager_copier_thread_pool_size: int = setting(
        "remote.log.manager.copier.thread.pool.size", POOL_SIZE, default=-1
    )
    remote_log_manager_copy_max_bytes_per_second: int = setting(
        "remote.log.manager.copy.max.bytes.per.second", POSITIVE_LONG, default=LONG_MAX
    )
    remote_log_manager_copy_quota_window_num: int = setting(
        "remote.log.manager.copy.quota.window.num", POSITIVE, default=11
    )
    remote_log_manager_copy_quota_window_size_seconds: int = setting(
        "remote.log.manager.copy.quota.window.size.seconds", POSITIVE, default=1
    )
    given_remote_log_manager_expiration_thread_pool_size: int = setting(
        "remote.log.manager.expiration.thread.pool.size", POOL_SIZE, default=-1
    )
    remote_log_manager_fetch_max_bytes_per_second: int = setting(
        "remote.log.manager.fetch.max.bytes.per.second", POSITIVE_LONG, default=LONG_MAX
    )
    remote_log_manager_fetch_quota_window_num: int = setting(
        "remote.log.manager.fetch.quota.window.num", POSITIVE, default=11
    )
    remote_log_manager_fetch_quota_window_size_seconds: int = setting(
        "remote.log.manager.fetch.quota.window.size.seconds", POSITIVE, default=1
    )
    remote_log_manager_task_interval_ms: int = setting(
        "remote.log.manager.task.interval.ms", POSITIVE_LONG, default=30_000
    )
    remote_log_manager_task_retry_backoff_max_ms: int = setting(
        "remote.log.manager.task.retry.backoff.max.ms", POSITIVE_LONG, default=30_000
    )
    remote_log_manager_task_retry_backoff_ms: int = setting(
        "remote.log.manager.task.retry.backoff.ms", POSITIVE_LONG, default=500
    )
    remote_log_manager_task_retry_jitter: float = setting(
        "remote.log.manager.task.retry.jitter", DOUBLE.between(0, 0.5), default=0.2
    )
    remote_log_manager_thread_pool_size: int = setting(
        "remote.log.manager.thread.pool.size", POSITIVE, default=10
    )
    remote_log_reader_max_pending_tasks: int = setting(
        "remote.log.reader.max.pending.tasks", POSITIVE, default=100
    )
    remote_log_reader_threads: int = setting("remote.log.reader.threads", POSITIVE, default=10)

    @property
    def remote_log_manager_copier_thread_pool_size(self) -> int:
        given = self.given_remote_log_manager_copier_thread_pool_size
        return self.remote_log_manager_thread_pool_size if given == -1 else given

    @property
    def remote_log_manager_expiration_thread_pool_size(self) -> int:
        given = self.given_remote_log_manager_expiration_thread_pool_size
        return self.remote_log_manager_thread_pool_size if given == -1 else given
