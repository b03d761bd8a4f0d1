"""Pseudonyms agree with a slow reference by the standard library, value for value."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled, InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Event, StepProgress, silent
from dpdesk.core.plain import is_blank
from dpdesk.core.plan import SourceSpec
from dpdesk.io import coding, pseudonyms
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples
from tests.reference.pseudonyms import domain_key, number_text, of_text, pseudonym

KEY = bytes(range(32))


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


def replaced(
    folder: Path,
    workspace: Workspace,
    values: list[str],
    length: int = 26,
    missing: tuple[str, ...] = ("",),
    *,
    numbers: bool = False,
) -> dict[str, str]:
    """The pseudonym of each value of a column."""
    quoted = ['"' + value.replace('"', '""') + '"' for value in values]
    (folder / "t.csv").write_bytes(("id,x\n" + "".join(f"{q},1\n" for q in quoted)).encode())
    spec = SourceSpec("t.csv", missing=missing, delimiter=",", encoding="utf-8", header=True)
    store = DataStore.open(spec, folder, workspace, CancelToken(), silent)
    found = store.pseudonyms("id", KEY, length, CancelToken(), silent, numbers=numbers)
    store.close()
    table = found.table
    return dict(zip(table.column("v").to_pylist(), table.column("p").to_pylist(), strict=True))


def test_known_answers_stay_the_same() -> None:
    """A later version must make the same pseudonyms: agencies link by them for years."""
    assert pseudonym(KEY, "domain", "", "persons", "A1") == "6KVMXDMNFERO5UAI5GUZDWR33J"
    assert (
        pseudonym(KEY, "release", "00ff", "id", "Müller", 52)
        == "MJPOIHOVU5SPZMCB27XF4BPCGDMWRI7B3MQ2YP6WR24YJ6H7YAAA"
    )
    assert pseudonym(b"\xff" * 32, "domain", "", "persons", "") == "H4YGOACX5K7OKO7EJJFX3VIG2I"


@pytest.mark.parametrize("coded", [True, False])
@pytest.mark.parametrize("length", [26, 40, 51, 52])
def test_pseudonyms_are_those_of_the_reference(
    tmp_path: Path,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    coded: bool,
    length: int,
) -> None:
    monkeypatch.setattr(coding, "MOST_CODED_COLUMNS", 1_000 if coded else 0)
    values = ["A1", "a1", "Ä", 'say "x", y', "=1+1", "0007", "7", "x" * 300, "日本", "line\nbreak"]
    found = replaced(tmp_path, workspace, values, length)
    assert found == {value: of_text(KEY, value, length) for value in values}


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\x00\r\n"), min_size=1).filter(
            lambda text: not is_blank(text)
        ),
        min_size=1,
        max_size=20,
        unique_by=lambda text: unicodedata.normalize("NFC", text).strip(" "),
    )
)
def test_any_texts_have_the_pseudonyms_of_the_reference(
    tmp_path: Path, workspace: Workspace, values: list[str]
) -> None:
    found = replaced(tmp_path, workspace, values, missing=())
    assert found == {value: of_text(KEY, value) for value in values}
    assert len(set(found.values())) == len(values)


def test_blanks_at_the_ends_and_the_form_of_accents_do_not_matter(
    tmp_path: Path, workspace: Workspace
) -> None:
    values = ["é1", "e\u03011", " é1  ", "é 1"]
    found = replaced(tmp_path, workspace, values)
    assert len({found[value] for value in values[:3]}) == 1
    assert found["é 1"] != found["é1"]


def test_as_numbers_zeros_in_front_and_a_point_zero_do_not_matter(
    tmp_path: Path, workspace: Workspace
) -> None:
    values = ["7", "007", "+7", "7.0", "7.", " 7", "-7", "0", "-0", "000", "123456789012345678901"]
    found = replaced(tmp_path, workspace, values, numbers=True)
    wanted = {value: of_text(KEY, number_text(value.strip())) for value in values}
    assert found == wanted
    assert found["-0"] == found["0"]


@pytest.mark.parametrize("value", ["7a", "7.5", "1e3", "1,000", "٣", "7.00", "x"])
def test_what_is_no_whole_number_is_refused_with_its_row(
    tmp_path: Path, workspace: Workspace, value: str
) -> None:
    with pytest.raises(InputError) as caught:
        replaced(tmp_path, workspace, ["1", "", "2", value], numbers=True)
    assert caught.value.code == "pseudonym.not-number"
    assert "row 4, column `id`" in caught.value.sentence
    assert value not in caught.value.sentence


def test_missing_values_have_no_pseudonym_unless_nothing_is_missing(
    tmp_path: Path, workspace: Workspace
) -> None:
    missing = {"": "", "?": "", "  ": "", " ?": ""}
    found = replaced(tmp_path, workspace, ["a", *missing], missing=("", "?"))
    assert found == {"a": of_text(KEY, "a"), **missing}
    found = replaced(tmp_path, workspace, ["7", " "], numbers=True)
    assert found == {"7": of_text(KEY, "7"), " ": ""}
    found = replaced(tmp_path, workspace, ["a", "?"], missing=())
    assert found["?"] == of_text(KEY, "?")


@pytest.mark.parametrize("missing", [(), ("98",), ("",), ("", "98")])
@pytest.mark.parametrize("numbers", [False, True])
def test_nothing_but_blanks_is_no_identifier_whatever_is_called_missing(
    tmp_path: Path, workspace: Workspace, missing: tuple[str, ...], numbers: bool
) -> None:
    blanks = ["", " ", "   ", "\t", "\u00a0", " \u2003\t"]
    found = replaced(tmp_path, workspace, ["7", *blanks], missing=missing, numbers=numbers)
    assert found == {"7": of_text(KEY, "7"), **dict.fromkeys(blanks, "")}


def test_two_identifiers_with_one_pseudonym_are_refused(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow

    def same(digests: pyarrow.Array, length: int) -> pyarrow.Array:
        return pyarrow.array(["A" * length] * len(digests))

    monkeypatch.setattr(pseudonyms, "_base32", same)
    with pytest.raises(RefusedError) as caught:
        replaced(tmp_path, workspace, ["a", "b"])
    assert caught.value.code == "pseudonym.collision"


def test_a_database_that_hashes_otherwise_is_found_out(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pseudonyms, "_pads", lambda key: (b"\0" * 64, b"\1" * 64))
    with pytest.raises(RefusedError) as caught:
        replaced(tmp_path, workspace, ["a", "b"])
    assert caught.value.code == "pseudonym.self-check"


def test_a_cancel_on_the_way_stops_it_and_progress_is_told(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pseudonyms, "_BATCH", 2_048)
    (tmp_path / "t.csv").write_text("id\n" + "".join(f"p{i}\n" for i in range(40_000)))
    store = DataStore.open(SourceSpec("t.csv"), tmp_path, workspace, CancelToken(), silent)
    token, seen = CancelToken(), []

    def stop(event: Event) -> None:
        if isinstance(event, StepProgress):
            seen.append(event.done)
            token.cancel()

    with pytest.raises(Cancelled):
        store.pseudonyms("id", KEY, 26, token, stop)
    assert len(seen) == 1
    assert 0 < seen[0] < 40_000
    assert store.pseudonyms("id", KEY, 26, CancelToken(), silent).values == 40_000
    store.close()


def test_the_reference_of_a_domain_is_a_key_of_its_own() -> None:
    made = {
        domain_key(KEY, "domain", "", "persons"),
        domain_key(KEY, "domain", "", "person"),
        domain_key(KEY, "release", "aa", "persons"),
        domain_key(KEY, "release", "ab", "persons"),
        domain_key(KEY[::-1], "domain", "", "persons"),
    }
    assert len(made) == 5
