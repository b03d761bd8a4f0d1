"""Tokens of work, and work behind other work."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, ending


def test_a_search_that_is_asked_ends_with_its_best_and_the_next_request_cancels() -> None:
    token, stop = CancelToken(), CancelToken()
    assert not token.keep()
    with token.keeping(stop):
        assert token.keep()
        assert stop.cancelled
        assert not token.keep()
    assert not token.cancelled
    with token.keeping(CancelToken()):
        pass
    assert not token.keep()


def test_a_search_inside_of_other_work_hears_that_it_is_asked() -> None:
    token, stop = CancelToken(), CancelToken()
    with ending(token) as own, own.keeping(stop):
        assert token.keep()
        assert stop.cancelled
        assert not own.cancelled
        token.cancel()
        assert own.cancelled


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
