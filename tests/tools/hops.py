"""How long the way of a release through the program is: functions and files that a run enters.

``python -m tests.tools.hops`` makes two releases of the bundled sample, each in a fresh process
under ``sys.setprofile``, and prints the table of ``resources/docs/architecture.md``. Plans can be
named instead. What a process that the run starts enters (the check, printing) has lines of its own.
Counted are code objects of ``dpdesk``: functions, methods, lambdas and comprehensions; bodies of
classes, which run when a module is imported, have a column of their own, and modules are not
counted. With ``--list`` every one of them is printed in the order in which it was entered first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType

import dpdesk

PACKAGE = Path(dpdesk.__file__).parent
PLANS = PACKAGE.parent / "resources/sample/plans"
RELEASES = {
    "a k-anonymous file": PLANS / "public-use-file.toml",
    "tables with noise": PLANS / "private-tables.toml",
}
INTO = "DPDESK_HOPS"
CLASS = " class "
_CHILD = "import tests.tools.hops as hops; hops.start_in_child()\n"


@dataclass(frozen=True)
class Way:
    """What one process entered: code objects as ``file:line name``, calls, deepest stack."""

    process: str
    entered: tuple[str, ...]
    calls: int
    deepest: int

    @property
    def functions(self) -> tuple[str, ...]:
        """What was entered, without bodies of classes."""
        return tuple(name for name in self.entered if CLASS not in name)

    @property
    def files(self) -> set[str]:
        """The files that hold these functions."""
        return {name.split(":")[0] for name in self.functions}


class Recorder:
    """Counts what the threads of this process enter; ``write_to`` gets each at once.

    A process that answers questions is killed at the end, so that it cannot sum up then.
    """

    def __init__(self, write_to: Path | None = None) -> None:
        self.calls: Counter[CodeType] = Counter()
        self.deepest = 0
        self._depths = threading.local()
        self._out = write_to.open("a", encoding="utf-8") if write_to else None

    def start(self) -> None:
        """Count from now on, in this thread and in those that begin later."""
        threading.setprofile(self)
        sys.setprofile(self)

    def stop(self) -> None:
        """Count no longer."""
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """What the interpreter tells of each call."""
        code = frame.f_code
        if event not in ("call", "return") or not is_ours(code):
            return
        depth = getattr(self._depths, "now", 0) + (1 if event == "call" else -1)
        self._depths.now = depth
        if event == "return":
            return
        deeper, first = depth > self.deepest, code not in self.calls
        self.deepest = max(depth, self.deepest)
        self.calls[code] += 1
        if self._out is not None and (deeper or first):
            line = {"entered": named(code) if first else "", "deepest": self.deepest}
            self._out.write(json.dumps(line) + "\n")
            self._out.flush()

    def way(self, process: str) -> Way:
        """What was counted so far."""
        names = tuple(named(code) for code in self.calls)
        return Way(process, names, self.calls.total(), self.deepest)


def is_ours(code: CodeType) -> bool:
    """Whether it is a function of the program or the body of a class, and not a module."""
    return code.co_filename.startswith(f"{PACKAGE}{os.sep}") and code.co_name != "<module>"


def named(code: CodeType) -> str:
    """Where it is and what it is called: ``app/running.py:30 run_plan``."""
    path = Path(code.co_filename).relative_to(PACKAGE).as_posix()
    kind = " " if code.co_flags & CO_OPTIMIZED else CLASS
    return f"{path}:{code.co_firstlineno}{kind}{code.co_qualname}"


def start_in_child() -> None:
    """Count in a process that a measured run starts."""
    target = sys.argv[-1] if len(sys.argv) > 1 else "process"
    Recorder(Path(os.environ[INTO]) / f"process-{os.getpid()}.jsonl").start()
    named_file = Path(os.environ[INTO]) / f"process-{os.getpid()}.name"
    named_file.write_text(target, encoding="utf-8")


def measure(plan: Path) -> list[Way]:
    """Make the release of a plan in a process of its own; what that one and its own entered.

    RuntimeError when the run fails.
    """
    with tempfile.TemporaryDirectory(prefix="dpdesk-hops-") as name:
        folder = Path(name)
        environment = {
            **os.environ,
            "DPDESK_HOME": str(folder / "home"),
            "DPDESK_WITNESS": str(folder / "witness.jsonl"),
        }
        command = [sys.executable, "-m", "tests.tools.hops", "--here", str(folder), str(plan)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        found = json.loads((folder / "ways.json").read_text("utf-8"))
        main = Way("the run", tuple(found["entered"]), found["calls"], found["deepest"])
        return [main, *_children(folder)]


def _children(folder: Path) -> Iterator[Way]:
    targets = {path: path.with_suffix(".name") for path in folder.glob("process-*.jsonl")}
    for path, name in sorted(targets.items(), key=lambda one: one[1].read_text("utf-8")):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        entered = tuple(line["entered"] for line in lines if line["entered"])
        deepest = max(line["deepest"] for line in lines)
        yield Way(name.read_text("utf-8"), entered, 0, deepest)


def _run_here(folder: Path, plan: Path) -> int:
    """Run a plan in this process, counted; the exit code of ``dpdesk run``."""
    from dpdesk.cli.main import main

    start = folder / "start"
    start.mkdir()
    (start / "sitecustomize.py").write_text(_CHILD, encoding="utf-8")
    os.environ[INTO] = str(folder)
    sys.path.insert(0, str(start))  # what processes of the program import at their start
    recorder = Recorder()
    recorder.start()
    code = main(["run", str(plan), "--out", str(folder / "release")])
    recorder.stop()
    way = recorder.way("")
    found = {"entered": way.entered, "calls": way.calls, "deepest": way.deepest}
    (folder / "ways.json").write_text(json.dumps(found), encoding="utf-8")
    return code


def table(ways: Mapping[str, Sequence[Way]]) -> str:
    """The lines of the page."""
    lines = [
        "| release | process | functions | files | with class bodies | calls | deepest stack |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for release, found in ways.items():
        for way in found:
            calls = f"{way.calls:,}" if way.calls else "–"
            process = way.process if way.process == "the run" else f"`{way.process}`"
            lines.append(
                f"| {release} | {process} | {len(way.functions):,} | {len(way.files)} | "
                f"{len(way.entered):,} | {calls} | {way.deepest} |"
            )
    return "\n".join(lines) + "\n"


def _program() -> str:
    """How large the program is."""
    paths = [path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts]
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in paths)
    return f"The program: {len(paths)} files, {lines:,} lines.\n"


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.hops", description=__doc__)
    parser.add_argument("plans", nargs="*", type=Path, help="plans in the place of the two")
    parser.add_argument("--list", action="store_true", help="print all that was entered")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        return _run_here(options.here, options.plans[0])
    plans = {path.stem: path for path in options.plans} or RELEASES
    ways = {name: measure(path.absolute()) for name, path in plans.items()}
    sys.stdout.write(_program() + table(ways))
    for name, found in ways.items() if options.list else ():
        for way in found:
            sys.stdout.write("\n".join(["", f"{name}: {way.process}", *way.entered]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
