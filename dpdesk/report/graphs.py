"""The two pages of a graph: ``about.html`` for its users, ``report.html`` for its reviewer."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from dpdesk.core.labels import Codebook
from dpdesk.core.language import voice
from dpdesk.core.messages import text_of
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.cubes.exact.attack import Attack
from dpdesk.engine.method import Method
from dpdesk.engine.methods.dp_graph.settings import PARAMETERS, GraphSettings
from dpdesk.engine.methods.dp_graph.words import UNIT, exact_parts
from dpdesk.engine.private.guarantee_words import converted
from dpdesk.engine.private.widths import half_width
from dpdesk.report.cubes import (
    CuboidLine,
    loss_line,
    public_values,
)
from dpdesk.report.exact import AttackLine, attack_lines, deviation_of
from dpdesk.report.pages import figure
from dpdesk.report.words import Line

_EDGES = "edges"
_SMALL = 6


def graph_values(manifest: Manifest, method: Method, book: Codebook) -> dict[str, object]:
    """What both pages of a graph say."""
    result, parameters = manifest.result, manifest.parameters
    values = parse_parameters(PARAMETERS, parameters, "the manifest")
    given = GraphSettings.from_parameters(values, "the manifest")
    lines = tuple(_line(as_table(item), given) for item in as_list(result["cuboids"]))
    edges = next(as_table(i) for i in as_list(result["cuboids"]) if as_table(i)["table"] == _EDGES)
    nodes = as_list(as_table(as_list(result["domains"])[0])["categories"])
    exact = as_table(result["exact"]) if "exact" in result else None
    change = int(as_float(exact["minimal_change"])) if exact is not None else 0
    return {
        **public_values(manifest, method, voice().text("Protected graph")),
        "figures": _figures(given, lines, edges, nodes),
        "cuboids": lines,
        "more": 0,
        "linear": False,
        "biased": False,
        "directed": given.directed,
        "ends": given.ends,
        "width": _shown(half_width(given.noise, as_float(edges["variance"]), 1.0)),
        "domains": as_list(result["domains"]),
        "exact": exact_parts(given),
        "change": change,
        "lines": _attack(given, len(nodes), change) if change else (),
    }


def _figures(
    given: GraphSettings,
    lines: tuple[CuboidLine, ...],
    edges: Mapping[str, object],
    nodes: list[object],
) -> tuple[Line, ...]:
    say, pairs = voice(), int(as_float(edges["cells"]))
    help_text = say.text("In at least 95 % of the cells.")
    return (
        loss_line("ε" if given.pure else "ρ", float(given.budget)),
        Line(say.text("Nodes"), say.count(len(nodes)), say.text("As declared.")),
        Line(say.text("Pairs of nodes"), say.count(pairs), say.text("Each with a value.")),
        *(
            Line(say.text("Error, {table}", table=line.name), f"± {line.half_width}", help_text)
            for line in lines
            if not line.exact
        ),
    )


def _line(item: Mapping[str, object], given: GraphSettings) -> CuboidLine:
    variance, say = as_float(item["variance"]), voice()
    unit = say.say(UNIT)
    return CuboidLine(
        say.say(text_of(item["table"])),
        int(as_float(item["cells"])),
        f"{_shown(sqrt(variance))} {unit}",
        f"{_shown(half_width(given.noise, variance, 1.0))} {unit}",
        str(item["file"]),
        item.get("exact") is True,
        len(as_list(item.get("exact_cells", []))),
    )


def _attack(given: GraphSettings, nodes: int, change: int) -> tuple[AttackLine, ...]:
    """What a mean over the edges of a minimal change tells, with noise for one edge and with that
    of the release; nothing where noise for one edge is enough.
    """
    usual, readings = 2 if given.replace else 1, _readings(given, nodes, change)
    if readings <= usual:
        return ()
    budget = float(given.budget)
    if given.pure:
        plain, here = (deviation_of(size / budget, True) for size in (usual, change))
        loss, more = budget, budget * readings / usual
    else:
        plain, here = (deviation_of(sqrt(s / (2 * budget)), False) for s in (usual, change))
        loss, more = (
            converted(rho, float(given.delta)) for rho in (budget, budget * readings / usual)
        )
    return attack_lines(Attack(readings, more, loss, plain, here, ()))


def _readings(given: GraphSettings, nodes: int, change: int) -> int:
    """The edges of a minimal change that there is: for large undirected graphs a walk through all
    known nodes, from one unknown node to another or, where all are known, back in even steps.
    """
    if given.directed or nodes <= _SMALL:
        return change
    names = given.exact_first
    known = nodes if names is None else len(names)
    walk = known + 1 if known < nodes else nodes - nodes % 2
    return min(change, max(walk, 2 if given.exact_edges or given.replace else 1))


def _shown(value: float) -> str:
    return figure(value, "number")
