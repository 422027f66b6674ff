"""Real clusters for tests, and faults done to them.

    import odradek.testing

    with odradek.testing.cluster(brokers=3, zookeepers=3) as c:
        producer = Producer({"bootstrap.servers": c.bootstrap})
        c.kill(c.leader_of("orders"))

Everything is processes and threads of its own: it works beside a running loop, as in notebooks.
Under pytest the fixtures of `plugin` do the same. What is imported here is imported by every run of
pytest in an environment that has Odradek, so it is next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from odradek.testing.faulty import Cluster, cluster
    from odradek.testing.rules import Fault

__all__ = ["Cluster", "Fault", "cluster"]
HOMES = {"Cluster": "faulty", "cluster": "faulty", "Fault": "rules"}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
