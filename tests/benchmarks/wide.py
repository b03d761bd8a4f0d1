"""A CSV of many columns, inspected and released by the command line, beside its floors.

Run as ``python -m tests.benchmarks.wide``: 100,000 rows of 200 columns, half of them of few values,
half of amounts and numbers that are mostly different, the same ones every time; six of few values
are quasi-identifiers of the release (k = 5 and 5 %), all others are released as they are. The floor
of ``inspect`` is a Python in which DuckDB reads the file and says what SUMMARIZE says, that of
``run`` one in which it reads, groups, writes sorted and reads back, and that hashes the source. All
take turns; the figures are seconds elapsed, seconds of the processor in all processes, and the peak
memory of the largest. pandas is hidden, since no user has it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.cold_run import RUN, with_bytecode
from tests.benchmarks.many_rows import elsewhere, tell

SUMMARY = """
import sys, duckdb
db = duckdb.connect(config={"memory_limit": "2GB"})
db.sql(f"CREATE TABLE t AS FROM '{sys.argv[1]}'")
db.sql("SUMMARIZE t").fetchall()
"""

QUASI = (0, 1, 4, 5, 8, 9)
RELEASE = """
import sys, duckdb, hashlib
db = duckdb.connect(config={"memory_limit": "2GB"})
db.sql(f"CREATE TABLE t AS FROM read_csv('{sys.argv[1]}', all_varchar = true)")
db.sql("SELECT c0, c1, c4, c5, c8, c9, count(*) FROM t GROUP BY ALL").fetchall()
db.sql("SELECT * FROM t ORDER BY ALL").write_csv(sys.argv[2])
db.sql(f"SELECT count(*) FROM read_csv('{sys.argv[2]}', all_varchar = true)").fetchall()
with open(sys.argv[1], "rb") as source:
    hashlib.file_digest(source, "sha256")
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


def plan(source: Path, columns: int) -> str:
    """The plan of the release."""
    roles = "\n".join(
        f'c{number} = {{ role = "{"quasi-identifier" if number in QUASI else "insensitive"}" }}'
        for number in range(columns)
    )
    return (
        f'version = 1\ntitle = "Wide"\n[source]\npath = "{source.as_posix()}"\n'
        f"[attributes]\n{roles}\n"
        '[protection]\nmethod = "k-anonymity"\nk = 5\nmax_suppression = 0.05\n'
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--times", type=int, default=2, help="how often each is run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "wide.csv"
        elsewhere("tests.benchmarks.wide:write_rows", path, options.rows, options.columns)
        (folder / "plan.toml").write_text(plan(path, options.columns), encoding="utf-8")
        home = with_bytecode({**os.environ, "DPDESK_HOME": str(folder / "home")}, folder)
        ours = [sys.executable, "-c", RUN]
        print(
            f"{options.rows:,} rows, {options.columns:,} columns; load {os.getloadavg()[0]:.1f}; "
            "the first run may compile"
        )
        for turn in range(options.times + 1):
            works = {
                "inspect": [*ours, "inspect", str(path)],
                "floor: DuckDB's SUMMARIZE": [sys.executable, "-c", SUMMARY, str(path)],
                "run to verified release": [
                    *(*ours, "run", str(folder / "plan.toml")),
                    *("--out", str(folder / f"release-{turn}")),
                ],
                "floor: DuckDB alone": [
                    *(sys.executable, "-c", RELEASE, str(path), str(folder / "floor.csv")),
                ],
            }
            for label, command in works.items():
                tell(label, command, home)


if __name__ == "__main__":
    main()
