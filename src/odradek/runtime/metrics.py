"""Metrics: a node's instruments by name, in Prometheus's text when somebody asks.

One `Metrics` a node and none for the process, for simulation runs many nodes in one. A name is
exported as it is declared, since dashboards know the names of the exporters before us.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from odradek.runtime.instruments import Counter, Gauge, Histogram, Instrument, Sample, Summary

if TYPE_CHECKING:
    from prometheus_client import Metric

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LATENCY_BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)

Labels = tuple[str, ...]
AnInstrument = TypeVar("AnInstrument", bound=Instrument)
ASource = TypeVar("ASource", bound="Source")


class Source(Protocol):
    """Where the samples of one name come from, each with the values of its labels."""

    def samples(self) -> Iterator[tuple[Labels, Sample]]: ...


class Family(Generic[AnInstrument]):
    """Instruments of one name, told apart by the values of their labels."""

    __slots__ = ("_label_count", "_make", "_members")

    def __init__(self, label_count: int, make: Callable[[], AnInstrument]) -> None:
        self._label_count = label_count
        self._make = make
        self._members: dict[Labels, AnInstrument] = {}

    def of(self, *values: str) -> AnInstrument:
        """The instrument of these label values, made when first asked for."""
        member = self._members.get(values)
        if member is None:
            assert len(values) == self._label_count, f"one value a label, not {values}"
            member = self._members[values] = self._make()
        return member

    def forget(self, *values: str) -> None:
        """Export it no more: the partition or the peer is gone."""
        self._members.pop(values, None)

    def samples(self) -> Iterator[tuple[Labels, Sample]]:
        for values, member in self._members.items():
            for sample in member.samples():
                yield values, sample


@dataclass(frozen=True, slots=True)
class Computed:
    """Values that are worked out when somebody asks, and cost nothing before."""

    compute: Callable[[], Mapping[Labels, float]]

    def samples(self) -> Iterator[tuple[Labels, Sample]]:
        for values, value in self.compute().items():
            yield values, ("", {}, value)


@dataclass(frozen=True, slots=True)
class Declared:
    """A name that is exported."""

    name: str
    about: str
    kind: str
    labels: Labels
    source: Source

    def metric(self) -> Metric:
        # Not above: it takes 12 ms to import, and the ports of a server are to be open by then.
        from prometheus_client import Metric

        metric = Metric(*self._family())
        for values, (suffix, own_labels, value) in self.source.samples():
            labels = dict(zip(self.labels, values, strict=True), **own_labels)
            metric.add_sample(self.name + suffix, labels, value)
        return metric

    def _family(self) -> tuple[str, str, str]:
        """Prometheus adds `_total` to the name of a counter; an older name has no type there."""
        if self.kind != Counter.kind:
            return self.name, self.about, self.kind
        if self.name.endswith("_total"):
            return self.name.removesuffix("_total"), self.about, self.kind
        return self.name, self.about, "untyped"


class Metrics:
    """All metrics of one node. In the singular without labels, in the plural with."""

    def __init__(self) -> None:
        self._declared: dict[str, Declared] = {}

    def counter(self, name: str, about: str) -> Counter:
        return self.counters(name, about).of()

    def counters(self, name: str, about: str, *labels: str) -> Family[Counter]:
        return self._declare(name, about, Counter.kind, labels, Family(len(labels), Counter))

    def gauge(self, name: str, about: str) -> Gauge:
        return self.gauges(name, about).of()

    def gauges(self, name: str, about: str, *labels: str) -> Family[Gauge]:
        return self._declare(name, about, Gauge.kind, labels, Family(len(labels), Gauge))

    def computed_gauge(self, name: str, about: str, compute: Callable[[], float]) -> None:
        self.computed_gauges(name, about, compute=lambda: {(): compute()})

    def computed_gauges(
        self, name: str, about: str, *labels: str, compute: Callable[[], Mapping[Labels, float]]
    ) -> None:
        """`compute` gives all values, by the values of their labels."""
        self._declare(name, about, Gauge.kind, labels, Computed(compute))

    def computed_counters(
        self, name: str, about: str, *labels: str, compute: Callable[[], Mapping[Labels, float]]
    ) -> None:
        """As `computed_gauges`, of figures that only grow."""
        self._declare(name, about, Counter.kind, labels, Computed(compute))

    def summary(self, name: str, about: str) -> Summary:
        return self.summaries(name, about).of()

    def summaries(self, name: str, about: str, *labels: str) -> Family[Summary]:
        return self._declare(name, about, Summary.kind, labels, Family(len(labels), Summary))

    def histogram(
        self, name: str, about: str, bounds: Sequence[float] = LATENCY_BOUNDS_S
    ) -> Histogram:
        return self.histograms(name, about, bounds=bounds).of()

    def histograms(
        self, name: str, about: str, *labels: str, bounds: Sequence[float] = LATENCY_BOUNDS_S
    ) -> Family[Histogram]:
        assert list(bounds) == sorted(set(bounds)), f"{name}: bounds rise"
        family = Family(len(labels), lambda: Histogram(bounds))
        return self._declare(name, about, Histogram.kind, labels, family)

    def collect(self) -> Iterator[Metric]:
        """All metrics as they are now, for prometheus-client's registries and formats."""
        return (declared.metric() for declared in self._declared.values())

    def text(self) -> bytes:
        """The answer to GET /metrics, in the text format 0.0.4."""
        from prometheus_client import generate_latest

        return generate_latest(self)

    def _declare(
        self, name: str, about: str, kind: str, labels: Labels, source: ASource
    ) -> ASource:
        assert name not in self._declared, f"{name} is declared twice"
        assert all(map(NAME.fullmatch, (name, *labels))), f"no names for Prometheus: {name}"
        self._declared[name] = Declared(name, about, kind, labels, source)
        return source
