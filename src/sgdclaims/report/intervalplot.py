"""A small drawing of an interval against what the check allows, as inline SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sgdclaims.claims.schema import Check
from sgdclaims.results import Interval

WIDTH, HEIGHT, MARGIN = 150, 22, 6


@dataclass(frozen=True)
class Allowed:
    """The values that satisfy a check; None is unbounded."""

    low: float | None
    high: float | None


def allowed(check: Check) -> Allowed:
    """What a check allows, on the scale of the reported estimate."""
    match check.name:
        case "above":
            return Allowed(check.above, None)
        case "below":
            return Allowed(None, check.below)
        case "between":
            assert check.between
            return Allowed(*check.between)
        case "within":
            assert check.within
            center = 1.0 if check.within.of is None else check.within.of
            reach = abs(center) * check.within.percent / 100
            return Allowed(center - reach, center + reach)
        case "slope":
            assert check.slope
            return Allowed(*check.slope.between)
        case "never_violated":
            return Allowed(None, 0)
    return Allowed(0, None)


def svg(interval: Interval, check: Check) -> str:
    """The allowed values as a band, the interval as a line with its estimate; empty if undefined."""
    region = allowed(check)
    points = [interval.low, interval.estimate, interval.high]
    finite = [v for v in (*points, region.low, region.high) if v is not None and math.isfinite(v)]
    if interval.estimate is None or not finite:
        return ""
    low, high = min(finite), max(finite)
    reach = (high - low) or abs(high) or 1.0
    low, high = low - 0.15 * reach, high + 0.15 * reach

    def x(value: float | None, otherwise: float) -> float:
        if value is None or math.isnan(value):
            value = otherwise
        share = (min(max(value, low), high) - low) / (high - low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    band = (x(region.low, low), x(region.high, high))
    left, center, right = x(interval.low, low), x(interval.estimate, low), x(interval.high, high)
    middle = HEIGHT / 2
    return (
        f'<svg class="interval" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'aria-hidden="true"><rect x="{band[0]}" y="3" width="{max(band[1] - band[0], 1):.1f}" '
        f'height="{HEIGHT - 6}" class="allowed"/>'
        f'<line x1="{left}" x2="{right}" y1="{middle}" y2="{middle}"/>'
        f'<circle cx="{center}" cy="{middle}" r="3"/></svg>'
    )
