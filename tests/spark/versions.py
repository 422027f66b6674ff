"""What the Spark that is here has, and older ones have not."""

from __future__ import annotations

from importlib.metadata import version

import pytest

SPARK = tuple(map(int, version("pyspark").split(".")[:2]))
PUSHES_FILTERS = SPARK >= (4, 1)
ASKS_SOURCES = SPARK >= (4, 2)  # How much they want to read, and how far they are.

if_sources_are_asked = pytest.mark.skipif(
    not ASKS_SOURCES, reason="Spark tells how much to read from 4.2 on"
)
