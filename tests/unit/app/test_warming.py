"""Getting ready: what the first work needs is there, and the window's toolkit is left alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dpdesk.app.warming import warm_up
from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, silent


def test_it_imports_what_is_there_and_skips_the_rest() -> None:
    def fails() -> None:
        raise RuntimeError

    assert warm_up(CancelToken(), silent, ("json", "no_such_module", "csv"), (fails,)) == 2


def test_it_stops_when_it_is_told_to() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        warm_up(token, silent)


def test_everything_that_it_names_is_there_and_none_of_it_is_the_toolkit() -> None:
    code = (
        "import sys; from dpdesk.app.warming import LIBRARIES, MODULES, warm_up;"
        "from dpdesk.core.jobs import CancelToken, silent;"
        "print(warm_up(CancelToken(), silent) == len((*LIBRARIES, *MODULES)),"
        " 'numba' in sys.modules,"
        " [name for name in sys.modules if name.split('.')[0] in ('PySide6', 'shiboken6')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True True []"


def test_an_idle_window_holds_no_compiler() -> None:
    code = (
        "import sys; from dpdesk.app.warming import LIBRARIES, load_libraries;"
        "from dpdesk.core.jobs import CancelToken, silent;"
        "print(load_libraries(CancelToken(), silent) == len(LIBRARIES),"
        " [name for name in ('numba', 'llvmlite', 'scipy', 'xlsxwriter') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True []"
