"""``python -m dpdesk`` does what ``dpdesk`` does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dpdesk.cli import early

if TYPE_CHECKING:
    from pathlib import Path


def main() -> int:
    """Run ``dpdesk`` with the arguments of the process; returns its exit code."""
    if sys.argv[1:2] == ["--aside"]:  # a packaged program has no other interpreter to start
        from dpdesk.core.subprocesses import serve

        serve(sys.argv[2])
        return 0
    early.listen()  # before the rest is imported
    from dpdesk.cli.main import main as command_line

    code = command_line(open_window=open_window)
    early.leave(code)  # at once: while Python takes itself apart, a signal would change the code
    return code


def open_window(path: Path | None) -> int:
    """Open the window on ``path`` (None: the start screen); returns when it is closed.

    Raises StorageError ``display.*`` when there is no display that answers or a library of the
    system is missing, where the toolkit itself would abort; ``window.libraries`` when a Python
    package is missing.
    """
    from dpdesk.core.errors import StorageError
    from dpdesk.ui.display import require_display

    require_display()
    early.listen_no_more()
    try:
        from dpdesk.ui.desk import run_window
    except ImportError as error:
        raise StorageError(
            "window.libraries",
            f"The window cannot start because a library is missing: {error}.",
            hint="Run `./installer/bootstrap run`, which installs what is missing.",
        ) from error
    return run_window(path)


if __name__ == "__main__":
    sys.exit(main())
