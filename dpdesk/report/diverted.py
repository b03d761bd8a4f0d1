"""``about.html`` of a release with drawn values: what it holds and how to estimate from it."""

from __future__ import annotations

from dpdesk.core.language import voice
from dpdesk.report.about import AboutContent, settings
from dpdesk.report.pages import figure, render
from dpdesk.report.words import Line, result_lines

_EXAMPLE_COUNTS = (20, 100, 1_000, 10_000)


def render_about(content: AboutContent) -> bytes:
    """The page for users; it depends on the manifest and the published table alone."""
    manifest = content.manifest
    result, parameters, guarantee = manifest.result, manifest.parameters, manifest.guarantee
    given = guarantee.parameters
    size, drawn = int(str(given["l"])), given["diverted"]
    if not isinstance(drawn, list | tuple):
        raise TypeError("`diverted` is not a list")
    values = {
        "title": manifest.title or voice().text("Protected microdata"),
        "manifest": manifest,
        "guarantee": guarantee,
        "method": content.method,
        "settings": settings(content.method.parameters, parameters),
        "counts": tuple(result_lines(result)),
        "columns": content.columns,
        "drawn": drawn,
        "size": size,
        "partition": parameters.get("partition"),
        "errors": _errors(size),
        "suppressed": result.get("rows_suppressed", 0),
        "k": given.get("k"),
    }
    return render("about_diverted.html", values)


def _errors(size: int) -> tuple[Line, ...]:
    """Standard deviations of counts of one value in the whole table: √(f·(1 − 1/ℓ′))."""
    return tuple(
        Line(
            voice().text("A count of {n}", n=count),
            f"± {figure((count * (1 - 1 / size)) ** 0.5, 'number')}",
            voice().text(
                "{share} of the count", share=figure(((1 - 1 / size) / count) ** 0.5, "share")
            ),
        )
        for count in _EXAMPLE_COUNTS
    )
