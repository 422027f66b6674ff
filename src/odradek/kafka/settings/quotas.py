"""Quotas: over what time a rate is measured, and who says what it may be."""

from __future__ import annotations

from odradek.kafka.settings.kinds import POSITIVE
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import CLASS


class QuotaSettings(Chapter):
    """The windows of time."""

    alter_log_dirs_replication_quota_window_num: int = setting(
        "alter.log.dirs.replication.quota.window.num", POSITIVE, default=11
    )
    alter_log_dirs_replication_quota_window_size_seconds: int = setting(
        "alter.log.dirs.replication.quota.window.size.seconds", POSITIVE, default=1
    )
    client_quota_callback_class: str | None = setting(
        "client.quota.callback.class", CLASS, default=None
    )
    controller_quota_window_num: int = setting("controller.quota.window.num", POSITIVE, default=11)
    controller_quota_window_size_seconds: int = setting(
        "controller.quota.window.size.seconds", POSITIVE, default=1
    )
    quota_window_num: int = setting("quota.window.num", POSITIVE, default=11)
    quota_window_size_seconds: int = setting("quota.window.size.seconds", POSITIVE, default=1)
    replication_quota_window_num: int = setting(
        "replication.quota.window.num", POSITIVE, default=11
    )
    replication_quota_window_size_seconds: int = setting(
        "replication.quota.window.size.seconds", POSITIVE, default=1
    )
