"""Changes of the sources are small, can be made, and come again with the same seed."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from shutil import copytree

import pytest

from tests.tools.mutate import ROOT, Importers, changes, chosen

SOURCE = '''"""A module."""

LIMIT = 3


def found(rows: list[int], least: int = 2) -> int | None:
    """Says 1 < 2."""
    if (len(rows)) < (least) or not rows:
        raise ValueError("é 1 + 1")
    rows.append(7)
    total = "é".count("é") + rows[0]
    total -= 1
    return total if least is not None else None
'''


def test_every_kind_of_change_is_found_and_no_sentence_is_touched() -> None:
    found = [change.described(SOURCE).replace("`", "") for change in changes(SOURCE)]
    condition = "if (len(rows)) < (least) or not rows:"
    total = 'total = "é".count("é") + rows[0]'
    assert found == [
        "off by one: def found(rows: list[int], least: int = 2) -> int | None: → "
        "def found(rows: list[int], least: int = 3) -> int | None:",
        f"branch: {condition} → if not ((len(rows)) < (least) or not rows):",
        f"comparison: {condition} → if (len(rows)) <= (least) or not rows:",
        f"operator: {condition} → if (len(rows)) < (least) and not rows:",
        "dropped: rows.append(7) → pass",
        "off by one: rows.append(7) → rows.append(8)",
        f'operator: {total} → total = "é".count("é") - rows[0]',
        f'off by one: {total} → total = "é".count("é") + rows[1]',
        "dropped: total -= 1 → pass",
        "off by one: total -= 1 → total -= 2",
        "branch: return total if least is not None else None → "
        "return total if (not (least is not None)) else None",
        "comparison: return total if least is not None else None → "
        "return total if least is None else None",
    ]


OF_EACH_KIND = 10
MODULES = ["engine/telling.py", "engine/decoys/partition.py", "verifiers/declared.py"]


@pytest.mark.parametrize("path", MODULES)
def test_every_change_of_a_module_can_be_read_and_is_one(path: str) -> None:
    source = (ROOT / "dpdesk" / path).read_text("utf-8")
    before, found = ast.dump(ast.parse(source)), changes(source)
    assert found
    kinds: Counter[str] = Counter()
    for change in found:
        kinds[change.kind] += 1
        if kinds[change.kind] > OF_EACH_KIND:
            continue
        assert ast.dump(ast.parse(change.made(source))) != before


def test_the_same_seed_chooses_the_same_changes_of_different_modules() -> None:
    first, again, other = (chosen(ROOT, 20, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({path for path, _ in first}) == len(first) == 20
    assert len({change.kind for _, change in first}) > 3


def test_the_nearest_tests_of_a_module_are_those_that_import_it(tmp_path: Path) -> None:
    """In a copy of a few folders: reading all of the program and its tests takes seconds."""
    for folder in ("dpdesk/engine/methods/l_diverted", "tests/unit/engine/methods/l_diverted"):
        copytree(ROOT / folder, tmp_path / folder)
    path = Path("dpdesk/engine/methods/l_diverted/groups.py")
    tests = Importers(tmp_path).nearest(path, 3)
    assert len(tests) == 3
    assert "l_diverted.groups" in (ROOT / tests[0]).read_text("utf-8")
