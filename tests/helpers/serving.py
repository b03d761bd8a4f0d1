"""Processes that are asked by lines on their input, answer by lines, and whose children die."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO


def asked_paths() -> Iterator[Path]:
    """In such a process: the paths that it is asked for, until nothing is asked any more."""
    for line in sys.stdin.buffer:
        yield Path(os.fsdecode(line.rstrip(b"\n")))


def say(text: str) -> None:
    """In such a process or a child of it: one line, at once."""
    os.write(1, text.encode("ascii") + b"\n")


def child(work: Callable[[], None]) -> int:
    """Start a child that works until it is killed; its number."""
    number = os.fork()
    if number:
        return number
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - a child must never come back to the loop
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(3)


def kill(number: int) -> None:
    """End a child, whatever it is doing."""
    os.kill(number, signal.SIGKILL)


class Served:
    """Such a process from outside; ``arguments`` are those of ``python -m``."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._rest = b""

    def ask(self, line: str | Path) -> None:
        """Send a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(os.fsencode(line) + b"\n")
        self._process.stdin.flush()

    def line(self) -> str:
        """The next line."""
        (found,) = self.lines_until(bool)
        return found

    def lines_until(self, enough: Callable[[list[str]], bool]) -> list[str]:
        """What it says until that is enough."""
        return self._lines(None, enough)

    def lines_for(self, seconds: float) -> list[str]:
        """What it says in so long."""
        return self._lines(time.monotonic() + seconds, lambda found: False)

    def _lines(self, deadline: float | None, enough: Callable[[list[str]], bool]) -> list[str]:
        out: IO[bytes] | None = self._process.stdout
        assert out is not None
        found: list[str] = []
        while not enough(found):
            line, mark, rest = self._rest.partition(b"\n")
            if mark:
                found.append(line.decode("ascii"))
                self._rest = rest
                continue
            left = None if deadline is None else deadline - time.monotonic()
            if (left is not None and left <= 0) or not select.select([out], [], [], left)[0]:
                break
            piece = os.read(out.fileno(), 65_536)
            assert piece, "the process ended"
            self._rest += piece
        return found

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
