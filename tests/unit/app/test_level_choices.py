"""Levels of hierarchies as people choose them, from what is declared alone."""

from __future__ import annotations

from pathlib import Path

from dpdesk.app.private.labelling import LevelChoice, level_choices
from dpdesk.core.jobs import CancelToken
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile
from dpdesk.project.work import WorkState


def choices(base: Path, choice: HierarchyFile | HierarchyBuilder) -> tuple[LevelChoice, ...]:
    return level_choices(WorkState(base=base, hierarchies={"age": choice}), "age", CancelToken())


def test_levels_of_a_file_have_their_categories(tmp_path: Path) -> None:
    lines = "".join(f"{age};{age // 10 * 10}s;*\n" for age in range(20, 60))
    (tmp_path / "age.csv").write_text(lines)
    assert choices(tmp_path, HierarchyFile("age.csv")) == (
        LevelChoice(0, 40, ("20", "21", "22")),
        LevelChoice(1, 4, ("20s", "30s", "40s")),
        LevelChoice(2, 1, ("*",)),
    )


def test_intervals_have_no_declared_values_at_level_0(tmp_path: Path) -> None:
    builder = HierarchyBuilder("intervals", {"cuts": ((30, 60), (60,))})
    found = choices(tmp_path, builder)
    assert found[0] == LevelChoice(0, None)
    assert found[1] == LevelChoice(1, 3, ("<30", "30-59", "≥60"))


def test_nothing_is_known_without_a_declared_hierarchy(tmp_path: Path) -> None:
    assert choices(tmp_path, HierarchyFile("missing.csv")) == ()
    assert choices(tmp_path, HierarchyBuilder("mask", {})) == ()
    assert level_choices(WorkState(), "age", CancelToken()) == ()
