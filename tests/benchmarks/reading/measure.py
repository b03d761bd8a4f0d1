"""Measure opening a large CSV: ``python measure.py PATH``; times in seconds, memory in GB.

Prints a line per step and, last, the ratio of opening to a bare DuckDB load of the same file.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace


@contextmanager
def step(name: str, times: dict[str, float]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    times[name] = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{name:<28} {times[name]:7.2f} s   peak {peak:5.2f} GB", flush=True)


def main(path: Path) -> None:
    times: dict[str, float] = {}
    token = CancelToken()
    with TemporaryDirectory(dir=path.parent) as home:
        workspace = Workspace.open(Path(home))
        with step("open", times):
            store = DataStore.open(SourceSpec(path.name), path.parent, workspace, token, silent)
        names = ("age", "sex", "region", "education", "marital", "household_size")
        with step("frequency table, 6 columns", times):
            table = store.frequency_table(names, token)
        print(f"  {store.rows:,} rows, {len(table.counts):,} tuples")
        with step("page in the middle", times):
            store.page(store.rows // 2, 100)
        with step("profile", times):
            store.profile(token, silent)
        store.close()
        workspace.close()
    with step("bare DuckDB load", times):
        bare = duckdb.connect()
        bare.execute("CREATE TABLE t AS SELECT * FROM read_csv(?, all_varchar = true)", [str(path)])
        bare.close()
    print(f"open / bare load: {times['open'] / times['bare DuckDB load']:.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
