"""The two pages of itemsets: ``about.html`` for their users, ``report.html`` for the reviewer."""

from __future__ import annotations

from dpdesk.core.language import voice
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_list, as_table
from dpdesk.engine.method import Method
from dpdesk.engine.methods.itemsets.design import count_width
from dpdesk.engine.methods.itemsets.settings import PARAMETERS, ItemsetSettings
from dpdesk.report.cubes import CubeReport, internal_values, loss_line, public_values
from dpdesk.report.pages import figure, render
from dpdesk.report.words import Line


def render_about(manifest: Manifest, method: Method) -> bytes:
    """The page for users; it depends on the manifest alone."""
    return render("about_itemsets.html", _common(manifest, method))


def render_report(content: CubeReport) -> bytes:
    """The page for the reviewer."""
    values = _common(content.manifest, content.method) | internal_values(content)
    return render("report_itemsets.html", values)


def _common(manifest: Manifest, method: Method) -> dict[str, object]:
    values = parse_parameters(PARAMETERS, manifest.parameters, "the manifest")
    given, say = ItemsetSettings.from_parameters(values, "the manifest"), voice()
    domains = [as_table(item) for item in as_list(manifest.result["domains"])]
    return {
        **public_values(manifest, method, say.text("Frequent itemsets")),
        "figures": (
            loss_line("ε" if given.pure else "ρ", float(given.budget)),
            Line(say.text("Items"), say.count(len(domains)), say.text("As declared.")),
            Line(say.text("Sets, at most"), say.count(given.top), say.text("As requested.")),
        ),
        "domains": domains,
        "chooses": given.chooses,
        "views": given.views is not None,
        "width": "" if given.views else figure(count_width(given, 1, 1.0)[1], "number"),
        "shares": [str(share) for share in given.shares],
    }
