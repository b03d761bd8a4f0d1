"""A text of a megabyte in the data: pages and pictures show its beginning, and all else."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pypdf
import pytest

from dpdesk.cli.main import main
from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    ChartTable,
    PointSeries,
    ScatterChart,
    drawable,
)
from dpdesk.core.language import speaking
from dpdesk.core.shown import LONGEST_TEXT, LONGEST_VALUE, shortened
from dpdesk.report.page_tree import Node, parse_page
from dpdesk.report.svg import render_chart, render_document

LONG = 1_000_000
BIG = [f"{letter} " + "word " * (LONG // 5) for letter in "abc"]
K = """
[attributes.age]
role = "quasi-identifier"
[attributes.city]
role = "quasi-identifier"
[protection]
method = "k-anonymity"
k = 2
"""
DIVERTED = """
[attributes.age]
role = "quasi-identifier"
[attributes.city]
role = "sensitive"
[protection]
method = "l-diverted"
l = 2
sensitive = ["city"]
"""


def longest_texts(node: Node) -> int:
    """The characters of the longest text of a page."""
    return max(
        (longest_texts(one) if isinstance(one, Node) else len(one) for one in node.children),
        default=0,
    )


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("protection", [K, DIVERTED], ids=["k-anonymity", "l-diverted"])
def test_no_page_of_a_release_holds_all_of_it(
    protection: str, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "home"))
    with (tmp_path / "d.csv").open("w", newline="") as file:
        rows = [[str(20 + n % 2), BIG[n % 3]] for n in range(12)]
        csv.writer(file).writerows([["age", "city"], *rows])
    plan = tmp_path / "plan.toml"
    plan.write_text(f'version = 1\n[source]\npath = "d.csv"\n{protection}')
    with speaking(language):
        assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 0
    for name in ("public/about.html", "internal/report.html"):
        page = (tmp_path / "out" / name).read_bytes()
        assert longest_texts(parse_page(page)) <= LONGEST_TEXT + 100, name
        assert len(page) < LONG // 2, name
        assert b"a word" in page or name.startswith("internal"), name
    paper = pypdf.PdfReader(io.BytesIO((tmp_path / "out/internal/report.pdf").read_bytes()))
    assert sum(len(page.extract_text()) for page in paper.pages) < 2 * LONGEST_TEXT
    assert main(["verify", str(tmp_path / "out")]) == 0


def test_a_text_that_is_cut_says_how_long_it_is() -> None:
    assert shortened("x" * LONGEST_VALUE) == "x" * LONGEST_VALUE
    cut = shortened("x" * LONG)
    assert cut == "x" * LONGEST_VALUE + "… (1,000,000 characters)"
    with speaking("de"):
        assert re.fullmatch(r"x{1000}… \(1\D000\D000 Zeichen\)", shortened("x" * LONG))
    assert shortened(cut) == cut


def test_pictures_draw_names_at_a_length_that_can_be_drawn() -> None:
    table = ChartTable(("Value",), (("x" * LONG,),))
    name = "x" * LONG
    bars = BarChart(
        "b", name, name, Axis(name), Axis(name), (name, "b"),
        (BarSeries(name, (1.0, 2.0)),), table,
    )  # fmt: skip
    one = np.array([1.0])
    points = ScatterChart(
        "p", name, name, Axis(name), Axis(name),
        (PointSeries(name, one, one, labels=(name,), emphasis=True),), table,
    )  # fmt: skip
    for chart in (bars, points):
        assert len(render_chart(chart)) < 4 * LONGEST_TEXT
        assert len(render_document(chart)) < 8 * LONGEST_TEXT
        assert drawable(chart).table == table  # the twin stays whole
        once = drawable(chart)
        assert drawable(once) is once
