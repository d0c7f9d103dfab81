"""Verification of Ed25519 signatures (RFC 8032, 5.1.7) with the standard library only.

A verification takes a few milliseconds. The code is not safe for secret keys, but handles only public keys and
signatures.
"""

from __future__ import annotations

from hashlib import sha512
from typing import TypeAlias

_Point: TypeAlias = tuple[int, int, int, int]
"""X, Y, Z, T with x = X/Z, y = Y/Z, x·y = T/Z."""

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
"""A square root of −1."""
_NEUTRAL: _Point = (0, 1, 1, 0)


def signed(key: bytes, signature: bytes, text: bytes) -> bool:
    """Return true if `signature` is the key's signature of `text`; false for malformed keys and signatures."""
    if len(key) != 32 or len(signature) != 64:
        return False
    public, commitment = _point(key), _point(signature[:32])
    factor = int.from_bytes(signature[32:], "little")
    if public is None or commitment is None or factor >= _ORDER:
        return False
    challenge = int.from_bytes(sha512(signature[:32] + key + text).digest(), "little") % _ORDER
    x, y, z, t = public
    left = _sum_of_multiples(factor, _BASE, challenge, (_P - x, y, z, _P - t))
    return _equal(left, commitment)


def _point(encoded: bytes) -> _Point | None:
    """Decode a point from 32 bytes. Return None if the bytes do not encode a point."""
    number = int.from_bytes(encoded, "little")
    y, odd = number & ~(1 << 255), number >> 255
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = _P - x
    return x, y, 1, x * y % _P


def _add(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c, d = 2 * one[3] * other[3] * _D % _P, 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _sum_of_multiples(m: int, one: _Point, n: int, other: _Point) -> _Point:
    """Return m times one point plus n times another."""
    both, made = _add(one, other), _NEUTRAL
    for bit in range(max(m.bit_length(), n.bit_length()) - 1, -1, -1):
        made = _add(made, made)
        match m >> bit & 1, n >> bit & 1:
            case 1, 1:
                made = _add(made, both)
            case 1, 0:
                made = _add(made, one)
            case 0, 1:
                made = _add(made, other)
    return made


def _equal(one: _Point, other: _Point) -> bool:
    return not ((one[0] * other[2] - other[0] * one[2]) % _P or (one[1] * other[2] - other[1] * one[2]) % _P)


_base = _point((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))
assert _base is not None, "it is the standard's"
_BASE = _base
