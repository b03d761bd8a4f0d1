"""Plan files: exact numbers, one clear sentence per fault, a round trip that loses nothing."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.plan import (
    BUILDER_KINDS,
    AttributeSpec,
    HierarchyBuilder,
    HierarchyFile,
    Plan,
    Protection,
    SourceSpec,
)
from dpdesk.core.schema import PLAN_ROLES, Role
from dpdesk.core.source_spec import FixedColumn
from dpdesk.io import safewrite
from dpdesk.io.planfile import plan_as_json, plan_as_toml, read_plan, write_plan
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

EXAMPLE = """\
version = 1
title = "Census extract 2024, public use file"      # optional

[source]
path = "adult.csv"
delimiter = ";"
missing = ["", "?"]

[attributes.age]
role = "quasi-identifier"
hierarchy = "adult_hierarchy_age.csv"

[attributes.zip]
role = "quasi-identifier"
hierarchy = { kind = "mask", from = "right", steps = [1, 2] }

[attributes."name, first"]
role = "identifier"

[protection]
method = "k-anonymity"
k = 5
max_suppression = 0.020

[[protection.require]]
model = "l-diversity"
attribute = "income"
l = 2
"""


def save(folder: Path, text: str, name: str = "plan.toml") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    return path


def test_a_plan_is_read_with_its_numbers_exact(tmp_path: Path) -> None:
    plan = read_plan(save(tmp_path, EXAMPLE))
    assert plan.title == "Census extract 2024, public use file"
    assert plan.source == SourceSpec("adult.csv", delimiter=";", missing=("", "?"))
    assert plan.attributes["age"].hierarchy == HierarchyFile("adult_hierarchy_age.csv")
    assert plan.attributes["zip"].hierarchy == HierarchyBuilder(
        "mask", {"from": "right", "steps": (1, 2)}
    )
    assert plan.attributes["name, first"].role is Role.IDENTIFIER
    assert plan.protection.parameters["k"] == 5
    share = plan.protection.parameters["max_suppression"]
    assert isinstance(share, Decimal)
    assert str(share) == "0.020"
    assert plan.protection.parameters["require"] == (
        {"model": "l-diversity", "attribute": "income", "l": 2},
    )


def test_json_of_the_same_shape_gives_the_same_plan(tmp_path: Path) -> None:
    plan = read_plan(save(tmp_path, EXAMPLE))
    text = json.dumps(plan.as_plain())
    assert read_plan(save(tmp_path, text, "plan.json")) == plan
    assert read_plan(save(tmp_path, text, "plan")) == plan


@pytest.mark.parametrize("prefix", [b"\xef\xbb\xbf", b""])
def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(
    tmp_path: Path, prefix: bytes
) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(prefix + EXAMPLE.replace("\n", "\r\n").encode())
    assert read_plan(path) == read_plan(save(tmp_path, EXAMPLE, "other.toml"))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("p.toml", "version = 1\nk = = 2\n", "p.toml, line 2, column 5: this is not valid TOML"),
        ("p.toml", "version = five\n", "p.toml, line 1, column 11: this is not valid TOML"),
        (
            "p.toml",
            "version = 1\nversion = 1\n",
            "p.toml, line 2, column 12: this is not valid TOML: a key or table is given twice.",
        ),
        ("p.toml", "[source]\n[source]\n", "not valid TOML: a key or table is given twice."),
        ("p.toml", "version = [1", "p.toml, at the end of the file: this is not valid TOML"),
        ("p.toml", f"version = {'9' * 5000}", "a whole number has too many digits"),
        ("p.toml", "version = 1e99999999999999999999", "the number 1e99999999999999999999 is out"),
        ("p.json", '{"version": 1,\n "k" 2}', "p.json, line 2, column 6: this is not valid JSON"),
        ("p.json", '{"version": 1, "version": 1}', "the key `version` is given twice"),
        ("p.json", '{"title": "a\\ud800b"}', "a text holds half of a character"),
        ("p.json", '{"a": [{"b\\udfff": 1}]}', "a text holds half of a character"),
        ("p.json", "[1, 2]", "p.json: found a JSON list or value, expected an object"),
        ("p.json", '{"a":' + "[" * 100_000, "nested too deeply"),
        ("p.toml", "a = " + "[" * 100_000, "nested too deeply"),
        ("p.toml", ".".join(["a"] * 300_000) + " = 1", "nested too deeply"),
        ("p.toml", "[" + ' . "b"'.join(["a"] + [""] * 300_000) + "]", "nested too deeply"),
        ("p.json", "", "p.json, line 1, column 1: this is not valid JSON"),
    ],
)
def test_a_syntax_error_is_one_sentence_with_its_place(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_plan(save(tmp_path, text, name))
    assert caught.value.code == "plan.syntax"
    assert sentence in caught.value.sentence
    assert "\n" not in caught.value.line


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999999999", "1e-999999999"])
def test_a_number_that_is_not_finite_or_absurdly_long_is_named(tmp_path: Path, number: str) -> None:
    text = EXAMPLE.replace("0.020", number)
    with pytest.raises(InputError, match=r"plan\.toml: `protection.max_suppression` is") as caught:
        read_plan(save(tmp_path, text))
    assert caught.value.code == "plan.invalid"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_json_constants_that_are_no_numbers_are_named(tmp_path: Path, number: str) -> None:
    text = (
        '{"version": 1, "source": {"path": "a.csv"}, '
        f'"protection": {{"method": "k-anonymity", "k": {number}}}}}'
    )
    with pytest.raises(InputError, match=f"`protection.k` is {number.lower()}, expected a finite"):
        read_plan(save(tmp_path, text, "plan.json"))


def test_a_plan_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(b'version = 1\ntitle = "caf\xe9"\n')
    with pytest.raises(InputError, match=r"line 2: found the byte 0xE9, expected text in UTF-8"):
        read_plan(path)


def test_a_plan_with_a_nul_character_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2: found a NUL character"):
        read_plan(save(tmp_path, "version = 1\n\0\n"))


def test_an_absent_plan_and_a_folder_are_storage_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.toml", tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(StorageError) as caught:
            read_plan(path)
        assert caught.value.code == "plan.unreadable"
        assert str(path) in caught.value.sentence


def test_the_written_plan_is_laid_out_for_people(tmp_path: Path) -> None:
    text = plan_as_toml(read_plan(save(tmp_path, EXAMPLE)))
    assert text == (
        "version = 1\n"
        'title = "Census extract 2024, public use file"\n'
        "\n"
        "[source]\n"
        'path = "adult.csv"\n'
        'delimiter = ";"\n'
        'missing = ["", "?"]\n'
        "\n"
        "[attributes.age]\n"
        'role = "quasi-identifier"\n'
        'hierarchy = "adult_hierarchy_age.csv"\n'
        "\n"
        "[attributes.zip]\n"
        'role = "quasi-identifier"\n'
        'hierarchy = {kind = "mask", from = "right", steps = [1, 2]}\n'
        "\n"
        '[attributes."name, first"]\n'
        'role = "identifier"\n'
        "\n"
        "[protection]\n"
        'method = "k-anonymity"\n'
        "k = 5\n"
        "max_suppression = 0.020\n"
        "\n"
        "[[protection.require]]\n"
        'model = "l-diversity"\n'
        'attribute = "income"\n'
        "l = 2\n"
    )


def test_a_long_builder_gets_a_table_of_its_own() -> None:
    order = tuple(f"category {number}" for number in range(30))
    plan = Plan(
        SourceSpec("a.csv"),
        {"x": AttributeSpec(Role.QUASI_IDENTIFIER, HierarchyBuilder("order", {"order": order}))},
        Protection("k-anonymity", {"k": 2}),
    )
    text = plan_as_toml(plan)
    assert "[attributes.x.hierarchy]\n" in text
    assert max(len(line) for line in text.splitlines()) <= 100


def test_writing_replaces_the_file_whole_and_leaves_nothing_beside_it(
    tmp_path: Path, keeper: Workspace
) -> None:
    path = save(tmp_path, "old")
    path.chmod(0o600)
    plan = read_plan(save(tmp_path, EXAMPLE, "example.toml"))
    write_plan(plan, path, keeper)
    assert read_plan(path) == plan
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(item.name for item in tmp_path.iterdir()) == ["example.toml", "plan.toml"]


def test_writing_through_a_link_keeps_the_link(tmp_path: Path, keeper: Workspace) -> None:
    plan = read_plan(save(tmp_path, EXAMPLE))
    link = tmp_path / "link.toml"
    link.symlink_to(tmp_path / "plan.toml")
    write_plan(replace(plan, protection=Protection("k-anonymity", {"k": 9})), link, keeper)
    assert link.is_symlink()
    assert read_plan(tmp_path / "plan.toml").protection.parameters["k"] == 9


def test_a_write_that_fails_leaves_the_old_plan(
    tmp_path: Path, keeper: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path, EXAMPLE)

    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    plan = read_plan(path)
    monkeypatch.setattr(safewrite, "write_new", full)
    with pytest.raises(StorageError, match=r"/plan\.toml: the disk is full") as caught:
        write_plan(replace(plan, protection=Protection("k-anonymity", {"k": 3})), path, keeper)
    assert caught.value.code == "plan.unwritable"
    assert path.read_text() == EXAMPLE
    assert [item.name for item in tmp_path.iterdir()] == ["plan.toml"]


def test_databases_and_fixed_columns_come_back_from_a_plan_as_written(tmp_path: Path) -> None:
    column = 'columns = [{ name = "age", start = 3, width = 2, decimals = 1 }]'
    plan = read_plan(save(tmp_path, EXAMPLE.replace('delimiter = ";"', column)))
    assert plan.source.columns == (FixedColumn("age", 3, 2, 1),)
    assert Plan.from_plain(plan.as_plain(), "again") == plan
    plan = read_plan(save(tmp_path, EXAMPLE.replace('delimiter = ";"', 'metadata = "x.rda"')))
    assert plan.source.metadata == "x.rda"
    database = EXAMPLE.replace("adult.csv", "adult.sqlite")
    for line in ("table = 'people'", "query = 'select 1'"):
        plan = read_plan(save(tmp_path, database.replace('delimiter = ";"', line)))
        assert Plan.from_plain(plan.as_plain(), "again") == plan


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
names = texts.filter(bool)
numbers = st.decimals(-(10**11), 10**11, places=3) | st.integers(-(10**30), 10**30)
plain = st.recursive(
    texts | numbers | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
tables = st.dictionaries(names, plain, max_size=4)
hierarchies = (
    st.none()
    | st.builds(HierarchyFile, names)
    | st.builds(
        HierarchyBuilder,
        st.sampled_from(BUILDER_KINDS),
        tables.map(lambda table: {key: table[key] for key in table if key != "kind"}),
    )
)
plans = st.builds(
    Plan,
    source=st.builds(
        SourceSpec,
        path=names.filter(lambda text: "://" not in text),
        delimiter=st.none() | st.sampled_from(";,\t|"),
        encoding=st.none() | names,
        decimal=st.none() | st.sampled_from(".,"),
        quote=st.none() | st.sampled_from(["", '"', "'"]),
        header=st.none() | st.booleans(),
        missing=st.lists(texts, max_size=3).map(tuple),
    ),
    attributes=st.dictionaries(
        texts, st.builds(AttributeSpec, st.sampled_from(PLAN_ROLES), hierarchies), max_size=4
    ),
    protection=st.builds(
        Protection,
        names,
        tables.map(lambda table: {key: table[key] for key in table if key != "method"}),
    ),
    title=texts,
    language=st.sampled_from(["en", "de"]),
    budget=st.none() | st.fixed_dictionaries({"limit": st.integers(0, 9), "population": names}),
)


@settings(max_examples=examples(150), deadline=None)
@given(plan=plans)
def test_every_plan_reads_back_as_it_was_written(
    plan: Plan, tmp_path_factory: pytest.TempPathFactory, keeper: Workspace
) -> None:
    folder = tmp_path_factory.mktemp("plans")
    for name in ("plan.toml", "plan.json"):
        write_plan(plan, folder / name, keeper)
        assert read_plan(folder / name) == plan
    assert Plan.from_plain(plan.as_plain(exact=True), "x") == plan
    assert json.loads(plan_as_json(plan)) == json.loads(json.dumps(plan.as_plain()))


@settings(max_examples=200, deadline=None)
@given(garbage=st.binary(max_size=200) | texts.map(str.encode))
def test_garbage_is_refused_with_one_line_or_read(
    garbage: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("plans") / "plan.toml"
    path.write_bytes(garbage)
    with pytest.raises(DpdeskError) as caught:
        read_plan(path)
    assert caught.value.line == " ".join(caught.value.line.split())
