"""Conditions of a private method: what one row holds refuses nothing for the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import read_source
from dpdesk.io.private.row_filter import read_filter
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

KEYS = {
    "encoding": "utf-8", "delimiter": ",", "decimal": ".", "quote": '"', "header": True,
    "missing": [""], "types": {"age": "text", "txt": "text"},
}  # fmt: skip
GOOD = [("1", "a"), ("0", "b"), ("t", "c")]
ODD = [("zz", "["), ("[", "("), ("\\", "\\"), ("20", "a{2"), ("99999999999999999999", "1e400")]
CONDITIONS = [
    "age",
    "NOT age",
    "age AND txt = 'a'",
    "CASE WHEN txt = 'a' THEN age ELSE age END",
    "age::BOOLEAN",
    "txt ~ age",
    "txt LIKE age",
    "txt SIMILAR TO age",
    "date_part(age, DATE '2020-01-01') > 1",
    "CAST(age AS TINYINT) * 100 > 0",
    "sqrt(CAST(age AS DOUBLE) - 1) >= 0",
    "substr(txt, CAST(age AS BIGINT)) = ''",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_odd_row_leaves_the_fate_of_the_others_alone(condition: str, tmp_path: Path) -> None:
    def kept(rows: list[tuple[str, str]]) -> list[tuple[str, ...]]:
        lines = "".join(f"{age},{txt}\n" for age, txt in rows)
        (tmp_path / "d.csv").write_text(f"age,txt\n{lines}")
        query = f"SELECT * FROM data WHERE {condition}"
        spec = read_source({"path": "d.csv", "query": query, **KEYS}, "the test")
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent, private=True)
        try:
            return [tuple(row) for row in store.page(0, 99)]
        finally:
            store.close()

    workspace = Workspace.open(tmp_path / "home")
    try:
        alone = kept(GOOD)
        for odd in ODD:
            assert [row for row in kept([*GOOD, odd]) if row in GOOD] == alone, odd
    finally:
        workspace.close()


@pytest.mark.parametrize("kind", ["LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"])
@pytest.mark.parametrize("pattern", ["age ESCAPE '!'", "'a' ESCAPE age", "'a!' ESCAPE '!'"])
def test_a_function_whose_faults_cannot_be_caught_is_refused_at_once(
    kind: str, pattern: str
) -> None:
    query = f"SELECT * FROM data WHERE txt {kind} {pattern}"
    spec = read_source({"path": "d.csv", "query": query, **KEYS}, "the test")
    with pytest.raises(InputError, match="ESCAPE"):
        read_filter(spec, "the test")
