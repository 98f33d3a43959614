"""Judges claims: the statistic over seeds with its interval, for the subject and for the control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sgdclaims.claims import statistics
from sgdclaims.claims.schema import Check, Claim
from sgdclaims.errors import UserError, suggestion
from sgdclaims.results import (
    SYNTHETIC,
    Interval,
    Quantities,
    Quantity,
    Verdict,
    VerdictName,
    Verdicts,
)

Satisfies = Literal["yes", "no", "straddles", "undefined"]


@dataclass(frozen=True)
class _Bounds:
    """The values that satisfy a check: an interval, open where `strict`."""

    low: float = -np.inf
    high: float = np.inf
    strict: bool = False

    def verdict(self, low: float, high: float) -> Satisfies:
        """Whether the interval [low, high] lies inside, outside, or across a bound."""
        if self.strict:
            # An unbounded side is open to infinite values as well.
            above = low > self.low or self.low == -np.inf
            under = high < self.high or self.high == np.inf
            inside = above and under
            outside = (high <= self.low and self.low > -np.inf) or (
                low >= self.high and self.high < np.inf
            )
        else:
            inside = low >= self.low and high <= self.high
            outside = high < self.low or low > self.high
        return "yes" if inside else "no" if outside else "straddles"


def _bounds(check: Check) -> _Bounds:
    match check.name:
        case "above":
            return _Bounds(low=float(check.above or 0), strict=True)
        case "below":
            return _Bounds(high=float(check.below or 0), strict=True)
        case "between":
            assert check.between
            return _Bounds(*check.between)
        case "within":
            assert check.within
            share = check.within.percent / 100
            center = 1.0 if check.within.of is None else check.within.of
            ends = sorted((center * (1 - share), center * (1 + share)))
            return _Bounds(ends[0], ends[1])
        case "slope":
            assert check.slope
            return _Bounds(*check.slope.between)
        case "never_violated":
            return _Bounds(low=0, high=0)
    return _Bounds(low=0, strict=True)  # increasing, decreasing, ordered: the smallest step


def _quantity(claim: Claim, name: str, quantities: Quantities) -> Quantity:
    if name not in quantities.quantities:
        raise UserError(
            f"{claim.place}: {claim.id}: {quantities.figure} measures no quantity {name!r}",
            suggestion(name, quantities.quantities),
        )
    return quantities.quantities[name]


def _values(claim: Claim, quantity: Quantity, variant: str) -> dict[str, float]:
    """Per seed; undefined is NaN."""
    if variant not in quantity.values:
        raise UserError(
            f"{claim.place}: {claim.id}: the quantity has no variant {variant!r}",
            suggestion(variant, quantity.values),
        )
    values = {s: np.nan if v is None else v for s, v in quantity.values[variant].items()}
    if not values:  # of no seeds, everything would be true
        raise UserError(f"{claim.place}: {claim.id}: the variant {variant!r} has no seeds")
    if quantity.kind == "violations" and any(v < 0 for v in values.values()):
        raise UserError(f"{claim.place}: {claim.id}: a count of violations is negative")
    return values


def _several(claim: Claim, quantity: Quantity, variants: list[str]) -> dict[str, list[float]]:
    """Per seed, the variants' values in the listed order."""
    tables = [_values(claim, quantity, variant) for variant in variants]
    if any(table.keys() != tables[0].keys() for table in tables):
        raise UserError(f"{claim.place}: {claim.id}: the variants do not share their seeds")
    return {seed: [table[seed] for table in tables] for seed in tables[0]}


def _interval(
    claim: Claim, quantities: Quantities, name: str, subject: str | list[str]
) -> tuple[Interval, Quantity]:
    """The check's statistic of a quantity's variants, over seeds."""
    assert claim.check
    check = claim.check
    quantity = _quantity(claim, name, quantities)
    if (check.name == "never_violated") != (quantity.kind == "violations"):
        raise UserError(
            f"{claim.place}: {claim.id}: 'never_violated' and quantities of kind 'violations' go together"
        )
    if isinstance(subject, list):
        per_seed, found = _compared(claim, quantity, subject)
    else:
        per_seed, found = _single(claim, quantities, quantity, subject)
    estimate, low, high = found
    if any(np.isnan(value) for value in per_seed.values()):
        satisfies: Satisfies = "undefined"
        estimate = low = high = np.nan
    else:
        satisfies = _bounds(check).verdict(low, high)
    numbers = [None if np.isnan(v) else float(v) for v in (estimate, low, high)]
    return (
        Interval(
            estimate=numbers[0],
            low=numbers[1],
            high=numbers[2],
            satisfies=satisfies,
            seeds=len(per_seed),
            per_seed={s: None if np.isnan(v) else float(v) for s, v in per_seed.items()},
        ),
        quantity,
    )


Found = tuple[dict[str, float], tuple[float, float, float]]


def _single(claim: Claim, quantities: Quantities, quantity: Quantity, variant: str) -> Found:
    assert claim.check
    per_seed = _values(claim, quantity, variant)
    if claim.check.within and claim.check.within.of_quantity:
        theory = _values(
            claim, _quantity(claim, claim.check.within.of_quantity, quantities), variant
        )
        per_seed = {s: v / theory[s] if theory.get(s) else np.nan for s, v in per_seed.items()}
    values = np.array(list(per_seed.values()))
    if quantity.kind == "violations":
        total = float(values.sum())
        return per_seed, (total, total, total)
    if quantity.kind == "exact":  # a fact without randomness
        if np.ptp(values) > 0:
            raise UserError(f"{claim.place}: {claim.id}: an exact quantity differs between seeds")
        return per_seed, (float(values[0]),) * 3
    if quantity.kind == "proportion" and claim.check.name != "within":
        if not np.isin(values[~np.isnan(values)], (0, 1)).all():
            raise UserError(f"{claim.place}: {claim.id}: a proportion's values are 0 or 1")
        if np.isnan(values).any():
            return per_seed, (np.nan, np.nan, np.nan)
        return per_seed, statistics.proportion_interval(values)
    return per_seed, statistics.mean_interval(values)


def _compared(claim: Claim, quantity: Quantity, variants: list[str]) -> Found:
    assert claim.check
    table = _several(claim, quantity, variants)
    values = np.array(list(table.values()))  # (n, variants)
    if claim.check.slope:
        axis = quantity.axis or {}
        missing = [variant for variant in variants if variant not in axis]
        if missing:
            raise UserError(f"{claim.place}: {claim.id}: no position for variant {missing[0]!r}")
        positions = np.array([axis[variant] for variant in variants])
        fitted = statistics.slopes(positions, values, log=claim.check.slope.log)
        per_seed = dict(zip(table, fitted.tolist(), strict=True))
        return per_seed, statistics.mean_interval(fitted)
    if claim.check.decreasing or claim.check.ordered == "descending":
        values = -values  # then every step must be positive
    with np.errstate(invalid="ignore"):
        smallest = np.diff(values, axis=1).min(axis=1)
    per_seed = dict(zip(table, smallest.tolist(), strict=True))
    if not np.isfinite(values).all():
        return per_seed, (np.nan, np.nan, np.nan)
    return per_seed, statistics.bca(values, statistics.smallest_step)


def _control(claim: Claim, quantities: Quantities) -> tuple[Interval | None, bool | None, str]:
    """The control's interval, whether it satisfies the check, and a note.

    It must come out false with its whole interval; a violation count must be positive in every seed.
    """
    assert claim.control
    assert claim.quantity
    assert claim.subject
    if claim.control.none:
        return None, None, f"No control: {claim.control.none}"
    subject = claim.control.variants or claim.control.variant or claim.subject
    interval, quantity = _interval(
        claim, quantities, claim.control.quantity or claim.quantity, subject
    )
    if quantity.kind == "violations":
        violated = all(v is not None and v > 0 for v in interval.per_seed.values())
        return interval, not violated, ""
    return interval, interval.satisfies != "no", ""


def control_is_reordered(claim: Claim, quantities: Quantities) -> bool:
    """Whether the control's values are the subject's own in another order of seeds or variants: no evidence at all.

    Only for means with at least two different values: counts, shares and constants agree by chance. The same values
    against other positions, as in a slope along another axis, are another question and pass.
    Raises UserError when the claim names what was not measured.
    """
    if claim.control is None or claim.control.none:
        return False
    assert claim.quantity
    assert claim.subject
    names = (claim.quantity, claim.control.quantity or claim.quantity)
    variants = (claim.subject, claim.control.variants or claim.control.variant or claim.subject)
    sorted_values, positions = [], []
    for name, listed in zip(names, variants, strict=True):
        quantity = _quantity(claim, name, quantities)
        if quantity.kind != "mean":
            return False
        chosen = [listed] if isinstance(listed, str) else listed
        sorted_values.append(
            np.sort([v for variant in chosen for v in _values(claim, quantity, variant).values()])
        )
        positions.append(sorted((quantity.axis or {}).get(variant, 0.0) for variant in chosen))
    own, controls = sorted_values
    if claim.check and claim.check.slope and positions[0] != positions[1]:
        return False
    return bool(len(np.unique(own)) > 1 and np.array_equal(own, controls, equal_nan=True))


def _data_source(quantity: Quantity, quantities: Quantities) -> tuple[str, bool]:
    """`<set>: <source>` and whether it is a stand-in."""
    if quantity.dataset == SYNTHETIC:
        return SYNTHETIC, False
    provenance = quantities.datasets.get(quantity.dataset)
    if provenance is None:
        raise UserError(f"{quantities.figure}: no provenance of the data set {quantity.dataset}")
    return f"{quantity.dataset}: {provenance.source}", provenance.kind == "stand-in"


def judge_one(claim: Claim, quantities: Quantities, scale: str) -> Verdict:
    """The verdict on one claim. Raises UserError when it names what was not measured."""
    common = {
        "claim": claim.id,
        "paper": claim.paper,
        "figure": claim.figure,
        "expected": claim.expected,
        "binding": scale in claim.binding,
    }
    if claim.not_run is not None:
        return Verdict(**common, verdict="NOT RUN", check="not run", note=claim.not_run)
    assert claim.quantity
    assert claim.subject
    assert claim.check
    subject, quantity = _interval(claim, quantities, claim.quantity, claim.subject)
    control, control_satisfies, note = _control(claim, quantities)
    source, stand_in = _data_source(quantity, quantities)
    notes = [note] if note else []
    verdict: VerdictName
    if stand_in:
        verdict = "STAND-IN"
        notes.insert(0, "The data are stand-ins, not the paper's.")
    elif subject.satisfies == "undefined":
        verdict = "INCONCLUSIVE"
        undefined = sum(value is None for value in subject.per_seed.values())
        notes.insert(0, f"Undefined for {undefined} of {subject.seeds} seeds.")
    elif subject.seeds < claim.seeds_at_least:
        verdict = "INCONCLUSIVE"
        notes.insert(0, f"{subject.seeds} seeds, but the claim asks for {claim.seeds_at_least}.")
    elif subject.satisfies == "no":
        verdict = "NOT REPRODUCED"
    elif subject.satisfies == "straddles":
        verdict = "INCONCLUSIVE"
    elif control_satisfies:
        verdict = "VACUOUS"
        notes.insert(0, "The control does not violate the check with its whole interval.")
    else:
        verdict = "REPRODUCED"
    if claim.because:
        notes.append(f"Expected to fail: {claim.because}")
    return Verdict(
        **common,
        verdict=verdict,
        check=claim.check.words(),
        quantity=claim.quantity,
        unit=quantity.unit,
        subject=subject,
        control=control,
        control_satisfies=control_satisfies,
        data_source=source,
        note=" ".join(notes),
    )


def judge(claims: list[Claim], quantities: Quantities, scale: str) -> Verdicts:
    """The verdicts on a figure's claims, in the claims' order."""
    verdicts = [judge_one(claim, quantities, scale) for claim in claims]
    return Verdicts(figure=quantities.figure, scale=scale, verdicts=verdicts)
