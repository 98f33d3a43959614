"""`python -m sgdclaims list`: papers, figures, claims, and which have results."""

from __future__ import annotations

from pathlib import Path

from sgdclaims.catalog import SCALES, Catalog
from sgdclaims.claims.schema import Claim


def listing(catalog: Catalog, claims: list[Claim], results: Path) -> str:
    """Plain text, one paragraph per paper."""
    lines: list[str] = []
    for paper in catalog.papers:
        lines += [f"{paper.id}: {paper.entry.title} ({paper.entry.venue})"]
        for figure in paper.figures:
            done = [s for s in SCALES if (results / s / figure.id / "verdicts.json").is_file()]
            data = ", ".join(figure.entry.datasets) or "synthetic data"
            status = f"results: {', '.join(done)}" if done else "no results"
            lines += [f"  {figure.id}  [{figure.entry.number}; {data}; {status}]"]
            lines += [f"    {figure.entry.title}"]
            for claim in claims:
                if claim.figure == figure.id:
                    lines.append(f"    {claim.id:<24} {claim.title}")
        lines.append("")
    return "\n".join(lines).rstrip()
