"""The pages of every method in German: nothing stays English, and every number is the same."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from openpyxl import load_workbook

from dpdesk.app.context import AppContext
from dpdesk.app.demo import sample_folder
from dpdesk.app.exporting import export_release
from dpdesk.app.review.packing import write_pack
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import listening, speaking
from dpdesk.report import noisy, review
from dpdesk.report.page_tree import Node, parse_page
from dpdesk.report.printing import Printer
from tests.helpers.pinned import pin

RENDERERS = ((review, "render_review"), (noisy, "render_report"))
CUBE = """
[source]
path = "{sample}/population.csv"
[attributes]
age = {{ role = "quasi-identifier", hierarchy = "{sample}/hierarchies/age.csv" }}
[protection]
method = "dp-cube"
dimensions = ["age", "sex"]
levels = {{ age = 3 }}
domains = {{ sex = ["female", "male", "other"] }}
{more}
[budget]
population = "Musterland"
"""
GRAPH = """
[source]
path = "edges.csv"
[protection]
method = "dp-graph"
ends = ["person", "friend"]
nodes = ["ann", "bob", "cem", "dora"]
exact = "degrees"
exact_nodes = ["ann", "bob"]
epsilon = 1
[budget]
population = "friends"
"""
VIEWS = """
[source]
path = "{sample}/population.csv"
[attributes]
age = {{ role = "quasi-identifier", hierarchy = "{sample}/hierarchies/age.csv" }}
[protection]
method = "priview"
dimensions = ["age", "sex", "education"]
levels = {{ age = 3 }}
domains = {{ sex = ["female", "male", "other"], education = ["low", "high", "other"] }}
view_cells = 30
marginals = [["age", "sex", "education"]]
weights = [{{ dimensions = ["age", "sex"], weight = 2 }}]
epsilon = 1
[budget]
population = "Musterland"
"""
MORE = {
    "exact": 'exact = [["sex"], { cuboid = ["age"], cells = [["0-19"]] }]\nepsilon = 1',
    "gaussian": 'rho = 0.25\ndelta = 0.000001\nneighbours = "replace"\nnonnegative = true',
    "sums": 'epsilon = 1\nplanner = "all"\nrows_per_person = 2\nmeasure = [ "count", '
    '{ sum = "income", lower = 0, upper = 20000, step = 100 } ]',
}
SAMPLES = ("public-use-file", "drawn-occupations", "private-tables")
ENGLISH_WORDS = frozenset(
    ["the", "of", "are", "that", "with", "which", "were", "by", "from", "have", "does"]
)


@dataclass
class Made:
    """A German release: its folder, its report in both languages, what had no translation."""

    folder: Path
    heard: list[str]
    reports: list[tuple[bytes, bytes]] = field(default_factory=list)


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    folder = tmp_path_factory.mktemp("plans")
    (folder / "edges.csv").write_text("person,friend\nann,bob\nbob,cem\nann,cem\ncem,dora\n")
    with sample_folder() as sample:
        texts = {
            name: (sample / "plans" / f"{name}.toml")
            .read_text(encoding="utf-8")
            .replace('"../', f'"{sample.as_posix()}/')
            for name in SAMPLES
        }
        head = 'version = 1\ntitle = "Ein Titel"\n'
        for name, more in MORE.items():
            texts[name] = head + CUBE.format(sample=sample.as_posix(), more=more)
        texts["graph"] = head + GRAPH
        texts["views"] = head + VIEWS.format(sample=sample.as_posix())
        found = {}
        for name, text in texts.items():
            found[name] = folder / f"{name}.toml"
            found[name].write_text(f'language = "de"\n{text}', encoding="utf-8")
            if name in (*MORE, "graph", "views"):
                pin(found[name])
        yield found


@pytest.fixture(scope="module")
def made(
    context: AppContext, plans: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Made]:
    found: dict[str, Made] = {}
    for name, plan in plans.items():
        out = tmp_path_factory.mktemp("releases") / name
        with pytest.MonkeyPatch.context() as patch, listening() as heard:
            one = found[name] = Made(out, heard)
            for module, function in RENDERERS:
                patch.setattr(module, function, in_both(getattr(module, function), one))
            patch.setattr(Printer, "pdf", not_printed)
            run_plan(context, plan, out, CancelToken(), silent)
    return found


def in_both(render: Callable[[object], bytes], made: Made) -> Callable[[object], bytes]:
    def rendered(content: object) -> bytes:
        page = render(content)
        with speaking("en"):
            made.reports.append((render(content), page))
        return page

    return rendered


def not_printed(*_: object) -> bytes:
    """No PDF, of which nothing is tested here: a release without one is whole."""
    raise StorageError("report.not-printed", "Not printed.")


def read(node: Node, *, names: bool) -> Iterator[str]:
    """The texts of a page, without its English parts; with or without names and code."""
    for child in node.children:
        if isinstance(child, str):
            yield child
            continue
        verbatim = child.tag == "code" or "value" in child.classes
        foreign = child.tag in ("style", "head") or child.attributes.get("lang") == "en"
        if not foreign and (names or not verbatim):
            yield from read(child, names=names)


def digits(page: bytes, mark: str) -> Counter[str]:
    """All runs of digits of a page, as often as they stand there; ``mark`` joins thousands."""
    body = parse_page(page).find("body")
    assert body is not None
    text = "\n".join(read(body, names=True))
    joined = re.sub(rf"(?<=\d){mark}(?=\d{{3}}(?!\d))", "", text)
    return Counter(re.findall(r"\d+", joined))


def english_remainders(page: bytes) -> list[str]:
    body = parse_page(page).find("body")
    assert body is not None
    texts = (" ".join(text.split()) for text in read(body, names=False))
    return [
        text for text in texts if len(ENGLISH_WORDS & set(re.findall(r"[a-z]+", text.lower()))) >= 2
    ]


NAMES = (*SAMPLES, *MORE, "graph")


@pytest.mark.parametrize("name", NAMES)
def test_the_pages_of_a_german_release_say_everything_in_german(
    made: dict[str, Made], name: str
) -> None:
    one = made[name]
    assert one.heard == []
    for path in ("public/about.html", "internal/report.html"):
        page = (one.folder / path).read_bytes()
        assert page.startswith(b'<!DOCTYPE html>\n<html lang="de">')
        assert english_remainders(page) == []
        wording = [node for node in parse_page(page).all("div") if node.attributes.get("lang")]
        assert [node.attributes["lang"] for node in wording] == ["en"]
        assert b'<span lang="en">' not in page


@pytest.mark.parametrize("name", NAMES)
def test_a_report_has_the_same_numbers_in_both_languages(made: dict[str, Made], name: str) -> None:
    [(english, german)] = made[name].reports
    assert english.startswith(b'<!DOCTYPE html>\n<html lang="en">')
    assert digits(english, ",") == digits(german, "\u202f")


@pytest.mark.parametrize("name", NAMES)
def test_a_german_release_verifies_and_its_page_is_checked_word_by_word(
    context: AppContext, made: dict[str, Made], name: str
) -> None:
    folder = made[name].folder
    assert verify_release(folder, context.registry, CancelToken(), silent).ok
    page = folder / "public" / "about.html"
    genuine = page.read_bytes()
    page.write_bytes(genuine.replace(b"Garantie", b"Zusicherung", 1))
    try:
        assert not verify_release(folder, context.registry, CancelToken(), silent).ok
    finally:
        page.write_bytes(genuine)


def test_what_is_signed_is_english_whatever_the_language_of_the_pages(
    made: dict[str, Made],
) -> None:
    folder = made["public-use-file"].folder
    manifest = (folder / "public" / "manifest.json").read_text(encoding="utf-8")
    assert "For someone who knows only age, sex" in manifest
    assert "deutsch" not in manifest.lower()
    assert manifest.count('"de"') == 1  # the language of the page
    assert json.loads(manifest)["texts"]["language"] == "de"


@pytest.mark.parametrize("name", ["public-use-file", "drawn-occupations", "exact", "graph"])
def test_a_pack_in_german_says_everything_in_german(
    context: AppContext, made: dict[str, Made], name: str, tmp_path: Path
) -> None:
    with listening() as heard:
        pack = write_pack(context, made[name].folder, tmp_path / "pack.html", CancelToken(), silent)
    assert heard == []
    assert english_remainders(pack.read_bytes()) == []


def test_a_pack_in_another_language_than_its_report_marks_the_report(
    context: AppContext, made: dict[str, Made], tmp_path: Path
) -> None:
    folder, out = made["public-use-file"].folder, tmp_path / "pack.html"
    write_pack(context, folder, out, CancelToken(), silent, language="en")
    page = parse_page(out.read_bytes())
    assert [node.attributes["lang"] for node in page.all("html")] == ["en"]
    assert "de" in [node.attributes.get("lang") for node in page.all("div")]


def test_a_pack_in_a_language_that_there_is_not_is_refused(
    context: AppContext, made: dict[str, Made], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="`xx`") as caught:
        write_pack(
            context, made["graph"].folder, tmp_path / "pack.html", CancelToken(), silent,
            language="xx",
        )  # fmt: skip
    assert caught.value.code == "pack.language"


def test_the_sheet_about_an_excel_file_is_in_the_language_of_the_page(
    context: AppContext, made: dict[str, Made], tmp_path: Path
) -> None:
    out = tmp_path / "table.xlsx"
    with listening() as heard:
        export_release(
            made["public-use-file"].folder, "xlsx", out, context.workspace, CancelToken(), silent
        )
    assert heard == []
    lines = load_workbook(out, read_only=True)["About"].iter_rows(values_only=True)
    said = {str(name): str(text) for name, text in lines}
    assert said["Zusage"].startswith("Wer von einer Person nur age, sex")
    assert said["Der englische Wortlaut"].startswith("For someone who knows only age, sex")
    assert "Deckt nicht ab" in said
