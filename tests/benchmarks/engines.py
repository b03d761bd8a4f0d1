"""Tables that stay in an engine: the same releases of growing tables, from file and engines.

Run as ``python -m tests.benchmarks.engines [ROWS …] [--engines duckdb postgresql spark]``.
Synthetic people (12 columns, `tests/benchmarks/whole/people.py`) are kept as Parquet and in a
PostgreSQL server of its own; Spark reads the Parquet by ``local[2]``. Each release is made by the
command line in a fresh process; what is told is its elapsed time, the steps that it notes itself,
the peak memory of its largest process and the 1-minute load of the machine before. The microdata
must be the same bytes.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import psycopg

from tests.benchmarks.whole import people
from tests.helpers.postgres import postgres_server

CUBE = """version = 1
[source]
{source}
missing = ["", "?"]
types = {{ sex = "text", education = "text", marital = "text", household_size = "text", health = "text" }}
[protection]
method = "dp-cube"
dimensions = ["sex", "education", "marital", "household_size", "health"]
domains = {{ sex = ["female", "male"], education = ["none", "primary", "lower secondary", "upper secondary", "college", "master"], marital = ["single", "married", "divorced", "widowed", "separated"], household_size = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"], health = ["good", "very good", "fair", "bad", "other"] }}
publish = {{ max_dimensions = 3 }}
epsilon = 1.0
"""  # noqa: E501
MEASURE = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(json.dumps([code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6]))
"""


def filled(folder: Path, address: str, rows: int) -> dict[str, str]:
    """The table in every engine; what a plan says of each."""
    subprocess.run([sys.executable, people.__file__, str(folder), str(rows)], check=True)
    text, file = folder / "people.csv", folder / "people.parquet"
    duckdb.sql(f"COPY (FROM read_csv('{text}', all_varchar = true)) TO '{file}'")
    names = [row[0] for row in duckdb.sql(f"DESCRIBE FROM '{file}'").fetchall()]
    with psycopg.connect(address) as con:
        listed = ", ".join(f'"{name}" TEXT' for name in names)
        con.execute(f"DROP TABLE IF EXISTS people; CREATE TABLE people ({listed})")
        copy = "COPY people FROM STDIN (FORMAT csv, HEADER, FORCE_NULL ({}))"
        quoted = ", ".join(f'"{name}"' for name in names)
        with text.open("rb") as lines, con.cursor().copy(copy.format(quoted)) as out:
            while block := lines.read(1 << 20):
                out.write(block)
    with psycopg.connect(address, autocommit=True) as con:
        con.execute("VACUUM ANALYZE people")
    text.unlink()
    return {
        "duckdb": f'path = "{file}"',
        "postgresql": f'path = "{address}"\ntable = "people"\nengine = "postgresql"',
        "spark": f'path = "local[2]"\ntable = "{file}"\nengine = "spark"',
    }


def run(folder: Path, name: str, plan: str, home: Path) -> Path:
    """One release in a fresh process, with its figures told."""
    place = folder / name
    place.mkdir()
    (place / "plan.toml").write_text(plan, "utf-8")
    command = [sys.executable, "-m", "dpdesk", "run", "plan.toml", "--out", "out"]
    begun, load = time.monotonic(), os.getloadavg()[0]
    made = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], cwd=place, check=True, text=True,
        stdout=subprocess.PIPE, env={**os.environ, "DPDESK_HOME": str(home)},
    )  # fmt: skip
    seconds = time.monotonic() - begun
    code, memory = json.loads(made.stdout.splitlines()[-1])
    if code:
        sys.exit(f"{name} ended with {code}")
    timings = json.loads((place / "out" / "internal" / "evidence.json").read_text())["timings"]
    steps = ", ".join(f"{step} {spent:.1f}" for step, spent in timings.items())
    print(f"{name:24} {seconds:7.1f} s {memory:6.2f} GB  load {load:.1f}  ({steps})", flush=True)
    return place / "out" / "public"


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="*", default=["duckdb", "postgresql", "spark"])
    asked = parser.parse_args()
    for rows in asked.rows:
        with tempfile.TemporaryDirectory() as place, postgres_server() as address:
            folder, first = Path(place), None
            sources = filled(folder, address, rows)
            print(f"{rows:,} rows", flush=True)
            for engine in asked.engines:
                source = sources[engine]
                home = folder / f"home-{engine}"
                kept = people.PLAN.replace('path = "people.csv"', source)
                found = run(folder, f"k-anonymity {engine}", kept, home) / "microdata.csv"
                first = first or found
                if not filecmp.cmp(first, found, shallow=False):
                    sys.exit(f"{engine} released other rows")
                run(folder, f"dp-cube {engine}", CUBE.format(source=source), home)


if __name__ == "__main__":
    main()
