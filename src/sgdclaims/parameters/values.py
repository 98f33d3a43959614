"""Types of list parameters whose elements depend on one another."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import AfterValidator

Number = TypeVar("Number", int, float)


def _positive(values: Sequence[Number]) -> Sequence[Number]:
    if any(value <= 0 for value in values):
        raise ValueError("every value must be positive")
    return values


def _distinct(values: Sequence[Number]) -> Sequence[Number]:
    # A value names a variant with six digits: two that print alike would be taken for one.
    if len({f"{value:g}" for value in values}) < len(values):
        raise ValueError("two values are the same in six digits")
    return values


def _rising(values: Sequence[Number]) -> Sequence[Number]:
    if any(after <= before for before, after in itertools.pairwise(values)):
        raise ValueError("the values must rise from first to last")
    return values


Distinct = Annotated[list[float], AfterValidator(_positive), AfterValidator(_distinct)]
Rising = Annotated[Distinct, AfterValidator(_rising)]
RisingCounts = Annotated[list[int], AfterValidator(_positive), AfterValidator(_rising)]
DistinctCounts = Annotated[list[int], AfterValidator(_positive), AfterValidator(_distinct)]
