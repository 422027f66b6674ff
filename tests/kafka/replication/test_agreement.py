"""Two logs of one partition agree up to where the latest epoch that both have ends in one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from odradek.kafka.replication.agreement import agreed_end


@dataclass(frozen=True)
class Epochs:
    starts: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class History:
    end_offset: int
    starts: tuple[tuple[int, int], ...] = ()
    start_offset: int = 0
    high_watermark: int = 0

    @property
    def epochs(self) -> Epochs:
        return Epochs(self.starts)


WHOLE = History(100, ((0, 0), (2, 40), (5, 70)))


@pytest.mark.parametrize(
    ("copy", "expected"),
    [
        (History(0), 0),
        (History(30, ((0, 0),)), 30),
        (History(100, WHOLE.starts), 100),
        (History(120, WHOLE.starts), 100),  # The other lost its tail.
        (History(60, ((0, 0),)), 40),  # The other was cut inside this epoch.
        (History(90, ((0, 0), (2, 40))), 70),
        (History(90, ((0, 0), (3, 50))), 40),  # An epoch that the other does not know.
        (History(90, ((0, 0), (2, 40), (7, 60))), 60),
        (History(90, ((7, 60),), start_offset=60), 60),  # Nothing in common.
        (History(80, ((2, 50), (5, 70)), start_offset=50), 80),
    ],
)
def test_what_both_have_of_the_latest_common_epoch_is_the_same(
    copy: History, expected: int
) -> None:
    assert agreed_end(copy, WHOLE) == expected


def test_logs_without_epochs_agree_on_what_is_committed() -> None:
    assert agreed_end(History(50, high_watermark=40), History(60, high_watermark=45)) == 40


def test_a_copy_without_epochs_of_a_log_with_some_begins_anew() -> None:
    assert agreed_end(History(50, high_watermark=40, start_offset=10), WHOLE) == 10
