"""Plans as objects: the same as a plan file, made from keywords, changed, saved and read."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpdesk
from dpdesk.core.errors import InputError
from dpdesk.core.schema import Role
from dpdesk.io.planfile import read_plan

TOML = """version = 1
title = "Town survey"

[source]
path = "people.csv"
delimiter = ";"
missing = ["", "?"]

[attributes.name]
role = "identifier"

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [5, 20]}

[attributes.town]
role = "quasi-identifier"
hierarchy = "towns.csv"

[protection]
method = "k-anonymity"
k = 5
max_suppression = 0.02

[budget]
population = "the town"
"""


def made(base: Path) -> dpdesk.Plan:
    """The plan of the text above, from keywords."""
    return dpdesk.Plan(
        "k-anonymity",
        dpdesk.Source("people.csv", delimiter=";", missing=("", "?")),
        {
            "name": "identifier",
            "age": dpdesk.Attribute(
                Role.QUASI_IDENTIFIER, {"kind": "intervals", "widths": np.array([5, 20])}
            ),
            "town": dpdesk.Attribute("quasi-identifier", Path("towns.csv")),
        },
        title="Town survey",
        budget={"population": "the town"},
        folder=base,
        k=np.int64(5),
        max_suppression=0.02,
    )


def test_keywords_say_what_a_file_says(tmp_path: Path) -> None:
    plan = made(tmp_path)
    assert plan.to_toml() == TOML
    assert plan == dpdesk.Plan.from_toml(TOML, tmp_path)
    plan.save(tmp_path / "plan.toml")
    assert (tmp_path / "plan.toml").read_text() == TOML
    assert dpdesk.Plan.load(tmp_path / "plan.toml").to_toml() == TOML
    assert plan.value == read_plan(tmp_path / "plan.toml")
    assert (plan.method, plan.folder) == ("k-anonymity", tmp_path)
    assert plan.parameters == {"k": 5, "max_suppression": Decimal("0.02")}


def test_a_change_leaves_the_rest_as_it_was(tmp_path: Path) -> None:
    plan = made(tmp_path)
    other = plan.replace(k=7, max_suppression=None, title="Other", attributes={"town": "sensitive"})
    assert plan.to_toml() == TOML
    expected = TOML.replace("k = 5", "k = 7").replace("max_suppression = 0.02\n", "")
    expected = expected.replace("Town survey", "Other").replace('hierarchy = "towns.csv"\n', "")
    town = '[attributes.town]\nrole = "quasi-identifier"'
    assert other.to_toml() == expected.replace(town, '[attributes.town]\nrole = "sensitive"')
    assert other.folder == tmp_path


def test_another_method_keeps_no_parameter(tmp_path: Path) -> None:
    plan = made(tmp_path).replace(method="l-diverted", l=2, sensitive=["town"])
    assert plan.parameters == {"l": 2, "sensitive": ("town",)}


def test_another_source_keeps_the_options_that_apply_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"age": [1]})
    source = made(tmp_path / "plans").replace(source=frame).value.source
    assert (source.path, source.delimiter, source.missing) == ("data.frame", None, ("", "?"))
    source = made(tmp_path / "plans").replace(source="other.csv").value.source
    assert (source.path, source.delimiter) == (str(tmp_path / "other.csv"), ";")


def test_rows_of_a_hierarchy_are_saved_as_a_file_beside_the_plan(tmp_path: Path) -> None:
    rows = [[1, "low", "*"], [2, "low", "*"], [3.0, "high", "*"], [None, "unknown", "*"]]
    for given in (rows, pd.DataFrame(rows, dtype=object)):
        attribute = dpdesk.Attribute("quasi-identifier", given)
        plan = dpdesk.Plan("k-anonymity", "people.csv", {"age": attribute}, k=2, folder=tmp_path)
        plan.save(tmp_path / "plan.toml")
        saved = (tmp_path / "plan-hierarchies" / "age.csv").read_text()
        assert saved.splitlines() == ["1;low;*", "2;low;*", "3;high;*", ";unknown;*"]
        assert 'hierarchy = "plan-hierarchies/age.csv"' in (tmp_path / "plan.toml").read_text()


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"attributes": {"age": "quasi"}}, r"The plan, \[attributes.age\]: `role` is \"quasi\""),
        ({"attributes": {"age": dpdesk.Attribute("sensitive", {"kind": "x"})}}, "`kind` is"),
        ({"language": "xx"}, "The plan: `language` is"),
        ({"kk": 3}, r"The plan, \[protection\]: .*`kk`"),
        ({"method": "k-anonimity"}, "k-anonimity"),
        ({"k": 1}, "`k` is 1"),
        ({"budget": {"population": 3}}, r"The plan, \[budget\]"),
        ({"max_suppression": float("nan")}, "a finite number"),
        ({"source": dpdesk.Source("a.parquet", delimiter=";")}, "`delimiter` does not apply"),
        ({"source": dpdesk.Source("a.csv", skip=-1)}, "`skip` is -1"),
        ({"source": "postgresql://me:secret@host/db"}, "holds a password"),
        ({"source": 3}, "the source is a int"),
        ({"source": dpdesk.Source(pd.DataFrame(), name="a/b")}, "is not a name for a DataFrame"),
        ({"source": dpdesk.Source(pd.DataFrame(), header=True)}, "`header` does not apply"),
    ],
)
def test_what_a_plan_file_would_be_refused_for_is_refused(
    keywords: dict[str, object], words: str
) -> None:
    given = {"method": "k-anonymity", "source": "people.csv", "k": 2, **keywords}
    with pytest.raises(InputError, match=words):
        dpdesk.Plan(**given)  # type: ignore[arg-type]


def test_a_plan_whose_frame_is_not_at_hand_asks_for_it(tmp_path: Path) -> None:
    plan = dpdesk.Plan("k-anonymity", pd.DataFrame({"age": [1]}), k=2, folder=tmp_path)
    plan.save(tmp_path / "plan.toml")
    with pytest.raises(InputError, match="is not available") as caught:
        dpdesk.run(tmp_path / "plan.toml", tmp_path / "out")
    assert (caught.value.code, caught.value.hint) == ("frame.missing", "Give it as `source`.")
    assert not (tmp_path / "out").exists()
