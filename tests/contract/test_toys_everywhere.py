"""Methods that nobody has heard of go through every use-case: one that says nothing of itself, one
that releases rows and spends nothing, one that does so and states ε, one that spends ε.

What a method does not say is refused in a sentence or fails until a person decides; nowhere does it
pass, and nowhere does anything say that it spends nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpdesk.app import browsing, buying, exploring, shops
from dpdesk.app.checklists import ItemStatus, check_release
from dpdesk.app.combining import open_together
from dpdesk.app.comparing import compare_plan, compare_work, true_answer_of_work
from dpdesk.app.context import AppContext
from dpdesk.app.describing import fit_file
from dpdesk.app.exporting import export_release
from dpdesk.app.guide import guide_pages, method_guide
from dpdesk.app.ledgers import ledger_path
from dpdesk.app.opening import open_work
from dpdesk.app.private.trial import try_plan, try_work
from dpdesk.app.private.trying import outlook, trying_input
from dpdesk.app.querying import open_release, true_answer
from dpdesk.app.review.acting import ActionRequest as Submitted
from dpdesk.app.review.acting import submit
from dpdesk.app.review.packing import write_pack
from dpdesk.app.review.review_picture import look
from dpdesk.app.risk import assess, plan_risk, release_risk
from dpdesk.app.running import prepare_plan, run_plan
from dpdesk.app.signing import make_key, unlock
from dpdesk.app.verifying import verify_release
from dpdesk.core.capabilities import UNKNOWN
from dpdesk.core.errors import DpdeskError, RefusedError
from dpdesk.core.export_formats import FORMATS, suffix_of
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.query import Query
from dpdesk.engine.method import Method
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.registry import Registry
from dpdesk.io.planfile import read_plan
from dpdesk.project.ledger import Ledger
from dpdesk.project.review.policy import AGENCY_POLICY, Policy
from dpdesk.project.work import WorkState
from tests.contract.toys import ROWS, SAID, Bare, Promising, saying, toy, write_plan

LANGUAGES = ("en", "de")
ROOT = Path(__file__).parents[2]
NOTHING = re.compile(
    r"spends? (nothing|none|no )|no budget|nothing is spent|"
    r"(verbraucht|gibt) (nichts|kein)|kein Budget",
    re.IGNORECASE,
)
"""Statements that only a method may make of itself."""


@dataclass(frozen=True)
class Case:
    """A plan of a toy with a release of it, in a program that knows the toy; a folder to write."""

    room: AppContext
    kind: str
    plan: Path
    release: Path
    folder: Path

    @property
    def work(self) -> WorkState:
        return WorkState.from_plan(read_plan(self.plan), self.plan.parent)

    @property
    def shop(self) -> shops.Shop:
        return shops.shop_of_file(self.plan)


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        policy = 'version = 1\ntitle = "Rules"\n[limits]\nmaximum_epsilon = 60\n'
        (opened.home / AGENCY_POLICY).write_text(policy, "utf-8")
        yield opened


def knowing(context: AppContext, kind: str) -> AppContext:
    """The program with the toys of this file; the silent one says nothing of what it is."""
    if kind == "silent":
        return saying(context, "rows", UNKNOWN)
    if kind == "promising":
        made = Promising()
        vars(made)["capabilities"] = ROWS
        return replace(context, registry=Registry((*default_registry(), made)))
    return saying(context, kind, SAID[kind])


def planned(folder: Path, kind: str) -> Path:
    plan = write_plan(folder, {"silent": "rows", "promising": "rows"}.get(kind, kind))
    if kind == "promising":
        plan.write_text(plan.read_text("utf-8").replace("toy-rows", Promising.id), "utf-8")
    return plan


KINDS = ("silent", "rows", "promising", "tables")


@pytest.fixture(scope="module")
def cases(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Case]:
    found = {}
    for kind in KINDS:
        folder = tmp_path_factory.mktemp(kind)
        plan, room = planned(folder, kind), knowing(context, kind)
        maker = saying(context, "rows", ROWS) if kind == "silent" else room
        out = run_plan(maker, plan, folder / "release", CancelToken(), silent).out
        found[kind] = Case(room, kind, plan, out, folder)
    return found


def with_data(case: Case, act: Callable[..., object]) -> object:
    with closing(open_work(case.room, case.work, CancelToken(), silent)) as data:
        return act(case.room, data, case.work, CancelToken(), silent)


def with_outlook(case: Case) -> object:
    with closing(open_work(case.room, case.work, CancelToken(), silent)) as data:
        return outlook(case.room, data, case.work, CancelToken())


def asked_truth(case: Case) -> object:
    opened = open_release(case.room, case.release, CancelToken(), silent)
    source, query = case.plan.parent / "people.csv", Query({}, ())
    return true_answer(case.room, opened, source, query, CancelToken(), silent)


def asked_truth_of_work(case: Case) -> object:
    with closing(open_work(case.room, case.work, CancelToken(), silent)) as data:
        query = Query({}, ())
        return true_answer_of_work(case.room, data, case.work, query, CancelToken(), silent)


def released(case: Case) -> object:
    with closing(open_work(case.room, case.work, CancelToken(), silent)) as data:
        out = case.folder / "released in the window"
        return exploring.release_work(case.room, data, case.work, out, CancelToken(), silent).out


def viewed(case: Case) -> object:
    with closing(open_work(case.room, case.work, CancelToken(), silent)) as data:
        found = exploring.explore(case.room, data, case.work, CancelToken(), silent)
        return found.view(case.work.parameters)


def exported(file_format: str) -> Callable[[Case], object]:
    def act(case: Case) -> object:
        out = case.folder / f"as {file_format}{suffix_of(file_format)}"
        room = case.room
        return export_release(
            *(case.release, file_format, out, room.workspace, CancelToken(), silent),
            registry=room.registry,
        )

    return act


def packed(ending: str, language: str) -> Callable[[Case], object]:
    def act(case: Case) -> object:
        out = case.folder / f"pack-{language}{ending}"
        return write_pack(case.room, case.release, out, CancelToken(), silent, language=language)

    return act


def submitted(case: Case) -> object:
    words = "a long enough passphrase of no one"
    key = make_key(case.room, f"author of {case.kind}", words)
    signer = unlock(case.room, key.fingerprint, words)
    return submit(case.room, case.release, signer, Submitted(), CancelToken(), silent)


def wished() -> buying.TableRequest:
    return buying.TableRequest(("sex",), ("epsilon", Fraction(1)))


TOKEN = (CancelToken(), silent)


def method_of(case: Case) -> Method:
    return case.room.registry.get(read_plan(case.plan).protection.method, "")


def carded(case: Case) -> list[str]:
    """What the guide's page of the method says, in both languages."""
    method = method_of(case)
    pages = (page for code in LANGUAGES for page in guide_pages([method], code))
    return [page.text for page in pages if page.id == method.id]


USES: dict[str, Callable[[Case], object]] = {
    "run": lambda c: run_plan(c.room, c.plan, c.folder / "again", *TOKEN),
    "run in the window": released,
    "prepare": lambda c: prepare_plan(c.room, c.plan, *TOKEN).notes,
    "risk of a plan": lambda c: plan_risk(c.room, c.plan, *TOKEN),
    "risk of a release": lambda c: release_risk(c.room, c.release, CancelToken()),
    "assess": lambda c: assess(c.room, c.release, *TOKEN),
    "trial": lambda c: try_plan(c.room, c.plan, *TOKEN),
    "trial in the window": lambda c: with_data(c, try_work),
    "settings to try": lambda c: str(with_data(c, trying_input)),
    "explore": viewed,
    "candidate": lambda c: with_data(c, exploring.make_candidate),
    "outlook": with_outlook,
    "fit another file": lambda c: fit_file(c.room, c.plan, c.plan.parent / "people.csv", *TOKEN),
    "compare": lambda c: compare_plan(c.room, c.plan, *TOKEN),
    "compare in the window": lambda c: with_data(c, compare_work),
    "the truth in the window": asked_truth_of_work,
    "the truth of a release": asked_truth,
    "offer": lambda c: buying.make_offer(c.room, c.shop, wished(), (c.release,), *TOKEN),
    "buy": lambda c: buying.buy(c.room, c.shop, wished(), (), c.folder / "bought", *TOKEN)[0],
    "describe a cube": lambda c: browsing.planned_cube(c.room, c.shop, *TOKEN).title,
    "verify": lambda c: verify_release(c.release, c.room.registry, *TOKEN),
    "checklist": lambda c: check_release(c.room, c.release, *TOKEN).checklist,
    "review": lambda c: look(c.room, c.release, *TOKEN).checked.checklist,
    "submit": submitted,
    "query": lambda c: open_release(c.room, c.release, *TOKEN).about,
    "browse": lambda c: browsing.open_cube(c.room, c.release, *TOKEN).claim,
    "several together": lambda c: open_together(c.room, (c.release,), *TOKEN).about,
    "guide": lambda c: method_guide([method_of(c)]),
    "card": carded,
    **{f"export {name}": exported(name) for name in FORMATS},
    **{
        f"pack {end} {code}": packed(end, code)
        for end in (".html", ".pdf")
        for code in ("en", "de")
    },
}


def words_of(value: object) -> Iterator[str]:
    """All that a value says, the files that it names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, Path) and value.exists():
        files = [value] if value.is_file() else sorted(value.rglob("*"))
        for path in files:
            if path.suffix in (".html", ".json", ".xml", ".csv"):
                yield path.read_text("utf-8")
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from words_of(key)
            yield from words_of(each)
    elif isinstance(value, list | tuple | frozenset | set):
        for each in value:
            yield from words_of(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from words_of(getattr(value, field.name))


def outcome(case: Case, use: str) -> tuple[str, str]:
    """The code with which a use-case refuses (empty where it does not), and all that it says."""
    try:
        value = USES[use](case)
    except DpdeskError as error:
        return error.code, f"{error.sentence} {error.hint}"
    return "", "\n".join(words_of(value))


REFUSED = {
    "risk of a release": "risk.silent-method",
    "assess": "risk.not-verified",
    "submit": "review.not-verified",
    "buy": "buy.no-cube",
    "describe a cube": "buy.no-cube",
    **dict.fromkeys(
        ("query", "browse", "several together", "offer", "the truth of a release"),
        "release.not-intact",
    ),
    **dict.fromkeys((f"export {name}" for name in FORMATS), "export.not-verified"),
    **dict.fromkeys(
        (
            *("run", "run in the window", "prepare", "risk of a plan", "trial"),
            *("trial in the window", "settings to try", "explore", "candidate", "outlook"),
            *("compare", "compare in the window", "the truth in the window"),
        ),
        "plan.silent-method",
    ),
}
"""With which code a use-case refuses a method that says nothing of itself."""
TELLING = frozenset(USES) - REFUSED.keys()
NOISE_ALONE = frozenset(("settings to try", "outlook"))
"""What the window asks only of methods that say that they spend a budget."""


@pytest.mark.parametrize("use", sorted(REFUSED))
def test_a_method_that_says_nothing_is_refused_in_words(
    cases: Mapping[str, Case], use: str
) -> None:
    code, text = outcome(cases["silent"], use)
    assert code == REFUSED[use]
    assert not NOTHING.search(text)
    assert not (cases["silent"].folder / "again").exists()


@pytest.mark.parametrize("use", sorted(TELLING))
def test_what_is_told_of_such_a_method_never_says_that_it_spends_nothing(
    cases: Mapping[str, Case], use: str
) -> None:
    code, text = outcome(cases["silent"], use)
    assert code == ""
    assert text or ".pdf" in use
    assert not NOTHING.search(text)
    assert use == "guide" or ".pdf" in use or "does not say" in text or "sagt nicht" in text


def test_such_a_method_fails_the_checklist_and_nobody_is_said_not_to_be_alone(
    cases: Mapping[str, Case],
) -> None:
    case = cases["silent"]
    found = check_release(case.room, case.release, CancelToken(), silent).checklist
    for name in ("verified", "known-method", "epsilon"):
        assert found.item(name).status is ItemStatus.FAIL
    assert found.item("uniques").evidence.startswith("The method does not say how it protects")
    passed = {item.id for item in found.items if item.status is ItemStatus.PASS}
    assert passed <= {"policy", "method", "mode", "public-fields"}


@pytest.mark.parametrize("kind", ["rows", "promising", "tables"])
@pytest.mark.parametrize("use", sorted(USES))
def test_methods_that_say_what_they_are_answer_or_are_refused_in_words(
    cases: Mapping[str, Case], kind: str, use: str
) -> None:
    if use in NOISE_ALONE and kind != "tables":
        return
    code, text = outcome(cases[kind], use)
    assert code not in ("plan.silent-method", "release.not-intact", "review.not-verified")
    if kind == "tables":
        assert not NOTHING.search(text)
    if kind == "promising" and not use.startswith("trial"):
        own_words = re.compile(r"says that it spends nothing|gibt an, nichts")
        assert not NOTHING.search(own_words.sub("", text))


def test_a_stated_loss_that_nothing_pays_for_fails_and_is_held_against_the_policy(
    cases: Mapping[str, Case],
) -> None:
    case = cases["promising"]
    found = check_release(case.room, case.release, CancelToken(), silent).checklist
    assert found.item("known-method").status is ItemStatus.FAIL
    assert "ε = 50" in found.item("known-method").evidence
    assert "spends ε = 50" in found.item("epsilon").evidence
    strict = Policy.from_plain({"version": 1, "title": "t", "limits": {"maximum_epsilon": 1}}, "p")
    for kind in ("promising", "tables"):
        case = cases[kind]
        checked = check_release(case.room, case.release, CancelToken(), silent, strict).checklist
        assert checked.item("epsilon").status is ItemStatus.FAIL


def test_a_format_that_a_method_does_not_name_is_refused_without_a_word_on_what_it_holds(
    cases: Mapping[str, Case],
) -> None:
    code, text = outcome(cases["rows"], "export csvw")
    assert code == "export.format"
    assert "does not say that its releases fit the format `csvw`" in text


def spent(room: AppContext) -> int:
    """How many debits the ledger of a computer holds."""
    path = ledger_path(room, room.home)
    if not path.is_file():
        return 0
    with closing(Ledger.open(path, create=False)) as ledger:
        return len(ledger.book.debits)


def test_tables_that_the_pages_cannot_tell_are_refused_before_anything_is_paid(
    context: AppContext, tmp_path: Path
) -> None:
    made = Bare()
    room = replace(context, registry=Registry((*default_registry(), made)))
    plan = planned(tmp_path, "tables")
    plan.write_text(plan.read_text("utf-8").replace("toy-tables", Bare.id), "utf-8")
    before = spent(room)
    out = tmp_path / "out"
    with pytest.raises(RefusedError) as caught:
        run_plan(room, plan, out, CancelToken(), silent)
    assert caught.value.code == "release.no-page"
    assert "no room" in caught.value.sentence
    assert spent(room) == before
    assert not out.exists()


@pytest.mark.parametrize("use", ["query", "browse", "several together", "offer"])
def test_a_release_that_tells_what_its_method_does_not_list_answers_nothing(
    context: AppContext, cases: Mapping[str, Case], use: str
) -> None:
    case, unlisting = cases["tables"], toy("tables", SAID["tables"])
    vars(unlisting)["public_fields"] = ()
    room = replace(context, registry=Registry((*default_registry(), unlisting)))
    assert not verify_release(case.release, room.registry, CancelToken(), silent).ok
    code, text = outcome(replace(case, room=room), use)
    assert code == "release.not-listed"
    assert "not among the public" in text


def modules_that_ask_methods() -> set[str]:
    """The modules of the use-cases that name the registry, a kind of method or a capability."""
    found = set()
    for path in (ROOT / "dpdesk" / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            named = getattr(node, "attr", None) == "registry"
            module = getattr(node, "module", None) or ""
            if named or module in ("dpdesk.engine.registry", "dpdesk.core.capabilities"):
                found.add(path.relative_to(ROOT / "dpdesk" / "app").with_suffix("").as_posix())
    return found


ENTERED: dict[str, tuple[str, ...]] = {
    "browsing": ("browse", "describe a cube"),
    "buying": ("offer", "buy"),
    "checking_worker": ("run",),
    "checklists": ("checklist", "review"),
    "cells": ("run", "verify"),
    "combining": ("several together",),
    "comparing": ("compare", "compare in the window", "the truth in the window"),
    "context": ("run", "verify"),
    "demo": ("run", "verify"),  # the sample's own plans, run and verified like any other
    "evidence": ("run",),
    "evidence_checks": ("verify",),
    "guide": ("guide", "card"),
    "idle_entries": ("verify",),
    "examining": ("fit another file",),
    "export_gate": tuple(f"export {name}" for name in FORMATS),
    "exploring": ("explore", "candidate", "run in the window"),
    "exporting": tuple(f"export {name}" for name in FORMATS),
    "method_claims": ("run", "verify"),
    "past_tables": tuple(f"export {name}" for name in FORMATS),
    "planning": ("prepare",),
    "querying": ("query",),
    "reports": ("verify",),
    "page_checks": ("run", "verify"),
    "review/packing": ("pack .html en", "pack .pdf de"),
    "review/review_picture": ("review",),
    "risk": ("risk of a plan", "risk of a release", "assess"),
    "running": ("run",),
    "self_check": ("run", "verify"),
    "shops": ("offer", "buy"),
    "verifying": ("verify",),
    "private/checking": ("verify",),
    "private/preparing": ("run",),
    "private/risk": ("risk of a plan",),
    "private/trial": ("trial", "trial in the window"),
    "private/trying": ("settings to try", "outlook"),
}
"""By which of the use-cases above the modules are gone through."""


def test_no_module_that_asks_a_method_is_left_out_here() -> None:
    assert modules_that_ask_methods() <= ENTERED.keys()
    assert all(use in USES for uses in ENTERED.values() for use in uses)
