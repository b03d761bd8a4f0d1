"""What ``dpdesk trial`` says: which rows lie outside the declared categories."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from dpdesk.app.private.trial import Trial
from dpdesk.cli.outcome import Outcome
from dpdesk.cli.printing import columns, one_line, paragraph
from dpdesk.core.messages import msg

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
        f"In no table: {lost}.",
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
            "{plan}: {n:,} of {rows:,} rows lie outside the declared categories of one "
            "column or another, expected at most {limit}.",
            plan=plan,
            n=left_out,
            rows=trial.found.rows,
            limit=limit,
        )
    return msg(
        "{plan}, column {column}: {n:,} of {rows:,} rows lie outside the declared "
        "categories, expected at most {limit}.",
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
