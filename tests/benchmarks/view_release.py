"""From a million rows of many columns to a written release of views, by the command line.

``python -m tests.benchmarks.view_release`` makes 1,000,000 rows of 32 and of 64 columns with two
values in a folder of its own, releases views of eight columns that cover all pairs, and prints
elapsed seconds of the whole process, its start included, processor seconds of all processes, and
the peak memory of the largest. The floor, in turn with it, is a Python in which DuckDB reads the
file and counts the same views. The program finds its modules compiled and no pandas, as it is
installed for users; the first turn may compile and is not for the record.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.views.designs import covering_design
from tests.benchmarks.cold_run import RUN, with_bytecode
from tests.benchmarks.many_rows import spent
from tests.benchmarks.views import chain
from tests.helpers.pinned import pin

SIZE = 8
FLOOR = """
import json, sys, duckdb
db = duckdb.connect()
db.sql(f"CREATE TABLE data AS SELECT * FROM read_csv('{sys.argv[1]}', delim=',', header=true, "
       "all_varchar=true)")
for view in json.loads(sys.argv[2]):
    listed = ", ".join(f"i{j}" for j in view)
    db.sql(f"SELECT {listed}, count(*) FROM data GROUP BY ALL").fetchall()
"""


def write_rows(path: Path, rows: int, columns: int) -> None:
    """A chain of zeros and ones, the same every time."""
    held = chain(columns, rows)
    text = np.full((rows, 2 * columns), ord(","), np.uint8)
    text[:, ::2], text[:, -1] = held + ord("0"), ord("\n")
    with path.open("wb") as stream:
        stream.write((",".join(f"i{j}" for j in range(columns)) + "\n").encode())
        stream.write(text.tobytes())


def write_plan(source: Path, columns: int) -> Path:
    """The plan, with every category declared."""
    names = [f"i{j}" for j in range(columns)]
    listed = ", ".join(f'"{name}"' for name in names)
    domains = "\n".join(f'{name} = ["0", "1"]' for name in names)
    plan = source.with_suffix(".toml")
    plan.write_text(
        f"""version = 1
[source]
path = "{source.name}"
[protection]
method = "priview"
dimensions = [{listed}]
epsilon = 1
view_size = {SIZE}
[protection.domains]
{domains}
[budget]
population = "everybody"
""",
        "utf-8",
    )
    return pin(plan)


def main() -> int:
    """Both numbers of columns, in turns with their floors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = {"DPDESK_HOME": str(folder / "home"), "DPDESK_WITNESS": str(folder / "w.jsonl")}
        variables = {**with_bytecode(os.environ, folder), **home}
        for columns in (32, 64):
            source = folder / f"rows{columns}.csv"
            write_rows(source, options.rows, columns)
            plan = write_plan(source, columns)
            views = covering_design(columns, SIZE, 2, CancelToken(), silent)
            for turn in range(options.times):
                asked = str([list(view) for view in views])
                began = time.perf_counter()
                seconds, peak = spent([sys.executable, "-c", FLOOR, str(source), asked], os.environ)
                elapsed = time.perf_counter() - began
                print(f"floor: {elapsed:.1f} s elapsed, {seconds:.1f} s, {peak:.2f} GB", flush=True)
                out = folder / f"out{columns}-{turn}"
                command = [sys.executable, "-c", RUN, "run", str(plan), "--out", str(out)]
                began = time.perf_counter()
                seconds, peak = spent(command, variables)
                print(
                    f"{options.rows:,} rows of {columns} columns, {len(views)} views: "
                    f"{time.perf_counter() - began:.1f} s elapsed, {seconds:.1f} s of processors, "
                    f"{peak:.2f} GB, load {os.getloadavg()[0]:.1f}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
