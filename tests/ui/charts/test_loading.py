"""The import of the plotting library in pieces: the same as at once, and finished when needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpdesk.ui.charts.loading import ImportInPieces
from tests.helpers.waiting import PATIENCE_SECONDS

PACKAGE = '''"""A package."""
from __future__ import annotations
import pieced_{number}.part as part
count = 1
count += 1
def doubled(value: Unknown) -> int:
    return value * count
'''


def package(folder: Path, number: int, more: str = "") -> str:
    """The name of a package in a folder, ready to be imported."""
    name = f"pieced_{number}"
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(PACKAGE.format(number=number) + more, "utf-8")
    (folder / name / "part.py").write_text("answer = 42\n", "utf-8")
    return name


def test_each_statement_runs_once_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    name = package(tmp_path, 1)
    pieces = ImportInPieces(name)
    assert not pieces.advance(lambda: True)
    assert not hasattr(sys.modules[name], "count")
    turns = 1
    while not pieces.advance(lambda: True):
        turns += 1
    module = sys.modules[name]
    assert turns == 6
    assert (module.part.answer, module.doubled(3), module.__doc__) == (42, 6, "A package.")
    assert pieces.advance(lambda: True)
    assert sys.modules[name] is module


def test_what_fails_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    name = package(tmp_path, 2, "raise RuntimeError('broken')\n")
    pieces = ImportInPieces(name)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            pieces.advance(lambda: False)
        assert name not in sys.modules


@pytest.mark.parametrize("pieces", [0, 1, 1_000])
def test_plots_are_there_whole_however_far_the_pieces_came(pieces: int) -> None:
    code = f"""
import os, sys
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from dpdesk.ui.charts.loading import ImportInPieces, plot_pieces
for _, _ in zip(range({pieces}), plot_pieces()): pass
from dpdesk.ui.charts import loading
if "pyqtgraph" not in sys.modules: loading._LIBRARY.advance(lambda: True)
from dpdesk.ui.charts.library import pg
import pyqtgraph
print(pg is pyqtgraph, pg.ViewBox.__name__, callable(pg.mkPen), pg.__spec__.name)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.stdout.strip() == "True ViewBox True pyqtgraph"
