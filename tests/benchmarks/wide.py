"""A CSV of many columns, inspected by the command line, beside its floor.

Run as ``python -m tests.benchmarks.wide``: 100,000 rows of 200 columns, half of them of few values,
half of amounts and numbers that are mostly different, the same ones every time. The floor is a
Python in which DuckDB reads the file and says what SUMMARIZE says. Both take turns; the figures are
processor seconds of all processes and the peak memory of the largest.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.many_rows import spent

FLOOR = """
import sys, duckdb
db = duckdb.connect(config={"memory_limit": "2GB"})
db.sql(f"CREATE TABLE t AS FROM '{sys.argv[1]}'")
db.sql("SUMMARIZE t").fetchall()
"""


def column(number: int, rows: int, random: np.random.Generator) -> NDArray[np.str_]:
    """Texts of one column: small numbers, words, amounts or large numbers, by its place."""
    kind, size = number % 4, 3 + number // 4
    if kind == 0:
        return (random.random(rows) ** 2 * (5 + number)).astype(np.int64).astype(str)
    if kind == 1:
        return np.array([f"value {place}" for place in range(size)])[random.integers(0, size, rows)]
    if kind == 2:
        return np.char.mod("%.2f", random.lognormal(7, 1, rows))
    return random.integers(0, 1000 * (number + 1), rows).astype(str)


def write_rows(path: Path, rows: int, columns: int) -> None:
    """Write the file."""
    random = np.random.default_rng(1)
    texts = [column(number, rows, random) for number in range(columns)]
    with path.open("w", encoding="utf-8") as out:
        out.write(",".join(f"c{number}" for number in range(columns)) + "\n")
        for row in zip(*texts, strict=True):
            out.write(",".join(row) + "\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--times", type=int, default=2, help="how often each is run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "wide.csv"
        # In another process, whose memory does not count in those that this one starts.
        given = path, options.rows, options.columns
        made = get_context("spawn").Process(target=write_rows, args=given)
        made.start()
        made.join()
        given_home = {**os.environ, "DPDESK_HOME": str(Path(name) / "home")}
        works = {
            "inspect": [sys.executable, "-m", "dpdesk", "inspect", str(path)],
            "floor: DuckDB's SUMMARIZE": [sys.executable, "-c", FLOOR, str(path)],
        }
        print(f"{options.rows:,} rows, {options.columns:,} columns; the first run may compile")
        for _ in range(options.times + 1):
            for label, command in works.items():
                seconds, peak = spent(command, given_home)
                print(f"{label:26}{seconds:6.1f} s of processor, {peak:.2f} GB", flush=True)


if __name__ == "__main__":
    main()
