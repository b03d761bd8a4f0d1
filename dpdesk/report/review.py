"""``report.html``: for the reviewer, who did not make the release; it tells of the raw data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpdesk.core.charts import charts_from_json
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.language import message as m
from dpdesk.core.language import voice
from dpdesk.core.messages import text_of
from dpdesk.core.recoding import AnyRecoding, TupleRecoding
from dpdesk.core.release import CheckStatus, ClaimCheck, Manifest, celled_columns
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.method import Method
from dpdesk.engine.registry import rows_of
from dpdesk.report.about import pseudonym_words, settings, stated_values
from dpdesk.report.pages import figure, render, visible
from dpdesk.report.words import (
    Line,
    compared_lines,
    metric_lines,
    plain_lines,
    result_lines,
    unit_of,
)

LINKAGE = "linkage"
"""What pseudonyms show of persons with several rows, in the risk of the evidence."""
_MOST_VALUES = 200
_MOST_RAW = 20
_LOOKS = {
    CheckStatus.CONFIRMED: ("✓", "ok", m("confirmed")),
    CheckStatus.FAILED: ("✕", "fail", m("failed")),
    CheckStatus.NEEDS_SOURCE: ("△", "caution", m("not repeated here")),
    CheckStatus.NOT_CHECKABLE: ("○", "muted", m("not checkable")),
    CheckStatus.NOT_CHECKED: ("○", "muted", m("not checked")),
}


@dataclass(frozen=True)
class ReviewContent:
    """All that the report is made from: values of ``manifest.json`` and ``evidence.json``.

    Nothing else goes into it, so that it can be made again from a release folder and compared.
    ``book`` are the published labels of the dimensions of a cube.
    """

    manifest: Manifest
    evidence: Mapping[str, object]
    method: Method
    book: Codebook = NO_BOOK


@dataclass(frozen=True)
class RoleLine:
    """A column of the source: its role, and what became of it."""

    name: str
    role: str
    fate: str


@dataclass(frozen=True)
class Mapped:
    """How the values of one attribute were replaced: released value and its raw values."""

    attribute: str
    level: int | None  # None where cells of the column have levels of their own
    height: int
    groups: tuple[tuple[str, str, int], ...]  # released value, raw values, how many these are
    count: int

    @property
    def more(self) -> int:
        """Values at the level that are not listed."""
        return self.count - len(self.groups)

    @property
    def unchanged(self) -> bool:
        """Whether every value stands for itself alone."""
        return self.level == 0 and all(
            raws == visible(released) for released, raws, _ in self.groups
        )


@dataclass(frozen=True)
class CheckLine:
    """A check with the shape, word and class by which its status shows."""

    icon: str
    style: str
    status: str
    claim: str
    found: str


def render_review(content: ReviewContent) -> bytes:
    """The page; see :func:`~dpdesk.report.pages.render`.

    Raises TypeError, KeyError, ValueError (ChartValueError) for evidence of another form.
    """
    manifest, evidence, method = content.manifest, content.evidence, content.method
    result, public = as_table(evidence["result"]), manifest.result
    risk = {key: value for key, value in as_table(evidence["risk"]).items() if key != LINKAGE}
    values = {
        **stated_values(manifest, method, voice().text("Protected microdata")),
        **recorded_values(manifest, evidence),
        "settings": settings(method.parameters, as_table(evidence["parameters"])),
        "counts": tuple(result_lines(public)),
        "metrics": tuple(metric_lines(public)),
        "figures": tuple(figure_line(as_table(one)) for one in as_list(evidence["figures"])),
        "charts": charts_from_json(evidence["charts"]),
        "roles": _roles(content),
        "mappings": tuple(_mapped(as_table(one)) for one in as_list(evidence["recoded"])),
        "risk": plain_lines(_single(risk)),
        "risk_compared": compared_lines(risk),
        "utility": plain_lines(_single(as_table(evidence["utility"]))),
        "search": plain_lines({key: result[key] for key in result if key not in public}),
        "budget": plain_lines(paid_lines(as_table(evidence.get("budget", {})))),
    }
    rows = rows_of(method)
    drawn = rows is not None and rows.draws and not rows.advice
    page = "report_diverted.html" if drawn else "report.html"
    return render(page, values)


def paid_lines(budget: Mapping[str, object]) -> dict[str, object]:
    """What a page says of the debit; whole entries of the ledger are for programs."""
    return {key: value for key, value in budget.items() if isinstance(value, str)}


def recoded_as_json(
    recoding: AnyRecoding | None,
    quasi: Sequence[str],
    node: object,
    hierarchies: Mapping[str, Hierarchy],
) -> list[dict[str, object]]:
    """How the values of each quasi-identifier were replaced, as the evidence keeps it.

    At most 200 released values of an attribute are listed, with at most 20 raw values each.
    """
    levels = node if isinstance(node, Mapping) else {}
    found: list[dict[str, object]] = []
    celled = recoding if isinstance(recoding, TupleRecoding) else None
    for name in quasi:
        if recoding is None or name not in recoding.attributes:
            continue
        groups: dict[str, list[str]] = {}
        for raw, released in recoding.pairs(name):
            groups.setdefault(released, []).append(raw)
        listed = [
            {"released": released, "raw": raws[:_MOST_RAW], "values": len(raws)}
            for released, raws in list(groups.items())[:_MOST_VALUES]
        ]
        hierarchy = hierarchies.get(name)
        found.append(
            {
                "attribute": name,
                **({"level": int(levels.get(name, 0))} if celled is None else {}),
                "height": hierarchy.height if hierarchy else 1,
                "groups": listed,
                "released_values": len(groups),
            }
        )
    return found


def recorded_values(manifest: Manifest, evidence: Mapping[str, object]) -> dict[str, object]:
    """What every internal report says of the evidence."""
    return {
        "source": evidence["source"],
        "reading": plain_lines(as_table(as_table(evidence["source"])["reading"])),
        "plan_name": evidence["plan_name"],
        **check_lines(evidence),
        "notes": evidence["notes"],
        "recorded_notes": evidence.get("recorded_notes", []),
        "noise_paid": evidence.get("noise_paid", []),
        "files": manifest.files,
        "environment": plain_lines(as_table(evidence["environment"])),
        "timings": plain_lines(as_table(evidence["timings"])),
    }


def role_lines(evidence: Mapping[str, object]) -> list[tuple[str, str]]:
    """The columns of the source with their roles, of a release that holds no rows."""
    columns, roles = as_table(evidence["source"])["columns"], as_table(evidence["roles"])
    return [(str(name), voice().say(text_of(roles[str(name)]))) for name in as_list(columns)]


def check_lines(evidence: Mapping[str, object]) -> dict[str, object]:
    """The checks that the evidence holds, as a report shows them, with their counts."""
    checks = [_recorded_check(as_table(one)) for one in as_list(evidence["checks"])]
    return {
        "checks": tuple(check_line(check) for check in checks),
        "confirmed": sum(check.status is CheckStatus.CONFIRMED for check in checks),
        "failed": sum(check.status is CheckStatus.FAILED for check in checks),
    }


def _recorded_check(raw: Mapping[str, object]) -> ClaimCheck:
    status = CheckStatus(raw["status"])
    claim, found, label = (text_of(raw[name]) for name in ("claim", "found", "label"))
    return ClaimCheck(claim, status, found, label=label)


def figure_line(given: Mapping[str, object]) -> Line:
    """A figure of the evidence, ready to be shown."""
    say, number, kind = voice().say, as_float(given["value"]), str(given["kind"])
    value = f"{figure(number, kind)} {unit_of(number, str(given['unit']))}".rstrip()
    return Line(say(text_of(given["label"])), value, say(text_of(given["help"])))


def _single(table: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in table.items() if key not in ("before", "after")}


def _roles(content: ReviewContent) -> tuple[RoleLine, ...]:
    manifest, method, roles = content.manifest, content.method, as_table(content.evidence["roles"])
    node = manifest.result.get("node")
    levels = node if isinstance(node, Mapping) else {}
    celled = celled_columns(manifest)
    released = rows_of(method)
    drawn = frozenset() if released is None else released.drawn_columns(manifest)
    said = {} if released is None else released.column_words(manifest)
    lines = []
    for name in map(str, as_list(as_table(content.evidence["source"])["columns"])):
        role = Role(roles[name])
        if role is Role.IDENTIFIER:
            fate = voice().text("not released")
        elif role is Role.PSEUDONYM:
            fate = pseudonym_words()
        elif name in said:
            fate = voice().say(said[name])
        elif name in drawn:
            fate = voice().text("drawn within hidden groups")
        elif name in celled:
            fate = voice().text("generalised as far as each of its rows needed")
        elif name in levels:
            fate = voice().text("released at level {level}", level=levels[name])
        else:
            fate = voice().text("released as it is")
        lines.append(RoleLine(name, role.value, fate))
    return tuple(lines)


def _mapped(raw: Mapping[str, object]) -> Mapped:
    groups = []
    for item in map(as_table, as_list(raw["groups"])):
        values, count = [str(text) for text in as_list(item["raw"])], int(as_float(item["values"]))
        shown = ", ".join(visible(value) for value in values)
        shown = f"{shown}, …" if count > len(values) else shown
        groups.append((str(item["released"]), shown, count))
    height, count = (int(as_float(raw[key])) for key in ("height", "released_values"))
    level = int(as_float(raw["level"])) if "level" in raw else None
    return Mapped(str(raw["attribute"]), level, height, tuple(groups), count)


def check_line(check: ClaimCheck) -> CheckLine:
    """A check with the shape and word of its status."""
    icon, style, status = _LOOKS[check.status]
    say = voice()
    return CheckLine(
        icon, style, say.text(status), say.say(check.label or check.claim), say.say(check.found)
    )
