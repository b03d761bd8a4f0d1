"""A whole run on people who are nearly all different, from the CSV to the checked release.

Run as ``python -m tests.benchmarks.distinct_rows``: ``whole/people.py`` writes the people (twelve
columns, seven of them quasi-identifiers, 3,600 generalisations, k = 10 and 5 %). The floor is a
Python that does nothing but read the file, group it by these seven, write it sorted and read it
back with DuckDB, and hash the source. Both take turns; the figures are seconds elapsed, seconds of
the processor in all processes, and the peak memory of the largest. pandas is hidden, since no user
has it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.cold_run import RUN, with_bytecode
from tests.benchmarks.many_rows import tell

PEOPLE = Path(__file__).parent / "whole" / "people.py"
FLOOR = """
import sys, duckdb, hashlib
db = duckdb.connect(config={"memory_limit": "2GB", "temp_directory": sys.argv[3]})
db.sql(f"CREATE TABLE t AS FROM read_csv('{sys.argv[1]}', all_varchar = true)")
names = "age, sex, municipality, education, occupation, marital, birthplace"
db.sql(f"SELECT count(*) FROM (SELECT {names}, count(*) FROM t GROUP BY {names})").fetchall()
db.sql("SELECT * EXCLUDE (id, household) FROM t ORDER BY ALL").write_csv(sys.argv[2])
db.sql(f"SELECT count(*) FROM read_csv('{sys.argv[2]}', all_varchar = true)").fetchall()
with open(sys.argv[1], "rb") as source:
    hashlib.file_digest(source, "sha256")
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--times", type=int, default=1, help="how often each is run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In another process, whose memory does not count in those that this one starts.
        subprocess.run([sys.executable, PEOPLE, folder, str(options.rows)], check=True)
        home = with_bytecode({**os.environ, "DPDESK_HOME": str(folder / "home")}, folder)
        out, floor = folder / "release", folder / "floor.csv"
        run = [sys.executable, "-c", RUN, "run", str(folder / "plan.toml"), "--out"]
        alone = [sys.executable, "-c", FLOOR, str(folder / "people.csv"), str(floor)]
        print(f"{options.rows:,} people; load {os.getloadavg()[0]:.1f}; the first run may compile")
        for turn in range(options.times + 1):
            works = {
                "run to verified release": [*run, f"{out}-{turn}"],
                "floor: DuckDB alone": [*alone, str(folder / "spill")],
            }
            for label, command in works.items():
                tell(label, command, home)


if __name__ == "__main__":
    main()
