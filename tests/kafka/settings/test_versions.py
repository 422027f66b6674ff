"""Versions of the protocol among brokers are those of Kafka."""

from __future__ import annotations

import pytest

from odradek.kafka.settings.versions import LATEST, all_versions, read_version


@pytest.mark.parametrize(
    ("text", "meant", "record_version"),
    [
        ("0.8.2", "0.8.2", 0),
        ("0.9.0.X", "0.9.0", 0),
        ("0.10.0", "0.10.0-IV1", 1),
        ("0.11.0.3", "0.11.0-IV2", 2),
        ("1.0", "1.0-IV0", 2),
        ("2.8.1", "2.8-IV1", 2),
        ("2.8-IV0", "2.8-IV0", 2),
        ("3.9.2", "3.9-IV0", 2),
    ],
)
def test_a_release_means_its_last_step(text: str, meant: str, record_version: int) -> None:
    version = read_version(text)
    assert (version.text, version.record_version) == (meant, record_version)


@pytest.mark.parametrize("text", ["0.10", "2.8-IV2", "4.0", "3", "x", "", "3.10", "0.7"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be a version from 0\.8\.0 to 3\.9-IV0"):
        read_version(text)


def test_later_versions_are_greater() -> None:
    assert sorted(all_versions()) == all_versions()
    assert all_versions()[-1] == LATEST
    assert read_version("0.10.2") < read_version("2.1") < read_version("2.8-IV0")
    assert len(all_versions()) == 55
