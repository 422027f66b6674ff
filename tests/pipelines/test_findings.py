from __future__ import annotations

import json
from xml.etree import ElementTree

from odradek.pipelines.findings import (
    CLEANED,
    LOST,
    UNTOLD,
    Audit,
    Gap,
    GroupLag,
    Moment,
    PartitionReport,
)
from odradek.pipelines.plot import page_of


def found() -> Audit:
    return Audit(
        "here",
        partitions=[PartitionReport("t<1>", 0, 0, 99, 90, producer_duplicates=2)],
        gaps=[Gap("t<1>", 0, 10, 14, LOST), Gap("t<1>", 0, 20, 24, CLEANED)],
        lags=[GroupLag("g", "t<1>", 0, 40, 50, 100)],
        timeline=[Moment("t<1>", 0, 4), Moment("t<1>", 1000, 2), Moment("u", 1000, 1)],
    )


def test_an_audit_without_findings_has_no_problems() -> None:
    assert Audit("here", partitions=[PartitionReport("t", 0, 0, 9, 10)]).problems == []


def test_losses_and_duplicates_are_problems_and_compaction_is_none() -> None:
    problems = found().problems
    assert len(problems) == 3
    assert "5 offsets are lost, the first from 10 to 14" in problems[0]
    assert "2 records repeat" in problems[1]
    assert "10 records were deleted before it came to them" in problems[2]
    assert any("compacted" in note for note in found().notes)


def test_what_a_broker_cannot_tell_is_a_note() -> None:
    audit = Audit("here", gaps=[Gap("t", 0, 1, 2, UNTOLD)])
    assert audit.problems == [] and "2 offsets have no record" in audit.notes[0]


def test_an_audit_is_json() -> None:
    assert json.loads(json.dumps(found().to_json()))["lags"][0]["committed"] == 40


def test_the_page_has_a_picture_of_everything_and_needs_nothing_else() -> None:
    page = page_of(found())
    pictures = [part.partition("</svg>")[0] + "</svg>" for part in page.split("<svg")[1:]]
    assert len(pictures) == 3
    times, offsets, lags = (ElementTree.fromstring("<svg" + one) for one in pictures)
    assert len(times.findall("{*}rect")) == 3 + 2, "moments, and topics"
    assert [rect.get("fill") for rect in offsets.findall("{*}rect")][1:] == ["#d0342c", "#c9c9c9"]
    assert "60" in "".join(lags.itertext())
    assert "t<1>" not in page and "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_an_empty_audit_is_a_page_too() -> None:
    assert "Nothing is wrong." in page_of(Audit("nowhere"))
