"""The example policy and the page on policies say what the program does."""

from __future__ import annotations

from pathlib import Path

from dpdesk.project.review.checklist import CLOSING_ITEMS, RELEASE_ITEMS
from dpdesk.project.review.items_columns import COLUMN_ITEMS
from dpdesk.project.review.items_table import TABLE_ITEMS
from dpdesk.project.review.policy import LIMITS, MODES, read_policy

RESOURCES = Path(__file__).parents[2] / "resources"
PAGE = (RESOURCES / "docs" / "policy.md").read_text("utf-8")


def test_the_example_policy_is_valid_and_has_every_key() -> None:
    policy = read_policy(RESOURCES / "policies" / "example.toml")
    assert set(policy.limits) == {limit.key for limit in LIMITS}
    assert policy.modes == MODES
    assert policy.methods is not None
    assert policy.forbidden
    assert policy.sign_offs


def test_the_page_on_policies_names_every_limit_and_every_item() -> None:
    for limit in LIMITS:
        assert f"| `{limit.key}` |" in PAGE
    for item in (*RELEASE_ITEMS, *TABLE_ITEMS, *COLUMN_ITEMS, *CLOSING_ITEMS):
        assert f"`{item.id}`" in PAGE
