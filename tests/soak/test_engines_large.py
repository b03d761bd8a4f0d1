"""Millions of people counted where they are: PostgreSQL, and Spark on a cluster of its own."""

from __future__ import annotations

import filecmp
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks.engines import CUBE, filled, run
from tests.benchmarks.whole import people
from tests.helpers.postgres import postgres_server
from tests.helpers.soak import SoakBook, scaled
from tests.helpers.spark import need_spark, spark_cluster

ROWS = 2_000_000
pytest.importorskip("ibis", reason="the optional part `engines` is not installed")


@pytest.mark.skipif(sys.platform == "win32", reason="memory is measured the Unix way")
def test_engines_release_what_a_file_does(tmp_path: Path, book: SoakBook) -> None:
    need_spark()
    rows, first = scaled(ROWS), None
    with postgres_server() as address, spark_cluster(tmp_path) as cluster:
        sources = filled(tmp_path, address, rows)
        sources["spark"] = sources["spark"].replace("local[2]", cluster)
        for name, source in sources.items():
            plan, home = people.PLAN.replace('path = "people.csv"', source), tmp_path / name
            begun = time.monotonic()
            found = run(tmp_path, f"k-anonymity {name}", plan, home) / "microdata.csv"
            spent = time.monotonic() - begun
            first = first or found
            assert filecmp.cmp(first, found, shallow=False), name
            run(tmp_path, f"dp-cube {name}", CUBE.format(source=source), home)
            book.note(f"the same microdata from {name}", f"{rows:,} rows", f"{spent:.0f} s")
