"""Tables that went out before are compared with new ones of the same population."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType

import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.exploring import explore
from dpdesk.app.exporting import export_release
from dpdesk.app.opening import open_work
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Note, silent
from dpdesk.core.plan import Plan
from dpdesk.core.release import CheckStatus
from dpdesk.io.canonical import canonical_json
from dpdesk.io.planfile import read_plan
from dpdesk.project.past_tables import PastTables
from dpdesk.project.review.votes import ItemStatus
from dpdesk.project.work import WorkState
from tests.helpers import cubes
from tests.helpers.forging import manifest_of, report_again, seal_again

pytestmark = pytest.mark.cheap_prints

COUNTS = {("n1", "A"): 9, ("n2", "A"): 8, ("n3", "B"): 2, ("s1", "B"): 7, ("s2", "B"): 6}
NORTH = "n1,North,*\nn2,North,*\nn3,North,*\ns1,South,*\ns2,South,*\n"
TOWNS = "n1,*\nn2,*\nn3,*\ns1,*\ns2,*\n"


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppContext]:
    monkeypatch.setenv("DPDESK_WITNESS", str(tmp_path / "outside" / "witness.jsonl"))
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five towns, two ways to put them together: by region, and by district."""
    made = tmp_path / "work"
    made.mkdir()
    lines = ["town,district,sex"]
    for (town, district), count in COUNTS.items():
        lines += [f"{town},{district},{'mf'[number % 2]}" for number in range(count)]
    (made / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (made / "north.csv").write_text(NORTH, "utf-8")
    return made


def release(
    context: AppContext,
    folder: Path,
    name: str,
    protection: str,
    population: str = "people",
    source: str = 'path = "people.csv"',
) -> tuple[Path, list[Note]]:
    path = folder / f"{name}.toml"
    top = f'version = 1\ntitle = "{name}"\n'
    top += f'population = "{population}"\n' if population else ""
    head = f'[source]\n{source}\n[attributes.town]\nhierarchy = "north.csv"\n'
    path.write_text(f'{top}{head}[protection]\nmethod = "table"\n{protection}', "utf-8")
    told: list[object] = []
    made = run_plan(context, path, folder / name, CancelToken(), told.append).out
    return made, [
        one for one in told if isinstance(one, Note) and "earlier" in one.sentence.lower()
    ]


BY_TOWN = 'rows = ["town"]\nrule = [{ rule = "threshold", n = 4 }]\n'
BY_DISTRICT = 'rows = ["district"]\n'


def export(context: AppContext, made: Path, out: Path) -> None:
    export_release(made, "csv", out, context.workspace, CancelToken(), silent)


def test_a_cell_that_an_earlier_table_shows_is_named(context: AppContext, folder: Path) -> None:
    loose = 'rows = ["town"]\nprotect = "none"\n'
    earlier, before = release(context, folder, "loose", loose)
    assert before == []
    _, unknown = release(context, folder, "not out", BY_TOWN)
    assert unknown == []  # it did not go out yet
    export(context, earlier, folder / "out.csv")
    made, (note,) = release(context, folder, "towns", BY_TOWN)
    assert note.code == "table.differenced"
    assert "`loose, " in note.sentence
    assert "2 suppressed cells computable" in note.sentence
    assert "`n3`" in note.sentence
    assert verify_release(made, context.registry, CancelToken(), silent).ok
    _, others = release(context, folder, "other people", BY_TOWN, "elsewhere")
    assert others == []


def test_merged_categories_are_compared_as_the_values_in_them(
    context: AppContext, folder: Path
) -> None:
    """An earlier table of merged towns tells what of the others is left; so does a later one."""
    merge = 'rows = ["town"]\nmerge = { town = { rest = ["n1", "n2"] } }\n'
    earlier, _ = release(context, folder, "merged", f'{merge}protect = "none"\n')
    export(context, earlier, folder / "out.csv")
    _, (note,) = release(context, folder, "towns", BY_TOWN)
    assert note.code == "table.differenced"
    assert "2 suppressed cells computable" in note.sentence
    _, (note,) = release(
        context, folder, "again", f'{merge}rule = [{{ rule = "threshold", n = 4 }}]\n'
    )
    assert note.code == "table.differenced"


WOMEN = 'path = "people.csv"\nquery = "SELECT * FROM data WHERE sex = \'f\'"'
MEN = WOMEN.replace("'f'", "'m'")


def test_a_table_of_some_rows_next_to_one_of_all_tells_the_others(
    context: AppContext, folder: Path
) -> None:
    """Who takes the women from all has the men; nobody is in a cell of the table of women alone."""
    loose = 'rows = ["town"]\nprotect = "none"\n'
    women, _ = release(context, folder, "women", loose, source=WOMEN)
    export(context, women, folder / "women.csv")
    _, (note,) = release(context, folder, "towns", BY_TOWN)
    assert note.code == "table.small-difference"  # one of two persons in n3 is a woman
    _, notes = release(context, folder, "men", BY_TOWN, source=MEN)
    assert [one.code for one in notes] == ["table.earlier-compared"]
    made, _ = release(context, folder, "all", loose)
    export(context, made, folder / "all.csv")
    men, notes = release(context, folder, "men again", BY_TOWN, source=MEN)
    assert [one.code for one in notes] == ["table.differenced"]
    assert "Earlier releases together" in notes[0].sentence
    assert verify_release(men, context.registry, CancelToken(), silent).ok
    checked = check_release(
        context, men, CancelToken(), silent, source=folder / "people.csv"
    ).checklist
    item = {item.id: item for item in checked.items}["other-tables"]
    assert item.status is ItemStatus.FAIL


def test_a_table_of_another_file_is_only_supposed_to_be_of_the_same_rows(
    context: AppContext, folder: Path
) -> None:
    loose = 'rows = ["town"]\nprotect = "none"\n'
    text = (folder / "people.csv").read_text("utf-8")
    (folder / "before.csv").write_text(text + "n1,A,m\n", "utf-8")
    earlier, _ = release(context, folder, "before", loose, source='path = "before.csv"')
    export(context, earlier, folder / "out.csv")
    made, (note,) = release(context, folder, "towns", BY_TOWN)
    assert note.code == "table.differenced-if"
    assert "If the earlier release `before, " in note.sentence
    source = folder / "people.csv"
    found = verify_release(made, context.registry, CancelToken(), silent, source, context.workspace)
    assert found.ok
    said = {claim.claim: claim.status for claim in found.claims}
    assert said["what earlier tables of the same people tell"] is CheckStatus.CONFIRMED
    checked = check_release(context, made, CancelToken(), silent, source=source).checklist
    item = {item.id: item for item in checked.items}["other-tables"]
    assert item.status is ItemStatus.REVIEW
    assert "If the earlier release `before, " in item.evidence
    _, (note,) = release(context, folder, "sexes", 'rows = ["sex"]\n')
    assert note.code == "table.earlier-compared-if"


def test_rows_that_cannot_be_followed_are_said_to_be_so(context: AppContext, folder: Path) -> None:
    """A sample, rows that are ordered and cut, a condition that no row of this file can have."""
    loose = 'rows = ["town"]\nprotect = "none"\n'
    first = WOMEN.replace("WHERE sex = 'f'", "ORDER BY town LIMIT 9")
    cases = (
        ("sample", f"{loose}sample = 0.5\n", 'path = "people.csv"'),
        ("first", loose, first),
    )
    for name, protection, source in cases:
        made, _ = release(context, folder, name, protection, source=source)
        export(context, made, folder / f"{name}.csv")
    _, notes = release(context, folder, "towns", BY_TOWN)
    assert [note.code for note in notes] == ["table.earlier-other-rows"]
    assert "2 earlier tables" in notes[0].sentence
    _, notes = release(context, folder, "same rows", BY_TOWN, source=first)
    codes = {note.code for note in notes}
    assert codes == {"table.earlier-other-rows", "table.earlier-compared"}
    _, notes = release(context, folder, "sampled", cases[0][1])
    assert [note.code for note in notes] == ["table.earlier-not-compared"]
    (folder / "before.csv").write_text("town,district,sex\n1,A,f\n1,A,f\n1,A,m\n", "utf-8")
    failing = WOMEN.replace("sex = 'f'", "CAST(town AS INTEGER) = 1").replace("people", "before")
    made, _ = release(context, folder, "failing", 'rows = ["sex"]\n', source=failing)
    export(context, made, folder / "failing.csv")
    _, notes = release(context, folder, "sexes", 'rows = ["sex"]\n')
    assert [note.code for note in notes] == ["table.earlier-other-rows"]
    assert "3 earlier tables" in notes[0].sentence


def test_the_register_says_of_rows_where_they_are_from_and_nothing_of_them(
    context: AppContext, folder: Path
) -> None:
    made, _ = release(context, folder, "women", 'rows = ["town"]\n', source=WOMEN)
    export(context, made, folder / "out.csv")
    register = PastTables(context.home, "people", "")
    (entered,) = register.releases()
    assert entered.rows is not None
    assert entered.rows.query == "SELECT * FROM data WHERE sex = 'f'"
    (path,) = (context.home / "released-tables").glob("*.json")
    raw = json.loads(path.read_text("utf-8"))
    assert set(raw["releases"][0]["rows"]) == {"source", "reading", "query", "edited"}
    raw["releases"][0].pop("rows")  # as an earlier version entered it
    path.write_bytes(canonical_json(raw))
    assert register.releases()[0].rows is None
    _, (note,) = release(context, folder, "towns", 'rows = ["sex"]\n')
    assert note.code == "table.earlier-compared-if"
    export(context, made, folder / "again.csv")
    assert register.releases() == (entered,)


def test_a_register_that_was_lost_or_put_back_is_named(context: AppContext, folder: Path) -> None:
    earlier, _ = release(context, folder, "loose", 'rows = ["town"]\nprotect = "none"\n')
    export(context, earlier, folder / "out.csv")
    register = context.home / "released-tables"
    old = {path: path.read_bytes() for path in register.glob("*.json")}
    districts, _ = release(context, folder, "districts", BY_DISTRICT)
    export(context, districts, folder / "districts.csv")

    for path, content in old.items():
        path.write_bytes(content)  # from a backup
    _, found = release(context, folder, "put back", BY_TOWN)
    assert [note.code for note in found] == ["table.earlier-missing", "table.differenced"]
    assert "1 earlier release " in found[0].sentence
    shutil.rmtree(register)
    _, found = release(context, folder, "lost", BY_TOWN)
    assert [note.code for note in found] == ["table.earlier-missing"]
    assert "2 earlier releases " in found[0].sentence

    for number, made in enumerate((earlier, districts)):
        export(context, made, folder / f"again {number}.csv")
    _, found = release(context, folder, "entered again", BY_TOWN)
    assert "table.earlier-missing" not in {note.code for note in found}


def test_the_window_says_it_of_each_setting(context: AppContext, folder: Path) -> None:
    earlier, _ = release(context, folder, "loose", 'rows = ["town"]\nprotect = "none"\n')
    export(context, earlier, folder / "out.csv")
    release(context, folder, "towns", BY_TOWN)
    work = WorkState.from_plan(read_plan(folder / "towns.toml"), folder)
    with closing(open_work(context, work, CancelToken(), silent)) as data:
        explored = explore(context, data, work, CancelToken(), silent)
        codes = [note.code for note in explored.view(work.parameters).notes]
        assert "table.differenced" in codes
        freed = {**work.parameters, "rule": []}
        codes = [note.code for note in explored.view(freed).notes]
        assert "table.differenced" not in codes


def test_areas_that_nest_imperfectly_are_named(context: AppContext, folder: Path) -> None:
    earlier, _ = release(context, folder, "districts", BY_DISTRICT)
    export(context, earlier, folder / "out.csv")
    made, notes = release(context, folder, "towns", BY_TOWN)
    found = {note.code: note.sentence for note in notes}
    # District B is n3, s1 and s2; with the published region South it tells n3 alone.
    assert "`n3`" in found["table.differenced"]
    assert verify_release(
        made, context.registry, CancelToken(), silent, folder / "people.csv", context.workspace
    ).ok


def test_noise_is_only_counted_and_harmless_tables_are_said_to_be(
    context: AppContext, folder: Path
) -> None:
    rounded = 'rows = ["town"]\nprotect = "random-round"\nbase = 5\n'
    made, _ = release(context, folder, "rounded", rounded)
    export(context, made, folder / "a.csv")
    made, _ = release(context, folder, "sexes", 'rows = ["sex"]\n')
    export(context, made, folder / "b.csv")
    _, notes = release(context, folder, "towns", BY_TOWN)
    assert [note.code for note in notes] == ["table.earlier-passed", "table.earlier-compared"]


def test_tables_of_a_cube_enter_with_what_is_exact_of_them(
    context: AppContext, folder: Path
) -> None:
    source = cubes.write_register(folder / "cube", cubes.people())
    plan = cubes.write_plan(source, levels=None, dimensions=["sex", "region"], exact=[["sex"]])
    made = cubes.release(context, plan, folder / "cube/release").out
    export(context, made, folder / "out.csv")
    export(context, made, folder / "again.csv")
    (entered,) = PastTables(context.home, "  Register ", "").releases()
    assert entered.title == "Register tables"
    known = {tuple(axis.name for axis in one.axes): one.known for one in entered.tables}
    assert len(known["sex",]) >= len(cubes.SEX)
    assert all(known["sex",])
    assert known["sex", "region"] == known["region",] == ()


def test_without_a_name_the_source_stands_for_its_people(context: AppContext, folder: Path) -> None:
    made, _ = release(context, folder, "loose", 'rows = ["town"]\nprotect = "none"\n', "")
    export(context, made, folder / "out.csv")
    _, (note,) = release(context, folder, "towns", BY_TOWN, "")
    assert note.code == "table.differenced"


def test_a_register_that_cannot_be_read_stops_the_release(
    context: AppContext, folder: Path
) -> None:
    made, _ = release(context, folder, "loose", 'rows = ["town"]\nprotect = "none"\n')
    export(context, made, folder / "out.csv")
    (path,) = (context.home / "released-tables").glob("*.json")
    path.write_text("{}", "utf-8")
    with pytest.raises(StorageError) as refused:
        release(context, folder, "towns", BY_TOWN)
    assert refused.value.code == "past.damaged"
    assert not (folder / "towns").exists()


def test_a_plan_names_its_population_once() -> None:
    base: dict[str, object] = {"version": 1, "source": {"path": "a.csv"}}
    base["protection"] = {"method": "table", "rows": ["a"]}
    plan = Plan.from_plain({**base, "population": "people"}, "plan.toml")
    assert plan.budget is not None
    assert plan.budget["population"] == "people"
    same = {**base, "population": "people", "budget": {"population": "people"}}
    assert Plan.from_plain(same, "plan.toml").budget == plan.budget
    with pytest.raises(InputError) as refused:
        Plan.from_plain({**same, "budget": {"population": "others"}}, "plan.toml")
    assert "population" in refused.value.sentence


TREE = "c1,1,*\nc2,1,*\nc3,2,*\nc4,2,*\nc5,3,*\nc6,3,*\n"


def test_tables_of_a_plan_by_columns_that_depend_on_each_other_are_compared(
    context: AppContext, folder: Path
) -> None:
    """Who knows that a district has the towns c1 and c2 adds up their suppressed cells.

    Suppression reckons with that; where cells are not protected from each other, a note says it.
    """
    counts = {"c1": (1, 9), "c2": (1, 8), "c3": (7, 9), "c4": (6, 9), "c5": (7, 9), "c6": (6, 9)}
    lines = ["town,district,sex"]
    for (town, both), district in zip(counts.items(), "112233", strict=True):
        lines += [f"{town},{district},{'fm'[sex]}" for sex in (0, 1) for _ in range(both[sex])]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    rule = 'rule = [{ rule = "threshold", n = 3 }]\nattacker = { lower = 0 }\n'
    tables = '[[protection.tables]]\nname = "districts"\nrows = ["district"]\ncolumns = ["sex"]\n'
    towns = '[[protection.tables]]\nname = "towns"\nrows = ["town"]\ncolumns = ["sex"]\n'
    path = folder / "linked.toml"
    (folder / "towns.csv").write_text(TREE, "utf-8")
    tree = '[attributes.town]\nhierarchy = "towns.csv"\n'
    full = rule.replace("n = 3", "n = 3, full = true")
    cases = (("", rule, 0), (tree, rule, 0), ("", full, 2))
    suppressed = []
    for number, (attributes, rules, told) in enumerate(cases):
        head = f'version = 1\n[source]\npath = "people.csv"\n{attributes}[protection]\n'
        path.write_text(f'{head}method = "table"\n{rules}{tables}{towns}', "utf-8")
        notes: list[object] = []
        made = run_plan(context, path, folder / f"case {number}", CancelToken(), notes.append).out
        found = [one for one in notes if isinstance(one, Note) and one.code == "table.together"]
        assert len(found) == told
        assert verify_release(made, context.registry, CancelToken(), silent).ok
        suppressed.append(
            {
                line
                for name in ("districts", "towns")
                for line in (made / f"public/tables/{name}.csv").read_text("utf-8").splitlines()
                if line.endswith(",,N")
            }
        )
        if told:
            assert "4 suppressed cells of `districts` are computable" in found[0].sentence
            assert "`1 × f`" in found[0].sentence
    assert suppressed[0] == suppressed[1] != suppressed[2]


def test_notes_that_no_check_finds_again_cannot_be_invented_and_are_not_relied_on(
    context: AppContext, folder: Path
) -> None:
    """Who takes away that an earlier table tells a cell is found out where it is looked at anew."""
    earlier, _ = release(context, folder, "loose", 'rows = ["town"]\nprotect = "none"\n')
    export(context, earlier, folder / "out.csv")
    made, (note,) = release(context, folder, "towns", BY_TOWN)
    evidence = json.loads((made / "internal/evidence.json").read_text("utf-8"))
    assert evidence["recorded_notes"] == [note.sentence]

    def sealed(notes: list[str], table: Mapping[str, object] = MappingProxyType({})) -> None:
        messages = {t: m for t, m in evidence["messages"].items() if t != note.sentence}
        changed = {**evidence, "recorded_notes": notes, "messages": messages | dict(table)}
        (made / "internal/evidence.json").write_text(json.dumps(changed), "utf-8")
        seal_again(made, manifest_of(made))
        report_again(made, context.registry)
        seal_again(made, manifest_of(made))

    words = "The data office has compared all tables."
    parts = {words: {"template": "{one}", "values": {"one": words}}}
    own = {words: {"template": words, "values": {}}}
    for table in ({}, parts, own):
        sealed([words], table)
        found = verify_release(made, context.registry, CancelToken(), silent)
        assert any("recorded_notes" in fault.reason for fault in found.failures), table

    for notes in ([], ["Earlier tables of the same population are not compared: the source has "
                       "cells, not rows."]):  # fmt: skip
        sealed(notes)
        assert verify_release(made, context.registry, CancelToken(), silent).ok
        checked = check_release(
            context, made, CancelToken(), silent, source=folder / "people.csv"
        ).checklist
        item = {item.id: item for item in checked.items}["other-tables"]
        assert item.status is ItemStatus.FAIL
        assert "2 suppressed cells computable" in item.evidence


def test_what_tables_of_a_plan_tell_is_compared_with_the_source(
    context: AppContext, folder: Path
) -> None:
    """Whoever takes the note on cells that tables give away together out of the evidence."""
    counts = {"c1": 3, "c2": 4, "c3": 1, "c4": 5}
    lines = [
        "town,district",
        *(f"{t},{d}" for t, d in zip(counts, "1122", strict=True) for _ in range(counts[t])),
    ]
    (folder / "in.csv").write_text("\n".join(lines) + "\n", "utf-8")
    path = folder / "linked.toml"
    tables = "".join(
        f'[[protection.tables]]\nname = "{c}s"\nrows = ["{c}"]\n' for c in ("district", "town")
    )
    rule = 'rule = [{ rule = "threshold", n = 2, full = true }]\n'
    head = 'version = 1\n[source]\npath = "in.csv"\n[protection]\nmethod = "table"\n'
    path.write_text(f"{head}{rule}{tables}", "utf-8")
    made = run_plan(context, path, folder / "linked", CancelToken(), silent).out
    evidence = json.loads((made / "internal/evidence.json").read_text("utf-8"))
    (told,) = [note for note in evidence["notes"] if "Next to the other tables" in note]
    evidence["notes"].remove(told)
    evidence["messages"].pop(told)
    (made / "internal/evidence.json").write_text(json.dumps(evidence), "utf-8")
    seal_again(made, manifest_of(made))
    report_again(made, context.registry)
    seal_again(made, manifest_of(made))
    source = folder / "in.csv"
    found = verify_release(made, context.registry, CancelToken(), silent, source)
    assert [claim.claim for claim in found.claims if claim.status is CheckStatus.FAILED]
