#===- mma_rule.py - the rule of the matrix units, on arrays ---------------===#
"""How NVIDIA's matrix units add, in exact integer arithmetic on arrays.

D = C + the sum of A[k] * B[k]: all terms are aligned to the largest exponent
among them, cut off toward zero at F fraction bits, and added exactly; an f32
result is cut off to 24 significant bits, an f16 result rounded to nearest even
(arXiv:2511.10909, arXiv:2512.07004). A product's exponent is the sum of its
operands' and its significand, in [0, 4), is not normalised first; a subnormal
has its format's least exponent, a zero counts with -126.

Written apart from runtime/devices/sim, to check it.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Format:
    exponent_bits: int
    fraction_bits: int
    unused: int = 0  # low bits of the word that the unit does not read

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def sign(self) -> int:
        return 1 << (self.exponent_bits + self.fraction_bits)


FORMATS = {"f16": Format(5, 10), "bf16": Format(8, 7), "tf32": Format(8, 10, unused=13),
           "f32": Format(8, 23)}
NAN = {"f32": 0x7FFFFFFF, "f16": 0x7FFF}
# F of a generation, and how many products of 16-bit and of tf32 operands it adds
# at once; an instruction of more runs as several in order.
UNITS = {"volta": (23, 4, 0), "turing": (24, 8, 0), "ampere": (24, 8, 4), "ada": (24, 8, 4),
         "hopper": (25, 16, 8), "blackwell": (25, 16, 8)}
GENERATIONS = {70: "volta", 75: "turing", 80: "ampere", 86: "ampere", 87: "ampere", 89: "ada",
               90: "hopper", 100: "blackwell", 103: "blackwell", 120: "blackwell"}


class _Numbers:
    """Decoded bit patterns: significand (an integer with its sign), exponent, specials."""

    def __init__(self, bits: np.ndarray, fmt: Format):
        word = bits.astype(np.int64) >> fmt.unused
        field = (word >> fmt.fraction_bits) & ((1 << fmt.exponent_bits) - 1)
        fraction = word & ((1 << fmt.fraction_bits) - 1)
        normal = field > 0
        magnitude = np.where(normal, fraction | 1 << fmt.fraction_bits, fraction)
        self.negative = (word & fmt.sign) != 0
        self.significand = np.where(self.negative, -magnitude, magnitude)
        self.exponent = np.where(normal, field - fmt.bias,
                                 np.where(fraction != 0, 1 - fmt.bias, -126))
        special = field == (1 << fmt.exponent_bits) - 1
        self.nan = special & (fraction != 0)
        self.inf = special & (fraction == 0)
        self.zero = magnitude == 0


def _shift(significand: np.ndarray, by: np.ndarray) -> np.ndarray:
    """significand * 2**by, cut off toward zero."""
    left, right = np.clip(by, 0, 40), np.clip(-by, 0, 62)
    magnitude = (np.abs(significand) << left) >> right
    return np.where(significand < 0, -magnitude, magnitude)


def _encode(total: np.ndarray, scale: np.ndarray, out: str) -> np.ndarray:
    """total * 2**scale as bits of `out`."""
    fmt = FORMATS[out]
    magnitude = np.abs(total)
    length = np.frexp(magnitude.astype(np.float64))[1]  # exact: below 2**53
    exponent = np.maximum(length - 1 + scale, 1 - fmt.bias)
    drop = exponent - fmt.fraction_bits - scale
    down = np.clip(drop, 0, 62)
    kept = (magnitude >> down) << np.clip(-drop, 0, 40)
    if out == "f16":
        rest, half = magnitude & ((1 << down) - 1), (1 << down) >> 1
        kept = kept + ((down > 0) & ((rest > half) | ((rest == half) & (kept & 1 == 1))))
        carried = kept >> (fmt.fraction_bits + 1) != 0
        kept, exponent = np.where(carried, kept >> 1, kept), exponent + carried
    field = np.where(kept >> fmt.fraction_bits != 0, exponent + fmt.bias, 0)
    bits = (field << fmt.fraction_bits) | (kept & ((1 << fmt.fraction_bits) - 1))
    bits = np.where(exponent > fmt.bias, fmt.infinity, bits)
    return np.where(total < 0, bits | fmt.sign, bits)


def step(c: np.ndarray, a: np.ndarray, b: np.ndarray, kind: str, out: str, f: int) -> np.ndarray:
    """One addition: c of any shape, a and b of that shape (or one that broadcasts
    to it) and a last dimension of k. All are bits."""
    start = _Numbers(c, FORMATS[out])
    left, right = _Numbers(a, FORMATS[kind]), _Numbers(b, FORMATS[kind])
    products = left.significand * right.significand
    exponents = left.exponent + right.exponent
    top = np.maximum(exponents.max(axis=-1), start.exponent)
    fraction = 2 * FORMATS[kind].fraction_bits
    total = _shift(products, f - fraction + exponents - top[..., None]).sum(axis=-1)
    total = total + _shift(start.significand, f - FORMATS[out].fraction_bits + start.exponent - top)
    result = _encode(total, top - f, out)

    inf = left.inf | right.inf
    nan = left.nan | right.nan | (inf & (left.zero | right.zero))
    negative = left.negative ^ right.negative
    nan = nan.any(axis=-1) | start.nan
    below = (inf & negative).any(axis=-1) | (start.inf & start.negative)
    above = (inf & ~negative).any(axis=-1) | (start.inf & ~start.negative)
    fmt = FORMATS[out]
    result = np.where(above, fmt.infinity, np.where(below, fmt.infinity | fmt.sign, result))
    return np.where(nan | (above & below), NAN[out], result)


def instruction(generation: str, c, a, b, kind: str, out: str = "f32") -> np.ndarray:
    """As `step`, for the k of an instruction, in the steps that the unit takes."""
    f, step16, step32 = UNITS[generation]
    most = step32 if kind == "tf32" else step16
    for first in range(0, a.shape[-1], most):
        part = slice(first, min(first + most, a.shape[-1]))
        c = step(c, a[..., part], b[..., part], kind, out, f)
    return c


def product(generation: str, c, a, b, kind: str) -> np.ndarray:
    """c [m, n] + a [m, k] b [k, n] of one instruction's k, f32 sums."""
    return instruction(generation, c, a[:, None, :], b.T[None, :, :], kind)
