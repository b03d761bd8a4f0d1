"""Every fact that protected tables rest on, wrong in turn: the verifier must not agree.

Faults are put into the method alone, while tables are made and checked in the same process; what
the verifier took over from the method would agree with the fault. Each fault says with what it is
found: with the public files alone, with the agency's tables too, or with the source.

Not among them, for no check of a release can see it: how a rounding was drawn (a release shows
which way each cell went, not with which chance), and that of several additive roundings the one
with the least change was taken, which no release promises; the change itself is added up again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpdesk.app.context import AppContext
from dpdesk.app.manifests import public_parameters
from dpdesk.app.planning import PlacedPlan, prepare_cells
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus
from dpdesk.core.tabulation import CellAxis
from dpdesk.engine.method import CellsInput, CellsOutcome
from dpdesk.engine.methods.table import counting, deciding, drawing, guarantee, protecting
from dpdesk.engine.methods.table.method import ProtectedTables
from dpdesk.engine.methods.table.settings import Measure, Settings
from dpdesk.engine.tables import common, suppression
from dpdesk.engine.tables.model import Bounds, Dimension, System
from dpdesk.io.planfile import read_plan
from tests.helpers.known_bits import SeededBits
from tests.helpers.stated import stated
from tests.helpers.table_sources import LINKED, PARTS, READY, THREE_WAYS, TOWNS

TOKEN = CancelToken()
METHOD = ProtectedTables()
Patch = pytest.MonkeyPatch
Change = Callable[[Any], Any]

HIERARCHY = "n1,north,*\nn2,north,*\ns1,south,*\n"
REGIONS = '[attributes.region]\nhierarchy = "regions.csv"\n'
GROUPS = '[attributes.group]\nrole = "cluster"\n'
TWO = 'rows = ["region"]\ncolumns = ["size"]\n'
SUM = 'measure = { sum = "turnover" }\n'
RULES = 'rule = [{ rule = "threshold", n = 7 }, { rule = "p-percent", p = 40 }]\n'


def _firms() -> str:
    draw = random.Random(3)
    lines = ["region,size,turnover,w,group"]
    for number in range(60):
        region = draw.choice(["n1", "n1", "n1", "n2", "s1"])
        size = draw.choice(["small", "small", "small", "large"])
        pay = f"{draw.randrange(1, 5000) / 100:.2f}" if number else ""
        lines.append(f"{region},{size},{pay},{draw.choice(['1', '1.5'])},g{draw.randrange(30)}")
    return "\n".join(lines) + "\n"


def _owned() -> str:
    """One firm is alone in two suppressed cells of a row, and so knows the third with them."""
    lines = ["region,size,turnover,group"]
    for place, firm, pay in (("a", "F1", 11), ("b", "F2", 23), ("c", "F1", 37)):
        lines.append(f"p,{place},{pay},{firm}")
    lines += [f"p,{place},{pay},m{n}{place}" for place in "de" for n, pay in enumerate((9, 8, 7))]
    for region in "qr":
        for place in "abcde":
            lines += [f"{region},{place},{20 + n},{region}{place}{n}" for n in range(4)]
    return "\n".join(lines) + "\n"


FIRMS = _firms()
ONES = "size\n" + "".join(f"{c}\n" * n for c, n in zip("abcde", (1, 1, 1, 20, 30), strict=True))
NIL = """region,size,turnover
n,small,0
n,large,50
n,large,60
n,large,70
s,small,20
s,small,30
s,small,40
s,large,20
s,large,30
s,large,40
t,small,
"""
THREE = 'rule = [{ rule = "threshold", n = 3 }]\n'
PRESENT = "attacker = { lower = 0, present = true }\n"
PLANS: dict[str, tuple[str, str, str]] = {
    "sums": (FIRMS, REGIONS, TWO + SUM + RULES),
    "contributors": (FIRMS, REGIONS + GROUPS, TWO + SUM + RULES),
    "counts": (FIRMS, "", TWO + 'rule = [{ rule = "threshold", n = 4 }]\ntell_apart = true\n'),
    "percent": (FIRMS, "", TWO + SUM + 'rule = [{ rule = "p-percent", p = 100 }]\n'),
    "dominance": (
        FIRMS,
        REGIONS,
        TWO + SUM + 'rule = [{ rule = "dominance", n = 2, k = 40 }]\ncost = "cells"\n',
    ),
    "pq": (
        FIRMS,
        REGIONS,
        TWO + SUM + 'rule = [{ rule = "pq", p = 60, q = 60 }]\ncost = "frequency"\n',
    ),
    "weights": (FIRMS, "", TWO + 'measure = { sum = "turnover", weight = "w" }\n' + RULES),
    "means": (FIRMS, "", TWO + 'measure = { mean = "turnover", weight = "w" }\n' + RULES),
    "known": (FIRMS, "", TWO + SUM + RULES + "attacker = { lower = 0.5, upper = 1.5 }\n"),
    "primary": (FIRMS, "", TWO + SUM + RULES + 'secondary = "none"\n'),
    "owned": (_owned(), GROUPS, TWO + SUM + 'rule = [{ rule = "threshold", n = 3 }]\n'),
    "groups": (
        LINKED,
        "",
        'rows = ["region"]\ncolumns = ["trade"]\n'
        'rule = [{ rule = "threshold", n = 2, full = true }]\n',
    ),
    "empty": (
        LINKED,
        "",
        'rows = ["region"]\ncolumns = ["trade"]\nrule = [{ rule = "threshold", n = 2 }]\n',
    ),
    "ones": (ONES, "", 'rows = ["size"]\n' + THREE + PRESENT),
    "told": (ONES, "", 'rows = ["size"]\n' + THREE),
    "nil": (NIL, "", TWO + SUM + THREE + PRESENT),
    "zero": (NIL, "", TWO + SUM + THREE),
    "linked": (
        LINKED,
        "",
        SUM + 'rule = [{ rule = "threshold", n = 3 }]\n'
        '[[protection.tables]]\nname = "a"\nrows = ["region"]\ncolumns = ["size"]\n'
        '[[protection.tables]]\nname = "b"\nrows = ["trade"]\ncolumns = ["size"]\n',
    ),
    "shared": (
        LINKED,
        "",
        SUM + 'rule = [{ rule = "threshold", n = 3 }]\n'
        '[[protection.tables]]\nname = "a"\nrows = ["region"]\ncolumns = ["size"]\n'
        '[[protection.tables]]\nname = "b"\nrows = ["region"]\ncolumns = ["trade"]\n',
    ),
    "towns": (
        TOWNS,
        "",
        THREE + '[[protection.tables]]\nname = "a"\nrows = ["town"]\ncolumns = ["sex"]\n'
        '[[protection.tables]]\nname = "b"\nrows = ["district"]\ncolumns = ["sex"]\n',
    ),
    "three": (
        THREE_WAYS,
        "",
        'measure = { sum = "v" }\n'
        + THREE
        + "".join(
            f'[[protection.tables]]\nname = "{a}{b}"\nrows = ["{a}"]\ncolumns = ["{b}"]\n'
            for a, b in ("rq", "qs", "rs")
        ),
    ),
    "parts": (
        PARTS,
        "",
        'rule = [{ rule = "threshold", n = 2 }]\nsecondary = "hitas"\n'
        '[[protection.tables]]\nname = "a"\nrows = ["r"]\ncolumns = ["s"]\n'
        '[[protection.tables]]\nname = "b"\nrows = ["q"]\ncolumns = ["s"]\n',
    ),
    "means and sums": (
        FIRMS,
        "",
        'rule = [{ rule = "threshold", n = 11 }]\n'
        '[[protection.tables]]\nname = "a"\nrows = ["region"]\ncolumns = ["size"]\n'
        f'{SUM}[[protection.tables]]\nname = "b"\nrows = ["region"]\n'
        'measure = { mean = "turnover" }\n',
    ),
    "ready": (
        READY,
        "",
        TWO + 'measure = { sum = "val" }\nrule = [{ rule = "p-percent", p = 10 }, '
        '{ rule = "threshold", n = 4 }]\ncells = { value = "val", frequency = "n", '
        'top = ["top1", "top2"], status = "st", cost = "c" }\n',
    ),
    "additive": (FIRMS, REGIONS, TWO + SUM + 'protect = "controlled-round"\nbase = 10\n'),
    "random": (FIRMS, REGIONS, TWO + SUM + 'protect = "random-round"\nbase = 7\n'),
    "keys": (FIRMS, REGIONS, TWO + 'protect = "cell-key"\ndeviation = 4\nvariance = 2\n' + RULES),
    "marks": (
        FIRMS,
        REGIONS,
        TWO
        + SUM
        + 'rule = [{ rule = "threshold", n = 2 }]\n'
        + 'marks = [["n1", "small", "U"], ["n1", "small", "PL", "20", "30.5"], '
        + '["north", "", "P"], ["s1", "large", "S"], ["n1", "large", "C", "1"]]\n',
    ),
    "merged": (FIRMS, "", TWO + SUM + RULES + 'merge = { region = { n = ["n1", "n2"] } }\n'),
    "moved": (FIRMS, REGIONS, TWO + SUM + RULES + 'protect = "adjust"\n'),
    "moved counts": (ONES, "", 'rows = ["size"]\n' + THREE + 'protect = "adjust"\n'),
    "moved by hand": (
        READY,
        "",
        TWO + 'measure = { sum = "val" }\nrule = [{ rule = "threshold", n = 3 }]\n'
        'protect = "adjust"\ncells = { value = "val", frequency = "n", '
        'top = ["top1", "top2"], status = "st", cost = "c" }\n',
    ),
    "nothing": (FIRMS, REGIONS, TWO + SUM + RULES + 'protect = "none"\n'),
}


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, CellsInput]]:
    """What the method gets of each plan, read before any fault is put in."""
    folder, found = tmp_path_factory.mktemp("plans"), {}
    (folder / "regions.csv").write_text(HIERARCHY, "utf-8")
    with ExitStack() as stack:
        context = stack.enter_context(AppContext.open(folder / "home"))
        for name, (source, attributes, keys) in PLANS.items():
            (folder / f"{name}.csv").write_text(source, "utf-8")
            path = folder / f"{name}.toml"
            head = f'version = 1\n[source]\npath = "{name}.csv"\n{attributes}'
            path.write_text(f'{head}[protection]\nmethod = "table"\n{keys}', "utf-8")
            given = context, PlacedPlan(read_plan(path), folder, path.name), TOKEN, silent
            found[name] = stack.enter_context(prepare_cells(*given)).given
        yield found


class Kept:
    """Roundings that nothing was kept of."""

    def directions(
        self, cells: Sequence[Sequence[str]], draw: Callable[[Sequence[int]], Sequence[bool]]
    ) -> Sequence[bool]:
        """All drawn now; cells that count the same go the same way."""
        drawn = dict(zip(map(tuple, cells), draw(range(len(cells))), strict=True))
        return [drawn[tuple(cell)] for cell in cells]

    def row_keys(self, rows: int, draw: Callable[[int], NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """All drawn now."""
        return draw(rows)


PUBLIC, AGENCY, SOURCE = ORDER = "the public files", "the agency's tables", "the source"


def _failed(given: CellsInput, by: str = PUBLIC) -> dict[str, set[str]]:
    """Which claims fail of a release that is made now, with ``by`` at hand and with more."""
    made: CellsOutcome = METHOD.decide(given, TOKEN, silent)
    if METHOD.draws(given.parameters):
        made = METHOD.draw(given, made, Kept(), SeededBits(5), TOKEN)
    manifest = stated(
        parameters=public_parameters(METHOD, given.parameters),
        guarantee=made.guarantee.as_json(),
        result=dict(made.result),
    )
    listed = made.result["tables"]
    assert isinstance(listed, list)
    axes = {
        str(line["file"]): tuple(CellAxis.from_json(each) for each in line["dimensions"])
        for line in listed
    }
    kept = {table.file: replace(table, axes=axes[table.file]) for table in made.tables}
    public = {file: replace(table, internal={}) for file, table in kept.items()}
    recorded = {**made.result, **made.internal}
    found = {}
    hands: dict[str, Any] = {
        PUBLIC: (None, None, TOKEN),
        AGENCY: (kept, None, TOKEN, recorded),
        SOURCE: (kept, given, TOKEN, recorded),
    }
    for name in ORDER[ORDER.index(by) :]:
        checks = METHOD.verify(manifest, public, *hands[name])
        assert CheckStatus.NOT_CHECKED not in {check.status for check in checks}
        found[name] = {each.claim for each in checks if each.status is CheckStatus.FAILED}
    return found


@pytest.mark.parametrize("plan", PLANS)
def test_an_honest_release_passes(plan: str, plans: dict[str, CellsInput]) -> None:
    assert _failed(plans[plan]) == {PUBLIC: set(), AGENCY: set(), SOURCE: set()}


@dataclass(frozen=True)
class Fault:
    """What is wrong of which plan, where it is put, and what is enough to find it."""

    plan: str
    name: str
    put: Callable[[Patch], None]
    by: str = SOURCE


def _after(owner: Any, name: str, change: Change) -> Callable[[Patch], None]:
    """What a function of the method gives is changed."""
    true = getattr(owner, name)

    def put(patch: Patch) -> None:
        patch.setattr(owner, name, lambda *args, **keys: change(true(*args, **keys)))

    return put


def _before(owner: Any, name: str, change: Callable[..., Any]) -> Callable[[Patch], None]:
    """What a function of the method is given is changed."""
    true = getattr(owner, name)

    def put(patch: Patch) -> None:
        patch.setattr(owner, name, lambda *args, **keys: true(*change(*args), **keys))

    return put


def _class_after(owner: Any, name: str, change: Change) -> Callable[[Patch], None]:
    """As :func:`_after`, for a function of a class that makes one."""
    true = getattr(owner, name)

    def put(patch: Patch) -> None:
        def made(_: Any, *args: Any, **keys: Any) -> Any:
            return change(true(*args, **keys))

        patch.setattr(owner, name, classmethod(made))

    return put


def _read_as(**facts: Any) -> Callable[[Patch], None]:
    """The settings are misread by the method, while the plan stays what it is."""
    return _class_after(Settings, "from_parameters", lambda found: replace(found, **facts))


def _rule(**facts: Any) -> Callable[[Patch], None]:
    return _after(counting, "rules_of", lambda found: tuple(replace(one, **facts) for one in found))


def _required(**facts: Change) -> Callable[[Patch], None]:
    """What cells need is other than the rules ask."""

    def change(found: Any) -> Any:
        there = found.required
        new = {key: to(getattr(there, key)) for key, to in facts.items()}
        return replace(found, required=replace(there, **new))

    return _after(counting, "judge", change)


def _counted(**facts: Change) -> Callable[[Patch], None]:
    """What the source gives of cells is taken for something else."""

    def change(found: Any) -> Any:
        return replace(found, **{key: to(getattr(found, key)) for key, to in facts.items()})

    return _after(counting, "_tabulated", change)


def _ready(**facts: Change) -> Callable[[Patch], None]:
    def change(found: Any) -> Any:
        cells, scale = found
        return replace(cells, **{key: to(getattr(cells, key)) for key, to in facts.items()}), scale

    return _after(counting, "ready_cells", change)


def _protected(owner: Any, name: str, **facts: Change) -> Callable[[Patch], None]:
    def change(found: Any) -> Any:
        return replace(found, **{key: to(getattr(found, key)) for key, to in facts.items()})

    return _after(owner, name, change)


def _pattern(change: Callable[[Any, Any], Any]) -> Callable[[Patch], None]:
    """What is suppressed is changed; the first argument is the system."""
    true = suppression.suppress

    def put(patch: Patch) -> None:
        def changed(system: Any, *args: Any, **keys: Any) -> Any:
            return change(system, true(system, *args, **keys))

        patch.setattr(protecting, "suppress", changed)

    return put


def _primary_alone(patch: Patch) -> None:
    """No further cell is suppressed, and it is said that all was searched."""
    true = suppression.suppress

    def suppress(system: Any, judged: Any, *args: Any, **keys: Any) -> Any:
        found = true(system, judged, *args, **keys)
        return replace(found, suppressed=judged.required.unsafe & ~system.known)

    patch.setattr(protecting, "suppress", suppress)


def _one_less(system: Any, found: Any) -> Any:
    """An unsafe cell is published."""
    shown = found.suppressed.copy()
    shown[np.flatnonzero(shown)[0]] = False
    return replace(found, suppressed=shown)


def _result(**facts: Change) -> Callable[[Patch], None]:
    """What is stated of the tables."""

    def change(made: Any) -> Any:
        new = {key: to(made.result[key]) for key, to in facts.items()}
        return replace(made, result={**made.result, **new})

    return _after(deciding, "outcome_of", change)


def _evidence(owner: Any = deciding, **facts: Change) -> Callable[[Patch], None]:
    """What the agency is told of the search."""

    def change(made: Any) -> Any:
        new = {key: to(made.internal[key]) for key, to in facts.items()}
        return replace(made, internal={**made.internal, **new})

    return _after(owner, "outcome_of", change)


def _first_line(**facts: Any) -> Change:
    return lambda lines: [lines[0] | facts, *lines[1:]]


def _promised(**facts: Any) -> Callable[[Patch], None]:
    return _class_after(guarantee.Promise, "of", lambda found: replace(found, **facts))


def _cells_of(**columns: Change) -> Callable[[Patch], None]:
    """Columns of the agency's tables are others."""

    def change(table: Any) -> Any:
        new = {key: to(table.internal[key]) for key, to in columns.items()}
        return replace(table, internal={**table.internal, **new})

    return _after(deciding, "_table", change)


def _moved_leaf(found: Any) -> Any:
    """A value stands in the group of another one, in labels that are all there."""
    if found.name != "region" or "north" not in found.labels:
        return found
    names = list(found.labels)
    one, other = names.index("n2"), names.index("s1")
    names[one], names[other] = names[other], names[one]
    return replace(found, labels=tuple(names))


def _no_identity(tables: Any, _: Any) -> Any:
    return tables


def _system(*, unlinked: bool = False) -> Callable[[Patch], None]:
    """Tables are protected each by itself, or nobody is said to know which cells are empty."""
    true = System.of

    def put(patch: Patch) -> None:
        def made(_: Any, tables: Any, zeros_known: bool = True, sums: Any = ()) -> Any:
            if unlinked:
                apart = [replace(each, measure=str(n)) for n, each in enumerate(tables)]
                return true(apart, zeros_known)
            return true(tables, zeros_known=False, sums=sums)

        patch.setattr(System, "of", classmethod(made))

    return put


def _means_published(table: Any) -> Any:
    """The second table hides nothing."""
    value, free = table.internal["value"], ("F",) * len(table.values)
    inside = {**table.internal, **dict.fromkeys(("lower", "upper"), value), "status": free}
    return (
        replace(table, values=value, status=free, internal=inside) if table.name == "b" else table
    )


def _half(found: Any) -> Any:
    return found * Fraction(1, 2)


def _narrower(ends: Any) -> Any:
    return ends * 0.9


def _wider(ends: Any) -> Any:
    return ends * 1.1 + 1


def _nobody(found: Any) -> Any:
    return np.full(len(found), -1)


def _everybody_known(found: Any) -> Any:
    """All who are alone are taken for one."""
    return np.where(found >= 0, 0, -1)


def _swapped(found: Any) -> Any:
    """Marks of unsafe and further cells are exchanged."""
    return tuple({"C": "D", "D": "C"}.get(each, each) for each in found)


def _first(to: str) -> Change:
    return lambda texts: (to, *texts[1:])


def _up(values: Any) -> Any:
    return values + 1


def _told(*numbers: int) -> Callable[[Patch], None]:
    """Other numbers of cells are said to be told by empty ones."""
    return _after(protecting, "told_as_present", lambda _: numbers)


def _moved_by(change: Callable[[Any, Any], Any]) -> Callable[[Patch], None]:
    """Values are changed in another way than was found."""
    true = protecting.adjusted

    def put(patch: Patch) -> None:
        def made(system: Any, *rest: Any, **keys: Any) -> Any:
            found = true(system, *rest, **keys)
            return replace(found, values=change(system.cells, found.values))

        patch.setattr(protecting, "adjusted", made)

    return put


SUPPRESSING = (
    *("sums", "counts", "percent", "dominance", "pq", "weights", "means", "known", "owned"),
    *("linked", "shared", "ready"),
)
FAULTS = [
    # rules: thresholds, dominance, p-percent and pq, ranges
    Fault("sums", "threshold", _rule(largest=4)),
    Fault("percent", "p", _rule(share=Fraction(1))),
    Fault("counts", "threshold", _rule(largest=2)),
    Fault("dominance", "n", _rule(largest=1)),
    Fault("dominance", "k", _rule(share=Fraction(95))),
    Fault("pq", "share", _rule(share=Fraction(1))),
    Fault("sums", "range of rules", _rule(range=Fraction(1, 100))),
    Fault("sums", "range", _read_as(range=Fraction(1, 100))),
    *(Fault(plan, "no rule", _read_as(rules=())) for plan in ("sums", "dominance", "nothing")),
    Fault("ready", "status by hand", _ready(status=lambda found: np.full(len(found), ""))),
    Fault("groups", "whole groups", _rule(kind="threshold")),
    # what the source gives: contributors, amounts, weights
    Fault("contributors", "contributors", _counted(frequency=_up)),
    Fault("percent", "largest contributions", _counted(top=lambda found: found // 2)),
    Fault("dominance", "largest contributions", _counted(top=lambda found: found // 2)),
    Fault("sums", "amounts", _counted(totals=lambda found: found * 2)),
    Fault("weights", "weights", _class_after(Measure, "of", lambda m: replace(m, weight=None))),
    Fault("means", "weights", _class_after(Measure, "of", lambda m: replace(m, weight=None))),
    Fault(
        "means",
        "ratio",
        _after(deciding, "_divisors", lambda found: found and [each * 2 for each in found]),
    ),
    Fault("ready", "contributors of absent totals", _ready(frequency=lambda n: np.maximum(n, 9))),
    Fault("ready", "largest contributions", _ready(top=lambda found: found // 4)),
    # how far cells must be protected
    *(
        Fault(plan, "required, up", _required(upper=_half))
        for plan in ("sums", "counts", "percent", "dominance", "pq", "means", "linked", "ready")
    ),
    *(Fault(plan, "required, down", _required(lower=_half)) for plan in ("sums", "means")),
    *(
        Fault(plan, "unsafe cells", _required(unsafe=lambda found: found & False))
        for plan in SUPPRESSING
    ),
    # nodes and what they are called
    Fault("sums", "a value in another group", _class_after(Dimension, "of", _moved_leaf)),
    Fault(
        "sums",
        "a hierarchy is not used",
        _before(
            counting,
            "_dimension",
            lambda given, *rest: (replace(given, hierarchies={}), *rest),
        ),
    ),
    Fault(
        "nil",
        "values of rows that do not count",
        _before(
            counting,
            "_counting",
            lambda given, spec, name, leaves, token: (
                given,
                replace(spec, measure=Measure("count", None, None)),
                name,
                leaves,
                token,
            ),
        ),
    ),
    Fault("counts", "order of values", _after(counting, "in_order", lambda found: found[::-1])),
    Fault("sums", "label of totals", _read_as(total="All"), PUBLIC),
    # cells that are one
    Fault("shared", "linked tables", _system(unlinked=True), PUBLIC),
    Fault("linked", "linked tables", _system(unlinked=True)),
    Fault(
        "linked",
        "cells with the same rows",
        lambda patch: patch.setattr(counting, "_identified", _no_identity),
    ),
    Fault("towns", "sums of towns", _after(counting, "common_sums", lambda _: ([], True))),
    Fault("three", "sums of three tables", _after(common, "_further", lambda _: [])),
    Fault("means and sums", "sums and means", _after(deciding, "_table", _means_published), PUBLIC),
    # the pattern
    *(Fault(plan, "no further cells", _primary_alone) for plan in SUPPRESSING),
    Fault("sums", "no further cells, seen", _primary_alone, AGENCY),
    *(
        Fault(plan, "an unsafe cell is published", _pattern(_one_less))
        for plan in ("sums", "means")
    ),
    *(
        Fault(plan, "the search is left out", _read_as(secondary="none"))
        for plan in ("sums", "means")
    ),
    Fault("owned", "contributors alone", _after(suppression, "alone", _nobody)),
    Fault("owned", "who is alone", _counted(who=lambda found: found * 0 - 1)),
    Fault("owned", "all alone are one", _after(suppression, "alone", _everybody_known)),
    Fault("owned", "attackers", _read_as(singletons=False), PUBLIC),
    Fault("empty", "empty cells are not known", _system()),
    Fault(
        "ones",
        "no suppressed count is 0",
        _after(counting.Counted, "filled", lambda found: found * 0),
        AGENCY,
    ),
    Fault(
        "nil",
        "a value of 0 needs nothing",
        _after(suppression, "targets_of", lambda found: [t for t in found if t.need > 1]),
        AGENCY,
    ),
    Fault("ones", "empty cells tell nothing", _read_as(present=False), PUBLIC),
    Fault("told", "empty cells are reckoned with", _read_as(present=True), PUBLIC),
    *(
        Fault(plan, f"{said} are told", _told(*said), AGENCY)
        for plan, said in (("told", (0, 0)), ("told", (0, 3)), ("zero", (0, 0)), ("zero", (0, 1)))
    ),
    Fault("told", "promised knowledge", _promised(present=True), PUBLIC),
    Fault("told", "fewer are told", _told(2, 1)),
    Fault("counts", "more are told", _told(4, 0)),
    Fault("sums", "known shares", _read_as(lower=Fraction(1, 2)), PUBLIC),
    Fault("known", "known shares", _read_as(lower=Fraction(0), upper=None), PUBLIC),
    Fault(
        "known",
        "bounds",
        _class_after(Bounds, "of", lambda found: Bounds(found.lower * 0, found.upper * np.inf)),
        AGENCY,
    ),
    # the audit
    *(
        Fault(plan, f"{name} ends", _protected(protecting, "audit", **{end: change}), AGENCY)
        for plan in ("counts", "known")
        for end in ("lower", "upper")
        for name, change in ((f"narrower {end}", _narrower), (f"wider {end}", _wider))
    ),
    *(
        Fault(plan, "wider ends", _protected(protecting, "audit", upper=_wider), by)
        for plan, by in (("means", SOURCE), ("linked", SOURCE), ("primary", AGENCY))
    ),
    *(
        Fault(plan, f"{end} of a cell that is shown", _cells_of(**{end: _first("77")}), AGENCY)
        for plan in ("sums", "means", "nothing", "additive", "random", "keys", "moved", "primary")
        for end in ("lower", "upper")
    ),
    # what is published
    Fault("sums", "protection", _read_as(protect="none"), PUBLIC),
    Fault("counts", "cells told apart", _read_as(tell_apart=False), PUBLIC),
    Fault("counts", "marks", _cells_of(status=_swapped), AGENCY),
    Fault("sums", "marks", _cells_of(status=_swapped)),
    *(
        Fault("sums", f"kept {key}", _cells_of(**{key: _first("77")}))
        for key in ("frequency", "lower_required", "upper_required")
    ),
    Fault("sums", "kept value", _cells_of(value=_first("77")), AGENCY),
    *(Fault(plan, "base", _read_as(base=5), PUBLIC) for plan in ("additive", "random")),
    Fault(
        "random",
        "rounded too far",
        _before(drawing, "near", lambda counted, found: (counted, found + 7 * counted.units)),
        AGENCY,
    ),
    Fault(
        "additive",
        "rounded too far",
        _before(protecting, "near", lambda counted, found: (counted, found * 2)),
        AGENCY,
    ),
    Fault(
        "additive",
        "not additive",
        _before(protecting, "near", lambda counted, found: (counted, found + 10 * counted.units)),
        PUBLIC,
    ),
    Fault(
        "keys",
        "changed too far",
        _before(drawing, "near", lambda counted, found: (counted, found + 5)),
        AGENCY,
    ),
    Fault(
        "keys",
        "parts of counts",
        _before(drawing, "near", lambda counted, found: (counted, found + Fraction(1, 2))),
        PUBLIC,
    ),
    *(
        Fault("marks", f"no {name}", _after(counting, "marked", change))
        for name, change in {
            "status": lambda cells: replace(cells, status=None),
            "cost": lambda cells: replace(cells, cost=None),
            "levels": lambda cells: replace(cells, levels=None),
        }.items()
    ),
    Fault(
        "merged",
        "other values merged",
        _after(counting, "_members", lambda found: {**found, "n1": found.get("s1", ())}),
    ),
    Fault("keys", "promised change", _promised(deviation=5), PUBLIC),
    Fault("keys", "promised variance", _promised(variance=Fraction(1)), PUBLIC),
    Fault("keys", "distance", _evidence(drawing, distance=_up)),
    # what is stated
    *(
        Fault("sums", f"stated {key}", _result(**{key: change}), PUBLIC)
        for key, change in {"cells": _up, "suppressed": _up}.items()
    ),
    *(
        Fault(
            "sums", f"stated {key} of a table", _result(tables=_first_line(**{key: value})), PUBLIC
        )
        for key, value in {"cells": 1, "suppressed": 0, "measure": "mean", "name": "b"}.items()
    ),
    *(
        Fault("sums", f"promised {key}", _promised(**{key: value}), PUBLIC)
        for key, value in {
            "singletons": False,
            "lower": Fraction(1, 2),
            "upper": Fraction(2),
        }.items()
    ),
    Fault("sums", "promised audit", _promised(audited=False)),
    Fault("primary", "promised audit", _promised(audited=True)),
    Fault("additive", "promised base", _promised(base=2), PUBLIC),
    Fault("sums", "promised model", _promised(protect="none"), PUBLIC),
    # what the agency is told
    *(
        Fault("sums", f"evidence, {key}", _evidence(**{key: change}))
        for key, change in {
            "primary": _up,
            "secondary": _up,
            "cost": _up,
            "bound": lambda found: found + 1000,
            "proven_optimal": lambda found: not found,
        }.items()
    ),
    *(
        Fault(plan, "cost", _after(deciding, "cell_costs", lambda found: found + 1))
        for plan in ("dominance", "pq", "ready")
    ),
    Fault("additive", "distance", _evidence(distance=_up)),
    Fault("random", "distance", _evidence(drawing, distance=_up)),
    # unsafe cells that are changed
    Fault("moved", "unsafe cells stay", _moved_by(lambda cells, values: cells.values), AGENCY),
    Fault(
        "moved",
        "unsafe cells move too little",
        _moved_by(lambda cells, values: cells.values + (values - cells.values) // 2),
    ),
    Fault("moved", "one more", _moved_by(lambda cells, values: values + 1), PUBLIC),
    Fault("moved counts", "below 0", _moved_by(lambda cells, values: values - 10), PUBLIC),
    Fault("moved by hand", "all move", _moved_by(lambda cells, values: values + cells.values)),
    Fault("moved", "required, up", _required(upper=_half)),
    Fault("moved", "another protection", _read_as(protect="none"), PUBLIC),
    *(
        Fault("moved", f"evidence, {key}", _evidence(deciding, **{key: change}))
        for key, change in {
            "cost": _up,
            "distance": _up,
            "bound": lambda found: found + 1000,
            "proven_optimal": lambda found: not found,
        }.items()
    ),
    Fault("moved by hand", "costs", _after(protecting, "change_costs", _up), SOURCE),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.plan}: {fault.name}")
def test_a_wrong_fact_of_tables_is_found(
    fault: Fault, plans: dict[str, CellsInput], monkeypatch: Patch
) -> None:
    fault.put(monkeypatch)
    found = _failed(plans[fault.plan], fault.by)
    assert all(found.values()), found
