"""Commands in processes of their own, to be killed at any moment.

``python -m tests.helpers.command_server`` reads requests, one JSON object a line with ``home``,
``desk``, ``said`` and ``arguments``. For each it starts a child that runs the command as a terminal
would; ``pid N`` says who to kill. After one more line is sent, ``done STATUS`` says how it ended;
until then the number is nobody else's. What the command says goes to the file ``said``. One process
starts all children, so that the libraries are loaded once.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tests.helpers.serving import Served, child, kill, say

LOOK = 0.0002
"""Seconds between two looks at a file: the command that writes it needs the processor."""


def main() -> None:
    """Serve until nothing is asked any more."""
    _load()
    for line in sys.stdin:
        wish = json.loads(line)
        number = child(partial(_run, wish))
        say(f"pid {number}")
        sys.stdin.readline()
        _, status = os.waitpid(number, 0)
        say(f"done {status}")


def _load() -> None:
    """What commands about reviews load when they are first wanted."""
    from importlib import import_module

    for name in ("acting", "protocols", "review_picture"):
        import_module(f"dpdesk.app.review.{name}")
    for name in ("dpdesk.cli.main", "dpdesk.cli.review.rounds", "dpdesk.app.checklists"):
        import_module(name)


def _run(wish: dict[str, object]) -> None:
    code = 3
    try:
        from dpdesk.cli.main import main as command

        os.environ["DPDESK_HOME"] = str(wish["home"])
        os.chdir(str(wish["desk"]))
        said = os.open(str(wish["said"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(said, number)
        arguments = wish["arguments"]
        assert isinstance(arguments, list)
        code = command([str(one) for one in arguments])
        sys.stdout.flush()
    finally:  # a child must never come back to the loop
        os._exit(code)


class Commander(Served):
    """Starts the process above, and kills its children."""

    def __init__(self) -> None:
        super().__init__("tests.helpers.command_server")

    def run(
        self,
        desk: Path,
        arguments: Sequence[str | Path],
        wait: Callable[[int], None] | None = None,
    ) -> tuple[int, str]:
        """Run a command at a desk; kill it as soon as ``wait`` (with its pid) has come back.

        Returns the exit code, negative for a signal, and what it said.
        """
        said = desk / "said.txt"
        said.unlink(missing_ok=True)
        wish = {"home": str(desk / "home"), "desk": str(desk), "said": str(said)}
        self.ask(json.dumps({**wish, "arguments": [str(one) for one in arguments]}))
        number = int(self.line().removeprefix("pid "))
        if wait is not None:
            wait(number)
            kill(number)
        self.ask("")
        status = int(self.line().removeprefix("done "))
        text = said.read_text("utf-8") if said.exists() else ""
        return os.waitstatus_to_exitcode(status), text


def after(seconds: float, begins: Callable[[], bool] = lambda: True) -> Callable[[int], None]:
    """Wait until something begins (or the command ends without it), then for so long."""

    def wait(child: int) -> None:
        ended = os.pidfd_open(child)
        try:
            while not begins() and not select.select([ended], [], [], LOOK)[0]:
                pass
            select.select([ended], [], [], seconds)
        finally:
            os.close(ended)

    return wait


if __name__ == "__main__":
    main()
