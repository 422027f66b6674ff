"""How tests wait: for a condition, never for a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE_S = 60.0
PAUSE_S = 0.005


def wait_until(condition: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Look again and again until the condition holds; too long is a failure."""
    deadline = time.monotonic() + patience_s
    between_looks = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"waited {patience_s} s in vain"
        between_looks.wait(PAUSE_S)
