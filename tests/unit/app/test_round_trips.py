"""Real files of SPSS, Stata and SAS through k-anonymity with generalisation, and back.

What a file says of its columns must come back where the release still shows what it is about:
variable labels, labels of the codes that are left, and which of these mean "no answer".
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.planning import PlacedPlan, prepare_rows
from dpdesk.app.running import write_release
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.labels import Variable
from dpdesk.io.planfile import read_plan
from tests.helpers.stat_files import head, real

pytestmark = pytest.mark.cheap_prints

_NAMED = os.environ.get("DPDESK_TEST_DATA", "")
_FOLDERS = ("statfiles", "misc")
_FILES = sorted(
    str(path.relative_to(_NAMED))
    for folder in _FOLDERS
    for path in (Path(_NAMED, folder).rglob("*") if _NAMED else ())
    if path.suffix in (".sav", ".zsav", ".dta", ".xpt")
)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def leaves_of(variable: Variable, place: int, rows: Sequence[Sequence[str]]) -> list[str]:
    """The values of a column that are not missing."""
    texts = {row[place] for row in rows if row[place]}
    return sorted(text for text in texts if not variable.missing.holds(text))


def chosen(variables: Sequence[Variable], rows: Sequence[Sequence[str]]) -> list[int]:
    """Two columns to generalise: those with most labels, of at most 40 values."""
    values = [len(leaves_of(one, place, rows)) for place, one in enumerate(variables)]
    fit = [place for place, count in enumerate(values) if 0 < count <= 40]
    fit.sort(key=lambda place: (-len(variables[place].value_labels), -values[place]))
    return sorted(fit[:2])


def written_plan(
    folder: Path, source: Path, variables: Sequence[Variable], rows: Sequence[Sequence[str]]
) -> Path:
    """A plan that merges pairs of values of two columns below the top."""
    lines = ["version = 1", "[source]", f'path = "{source}"', "[attributes]"]
    for place in chosen(variables, rows):
        one = variables[place]
        leaves = sorted(
            {row[place] for row in rows if row[place] and not one.missing.holds(row[place])}
        )
        name = f"h{place}.csv"
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";").writerows(
                [leaf, f"group {number // 2}", "*"] for number, leaf in enumerate(leaves)
            )
        key = one.name.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'"{key}" = {{ role = "quasi-identifier", hierarchy = "{name}" }}')
    k = 5 if len(rows) >= 100 else 2
    lines += ["[protection]", 'method = "k-anonymity"', f"k = {k}", "max_suppression = 0.5"]
    (folder / "plan.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder / "plan.toml"


def texts_of(variables: Sequence[Variable], rows: Sequence[Sequence[str]]) -> dict[str, set[str]]:
    return {one.name: {row[j] for row in rows} for j, one in enumerate(variables)}


@pytest.mark.data
@pytest.mark.parametrize("name", _FILES)
def test_what_a_real_file_says_of_its_columns_comes_back(
    name: str, tmp_path: Path, context: AppContext
) -> None:
    source = real(name)
    before = head(source, limit=100_000)
    plan = written_plan(tmp_path, source, before.variables, before.head)
    with prepare_rows(
        context, PlacedPlan(read_plan(plan), tmp_path, plan.name), CancelToken(), silent
    ) as ready:
        if len(before.head) == 1:  # nobody can be hidden among others there
            with pytest.raises(RefusedError):
                write_release(context, ready, tmp_path / "out", CancelToken(), silent)
            return
        out = write_release(context, ready, tmp_path / "out", CancelToken(), silent).out
    assert verify_release(out, context.registry, CancelToken(), silent).ok
    form = source.suffix.removeprefix(".").removeprefix("z")
    again = tmp_path / f"again.{form}"
    export_release(out, form, again, context.workspace, CancelToken(), silent)
    after = head(again, limit=100_000)
    with (out / "public/microdata.csv").open(encoding="utf-8", newline="") as file:
        published = [tuple(row) for row in csv.reader(file)][1:]
    assert [tuple(row) for row in after.head] == published
    check(before.variables, before.head, after.variables, after.head)


def check(
    before: Sequence[Variable],
    rows: Sequence[Sequence[str]],
    after: Sequence[Variable],
    kept_rows: Sequence[Sequence[str]],
) -> None:
    """Labels and missing codes of all values that the release still has as themselves."""
    raw, left = texts_of(before, rows), texts_of(after, kept_rows)
    old, new = ({one.name: one for one in each} for each in (before, after))
    assert set(new) == set(old)
    for name, one in new.items():
        was = old[name]
        assert one.label == was.label, name
        same = left[name] & raw[name]  # codes that are still themselves
        labels = {code: text for code, text in was.value_labels.items() if code in same}
        kept = {code: text for code, text in one.value_labels.items() if code in same}
        assert kept == labels, name
        assert one.value_labels.items() <= was.value_labels.items(), name
        for code in same:
            assert one.missing.holds(code) == was.missing.holds(code), (name, code)
