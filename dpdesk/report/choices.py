"""The two pages of private choices: ``about.html`` for users, ``report.html`` for the reviewer."""

from __future__ import annotations

from dpdesk.core.language import voice
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.method import Method
from dpdesk.engine.methods.dp_choice.design import settings_of
from dpdesk.report.cubes import CubeReport, internal_values, loss_line, public_values
from dpdesk.report.pages import figure, render
from dpdesk.report.words import Line


def render_about(manifest: Manifest, method: Method) -> bytes:
    """The page for users; it depends on the manifest alone."""
    return render("about_choices.html", _common(manifest, method))


def render_report(content: CubeReport) -> bytes:
    """The page for the reviewer."""
    values = _common(content.manifest, content.method) | internal_values(content)
    return render("report_itemsets.html", values)


def _common(manifest: Manifest, method: Method) -> dict[str, object]:
    given, say = settings_of(manifest), voice()
    listed = [as_table(each) for each in as_list(manifest.result["choices"])]
    errors = [as_float(each["error"]) for each in listed]
    lines = [
        {
            "name": say.say(wanted.name),
            "file": line["file"],
            "candidates": say.count(int(str(line["candidates"]))),
            "error": figure(error, "number"),
        }
        for wanted, line, error in zip(given.wanted, listed, errors, strict=True)
    ]
    return {
        **public_values(manifest, method, say.text("Private choices")),
        "figures": (
            loss_line("ε", float(given.budget)),
            Line(
                say.text("Groups"),
                say.count(int(str(listed[0]["cells"]))),
                say.text("For each there is a choice, also where it has no rows."),
            ),
            Line(
                say.text("Error of a choice, at most"),
                figure(max(errors), "number"),
                say.text("Rows that the best candidate is better by, in 95 % of releases."),
            ),
        ),
        "lines": lines,
        "several": len(lines) > 1,
        "domains": [as_table(each) for each in as_list(manifest.result["domains"])],
        "texts": any(each.quantile is None for each in given.wanted),
        "numbers": any(each.quantile is not None for each in given.wanted),
    }
