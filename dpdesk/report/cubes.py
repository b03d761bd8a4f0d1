"""The two pages of a cube: ``about.html`` for its users, ``report.html`` for its reviewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from dpdesk.core.charts import charts_from_json
from dpdesk.core.cuboid import listed_tables
from dpdesk.core.labels import Codebook
from dpdesk.core.language import message as m
from dpdesk.core.language import voice
from dpdesk.core.messages import msg
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.method import Method
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.widths import (
    half_width,
    rounding_does_nothing,
    rounding_of_cell,
)
from dpdesk.report.about import stated_values
from dpdesk.report.exact import exact_words, played_attack
from dpdesk.report.pages import figure, measure_words
from dpdesk.report.review import ReviewContent, paid_lines, recorded_values, role_lines
from dpdesk.report.words import Line, plain_lines

_MOST_LISTED = 500
_AVERAGE = "average"


@dataclass(frozen=True)
class CuboidLine:
    """One table as readers see it."""

    name: str
    cells: int
    deviation: str
    half_width: str
    file: str
    exact: bool = False
    exact_cells: int = 0


def public_values(manifest: Manifest, method: Method, title: str) -> dict[str, object]:
    """What both pages of a release with noise say; ``title`` is for plans without one."""
    return {
        **stated_values(manifest, method, title),
        "outside": list(as_table(manifest.result["outside"]).items()),
        "counted": _rows_by(manifest.result),
    }


def _rows_by(result: Mapping[str, object]) -> list[str]:
    """Columns beside the dimensions by which rows are left out."""
    if "counted_by" not in result:
        return []
    stated = as_table(result["counted_by"])
    names = [str(as_table(item)["dimension"]) for item in as_list(stated["domains"])]
    return [name for name in names if name not in as_table(stated["outside"])]


def internal_values(content: ReviewContent) -> dict[str, object]:
    """What the page for the reviewer says beyond the public one."""
    evidence = content.evidence
    return {
        **recorded_values(content.manifest, evidence),
        "noise_paid": (),
        "budget": plain_lines(paid_lines(as_table(evidence["budget"]))),
        "counting": plain_lines(as_table(as_table(evidence["result"]).get("counting", {}))),
        "attack": played_attack(content.manifest, as_table(evidence["result"])),
        "roles": role_lines(evidence),
        "charts": charts_from_json(evidence["charts"]),
    }


def cube_values(manifest: Manifest, method: Method, book: Codebook) -> dict[str, object]:
    """What both pages of a cube or of views say."""
    result, parameters = manifest.result, manifest.parameters
    lines = tuple(_cuboid_line(item, manifest) for item in listed_tables(result))
    return {
        **public_values(manifest, method, voice().text("Protected tables")),
        "figures": _figures(manifest),
        "cuboids": lines[:_MOST_LISTED],
        "more": max(0, len(lines) - _MOST_LISTED),
        "domains": [_labelled(as_table(item), book) for item in as_list(result["domains"])],
        "sources": [table_name(as_list(names)) for names in as_list(result["noise_sources"])],
        "all_measured": all(
            item["dimensions"] in as_list(result["noise_sources"]) for item in listed_tables(result)
        ),
        "exact": exact_words(manifest),
        "attack": (),
        "biased": result.get("biased") is True,
        "integral": parameters.get("integral") is True,
        "linear": parameters.get("consistency") in ("l1", "linf"),
        "views": "views" in result,
        "adds_up": parameters.get("consistency") != "none",
        "averages": any(
            str(item.get("measure")).startswith(_AVERAGE) for item in listed_tables(result)
        ),
    }


def _labelled(item: Mapping[str, object], book: Codebook) -> dict[str, object]:
    """A dimension with its categories as people read them: with labels, where there are any."""
    name, categories = str(item["dimension"]), [str(text) for text in as_list(item["categories"])]
    variable = book.get(name)
    if variable is None:
        return {"dimension": name, "categories": categories}
    shown = f"{name} · {variable.label}" if variable.label else name
    return {"dimension": shown, "categories": [variable.shown(text) for text in categories]}


def _figures(manifest: Manifest) -> tuple[Line, ...]:
    result, parameters = manifest.result, manifest.parameters
    cuboids = listed_tables(result)
    largest: dict[str, float] = {}
    for item in cuboids:
        measure = str(item.get("measure", ""))
        if not measure.startswith(_AVERAGE):  # theirs depends on the number of persons
            width = table_width(item, manifest)
            largest[measure] = max(width, largest.get(measure, 0.0))
    rho = "rho" in parameters
    budget = as_float(parameters["rho" if rho else "epsilon"])
    say, cells = voice(), sum(int(as_float(item["cells"])) for item in cuboids)
    return (
        loss_line("ρ" if rho else "ε", budget),
        Line(say.text("Tables"), say.count(len(cuboids)), say.text("One file each.")),
        Line(say.text("Cells"), say.count(cells), say.text("In all tables.")),
        *(_error_line(measure, width, manifest) for measure, width in largest.items()),
    )


def loss_line(symbol: str, budget: float) -> Line:
    """What a release spends of a budget."""
    say = voice()
    return Line(
        say.text("Privacy loss"),
        f"{symbol} = {say.figure(f'{budget:g}')}",
        say.text("The smaller, the safer."),
    )


_ERROR_HELP = (
    m("In at least 95 % of the cells of the least exact table."),
    m("For least squares; the rule that was used has larger errors."),
    m("Before negative values were removed, which moves them."),
)


def _error_line(measure: str, width: float, manifest: Manifest) -> Line:
    say, parameters = voice(), manifest.parameters
    unit = say.say(unit_words(measure, parameters.get("measure")))
    label = (
        say.text("Largest error, {measure}", measure=measure_words(measure))
        if measure
        else say.text("Largest error")
    )
    which = 1 if parameters.get("consistency") in ("l1", "linf") else 0
    which = 2 if manifest.result.get("biased") is True else which
    return Line(
        label, msg("± {size} {unit}", size=_shown(width), unit=unit), say.text(_ERROR_HELP[which])
    )


def table_width(item: Mapping[str, object], manifest: Manifest) -> float:
    """± in 95 % of the cells of a table, from its line in a manifest and what else stands there.

    Where numbers were made whole it holds for the whole numbers; see
    :func:`~dpdesk.engine.methods.dp_cube.widths.released_width`.
    """
    parameters = manifest.parameters
    noise = Noise.GAUSSIAN if "rho" in parameters else Noise.LAPLACE
    step = _step(str(item.get("measure", "")), parameters.get("measure"))
    variance = as_float(item["variance"])
    result = manifest.result if parameters.get("integral") is True else {}
    sources = len(as_list(result.get("noise_sources", [])))
    whole = rounding_does_nothing(sources, nonnegative=parameters.get("nonnegative") is True)
    if result and not whole and variance > 0:
        domains = [as_table(one) for one in as_list(result["domains"])]
        inside = [one["dimension"] in as_list(item["dimensions"]) for one in domains]
        shape = [len(as_list(one["categories"])) for one in domains]
        variance += rounding_of_cell(inside, shape) * step**2
    return half_width(noise, variance, step)


def unit_words(measure: str, plain: object) -> str:
    """What the errors of a measure of a manifest are counted in; of an average's, times n."""
    if not measure:  # the only one, which the parameters name
        given = plain[0] if isinstance(plain, list | tuple) and plain else plain
        column = given.get("sum") if isinstance(given, Mapping) else None
        return msg("units of {column}", column=column) if column else "people"
    kind, _, column = measure.partition(" of ")
    if not column:
        return "people"
    return (
        msg("units of {column} / n", column=column)
        if kind == _AVERAGE
        else msg("units of {column}", column=column)
    )


def table_name(dimensions: Sequence[object]) -> str:
    """A table as people read it: its dimensions, or that it is the grand total."""
    return " × ".join(map(str, dimensions)) or voice().text("grand total")


def _step(measure: str, plain: object) -> float:
    """The step of the grid that errors lie on; of an average's, times its persons, both parts."""
    for each in plain if isinstance(plain, list | tuple) else [plain]:
        if not isinstance(each, Mapping):
            continue
        step = as_float(each.get("step", 1))
        if measure in ("", f"sum of {each.get('sum')}", f"centred sum of {each.get('average')}"):
            return step
        if measure == f"{_AVERAGE} of {each.get('average')}":
            return step + (as_float(each["upper"]) - as_float(each["lower"])) / 2
    return 1.0


def _cuboid_line(item: Mapping[str, object], manifest: Manifest) -> CuboidLine:
    parameters = manifest.parameters
    names = table_name(as_list(item["dimensions"]))
    measure = str(item.get("measure", ""))
    deviation, width = (
        _shown(sqrt(as_float(item["variance"]))),
        _shown(table_width(item, manifest)),
    )
    unit = voice().say(unit_words(measure, parameters.get("measure")))
    return CuboidLine(
        f"{names} ({measure_words(measure)})" if measure else names,
        int(as_float(item["cells"])),
        f"{deviation} {unit}",
        f"{width} {unit}",
        str(item["file"]),
        item.get("exact") is True,
        len(as_list(item.get("exact_cells", []))),
    )


def _shown(value: float) -> str:
    return figure(value, "number")
