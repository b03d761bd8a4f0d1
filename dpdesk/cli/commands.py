"""The commands: each calls one use-case and says what came of it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.context import AppContext
from dpdesk.app.private.trial import Trial
from dpdesk.cli.printing import (
    Outcome,
    columns,
    guarantee_text,
    one_line,
    paragraph,
    profile_text,
    risk_text,
    written,
)
from dpdesk.core.charts import BarChart, Cell, Chart, ScatterChart, format_figure
from dpdesk.core.jobs import CancelToken, Event, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg
from dpdesk.core.release import CheckStatus
from dpdesk.core.table_parameters import typed_text

if TYPE_CHECKING:
    from dpdesk.app.comparing import Comparison
    from dpdesk.core.release import VerifyReport


# Comparisons on the user's own data for people at a terminal.


def comparison_text(found: Comparison) -> str:
    """A comparison: what it is, its sentence, and each chart's numbers with one line a row."""
    size = f"ℓ′ = {found.size}" if found.measure == "l" else f"{found.size:,} {found.measure}"
    asked = f"{found.queries:,} queries on " if found.queries else ""
    head = f"{found.column}, {size}: {asked}{found.rows:,} rows ({found.badge})"
    parts = [head, "", paragraph(found.sentence)]
    for chart in found.charts:
        parts += ["", chart.question, _numbers(chart)]
    return "\n".join(parts) + "\n"


def _numbers(chart: Chart) -> str:
    """The twin of a chart, turned: a line of the chart is a row."""
    heads, rows = chart.table.columns, chart.table.rows
    if isinstance(chart, BarChart):
        table = [[heads[0], *(str(row[0]) for row in rows)]]
        table += [
            [f"  {name}", *(_number(row[place]) for row in rows)]
            for place, name in enumerate(heads[1:], start=1)
        ]
        return columns(list(zip(*table, strict=True)), right=range(1, len(table)))
    percent = isinstance(chart, ScatterChart) and chart.x_axis.percent
    shares = not isinstance(chart, ScatterChart) or chart.y_axis.percent
    table = [[heads[0].capitalize(), *(_place_name(row[0], percent) for row in rows)]]
    for place, name in enumerate(heads[1:], start=1):
        cells = [row[place] for row in rows]
        kind = "share" if shares else "number"
        shown = [format_figure(cell, kind) if isinstance(cell, float) else "–" for cell in cells]
        table.append([f"  {name.partition(': mean relative error')[0]}", *shown])
    return columns(table, right=range(1, len(rows) + 1))


def _number(cell: Cell) -> str:
    if isinstance(cell, str) or cell is None:
        return cell or "–"
    return format_figure(cell, "count" if isinstance(cell, int) else "number")


def _place_name(value: Cell, percent: bool) -> str:
    if not isinstance(value, float):
        return str(value)
    return format_figure(value, "share") if percent else f"{value:g}"


# What ``dpdesk trial`` says: which rows lie outside the declared categories.


_BADGE = (
    "Internal: a look at the data, entered in the audit log. Do not publish it: what is decided "
    "after it is not covered by ε."
)


def percent(share: Fraction) -> str:
    """A share for people."""
    return f"{float(100 * share):.4g} %"


def trial_outcome(trial: Trial, plan: Path) -> Outcome:
    """The table by column, the rows left out, and exit code 1 beyond the policy's share."""
    found = trial.found
    rows: list[tuple[str, ...]] = [
        ("", "column", "categories", "rows outside", "share", "go to", "most frequent")
    ]
    for one in found.columns:
        mark = "✕" if one in trial.beyond else "✓"
        texts = ", ".join(f"{one_line(text, 20)!r} ({count:,})" for text, count in one.values)
        goes = (one.taker or "left out") if one.rows else "-"
        share = percent(trial.share(one.rows))
        rows.append((mark, one.column, f"{one.categories:,}", f"{one.rows:,}", share, goes, texts))
    lost = f"{found.left_out:,} of {found.rows:,} rows ({percent(trial.share(found.left_out))})"
    lines = [
        paragraph(_BADGE),
        "",
        columns(rows),
        "",
        f"Left out: {lost}.",
        f"Allowed by the policy: {percent(trial.limit)}.",
    ]
    complaints: tuple[str, ...] = ()
    if not trial.ok:
        complaints = (_complaint(trial, plan),)
    return Outcome("\n".join(lines) + "\n", _as_json(trial), 0 if trial.ok else 1, complaints)


def _complaint(trial: Trial, plan: Path) -> str:
    worst = max(trial.beyond, key=lambda one: one.rows, default=None)
    limit = percent(trial.limit)
    if worst is None:
        left_out = trial.found.left_out
        return msg(
            "{plan}: {n:,} of {rows:,} rows are outside the declared categories of some column, "
            "expected at most {limit}.",
            plan=plan,
            n=left_out,
            rows=trial.found.rows,
            limit=limit,
        )
    return msg(
        "{plan}, column {column}: {n:,} of {rows:,} rows are outside the declared categories, "
        "expected at most {limit}.",
        plan=plan,
        column=worst.column,
        n=worst.rows,
        rows=trial.found.rows,
        limit=limit,
    )


def _as_json(trial: Trial) -> dict[str, object]:
    found = trial.found
    return {
        "ok": trial.ok,
        "rows": found.rows,
        "left_out": found.left_out,
        "limit": float(trial.limit),
        "columns": [
            {
                "column": one.column,
                "categories": one.categories,
                "outside": one.rows,
                "share": float(trial.share(one.rows)),
                "taker": one.taker,
                "values": [{"value": text, "rows": count} for text, count in one.values],
            }
            for one in found.columns
        ],
    }


_LONGEST_LIST = 60

Command = Callable[[AppContext, Namespace, CancelToken, Report], Outcome]


class RunningCommand:
    """The command that ``options`` name, with a workspace of its own.

    Calling it runs the command, once; :meth:`abandon` may be called from another thread meanwhile.
    """

    def __init__(self, options: Namespace, report: Report) -> None:
        self._options = options
        self._report = report
        self._context: AppContext | None = None
        self._abandoned = False

    def __call__(self, token: CancelToken) -> Outcome:
        """Run the command, and enter it in the audit log.

        What makes a release or an export is entered before it begins, and not begun otherwise; what
        only looks is entered afterwards, where that is possible. Raises the errors of its use-case.
        """
        from dpdesk.app.auditing import enter, mention

        options = self._options
        with AppContext.open() as context:
            self._context = context
            token.check()
            if getattr(options, "asks", ()):
                from dpdesk.cli.review.passphrases import told_open

                for note in told_open(options):
                    self._tell(note)
            if options.command in _DEEDS and options.out is not None:
                action, subject = _DEEDS[options.command]
                enter(context, action, getattr(options, subject).absolute(), _out(options))
            outcome = _COMMANDS[options.command](context, options, token, self._tell)
            if options.command in _LOOKS:
                action, subject = _LOOKS[options.command]
                mention(context, action, _place(getattr(options, subject)), self._tell)
            return outcome

    def abandon(self) -> bool:
        """Remove all that the command left so far, for the process ends now.

        False, and nothing is removed, when its result is in its place already, or the command is
        one that has to end by itself: the caller must wait for it.
        """
        if not _stoppable(self._options):
            return False
        context = self._context
        self._abandoned = context is None or context.workspace.abandon()
        return self._abandoned

    @property
    def unreleased(self) -> tuple[str, ...]:
        """What the command debited so far without a release, a sentence each."""
        runs = () if self._context is None else tuple(self._context.unreleased.values())
        return tuple(told for run in runs for told in run)

    def _tell(self, event: Event) -> None:
        if not self._abandoned:
            self._report(event)


def _place(subject: Path | str) -> Path:
    """What was looked at, as the audit log names it: a path, or an address that looks like one."""
    return Path(subject) if isinstance(subject, str) else subject.absolute()


def _stoppable(options: Namespace) -> bool:
    if options.command == "ledger":
        return options.handler in _STOPPABLE_OF_LEDGER
    return options.command in _STOPPABLE


def _out(options: Namespace) -> Mapping[str, object]:
    return {"command": options.command, "out": str(options.out.absolute())}


def _run(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    from dpdesk.app.auditing import mention_release
    from dpdesk.app.running import run_plan

    summary = run_plan(context, options.plan, options.out, token, report)
    mention_release(context, summary.out, report)
    text = "\n".join(
        [
            f"Release written to {summary.out}",
            "",
            guarantee_text(summary.guarantee),
            "",
            _result_text(summary.result),
            "",
            f"Check it with: dpdesk verify {summary.out}",
        ]
    )
    return Outcome(text + "\n", summary.as_json(), kept=True)


def _trial(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    from dpdesk.app.private.trial import try_plan

    return trial_outcome(try_plan(context, options.plan, token, report), options.plan)


def _result_text(result: Mapping[str, object]) -> str:
    rows: list[tuple[str, str]] = []
    for key, value in result.items():
        if isinstance(value, Mapping):
            rows += [(f"{key}, {name}", _value(item)) for name, item in value.items()]
        else:
            rows.append((key, _value(value)))
    return columns([(f"  {key.replace('_', ' ')}", value) for key, value in rows])


def _value(value: object) -> str:
    if isinstance(value, list | tuple) and len(str(value)) > _LONGEST_LIST:
        return f"{len(value):,}, listed in manifest.json"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


def _inspect(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    from dpdesk.app.describing import inspect_source, inspected_source, profile_as_json

    if options.plan is not None:
        return _fit(context, options, token, report)
    spec = inspected_source(options.data, options.table, options.query)
    profile = inspect_source(context, spec, token, report)
    return Outcome(profile_text(profile), profile_as_json(profile))


def _fit(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    from dpdesk.app.describing import fit_file, inspected_source, profile_as_json
    from dpdesk.app.recipes import Weight
    from dpdesk.cli.printing import fit_text

    spec = inspected_source(options.data, options.table, options.query)
    found = fit_file(context, options.plan, spec, token, report)
    complaints: tuple[str, ...] = ()
    if not found.fits:
        blocking = found.of(Weight.BLOCKS)
        count = f"{len(blocking):,} things, the first: " if len(blocking) > 1 else ""
        complaints = (f"{options.data} does not fit {options.plan}: {count}{blocking[0].sentence}",)
    plain = {**profile_as_json(found.profile), "fit": found.as_json()}
    return Outcome(fit_text(found), plain, 0 if found.fits else 1, complaints)


def _risk(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    from dpdesk.app.risk import assess

    found = assess(context, options.target, token, report)
    text = "\n".join(
        [
            f"Risk of the {found.subject} {found.name} ({found.method})",
            "",
            risk_text(found.risk, found.counted, found.guarantee),
            "",
            guarantee_text(found.guarantee),
        ]
    )
    return Outcome(text + "\n", found.as_json())


def _verify(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    from dpdesk.app.review.review_picture import verify_signed

    found = verify_signed(
        context, options.release, token, report, options.source, options.population
    )
    complaints: tuple[str, ...] = ()
    if not found.ok:
        lines = [
            msg("{file}: {note}", file=failure.path, note=failure.reason)
            for failure in found.failures
        ]
        first = lines[0] if lines else "a claim could not be confirmed"
        count = f"{len(lines):,} problems, the first: " if len(lines) > 1 else ""
        complaints = (*lines, f"{options.release} is not verified: {count}{first}.")
    return Outcome(_verify_text(found), found.as_json(), 0 if found.ok else 1, complaints)


def _verify_text(found: VerifyReport) -> str:
    parts = [
        paragraph(f"[{check.status.value}] {check.claim}: {check.found}") for check in found.claims
    ]
    parts += [
        msg("{file}: {note}", file=failure.path, note=failure.reason) for failure in found.failures
    ]
    parts += [paragraph(f"Note: {note}") for note in found.notes]
    verified = "Verified."
    if any(check.status is CheckStatus.NOT_CHECKED for check in found.claims):
        verified = "Verified, but for what is marked as not checked."
    parts.append(verified if found.ok else "Not verified.")
    return "\n".join(parts) + "\n"


def _compare(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    from dpdesk.app.comparing import compare_plan, redesign_plan

    if options.redesign:
        made = redesign_plan(context, options.plan, token, report)
        text = comparison_text(made.comparison)
        for each in made.proposals[:1]:
            keys = [f"  {key} = {typed_text(value)}" for key, value in each.changes.items()]
            text += "\n".join(["", "For the first, [protection] of the plan has:", *keys, ""])
        return Outcome(text, {"redesign": made.as_json()})
    found = compare_plan(context, options.plan, token, report, options.twin)
    text = "\n".join(comparison_text(each) for each in found)
    return Outcome(text, {"comparisons": [each.as_json() for each in found]})


def _export(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    from dpdesk.app.exporting import export_release

    export_release(
        options.release,
        options.format,
        options.out,
        context.workspace,
        token,
        report,
        options.agency,
        context.registry,
        rows=options.rows,
    )
    return Outcome(written(options.out), kept=True)


def _demo(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    from dpdesk.app.auditing import mention_release
    from dpdesk.app.demo import make_demo

    made = make_demo(context, options.out, token, report)
    for release in made:
        mention_release(context, release.summary.out, report)
    parts = [f"{len(made)} releases made from the bundled sample and verified:"]
    for release in made:
        parts += [
            "",
            f"{release.summary.out}",
            f"  {release.title} ({release.summary.method})",
            paragraph(str(release.summary.guarantee.get("claim", "")), 2),
        ]
    return Outcome("\n".join(parts) + "\n", kept=True)


def _action(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """An action that the grammar names by its module and function."""
    from importlib import import_module

    module, _, name = options.handler.rpartition(".")
    action: Command = getattr(import_module(f"dpdesk.cli.{module}"), name)
    return action(context, options, token, report)


# Which commands are deeds and which are looks: the word of the audit log, and what they are about.
_DEEDS: Mapping[str, tuple[Logged, str]] = {
    "run": (Logged.RAN, "plan"),
    "buy": (Logged.RAN, "plan"),
    "demo": (Logged.RAN, "out"),
    "export": (Logged.EXPORTED, "release"),
}
_LOOKS: Mapping[str, tuple[Logged, str]] = {
    "inspect": (Logged.OPENED, "data"),
    "risk": (Logged.VIEWED, "target"),
    "verify": (Logged.VIEWED, "release"),
    "query": (Logged.VIEWED, "release"),
    "compare": (Logged.VIEWED, "plan"),
}
# Those that put what they make in its place through the workspace, see Workspace.placing; of those
# of the ledger, the ones that write nothing in it.
_STOPPABLE = frozenset(
    (
        "run",
        "inspect",
        "risk",
        "trial",
        "verify",
        "query",
        "compare",
        "buy",
        "export",
        "demo",
        "review",
    )
)
_STOPPABLE_OF_LEDGER = frozenset(("ledger.show", "ledger.check", "ledger.export"))

_COMMANDS: Mapping[str, Command] = {
    "run": _run,
    "inspect": _inspect,
    "risk": _risk,
    "trial": _trial,
    "verify": _verify,
    "query": _action,
    "compare": _compare,
    "buy": _action,
    "export": _export,
    "demo": _demo,
    "review": _action,
    "ledger": _action,
    "pseudonyms": _action,
    "databases": _action,
}
