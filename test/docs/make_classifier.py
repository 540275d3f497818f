#!/usr/bin/env python3
#===- make_classifier.py - a small ONNX model without any package ---------===#
"""Write a model `logits[2, 10] = relu(x[2, 16] W1) W2` in protobuf's wire format.

  make_classifier.py OUT.onnx
"""

import pathlib
import struct
import sys


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def message(field: int, *parts: bytes | str) -> bytes:
    """A field of length-delimited type: bytes, a string or a message."""
    body = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


# Field numbers are those of onnx.proto.
def value_info(field: int, name: str, shape: list[int]) -> bytes:
    dims = b"".join(message(1, number(1, dim)) for dim in shape)
    return message(field, message(1, name), message(2, message(1, number(1, 1), message(2, dims))))


def weight(name: str, rows: int, columns: int) -> bytes:
    # Small integers over 64: exact in every type.
    values = [((7 * i) % 31 - 15) / 64 for i in range(rows * columns)]
    data = struct.pack(f"<{len(values)}f", *values)
    return message(5, number(1, rows), number(1, columns), number(2, 1), message(8, name),
                   message(9, data))


def node(name: str, operator: str, inputs: list[str], output: str) -> bytes:
    return message(1, *(message(1, value) for value in inputs), message(2, output),
                   message(3, name), message(4, operator))


def model() -> bytes:
    graph = message(
        7,
        node("hidden", "MatMul", ["x", "w1"], "h"),
        node("relu", "Relu", ["h"], "r"),
        node("output", "MatMul", ["r", "w2"], "logits"),
        message(2, "classifier"),
        weight("w1", 16, 32),
        weight("w2", 32, 10),
        value_info(11, "x", [2, 16]),
        value_info(12, "logits", [2, 10]),
    )
    return number(1, 8) + graph + message(8, message(1, ""), number(2, 17))


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    path = pathlib.Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model())
    return 0


if __name__ == "__main__":
    sys.exit(main())
