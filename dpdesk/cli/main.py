"""The command line: runs a command, prints what it says, keeps the promises on exit codes.

0 done · 1 the data or the release fails what was asked · 2 bad usage or bad input · 130 cancelled.
Whatever happens, the last line of stderr of a command that failed is one sentence.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from dpdesk.app.progress import ProgressLine, is_terminal
from dpdesk.cli import early
from dpdesk.cli.arguments import parse
from dpdesk.cli.printing import Outcome
from dpdesk.core.errors import Cancelled, DpdeskError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import joined
from dpdesk.core.passwords import without_those_of
from dpdesk.core.plain import harmless
from dpdesk.core.systems import prepare_streams

OpenWindow = Callable[[Path | None], int]


def main(arguments: Sequence[str] | None = None, open_window: OpenWindow | None = None) -> int:
    """Run the command line and return its exit code. ``open_window`` opens the window."""
    prepare_streams(sys.stdout, sys.stderr)
    given = list(sys.argv[1:] if arguments is None else arguments)
    progress = ProgressLine(sys.stderr)
    try:
        outcome = _run(given, progress, open_window)
    except SystemExit as done:  # --help and --version
        return done.code if isinstance(done.code, int) else 0
    except BrokenPipeError:
        return _nobody_reads(0)
    except KeyboardInterrupt:
        return _complain(progress, [Cancelled().line], Cancelled.exit_code)
    except DpdeskError as error:
        said = [*_lines_to_add(error), without_those_of(given, error.line)]
        return _complain(progress, said, error.exit_code)
    except Exception as error:  # noqa: BLE001 - the last resort
        return _complain(progress, [without_those_of(given, _last_resort(error))], 2)
    progress.clear()
    return _say(outcome, progress)


def _run(given: list[str], progress: ProgressLine, open_window: OpenWindow | None) -> Outcome:
    options = parse(given)
    if options.command in (None, "open"):
        path: Path | None = getattr(options, "path", None)
        return _window(path, open_window)
    return _work(options, progress)


def _window(path: Path | None, open_window: OpenWindow | None) -> Outcome:
    if open_window is None:
        raise StorageError("window.missing", "This installation of DPDesk has no window.")
    if path is not None and not path.exists():
        raise StorageError(
            "open.missing", f"{path}: there is no such file or folder, expected one to open."
        )
    return Outcome("", code=open_window(path))


def _work(options: Namespace, progress: ProgressLine) -> Outcome:
    """Run a command on a thread of its own, so that a signal is answered at once."""
    from dpdesk.cli.commands import RunningCommand
    from dpdesk.cli.interrupts import run_cancellable

    if getattr(options, "asks", ()):
        from dpdesk.cli.review.passphrases import ask_passphrases

        with early.paused():
            ask_passphrases(options)
    running = RunningCommand(options, progress)

    def work(token: CancelToken) -> Outcome:
        try:
            outcome = running(token)
        except BaseException as error:
            early.settle(getattr(error, "exit_code", 2))
            raise
        if outcome.kept:
            early.settle(outcome.code)
        return outcome

    def abandon() -> bool:
        if not running.abandon():
            return False
        early.settle(early.CANCELLED)
        return True

    try:
        outcome = run_cancellable(work, abandon)
    except Cancelled as error:
        if not error.hint:  # the work was left alone, and what it spent stays spent
            error.hint = joined(running.unreleased)
        raise
    return _as_json(outcome) if getattr(options, "json", False) else outcome


def _as_json(outcome: Outcome) -> Outcome:
    line = json.dumps(outcome.json, ensure_ascii=True, allow_nan=False) + "\n"
    return Outcome(line, None, outcome.code, outcome.complaints, outcome.kept)


def _say(outcome: Outcome, progress: ProgressLine) -> int:
    try:
        if sys.stdout is not None and outcome.text:
            shown = harmless(outcome.text) if is_terminal(sys.stdout) else outcome.text
            sys.stdout.write(shown)
            sys.stdout.flush()
    except BrokenPipeError:
        return _nobody_reads(outcome.code)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is closed"
        _nobody_reads(0)
        sentence = f"The output could not be written: {reason}."
        return _complain(progress, [sentence], outcome.code if outcome.kept else 2)
    if outcome.complaints:
        return _complain(progress, outcome.complaints, outcome.code)
    return outcome.code


def _complain(progress: ProgressLine, sentences: Sequence[str], code: int) -> int:
    progress.clear()
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write("".join(f"{harmless(sentence)}\n" for sentence in sentences))
            sys.stderr.flush()
    return code


def _nobody_reads(code: int) -> int:
    """Stop writing to stdout; the interpreter would complain at exit otherwise."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _lines_to_add(error: DpdeskError) -> Sequence[str]:
    """Lines that a plan lacks, ready to be copied into it."""
    lines = error.details.get("lines")
    return [str(line) for line in lines] if isinstance(lines, tuple) else []


def _last_resort(error: Exception) -> str:
    from dpdesk.app.faults import fault_sentence

    return fault_sentence(error)
