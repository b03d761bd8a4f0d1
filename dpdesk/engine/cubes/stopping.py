"""How compiled loops hear of a cancel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken

Ints = NDArray[np.int64]


@contextmanager
def stop_flag(token: CancelToken) -> Iterator[Ints]:
    """An array whose only element becomes 1 on cancel: what compiled loops poll."""
    flag = np.zeros(1, np.int64)

    def stop() -> None:
        flag[0] = 1

    with token.on_cancel(stop):
        yield flag
