"""A whole run on many rows, from the CSV to the checked release, beside its floor.

Run as ``python -m tests.benchmarks.many_rows`` with DPDESK_TEST_DATA naming the real data: rows of
the Adult extract (nine quasi-identifiers, k = 5, 2 %) are drawn with replacement by a fixed seed.
The floor is a Python that does nothing but read the file, group it, write it sorted and read it
back with DuckDB, and hash the source, within the same memory limit. ``--other`` names the folder of
another version of the program, which is measured in turn. What to compare on a machine that has
other work is the processor time of all processes together; peak memory is that of the largest one.
Both versions must release the same rows, which is asserted.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tests.benchmarks.cold_run import RUN, adopt, left_behind, plan, with_bytecode

_PIECE = 500_000
FLOOR = """
import sys, duckdb, hashlib
db = duckdb.connect(config={"memory_limit": "2GB"})
db.sql(f"CREATE TABLE t AS FROM read_csv('{sys.argv[1]}', all_varchar = true)")
listed = [column[0] for column in db.sql("FROM t LIMIT 0").description]
for j, name in enumerate(listed):
    db.sql(f'CREATE TYPE e{j} AS ENUM (SELECT DISTINCT "{name}" FROM t ORDER BY 1)')
codes = ", ".join(f'"{name}"::e{j} AS c{j}' for j, name in enumerate(listed))
db.sql(f"CREATE TABLE coded AS SELECT {codes} FROM t")
db.sql("DROP TABLE t")
db.sql("CREATE TABLE counted AS SELECT *, count(*) AS n FROM coded GROUP BY ALL")
db.sql("SELECT * EXCLUDE (n, u) FROM (SELECT *, unnest(range(n)) AS u FROM "
       "(FROM counted ORDER BY ALL))").write_csv(sys.argv[2])
db.sql(f"SELECT count(*) FROM (SELECT count(*) FROM read_csv('{sys.argv[2]}', all_varchar = true) "
       "GROUP BY ALL)").fetchall()
with open(sys.argv[1], "rb") as source:
    hashlib.file_digest(source, "sha256")
"""


def spent(command: list[str], variables: Mapping[str, str]) -> tuple[float, float]:
    """Processor seconds of a command and all that it starts, and the peak of the largest in GB."""
    adopt()
    process = os.posix_spawn(
        command[0],
        command,
        dict(variables),
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, 1, 0)],
    )
    _, status, usage = os.wait4(process, 0)
    if status:
        sys.exit(f"it ended with {status}: {command}")
    seconds, peak = left_behind()
    return usage.ru_utime + usage.ru_stime + seconds, max(usage.ru_maxrss / 1e6, peak)


def tell(label: str, command: list[str], variables: Mapping[str, str]) -> None:
    """Run a command and print what it took: elapsed, of the processor, and its peak memory."""
    start = time.perf_counter()
    seconds, peak = spent(command, variables)
    elapsed = time.perf_counter() - start
    figures = f"{elapsed:7.1f} s elapsed{seconds:7.1f} s of processor{peak:6.2f} GB"
    print(f"{label:26}{figures}", flush=True)


def elsewhere(work: str, *given: object) -> None:
    """Do ``module:function`` in a process whose memory counts in none that is started later."""
    code = (
        "import importlib, pickle, sys; where, name, given = pickle.load(sys.stdin.buffer); "
        "getattr(importlib.import_module(where), name)(*given)"
    )
    question = pickle.dumps((*work.split(":"), given))
    subprocess.run([sys.executable, "-c", code], input=question, check=True)


def draw(source: Path, rows: int, target: Path) -> None:
    """Write rows of a CSV, drawn with replacement."""
    head, *lines = source.read_text(encoding="utf-8").splitlines()
    drawn, numbers = np.array(lines, dtype=object), np.random.default_rng(1)
    with target.open("w", encoding="utf-8") as out:
        out.write(head + "\n")
        for done in range(0, rows, _PIECE):
            some = numbers.integers(0, len(drawn), min(_PIECE, rows - done))
            out.write("\n".join(drawn[some]) + "\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=2, help="how often each is run")
    parser.add_argument("--other", type=Path, help="the folder of another version")
    options = parser.parse_args()
    data = os.environ.get("DPDESK_TEST_DATA")
    if not data:
        sys.exit("DPDESK_TEST_DATA names no data")
    extract = Path(data) / "arx-adult"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "drawn.csv"
        draw(extract / "adult.csv", options.rows, source)
        text = plan(extract).replace((extract / "adult.csv").as_posix(), source.as_posix())
        (folder / "plan.toml").write_text(text, encoding="utf-8")
        versions = {"this version": Path(__file__).parents[2]}
        if options.other:
            versions["other version"] = options.other.absolute()
        found: dict[str, list[tuple[float, float]]] = {}
        for turn in range(options.times + 1):
            for label, program in versions.items():
                out, home = folder / f"{label} {turn}", folder / f"home {label}"
                given = {**os.environ, "PYTHONPATH": str(program), "DPDESK_HOME": str(home)}
                given["DPDESK_CACHE"] = str(home / "kernels")
                given = with_bytecode(given, home)
                command = [
                    sys.executable,
                    "-P",
                    "-c",
                    RUN,
                    "run",
                    str(folder / "plan.toml"),
                    "--out",
                ]
                found.setdefault(label, []).append(spent([*command, str(out)], given))
            floor = [sys.executable, "-c", FLOOR, str(source), str(folder / "floor.csv")]
            found.setdefault("floor: DuckDB alone", []).append(spent(floor, os.environ))
            (folder / "floor.csv").unlink()
        if options.other:
            tables = [folder / f"{label} 0" / "public" / "microdata.csv" for label in versions]
            assert filecmp.cmp(*tables, shallow=False)
    print(f"{options.rows:,} rows; the first run, which may compile, is left out")
    for label, runs in found.items():
        shown = ", ".join(f"{seconds:.1f}" for seconds, _ in runs[1:])
        print(f"{label:22}{shown} s of processor, {max(peak for _, peak in runs[1:]):.2f} GB")


if __name__ == "__main__":
    main()
