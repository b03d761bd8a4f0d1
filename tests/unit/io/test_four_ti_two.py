"""4ti2 as a program of the user's: found, run, cancelled, and never believed blindly."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dpdesk.core.errors import Cancelled, RefusedError
from dpdesk.core.graver import GraverError, installed_tool, use_tool
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.exact import moves, sensitivity
from dpdesk.engine.cubes.exact.sensitivity import Origin, generic_sensitivity, knowledge, longest_by
from dpdesk.io import four_ti_two
from dpdesk.io.four_ti_two import VARIABLE, FourTiTwo
from dpdesk.io.workspace import Workspace

SQUARE = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], np.int8)
"""Both margins of 2 × 2: the only minimal move has 4 rows."""

RIGHT = "printf '1 4\\n1 -1 -1 1\\n' > moves.gra"
REAL = shutil.which("4ti2-graver")


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    opened = Workspace.open()
    yield opened
    use_tool(opened, None)
    opened.close()


def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """A program that says that it is 4ti2, and does what ``body`` says."""
    path = tmp_path / "graver"
    told = 'if [ "$1" = --version ]; then echo "4ti2 version 1.6.9"; exit 0; fi\n'
    path.write_text(f"#!/bin/sh\n{told}{body}\n", encoding="ascii")
    path.chmod(0o700)
    monkeypatch.setenv(VARIABLE, str(tmp_path))


def test_a_program_is_found_in_the_folder_that_the_variable_names_and_states_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    program(tmp_path, monkeypatch, RIGHT)
    tool = FourTiTwo(workspace)
    assert tool.name() == "4ti2 1.6.9"
    assert tool.basis(SQUARE, CancelToken()).tolist() == [[1, -1, -1, 1]]
    assert longest_by(tool, SQUARE, 4, CancelToken()) == 4
    assert not [each for each in workspace.folder.iterdir() if each.is_dir()]


@pytest.mark.parametrize("text", ["#!/bin/sh\necho graver of something else\n", "no program"])
def test_what_does_not_say_that_it_is_4ti2_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace, text: str
) -> None:
    path = tmp_path / "graver"
    path.write_text(text, encoding="ascii")
    path.chmod(0o700)
    monkeypatch.setenv(VARIABLE, str(path))
    use_tool(workspace, FourTiTwo(workspace))
    assert installed_tool() is None


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("exit 3", "ended with the code 3"),
        ("true", "wrote no file"),
        ("echo garbage > moves.gra", "something else than whole numbers"),
        ("printf '1 4\\n1 -1 -1.5 1\\n' > moves.gra", "something else than whole numbers"),
        ("printf '1 4\\n1 -1 -1 99999999999999999999\\n' > moves.gra", "something else"),
        ("printf '2 4\\n1 -1 -1 1\\n' > moves.gra", "as many numbers"),
        ("printf '1 3\\n1 -1 -1\\n' > moves.gra", "as many numbers"),
        ("printf '1 4\\n1 -1 1 -1\\n' > moves.gra", "does not keep what is exact"),
        ("printf '0 4\\n' > moves.gra", "no moves"),
        ("printf '1 4\\n900 -900 -900 900\\n' > moves.gra", "too large"),
        ("printf '2 4\\n1 -1 -1 1\\n2 -2 -2 2\\n' > moves.gra", "not minimal"),
        ("printf '2 4\\n-1 1 1 -1\\n2 -2 -2 2\\n' > moves.gra", "not minimal"),
    ],
)
def test_what_cannot_be_right_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace, body: str, told: str
) -> None:
    program(tmp_path, monkeypatch, body)
    with pytest.raises(RefusedError, match=told) as refused:
        longest_by(FourTiTwo(workspace), SQUARE, 4, CancelToken())
    assert refused.value.code == "cube.exact-too-large"
    assert "4ti2 1.6.9" in refused.value.sentence
    assert not [each for each in workspace.folder.iterdir() if each.is_dir()]


def test_a_basis_without_a_move_that_is_known_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    program(tmp_path, monkeypatch, RIGHT)
    with pytest.raises(RefusedError, match="minimal move of 6 rows is missing"):
        longest_by(FourTiTwo(workspace), SQUARE, 6, CancelToken())


def test_a_program_that_hangs_is_ended_after_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    program(tmp_path, monkeypatch, "exec sleep 600")
    with pytest.raises(GraverError, match=r"not done after 0\.1 seconds"):
        FourTiTwo(workspace, most_seconds=0.1).basis(SQUARE, CancelToken())


def test_a_cancel_ends_the_program_and_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    pipe = tmp_path / "alive"
    program(tmp_path, monkeypatch, f"sh -c 'exec 9> \"{pipe}\"; echo >&9; sleep 600; true'; true")
    os.mkfifo(pipe)
    token, heard = CancelToken(), []

    def listen() -> None:
        with pipe.open(encoding="ascii") as stream:
            heard.append(stream.readline())
            token.cancel()
            heard.append(stream.read())  # ends with the last process that could write

    thread = threading.Thread(target=listen)
    thread.start()
    with pytest.raises(Cancelled):
        FourTiTwo(workspace).basis(SQUARE, token)
    thread.join()
    assert heard == ["\n", ""]


@pytest.mark.skipif(os.name != "posix", reason="limits of processes are set on POSIX alone")
def test_a_file_that_grows_too_large_ends_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    monkeypatch.setattr(four_ti_two, "MOST_BYTES", 1 << 20)
    program(tmp_path, monkeypatch, "yes > moves.gra")
    with pytest.raises(GraverError, match="ended with the code"):
        FourTiTwo(workspace).basis(SQUARE, CancelToken())


def test_the_program_is_asked_only_where_the_enumeration_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    program(tmp_path, monkeypatch, "exit 3")
    use_tool(workspace, FourTiTwo(workspace))
    found = generic_sensitivity(knowledge((2, 2, 3), (1, 2, 4)), CancelToken())
    assert (found.l1, found.origin, found.tool) == (8, Origin.ENUMERATED, "")
    with pytest.raises(RefusedError, match=r"4ti2 1\.6\.9 was asked .* and it ended"):
        generic_sensitivity(knowledge((3, 3, 3), (3, 5, 6)), CancelToken())


@pytest.mark.skipif(REAL is None, reason="4ti2 is not installed here")
@pytest.mark.parametrize(
    ("shape", "masks", "value"),
    [
        ((2, 2, 3), (1, 2, 4), 8),
        ((2, 3, 3), (1, 2, 4), 12),
        ((2, 2, 2, 2), (1, 2, 4, 8), 10),
        ((2, 3, 4), (3, 5, 6), 12),
        ((3, 3, 3), (3, 5, 6), 24),
        ((2, 2, 2, 2), (3, 5, 9, 6, 10, 12), 18),
    ],
)
def test_4ti2_itself_finds_what_the_enumeration_finds_and_more(
    monkeypatch: pytest.MonkeyPatch,
    workspace: Workspace,
    shape: tuple[int, ...],
    masks: tuple[int, ...],
    value: int,
) -> None:
    monkeypatch.setenv(VARIABLE, str(REAL))
    monkeypatch.setattr(moves, "MOST_CELLS", 0)
    monkeypatch.setattr(sensitivity, "_FOUND", {})
    use_tool(workspace, FourTiTwo(workspace))
    found = generic_sensitivity(knowledge(shape, masks), CancelToken())
    assert (found.l1, found.origin) == (value, Origin.TOOL)
    assert found.tool.startswith("4ti2 ")
