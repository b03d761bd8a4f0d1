"""How long a large table takes from the rows to the verified release, and how much memory.

Run from the project's root: ``python -m tests.benchmarks.released_tables [CASE]``.
Sums and counts: 98,784 cells in four dimensions, of which about 5 % are unsafe. Flat: two
dimensions with groups, so that about 10,000 cells are suppressed. Dense: 5,200 counts, of which
most are unsafe. Rows are drawn with a fixed
seed, and written to a folder that is removed afterwards. Every command is a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.benchmarks.tables import persons

HEAD = 'version = 1\n[source]\npath = "rows.csv"\n'
FOUR = '[protection]\nmethod = "table"\nrows = ["a", "b"]\ncolumns = ["c", "d"]\n'
TWO = (
    '[attributes.a]\nhierarchy = "a.csv"\n[attributes.b]\nhierarchy = "b.csv"\n'
    '[protection]\nmethod = "table"\nrows = ["a"]\ncolumns = ["b"]\n'
)
ONE = (
    '[attributes.a]\nhierarchy = "a.csv"\n'
    '[protection]\nmethod = "table"\nrows = ["a", "b"]\ncolumns = ["c"]\n'
)
FAST = 'secondary = "heuristic"\n'
PLANS = {
    "sums": f'{FOUR}measure = {{ sum = "x" }}\nrule = [{{ rule = "threshold", n = 2 }}]\n{FAST}',
    "counts": f'{FOUR}rule = [{{ rule = "threshold", n = 2 }}]\n{FAST}'
    "attacker = { lower = 0, present = true }\n",
    "dense": f'{ONE}rule = [{{ rule = "threshold", n = 200, range = 0.1 }}]\n',
    "flat": f'{TWO}measure = {{ sum = "x" }}\nrule = [{{ rule = "threshold", n = 3 }}]\n{FAST}',
}


def drawn(folder: Path, name: str) -> int:
    """Write rows, and hierarchies where the plan has some; how many rows."""
    shape = {"flat": (190, 190), "dense": (20, 15, 12)}.get(name, (20, 20, 15, 13))
    rng = np.random.default_rng(0)
    people = np.minimum(rng.geometric(0.06, int(np.prod(shape))) - 1, 400)
    places = np.unravel_index(np.repeat(np.arange(people.size), people), shape)
    if name == "dense":
        places = persons(shape)
    pay = rng.lognormal(3, 1, len(places[0])).round().astype(int) + 1
    lines = ["abcd"[: len(shape)].replace("", ",").strip(",") + ",x"]
    columns = [[f"{'abcd'[i]}{v:03}" for v in each.tolist()] for i, each in enumerate(places)]
    lines += [",".join([*each, str(x)]) for *each, x in zip(*columns, pay.tolist(), strict=True)]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", "utf-8")
    for letter, size in zip({"flat": "ab", "dense": "a"}.get(name, ""), shape, strict=False):
        each = 5 if name == "dense" else 10
        leaves = [f"{letter}{v:03},{letter}-{v // each:02},*" for v in range(size)]
        (folder / f"{letter}.csv").write_text("\n".join(leaves) + "\n", "utf-8")
    return len(pay)


def main(name: str) -> None:
    """Make the table, and say what each command took."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        rows = drawn(folder, name)
        (folder / "plan.toml").write_text(HEAD + PLANS[name], "utf-8")
        print(f"{name}: {rows:,} rows", flush=True)
        timed(folder, "run", "plan.toml", "--out", "out")
        timed(folder, "verify", "out", "--source", "rows.csv")
        timed(folder, "verify", "out/public")
        evidence = json.loads((folder / "out/internal/evidence.json").read_text("utf-8"))
        keys = ("cells", "suppressed", "primary", "cost", "bound", "at_least")
        print("  ", {key: evidence["result"].get(key) for key in keys}, flush=True)


def timed(folder: Path, *words: str) -> None:
    """Run a command of the program; elapsed time, work and peak memory of its processes."""
    command = [sys.executable, "-m", "dpdesk", *words]
    place = {**os.environ, "DPDESK_HOME": str(folder / "home"), "PYTHONPATH": os.getcwd()}
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, env=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    print(
        f"  {' '.join(words)}: exit {running.returncode}, {time.perf_counter() - start:.0f} s, "
        f"{used.ru_utime + used.ru_stime:.0f} s of work, {used.ru_maxrss / 1024:.0f} MB at most",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "sums")
