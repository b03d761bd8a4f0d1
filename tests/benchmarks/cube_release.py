"""From ten million rows in Parquet to a written release of a cube, by the command line.

``python -m tests.benchmarks.cube_release`` makes 10,000,000 rows of eight columns with 9, 16, 7,
15, 6, 5, 2 and 2 values in a folder of its own (1,814,400 cells of the finest table), releases all
tables of up to three dimensions, and prints elapsed seconds of the whole process, its start
included, processor seconds of all processes, and the peak memory of the largest. The floor, in turn
with it, is a Python in which DuckDB counts the finest table and rolls it up to the 93 tables.
``--publish all`` asks for all 256 tables.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.many_rows import spent
from tests.helpers.pinned import pin

SIZES = (9, 16, 7, 15, 6, 5, 2, 2)
FLOOR = """
import itertools, sys, duckdb
db = duckdb.connect(config={"memory_limit": "2GB"})
names = [f"c{j}" for j in range(8)]
db.sql(f"CREATE TABLE base AS SELECT {', '.join(names)}, count(*) AS n "
       f"FROM '{sys.argv[1]}' GROUP BY ALL")
for size in range(4):
    for chosen in itertools.combinations(names, size):
        listed = "".join(f"{name}, " for name in chosen)
        db.sql(f"SELECT {listed}sum(n) FROM base GROUP BY ALL").fetchall()
"""
PUBLISH = {"3": "{ max_dimensions = 3 }", "base": "[[%s]]", "all": '"all"'}


def write_rows(path: Path, rows: int) -> None:
    """Skewed values, so that cells are of all sizes; the same ones every time."""
    random = np.random.default_rng(1)
    columns = {}
    for number, size in enumerate(SIZES):
        codes = np.minimum((random.random(rows) ** 1.5 * size).astype(np.int8), size - 1)
        words = pa.array([f"value {code}" for code in range(size)])
        columns[f"c{number}"] = pa.DictionaryArray.from_arrays(pa.array(codes), words)
    pq.write_table(pa.table(columns), path)


def write_plan(folder: Path, publish: str) -> Path:
    """The plan, with every category declared."""
    names = [f"c{number}" for number in range(len(SIZES))]
    listed = ", ".join(f'"{name}"' for name in names)
    asked = PUBLISH[publish].replace("%s", listed)
    domains = "\n".join(
        f"{name} = [{', '.join(f'{chr(34)}value {code}{chr(34)}' for code in range(size))}]"
        for name, size in zip(names, SIZES, strict=True)
    )
    attributes = "\n".join(f'{name} = {{ role = "quasi-identifier" }}' for name in names)
    plan = folder / "plan.toml"
    plan.write_text(
        f"""version = 1
[source]
path = "rows.parquet"
[attributes]
{attributes}
[protection]
method = "dp-cube"
dimensions = [{listed}]
publish = {asked}
epsilon = 1
[protection.domains]
{domains}
[budget]
population = "everybody"
""",
        "utf-8",
    )
    return pin(plan)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--publish", choices=PUBLISH, default="3")
    parser.add_argument("--times", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In another process, whose memory does not count in those that this one starts.
        made = get_context("spawn").Process(
            target=write_rows, args=(folder / "rows.parquet", options.rows)
        )
        made.start()
        made.join()
        plan = write_plan(folder, options.publish)
        for turn in range(options.times):
            floor = [sys.executable, "-c", FLOOR, str(folder / "rows.parquet")]
            seconds, peak = spent(floor, os.environ)
            print(f"floor: {seconds:.1f} s of processors, {peak:.2f} GB", flush=True)
            environment = {
                **os.environ,
                "DPDESK_HOME": str(folder / "home"),
                "DPDESK_WITNESS": str(folder / "witness.jsonl"),
            }
            command = [sys.executable, "-m", "dpdesk", "run", str(plan)]
            began = time.perf_counter()
            seconds, peak = spent([*command, "--out", str(folder / f"out{turn}")], environment)
            print(
                f"{options.rows:,} rows: {time.perf_counter() - began:.1f} s elapsed, "
                f"{seconds:.1f} s of processors, {peak:.2f} GB, load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
