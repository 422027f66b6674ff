"""What operators may know of groups and transactions, under the names of Kafka's exporters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter
from typing import Any

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.shards import Shards
from odradek.kafka.coordinator.group import Group, State
from odradek.runtime.metrics import Metrics

GROUP_STATES = {
    "preparingrebalance": State.PREPARING,
    "completingrebalance": State.COMPLETING,
    "stable": State.STABLE,
    "empty": State.EMPTY,
    "dead": State.DEAD,
}
GROUP_COUNTS = {
    "offset_commit": ("offsets_committed", "Offsets that were committed"),
    "offset_expiration": ("offsets_expired", "Offsets that nobody cared for any more"),
    "offset_deletion": ("offsets_deleted", "Offsets that somebody had deleted"),
    "group_completed_rebalance": ("rebalances_completed", "Rebalances that came to their end"),
}


def declare_coordinators(metrics: Metrics, broker: Broker) -> None:
    """Let groups and transactions be asked for; the broker may get its coordinators later."""
    declare_groups(metrics, broker)
    declare_transactions(metrics, broker)


def declare_groups(metrics: Metrics, broker: Broker) -> None:
    manager = "kafka_coordinator_group_groupmetadatamanager"
    gauge = metrics.computed_gauge
    gauge(f"{manager}_numgroups", "Groups here", lambda: len(all_groups(broker)))
    gauge(
        f"{manager}_numoffsets",
        "Offsets of all groups",
        lambda: sum(len(it.offsets.logged) for it in all_groups(broker)),
    )
    for name, state in GROUP_STATES.items():
        gauge(
            f"{manager}_numgroups{name}",
            f"Groups that are {state.value}",
            partial(count_in, broker, state),
        )
    sensors = "kafka_server_group_coordinator_metrics"
    for name, (figure, about) in GROUP_COUNTS.items():
        metrics.computed_counters(
            f"{sensors}_{name}_total", about, compute=partial(counted, broker, attrgetter(figure))
        )
    declare_loading(metrics, sensors, lambda: broker.coordinators.groups)


def declare_transactions(metrics: Metrics, broker: Broker) -> None:
    manager = "kafka_coordinator_transaction_transactionmarkerchannelmanager"
    metrics.computed_gauge(
        f"{manager}_unknowndestinationqueuesize",
        "Markers that nobody took yet",
        lambda: sum(
            it.shard.markers_waiting for it in broker.coordinators.transactions.here.values()
        ),
    )
    metrics.computed_gauge(
        f"{manager}_logappendretryqueuesize",
        "Transactions that are over and could not be noted so yet",
        lambda: sum(
            it.shard.appends_waiting for it in broker.coordinators.transactions.here.values()
        ),
    )
    metrics.computed_counters(
        "kafka_server_addpartitionstotxnmanager_verificationfailure_total",
        "Partitions that were not in the transaction they were to be written to",
        compute=lambda: {(): broker.coordinators.verifier.failures},
    )
    declare_loading(
        metrics,
        "kafka_server_transaction_coordinator_metrics",
        lambda: broker.coordinators.transactions,
    )


def declare_loading(metrics: Metrics, sensors: str, shards: Callable[[], Shards[Any]]) -> None:
    """How long it took to load the shards that are here, in milliseconds."""

    def times_ms() -> Iterable[float]:
        return [it.loading_s * 1000 for it in shards().here.values()]

    for name, of in (("max", max_or_zero), ("avg", mean_or_zero)):
        metrics.computed_gauge(
            f"{sensors}_partition_load_time_{name}",
            "Milliseconds to load a partition",
            lambda of=of: of(list(times_ms())),  # type: ignore[misc]
        )


def all_groups(broker: Broker) -> list[Group]:
    return [
        group
        for shell in broker.coordinators.groups.here.values()
        for group in shell.shard.desk.groups.values()
    ]


def count_in(broker: Broker, state: State) -> int:
    return sum(it.state is state for it in all_groups(broker))


def counted(broker: Broker, figure: Callable[[object], float]) -> dict[tuple[str, ...], float]:
    return {(): figure(broker.coordinators.groups.figures)}


def max_or_zero(values: list[float]) -> float:
    return max(values, default=0.0)


def mean_or_zero(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
