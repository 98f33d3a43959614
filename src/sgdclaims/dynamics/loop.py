"""Loops that can be interrupted: a killed job goes on from its last checkpoint and ends bit for bit the same.

A loop names the parts whose state its steps change. `follow` restores them where a checkpoint exists, yields the steps
that are left, and offers the state for saving after every few steps. Everything before and after a loop is computed
again from the seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

from torch import Tensor

State: TypeAlias = Any  # nested dicts, lists and tuples of tensors, numbers and strings


@runtime_checkable
class Stateful(Protocol):
    """Something whose state can be taken and given back."""

    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...


Part: TypeAlias = "Stateful | Tensor | list[Any] | dict[Any, Any]"


class Remembers:
    """A `Stateful` whose state is the attributes named in `remembered`; a `Stateful` attribute's own state is taken."""

    remembered: ClassVar[tuple[str, ...]] = ()

    def state(self) -> State:
        """The state by attribute."""
        return {name: capture(getattr(self, name)) for name in self.remembered}

    def restore(self, state: State) -> None:
        """Continues where `state()` was taken."""
        for name in self.remembered:
            part = getattr(self, name)
            if isinstance(part, Stateful):
                part.restore(state[name])
            else:
                setattr(self, name, state[name])


def capture(part: Any) -> State:
    """A part's state: its own account of it, or the plain value."""
    return part.state() if isinstance(part, Stateful) else part


def put_back(part: Part, state: State) -> None:
    """Gives a part its state back, in place: others may hold the same tensor, list or dict."""
    if isinstance(part, Stateful):
        part.restore(state)
    elif isinstance(part, Tensor):
        part.copy_(state)
    elif isinstance(part, dict):
        part.clear()
        part.update(state)
    else:
        part[:] = state


class Progress(Protocol):
    """Follows loops: told of finished steps, and given the chance to restore and to keep their state."""

    def advance(self, steps: int) -> None: ...
    def resume(self, total: int, parts: Sequence[Part]) -> int: ...
    def keep(self, step: int, total: int, parts: Sequence[Part]) -> None: ...


class Silent:
    """A progress that says nothing and keeps nothing."""

    def advance(self, steps: int) -> None:
        """Does nothing."""

    def resume(self, total: int, parts: Sequence[Part]) -> int:  # noqa: ARG002
        """Every loop starts at its first step."""
        return 0

    def keep(self, step: int, total: int, parts: Sequence[Part]) -> None:
        """Does nothing."""


def follow(
    total: int,
    progress: Progress | None,
    *parts: Part,
    every: int = 1,
) -> Iterator[int]:
    """The steps 0, ..., total - 1 that a checkpoint has not already done.

    parts: all that the steps change and that is read later. Progress is told, and the state may be kept, after every
    `every` steps. Loops may follow one another but not lie within one another.
    """
    told = progress or Silent()
    told_up_to = told.resume(total, parts)
    for step in range(told_up_to, total):
        yield step
        done = step + 1
        if done % every == 0 or done == total:
            told.advance(done - told_up_to)
            told_up_to = done
            told.keep(done, total, parts)
