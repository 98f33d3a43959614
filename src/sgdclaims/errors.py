"""Errors that are the user's to mend."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake in the input: its message is one line that names the place and the remedy.

    The command line prints the message without a traceback and exits with status 2.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        line = " ".join(message.split())
        if remedy:
            line = f"{line.rstrip('.')}. {' '.join(remedy.split())}"
        super().__init__(line)


def suggestion(wrong: str, valid: Iterable[str]) -> str:
    """`Did you mean ...?` with the nearest valid name, or the list of all."""
    names = list(valid)
    near = difflib.get_close_matches(wrong, names, n=1, cutoff=0.5)
    return f"Did you mean {near[0]!r}?" if near else f"Valid: {', '.join(names)}."


class Interrupted(Exception):
    """A job was asked to stop by the signal of number `signal`, and has kept its state."""

    def __init__(self, signal: int) -> None:
        super().__init__(f"signal {signal}")
        self.signal = signal
