#===- case.py - what a hostile case is, and makers of small models --------===#
"""A registry of cases, and short ways to write the models they consist of."""

import dataclasses
import pathlib
from collections.abc import Callable

import onnx
from onnx import TensorProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
GRACEFUL = frozenset({3, 4, 6})


@dataclasses.dataclass
class Case:
    """A command on generated files, and how it has to end."""

    name: str
    # Writes the files into a folder; returns the arguments after `ampc`, or
    # after the program of the control model when `on_program`.
    make: Callable[[pathlib.Path], list[str]]
    # One of these must stand in the message.
    names: tuple[str, ...]
    codes: frozenset[int] = GRACEFUL
    on_program: bool = False


CASES: list[Case] = []


def model(nodes, inputs=(), outputs=(), weights=(), *, opset=17, functions=(), sparse=(),
          imports=()) -> onnx.ModelProto:
    """An unchecked model. `inputs` and `outputs` are (name, dims[, type])."""
    def infos(rows):
        return [helper.make_tensor_value_info(row[0], row[2] if len(row) > 2 else FLOAT, row[1])
                for row in rows]

    graph = helper.make_graph(list(nodes), "hostile", infos(inputs), infos(outputs),
                              list(weights), sparse_initializer=list(sparse))
    opsets = [helper.make_opsetid("", opset), *imports]
    result = helper.make_model(graph, opset_imports=opsets, functions=list(functions))
    result.ir_version = 8
    return result


def weight(name: str, dims, values=None, dtype=FLOAT) -> TensorProto:
    """An initializer; ones unless `values` are given."""
    count = 1
    for dim in dims:
        count *= dim
    values = [1] * count if values is None else values
    return helper.make_tensor(name, dtype, dims, values)


def ints(name: str, *values: int) -> TensorProto:
    return helper.make_tensor(name, INT64, [len(values)], values)


def node(op: str, inputs, outputs, name: str | None = None, **attributes) -> onnx.NodeProto:
    return helper.make_node(op, inputs, outputs, name=name or f"the_{op.lower()}", **attributes)


def save(folder: pathlib.Path, content) -> list[str]:
    """Write a model or bytes as model.onnx; the arguments to compile it."""
    data = content if isinstance(content, bytes) else content.SerializeToString()
    (folder / "model.onnx").write_bytes(data)
    return [str(folder / "model.onnx"), "-o", str(folder / "program"), "--target=cpu"]


def add(name: str, content, *names: str, **fields) -> None:
    """Register a case whose file is `content` (a model, bytes, or a function of none)."""
    def make(folder: pathlib.Path) -> list[str]:
        return save(folder, content() if callable(content) else content)

    CASES.append(Case(name, make, names, **fields))


def add_op(name: str, one: onnx.NodeProto, dims=(2, 3, 8, 8), weights=(), outputs=None,
           **fields) -> None:
    """Register a case of one node fed with `x` of shape `dims`."""
    rows = [(output, outputs) for output in one.output]
    add(name, model([one], [("x", dims)], rows, weights), one.name, **fields)
