"""An audit as a page: one file with everything in it, for any browser, with no script.

Three pictures: records over time, by topic; the offsets of each partition, with what is missing in
them; and what groups have still to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from itertools import pairwise

from odradek.pipelines.findings import CLEANED, LOST, Audit, Gap, GroupLag, Moment, PartitionReport

WIDTH, ROW, TEXT, CHART = 860, 22, 220, 120
COLOURS = ("#3b6fb6", "#c2703d", "#4f9153", "#8a5fa8", "#b04a5a", "#5b8a8a")
GAP_COLOURS = {LOST: "#d0342c", CLEANED: "#c9c9c9"}
UNTOLD_COLOUR = "#e3a008"
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 900px; margin: 2em auto; padding: 0 1em;
  color: #222; background: #fff }
svg { width: 100%; height: auto } text { font: 12px system-ui, sans-serif; fill: currentColor }
.wrong { color: #b3261e } .well { color: #2e7d32 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } }
"""


def page_of(audit: Audit) -> str:
    """The whole page."""
    problems = audit.problems
    verdict = (
        f'<p class="wrong">{len(problems)} things are wrong.</p>'
        if problems
        else '<p class="well">Nothing is wrong.</p>'
    )
    parts = [
        f"<h1>Audit of {escape(audit.source)}</h1>",
        f"<p>{audit.records:,} records in {len(audit.partitions)} partitions.</p>",
        verdict,
        listed(problems, "wrong"),
        listed(audit.notes, "note"),
        section("Records over time", timeline(audit.timeline)),
        section("Offsets", partitions(audit.partitions, audit.gaps)),
        section("Still to be read", lags(audit.lags)),
    ]
    body = "\n".join(filter(None, parts))
    head = f'<meta charset="utf-8"><title>Audit</title><style>{STYLE}</style>'
    return f"<!doctype html>\n<html lang='en'><head>{head}</head><body>\n{body}\n</body></html>\n"


def listed(lines: Sequence[str], kind: str) -> str:
    items = "".join(f'<li class="{kind}">{escape(line)}</li>' for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def section(title: str, picture: str) -> str:
    return f"<h2>{title}</h2>\n{picture}" if picture else ""


def svg(height: int, content: Iterable[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" xmlns="http://www.w3.org/2000/svg" role="img">'
        f"{''.join(content)}</svg>"
    )


def rect(x: float, y: float, width: float, height: float, colour: str, title: str = "") -> str:
    told = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height:.1f}"'
        f' fill="{colour}">{told}</rect>'
    )


def label(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def timeline(moments: Sequence[Moment]) -> str:
    """Bars over time, the topics of a moment on top of each other."""
    if not moments:
        return ""
    topics = sorted({one.topic for one in moments})
    starts = sorted({one.from_ms for one in moments})
    first, last = starts[0], starts[-1]
    steps = [b - a for a, b in pairwise(starts)]
    width_ms = min(steps, default=1)
    scale = WIDTH / (last - first + width_ms)
    totals = {at: sum(one.records for one in moments if one.from_ms == at) for at in starts}
    content, stacked = [], dict.fromkeys(starts, 0.0)
    for one in moments:
        height = CHART * one.records / max(totals.values())
        stacked[one.from_ms] += height
        colour = COLOURS[topics.index(one.topic) % len(COLOURS)]
        title = f"{one.topic}, {moment(one.from_ms)}: {one.records:,}"
        x, y = (one.from_ms - first) * scale, CHART - stacked[one.from_ms]
        content.append(rect(x, y, width_ms * scale - 0.5, height, colour, title))
    content.append(label(0, CHART + 16, moment(first)))
    content.append(label(WIDTH, CHART + 16, moment(last), "end"))
    return svg(CHART + 24 + ROW * len(topics), [*content, *legend(topics, CHART + 24)])


def legend(topics: Sequence[str], top: int) -> list[str]:
    content = []
    for number, topic in enumerate(topics):
        y = top + ROW * number
        content.append(rect(0, y, 12, 12, COLOURS[number % len(COLOURS)]))
        content.append(label(18, y + 11, topic))
    return content


def partitions(reports: Sequence[PartitionReport], gaps: Sequence[Gap]) -> str:
    """A strip for each partition: its offsets, and the gaps in them."""
    content = []
    for number, one in enumerate(reports):
        y, span = ROW * number, max(1, one.last - one.first + 1)
        scale = (WIDTH - TEXT) / span
        content.append(label(0, y + 14, f"{one.topic}-{one.partition}"))
        title = f"offsets {one.first} to {one.last}: {one.records:,} records, {one.markers} markers"
        content.append(rect(TEXT, y + 3, WIDTH - TEXT, ROW - 6, COLOURS[0], title))
        for gap in gaps:
            if (gap.topic, gap.partition) == (one.topic, one.partition):
                x = TEXT + (gap.first - one.first) * scale
                what = f"{gap.first} to {gap.last}: {gap.kind}"
                colour = GAP_COLOURS.get(gap.kind, UNTOLD_COLOUR)
                content.append(rect(x, y + 3, gap.count * scale, ROW - 6, colour, what))
    return svg(ROW * len(reports), content) if reports else ""


def lags(found: Sequence[GroupLag]) -> str:
    """A bar for each group and partition."""
    most = max((one.lag for one in found), default=0) or 1
    content = []
    for number, one in enumerate(found):
        y = ROW * number
        content.append(label(0, y + 14, f"{one.group}: {one.topic}-{one.partition}"))
        width = (WIDTH - TEXT - 80) * one.lag / most
        content.append(rect(TEXT, y + 3, width, ROW - 6, COLOURS[1]))
        content.append(label(TEXT + width + 6, y + 14, f"{one.lag:,}"))
    return svg(ROW * len(found), content) if found else ""


def moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
