"""Small random changes of the engine and its verifiers, each of which a test should notice.

``python -m tests.tools.mutate --count 60 --seed 1`` copies the sources, changes one place at a
time, runs the tests that stand nearest to the changed module by their imports, and lists the
changes that no test noticed. The same seed makes the same changes of the same sources. The sources
themselves are left alone.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("dpdesk/engine", "dpdesk/verifiers")
TESTS, PATIENCE_SECONDS = 12, 600
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "soak", "benchmarks")
_COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_OPERATED: Mapping[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//",
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One place of a text and what stands there afterwards; offsets in bytes of UTF-8."""

    kind: str
    line: int
    start: int
    end: int
    text: str

    def made(self, source: str) -> str:
        """The changed text."""
        data = source.encode()
        return (data[: self.start] + self.text.encode() + data[self.end :]).decode()

    def described(self, source: str) -> str:
        """The line before and after."""
        before = source.splitlines()[self.line - 1].strip()
        after = self.made(source).splitlines()[self.line - 1].strip()
        return f"{self.kind}: `{before}` → `{after}`"


def changes(source: str) -> list[Change]:
    """Every change that can be made to a module, in the order of the text."""
    found = _Changes(source)
    found.visit(ast.parse(source))
    return sorted(found.made, key=lambda change: (change.start, change.end, change.text))


class _Changes(ast.NodeVisitor):
    """Collects changes; types, texts, and what stands outside of functions are left alone."""

    def __init__(self, source: str) -> None:
        self.source, self.made, self._inside = source.encode(), list[Change](), False
        self._lines = [0]
        for line in self.source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before, self._inside = self._inside, True
        for each in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(each)
        self._inside = before

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Sentences are no arithmetic."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """A refusal stays, whatever it says; whether it comes is up to what stands before it."""

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            self._between(
                node.left, node.comparators[0], "comparison", _COMPARED[type(node.ops[0])]
            )
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if (other := _OPERATED.get(type(node.op))) is not None:
            self._between(node.left, node.right, "operator", other)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = "or" if isinstance(node.op, ast.And) else "and"
        self._between(node.values[0], node.values[1], "operator", other)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._instead(node, "constant", str(not node.value))
        elif isinstance(node.value, int):
            self._instead(node, "off by one", str(node.value + 1))

    def visit_If(self, node: ast.If) -> None:
        self._instead(node.test, "branch", f"not ({self._text(node.test)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._instead(node.test, "branch", f"(not ({self._text(node.test)}))")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._instead(node, "dropped", "pass")
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._instead(node, "dropped", "pass")
        self.generic_visit(node)

    def _between(self, left: ast.expr, right: ast.expr, kind: str, text: str) -> None:
        """Put ``text`` for the operator between two operands, which may stand in brackets."""
        start, end = self._end(left), self._start(right)
        gap = self.source[start:end]
        bare = gap.lstrip(b") \n")
        if b"#" in gap or not bare.rstrip(b"( \n"):
            return
        start += len(gap) - len(bare)
        self._add(left.lineno, start, start + len(bare.rstrip(b"( \n")), kind, text)

    def _instead(self, node: ast.expr | ast.stmt, kind: str, text: str) -> None:
        if node.lineno == node.end_lineno:
            self._add(node.lineno, self._start(node), self._end(node), kind, text)

    def _add(self, line: int, start: int, end: int, kind: str, text: str) -> None:
        if self._inside:
            self.made.append(Change(kind, line, start, end, text))

    def _text(self, node: ast.expr) -> str:
        return self.source[self._start(node) : self._end(node)].decode()

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)


def chosen(root: Path, count: int, seed: int) -> list[tuple[Path, Change]]:
    """So many changes of different modules, all kinds alike; fewer where there are no more."""
    draw, found = random.Random(seed), list[tuple[Path, Change]]()
    paths = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py"))
    draw.shuffle(paths)
    for path in paths:
        if len(found) == count:
            break
        by_kind: dict[str, list[Change]] = {}
        for change in changes(path.read_text("utf-8")):
            by_kind.setdefault(change.kind, []).append(change)
        if by_kind:
            kind = draw.choice(sorted(by_kind))
            found.append((path.relative_to(root), draw.choice(by_kind[kind])))
    return found


def imported(source: str) -> Iterator[str]:
    """The names of modules that a module may load, and of what it takes from them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class Importers:
    """Who imports whom, among the program and its tests."""

    def __init__(self, root: Path) -> None:
        self._who: dict[str, list[Path]] = {}
        for folder in ("dpdesk", "tests"):
            for path in sorted((root / folder).rglob("*.py")):
                for name in set(imported(path.read_text("utf-8"))):
                    self._who.setdefault(name, []).append(path.relative_to(root))

    def nearest(self, path: Path, most: int = TESTS) -> list[Path]:
        """The test files with the fewest imports between them and a module, at most so many."""
        tests, seen, layer = list[Path](), {path}, [path]
        while layer and len(tests) < most:
            above = [who for one in layer for who in self._who.get(_module(one), ())]
            layer = [who for who in dict.fromkeys(above) if who not in seen]
            seen.update(layer)
            tests += [who for who in layer if who.name.startswith("test_")]
        return tests[:most]


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def noticed(root: Path, path: Path, change: Change, tests: Sequence[Path]) -> bool:
    """Whether a test fails, or does not come to its end, with the change and not without it.

    Raises RuntimeError for a test that fails without it too: it would notice everything.
    """
    kept = (root / path).read_bytes()
    try:
        (root / path).write_text(change.made(kept.decode()), "utf-8")
        failed = _failed(root, [str(test) for test in tests])
    finally:
        (root / path).write_bytes(kept)
    if failed and failed != [_NO_END] and _failed(root, failed):
        raise RuntimeError(f"{failed} fails without any change too")
    return bool(failed)


_NO_END = "no end"


def _failed(root: Path, tests: Sequence[str]) -> list[str]:
    """The first of some tests that fails, or its file; none where all pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not soak", *tests]
    environment = os.environ | {"PYTHONPATH": str(root), "DPDESK_HYPOTHESIS": "ci"}
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return [_NO_END]
    named = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return named[:1] or ([] if done.returncode == 0 else list(tests))


def main(arguments: Sequence[str] | None = None) -> int:
    """Try changes, print what happens to each, and end with 1 when one was not noticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", type=int, default=TESTS, help="test files for each change")
    asked = parser.parse_args(arguments)
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="dpdesk-mutants-") as scratch:
        root = Path(scratch) / "sources"
        shutil.copytree(ROOT, root, ignore=_LEFT_OUT)
        importers = Importers(root)
        for path, change in chosen(root, asked.count, asked.seed):
            tests = importers.nearest(path, asked.tests)
            said = f"{path}:{change.line}: {change.described((root / path).read_text('utf-8'))}"
            if not tests or not noticed(root, path, change, tests):
                survivors += 1
                said += f" SURVIVED {len(tests)} test files: {', '.join(map(str, tests))}"
            else:
                said += " was noticed"
            print(said, flush=True)
    print(f"{survivors} of {asked.count} changes were not noticed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
