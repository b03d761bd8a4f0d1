"""Releases of very many rows in Parquet or CSV, from the file to the checked release.

``python -m tests.benchmarks.very_many_rows [ROWS] [--csv] [--only KIND …]`` draws people with 13
columns (a fixed seed; nobody in it exists), releases them as a cube, as views, as a protected table
and k-anonymous, and prints elapsed seconds, processor seconds of all processes, and the peak memory
of the largest one. 100,000,000 rows take 1 GB of Parquet; 230,000,000 take 20 GB of CSV.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.many_rows import elsewhere, tell

_PIECE = 1_000_000
_SEED = 7
SHORT = {
    "sex": ("female", "male"),
    "education": ("none", "primary", "lower", "upper", "college", "master"),
    "marital": ("single", "married", "divorced", "widowed", "separated"),
    "household_size": tuple(str(size) for size in range(1, 12)),
    "health": ("good", "very good", "fair", "bad"),
    "work": ("employed", "unemployed", "retired", "student", "other"),
    "tenure": ("own", "rent", "free"),
}
LONG = {
    "occupation": tuple(f"{code:04d}" for code in range(1_000, 1_430)),
    "birthplace": tuple(f"country {number}" for number in range(190)),
}
MUNICIPALITIES = tuple(f"{code:05d}" for code in range(10_000, 10_800))
REGIONS = tuple(f"R{number:02d}" for number in range(16))
CATEGORIES = {"region": REGIONS, **SHORT}
HEAD = 'version = 1\n[source]\npath = "people.parquet"\nmissing = [""]\n'
HEAD_OF_CSV = HEAD.replace(".parquet", ".csv") + (
    'encoding = "utf-8"\ndelimiter = ","\nquote = "\\""\ndecimal = "."\nheader = true\n'
)
K_ANONYMITY = """\
[attributes]
age = { role = "quasi-identifier", hierarchy = { kind = "intervals", widths = [5, 10, 20] } }
sex = { role = "quasi-identifier" }
region = { role = "quasi-identifier" }
education = { role = "quasi-identifier" }
marital = { role = "quasi-identifier" }
work = { role = "quasi-identifier" }
tenure = { role = "quasi-identifier" }
household_size = { role = "quasi-identifier" }
income = { role = "sensitive" }
health = { role = "sensitive" }
occupation = { role = "insensitive" }
birthplace = { role = "insensitive" }
municipality = { role = "identifier" }
[protection]
method = "k-anonymity"
k = 10
max_suppression = 0.05
"""
TABLE = """\
[attributes]
municipality = { role = "quasi-identifier" }
work = { role = "quasi-identifier" }
income = { role = "sensitive" }
[protection]
method = "table"
rows = ["municipality"]
columns = ["work"]
measure = { sum = "income" }
secondary = "optimal"
attacker = { lower = 0, present = true }
[[protection.rule]]
rule = "threshold"
n = {least}
[[protection.rule]]
rule = "p-percent"
p = 10
"""


def _skewed(
    random: np.random.Generator, values: int, rows: int
) -> np.ndarray[int, np.dtype[np.int16]]:
    """Places of values, the n-th about 1/n as common as the first, of shape (rows,)."""
    weights = np.cumsum(1 / np.arange(1, values + 1) ** 1.1)
    drawn = np.searchsorted(weights / weights[-1], random.random(rows))
    return np.minimum(drawn, values - 1).astype(np.int16)


def _piece(random: np.random.Generator, rows: int) -> pa.Table:
    def column(places: np.ndarray[int, np.dtype[np.int16]], texts: tuple[str, ...]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(places), pa.array(texts))

    towns = _skewed(random, len(MUNICIPALITIES), rows)
    found = {
        "region": column((towns // 50).astype(np.int16), REGIONS),
        "municipality": column(towns, MUNICIPALITIES),
    }
    for name, texts in (SHORT | LONG).items():
        found[name] = column(_skewed(random, len(texts), rows), texts)
    ages = np.clip(random.gamma(4.0, 11.0, rows), 0, 103)
    found["age"] = pa.array(ages.astype(np.int16))
    found["income"] = pa.array(np.round(random.lognormal(10.3, 0.8, rows)).astype(np.int32))
    return pa.table(found)


def write_people(path: Path, rows: int) -> None:
    """Write the people, a piece at a time; the same ones every time."""
    random = np.random.default_rng(_SEED)
    writer: pq.ParquetWriter | None = None
    for done in range(0, rows, _PIECE):
        piece = _piece(random, min(_PIECE, rows - done))
        writer = writer or pq.ParquetWriter(path, piece.schema)
        writer.write_table(piece)
    if writer is not None:
        writer.close()


def write_csv(path: Path, people: Path) -> None:
    """Write the people once more as text, in their order."""
    with duckdb.connect() as database:
        database.execute("SET preserve_insertion_order = true; SET memory_limit = '4GB'")
        database.execute("SET enable_progress_bar = false")
        database.execute(f"COPY (FROM '{people}') TO '{path}' (FORMAT csv, HEADER)")


def write(folder: Path, rows: int, text: bool) -> None:
    """Write the people into a folder, in Parquet or as text."""
    people = folder / "people.parquet"
    write_people(people, rows)
    if text:
        write_csv(people.with_suffix(".csv"), people)
        people.unlink()


def _private(method: str, more: str, others: Mapping[str, str] = MappingProxyType({})) -> str:
    """A plan of a method with noise: eight columns with all their categories declared.

    ``others`` are types of columns that it reads and does not use, as the window writes them.
    """
    typed = dict.fromkeys(CATEGORIES, "text") | others
    types = ", ".join(f'{name} = "{kind}"' for name, kind in typed.items())
    roles = "\n".join(f'{name} = {{ role = "quasi-identifier" }}' for name in CATEGORIES)
    listed = ", ".join(f'"{name}"' for name in CATEGORIES)
    domains = "\n".join(
        f"{name} = [{', '.join(f'{chr(34)}{text}{chr(34)}' for text in texts)}]"
        for name, texts in CATEGORIES.items()
    )
    return (
        f'types = {{ {types} }}\n[attributes]\n{roles}\n[protection]\nmethod = "{method}"\n'
        f"dimensions = [{listed}]\nepsilon = 1\n{more}[protection.domains]\n{domains}\n"
        '[budget]\npopulation = "synthetic people"\n'
    )


PLANS = {
    "cube": _private("dp-cube", "publish = { max_dimensions = 3 }\n"),
    "cube of all columns": _private(
        "dp-cube",
        "publish = { max_dimensions = 3 }\n",
        {"age": "number", "income": "number", "municipality": "text", "occupation": "text"},
    ),
    "views": _private("priview", ""),
    "table": TABLE,
    "k-anonymity": K_ANONYMITY,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Releases of very many rows in Parquet.")
    parser.add_argument("rows", nargs="?", type=int, default=100_000_000)
    parser.add_argument("--csv", action="store_true", help="read a text file instead of Parquet")
    parser.add_argument("--only", choices=list(PLANS), nargs="+", default=list(PLANS))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        elsewhere("tests.benchmarks.very_many_rows:write", folder, chosen.rows, chosen.csv)
        head = HEAD_OF_CSV if chosen.csv else HEAD
        variables = os.environ | {"HOME": str(folder / "home")}
        (folder / "home").mkdir()
        for kind in chosen.only:
            plan = folder / f"{kind}.toml"
            least = min(200, max(3, chosen.rows // 50_000))  # a few cells in a hundred are unsafe
            plan.write_text(head + PLANS[kind].replace("{least}", str(least)), "utf-8")
            command = [sys.executable, "-m", "dpdesk", "run", str(plan)]
            tell(f"{kind}, {chosen.rows:,}", [*command, "--out", str(folder / kind)], variables)


if __name__ == "__main__":
    main()
