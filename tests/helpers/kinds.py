"""One release of each kind that the program makes, with the source it was made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

from dpdesk.app.buying import TableRequest, buy
from dpdesk.app.context import AppContext
from dpdesk.app.pseudonyms import make_key
from dpdesk.app.running import run_plan
from dpdesk.app.shops import shop_of_file
from dpdesk.core.jobs import CancelToken, silent
from tests.helpers import clinic, cubes
from tests.helpers import releases as town
from tests.helpers.pinned import pin

Made = tuple[Path, Path]
Maker = Callable[[Path, AppContext], Made]


def _town(*lines: str) -> Maker:
    def make(folder: Path, context: AppContext) -> Made:
        plan = town.write_source(folder)
        text = plan.read_text("utf-8").replace('objective = "discernibility"\n', "")
        plan.write_text(text + "".join(f"{line}\n" for line in lines), "utf-8")
        return town.release(plan, folder / "release", context).out, folder / town.SOURCE

    return make


def _linked(folder: Path, context: AppContext) -> Made:
    """Pseudonyms, a hierarchy in a file, and noise paid for about the same people."""
    source = cubes.write_register(folder, cubes.people())
    cubes.release(context, cubes.write_plan(source, name="cube.toml"), folder / "cube")
    make_key(context, "people", silent)
    (folder / "pay.csv").write_text(
        "".join(f"{pay};*\n" for pay in ("100", "250", "9999999", "-5", "n/a")), "utf-8"
    )
    plan = folder / "linked.toml"
    plan.write_text(
        f"""version = 1
title = "Linked register"
[source]
path = "{source.name}"
[attributes]
person = {{ role = "identifier", pseudonym = {{ key = "people" }} }}
sex = {{ role = "quasi-identifier" }}
pay = {{ role = "quasi-identifier", hierarchy = "pay.csv" }}
[protection]
method = "k-anonymity"
k = 3
max_suppression = 0.1
[budget]
population = "register"
""",
        "utf-8",
    )
    return run_plan(context, plan, folder / "release", CancelToken(), silent).out, source


def _clinic(protection: str = "", attributes: str = "", method: str = "l-diverted") -> Maker:
    def make(folder: Path, context: AppContext) -> Made:
        source = clinic.write_source(folder)
        plan = clinic.write_plan(folder, protection, attributes, method)
        return clinic.release(plan, folder / "release", context).out, source

    return make


def _drawn(folder: Path, context: AppContext) -> Made:
    source = cubes.write_register(folder, cubes.people())
    keys = {
        "dimensions": None,
        "levels": None,
        "drawn": ["sex", "region"],
        "domains": {"sex": list(cubes.SEX), "region": list(cubes.REGION)},
        "outside": {"sex": "m"},
    }
    plan = cubes.write_plan(source, method="randomised-response", **keys)
    return cubes.release(context, plan, folder / "release").out, source


def _cube(**keys: object) -> Maker:
    given = {"dimensions": ["sex", "age"], "domains": {"sex": list(cubes.SEX)}} | keys

    def make(folder: Path, context: AppContext) -> Made:
        source = cubes.write_register(folder, cubes.people())
        plan = cubes.write_plan(source, **given)
        return cubes.release(context, plan, folder / "release").out, source

    return make


def _bought(folder: Path, context: AppContext) -> Made:
    first, source = _cube()(folder, context)
    out, wish = folder / "bought", TableRequest(("sex",), ("epsilon", Fraction(1, 16)))
    shop = shop_of_file(folder / "plan.toml")
    _, summary = buy(context, shop, wish, [first], out, CancelToken(), silent)
    return summary.out, source


def _graph(folder: Path, context: AppContext) -> Made:
    source = folder / "edges.csv"
    source.write_text("from,to\na,b\nb,c\nc,a\n", "utf-8")
    plan = folder / "graph.toml"
    plan.write_text(
        'version = 1\ntitle = "Who knows whom"\n[source]\npath = "edges.csv"\n'
        '[protection]\nmethod = "dp-graph"\nends = ["from", "to"]\n'
        'nodes = ["a", "b", "c", "d"]\nepsilon = 1\n[budget]\npopulation = "members"\n',
        "utf-8",
    )
    pin(plan)
    return run_plan(context, plan, folder / "release", CancelToken(), silent).out, source


def _views(folder: Path, context: AppContext) -> Made:
    source = cubes.write_register(folder, cubes.people())
    keys = {
        "dimensions": ["sex", "region", "age"],
        "domains": {"sex": list(cubes.SEX), "region": list(cubes.REGION)},
        "view_cells": 16,
        "marginals": [["sex", "region", "age"], ["sex"]],
    }
    plan = cubes.write_plan(source, method="priview", **keys)
    return cubes.release(context, plan, folder / "release").out, source


def _itemsets(folder: Path, context: AppContext) -> Made:
    source = cubes.write_register(folder, cubes.people())
    domains = {"sex": list(cubes.SEX)[:2], "region": list(cubes.REGION)[:2]}
    keys = {"dimensions": ["sex", "region"], "domains": domains, "levels": None, "top": 3}
    plan = cubes.write_plan(source, method="itemsets", **keys)
    return cubes.release(context, plan, folder / "release").out, source


def _choices(folder: Path, context: AppContext) -> Made:
    source = cubes.write_register(folder, cubes.people())
    keys = {
        "groups": ["sex"],
        "domains": {"sex": list(cubes.SEX), "region": list(cubes.REGION)},
        "choose": [
            {"quantile": 0.5, "of": "pay", "lower": 0, "upper": 500, "step": 10},
            {"mode": "region"},
        ],
    }
    plan = cubes.write_plan(source, method="dp-choice", dimensions=None, levels=None, **keys)
    return cubes.release(context, plan, folder / "release").out, source


def _table(*lines: str) -> Maker:
    def make(folder: Path, context: AppContext) -> Made:
        folder.mkdir(exist_ok=True)
        source = folder / "firms.csv"
        sizes = {("n1", "small"): 9, ("n1", "large"): 2, ("n2", "small"): 5, ("n2", "large"): 6}
        rows = [",".join(cell) for cell, count in sizes.items() for _ in range(count)]
        source.write_text("\n".join(["region,size", *rows, ""]), "utf-8")
        (folder / "regions.csv").write_text("n1,north\nn2,north\n", "utf-8")
        plan = folder / "table.toml"
        plan.write_text(
            'version = 1\ntitle = "Firms"\n[source]\npath = "firms.csv"\n'
            '[attributes.region]\nhierarchy = "regions.csv"\n'
            '[protection]\nmethod = "table"\nrows = ["region"]\ncolumns = ["size"]\n'
            + "".join(f"{line}\n" for line in lines),
            "utf-8",
        )
        return run_plan(context, plan, folder / "release", CancelToken(), silent).out, source

    return make


def _populated(folder: Path, context: AppContext) -> Made:
    """Rows that match a file of the population, which lies next to the source."""
    plan = town.write_source(folder)
    people = [f"{age},{where}" for _, age, where, _ in town.people()]
    (folder / "all.csv").write_text("\n".join(["age,town", *people, *people, ""]), "utf-8")
    more = 'population = "all.csv"\nk_map = 12\ndelta_max = 0.6\n'
    plan.write_text(plan.read_text("utf-8") + more, "utf-8")
    return town.release(plan, folder / "release", context).out, folder / town.SOURCE


KINDS: Mapping[str, Maker] = {
    "k-anonymity": _town('objective = "discernibility"'),
    "k-anonymity, samarati": _town('algorithm = "samarati"'),
    "k-anonymity, linked": _linked,
    "k-anonymity, population": _populated,
    "anatomy": _clinic('l = 3\nsensitive = "illness"', method="anatomy"),
    "l-diverted": _clinic(),
    "l-diverted with k": _clinic(
        'l = 3\nk = 2\nmax_suppression = 0.2\nsensitive = ["illness"]',
        'town = { role = "quasi-identifier" }',
    ),
    "randomised-response": _drawn,
    "dp-cube": _cube(),
    "dp-cube, sums": _cube(rho=0.5, measure={"sum": "pay", "lower": 0, "upper": 500}),
    "dp-cube, averages": _cube(measure={"average": "pay", "lower": 0, "upper": 500}),
    "dp-cube, exact": _cube(exact=[["sex"], ["age"]]),
    "purchase": _bought,
    "dp-graph": _graph,
    "priview": _views,
    "itemsets": _itemsets,
    "dp-choice": _choices,
    "table": _table('rule = [{ rule = "threshold", n = 4 }]'),
    "table, cell keys": _table('protect = "cell-key"'),
}
"""How to make one of each, in an empty folder."""
