#===- operator_models.py - operators without a backend test on floats ------===#
"""Models for operators that ONNX's backend tests leave out, or test on integers,
in models of several nodes or with results of another type only."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_FLOAT = TensorProto.FLOAT


def _model(op: str, inputs: int = 1, weights=(), result=_FLOAT, shape=(2, 3, 4, 4), opset=21,
           **attributes):
    def make() -> onnx.ModelProto:
        names = [f"x{index}" for index in range(inputs)]
        rows = [numpy_helper.from_array(np.asarray(value), f"w{index}")
                for index, value in enumerate(weights)]
        node = helper.make_node(op, names + [row.name for row in rows], ["y"], name=op,
                                **attributes)
        graph = helper.make_graph(
            [node], op, [helper.make_tensor_value_info(name, _FLOAT, shape) for name in names],
            [helper.make_tensor_value_info("y", result, None)], rows)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                                 ir_version=10)

    return make


def _joined() -> onnx.ModelProto:
    """Sequences end where their elements become one tensor."""
    nodes = [helper.make_node("SequenceConstruct", ["x0", "x1"], ["s"], name="SequenceConstruct"),
             helper.make_node("ConcatFromSequence", ["s"], ["y"], name="ConcatFromSequence", axis=0)]
    graph = helper.make_graph(
        nodes, "ConcatFromSequence",
        [helper.make_tensor_value_info(f"x{i}", _FLOAT, (2, 3)) for i in range(2)],
        [helper.make_tensor_value_info("y", _FLOAT, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def _mapped() -> onnx.ModelProto:
    """A sequence whose elements go through a body and become one tensor."""
    body = helper.make_graph(
        [helper.make_node("Abs", ["e"], ["a"], name="Abs")], "body",
        [helper.make_tensor_value_info("e", _FLOAT, (2, 3))],
        [helper.make_tensor_value_info("a", _FLOAT, (2, 3))])
    nodes = [helper.make_node("SequenceConstruct", ["x0", "x1"], ["s"], name="SequenceConstruct"),
             helper.make_node("SequenceMap", ["s"], ["t"], name="SequenceMap", body=body),
             helper.make_node("ConcatFromSequence", ["t"], ["y"], name="ConcatFromSequence", axis=0)]
    graph = helper.make_graph(
        nodes, "SequenceMap",
        [helper.make_tensor_value_info(f"x{i}", _FLOAT, (2, 3)) for i in range(2)],
        [helper.make_tensor_value_info("y", _FLOAT, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


MODELS = {
    "ConcatFromSequence": _joined,
    "CumProd": _model("CumProd", weights=[np.int64(1)], opset=26),
    "CumSum": _model("CumSum", weights=[np.int64(1)]),
    "Einsum": _model("Einsum", 2, shape=(4, 4), equation="ij,jk->ik"),
    "Equal": _model("Equal", 2, result=TensorProto.BOOL),
    "GlobalLpPool": _model("GlobalLpPool", p=2),
    "LayerNormalization": _model("LayerNormalization", weights=[np.ones(4, np.float32)]),
    "SequenceMap": _mapped,
    "Transpose": _model("Transpose", perm=[0, 2, 3, 1]),
    "Trilu": _model("Trilu"),
}
