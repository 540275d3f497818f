#===- case.py - what a precision case is, and how its model is written ----===#
"""A registry of cases, and the writer of the small models they consist of.

A case is a function that writes one model for one mode: nodes, inputs with
data, and outputs with the values that float64 arithmetic gives. What it
returns, if anything, checks the decisions that the compiler reports.
"""

import dataclasses
import zlib
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, DOUBLE, INT64, BOOL = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64,
                              TensorProto.BOOL)
FLOAT16, BFLOAT16 = TensorProto.FLOAT16, TensorProto.BFLOAT16

# Half the distance of neighbouring numbers near 1.
ROUNDING = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
LOW = {"off": "f32", "fp16": "f16", "bf16": "bf16", "pure-fp16": "f16", "pure-bf16": "bf16"}
LOW_MODES = ("fp16", "bf16")
MODES = ("off", *LOW_MODES)


@dataclasses.dataclass
class Case:
    """One model in several modes of `--amp`."""

    name: str
    write: Callable
    modes: tuple[str, ...]


CASES: list[Case] = []


def case(name: str, modes: tuple[str, ...] = MODES):
    """Register a function that writes a model into the graph it is given."""
    def register(write: Callable) -> Callable:
        CASES.append(Case(name, write, modes))
        return write

    return register


class Graph:
    """Collects one model, the data of its inputs and what it must compute."""

    def __init__(self, name: str, mode: str):
        self.mode = mode
        self.low = LOW[mode]  # the 16-bit type of the mode as MLIR writes it
        self.options: list[str] = []
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.inputs: list[tuple[onnx.ValueInfoProto, np.ndarray]] = []
        self.outputs: list[tuple[onnx.ValueInfoProto, np.ndarray]] = []
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []
        self.functions: list[onnx.FunctionProto] = []
        self.rtol = self.atol = 0.0
        self.opset = 22

    @property
    def rounding(self) -> float:
        """The relative error of one rounding to the mode's 16-bit type."""
        return ROUNDING[self.low]

    def normal(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        """Numbers that every 16-bit type holds, so that inputs cost no error."""
        return np.round(self.rng.standard_normal(shape) * scale * 16) / 16

    def input(self, name: str, data, dtype: int = FLOAT) -> str:
        array = _as_type(data, dtype)
        self.inputs.append((helper.make_tensor_value_info(name, dtype, array.shape), array))
        return name

    def weight(self, name: str, data, dtype: int = FLOAT) -> str:
        """An initializer."""
        self.weights.append(numpy_helper.from_array(_as_type(data, dtype), name))
        return name

    def constant(self, data, dtype: int = FLOAT, name: str = "") -> str:
        """A Constant node."""
        return self.node("Constant", name=name,
                         value=numpy_helper.from_array(_as_type(data, dtype)))

    def node(self, op: str, *operands: str, name: str = "", outputs: int = 1, domain: str = "",
             **attributes):
        """Append a node named `name`, else after its operator; its result or results."""
        if not name:
            name = f"{op}_{sum(node.op_type == op for node in self.nodes)}"
        results = [f"{name}.{len(self.nodes)}.{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(op, operands, results, name=name, domain=domain,
                                           **attributes))
        return results[0] if outputs == 1 else results

    def output(self, value: str, expected, dtype: int = FLOAT, *, roundings: float = 0,
               rtol: float = 0, atol: float = 0) -> None:
        """`value` is an output. Its elements may be off by so many roundings to
        the 16-bit type, relative to the largest of them, or by `rtol`, `atol`.
        All outputs of a model share the widest of the tolerances."""
        exact = np.asarray(expected, np.float64 if dtype in _FLOATS else None)
        finite = np.abs(exact[np.isfinite(exact)]) if dtype in _FLOATS else np.zeros(0)
        self.rtol = max(self.rtol, rtol)
        self.atol = max(self.atol, atol,
                        roundings * self.rounding * float(finite.max(initial=0)))
        self.outputs.append((helper.make_tensor_value_info(value, dtype, exact.shape),
                             _as_type(exact, dtype)))

    def body(self, name: str, nodes, outputs, inputs=(), weights=()) -> onnx.GraphProto:
        """A branch or the body of a loop; `inputs`, `outputs` are (name, dims[, type])."""
        def infos(rows):
            return [helper.make_tensor_value_info(row[0], row[2] if len(row) > 2 else FLOAT,
                                                  row[1]) for row in rows]

        return helper.make_graph(list(nodes), name, infos(inputs), infos(outputs), list(weights))

    def model(self) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, "case", [info for info, _ in self.inputs],
                                  [info for info, _ in self.outputs], self.weights)
        domains = sorted({node.domain for node in self.nodes} - {""})
        model = helper.make_model(graph, opset_imports=[
            helper.make_opsetid("", self.opset), *(helper.make_opsetid(d, 1) for d in domains)],
            functions=self.functions)
        model.ir_version = 10
        return model


_FLOATS = (FLOAT, DOUBLE, FLOAT16, BFLOAT16)


def _as_type(data, dtype: int) -> np.ndarray:
    return np.asarray(data).astype(helper.tensor_dtype_to_np_dtype(dtype))
