"""4ti2, where it is installed: Graver bases by its program ``graver``.

The program is the user's own (https://4ti2.github.io); none of it comes with DPDesk. It is looked
for in what the variable ``DPDESK_4TI2`` names (the program, or its folder), else on the search path
as ``4ti2-graver`` or ``graver``. It runs as a process of its own in a private folder of the home
folder, with limits of time, memory and size, and ends at once when the work is cancelled.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.graver import GraverError
from dpdesk.core.home import expanded
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.systems import end_with_children, limited
from dpdesk.io.workspace import Workspace

VARIABLE = "DPDESK_4TI2"
"""The environment variable that names the program ``graver`` or the folder it is in."""

MOST_SECONDS = 120
"""How long a computation may take."""

MOST_BYTES = 1 << 28
"""How large the file with the basis may be."""

_MEMORY = 4 << 30
NAMES = ("4ti2-graver", "graver")
_VERSION = re.compile(rb"4ti2 version (\d[\w.]{0,20})")
_SOON = 5


class FourTiTwo:
    """The program of 4ti2 that is installed here, if it is; see :class:`GraverTool`."""

    def __init__(self, workspace: Workspace, *, most_seconds: float = MOST_SECONDS) -> None:
        self._workspace = workspace
        self._most_seconds = most_seconds

    def name(self) -> str:
        """``4ti2`` and the version that the program states; empty where it is not installed."""
        return self._stated

    @cached_property
    def _program(self) -> Path | None:
        named = os.environ.get(VARIABLE)
        if not named:
            found = next(filter(None, map(shutil.which, NAMES)), None)
            return None if found is None else Path(found).absolute()
        place = expanded(named).absolute()
        tried = [place / name for name in NAMES] if place.is_dir() else [place]
        return next((each for each in tried if each.is_file() and os.access(each, os.X_OK)), None)

    @cached_property
    def _stated(self) -> str:
        """What is called graver may be another program: only what says that it is 4ti2 counts."""
        if self._program is None:
            return ""
        try:
            said = subprocess.run(
                [self._program, "--version"], capture_output=True, timeout=_SOON, check=False,
                stdin=subprocess.DEVNULL,
            ).stdout  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return ""
        found = _VERSION.search(said)
        return f"4ti2 {found[1].decode()}" if found else ""

    def basis(self, matrix: NDArray[np.int8], token: CancelToken) -> NDArray[np.int64]:
        """See :meth:`GraverTool.basis`."""
        with self._folder() as folder:
            lines = [" ".join(map(str, row)) for row in matrix.tolist()]
            text = "\n".join([f"{matrix.shape[0]} {matrix.shape[1]}", *lines, ""])
            (folder / "moves.mat").write_text(text, encoding="ascii")
            self._run(folder, token)
            token.check()
            return read_basis(folder / "moves.gra", matrix.shape[1])

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        folder = self._workspace.new_path()
        try:
            folder.mkdir(mode=0o700)
            yield folder
        except OSError as problem:
            raise GraverError("its files could not be written or read") from problem
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, folder: Path, token: CancelToken) -> None:
        assert self._program is not None
        process = subprocess.Popen(
            limited(
                [str(self._program), "--quiet", "--precision=64", "moves"], _MEMORY, MOST_BYTES
            ), cwd=folder, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            with token.on_cancel(lambda: end_with_children(process)):
                code = process.wait(self._most_seconds)
        except subprocess.TimeoutExpired as error:
            seconds = msg("{most_seconds:,.4g} seconds", most_seconds=self._most_seconds)
            raise GraverError(msg("it was not done after {seconds}", seconds=seconds)) from error
        finally:
            end_with_children(process)
            process.wait()
        token.check()
        if code != 0:
            raise GraverError(msg("it ended with the code {code}", code=code))


def read_basis(path: Path, columns: int) -> NDArray[np.int64]:
    """The vectors in a file of 4ti2: their number, that of the columns, then all entries.

    Raises :class:`GraverError` for anything else.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise GraverError(
                msg("its file is larger than {most_bytes:,} MB", most_bytes=MOST_BYTES >> 20)
            )
        words = path.read_bytes().split()
        entries = np.array([int(word) for word in words], dtype=np.int64)
    except FileNotFoundError as error:
        raise GraverError("it wrote no file") from error
    except (ValueError, OverflowError) as error:
        raise GraverError("its file holds something else than whole numbers") from error
    if len(entries) < 2 or entries[1] != columns or len(entries) - 2 != entries[0] * columns:
        raise GraverError("its file does not hold as many numbers as it says")
    return entries[2:].reshape(-1, columns)
