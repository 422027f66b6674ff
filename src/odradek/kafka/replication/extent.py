"""What of a log is compared with another, however its epochs are told: where it begins and ends."""

from __future__ import annotations

from typing import Protocol


class Extent(Protocol):
    """A log, by its bounds."""

    @property
    def start_offset(self) -> int: ...

    @property
    def end_offset(self) -> int: ...

    @property
    def high_watermark(self) -> int: ...
