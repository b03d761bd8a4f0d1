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
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.anatomy.method import Anatomy
from dpdesk.engine.methods.anatomy.settings import Settings as ASettings
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.k_anonymity.settings import Settings as KSettings
from dpdesk.engine.methods.l_diverted.method import LDiverted
from dpdesk.engine.methods.l_diverted.settings import Settings as LSettings
from tests.helpers import clinic, releases

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
    order = rows.order.copy()
    order[0] = order[1]
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
        "a recoding that nobody asked for",
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


def _refused(write: Callable[[], object], out: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        write()
    assert caught.value.code == "release.check-failed"
    assert not out.exists()


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
