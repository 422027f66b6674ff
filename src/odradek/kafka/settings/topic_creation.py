"""Topics: how they come to be, and who may object."""

from __future__ import annotations

from odradek.kafka.settings.kinds import POSITIVE
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, CLASS, INT


class TopicCreationSettings(Chapter):
    """Defaults and policies for new topics."""

    auto_create_topics_enable: bool = setting("auto.create.topics.enable", BOOLEAN, default=True)
    num_partitions: int = setting("num.partitions", POSITIVE, default=1)
    default_replication_factor: int = setting("default.replication.factor", INT, default=1)
    delete_topic_enable: bool = setting("delete.topic.enable", BOOLEAN, default=True)
    create_topic_policy_class_name: str | None = setting(
        "create.topic.policy.class.name", CLASS, default=None
    )
    alter_config_policy_class_name: str | None = setting(
        "alter.config.policy.class.name", CLASS, default=None
    )
