"""Missing values that match anything, or nothing, row by row: slow, and obvious."""

from __future__ import annotations

from tests.reference.k_anonymity import Release

MISSING = ("?", "")


class _Missing(Release):
    """A node where the values ``?`` and the empty one are missing below the top."""

    def lost(self, row: int, column: int) -> bool:
        below = self.node[column] < len(next(iter(self.paths[column].values()))) - 1
        return below and self.rows[row][column] in MISSING

    def match(self, one: int, other: int) -> bool:
        raise NotImplementedError

    def kept(self) -> list[bool]:
        keeps = [True] * len(self.rows)
        while True:
            left = [
                keep and sum(self.match(at, i) for i, there in enumerate(keeps) if there) >= self.k
                for at, keep in enumerate(keeps)
            ]
            if left == keeps:
                return keeps
            keeps = left


class MatchesAnything(_Missing):
    def match(self, one: int, other: int) -> bool:
        return all(
            self.lost(one, column)
            or self.lost(other, column)
            or self.new[one][column] == self.new[other][column]
            for column in range(len(self.paths))
        )


class MatchesNothing(_Missing):
    def match(self, one: int, other: int) -> bool:
        return not any(
            self.lost(one, column)
            or self.lost(other, column)
            or self.new[one][column] != self.new[other][column]
            for column in range(len(self.paths))
        )
