"""What Kafka's own classes wrote, we read and write the same."""

from __future__ import annotations

import pytest

from odradek.kafka.wire.codec import encode, read
from odradek.kafka.wire.messages.control_records import (
    ControlRecordKey,
    EndTransactionMarkerValue,
)
from tests.kafka.wire.kinds import Golden, all_versions, build, goldens

GOLDENS = list(goldens())


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda g: f"{g.kind.__name__}-{g.version}")
def test_a_golden_value_has_the_golden_bytes(golden: Golden) -> None:
    kind, version, value, data = golden
    message, end = read(kind, version, data, 0)
    assert end == len(data)
    assert message == build(kind, value)
    assert b"".join(encode(message, version)) == data
    assert b"".join(encode(build(kind, value), version)) == data


def test_every_version_of_every_message_has_a_golden_value() -> None:
    proven = {(golden.kind, golden.version) for golden in GOLDENS}
    unproven = {
        (kind.__name__, version)
        for kind, version in all_versions()
        if (kind, version) not in proven
    }
    # These two are proven by the markers of a real log.
    assert unproven == {("ControlRecordKey", 0), ("EndTransactionMarkerValue", 0)}
    assert len(GOLDENS) == 740


def test_a_real_commit_marker_reads_as_its_two_messages() -> None:
    key, value = bytes.fromhex("00000001"), bytes.fromhex("000000000000")
    commit = ControlRecordKey(version=0, type=1)
    assert read(ControlRecordKey, 0, key, 0) == (commit, len(key))
    marker = EndTransactionMarkerValue(version=0, coordinator_epoch=0)
    assert read(EndTransactionMarkerValue, 0, value, 0) == (marker, len(value))


@pytest.mark.parametrize("golden", GOLDENS[::7], ids=lambda g: f"{g.kind.__name__}-{g.version}")
def test_a_message_is_read_alike_from_any_buffer_at_any_position(golden: Golden) -> None:
    kind, version, _, data = golden
    expected, _ = read(kind, version, data, 0)
    padded = b"abc" + data + b"more"
    for buffer in (padded, bytearray(padded), memoryview(bytearray(padded))):
        assert read(kind, version, buffer, 3) == (expected, 3 + len(data))
