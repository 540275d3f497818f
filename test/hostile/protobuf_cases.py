#===- protobuf_cases.py - files that are no models ------------------------===#
"""Truncated, corrupt and oddly nested protobuf."""

import gzip
import random

import onnx
from onnx import helper

from case import FLOAT, add, model, node, weight


def good() -> onnx.ModelProto:
    """A small valid model, also the control of the whole run."""
    nodes = [node("Gemm", ["x", "w", "b"], ["h"], "gemm_0"), node("Relu", ["h"], ["y"], "relu_0")]
    return model(nodes, [("x", [2, 8])], [("y", [2, 4])], [weight("w", [8, 4]), weight("b", [4])])


_DATA = good().SerializeToString()

# An end inside every kind of field: header, node, weight, input, opset.
for _offset in sorted({1, 2, 3, 7, 10, *range(16, len(_DATA), len(_DATA) // 14), len(_DATA) - 1}):
    add(f"truncated-{_offset}", _DATA[:_offset], "model.onnx")

add("empty", b"", "model.onnx")
add("text", b"this is no model\n" * 50, "model.onnx")
add("gzip", gzip.compress(_DATA, mtime=0), "model.onnx")
add("random-bytes", random.Random(1).randbytes(4096), "model.onnx")
add("zeros", bytes(4096), "model.onnx")
# Field 7 (graph), announced length 2^62.
add("length-beyond-file", b"\x3a" + b"\xff" * 8 + b"\x3f" + b"abc", "model.onnx")
add("endless-varint", b"\x08" + b"\xff" * 64, "model.onnx")
add("wire-type-seven", b"\x3f" + bytes(8) + _DATA, "model.onnx")
# Start-group tags of an unknown field, one inside the other.
add("groups-nested", b"\xfb\x07" * 100000, "model.onnx")


def _length(size: int) -> bytes:
    out = bytearray()
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    out.append(size)
    return bytes(out)


def _subgraphs(depth: int) -> bytes:
    """GraphProto in AttributeProto in NodeProto, `depth` times, by hand:
    building it with the library would recurse too."""
    graph = b""
    for _ in range(depth):
        attribute = b"\x0a\x04body" + b"\x32" + _length(len(graph)) + graph + b"\xa0\x01\x05"
        inner = b"\x22\x04Loop" + b"\x2a" + _length(len(attribute)) + attribute
        graph = b"\x0a" + _length(len(inner)) + inner
    return b"\x08\x08" + b"\x3a" + _length(len(graph)) + graph + b"\x42\x02\x10\x11"


add("subgraphs-20000-deep", lambda: _subgraphs(20000), "model.onnx", "graph")
add("subgraphs-200-deep", lambda: _subgraphs(200), "model.onnx", "graph")


def _sequence_types(depth: int) -> bytes:
    """A graph input of type sequence(sequence(...)), `depth` deep."""
    kind = b"\x0a\x02\x08\x01"
    for _ in range(depth):
        sequence = b"\x0a" + _length(len(kind)) + kind
        kind = b"\x22" + _length(len(sequence)) + sequence
    value = b"\x0a\x04deep" + b"\x12" + _length(len(kind)) + kind
    graph = b"\x5a" + _length(len(value)) + value
    return b"\x08\x08" + b"\x3a" + _length(len(graph)) + graph + b"\x42\x02\x10\x11"


add("sequence-type-20000-deep", lambda: _sequence_types(20000), "model.onnx", "deep")


def _changed(**fields) -> onnx.ModelProto:
    result = good()
    for name, value in fields.items():
        setattr(result, name, value)
    return result


def _opset(*pairs) -> onnx.ModelProto:
    result = good()
    del result.opset_import[:]
    result.opset_import.extend(helper.make_opsetid(*pair) for pair in pairs)
    return result


def _without_graph() -> onnx.ModelProto:
    result = good()
    result.ClearField("graph")
    return result


add("graph-missing", _without_graph, "model.onnx")
add("opset-missing", lambda: _opset(), "opset", "model.onnx")
add("opset-9999", lambda: _opset(("", 9999)), "opset", "9999")
add("opset-negative", lambda: _opset(("", -3)), "opset", "-3")
add("opset-zero", lambda: _opset(("", 0)), "opset")
add("opset-twice", lambda: _opset(("", 13), ("", 17)), "opset")
add("ir-version-huge", lambda: _changed(ir_version=2**40), "ir", "IR")


def _output_type(elem_type: int) -> onnx.ModelProto:
    result = good()
    result.graph.input[0].type.tensor_type.elem_type = elem_type
    return result


add("input-type-unknown", lambda: _output_type(999), "x")
add("input-type-undefined", lambda: _output_type(0), "x")
add("input-without-shape", lambda: _no_shape(), "x")


def _no_shape() -> onnx.ModelProto:
    result = good()
    result.graph.input[0].type.tensor_type.ClearField("shape")
    return result


# What a message quotes must not reach the terminal raw.
add("name-with-escape-codes",
    model([node("NoSuchOp", ["x"], ["y"], "evil\x1b[31m\n\rname")], [("x", [1])], [("y", [1])]),
    "evil")
assert FLOAT == 1  # the hand-written bytes above rely on it
