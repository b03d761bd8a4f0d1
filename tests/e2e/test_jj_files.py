"""JJ files as sources: the places of cells found again, ready tables made of them, refusals."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.errors import DpdeskError, InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.tables.model import Dimension, System
from dpdesk.io.formats.jj import JjFile, placed, read_jj
from tests.e2e.test_table_export import export
from tests.e2e.test_table_release import read, verified
from tests.helpers.tables import filled

READY = 'cells = { value = "value", status = "status", cost = "cost", '
READY += 'levels = ["lower_required", "upper_required", "width_required"] }\n'
TWO = 'rows = ["dimension 1"]\ncolumns = ["dimension 2"]\nmeasure = { sum = "value" }\n'
TREE = {"n1": "north", "n2": "north", "s1": "south", "s2": "south", "s3": "south"}


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


def run(context: AppContext, folder: Path, name: str, text: str) -> Path:
    shutil.rmtree(folder / name, ignore_errors=True)
    (folder / f"{name}.toml").write_text(f"version = 1\n{text}", "utf-8")
    return run_plan(context, folder / f"{name}.toml", folder / name, CancelToken(), silent).out


@pytest.mark.parametrize("grouped", [False, True])
def test_what_is_written_is_read_protected_and_written_again(
    context: AppContext, tmp_path: Path, grouped: bool
) -> None:
    draw = random.Random(5)
    rows = ["town,sex"]
    for town, sex in product(TREE, ("f", "m", "x")):
        often = draw.choice([0, 2, 5, 9, 14]) if sex != "x" else draw.choice([0, 3, 11])
        rows += [f"{town},{sex}"] * often
    (tmp_path / "in.csv").write_text("\n".join([*rows, ""]), "utf-8")
    lines = [f"{town},{group},*" for town, group in TREE.items()]
    (tmp_path / "towns.csv").write_text("\n".join([*lines, ""]), "utf-8")
    head = '[source]\npath = "in.csv"\n'
    head += '[attributes.town]\nhierarchy = "towns.csv"\n' if grouped else ""
    keys = '[protection]\nmethod = "table"\nrows = ["town"]\ncolumns = ["sex"]\n'
    keys += 'rule = [{ rule = "threshold", n = 4 }]\nsliding = 0.8\nsingletons = false\n'
    first = run(context, tmp_path, "first", head + keys)
    export(context, first, "jj", tmp_path / "first.jj")
    labels = ["1.1", "1.2", "2.1", "2.2", "2.3"]
    lines = [f"{label},{label[0]},*" for label in labels]
    (tmp_path / "codes.csv").write_text("\n".join([*lines, ""]), "utf-8")
    head = '[source]\npath = "first.jj"\n'
    head += '[attributes."dimension 1"]\nhierarchy = "codes.csv"\n' if grouped else ""
    keys = f'[protection]\nmethod = "table"\n{TWO}{READY}singletons = false\n'
    again = run(context, tmp_path, "again", head + keys)
    pair = [list(read(made / "internal/table.csv").values()) for made in (first, again)]
    for one, other in zip(*pair, strict=True):
        same = ("value", "status", "lower_required", "upper_required", "width_required")
        assert [one[key] for key in same] == [other[key] for key in same]
        assert (one["lower"], one["upper"]) == (other["lower"], other["upper"])
    assert verified(context, again, tmp_path / "first.jj").failures == ()
    export(context, again, "jj", tmp_path / "again.jj")
    assert (tmp_path / "again.jj").read_bytes() == (tmp_path / "first.jj").read_bytes()


def dimension(rng: np.random.Generator, name: str) -> Dimension:
    """Some values, perhaps in groups of different depth."""
    rows: list[list[str]] = []
    for n in range(int(rng.integers(2, 6))):
        group = f"g{n // 2}"
        deep = rng.random() < 0.5 and n > 1
        rows.append([f"v{n}", group if deep else f"v{n}", "*"])
    return Dimension.of(name, Hierarchy.from_rows(name, rows))


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_places_are_found_whatever_the_order_of_cells_and_sums(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dimensions = [dimension(rng, f"d{n}") for n in range(int(rng.integers(1, 4)))]
    size = int(np.prod([len(d.leaves) for d in dimensions]))
    # No group of one value, which is one cell with it.
    table = filled(dimensions, rng.integers(1, 9, size))
    system = System.of([table])
    if len(system) < len(table.cells):
        return
    number = rng.permutation(len(system))
    matrix = system.matrix.tocsr()
    sums = []
    for row in rng.permutation(matrix.shape[0]):
        cells = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        signs = matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]]
        total = int(number[cells[signs > 0][0]])
        sums.append((total, tuple(int(c) for c in rng.permutation(number[cells[signs < 0]]))))
    file = JjFile({"value": [""] * len(system)}, sums)
    found = placed(file)
    assert found is not None
    places = [found[number[variable]] for variable in system.variables[0]]
    # The same up to the order of dimensions: a node has one label along one of them.
    shape = [len(d.labels) for d in dimensions]
    for column in range(len(shape)):
        labels = np.array([place[column] for place in places]).reshape(shape)
        along = [
            axis
            for axis in range(len(shape))
            if all(len({*np.take(labels, node, axis).ravel()}) == 1 for node in range(shape[axis]))
            and len({*labels.ravel()}) == shape[axis]
        ]
        assert along
    broken = JjFile(file.cells, sums[1:])
    assert placed(broken) is None
    total, parts = sums[0]
    assert placed(JjFile(file.cells, [*sums, (total, parts)])) is None


GOOD = "0\n3\n0 5 5 u 0 500 1 1 0\n1 7 7 s 0 500 0 0 0\n2 12 12 z 0 500 0 0 0\n1\n"
GOOD += "0 3 : 0 (1) 1 (1) 2 (-1)\n"


def test_a_file_of_another_program_is_read(tmp_path: Path) -> None:
    path = tmp_path / "in.jj"
    path.write_bytes(GOOD.replace(" ", "\t").replace("\n", "\r\n").encode() + b"\r\n")
    found = read_jj(path)
    assert placed(found) == [["1"], ["2"], ["Total"]]
    assert found.cells["status"] == ["U", "S", "P"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("0\n3\n", "1\n3\n", 2),
        ("0\n3\n", "0\nmany\n", 2),
        ("0 5 5 u", "1 5 5 u", 3),
        ("0 5 5 u", "0 5 5 q", 3),
        ("1 7 7 s", "1 x 7 s", 4),
        ("0 500 0 0 0\n1\n", "0 500 0 0 0\n2\n", 7),
        ("0 3 :", "4 3 :", 7),
        ("0 3 :", "0 2 :", 7),
        ("1 (1)", "1 (2)", 7),
        ("1 (1)", "9 (1)", 7),
        ("2 (-1)", "2 (-1) and more", 7),
        ("1 7 7 s 0 500 0 0 0\n", "", 4),
    ],
)
def test_other_lines_are_refused_with_their_number(
    tmp_path: Path, old: str, new: str, line: int
) -> None:
    assert old in GOOD
    path = tmp_path / "in.jj"
    path.write_text(GOOD.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError, match=f"in.jj, line {line}: ") as refused:
        read_jj(path)
    assert refused.value.code == "jj.line"


def test_sums_of_no_table_and_methods_for_persons_are_refused(
    context: AppContext, tmp_path: Path
) -> None:
    linked = GOOD.replace("\n1\n0 3", "\n2\n0 3") + "0 2 : 0 (1) 1 (-1)\n"
    (tmp_path / "in.jj").write_text(linked, "utf-8")
    head = '[source]\npath = "in.jj"\n'
    keys = f'[protection]\nmethod = "table"\nrows = ["dimension 1"]\n{READY}'
    with pytest.raises(InputError, match="not those of one table") as refused:
        run(context, tmp_path, "out", head + keys)
    assert refused.value.code == "jj.sums"
    (tmp_path / "in.jj").write_text(GOOD, "utf-8")
    keys = '[protection]\nmethod = "dp-cube"\ndimensions = ["dimension 1"]\nepsilon = 1\n'
    keys += 'domains = { "dimension 1" = ["1", "2"] }\n'
    head += 'missing = []\n[source.types]\n"dimension 1" = "text"\n'
    with pytest.raises(DpdeskError, match="no rows of persons"):
        run(context, tmp_path, "out", head + keys)
    assert not (tmp_path / "out").exists()
