"""The evidence pack: a signed release in one file, as somebody outside the project reads it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from pypdf import PdfReader

from dpdesk.core.language import listening
from dpdesk.report.page_tree import parse_page
from tests.helpers.forging import manifest_of, seal_again
from tests.helpers.pinned import pin
from tests.helpers.signers import AUTHOR, FIRST, SECOND, Person, approve, people, write_plan


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Person:
    """The author of a release that two others approved."""
    one, first, second = people(tmp_path_factory.mktemp("agency"), AUTHOR, FIRST, SECOND)
    write_plan(one)
    one.does("run", "plan.toml", "--out", "release")
    approve(one, first, second, saying=("--note", "Please look at the illnesses."))
    said = one.signs("release", "--note", "Out on the web site.")
    assert said.code == 0, said.err
    return one


def words_of(pack: Path) -> str:
    return parse_page(pack.read_bytes()).text().replace("\u00a0", " ")


def test_a_pack_says_who_signed_what_and_what_was_decided(author: Person, tmp_path: Path) -> None:
    pack = tmp_path / "pack.html"
    author.does("review", "pack", "release", "--out", pack)
    words = words_of(pack)
    manifest = hashlib.sha256((author.folder / "public/manifest.json").read_bytes()).hexdigest()
    assert manifest in words
    assert f"It was reviewed by {FIRST}, {SECOND} and released." in words
    assert f"{FIRST}: approve" in words
    assert "Seen and thought through." in words
    assert "nothing is wrong" in words
    state = json.loads((author.folder / "internal/review.json").read_text("utf-8"))
    assert len(state["events"]) == sum(
        1 for row in table_rows(pack, "pack-signatures") if row.count(":") >= 2
    )
    report = parse_page((author.folder / "internal/report.html").read_bytes()).find("main")
    assert report is not None
    assert report.text().replace("\u00a0", " ") in words


def table_rows(pack: Path, section: str) -> list[str]:
    page = parse_page(pack.read_bytes())
    found = next(s for s in page.all("section") if s.attributes.get("aria-labelledby") == section)
    return [
        row.text().replace("\u00a0", " ") for body in found.all("tbody") for row in body.all("tr")
    ]


def test_all_ids_of_a_pack_differ(author: Person, tmp_path: Path) -> None:
    pack = tmp_path / "pack.html"
    author.does("review", "pack", "release", "--out", pack)
    ids = [n.attributes["id"] for n in nodes(pack) if "id" in n.attributes]
    assert len(ids) == len(set(ids))
    wanted = {n.attributes["aria-labelledby"].split()[0] for n in nodes(pack) if labelled(n)}
    assert wanted <= set(ids)


def nodes(pack: Path) -> list:  # type: ignore[type-arg]
    page, found = parse_page(pack.read_bytes()), []
    todo = [page]
    while todo:
        node = todo.pop()
        found.append(node)
        todo += list(node.elements())
    return found


def labelled(node) -> bool:  # type: ignore[no-untyped-def]
    return "aria-labelledby" in node.attributes


def test_a_pack_on_paper_holds_the_same(author: Person, tmp_path: Path) -> None:
    pack = tmp_path / "pack.pdf"
    author.does("review", "pack", "release", "--out", pack)
    words = " ".join(page.extract_text() for page in PdfReader(pack).pages)
    for wanted in (FIRST, SECOND, "Checklist", "Guarantee", "The software", "INTERNAL"):
        assert wanted in words


def test_what_is_wrong_stands_on_the_first_page(author: Person, tmp_path: Path) -> None:
    forger = author.copied(tmp_path / "forger")
    table = forger.folder / "public/microdata.csv"
    table.write_text(table.read_text("utf-8").replace("flu", "cold", 1) + "x", "utf-8")
    forger.does("review", "pack", "release", "--out", tmp_path / "pack.html")
    words = words_of(tmp_path / "pack.html")
    assert "wrong with this release or its review" in words
    assert "public/microdata.csv: was changed" in words
    assert "cannot be relied on" in words
    assert "△ not checked" in words[: words.index("wrong with this release")]


def test_a_claim_whose_words_were_not_compared_is_marked_where_it_stands(
    author: Person, tmp_path: Path
) -> None:
    author.does("review", "pack", "release", "--out", tmp_path / "genuine.html")
    words = words_of(tmp_path / "genuine.html")
    assert "△ not checked" not in words[: words.index("Who is responsible for it")]
    forger = author.copied(tmp_path / "forger")
    said = manifest_of(forger.folder)
    said["guarantee"] |= {"claim": "A match is right with a chance of 1 in 1,000."}  # type: ignore[operator]
    said["texts"] = {"language": "en", "sha256": "0" * 64}
    seal_again(forger.folder, said)
    forger.does("review", "pack", "release", "--out", tmp_path / "pack.html")
    words = words_of(tmp_path / "pack.html")
    head = words[: words.index("1 in 1,000")]
    assert head.rstrip().endswith("△ not checked A match is right with a chance of")


def test_a_pack_shows_no_report_but_the_one_that_the_files_give(
    author: Person, tmp_path: Path
) -> None:
    forger = author.copied(tmp_path / "forger")
    page = forger.folder / "internal/report.html"
    text = page.read_text("utf-8")
    for number, forged in enumerate(
        (
            text.replace("<main>", "<main><script>alert(1)</script>"),
            text.replace("<main>", "<main><p>A match is right with a chance of 1 in 1,000.</p>"),
        )
    ):
        page.write_text(forged, "utf-8")
        seal_again(forger.folder, manifest_of(forger.folder))
        pack = tmp_path / f"pack {number}.html"
        forger.does("review", "pack", "release", "--out", pack)
        words = words_of(pack)
        assert "1 in 1,000" not in words
        assert "alert(1)" not in words
        assert "internal/report.html: report.html says what the manifest" in words
        assert "The report is not part of this pack: checking the release failed." in words


@pytest.mark.parametrize(
    ("release", "out", "words"),
    [
        ("release", "pack.docx", "must end in .html or .pdf"),
        ("release/public", "pack.html", "whole release folder"),
        ("release", "release/pack.html", "is inside the release"),
        ("release", "plan.toml.html", "already exists"),
    ],
)
def test_a_pack_that_cannot_be_written_is_refused_in_a_sentence(
    author: Person, release: str, out: str, words: str
) -> None:
    (author.desk / "plan.toml.html").write_text("kept", "utf-8")
    said = author.run("review", "pack", release, "--out", out)
    assert said.code == 2
    assert words in said.last
    assert (author.desk / "plan.toml.html").read_text("utf-8") == "kept"


def test_the_bill_of_materials_is_written_with_its_hash(author: Person, tmp_path: Path) -> None:
    out = tmp_path / "materials.json"
    said = author.does("review", "materials", "--out", out, "--json")
    assert said.json["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    bill = json.loads(out.read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    names = {part["name"] for part in bill["components"]}
    assert {"numpy", "duckdb", "jinja2", "python"} <= names


def test_a_pack_tells_what_the_ledger_of_a_private_release_says_now(tmp_path: Path) -> None:
    (someone,) = people(tmp_path, AUTHOR)
    (someone.desk / "people.csv").write_text("sex\n" + "m\nf\n" * 20, "utf-8")
    plan = (
        'version = 1\n[source]\npath = "people.csv"\n[protection]\nmethod = "dp-cube"\n'
        'dimensions = ["sex"]\nepsilon = 0.5\n[protection.domains]\nsex = ["m", "f"]\n'
        '[budget]\npopulation = "everybody"\nlimit = 2.0\n'
    )
    (someone.desk / "plan.toml").write_text(plan, "utf-8")
    pin(someone.desk / "plan.toml")
    for out in ("release", "second"):
        someone.does("run", "plan.toml", "--out", out)
    someone.does("review", "pack", "release", "--out", "pack.html")
    words = words_of(someone.desk / "pack.html")
    assert "everybody" in words
    assert "2 debits, ε = 1 together" in words
    assert "the outcome of this debit: released" in words


def test_a_pack_says_which_attacks_were_tried_and_what_came_of_them(
    author: Person, tmp_path: Path
) -> None:
    pack = tmp_path / "pack.html"
    author.does("review", "pack", "release", "--out", pack)
    rows = table_rows(pack, "pack-attacks")
    assert len(rows) >= 3
    first = next(row for row in rows if row.startswith("Finding a person's row by the quasi"))
    manifest = json.loads((author.folder / "public/manifest.json").read_text("utf-8"))
    assert f"{manifest['result']['smallest_class']:,}" in first
    assert any(row.startswith("Reading a value that a whole class shares") for row in rows)
    costs = " ".join(table_rows(pack, "pack-ledger"))
    assert "nothing: its method spends no privacy budget" in costs
    assert "this computer has no ledger yet" in costs


def test_a_pack_without_noise_tells_what_noise_on_the_same_file_has_cost(tmp_path: Path) -> None:
    (someone,) = people(tmp_path, AUTHOR)
    work = someone.desk / "work"  # the keys lie beside it, not in it
    work.mkdir()
    (work / "people.csv").write_text(
        "id,sex\n" + "".join(f"p{row},{'mf'[row % 2]}\n" for row in range(40)), "utf-8"
    )
    source = 'version = 1\n[source]\npath = "people.csv"\n'
    (work / "noise.toml").write_text(
        source + '[protection]\nmethod = "dp-cube"\ndimensions = ["sex"]\nepsilon = 0.5\n'
        '[protection.domains]\nsex = ["m", "f"]\n[budget]\npopulation = "everybody"\n',
        "utf-8",
    )
    pin(work / "noise.toml")
    (work / "rows.toml").write_text(
        source + '[attributes]\nid = { role = "identifier", pseudonym = { key = "people" } }\n'
        'sex = { role = "quasi-identifier" }\n[protection]\nmethod = "k-anonymity"\nk = 5\n',
        "utf-8",
    )
    someone.does("pseudonyms", "new", "people")
    someone.does("run", "work/noise.toml", "--out", "noisy")
    someone.does("run", "work/rows.toml", "--out", "release")
    someone.does("review", "pack", "release", "--out", "pack.html")
    pack = someone.desk / "pack.html"
    costs = " ".join(table_rows(pack, "pack-ledger"))
    assert "1 debit for the population “everybody”, ε = 0.5 together" in costs
    rows = table_rows(pack, "pack-attacks")
    joined = next(row for row in rows if row.startswith("Finding a person by all their rows"))
    assert "Of 40 pseudonyms of id, 0 have a combination of rows that no one else has" in joined


def test_a_pack_of_a_signed_release_can_be_had_in_german(author: Person, tmp_path: Path) -> None:
    pack = tmp_path / "pack.html"
    with listening() as heard:
        author.does("review", "pack", "release", "--out", pack, "--language", "de")
    words = words_of(pack)
    assert heard == []
    assert f"Sie wurde von {FIRST}, {SECOND} begutachtet und freigegeben." in words
    assert f"{FIRST}: Zustimmung" in words
    assert "Seen and thought through." in words
    assert "versiegeltes Votum" in words
    root = next(parse_page(pack.read_bytes()).all("html"))
    assert root.attributes["lang"] == "de"
    assert "en" in [n.attributes.get("lang") for n in root.all("div")]
    told = "Der Bericht folgt in der Sprache der Veröffentlichung: Englisch."
    assert told in words
