"""Keys and methods that plans may have and this version does not offer; keys without effect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan, check_protection, prepare_rows
from dpdesk.core.asks import open_question
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import Plan
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.registry import Registry
from dpdesk.io.workspace import Workspace
from tests.helpers import releases as town


@pytest.fixture
def offered(context: AppContext) -> AppContext:
    """The context with the methods of this version."""
    workspace: Workspace = context.workspace
    return AppContext(context.home, workspace, default_registry())


def protected(**protection: object) -> Plan:
    quasi = {name: {"role": "quasi-identifier"} for name in ("age", "town")}
    source = {"path": town.SOURCE}
    return Plan.from_plain(
        {"version": 1, "source": source, "attributes": quasi, "protection": protection}, "p.toml"
    )


def test_methods_of_later_versions_are_not_called_unknown(offered: AppContext) -> None:
    known = replace(offered, registry=Registry(tuple(default_registry()), later=("tarot",)))
    with pytest.raises(InputError) as caught:
        check_protection(known, protected(method="tarot", l=2), "p.toml")
    assert caught.value.code == "plan.not-available"
    assert "the method `tarot` is not available in this version" in caught.value.sentence


def test_keys_of_later_versions_are_refused_as_not_available(offered: AppContext) -> None:
    method = KAnonymity()
    vars(method)["later"] = ("tarot",)
    known = replace(offered, registry=Registry((method,)))
    plan = protected(method="k-anonymity", k=5, tarot=[{"card": "fool"}])
    with pytest.raises(InputError) as caught:
        check_protection(known, plan, "p.toml")
    assert caught.value.code == "plan.not-available"
    assert "`tarot` is not available in this version" in caught.value.sentence


@pytest.mark.parametrize(
    ("keys", "note"),
    [
        ({"prefer": "maximum-distribution"}, "`prefer` has no effect together with"),
        (
            {"algorithm": "samarati", "objective": "entropy"},
            'together with `algorithm = "samarati"`',
        ),
        (
            {"levels": {"age": 1, "town": 0}, "objective": "loss"},
            "no effect together with `levels`",
        ),
        (
            {"levels": {"age": 1, "town": 0}, "algorithm": "optimal"},
            "no effect together with `levels`",
        ),
        ({"objective": "entropy"}, None),
        ({}, None),
    ],
)
def test_a_key_without_effect_is_noted(
    offered: AppContext, tmp_path: Path, keys: dict[str, object], note: str | None
) -> None:
    town.write_source(tmp_path, 30)
    plan = protected(method="k-anonymity", k=2, **keys)
    with prepare_rows(offered, PlacedPlan(plan, tmp_path, "p.toml"), CancelToken(), silent) as run:
        said = [text for text in run.notes if "no effect" in text]
    assert len(said) == (0 if note is None else 1)
    assert note is None or note in said[0]


def test_names_that_were_taken_for_data_are_explained(offered: AppContext, tmp_path: Path) -> None:
    (tmp_path / town.SOURCE).write_text("1,2\n3,4\n5,6\n", "utf-8")
    plan = protected(method="k-anonymity", k=2)
    with pytest.raises(InputError) as caught:
        prepare_rows(offered, PlacedPlan(plan, tmp_path, "p.toml"), CancelToken(), silent)
    assert caught.value.code == "plan.unknown-column"
    assert "`header = true` under [source]" in caught.value.hint


@pytest.mark.parametrize(("options", "told"), [({}, True), ({"widths": [5, 20]}, False)])
def test_intervals_chosen_from_the_range_of_the_data_are_noted(
    offered: AppContext, tmp_path: Path, options: dict[str, object], told: bool
) -> None:
    town.write_source(tmp_path, 30)
    raw = protected(method="k-anonymity", k=2).as_plain()
    builder = {"kind": "intervals", **options}
    raw["attributes"] = {"age": {"role": "quasi-identifier", "hierarchy": builder}}
    plan = Plan.from_plain(raw, "p.toml")
    with prepare_rows(offered, PlacedPlan(plan, tmp_path, "p.toml"), CancelToken(), silent) as run:
        assert any("intervals of `age` were chosen" in text for text in run.notes) is told


def test_methods_ask_for_settings_that_they_have(offered: AppContext) -> None:
    """And, before all else, for what a plan without any settings must say."""
    for method in offered.registry:
        keys = {parameter.key for parameter in method.parameters}
        for ask in method.asks:
            also = {ask.by_file} if ask.by_file else set()
            also |= {ask.applies.key} if ask.applies else set()
            assert {*ask.keys, *also} <= keys, (method.id, ask)
        asked = open_question(method.asks, {}, {})
        assert asked is None or asked[1] == method.asks[0].keys[0]
