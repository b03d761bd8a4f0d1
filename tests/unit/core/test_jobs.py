"""Tokens of work, and work behind other work."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, ending


def test_work_that_ends_with_a_block_is_cancelled_when_the_block_is_left() -> None:
    token = CancelToken()
    with ending(token) as own:
        assert not own.cancelled
    assert own.cancelled
    assert not token.cancelled
    with ending(token) as own:
        token.cancel()
        assert own.cancelled
    with pytest.raises(Cancelled), ending(token):
        pass
