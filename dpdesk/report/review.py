"""``report.html``: for the reviewer, who did not make the release; it tells of the raw data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpdesk.core.charts import Figure
from dpdesk.core.language import message as m
from dpdesk.core.language import voice
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.schema import Role
from dpdesk.engine.method import Method, MethodInput, MethodOutcome
from dpdesk.engine.randomised_method import Judged
from dpdesk.report.about import pseudonym_words, settings
from dpdesk.report.pages import figure, render, visible
from dpdesk.report.words import (
    Line,
    compared_lines,
    metric_lines,
    plain_lines,
    result_lines,
    unit_of,
)

_MOST_VALUES = 200
_LOOKS = {
    CheckStatus.CONFIRMED: ("✓", "ok", m("confirmed")),
    CheckStatus.FAILED: ("✕", "fail", m("failed")),
    CheckStatus.NEEDS_SOURCE: ("△", "caution", m("not repeated here")),
    CheckStatus.NOT_CHECKABLE: ("○", "muted", m("not checkable")),
    CheckStatus.NOT_CHECKED: ("○", "muted", m("not checked")),
}


@dataclass(frozen=True)
class ReviewContent:
    """Everything that the report is made from; ``evidence`` as ``evidence.json`` holds it."""

    manifest: Mapping[str, object]
    evidence: Mapping[str, object]
    method: Method
    given: MethodInput
    outcome: MethodOutcome | Judged
    checks: tuple[ClaimCheck, ...]


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
    level: int
    height: int
    groups: tuple[tuple[str, str, int], ...]  # value at the level, raw values, how many these are
    count: int

    @property
    def more(self) -> int:
        """Values at the level that are not listed."""
        return self.count - len(self.groups)

    @property
    def unchanged(self) -> bool:
        """Whether every value stands for itself alone."""
        return not self.level and all(
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
    """The page; see :func:`~dpdesk.report.pages.render`."""
    manifest, evidence, outcome = content.manifest, content.evidence, content.outcome
    values = {
        "title": manifest["title"] or voice().text("Protected microdata"),
        "manifest": manifest,
        "guarantee": manifest["guarantee"],
        "method": content.method,
        "settings": settings(content.method.parameters, _table(evidence, "parameters")),
        "source": _table(evidence, "source"),
        "reading": plain_lines(_table(_table(evidence, "source"), "reading")),
        "plan_name": evidence["plan_name"],
        "counts": tuple(result_lines(outcome.result)),
        "metrics": tuple(metric_lines(outcome.result)),
        "figures": tuple(_figure_line(one) for one in outcome.figures),
        "charts": outcome.charts,
        "roles": _roles(content),
        "mappings": _mappings(content),
        "risk": plain_lines(_single(outcome.risk)),
        "risk_compared": compared_lines(outcome.risk),
        "utility": plain_lines(_single(outcome.utility)),
        "search": plain_lines(outcome.internal),
        "checks": tuple(check_line(check) for check in content.checks),
        "confirmed": sum(c.status is CheckStatus.CONFIRMED for c in content.checks),
        "failed": sum(c.status is CheckStatus.FAILED for c in content.checks),
        "notes": evidence["notes"],
        "files": manifest["files"],
        "environment": plain_lines(_table(evidence, "environment")),
        "timings": plain_lines(_table(evidence, "timings")),
    }
    drawn = isinstance(outcome, Judged)
    return render("report_diverted.html" if drawn else "report.html", values)


def _table(values: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = values.get(key)
    return value if isinstance(value, Mapping) else {}


def _figure_line(given: Figure) -> Line:
    say = voice().say
    value = f"{figure(given.value, given.kind)} {unit_of(given.value, given.unit)}".rstrip()
    return Line(say(given.label), value, say(given.help))


def _single(table: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in table.items() if key not in ("before", "after")}


def _roles(content: ReviewContent) -> tuple[RoleLine, ...]:
    outcome = content.outcome
    node = outcome.result.get("node")
    levels = node if isinstance(node, Mapping) else {}
    drawn = outcome.drawn if isinstance(outcome, Judged) else frozenset()
    lines = []
    for name, role in content.given.roles.items():
        if role is Role.IDENTIFIER:
            fate = voice().text("not released")
        elif role is Role.PSEUDONYM:
            fate = pseudonym_words()
        elif name in drawn:
            fate = voice().text("drawn within hidden groups")
        elif name in levels:
            fate = voice().text("released at level {level}", level=levels[name])
        else:
            fate = voice().text("released as it is")
        lines.append(RoleLine(name, role.value, fate))
    return tuple(lines)


def _mappings(content: ReviewContent) -> tuple[Mapped, ...]:
    node = content.outcome.result.get("node")
    levels = node if isinstance(node, Mapping) else {}
    found = []
    for name in content.given.with_role(Role.QUASI_IDENTIFIER):
        recoding = content.outcome.recoding
        pairs = recoding.mapping.get(name) if recoding is not None else None
        hierarchy = content.given.hierarchies.get(name)
        if pairs is None:
            continue
        groups: dict[str, list[str]] = {}
        for raw, released in pairs.items():
            groups.setdefault(released, []).append(raw)
        level, height = int(levels.get(name, 0)), hierarchy.height if hierarchy else 1
        lines = [(released, *_raw_text(raws)) for released, raws in groups.items()]
        found.append(Mapped(name, level, height, tuple(lines[:_MOST_VALUES]), len(lines)))
    return tuple(found)


def _raw_text(values: list[str]) -> tuple[str, int]:
    shown = ", ".join(visible(value) for value in values[:20])
    return (f"{shown}, …" if len(values) > 20 else shown), len(values)


def check_line(check: ClaimCheck) -> CheckLine:
    """A check with the shape and word of its status."""
    icon, style, status = _LOOKS[check.status]
    say = voice()
    return CheckLine(
        icon, style, say.text(status), say.say(check.label or check.claim), say.say(check.found)
    )
