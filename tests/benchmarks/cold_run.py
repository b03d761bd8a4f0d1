"""A whole run in a fresh process, from the file to the verified release, beside its floor.

Run as ``python -m tests.benchmarks.cold_run`` with DPDESK_TEST_DATA naming the real data (the Adult
extract, nine quasi-identifiers, k = 5, 2 %). The floor is a fresh Python that does nothing but read
the file, group it, write it sorted and read it back, with DuckDB; next to it is one that imports
the libraries and starts the compiler, as two of the three processes of a run do. All take turns;
the best of each counts, as seconds elapsed and as processor time of all processes. pandas is
hidden, since no user's installation has it. ARX cannot be shipped: its figure stands in the
documentation.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_CHILD_SUBREAPER = 36
NAMES = (
    *("sex", "age", "race", "marital-status", "education", "native-country", "workclass"),
    *("occupation", "salary-class"),
)
RUN = """
import sys
class Hidden:
    def find_spec(name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hidden)
from dpdesk.__main__ import main
sys.exit(main())
"""
FLOOR = """
import sys, duckdb
db = duckdb.connect()
db.sql(f"CREATE TABLE t AS FROM read_csv('{sys.argv[1]}', all_varchar = true)")
db.sql("SELECT count(*) FROM (SELECT count(*) FROM t GROUP BY ALL)").fetchall()
db.sql("SELECT * FROM t ORDER BY ALL").write_csv(sys.argv[2])
db.sql(f"SELECT count(*) FROM read_csv('{sys.argv[2]}', all_varchar = true)").fetchall()
"""

LIBRARIES = """
import duckdb, numpy, pyarrow.compute, pyarrow.acero, pyarrow.csv
from dpdesk.core.compiled import start
start()
"""


def plan(folder: Path) -> str:
    """The plan of the run."""
    columns = "\n".join(
        f'{name} = {{ role = "quasi-identifier", '
        f'hierarchy = "{(folder / f"adult_hierarchy_{name}.csv").as_posix()}" }}'
        for name in NAMES
    )
    return (
        f'version = 1\ntitle = "Adult"\n[source]\npath = "{(folder / "adult.csv").as_posix()}"\n'
        f'[attributes]\n{columns}\n[protection]\nmethod = "k-anonymity"\nk = 5\n'
        'max_suppression = 0.02\nobjective = "loss"\n'
    )


def with_bytecode(variables: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Variables of a process that finds its modules compiled, as those of an installed program are.

    They are kept in ``folder`` from the first run on, whatever this environment says of them. No
    process that it starts finds pandas either.
    """
    hidden = folder / "hidden"
    hidden.mkdir(exist_ok=True)
    (hidden / "pandas.py").write_text(
        'raise ModuleNotFoundError("hidden", name="pandas")\n', "utf-8"
    )
    others = {name: text for name, text in variables.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**others, "PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "PYTHONPATH": str(hidden)}


def left_behind() -> tuple[float, float]:
    """Processor seconds and greatest peak, in GB, of processes that ended commands left here.

    A run ends without waiting for the processes that check and print, and what nobody waits for
    nobody counts. :func:`adopt` has them left to this process, where the system can do that.
    """
    seconds = peak = 0.0
    with suppress(ChildProcessError):
        while True:
            _, _, usage = os.wait4(-1, 0)
            seconds += usage.ru_utime + usage.ru_stime
            peak = max(peak, usage.ru_maxrss / 1e6)
    return seconds, peak


def adopt() -> None:
    """Take over what processes leave behind when they end; on Linux alone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)


def spent(command: list[str], variables: Mapping[str, str]) -> tuple[float, float]:
    """Seconds elapsed and processor seconds of a command and all that it starts."""
    adopt()
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=variables)
    elapsed = time.perf_counter() - start
    left_behind()
    after = os.times()
    return elapsed, sum(after[2:4]) - sum(before[2:4])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="how often each is run")
    options = parser.parse_args()
    data = os.environ.get("DPDESK_TEST_DATA")
    if not data:
        sys.exit("DPDESK_TEST_DATA names no data")
    source = Path(data) / "arx-adult"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plan.toml").write_text(plan(source), encoding="utf-8")
        variables = with_bytecode(os.environ, folder)
        runs, floors, held = [], [], []
        for turn in range(options.times + 1):
            out = str(folder / f"release-{turn}")
            run = [sys.executable, "-c", RUN, "run", str(folder / "plan.toml"), "--out", out]
            floor = [sys.executable, "-c", FLOOR, str(source / "adult.csv"), f"{out}.csv"]
            runs.append(spent(run, variables))
            floors.append(spent(floor, variables))
            held.append(spent([sys.executable, "-c", LIBRARIES], variables))
    print(f"load {os.getloadavg()[0]:.1f}; best of all runs but the first, which may compile")
    for label, found in (
        ("run to verified release", runs),
        ("floor: DuckDB alone", floors),
        ("one import of libraries", held),
    ):
        elapsed, processor = (min(part) for part in zip(*found[1:], strict=True))
        print(f"{label:28}{elapsed:8.2f} s elapsed{processor:8.2f} s of processor")


if __name__ == "__main__":
    main()
