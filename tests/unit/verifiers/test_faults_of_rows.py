"""Every fact that a release of rows rests on, wrong in turn: it must not be released, nor verify.

Faults are put into the method of this process alone; the check before a release is kept is made by
another process, so words that follow from a fault do not agree there either. How values are grouped
and drawn within ℓ′ shows in no file; see resources/docs/verification.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import effective_parameters, parse_parameters
from dpdesk.core.release import CheckStatus
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.anatomy.method import Anatomy
from dpdesk.engine.methods.anatomy.settings import Settings as ASettings
from dpdesk.engine.methods.k_anonymity import households as k_households
from dpdesk.engine.methods.k_anonymity import population as k_population
from dpdesk.engine.methods.k_anonymity.households import Households
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.k_anonymity.population import PopulationRows
from dpdesk.engine.methods.k_anonymity.requirements import GroupLimit
from dpdesk.engine.methods.k_anonymity.settings import Settings as KSettings
from dpdesk.engine.methods.l_diverted.method import LDiverted
from dpdesk.engine.methods.l_diverted.settings import Settings as LSettings
from dpdesk.engine.methods.randomised_response import deciding
from dpdesk.engine.methods.randomised_response import settings as response_settings
from dpdesk.engine.methods.randomised_response.method import RandomisedResponse
from dpdesk.engine.methods.randomised_response.settings import Chances
from dpdesk.engine.methods.randomised_response.settings import Settings as RSettings
from tests.e2e.test_households_released import run as homes
from tests.e2e.test_populations_released import run as people
from tests.e2e.test_required_releases import MODELS, plan_of
from tests.helpers import clinic, releases
from tests.helpers.memory_tables import MemoryPublished, MemorySource
from tests.helpers.stated import stated

pytestmark = pytest.mark.cheap_prints

Patch = pytest.MonkeyPatch
Change = Callable[[Any], Any]


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


@dataclass(frozen=True)
class Fault:
    """What is wrong, and where it is put."""

    name: str
    put: Callable[[Patch], None]


def _after(owner: Any, name: str, change: Change) -> Callable[[Patch], None]:
    true = getattr(owner, name)

    def put(patch: Patch) -> None:
        patch.setattr(owner, name, lambda *args, **keys: change(true(*args, **keys)))

    return put


def _read_as(kind: Any, **facts: Any) -> Callable[[Patch], None]:
    true = kind.from_parameters

    def put(patch: Patch) -> None:
        def read(*given: Any) -> Any:
            return replace(true(*given), **facts)

        patch.setattr(kind, "from_parameters", read)

    return put


def _stated(owner: Any, name: str, **facts: Change) -> Callable[[Patch], None]:
    """Keys of the result are others."""

    def change(outcome: Any) -> Any:
        result = dict(outcome.result)
        return replace(outcome, result=result | {key: to(result[key]) for key, to in facts.items()})

    return _after(owner, name, change)


def _metric(key: str) -> Callable[[Patch], None]:
    return _stated(KAnonymity, "decide", metrics=lambda found: found | {key: found[key] / 2})


def _recoded(**facts: Change) -> Change:
    """The recoding is another."""

    def change(outcome: Any) -> Any:
        there = outcome.recoding
        new = {key: to(getattr(there, key)) for key, to in facts.items()}
        return replace(outcome, recoding=replace(there, **new))

    return change


def _moved(mapping: Any) -> Any:
    """One value goes to the label of another."""
    towns = dict(mapping["town"])
    first, other = list(towns)[:2]
    return {**mapping, "town": {**towns, first: towns[other]}}


def _promised(**facts: Any) -> Change:
    def change(outcome: Any) -> Any:
        there = outcome.guarantee
        return replace(outcome, guarantee=replace(there, parameters={**there.parameters, **facts}))

    return change


def _not_promised(key: str) -> Change:
    def change(outcome: Any) -> Any:
        there = outcome.guarantee
        rest = {name: value for name, value in there.parameters.items() if name != key}
        return replace(outcome, guarantee=replace(there, parameters=rest))

    return change


def _one_up(node: Any) -> Any:
    name = next(iter(node))
    return {**node, name: node[name] + 1}


def _plus(count: int) -> int:
    return count + 1


K_FAULTS = [
    Fault("k", _read_as(KSettings, k=2)),
    Fault("limit of suppression", _read_as(KSettings, k=60, max_suppression=Fraction(1))),
    Fault("node", _stated(KAnonymity, "decide", node=_one_up)),
    Fault("classes", _stated(KAnonymity, "decide", classes=_plus)),
    Fault("smallest class", _stated(KAnonymity, "decide", smallest_class=_plus)),
    Fault("rows", _stated(KAnonymity, "decide", rows_out=_plus)),
    Fault("suppressed rows", _stated(KAnonymity, "decide", rows_suppressed=_plus)),
    *(
        Fault(key, _metric(key))
        for key in ("discernibility", "average_class_size", "loss", "precision")
    ),
    Fault(
        "suppression",
        _after(
            KAnonymity,
            "decide",
            _recoded(
                suppressed=lambda found: found[:0],
                rows_suppressed=lambda _: 0,
                rows_out=_plus,
            ),
        ),
    ),
    Fault("mapping", _after(KAnonymity, "decide", _recoded(mapping=_moved))),
    Fault("identifiers", _after(KAnonymity, "decide", _recoded(dropped_columns=lambda _: ()))),
    Fault("promised k", _after(KAnonymity, "decide", _promised(k=1000))),
    Fault("promised columns", _after(KAnonymity, "decide", _promised(quasi_identifiers=["town"]))),
    Fault("promised roles", _after(KAnonymity, "decide", _promised(sensitive=[]))),
]


def _asked_for(share: Change) -> Callable[[Patch], None]:
    """What classes must be like is read as something weaker, or nothing."""
    true = KSettings.from_parameters

    def put(patch: Patch) -> None:
        def read(*given: Any) -> Any:
            found = true(*given)
            return replace(found, required=share(found.required))

        patch.setattr(KSettings, "from_parameters", read)

    return put


def _weaker(required: Any) -> Any:
    loose = {"l-diversity": 1, "t-closeness": 1, "alpha-k": 1, "beta-likeness": 1000}
    return tuple(
        replace(each, bound=Fraction(loose[each.model]), c=Fraction(1000)) for each in required
    )


def _each_alone(found: Any) -> Any:
    """Every row is a household of its own."""
    houses = np.full(len(found.tuples), -1)
    alone = found.alone + np.bincount(found.tuples, found.rows, len(found.alone))
    none = Households.of(houses, found.tuples, found.rows, (), len(found.alone))
    return replace(none, alone=alone.astype(np.int64))


def _nothing_asked(rows: Any) -> Any:
    return replace(rows, k_map=0, delta=None)


def _in_part(patch: Patch) -> None:
    """Of a household that leaves, the rows in classes that stay are left."""
    true = Households.rows_of

    def rows_of(self: Any, alive: Any, counts: Any, of_tuple: Any) -> Any:
        every = true(self, alive | True, counts, of_tuple)
        return np.where(counts[of_tuple] > 0, every, 0)

    patch.setattr(Households, "rows_of", rows_of)
    patch.setattr(Households, "left_out", lambda *_: ())


def _refused(write: Callable[[], object], out: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        write()
    assert caught.value.code == "release.check-failed"
    assert not out.exists()


FURTHER: dict[str, Callable[[AppContext, Path], object]] = {
    "households": homes,
    "kept households": lambda context, folder: homes(context, folder, household_id="keep"),
    "k-map": lambda context, folder: people(context, folder, k_map=6),
    "k-map of cells": lambda context, folder: people(
        context, folder, k_map=6, algorithm="mondrian", max_suppression=0
    ),
    "shares": lambda context, folder: people(context, folder, delta_min=0.3, delta_max=0.6),
    "limits": lambda context, folder: homes(
        context, folder, households="ignore", max_suppression_of={"town": 0.5, "home": 0}
    ),
    **{
        f"require, {name}": lambda context, folder, asked=asked: run_plan(
            context, plan_of(folder, asked, 0.2), folder / "release", CancelToken(), silent
        )
        for name, asked in MODELS.items()
    },
}
"""Plans with what classes must be like besides having k rows."""
REQUIRED = [name for name in FURTHER if name.startswith("require")]
FURTHER_FAULTS: list[tuple[str, Fault]] = [
    *(
        (plan, Fault(name, put))
        for plan in ("households", "kept households")
        for name, put in (
            ("households are not read", _read_as(KSettings, whole_households=False)),
            ("k", _read_as(KSettings, k=2)),
            ("each row by itself", _after(k_households, "households_of", _each_alone)),
            ("households in part", _in_part),
            ("promised households", _after(KAnonymity, "decide", _not_promised("households"))),
        )
    ),
    ("households", Fault("identifier is kept", _read_as(KSettings, household_id="keep"))),
    ("kept households", Fault("identifier is left out", _read_as(KSettings, household_id="drop"))),
    *(
        (plan, Fault("not asked", _after(k_population, "population_rows", _nothing_asked)))
        for plan in ("k-map", "shares")
    ),
    ("k-map of cells", Fault("not asked", _after(k_population, "population_rows", _nothing_asked))),
    ("k-map of cells", Fault("number", _read_as(KSettings, k_map=2))),
    ("k-map of cells", Fault("promise", _after(KAnonymity, "decide", _promised(k_map=20)))),
    ("k-map", Fault("rows", _after(PopulationRows, "in_classes", lambda f: (f[0] * 3, f[1])))),
    ("shares", Fault("presence", _after(PopulationRows, "present", lambda f: f | True))),
    ("k-map", Fault("number", _read_as(KSettings, k_map=2))),
    ("k-map", Fault("promised number", _after(KAnonymity, "decide", _promised(k_map=8)))),
    *(
        ("shares", Fault(f"share {pair}", _read_as(KSettings, delta=tuple(map(Fraction, pair)))))
        for pair in (("0.3", "1"), ("0", "0.6"))
    ),
    *(
        ("shares", Fault(f"promised {key}", _after(KAnonymity, "decide", _promised(**{key: 0.4}))))
        for key in ("delta_min", "delta_max")
    ),
    ("limits", Fault("limits are not read", _read_as(KSettings, suppression_of={}))),
    ("limits", Fault("rows that may leave", _after(GroupLimit, "holds", lambda _: True))),
    *((plan, Fault("not asked", _asked_for(lambda _: ()))) for plan in REQUIRED),
    *((plan, Fault("asked for less", _asked_for(_weaker))) for plan in REQUIRED),
    *(
        (plan, Fault("promised", _after(KAnonymity, "decide", _not_promised("require"))))
        for plan in REQUIRED
    ),
]


@pytest.mark.parametrize("plan", FURTHER)
def test_honest_releases_of_classes_pass(plan: str, context: AppContext, tmp_path: Path) -> None:
    FURTHER[plan](context, tmp_path)
    made, place = tmp_path / "release", (CancelToken(), silent)
    for source in (None, tmp_path / "people.csv"):
        assert verify_release(made, context.registry, *place, source, context.workspace).ok


@pytest.mark.parametrize(
    ("plan", "fault"), FURTHER_FAULTS, ids=[f"{plan}: {each.name}" for plan, each in FURTHER_FAULTS]
)
def test_a_wrong_fact_of_classes_is_found(
    plan: str, fault: Fault, context: AppContext, tmp_path: Path, monkeypatch: Patch
) -> None:
    fault.put(monkeypatch)
    _refused(lambda: FURTHER[plan](context, tmp_path), tmp_path / "release")


def _as_judged(change: Change) -> Callable[[Patch], None]:
    return _after(LDiverted, "decide", change)


def _drawn_otherwise(change: Change) -> Callable[[Patch], None]:
    """The rows to release are others; nobody overwrote them yet."""
    return _after(LDiverted, "draw", change)


def _strange_value(rows: Any) -> Any:
    name = next(iter(rows.drawn))
    values = rows.drawn[name]
    domain = ("no such value", *values.domain[1:])
    return replace(rows, drawn={**rows.drawn, name: replace(values, domain=domain)})


def _twice_a_row(rows: Any) -> Any:
    """A row in place of one of another age; a row of the same age and town could stand for it."""
    order, people = rows.order.copy(), clinic.people()
    age = people[order[0]][1]
    order[0] = next(row for row in order if people[row][1] != age)
    return replace(rows, order=order)


def _one_value(rows: Any) -> Any:
    """One value in every row."""
    name = next(iter(rows.drawn))
    values = rows.drawn[name]
    codes = values.codes * 0
    return replace(rows, drawn={**rows.drawn, name: replace(values, codes=codes)})


L_FAULTS = [
    Fault("l", _read_as(LSettings, l=2)),
    Fault("drawn columns", _after(LSettings, "diverted", lambda names: names[:1])),
    Fault("promised l", _as_judged(_promised(l=4))),
    Fault("promised columns", _as_judged(_promised(diverted=["job"]))),
    Fault("promised roles", _as_judged(_promised(insensitive=["age"]))),
    Fault("rows", _stated(LDiverted, "decide", rows_out=_plus)),
    Fault("rows removed", _stated(LDiverted, "decide", rows_removed=_plus)),
    Fault("a value that there is not", _drawn_otherwise(_strange_value)),
    Fault("a row twice", _drawn_otherwise(_twice_a_row)),
    Fault("one value for all", _drawn_otherwise(_one_value)),
    Fault(
        "a recoding that no one asked for",
        _drawn_otherwise(lambda rows: replace(rows, mapping={"town": _towns()})),
    ),
    Fault("identifiers", _drawn_otherwise(lambda rows: replace(rows, dropped_columns=()))),
]


def _towns() -> dict[str, str]:
    return {f"town {number}": "town" for number in range(4)}


def _grouped_otherwise(change: Change) -> Callable[[Patch], None]:
    """The groups of rows are others, or what is released of them."""
    return _after(Anatomy, "draw", change)


def _next_groups(rows: Any) -> Any:
    """Each row stands in the group of the one before."""
    ((name, values),) = rows.added.items()
    return replace(rows, added={name: replace(values, codes=np.roll(values.codes, 1))})


def _values(change: Change) -> Change:
    """The values of groups are others."""

    def changed(rows: Any) -> Any:
        ((file, columns),) = rows.tables.items()
        values = columns["value"]
        new = replace(values, codes=change(values.codes))
        return replace(rows, tables={file: {**columns, "value": new}})

    return changed


A_FAULTS = [
    Fault("l", _after(ASettings, "of", lambda found: replace(found, l=2))),
    Fault(
        "sensitive column", _after(ASettings, "of", lambda found: replace(found, sensitive="job"))
    ),
    Fault("promised l", _after(Anatomy, "decide", _promised(l=4))),
    Fault("promised column", _after(Anatomy, "decide", _promised(separated=["job"]))),
    *(
        Fault(key, _stated(Anatomy, "decide", **{key: _plus}))
        for key in ("rows_out", "groups", "smallest_group")
    ),
    Fault("groups of rows", _grouped_otherwise(_next_groups)),
    Fault("values of groups", _grouped_otherwise(_values(lambda codes: np.roll(codes, 1)))),
    Fault("one value", _grouped_otherwise(_values(lambda codes: codes * 0))),
    Fault("a row twice", _grouped_otherwise(_twice_a_row)),
    Fault("identifiers", _grouped_otherwise(lambda rows: replace(rows, dropped_columns=()))),
    Fault(
        "the sensitive column stays",
        _grouped_otherwise(
            lambda rows: replace(rows, dropped_columns=tuple({*rows.dropped_columns} - {"illness"}))
        ),
    ),
]


@pytest.mark.parametrize("fault", K_FAULTS, ids=lambda fault: fault.name)
def test_a_wrong_fact_of_k_anonymity_is_found(
    fault: Fault, context: AppContext, tmp_path: Path, monkeypatch: Patch
) -> None:
    plan, out = releases.write_source(tmp_path), tmp_path / "out"
    fault.put(monkeypatch)
    _refused(lambda: releases.release(plan, out, context), out)


@pytest.mark.parametrize("fault", L_FAULTS, ids=lambda fault: fault.name)
def test_a_wrong_fact_of_drawn_values_is_found(
    fault: Fault, context: AppContext, tmp_path: Path, monkeypatch: Patch
) -> None:
    clinic.write_source(tmp_path)
    plan, out = clinic.write_plan(tmp_path), tmp_path / "out"
    fault.put(monkeypatch)
    _refused(lambda: clinic.release(plan, out, context), out)


@pytest.mark.parametrize("fault", A_FAULTS, ids=lambda fault: fault.name)
def test_a_wrong_fact_of_groups_is_found(
    fault: Fault, context: AppContext, tmp_path: Path, monkeypatch: Patch
) -> None:
    plan, out = _of_groups(tmp_path), tmp_path / "out"
    fault.put(monkeypatch)
    _refused(lambda: clinic.release(plan, out, context), out)


def _of_groups(folder: Path) -> Path:
    clinic.write_source(folder)
    return clinic.write_plan(folder, 'l = 3\nsensitive = "illness"', method="anatomy")


@pytest.mark.parametrize("honest", ["rows", "drawn", "grouped"])
def test_honest_releases_pass(honest: str, context: AppContext, tmp_path: Path) -> None:
    out = tmp_path / "out"
    if honest == "rows":
        releases.release(releases.write_source(tmp_path), out, context)
    elif honest == "grouped":
        clinic.release(_of_groups(tmp_path), out, context)
    else:
        clinic.write_source(tmp_path)
        clinic.release(clinic.write_plan(tmp_path), out, context)
    assert verify_release(out, context.registry, CancelToken(), silent).ok


RESPONSE: dict[str, Any] = {
    "drawn": ["sex", "job"],
    "domains": {"sex": ["f", "m"], "job": ["a", "b", "other"]},
    "origins": {"sex": "data"},
    "outside": {"sex": "f"},
    "shares": {"sex": 1, "job": 3},
    "epsilon": 2,
    "rows_per_person": 2,
}
MATRIX = RESPONSE | {"matrix": {"sex": [[0.55, 0.45], [0.45, 0.55]]}}
SOURCE = MemorySource.of(
    ("town", "sex", "job"), [("x", "fm"[n % 2], "abc"[n % 3]) for n in range(12)]
)


def _of_responses(raw: dict[str, Any]) -> tuple[dict[str, Any], MemoryPublished]:
    """The manifest and the rows of a release as the method decides it, without its draws."""
    method = RandomisedResponse()
    roles = {"town": Role.QUASI_IDENTIFIER, "sex": Role.SENSITIVE, "job": Role.SENSITIVE}
    parsed = parse_parameters(method.parameters, raw, "plan")
    made = method.decide(MethodInput(roles, {}, parsed, source=SOURCE), CancelToken(), silent)
    rows = tuple((town, sex, "other" if job == "c" else job) for town, sex, job in SOURCE.data)
    manifest = {
        "method": method.id,
        "parameters": effective_parameters(method.parameters, parsed, method.parameters),
        "guarantee": made.guarantee.as_json(),
        "result": dict(made.result),
    }
    return manifest, MemoryPublished(SOURCE.columns, rows)


def _failing(raw: dict[str, Any]) -> set[str]:
    said, table = _of_responses(raw)
    checks = RandomisedResponse().verify(stated(said), table, CancelToken())
    return {check.claim for check in checks if check.status is CheckStatus.FAILED}


def _misread(**facts: Any) -> Callable[[Patch], None]:
    true = RSettings.read

    def put(patch: Patch) -> None:
        patch.setattr(RSettings, "read", lambda *given: replace(true(*given), **facts))

    return put


def _chance(**facts: Change) -> Callable[[Patch], None]:
    """The chances of the first column are stated otherwise."""

    def change(found: Any) -> Any:
        first, *rest = found
        return [first | {key: to(first[key]) for key, to in facts.items()}, *rest]

    return _after(deciding, "stated", change)


def _k_ary_at(times: Fraction) -> Callable[[Patch], None]:
    true = Chances.k_ary

    def put(patch: Patch) -> None:
        patch.setattr(Chances, "k_ary", lambda size, epsilon: true(size, epsilon * times))

    return put


HALVES = {"sex": Fraction(1), "job": Fraction(1)}
R_FAULTS = [
    Fault("ε", _misread(epsilon=Fraction(4))),
    Fault("shares of ε", _misread(shares=HALVES)),
    Fault("rows of a person", _misread(rows_per_person=1)),
    Fault("origins", _misread(origins={"sex": "typed"})),
    Fault("no origins", _misread(origins={})),
    *(Fault(f"chances at ε × {n}", _k_ary_at(Fraction(n))) for n in ("2", "1.01", "0.5")),
    Fault("stay", _chance(stay=_plus, move=lambda move: move - 1)),
    Fault("whole", _chance(whole=_plus)),
    Fault("column", _chance(column=lambda _: "job")),
    Fault("a column less", _after(deciding, "stated", lambda found: found[1:])),
    Fault("rows", _stated(RandomisedResponse, "decide", rows_out=_plus)),
    Fault("outside", _stated(RandomisedResponse, "decide", outside=lambda _: {})),
    *(
        Fault(f"promised {key}", _after(RandomisedResponse, "decide", _promised(**{key: wrong})))
        for key, wrong in {
            "epsilon": 1,
            "neighbours": "replace",
            "rows_per_person": 1,
            "drawn": ["sex"],
            "quasi_identifiers": [],
        }.items()
    ),
    Fault("odds in words", _after(response_settings, "times_words", lambda _: "1.1")),
    Fault("suspicion in words", _after(response_settings, "suspicion_after", lambda _: "11")),
]
M_FAULTS = [
    Fault("whole of a matrix", _chance(whole=lambda whole: whole * 2)),
    Fault("no matrix", _misread(matrices={})),
    Fault("what a matrix may tell", _after(response_settings, "allowed", lambda _: True)),
]


def test_honest_responses_pass() -> None:
    assert _failing(RESPONSE) == _failing(MATRIX) == set()


@pytest.mark.parametrize("fault", R_FAULTS, ids=lambda fault: fault.name)
def test_a_wrong_fact_of_randomised_response_is_found(fault: Fault, monkeypatch: Patch) -> None:
    fault.put(monkeypatch)
    assert _failing(RESPONSE)


@pytest.mark.parametrize("fault", M_FAULTS, ids=lambda fault: fault.name)
def test_a_wrong_fact_of_a_matrix_is_found(fault: Fault, monkeypatch: Patch) -> None:
    wide = MATRIX | {"matrix": {"sex": [[0.9, 0.1], [0.1, 0.9]]}}
    fault.put(monkeypatch)
    assert _failing(wide if "may tell" in fault.name else MATRIX)
