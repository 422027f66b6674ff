from __future__ import annotations

from pathlib import Path

import pytest

from odradek.doctor import Level, examine
from odradek.doctor.machine import (
    GIBIBYTE,
    of_clock,
    of_disk,
    of_loopback,
    of_memory,
    of_open_files,
    of_own_name,
    of_packages,
    of_python,
)


def test_a_machine_is_looked_at_from_all_sides() -> None:
    subjects = {finding.subject for finding in examine()}
    assert {"python", "java", "disk", "localhost", "clock"} <= subjects


@pytest.mark.parametrize(
    ("found", "level"),
    [
        (of_python((3, 10), "here"), Level.WRONG),
        (of_python((3, 13), "here"), Level.GOOD),
        (of_python((3, 13), "here", is_optimised=False), Level.NOTE),
        (of_memory(GIBIBYTE // 8), Level.WRONG),
        (of_memory(GIBIBYTE), Level.WARNING),
        (of_memory(8 * GIBIBYTE), Level.GOOD),
        (of_open_files(256), Level.WRONG),
        (of_open_files(4096), Level.WARNING),
        (of_open_files(100_000), Level.GOOD),
        (of_disk(Path("/"), 1000), Level.WRONG),
        (of_disk(Path("/"), GIBIBYTE), Level.WARNING),
        (of_loopback(lambda name: ["10.0.0.1"]), Level.WRONG),
        (of_loopback(lambda name: ["::1"]), Level.GOOD),
        (of_own_name("box", lambda name: []), Level.WARNING),
        (of_own_name("box", lambda name: ["10.0.0.1"]), Level.GOOD),
        (of_clock(1000, 5000), Level.WRONG),
        (of_clock(5000, 1000), Level.GOOD),
    ],
)
def test_what_is_too_little_is_said(found: object, level: Level) -> None:
    assert getattr(found, "level", None) is level


def test_missing_packages_are_a_note_and_a_wrong_one_a_warning() -> None:
    (missing,) = of_packages(lambda name: None)
    assert missing.level is Level.NOTE and "pip install 'odradek[spark]'" in missing.text
    *_, pandas = of_packages(lambda name: "3.1" if name == "pandas" else "1.0")
    assert pandas.level is Level.WARNING
