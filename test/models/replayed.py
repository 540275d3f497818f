#===- replayed.py - the matrices of a contraction, from its operands ------===#
"""What the contraction of a kernel multiplies, computed from the kernel's
operands by the ops of its body, apart from the compiler."""

import dataclasses
import math
import re

import numpy as np

KERNEL = re.compile(r'amp\.kernel private @"?([^"(\s]+)"?\((.*?)\) -> [^\n]*\{\n(.*?)\n  \}', re.DOTALL)
ARGUMENT = re.compile(r"(%[\w.]+): tensor<([^>]*)>")
OPERATION = re.compile(r"^\s*(%[\w.]+) = (amp\.[\w.]+) (.*?) : \((.*?)\) -> tensor<([^>]*)>", re.M)
CONTRACTIONS = ("amp.matmul", "amp.conv")


#===------------------------------------------------------------------------===#
# Bits
#===------------------------------------------------------------------------===#

def to_bits(values: np.ndarray, kind: str) -> np.ndarray:
    """f32 values in a narrower type, rounded to nearest even."""
    if kind == "f32":
        return values.astype(np.float32).view(np.uint32)
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16).astype(np.uint32)
    word = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    assert kind == "bf16" and np.isfinite(values).all()
    return ((word + 0x7FFF + (word >> 16 & 1)) >> 16).astype(np.uint32)


def from_bits(bits: np.ndarray, kind: str) -> np.ndarray:
    if kind == "f32":
        return bits.astype(np.uint32).view(np.float32)
    if kind == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def numbers(attributes: str, name: str) -> list[int]:
    """The integers of an attribute."""
    found = re.search(rf"{name} = array<i64: ([-\d, ]+)>", attributes)
    return [int(number) for number in found[1].split(",")]


def shape_of(text: str) -> tuple[list[int], str]:
    """"2x3xf16" -> [2, 3], "f16"."""
    *dims, element = text.split("x")
    return [int(dim) for dim in dims], element


#===------------------------------------------------------------------------===#
# The two matrices of a contraction
#===------------------------------------------------------------------------===#

@dataclasses.dataclass
class Contraction:
    """Batches of a [m, k] times b [k, n], as bits of `kind`."""
    kind: str
    a: np.ndarray
    b: np.ndarray


class Body:
    """The body of a kernel up to its contraction, evaluated on its operands."""

    def __init__(self, arguments: str, text: str):
        self.arguments = ARGUMENT.findall(arguments)
        self.operations = OPERATION.findall(text)
        self.root = next((op for op in self.operations if op[1] in CONTRACTIONS), None)

    def contraction(self, buffers: list) -> Contraction:
        values = {}
        for (name, type_), buffer in zip(self.arguments, buffers):
            dims, element = shape_of(type_)
            dtype = {"f32": np.uint32, "f16": np.uint16, "bf16": np.uint16}.get(element)
            if dtype and buffer is not None:
                count = math.prod(dims)
                bits = np.frombuffer(buffer, dtype, count).astype(np.uint32).reshape(dims)
                values[name] = (from_bits(bits, element), element)
        for result, op, rest, _, type_ in self.operations:
            operands = re.findall(r"%[\w.]+", rest)
            if (result, op) == self.root[:2]:
                (a, kind), (b, other) = values[operands[0]], values[operands[1]]
                assert kind == other, f"{op} of {kind} and {other}"
                make = _matmul if op == "amp.matmul" else _conv
                return make(to_bits(a, kind), to_bits(b, kind), rest, kind)
            if operands and operands[0] in values:
                values[result] = self._evaluate(op, rest, shape_of(type_), *values[operands[0]])
        raise AssertionError("no contraction")

    @staticmethod
    def _evaluate(op: str, rest: str, type_, value: np.ndarray, kind: str):
        dims, element = type_
        if op == "amp.cast":
            return from_bits(to_bits(value, element), element), element
        if op == "amp.reshape":
            return value.reshape(dims), kind
        if op == "amp.transpose":
            return value.transpose(numbers(rest, "permutation")), kind
        if op == "amp.slice":
            starts, sizes, strides = (numbers(rest, key) for key in ("starts", "sizes", "strides"))
            return value[tuple(slice(start, start + size * stride, stride) for start, size, stride
                               in zip(starts, sizes, strides))], kind
        if op == "amp.relu":
            return np.maximum(value, 0), kind
        raise AssertionError(f"expected an op before a contraction that moves or casts, got {op}")


def _matmul(a: np.ndarray, b: np.ndarray, attributes: str, kind: str) -> Contraction:
    if "transpose_lhs" in attributes:
        a = a.swapaxes(-1, -2)
    if "transpose_rhs" in attributes:
        b = b.swapaxes(-1, -2)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, batch + a.shape[-2:]).reshape(-1, *a.shape[-2:])
    b = np.broadcast_to(b, batch + b.shape[-2:]).reshape(-1, *b.shape[-2:])
    return Contraction(kind, a, b)


def _conv(x: np.ndarray, w: np.ndarray, attributes: str, kind: str) -> Contraction:
    """Rows are pixels, k counts taps and, within a tap, channels."""
    assert "channels_last" in attributes and "group = 1 :" in attributes, attributes
    strides, pads, dilations = (numbers(attributes, key) for key in
                                ("strides", "pads", "dilations"))
    out, channels, high, wide = w.shape
    x = np.pad(x, ((0, 0), (pads[0], pads[2]), (pads[1], pads[3]), (0, 0)))
    rows = (x.shape[1] - dilations[0] * (high - 1) - 1) // strides[0] + 1
    columns = (x.shape[2] - dilations[1] * (wide - 1) - 1) // strides[1] + 1
    taps = [x[:, i * dilations[0]:][:, :(rows - 1) * strides[0] + 1:strides[0],
              j * dilations[1]:][:, :, :(columns - 1) * strides[1] + 1:strides[1]]
            for i in range(high) for j in range(wide)]
    a = np.concatenate(taps, axis=-1).reshape(1, -1, high * wide * channels)
    b = w.transpose(2, 3, 1, 0).reshape(1, high * wide * channels, out)
    return Contraction(kind, a, b)


def bodies(program: str) -> dict[str, Body]:
    """The kernels of a program's MLIR by name."""
    return {name: Body(arguments, text) for name, arguments, text in KERNEL.findall(program)}
