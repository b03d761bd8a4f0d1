"""Whatever leaf of manifest or evidence is forged, with all else made to fit, verifying tells.

The source is given, so that nothing may rest on "needs the source". What stays open is what the
program itself lists as the record of a run, each with the reason why nobody can repeat it.
"""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.evidence_checks import HIERARCHY_FILES_CLAIM, Basis, key_at
from dpdesk.app.idle_entries import IDLE_CLAIM
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.messages import texts_in
from dpdesk.core.release import VerifyReport
from tests.helpers.forging import canonical, manifest_of, seal_again
from tests.helpers.kinds import KINDS, Made
from tests.helpers.leaves import (
    EVIDENCE,
    MANIFEST,
    Forgery,
    file_forgeries,
    fit_again,
    forge,
    forgeries,
    seal_whatever_there_is,
)

SAMPLE = 16
"""Forgeries of each kind in an ordinary run, each of another place where there are so many: some
30 s of a processor for all kinds. All of them are made in the long runs.
"""
WITH_FILES = ("k-anonymity", "dp-cube, exact")
"""Kinds whose files are forged in an ordinary run: one of rows, one of tables."""
FOUND = (
    "manifest.json: deleted result/rows_suppressed",
    "evidence.json: added result",
    "evidence.json: added plan/attributes/town",
    "evidence.json: deleted plan/attributes/region/role",
    "evidence.json: changed plan/attributes/person/pseudonym/key",
    "evidence.json: changed pseudonyms/person/key_id",
    "evidence.json: added pseudonyms/person",
)
"""Forgeries that a long run found unseen once, tried in every run."""
SAYS_NOTHING = ("evidence.json: added plan/attributes/age/hierarchy/cuts",)
"""The last level of a hierarchy once more: such a plan gives the same release."""
OPEN = ("created", "title")
"""Of the manifest: when, and under which title, is what a signature vouches for."""


def is_open(forgery: Forgery) -> bool:
    """Whether a value rests on the record of the run alone, by the program's own list."""
    place = tuple(map(str, forgery.place))
    if str(forgery) in SAYS_NOTHING:
        return True
    if forgery.file == MANIFEST:
        return place[:1] in {(name,) for name in OPEN}
    if forgery.deed == "added" and place[-1:] == ("elsewhere",):
        place = (*place, "forged", "ledger")  # an entry of the list: a table of recorded values
    elif forgery.deed == "added":
        place = (*place, "forged")
    key = key_at(place)
    return key is not None and key.basis is Basis.RECORDED


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module", params=KINDS)
def made(
    request: pytest.FixtureRequest, context: AppContext, tmp_path_factory: pytest.TempPathFactory
) -> Made:
    return KINDS[request.param](tmp_path_factory.mktemp("kind"), context)


def test_the_genuine_release_verifies_with_its_source(made: Made, context: AppContext) -> None:
    release, source = made
    found = verified(release, source, context)
    assert found.ok, found.failures
    assert not found.not_checked()


def verified(release: Path, source: Path, context: AppContext) -> VerifyReport:
    """What checking with the source says."""
    return checked(release, context, source)


def checked(release: Path, context: AppContext, source: Path | None) -> VerifyReport:
    """What checking says, with the source or without."""
    return verify_release(
        release, context.registry, CancelToken(), silent, source, context.workspace
    )


def unseen(made: Made, context: AppContext, chosen: list[Forgery], folder: Path) -> list[str]:
    """Forgeries that verifying with the source passed without a word."""
    release, source = made
    passed = []
    for number, forgery in enumerate(chosen):
        target = forge(release, folder / str(number), forgery, context.registry)
        found = verified(target, source, context)
        if found.ok and not found.not_checked():
            passed.append(str(forgery))
    return passed


def sampled(everything: list[Forgery], most: int) -> list[Forgery]:
    """So many of them, the same in each run: long tables and lists count as one place each.

    Every deed is done to both files, whatever the places.
    """
    mixed = random.Random(16).sample(everything, len(everything))
    chosen: list[Forgery] = []
    for depth in (0, 3):
        first: dict[tuple[object, ...], Forgery] = {}
        for each in mixed:
            first.setdefault((each.file, each.deed, each.place[:depth]), each)
        chosen += [each for each in first.values() if each not in chosen]
    return (chosen + [each for each in mixed if each not in chosen])[:most]


def test_no_forged_leaf_passes_in_silence(made: Made, context: AppContext, tmp_path: Path) -> None:
    everything = [each for each in forgeries(made[0]) if not is_open(each)]
    chosen = sampled(everything, SAMPLE)
    chosen += [each for each in everything if str(each) in FOUND and each not in chosen]
    assert unseen(made, context, chosen, tmp_path) == []


def entries(release: Path) -> Iterator[tuple[str, str, object]]:
    """Column, key and another value of what the plan may say of it; an entry that says nothing is
    none.
    """
    evidence = json.loads((release / EVIDENCE).read_text("utf-8"))
    given = evidence["plan"]["attributes"]
    roles = ("identifier", "quasi-identifier", "sensitive", "cluster")
    for name in dict.fromkeys([*given, *evidence["source"]["columns"]]):
        there = given.get(name, {"role": "insensitive"})
        for role in roles if "pseudonym" not in there else ():
            yield from [(name, "role", role)] if role != there["role"] else []
        tree = {"kind": "tree", "groups": {"a": ["b"]}}
        for other in ("other.csv", {"kind": "mask"}, {"kind": "intervals", "widths": [10]}, tree):
            yield from [(name, "hierarchy", other)] if other != there.get("hierarchy") else []
        yield from [(name, "hierarchy", None)] if "hierarchy" in there else []


def with_entry(made: Made, context: AppContext, entry: tuple[str, str, object], out: Path) -> Path:
    """A copy whose plan says something else of a column, and the evidence of its role with it."""
    name, key, value = entry
    release = Path(shutil.copytree(made[0], out))
    (release / "internal/report.pdf").unlink()
    evidence = json.loads((release / EVIDENCE).read_text("utf-8")) | {"printed": False}
    spec = evidence["plan"]["attributes"].setdefault(name, {"role": "insensitive"})
    spec[key] = value
    if value is None:
        del spec[key]
    if key == "role":
        evidence["roles"][name] = value
    (release / EVIDENCE).write_bytes(canonical(evidence))
    fit_again(release, context.registry)
    return release


def unnamed(
    made: Made, context: AppContext, chosen: list[tuple[str, str, object]], folder: Path
) -> list[tuple[str, str, object]]:
    """Entries that verifying with the source passed, and did not name as recorded alone."""
    passed = []
    for number, entry in enumerate(chosen):
        target = with_entry(made, context, entry, folder / str(number))
        found = verified(target, made[1], context)
        kind = "the roles of" if entry[1] == "role" else "the hierarchies of"
        told = [check.found for check in found.claims if check.claim == IDLE_CLAIM]
        named = any(
            f"{kind} columns" in text or f"`{entry[0]}`" in text[text.find(kind) :]
            for text in told
            if kind in text
        )
        files = [check for check in found.claims if check.claim == HIERARCHY_FILES_CLAIM]
        named |= any(f"`{entry[2]}`" in check.found for check in files)
        if found.ok and not found.not_checked() and not named:
            passed.append(entry)
    return passed


def test_no_entry_of_a_column_is_forged_unnamed(
    made: Made, context: AppContext, tmp_path: Path
) -> None:
    """Hierarchies and roles, of columns that the method uses and of others."""
    every = list(entries(made[0]))
    chosen = random.Random(1).sample(every, min(4, len(every)))
    evidence = json.loads((made[0] / EVIDENCE).read_text("utf-8"))
    # A hierarchy that is used, made by another builder, which the recorded rows hid once.
    used = [name for name, spec in evidence["plan"]["attributes"].items() if "hierarchy" in spec]
    chosen += [(name, "hierarchy", {"kind": "mask"}) for name in used[:1]]
    assert unnamed(made, context, chosen, tmp_path) == []


@pytest.mark.soak
def test_no_entry_of_any_column_is_forged_unnamed(
    made: Made, context: AppContext, tmp_path: Path
) -> None:
    assert unnamed(made, context, list(entries(made[0])), tmp_path) == []


def _other_forms(told: object) -> Iterator[dict[str, Any]]:
    """What says how a text reads for one and for many."""
    if isinstance(told, dict):
        yield from [told] if "one" in told else []
        told = list(told.values())
    for item in told if isinstance(told, list) else ():
        yield from _other_forms(item)


def test_no_template_of_a_sentence_is_forged_in_silence(
    made: Made, context: AppContext, tmp_path: Path
) -> None:
    """What no text shows: the form for another number, and forms of a sentence without number."""
    release, source = made
    manifest: dict[str, Any] = manifest_of(release)
    plain = next(text for text in manifest["guarantee"]["assumes"] if not set(text) & set("{}"))
    for number in range(-1, len(list(_other_forms(manifest["messages"])))):
        forged = copy.deepcopy(manifest)
        told = list(_other_forms(forged["messages"]))
        if number < 0:
            several = {"one": plain, "many": "Nobody.", "count": 1, "values": {"n": "1"}}
            forged["messages"][plain] = several
        else:
            told[number]["many" if told[number]["count"] == 1 else "one"] = "Nobody."
        target = Path(shutil.copytree(release, tmp_path / str(number)))
        seal_again(target, forged)
        failures = verified(target, source, context).failures
        assert any("`messages`" in failure.reason for failure in failures), number


def _without_any(table: dict[str, Any], told: list[str]) -> None:
    table.clear()


def _without_one(table: dict[str, Any], told: list[str]) -> None:
    del table[random.Random(7).choice(told)]


def _made_otherwise(table: dict[str, Any], told: list[str]) -> None:
    """The same English text, which another language would say in other words."""
    text = told[-1]
    table[text] = {"template": "{claim}{rest}", "values": {"claim": text[:9], "rest": text[9:]}}


def _forge_messages(
    release: Path, name: str, keys: tuple[str, ...], forge_table: Callable[..., None]
) -> bool:
    """Forge of what the texts under some keys of a file are made; whether there are any."""
    content = json.loads((release / name).read_text("utf-8"))
    table = content["messages"]
    told = sorted({*texts_in([content[key] for key in keys])} & {*table})
    if told:
        forge_table(table, told)
        (release / name).write_bytes(canonical(content))
    return bool(told)


@pytest.mark.parametrize("forge_table", [_without_any, _without_one, _made_otherwise])
def test_what_texts_are_made_of_is_neither_missing_nor_other(
    made: Made, context: AppContext, tmp_path: Path, forge_table: Callable[..., None]
) -> None:
    """Of the guarantee without the source, in either file or both; with it, of all other texts."""
    release, source = made
    for number, files in enumerate(((MANIFEST,), (EVIDENCE,), (MANIFEST, EVIDENCE))):
        target = Path(shutil.copytree(release, tmp_path / str(number)))
        if sum(_forge_messages(target, name, ("guarantee",), forge_table) for name in files):
            seal_whatever_there_is(target)
            failures = checked(target, context, None).failures
            assert any("`messages`" in failure.reason for failure in failures), files
    target = Path(shutil.copytree(release, tmp_path / "other"))
    assert _forge_messages(target, EVIDENCE, ("checks", "figures", "charts", "notes"), forge_table)
    seal_whatever_there_is(target)
    failures = verified(target, source, context).failures
    assert any("`messages`" in failure.reason for failure in failures)


@pytest.mark.parametrize("made", WITH_FILES, indirect=True)
def test_no_file_is_changed_removed_or_added_in_silence(
    made: Made, context: AppContext, tmp_path: Path
) -> None:
    assert unseen_files(made, context, tmp_path) == []


@pytest.mark.soak
def test_no_file_of_any_kind_is_changed_in_silence(
    made: Made, context: AppContext, tmp_path: Path
) -> None:
    assert unseen_files(made, context, tmp_path) == []


def unseen_files(made: Made, context: AppContext, folder: Path) -> list[str]:
    """Changes of files that verifying with the source passed without a word."""
    release, source = made
    passed = []
    for number, (name, forge_file) in enumerate(file_forgeries(release)):
        target = folder / str(number)
        shutil.copytree(release, target)
        forge_file(target)
        seal_whatever_there_is(target)
        found = verified(target, source, context)
        if found.ok and not found.not_checked():
            passed.append(name)
    return passed


@pytest.mark.soak
def test_no_forged_leaf_at_all_passes_in_silence(
    made: Made, context: AppContext, tmp_path: Path
) -> None:
    chosen = [each for each in forgeries(made[0]) if not is_open(each)]
    assert unseen(made, context, chosen, tmp_path) == []
