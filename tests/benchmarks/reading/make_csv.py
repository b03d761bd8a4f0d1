"""Write a large synthetic CSV of persons (fixed seed): ``python make_csv.py PATH [ROWS]``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

BATCH = 250_000
COLUMNS = {
    "age": [str(v) for v in range(100)],
    "sex": ["female", "male"],
    "region": [f"R{v:03d}" for v in range(400)],
    "education": [f"level {v}" for v in range(9)],
    "occupation": [f"{v:04d} occupation, group {v % 7}" for v in range(430)],
    "marital": ["single", "married", "widowed", "divorced", "separated"],
    "birthplace": [f"country {v}" for v in range(190)],
    "household_size": [str(v) for v in range(1, 12)],
    "health": ["good", "fair", "bad", "?", ""],
}


def batch(rng: np.random.Generator, start: int, rows: int) -> pa.Table:
    """Rows ``start`` … as texts: nine coded columns, an id, an income and a household id."""
    table = {"id": pa.array(np.arange(start, start + rows)).cast(pa.string())}
    for name, values in COLUMNS.items():
        drawn = pa.array(rng.integers(0, len(values), rows, dtype=np.int32))
        table[name] = pa.array(values).take(drawn)
    table["income"] = pa.array(rng.integers(0, 12_000_000, rows) / 100).cast(pa.string())
    table["household"] = pa.array(np.arange(start, start + rows) // 3).cast(pa.string())
    return pa.table(table)


def write(path: Path, rows: int) -> None:
    """Write ``rows`` rows with a header to ``path``."""
    rng = np.random.default_rng(20240501)
    with path.open("wb") as out:
        for start in range(0, rows, BATCH):
            options = pyarrow.csv.WriteOptions(include_header=start == 0, quoting_style="needed")
            pyarrow.csv.write_csv(batch(rng, start, min(BATCH, rows - start)), out, options)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000)
