"""Small drawings: a line over time, as SVG; pure."""

from __future__ import annotations

from collections.abc import Sequence

COLOUR = "var(--accent)"


def sparkline(
    values: Sequence[float], *, width: int = 240, height: int = 48, label: str = ""
) -> str:
    """A line of the values, the newest at the right, from zero to the highest."""
    drawn = list(values) if len(values) > 1 else [*values, *values] or [0.0, 0.0]
    top = max([*drawn, 1.0])
    step = width / (len(drawn) - 1)
    line = " ".join(
        f"{index * step:.1f},{height - 2 - value / top * (height - 6):.1f}"
        for index, value in enumerate(drawn)
    )
    area = f"0,{height} {line} {width},{height}"
    return (
        f'<svg viewBox="0 0 {width} {height}" width="100%" height="{height}" '
        f'preserveAspectRatio="none" role="img" aria-label="{label}">'
        f'<polygon points="{area}" fill="{COLOUR}" opacity="0.12"></polygon>'
        f'<polyline points="{line}" fill="none" stroke="{COLOUR}" stroke-width="1.6" '
        'vector-effect="non-scaling-stroke"></polyline></svg>'
    )


def amount(value: float) -> str:
    """A number as people say it: 950, 1.2 k, 3.4 M."""
    for unit in ("", " k", " M", " G"):
        if abs(value) < 1000 or unit == " G":
            digits = 0 if not unit or abs(value) >= 100 else 1
            return f"{value:.{digits}f}{unit}"
        value /= 1000
    raise AssertionError
