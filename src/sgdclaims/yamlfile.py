"""YAML as people write it by hand: safe, no key twice, and the line of a key for the messages."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import yaml

MERGE = "tag:yaml.org,2002:merge"


class BadYaml(Exception):
    """What is wrong, and on which line of the text (from 1; None where that is unknown)."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(" ".join(what.split()))
        self.line = line


class _Loader(yaml.SafeLoader):
    """Safe YAML that refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == MERGE:
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable):
                if key in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {key!r} occurs twice", problem_mark=key_node.start_mark
                    )
                seen.add(key)
        return super().construct_mapping(node, deep)


def parse(text: str) -> Any:
    """The content of a YAML text. Raises BadYaml."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a SafeLoader)
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        raise BadYaml(f"the character {problem.character!r} is not allowed", line) from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        what = getattr(problem, "problem", None) or str(problem) or "not valid YAML"
        raise BadYaml(what, mark.line + 1 if mark else None) from None
    except RecursionError:
        raise BadYaml("nested too deeply") from None
    except (ValueError, TypeError, OverflowError, AttributeError) as problem:
        # PyYAML passes these on for 2026-13-45, unhashable keys, endless numbers
        raise BadYaml(str(problem) or "not valid YAML") from None


def line_of(text: str, keys: Sequence[str]) -> int | None:
    """The line of the deepest of the nested keys (or list places) that the text has."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    line = None
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            found = [(k, v) for k, v in node.value if getattr(k, "value", None) == key]
            if not found:
                break
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
            node = node.value[int(key)]
            line = node.start_mark.line + 1
        else:
            break
    return line
