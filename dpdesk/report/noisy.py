"""The two pages of releases with noise: ``about.html`` for users, ``report.html`` for reviewers."""

from __future__ import annotations

from typing import Protocol

from dpdesk.core.capabilities import Content
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.language import voice
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.method import Method
from dpdesk.engine.methods.dp_choice.design import settings_of
from dpdesk.engine.methods.itemsets.design import count_width
from dpdesk.engine.methods.itemsets.settings import PARAMETERS, ItemsetSettings
from dpdesk.report.cubes import cube_values, internal_values, loss_line, public_values
from dpdesk.report.graphs import graph_values
from dpdesk.report.pages import figure, render
from dpdesk.report.review import ReviewContent
from dpdesk.report.words import Line


def render_about(manifest: Manifest, method: Method, book: Codebook = NO_BOOK) -> bytes:
    """The page for users; it depends on the manifest and the published labels alone."""
    template, _, values = _pages(method)
    return render(template, values(manifest, method, book))


def render_report(content: ReviewContent) -> bytes:
    """The page for the reviewer."""
    _, template, values = _pages(content.method)
    both = values(content.manifest, content.method, content.book)
    return render(template, both | internal_values(content))


class _Values(Protocol):
    def __call__(self, manifest: Manifest, method: Method, book: Codebook) -> dict[str, object]: ...


def _pages(method: Method) -> tuple[str, str, _Values]:
    """The templates of both pages, and what both say."""
    pages: dict[Content | None, tuple[str, str, _Values]] = {
        Content.GRAPH: ("about_graph.html", "report_graph.html", graph_values),
        Content.ITEMSETS: ("about_itemsets.html", "report_itemsets.html", _itemsets),
        Content.CHOICES: ("about_choices.html", "report_itemsets.html", _choices),
    }
    other = "about_cube.html", "report_cube.html", cube_values
    return pages.get(method.capabilities.content, other)


def _choices(manifest: Manifest, method: Method, book: Codebook) -> dict[str, object]:
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


def _itemsets(manifest: Manifest, method: Method, book: Codebook) -> dict[str, object]:
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
