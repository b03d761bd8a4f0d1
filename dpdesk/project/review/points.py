"""Which 32 bytes are an honest Ed25519 public key.

The library that checks signatures takes points of small order for public keys, and under the
neutral element *every* message has a signature that anybody can write down. It also takes a few
points in a second spelling, so that one key would have two fingerprints. A key made by RFC 8032 is
never such a point: it is a multiple of the base point. That is what is tested here, exactly, by the
formulas of RFC 8032, section 5.1 (about 5 ms for a key, remembered).
"""

from __future__ import annotations

from functools import lru_cache

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

Point = tuple[int, int, int, int]
_NEUTRAL: Point = (0, 1, 1, 0)


@lru_cache(maxsize=4096)
def is_honest_key(raw: bytes) -> bool:
    """Whether these bytes are the one spelling of a point of the prime-order group, not neutral."""
    point = _decoded(raw)
    if point is None or _is_neutral(point):
        return False
    return _is_neutral(_times(_L, point))


def _decoded(raw: bytes) -> Point | None:
    if len(raw) != 32:
        return None
    number = int.from_bytes(raw, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= _P:
        return None
    x = _x_of(y, sign)
    return None if x is None else (x, y, 1, x * y % _P)


def _x_of(y: int, sign: int) -> int | None:
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    if square == 0:
        return None if sign else 0
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P:
        return None
    return _P - x if x & 1 != sign else x


def _added(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(factor: int, point: Point) -> Point:
    result = _NEUTRAL
    while factor:
        if factor & 1:
            result = _added(result, point)
        point = _added(point, point)
        factor >>= 1
    return result


def _is_neutral(point: Point) -> bool:
    return point[0] % _P == 0 and (point[1] - point[2]) % _P == 0
