"""What the program refuses, each refusal brought about: German knows the sentence and its hint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.core.errors import DpdeskError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.language import voice_of
from dpdesk.engine.hierarchies import editing
from dpdesk.project.audit import FILE, AuditLog
from dpdesk.project.ledger.ledger import Ledger
from dpdesk.project.pseudonym_keys import PseudonymKeys
from dpdesk.project.review.cards import parse_card
from dpdesk.project.review.events import EventType
from dpdesk.project.review.keys import Argon2Cost, KeyStore
from dpdesk.project.review.permissions import require
from dpdesk.project.review.protocol import read_protocol
from dpdesk.project.review.texts import clean_person
from dpdesk.project.review.trust import TrustList
from tests.helpers import clinic, cubes, releases
from tests.helpers.debits import ask, open_here
from tests.helpers.reviewing import AUTHOR, BEN, NOON, STRANGER, TRUST, Play

CHEAP = Argon2Cost(time=1, lanes=1, kib=8)
GOOD, OTHER = "four words of nothing", "some other long phrase"
TOWNS = 'town = { role = "quasi-identifier" '
ORDER = TOWNS.rstrip() + ", hierarchy = "
TOWN = {
    "k-anonymity.table-too-small": ("k = 5", "k = 301"),
    "k-anonymity.infeasible": ("k = 5", "k = 200\nlevels = { age = 0, town = 0 }"),
    "k-anonymity.levels": ("k = 5", "k = 5\nlevels = { age = 1 }"),
    "k-anonymity.no-quasi-identifier": ('"quasi-identifier"', '"insensitive"'),
    "plan.unknown-method": ('"k-anonymity"', '"k-anonimity"'),
    "plan.unknown-key": ("k = 5", "kk = 5"),
    "plan.unknown-column": ("town = {", "towm = {"),
    "plan.syntax": ("k = 5", "k = "),
    "parameter.invalid": ("k = 5", "k = 1"),
    "storage.missing": (releases.SOURCE, "zq-nowhere.csv"),
    "hierarchy.options": ("widths = [5, 20]", "widths = [5, 7]"),
    "hierarchy.value": (TOWNS, ORDER + '{ kind = "intervals" }'),
    "hierarchy.missing-leaf": (TOWNS, ORDER + '{ kind = "order", order = ["a", "b"] }'),
}
"""By the code of the error: what to change in the plan of the town."""
CLINIC = {
    "diverted.not-eligible": 'l = 7\nsensitive = ["illness"]',
    "diverted.twice": 'l = 3\nsensitive = ["illness", "illness"]',
    "diverted.no-quasi-identifier": 'l = 3\nk = 5\nsensitive = ["illness"]',
}
CUBE: dict[str, dict[str, Any]] = {
    "cube.no-domain": {"domains": {"sex": ["f", "m"]}},
    "cube.domain": {"domains": {"sex": ["f", "f"], "region": ["north"]}},
    "cube.level": {"levels": {"age": 1, "sex": 1}},
    "cube.unknown-dimension": {"exact": [["sexx"]]},
    "cube.exact": {"publish": [["sex"]], "exact": [["sex"]]},
    "plan.unknown-column": {"measure": {"sum": "payy", "lower": 0, "upper": 5}},
    "cube.forbid": {"planner": "base", "forbid": [["sex", "region", "age"]]},
    "noise.scale": {"epsilon": 1e-30},
}


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


def german(action: Callable[[], object]) -> str:
    """The code of the error that an action ends with; German must know all that it says."""
    with pytest.raises(DpdeskError) as caught:
        action()
    for english in (caught.value.sentence, caught.value.hint):
        assert not english or voice_of("de").known(english) not in (None, english), english
    return caught.value.code


@pytest.mark.parametrize("code", TOWN)
def test_german_knows_what_k_anonymity_refuses(
    code: str, context: AppContext, tmp_path: Path
) -> None:
    plan = releases.write_source(tmp_path)
    text = plan.read_text("utf-8")
    assert TOWN[code][0] in text
    plan.write_text(text.replace(*TOWN[code]), "utf-8")
    assert german(lambda: releases.release(plan, tmp_path / "out", context)) == code


@pytest.mark.parametrize("code", CLINIC)
def test_german_knows_what_diverted_randomisation_refuses(
    code: str, context: AppContext, tmp_path: Path
) -> None:
    clinic.write_source(tmp_path)
    plan = clinic.write_plan(tmp_path, CLINIC[code])
    assert german(lambda: clinic.release(plan, tmp_path / "out", context)) == code


@pytest.mark.parametrize("code", CUBE)
def test_german_knows_what_cubes_refuse(code: str, context: AppContext, tmp_path: Path) -> None:
    register = cubes.write_register(tmp_path, cubes.people())
    plan = cubes.write_plan(register, **CUBE[code])
    assert german(lambda: cubes.release(context, plan, tmp_path / "out")) == code


def key_errors(folder: Path) -> dict[str, Callable[[], object]]:
    """What goes wrong with keys, cards and names."""
    keys = KeyStore(folder / "keys", cheap_for_tests=CHEAP)
    card = keys.create("Ben", GOOD, NOON)
    damaged = KeyStore(folder / "damaged", cheap_for_tests=CHEAP)
    broken = damaged.create("Ben", GOOD, NOON)
    (damaged.folder / f"{broken.fingerprint}.json").write_text("{}", "utf-8")
    pseudonyms = PseudonymKeys(folder / "pseudonyms", cheap_for_tests=CHEAP)
    pseudonyms.create("people")
    return {
        "key.passphrase": lambda: keys.unlock(card.fingerprint, OTHER),
        "key.passphrase-rule": lambda: keys.create("Clara", "short"),
        "key.missing": lambda: keys.find("Clara"),
        "key.damaged": lambda: damaged.unlock(broken.fingerprint, GOOD),
        "person.name": lambda: clean_person("\u0410nna"),
        "card.unreadable": lambda: parse_card(b"{}"),
        "trust.duplicate": lambda: TRUST.add(BEN.card, NOON),
        "trust.missing": lambda: TrustList().revoke("0" * 64, NOON, "lost"),
        "pseudonym-key.name": lambda: pseudonyms.create("a/b"),
        "pseudonym-key.exists": lambda: pseudonyms.create("People"),
        "pseudonym-key.missing": lambda: pseudonyms.open("others"),
    }


def file_errors(folder: Path) -> dict[str, Callable[[], object]]:
    """What goes wrong with ledgers, logs, releases, protocols and hierarchies."""
    notes = folder / "notes.txt"
    notes.write_text("no such thing\n" * 100, "utf-8")
    (folder / FILE).write_text("no such thing\n" * 100, "utf-8")
    (folder / "release").mkdir()
    tree = Hierarchy.from_rows("age", [("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*")])

    def exhausted() -> None:
        with open_here(folder / "ledger.sqlite") as ledger:
            ledger.debit(ask("0.75", rows=3), Fraction(1))
            ledger.debit(ask("0.5", rows=3), Fraction(1))

    return {
        "ledger.exhausted": exhausted,
        "ledger.not-a-ledger": lambda: open_here(notes),
        "ledger.missing": lambda: open_here(folder / "none.sqlite", create=False),
        "ledger.no-folder": lambda: open_here(folder / "none" / "ledger.sqlite"),
        "ledger.network": lambda: Ledger.open(folder / "l.sqlite", share=lambda _: "NFS"),
        "audit.unreadable": lambda: AuditLog.open_home(folder),
        "protocol.unreadable": lambda: read_protocol(notes),
        "hierarchy.level": lambda: editing.remove_level(tree, 2),
        "hierarchy.taken-label": lambda: editing.rename(tree, 1, "low", "high"),
        "hierarchy.unknown-value": lambda: editing.merge(tree, 1, ["lov"], "new"),
        "hierarchy.empty-label": lambda: editing.rename(tree, 1, "low", " "),
    }


@pytest.mark.parametrize("errors", [key_errors, file_errors])
def test_german_knows_what_keys_and_files_refuse(
    errors: Callable[[Path], dict[str, Callable[[], object]]], tmp_path: Path
) -> None:
    found = errors(tmp_path)
    assert [german(action) for action in found.values()] == list(found)


def test_german_knows_why_a_review_is_not_allowed_to_go_on() -> None:
    play = Play()
    said = [german(lambda: require(EventType.BALLOT, play.state, BEN.card))]
    play.submit()
    for action, who in (
        (EventType.BALLOT, AUTHOR),
        (EventType.BALLOT, STRANGER),
        (EventType.RELEASE, AUTHOR),
        (EventType.REVEAL, BEN),
        (EventType.WITHDRAW, BEN),
        (EventType.SUBMIT, BEN),
        (EventType.SUPERSEDE, AUTHOR),
    ):
        said.append(german(lambda a=action, w=who: require(a, play.state, w.card)))  # type: ignore[misc]
    play.cast(BEN)
    said.append(german(lambda: require(EventType.BALLOT, play.state, BEN.card)))
    said.append(german(lambda: require(EventType.REVEAL, play.state, BEN.card)))
    assert set(said) == {"review.not-allowed"}
