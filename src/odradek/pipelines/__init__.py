"""Ready-made Spark jobs over topics, each a function: archive, replay, mirror, audit."""

from odradek.pipelines.archive import Archived, archive
from odradek.pipelines.audit import audit
from odradek.pipelines.compaction import Compacted, compact
from odradek.pipelines.findings import Audit
from odradek.pipelines.mirror import Mirrored, mirror
from odradek.pipelines.plot import page_of
from odradek.pipelines.progress import Progress
from odradek.pipelines.replay import Replayed, replay
from odradek.pipelines.reporting import Reporter, report_progress

__all__ = [
    "Archived",
    "Audit",
    "Compacted",
    "Mirrored",
    "Progress",
    "Replayed",
    "Reporter",
    "archive",
    "audit",
    "compact",
    "mirror",
    "page_of",
    "replay",
    "report_progress",
]
