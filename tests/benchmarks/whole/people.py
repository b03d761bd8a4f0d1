"""Synthetic people, skewed as real ones are: ``python people.py FOLDER [ROWS]`` (fixed seed).

Writes ``people.csv`` with 12 columns and ``plan.toml``, which releases it 10-anonymous over seven
quasi-identifiers (17,280 generalisations). Nobody in it exists.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

BATCH = 250_000
SEED = 20260101
SKEWED = {
    "sex": ["female", "male"],
    "municipality": [f"{v:05d}" for v in range(10_000, 10_800)],
    "education": ["none", "primary", "lower secondary", "upper secondary", "college", "master"],
    "occupation": [f"{v:04d}" for v in range(1_000, 1_430)],
    "marital": ["single", "married", "divorced", "widowed", "separated"],
    "birthplace": [f"country {v}" for v in range(190)],
    "household_size": [str(v) for v in range(1, 12)],
    "health": ["good", "very good", "fair", "bad", "?", ""],
}
PLAN = """\
version = 1
title = "Synthetic people"

[source]
path = "people.csv"
missing = ["", "?"]

[attributes.id]
role = "identifier"

[attributes.household]
role = "identifier"

[attributes.health]
role = "sensitive"

[attributes.income]
role = "sensitive"

[attributes.age]
role = "quasi-identifier"
hierarchy = { kind = "intervals", widths = [5, 10, 20] }

[attributes.sex]
role = "quasi-identifier"

[attributes.municipality]
role = "quasi-identifier"
hierarchy = { kind = "mask" }

[attributes.education]
role = "quasi-identifier"
hierarchy = { kind = "order", order = ["none", "primary", "lower secondary", "upper secondary", \
"college", "master"], sizes = [2] }

[attributes.occupation]
role = "quasi-identifier"
hierarchy = { kind = "mask" }

[attributes.marital]
role = "quasi-identifier"

[attributes.birthplace]
role = "quasi-identifier"

[protection]
method = "k-anonymity"
k = 10
max_suppression = 0.05
"""


def skewed(rng: np.random.Generator, values: list[str], rows: int) -> pa.Array:
    """Values by a law of the kind that towns and trades follow: the n-th about 1/n as common."""
    weights = 1 / np.arange(1, len(values) + 1) ** 1.1
    drawn = rng.choice(len(values), rows, p=weights / weights.sum()).astype(np.int32)
    return pa.array(values).take(pa.array(drawn))


def batch(rng: np.random.Generator, start: int, rows: int) -> pa.Table:
    """Rows ``start`` … as texts: eight skewed columns, id, age, income and household."""
    table = {"id": pa.array(np.arange(start, start + rows)).cast(pa.string())}
    ages = np.clip(rng.gamma(4.0, 11.0, rows), 0, 103).astype(np.int32)
    table["age"] = pa.array(ages).cast(pa.string())
    for name, values in SKEWED.items():
        table[name] = skewed(rng, values, rows)
    income = np.round(rng.lognormal(10.3, 0.8, rows)).astype(np.int64)
    table["income"] = pa.array(income).cast(pa.string())
    table["household"] = pa.array(np.arange(start, start + rows) // 3).cast(pa.string())
    return pa.table(table)


def write(folder: Path, rows: int) -> Path:
    """Write data and plan into ``folder``; returns the plan."""
    rng = np.random.default_rng(SEED)
    with (folder / "people.csv").open("wb") as out:
        for start in range(0, rows, BATCH):
            options = pyarrow.csv.WriteOptions(include_header=start == 0, quoting_style="needed")
            pyarrow.csv.write_csv(batch(rng, start, min(BATCH, rows - start)), out, options)
    plan = folder / "plan.toml"
    plan.write_text(PLAN, "utf-8")
    return plan


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000)
