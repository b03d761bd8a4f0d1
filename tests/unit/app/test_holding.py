"""An exported file holds what a release says, as other programs read it, or the loss is named.

One declaration says which; it is checked here against every format, piece by piece.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dpdesk.app.exporting import write_verified
from dpdesk.app.labelling import variables_as_json
from dpdesk.core.export_formats import DESCRIPTIONS, FORMATS, HOLDS, OF_AGENCIES, Piece
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.labels import Kind, UserMissing, Variable
from dpdesk.core.language import voice_of
from dpdesk.core.release import ReleaseFacts
from dpdesk.core.resources import resource
from dpdesk.io.canonical import canonical_json
from dpdesk.io.release_folder import MICRODATA, VARIABLES
from dpdesk.io.workspace import Workspace
from tests.helpers.ddi_structure import faults
from tests.helpers.foreign_readers import READERS
from tests.helpers.released_cubes import memory_release
from tests.helpers.stated import stated

CUBES = ("sdmx-csv", "sdmx-structure")
CLAIM = "Every group has at least 5 rows."
FORMATS_OF = {"sav": "QYR8", "dta": "%tq", "xpt": "MONYY7"}


@dataclass(frozen=True)
class Case:
    """A column that has a piece, its two values, and what a reader must find of the piece."""

    said: Variable
    values: tuple[str, str]
    found: object


PLAIN = Variable("x", kind=Kind.NUMBER, label="X")
LETTERED = replace(PLAIN, missing=UserMissing(letters=True))
CASES = {
    Piece.LABEL: Case(replace(PLAIN, label="Größe"), ("1", "2"), "Größe"),
    Piece.WHOLE: Case(replace(PLAIN, value_labels={"2": "zwei ♀"}), ("1", "2"), {"2": "zwei ♀"}),
    Piece.FRACTION: Case(replace(PLAIN, value_labels={"0.5": "½"}), ("0.5", "2"), {"0.5": "½"}),
    Piece.WORD: Case(
        Variable("x", value_labels={"Aach a. Main": "Aach"}), ("Aach a. Main", "B"),
        {"Aach a. Main": "Aach"},
    ),
    Piece.LETTER: Case(replace(LETTERED, value_labels={".a": "no"}), ("1", "2"), {".a": "no"}),
    Piece.MISSING: Case(replace(PLAIN, missing=UserMissing(("9",))), ("1", "9"), ["9"]),
    Piece.RANGE: Case(
        replace(PLAIN, missing=UserMissing((), 97, float("inf"))), ("1", "97"), (97, float("inf"))
    ),
    Piece.LETTERS: Case(LETTERED, ("1", ".a"), ".a"),
    Piece.MEASURE: Case(replace(PLAIN, measure="ordinal"), ("1", "2"), "ordinal"),
    Piece.KIND: Case(
        Variable("x", "X", kind=Kind.DATE), ("2018-05-06", "1583-01-01"), "date"
    ),
    Piece.NAME: Case(replace(PLAIN, name="Größe, in cm (2024)"), ("1", "2"), "Größe, in cm (2024)"),
    Piece.BLANKS: Case(Variable("x", "X"), ("a  ", "b"), "a  "),
    Piece.TITLE: Case(PLAIN, ("1", "2"), "Survey of towns"),
    Piece.GUARANTEE: Case(PLAIN, ("1", "2"), CLAIM),
}  # fmt: skip


def case_of(form: str, piece: Piece) -> Case:
    """The case of a piece; display formats and letters are as the program of the file has them."""
    if piece is not Piece.FORMAT:
        case = CASES[piece]
        if piece is Piece.LETTER and form in CUBES:  # labels of declared categories alone
            return replace(case, values=("1", ".a"))
        return replace(case, values=("1", ".A")) if form == "xpt" and ".a" in case.values else case
    name = FORMATS_OF.get(form, "EDATE10")
    kind, values = Kind.DATE, ("2018-05-06", "2020-01-01")
    if name == "%tq":
        kind, values = Kind.NUMBER, ("233", "240")
    return Case(Variable("x", "X", kind, format=name), values, name)


def table_of_the_page() -> list[list[str]]:
    """The rows of the table under its heading, split into cells."""
    page = resource("docs/formats.md").read_text("utf-8")
    lines = page.partition("### What each format holds\n")[2].splitlines()
    table = [line for line in lines[: lines.index("Notes on the table:")] if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_the_page_shows_the_declaration() -> None:
    forms = [form for form in FORMATS if form in HOLDS]
    assert forms == list(FORMATS)
    wanted = [["", *(f"`{form}`" for form in forms)]]
    for piece in Piece:
        cells = ["yes" if piece in HOLDS[form].pieces else "no" for form in forms]
        no_values = piece in (Piece.LETTERS, Piece.BLANKS)
        cells = [
            "–" if no_values and form in DESCRIPTIONS else cell
            for form, cell in zip(forms, cells, strict=True)
        ]
        wanted.append([piece.value, *cells])
    found = table_of_the_page()
    assert found[:1] + found[2:] == wanted


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path_factory.mktemp("home"))
    yield opened
    opened.close()


def facts_of(folder: Path, form: str, said: Variable, values: tuple[str, ...]) -> ReleaseFacts:
    """A release of one column; for the formats of tables a cube of one dimension."""
    manifest: dict[str, object] = {
        "title": "Survey of towns", "created": "2026-01-02", "commitment": "ab" * 32,
        "dpdesk": "1.0", "method": "k-anonymity", "parameters": {"k": 5}, "result": {},
        "guarantee": {"claim": CLAIM, "assumes": [], "does_not_cover": [], "parameters": {"k": 5}},
        "files": {MICRODATA: {"sha256": "00", "bytes": 1}},
    }  # fmt: skip
    if form in CUBES:
        release = memory_release({said.name: list(values)})
        tables = release.manifest
        manifest |= {"parameters": tables.parameters, "result": tables.result}
        manifest |= {"method": "dp-cube", "files": {}}
    with (folder / MICRODATA).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([[said.name], *([one] for one in values)])
    (folder / VARIABLES).write_bytes(canonical_json(variables_as_json((said,))))
    return ReleaseFacts(folder, None, stated(manifest))


@pytest.mark.parametrize("piece", Piece)
@pytest.mark.parametrize(
    "form", [form for form in FORMATS if form not in ("sdmx-csv", "synthetic", *OF_AGENCIES)]
)
def test_a_piece_is_held_as_declared_or_said_to_be_lost(
    form: str, piece: Piece, tmp_path: Path, workspace: Workspace
) -> None:
    if form in DESCRIPTIONS and piece in (Piece.LETTERS, Piece.BLANKS):
        return  # a description holds no values
    case, path = case_of(form, piece), tmp_path / f"out.{form}"
    facts = facts_of(tmp_path, form, case.said, case.values)
    told = write_verified(facts, form, path, workspace, CancelToken(), silent)
    assert form != "ddi" or faults(path.read_bytes()) == []
    german = voice_of("de")
    assert [text for text in told if german.say(text) == text] == []
    found = READERS[form](path).get(piece)
    if piece is Piece.GUARANTEE and found is not None:
        found = CLAIM if CLAIM in str(found) else None
    assert (found == case.found) == (piece in HOLDS[form].pieces), found
    about = [text for text in told if "guarantee" in text or HOLDS[form].bare == text]
    if piece in HOLDS[form].pieces:
        about += [text for text in told if "UTF-8" in text]  # letters beyond ASCII are held
        assert [text for text in told if text not in about] == []
    elif piece is Piece.GUARANTEE or HOLDS[form].bare:
        assert about
    else:
        assert [text for text in told if f"`{case.said.name}`" in text], told
