"""What the console learns and does without any page."""

from __future__ import annotations

import asyncio

from odradek.console.sights import Node
from odradek.console.watching import times_of
from odradek.testing import Cluster
from tests.console.stories import tell_of_an_observer


def test_an_observer_sees_reads_writes_and_keeps(cluster: Cluster) -> None:
    asyncio.run(tell_of_an_observer(cluster.bootstrap, cluster.zookeeper))


def test_what_went_did_so_before_what_was_written_after_it() -> None:
    ordered = [("/gone", None), ("/made", Node(b"", 500, 8)), ("/gone-later", None)]
    changed = {"/gone": 7, "/made": 8, "/gone-later": 9}
    assert times_of(ordered, changed, 900) == {"/gone-later": 900, "/made": 500, "/gone": 500}
    reread = dict.fromkeys(changed, 0)  # All was read again: old nodes say nothing of the new.
    assert times_of(ordered, reread, 900)["/gone"] == 900
