"""Write a large SPSS file of eight columns (fixed seed): ``python make_sav.py PATH [ROWS]``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat

SIZES = {
    "age": 100,
    "sex": 2,
    "region": 400,
    "education": 9,
    "job": 430,
    "status": 5,
    "size": 11,
}


def make(path: Path, rows: int) -> None:
    """Seven numeric columns with labels, and one of texts."""
    rng = np.random.default_rng(20)
    sizes = {
        "age": 100,
        "sex": 2,
        "region": 400,
        "education": 9,
        "job": 430,
        "status": 5,
        "size": 11,
    }
    table = {name: rng.integers(0, n, rows).astype(np.float64) for name, n in sizes.items()}
    frame = pd.DataFrame(table)
    frame["place"] = np.array([f"place {v}" for v in range(190)])[rng.integers(0, 190, rows)]
    labels = {"sex": {0.0: "female", 1.0: "male"}}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels)


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000)
