"""Statistical files made for tests, and the ones that DPDESK_TEST_DATA names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.formats.request import ReadDone, ReadRequest
from dpdesk.io.formats.worker import read_table
from dpdesk.io.reading import format_of
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace


def real(*parts: str) -> Path:
    """A file of the real data; the test is skipped where they are absent."""
    named = os.environ.get("DPDESK_TEST_DATA")
    if not named:
        pytest.skip("needs the real data that DPDESK_TEST_DATA names")
    return Path(named, *parts)


def head(path: Path, limit: int = 1_000, **options: Any) -> ReadDone:
    """The first rows of a source, read in this very process."""
    spec = SourceSpec(str(path))
    request = ReadRequest(str(path), "", format_of(spec, path), limit, **options)
    return read_table(request, lambda answer: None)


def opened(path: Path, workspace: Workspace, **options: Any) -> DataStore:
    """The store of a source, read by the process for it."""
    spec = SourceSpec(path.name, **options)
    return DataStore.open(spec, path.parent, workspace, CancelToken(), silent)


def write_people(path: Path) -> Path:
    """A small labelled SPSS or Stata file by the reference library."""
    frame = pd.DataFrame(
        {
            "sex": [1.0, 2.0, 2.0, 9.0] * 6,
            "age": [34.0, 52.0, 71.0, 99.0] * 6,
            "town": ["Aach", "Übersee", "", "東京"] * 6,
            "weight": [1.5, 2.25, 1e-7, 123456.789] * 6,
        }
    )
    labels = {"sex": "Sex of the person", "age": "Age in years", "town": "Town"}
    values = {"sex": {1.0: "male", 2.0: "female", 9.0: "refused"}}
    if path.suffix == ".dta":
        values = {"sex": {1: "male", 2: "female", 9: "refused"}}
        frame = frame.astype({"sex": "int8"})
        pyreadstat.write_dta(frame, path, column_labels=labels, variable_value_labels=values)
        return path
    pyreadstat.write_sav(
        frame,
        path,
        column_labels=labels,
        variable_value_labels=values,
        missing_ranges={"sex": [9.0], "age": [{"lo": 98.0, "hi": 99.0}]},
        variable_measure={"sex": "nominal", "age": "scale"},
        compress=path.suffix == ".zsav",
    )
    return path
