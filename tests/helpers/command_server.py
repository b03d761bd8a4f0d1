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
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path


def main() -> None:
    """Serve until nothing is asked any more."""
    _load()
    for line in sys.stdin:
        wish = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(wish)
        _say(f"pid {child}")
        sys.stdin.readline()
        _, status = os.waitpid(child, 0)
        _say(f"done {status}")


def _load() -> None:
    """What commands about reviews load when they are first wanted."""
    from importlib import import_module

    for name in ("acting", "looking", "protocols"):
        import_module(f"dpdesk.app.review.{name}")
    for name in ("dpdesk.cli.main", "dpdesk.cli.review.rounds", "dpdesk.app.checklists"):
        import_module(name)


def _say(text: str) -> None:
    os.write(1, text.encode("ascii") + b"\n")


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


@dataclass
class Commander:
    """Starts the process above, and kills its children."""

    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.helpers.command_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

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
        self._ask(json.dumps({**wish, "arguments": [str(one) for one in arguments]}))
        child = int(self._line().removeprefix("pid "))
        if wait is not None:
            wait(child)
            os.kill(child, signal.SIGKILL)
        self._ask("")
        status = int(self._line().removeprefix("done "))
        text = said.read_text("utf-8") if said.exists() else ""
        return os.waitstatus_to_exitcode(status), text

    def _ask(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _line(self) -> str:
        assert self.process.stdout is not None
        found = self.process.stdout.readline()
        assert found, "the process ended"
        return found.rstrip("\n")

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def after(seconds: float, begins: Callable[[], bool] = lambda: True) -> Callable[[int], None]:
    """Wait until something begins (or the command ends without it), then for so long."""

    def wait(child: int) -> None:
        while not begins() and not _ended(child):
            os.sched_yield()
        until = time.monotonic() + seconds
        while time.monotonic() < until and not _ended(child):
            os.sched_yield()

    return wait


def _ended(child: int) -> bool:
    """Whether a process has ended, waited for or not."""
    try:
        state = Path(f"/proc/{child}/stat").read_text("ascii").rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return True
    return state == "Z"


if __name__ == "__main__":
    main()
