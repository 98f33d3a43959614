"""The command line: one subcommand per step of the DAG, each usable by hand.

Only the chosen step is imported: `--help` and `list` start without torch.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from sgdclaims import __version__
from sgdclaims.errors import Interrupted, UserError

MOST = 1000  # seeds or threads
SCALE_HELP = "quick, standard or paper (default: standard)"
DISK_PROBLEMS = {
    errno.ENOSPC: "the disk is full; free some space and run the command again",
    errno.EDQUOT: "the disk quota is used up; free some space and run the command again",
    errno.EROFS: "the folder is read-only; make it writable or choose another checkout",
    errno.EACCES: "permission denied; make the folder writable",
    errno.EPERM: "permission denied; make the folder writable",
    errno.EISDIR: "a folder is there, where a file is needed; name another one or move it away",
    errno.ENOTDIR: "a file is there, where a folder is needed; move it away",
    errno.EEXIST: "a file is there, where a folder is needed; move it away",
    errno.ENOENT: "it does not exist; make the folder, or correct the path",
}


class OneLineParser(argparse.ArgumentParser):
    """Complains in one line: the usage stands in `--help`."""

    def error(self, message: str) -> NoReturn:
        """Raises UserError."""
        raise UserError(message, f"See `{self.prog} --help`.")


def positive(text: str) -> int:
    """A number of threads or seeds, at least 1. Raises ArgumentTypeError."""
    with contextlib.suppress(ValueError):
        if 1 <= (number := int(text)) <= MOST:
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {MOST}")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = OneLineParser(
        prog="sgdclaims",
        description="Regenerate the papers' figures, measure their claims, judge them.",
    )
    parser.add_argument("--version", action="version", version=f"sgdclaims {__version__}")
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")

    def add(name: str, summary: str, *, figure: bool = False) -> argparse.ArgumentParser:
        sub = steps.add_parser(name, help=summary, description=summary)
        if figure:
            sub.add_argument("figure", help="a figure's name, see `list`")
        sub.add_argument("--log", metavar="FILE", help="write plain lines to FILE as well")
        sub.add_argument("--root", type=Path, default=Path(), help="the checkout (default: here)")
        return sub

    fetch = add("fetch", "lay out a data set below data/ and record where it came from")
    fetch.add_argument("dataset", help="mnist or cifar10")
    fetch.add_argument("--source", help="auto (default), present, mirror, official, stand-in")
    fetch.add_argument("--mirror", help="folder laid out as torchvision lays out its root")
    fetch.add_argument("--request", default=None, help=argparse.SUPPRESS)
    train = add("train", "run a figure's experiment and measure its quantities", figure=True)
    train.add_argument("--seeds", type=positive, help="number of seeds instead of the figure's own")
    train.add_argument("--threads", type=positive, help="threads instead of the figure's own")
    judge = add("judge", "judge a figure's claims with their controls", figure=True)
    plot = add("plot", "draw a figure", figure=True)
    report = add("report", "write claims.csv, report.md and report.html")
    gate = add("gate", "exit with status 1 if a binding verdict is not the expected one")
    verdicts = add("verdicts", "print the table of verdicts")
    cost = add("cost", "estimate what a scale costs, from the times of a standard run")
    for sub in (train, judge, plot, report, gate, verdicts, cost):
        sub.add_argument("--scale", default="standard", help=SCALE_HELP)
    add("reference", "make docs/reference/ and the README's part from results/standard")
    add("list", "show papers, figures, claims and which have results")
    documents = add("config", "write the documented default settings, the schema and the table")
    documents.add_argument("--check", action="store_true", help="only say whether they agree")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Dispatches to the step; returns the exit status."""
    from sgdclaims import steps

    root: Path = arguments.root
    places = steps.Places(
        *(root / part for part in ("config", "data", "results", "figures", "paper_claims.md"))
    )
    match arguments.step:
        case "fetch":
            steps.fetch(
                places,
                arguments.dataset,
                arguments.source,
                arguments.mirror,
                arguments.request,
            )
        case "train":
            steps.train(
                places, arguments.figure, arguments.scale, arguments.seeds, arguments.threads
            )
        case "judge":
            steps.judge(places, arguments.figure, arguments.scale)
        case "plot":
            steps.plot(places, arguments.figure, arguments.scale)
        case "config":
            from sgdclaims.documents import write_or_check

            return write_or_check(root, check=arguments.check)
        case _:
            from sgdclaims import reporting

            return reporting.run(places, arguments.step, getattr(arguments, "scale", "standard"))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point. A user's mistake is one line on standard error and status 2, no traceback."""
    from sgdclaims.progress import LOG, log_file_only, start_logging

    start_logging(None)
    try:
        arguments = build_parser().parse_args(argv)
        if arguments.log:
            start_logging(arguments.log)
        return run(arguments)
    except UserError as mistake:
        LOG.error("sgdclaims: error: %s", mistake)
        return 2
    except Interrupted as stop:
        LOG.error("sgdclaims: interrupted; the same command goes on from here")
        return 128 + stop.signal
    except BrokenPipeError:  # `... | head` has seen enough
        sys.stdout = None  # nothing is left to flush into
        return 0
    except OSError as problem:
        if problem.errno is None:
            raise  # not the machine's, so ours
        known = DISK_PROBLEMS.get(problem.errno, os.strerror(problem.errno))
        LOG.error("sgdclaims: error: %s: %s", problem.filename or "output", known)
        return 2
    except Exception:
        log_file_only(traceback.format_exc())  # a bug of ours: the screen gets it from Python
        raise
    except KeyboardInterrupt:
        LOG.error("sgdclaims: interrupted")
        return 130
