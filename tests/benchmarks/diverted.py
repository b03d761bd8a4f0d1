"""What drawing sensitive values costs, step by step, and a whole release of as many rows.

Run as ``python -m tests.benchmarks.diverted`` (``--rows``, ``--values``, ``--l``; ``--whole`` also
writes, checks and seals a release from a Parquet file of eight columns). Each line gives elapsed
and processor seconds and the most memory that the process has held so far.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import CodedColumn
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.decoys import MIXED, RULES
from dpdesk.engine.decoys.partition import permutation, row_groups, value_groups
from dpdesk.engine.methods.l_diverted.mechanism import all_but_the_rest, draw_rows
from dpdesk.engine.noise.randomness import SystemRandomness

COLUMNS = {"age": 90, "sex": 2, "region": 120, "birthplace": 200, "status": 6, "job": 400}


@contextmanager
def measured(name: str) -> Iterator[None]:
    began, spent = time.perf_counter(), time.process_time()
    yield
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    elapsed, used = time.perf_counter() - began, time.process_time() - spent
    print(f"| {name} | {elapsed:.2f} s | {used:.2f} s | {memory:.2f} GB |", flush=True)


def sensitive(rows: int, values: int, size: int) -> NDArray[np.int32]:
    """Values by Zipf's law, cut so that the most frequent one is allowed."""
    shares = 1 / np.arange(3, values + 3)
    shares /= shares.sum()
    shares = np.minimum(shares, 0.9 / size)
    generator = np.random.default_rng(1)
    return generator.choice(values, rows, p=shares / shares.sum()).astype(np.int32)


def steps(rows: int, values: int, size: int) -> None:
    """The steps of one column, with each rule, then all of them together."""
    token, source = CancelToken(), SystemRandomness()
    codes = sensitive(rows, values, size)[: rows - rows % size]
    counts = np.bincount(codes, minlength=values)
    for rule in RULES:
        with measured(f"groups of values, {rule}"):
            groups = value_groups(counts, size, rule, source, token)
    with measured("random ids"):
        ids = permutation(len(codes), source, token)
    with measured("rows of the groups"):
        row_groups(codes, ids, groups, token)
    del groups, ids
    column = CodedColumn("s", tuple(map(str, range(values))), codes)
    with measured("the whole mechanism, one column"):
        choose = all_but_the_rest(len(codes), size)
        draw_rows([column], size, MIXED, choose, (), {}, source, token).wipe()


def whole(rows: int, values: int, size: int) -> None:
    """A release from a file to the sealed folder, as the command line makes it."""
    import pyarrow as pa
    from pyarrow import parquet

    from dpdesk.app.context import AppContext
    from dpdesk.app.running import run_plan

    generator = np.random.default_rng(2)
    columns = {
        name: pa.DictionaryArray.from_arrays(
            generator.integers(0, distinct, rows, dtype=np.int32),
            [f"{name} {value}" for value in range(distinct)],
        )
        for name, distinct in COLUMNS.items()
    }
    for name in ("illness", "income"):
        names = [f"{name} {value}" for value in range(values)]
        columns[name] = pa.DictionaryArray.from_arrays(sensitive(rows, values, size), names)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        parquet.write_table(pa.table(columns), base / "people.parquet")
        del columns
        (base / "plan.toml").write_text(
            'version = 1\n[source]\npath = "people.parquet"\n[protection]\nmethod = "l-diverted"\n'
            f'l = {size}\nsensitive = ["illness"]\n'
        )
        with (
            AppContext.open(base / "home") as context,
            measured("a release of eight columns, one of them drawn"),
        ):
            run_plan(context, base / "plan.toml", base / "out", CancelToken(), silent)
        print((base / "out" / "internal" / "evidence.json").read_text().split('"timings"')[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--values", type=int, default=50)
    parser.add_argument("--l", type=int, default=10)
    parser.add_argument("--whole", action="store_true")
    given = parser.parse_args()
    steps(1000, 20, 5)  # compiles
    print(f"{given.rows:,} rows, {given.values} values, groups of {given.l}")
    print("| step | elapsed | processor | memory |\n| --- | --- | --- | --- |")
    steps(given.rows, given.values, given.l)
    if given.whole:
        whole(given.rows, given.values, given.l)


if __name__ == "__main__":
    main()
