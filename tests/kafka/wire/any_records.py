"""Any records that a producer might send."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import strategies as st

from odradek.kafka.wire.records import Header, Record

INT64 = st.integers(-(2**63), 2**63 - 1)
PLAUSIBLE_MS = st.integers(0, 2**42)
OCTETS = st.none() | st.binary(max_size=300)
HEADERS: st.SearchStrategy[tuple[Header, ...]] = st.lists(
    st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=10)), max_size=3
).map(tuple)
NO_HEADERS: st.SearchStrategy[tuple[Header, ...]] = st.just(())


@st.composite
def any_records(
    draw: st.DrawFn,
    *,
    timestamps: st.SearchStrategy[int] = INT64 | PLAUSIBLE_MS,
    headers: st.SearchStrategy[tuple[Header, ...]] = HEADERS,
    has_gaps: bool = True,
) -> list[Record]:
    """At least one record, at ascending offsets, with gaps as compaction leaves them."""
    bodies = draw(st.lists(st.tuples(timestamps, OCTETS, OCTETS, headers), min_size=1, max_size=20))
    steps = st.integers(1, 100_000) if has_gaps else st.just(1)
    offsets = accumulate(
        (draw(steps) for _ in bodies[1:]), initial=draw(st.integers(0, 2**40) | st.just(0))
    )
    return [Record(offset, *body) for offset, body in zip(offsets, bodies, strict=True)]
