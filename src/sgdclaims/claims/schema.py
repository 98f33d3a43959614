"""What a claim is: the fenced YAML block of a section of `paper_claims.md`.

Everything is declarative. A check is one of a closed set of comparators; nothing is evaluated as code.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat, model_validator

from sgdclaims.results import Strict, VerdictName

Scale = Literal["quick", "standard", "paper"]
Percent = Annotated[float, Field(gt=0, le=1000)]


class Within(Strict):
    """Within a percentage of a theory value: a number, or a quantity of the same variant and seed."""

    percent: Percent
    of: FiniteFloat | None = None
    of_quantity: str | None = None

    @model_validator(mode="after")
    def _one_reference(self) -> Within:
        if (self.of is None) == (self.of_quantity is None):
            raise ValueError("needs either 'of' (a number) or 'of_quantity' (a quantity's name)")
        if self.of == 0:
            raise ValueError("a percentage of zero is empty: use 'between'")
        return self


class Slope(Strict):
    """A least-squares slope along the quantity's axis, per seed."""

    between: tuple[FiniteFloat, FiniteFloat]
    log: bool = False


class Check(Strict):
    """Exactly one comparator."""

    above: FiniteFloat | None = None
    below: FiniteFloat | None = None
    between: tuple[FiniteFloat, FiniteFloat] | None = None
    within: Within | None = None
    increasing: Literal[True] | None = None
    decreasing: Literal[True] | None = None
    ordered: Literal["ascending", "descending"] | None = None
    slope: Slope | None = None
    never_violated: Literal[True] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Check:
        given = self.model_dump(exclude_none=True)
        if len(given) != 1:
            raise ValueError(f"needs exactly one comparator, got {', '.join(given) or 'none'}")
        for bounds in (self.between, self.slope.between if self.slope else None):
            if bounds and bounds[0] > bounds[1]:
                raise ValueError(f"the lower bound {bounds[0]} is above the upper {bounds[1]}")
        return self

    @property
    def name(self) -> str:
        """The comparator."""
        return next(iter(self.model_dump(exclude_none=True)))

    @property
    def over_variants(self) -> bool:
        """Whether the check compares several variants with one another."""
        return self.name in ("increasing", "decreasing", "ordered", "slope")

    def words(self) -> str:
        """The check as people say it."""
        match self.name:
            case "above" | "below":
                return f"{self.name} {getattr(self, self.name):g}"
            case "between":
                assert self.between
                return f"between {self.between[0]:g} and {self.between[1]:g}"
            case "within":
                assert self.within
                reference = self.within.of_quantity or f"{self.within.of:g}"
                return f"within {self.within.percent:g}% of {reference}"
            case "slope":
                assert self.slope
                low, high = self.slope.between
                kind = "log-log slope" if self.slope.log else "slope"
                return f"{kind} between {low:g} and {high:g}"
            case "ordered":
                return f"ordered, {self.ordered}"
            case "never_violated":
                return "never violated"
        return self.name


class Control(Strict):
    """What the same check is applied to, and must come out false on."""

    variant: str | None = None
    variants: list[str] | None = None
    quantity: str | None = None
    none: str | None = Field(None, min_length=10, description="why no control can exist")

    @model_validator(mode="after")
    def _something(self) -> Control:
        if self.none is not None:
            if self.variant or self.variants or self.quantity:
                raise ValueError("'none' excludes variant, variants and quantity")
        elif not (self.variant or self.variants or self.quantity):
            raise ValueError("names no variant, variants or quantity")
        elif self.variant and self.variants:
            raise ValueError("names both variant and variants")
        return self


class ClaimBlock(Strict):
    """The YAML block of one claim."""

    id: str = Field(pattern=r"^[A-Z]{2}-[A-Za-z0-9]+(-[A-Za-z0-9]+)*$")
    paper: str
    figure: str
    quote: str = Field(min_length=1)
    source: str = Field(min_length=1)
    quantity: str | None = None
    subject: str | list[str] | None = None
    check: Check | None = None
    control: Control | None = None
    seeds_at_least: int = Field(1, ge=1)
    expect: Literal["holds", "fails"] = "holds"
    because: str | None = Field(None, min_length=10)
    binding: list[Scale] = ["standard", "paper"]
    not_run: str | None = Field(None, min_length=10)
    erratum: str | None = Field(
        None,
        pattern=r"^[A-Z]{2}-E\d+$",
        description="a misprint whose forms are judged side by side",
    )

    @model_validator(mode="after")
    def _complete(self) -> ClaimBlock:
        parts = ("quantity", "subject", "check", "control")
        if self.not_run is not None:
            present = [part for part in parts if getattr(self, part) is not None]
            if present:
                raise ValueError(f"'not_run' excludes {', '.join(present)}")
            return self
        missing = [part for part in parts if getattr(self, part) is None]
        if missing:
            raise ValueError(f"lacks {', '.join(missing)} (or 'not_run' with the reason)")
        if self.expect == "fails" and not self.because:
            raise ValueError("'expect: fails' needs 'because' with the reason")
        assert self.check
        assert self.control
        several = isinstance(self.subject, list)
        if several != self.check.over_variants:
            form = "a list of variants" if self.check.over_variants else "one variant"
            raise ValueError(f"subject: '{self.check.name}' needs {form}")
        if several and len(self.subject or []) < 2:
            raise ValueError("subject: a comparison needs at least two variants")
        if self.control.variant and several:
            raise ValueError("control: a list of variants is needed: use 'variants'")
        if self.control.variants and not several:
            raise ValueError("control: one variant is needed: use 'variant'")
        return self


class Claim(ClaimBlock):
    """A claim with where it stands."""

    title: str
    prose: str
    file: Path
    line: int

    @property
    def digest(self) -> str:
        """Changes when the block changes, not when its prose or place does."""
        block = ClaimBlock.model_validate(self.model_dump(include=set(ClaimBlock.model_fields)))
        content: dict[str, Any] = block.model_dump(mode="json")
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def expected(self) -> VerdictName:
        """The verdict that the gate insists on."""
        if self.not_run is not None:
            return "NOT RUN"
        return "REPRODUCED" if self.expect == "holds" else "NOT REPRODUCED"

    @property
    def place(self) -> str:
        """`file, line N`."""
        return f"{self.file}, line {self.line}"
