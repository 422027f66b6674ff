"""A node's metrics, in Prometheus's text."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from odradek.runtime.metrics import Metrics


def exported(metrics: Metrics) -> dict[str, float]:
    """The samples of the text as a scraper would see them, by name and labels."""
    return {
        sample.name + "".join(f"[{value}]" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def test_counters_and_gauges_are_exported_as_they_are_now() -> None:
    metrics = Metrics()
    requests = metrics.counter("requests_total", "Requests answered")
    sessions = metrics.gauge("sessions", "Sessions open")
    requests.add()
    requests.add(2)
    requests.value += 1
    sessions.value = 7
    assert exported(metrics) == {"requests_total": 4, "sessions": 7}
    assert metrics.text().decode().splitlines()[:2] == [
        "# HELP requests_total Requests answered",
        "# TYPE requests_total counter",
    ]


def test_a_counter_keeps_a_name_that_dashboards_know() -> None:
    metrics = Metrics()
    metrics.counter("packets_received", "Packets received").add(3)
    assert exported(metrics) == {"packets_received": 3}


def test_labels_tell_instruments_apart_until_they_are_forgotten() -> None:
    metrics = Metrics()
    requests = metrics.counters("requests_total", "Requests", "api", "listener")
    requests.of("Fetch", "inside").add(10)
    requests.of("Fetch", "inside").add(10)
    requests.of("Produce", 'odd"\n').add(1)
    assert exported(metrics) == {
        "requests_total[Fetch][inside]": 20,
        'requests_total[Produce][odd"\n]': 1,
    }
    requests.forget("Fetch", "inside")
    requests.forget("Fetch", "never")
    assert exported(metrics) == {'requests_total[Produce][odd"\n]': 1}


def test_a_computed_gauge_is_worked_out_when_somebody_asks() -> None:
    metrics = Metrics()
    partitions = {"a": 1, "b": 2}
    metrics.computed_gauge("partitions", "Partitions held", lambda: len(partitions))
    metrics.computed_gauges(
        "lag", "Lag", "topic", compute=lambda: {(name,): lag for name, lag in partitions.items()}
    )
    partitions["c"] = 3
    assert exported(metrics) == {"partitions": 3, "lag[a]": 1, "lag[b]": 2, "lag[c]": 3}


def test_a_histogram_counts_each_value_up_to_its_bound() -> None:
    metrics = Metrics()
    latency = metrics.histogram("latency_seconds", "Latency", bounds=(0.1, 1.0))
    for value in (0.05, 0.1, 0.5, 2.0):
        latency.observe(value)
    assert exported(metrics) == {
        "latency_seconds_bucket[0.1]": 2,
        "latency_seconds_bucket[1.0]": 3,
        "latency_seconds_bucket[+Inf]": 4,
        "latency_seconds_count": 4,
        "latency_seconds_sum": pytest.approx(2.65),
    }


def test_labelled_histograms_and_summaries_stand_side_by_side() -> None:
    metrics = Metrics()
    by_api = metrics.histograms("api_seconds", "By request kind", "api", bounds=(1.0,))
    by_api.of("Fetch").observe(2)
    sizes = metrics.summaries("size_bytes", "Sizes", "api")
    sizes.of("Fetch").observe(100)
    sizes.of("Fetch").observe(200)
    metrics.summary("idle_seconds", "Idle")
    assert exported(metrics) == {
        "api_seconds_bucket[Fetch][1.0]": 0,
        "api_seconds_bucket[Fetch][+Inf]": 1,
        "api_seconds_count[Fetch]": 1,
        "api_seconds_sum[Fetch]": 2,
        "size_bytes_count[Fetch]": 2,
        "size_bytes_sum[Fetch]": 300,
        "idle_seconds_count": 0,
        "idle_seconds_sum": 0,
    }


def test_each_node_has_its_own_metrics() -> None:
    first, second = Metrics(), Metrics()
    first.counter("requests_total", "Requests").add()
    second.counter("requests_total", "Requests")
    assert exported(first) == {"requests_total": 1}
    assert exported(second) == {"requests_total": 0}


def test_a_name_is_declared_once_and_is_one() -> None:
    metrics = Metrics()
    metrics.gauge("sessions", "Sessions")
    for name in ("sessions", "not a name", "9lives", ""):
        with pytest.raises(AssertionError):
            metrics.counter(name, "Twice or never")


def test_a_value_is_wanted_for_every_label() -> None:
    with pytest.raises(AssertionError, match="one value a label"):
        Metrics().counters("bytes_in_total", "Bytes in", "topic").of("orders", "3")
