"""Reads `paper_claims.md`: one `## ID: title` section per claim, prose plus one fenced YAML block."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from sgdclaims import yamlfile
from sgdclaims.catalog import Catalog
from sgdclaims.claims.schema import Check, Claim, ClaimBlock
from sgdclaims.errors import UserError, suggestion
from sgdclaims.results import first_error

HEADING = re.compile(r"^##\s+(?P<id>[A-Z]{2}-[\w-]+):\s*(?P<title>\S.*)$")
FENCE = re.compile(r"^(`{3,}|~{3,})\s*(\w*)\s*$")


@dataclass
class _Section:
    """A heading, its prose, and its YAML block with the line of the block's first line."""

    id: str
    title: str
    line: int
    prose: list[str] = field(default_factory=list)
    block: list[str] | None = None
    block_line: int = 0


def _sections(text: str, path: Path) -> list[_Section]:
    """Splits the file. Raises UserError on an unclosed fence or a claim with no or two blocks."""
    sections: list[_Section] = []
    fence: tuple[str, int, bool] | None = None  # marker, line, whether it holds a claim
    for number, row in enumerate(text.splitlines(), start=1):
        mark = FENCE.match(row)
        current = sections[-1] if sections else None
        if fence:
            if mark and mark[1].startswith(fence[0]) and not mark[2]:
                fence = None
            elif fence[2] and current and current.block is not None:
                current.block.append(row)
        elif mark:
            holds_claim = mark[2].lower() in ("yaml", "yml") and current is not None
            fence = (mark[1], number, holds_claim)
            if holds_claim and current:
                if current.block is not None:
                    raise UserError(f"{path}, line {number}: a second YAML block in {current.id}")
                current.block, current.block_line = [], number + 1
        elif heading := HEADING.match(row):
            sections.append(_Section(heading["id"], heading["title"].strip(), number))
        elif row.startswith("## ") and re.match(r"##\s+[A-Z]{2}-", row):
            raise UserError(f"{path}, line {number}: a claim's heading reads '## ID: title'")
        elif current and row.startswith("# "):
            current.prose.append("")  # a part's heading ends the prose, not the file
        elif current:
            current.prose.append(row)
    if fence:
        raise UserError(f"{path}, line {fence[1]}: this code block is never closed")
    for section in sections:
        if section.block is None:
            raise UserError(f"{path}, line {section.line}: {section.id} has no YAML block")
    return sections


def _key_line(block: list[str], first: int, key: str) -> int:
    """The line on which a key of the block stands."""
    for offset, row in enumerate(block):
        if re.match(rf"^['\"]?{re.escape(key)}['\"]?\s*:", row):
            return first + offset
    return first


def _claim(section: _Section, path: Path) -> Claim:
    assert section.block is not None
    try:
        content = yamlfile.parse("\n".join(section.block))
    except yamlfile.BadYaml as problem:
        line = section.block_line + (problem.line or 1) - 1
        raise UserError(f"{path}, line {line}: {section.id}: {problem}") from None
    if not isinstance(content, dict):
        raise UserError(
            f"{path}, line {section.block_line}: {section.id}: the block holds no 'key: value' lines"
        )
    try:
        block = ClaimBlock.model_validate(content)
    except ValidationError as problem:
        raise _explained(problem, section, path) from None
    if block.id != section.id:
        line = _key_line(section.block, section.block_line, "id")
        raise UserError(f"{path}, line {line}: id {block.id} stands under heading {section.id}")
    return Claim(
        **block.model_dump(),
        title=section.title,
        prose="\n".join(section.prose).strip(),
        file=path,
        line=section.line,
    )


def _explained(problem: ValidationError, section: _Section, path: Path) -> UserError:
    """The first complaint with file, line, field, and the nearest valid name."""
    kind, loc, message = first_error(problem)
    assert section.block is not None
    line = _key_line(section.block, section.block_line, loc[0]) if loc else section.block_line
    remedy = ""
    if kind == "extra_forbidden":
        valid = Check.model_fields if loc[:-1] == ("check",) else ClaimBlock.model_fields
        remedy = suggestion(loc[-1], valid)
    field_name = f"{'.'.join(loc)}: " if loc else ""
    return UserError(f"{path}, line {line}: {section.id}: {field_name}{message}", remedy)


def parse(path: Path = Path("paper_claims.md")) -> list[Claim]:
    """All claims of the file, in its order.

    Raises UserError naming file, line and field on a malformed block or a duplicate id.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path} does not exist", "Run from the repository's root.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise UserError(f"{path} cannot be read ({problem})") from None
    claims: dict[str, Claim] = {}
    for section in _sections(text, path):
        claim = _claim(section, path)
        if claim.id in claims:
            raise UserError(
                f"{claim.place}: {claim.id} stands on line {claims[claim.id].line} already"
            )
        claims[claim.id] = claim
    if not claims:
        raise UserError(f"{path} holds no claims", "A claim's heading reads '## ID: title'.")
    return list(claims.values())


def check_against(claims: Iterable[Claim], catalog: Catalog) -> None:
    """Raises UserError when a claim names a paper or figure that the catalog does not have."""
    for claim in claims:
        papers = {paper.id: paper for paper in catalog.papers}
        if claim.paper not in papers:
            raise UserError(
                f"{claim.place}: {claim.id}: there is no paper {claim.paper!r}",
                suggestion(claim.paper, papers),
            )
        figures = [figure.id for figure in papers[claim.paper].figures]
        if claim.figure not in figures:
            raise UserError(
                f"{claim.place}: {claim.id}: {claim.paper} has no figure {claim.figure!r}",
                suggestion(claim.figure, figures),
            )


def for_figure(claims: Iterable[Claim], figure: str) -> list[Claim]:
    """The claims on one figure."""
    return [claim for claim in claims if claim.figure == figure]
