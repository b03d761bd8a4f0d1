"""Where the largest minimal change is not found, an upper bound settles a size that is as large."""

from __future__ import annotations

import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.core.release import CheckStatus
from dpdesk.verifiers.cubes import exact
from dpdesk.verifiers.cubes.exact import Change
from dpdesk.verifiers.cubes.exact_claim import exact_claim

TOKEN = CancelToken()
TABLES = [["a", "b"], ["a", "c"], ["b", "c"]]
CATEGORIES = dict.fromkeys("abc", ("0", "1", "2"))


@pytest.mark.parametrize(
    ("size", "most", "status"),
    [
        (24, 24, CheckStatus.CONFIRMED),
        (26, 24, CheckStatus.FAILED),  # no change is as large
        (22, 24, CheckStatus.NOT_CHECKED),  # perhaps one is larger
        (24, None, CheckStatus.NOT_CHECKED),
        (10, 24, CheckStatus.FAILED),  # a larger one is known
    ],
)
def test_a_bound_from_above_settles_the_size(
    size: int, most: int | None, status: CheckStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Change(12, None, most=most)
    monkeypatch.setattr(exact, "largest_change", lambda *_: found)
    claim = exact_claim(TABLES, CATEGORIES, replace=False)
    assert claim is not None
    assert exact._enumerated(claim, size, "", TOKEN).status is status
