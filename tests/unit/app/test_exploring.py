"""What is tried in the window is what a plan may say."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.exploring import explore
from dpdesk.app.opening import open_path, open_work
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from tests.helpers.releases import write_source

REFUSED: tuple[dict[str, object], ...] = (
    {"model": "AG_CS", "algorithm": "mondrian"},
    {"model": "AG", "algorithm": "top-down"},
    {"model": "CG", "objective": "entropy"},
    {"local": True, "algorithm": "incognito"},
)


@pytest.mark.parametrize("given", REFUSED, ids=str)
def test_no_picture_is_shown_of_settings_that_a_plan_refuses(
    tmp_path: Path, given: dict[str, object]
) -> None:
    source = write_source(tmp_path / "work")
    with AppContext.open(tmp_path / "home") as context:
        work = open_path(source).work
        assert work is not None
        with closing(open_work(context, work, CancelToken(), silent)) as data:
            explored = explore(context, data, work, CancelToken(), silent)
            assert explored.view({"k": 2}).guarantee is not None
            with pytest.raises(InputError, match="cannot be used together") as caught:
                explored.view({"k": 2, **given})
    assert caught.value.details["key"] in given
