#===- graph_cases.py - graphs that are no graphs --------------------------===#
"""Cycles, names that clash or dangle, recursion, attributes of wrong type."""

import onnx
from onnx import TensorProto, helper

from case import FLOAT, add, ints, model, node, weight

_X, _Y = [("x", [4])], [("y", [4])]

add("cycle", model([node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second"),
                    node("Relu", ["b"], ["y"], "third")], _X, _Y), "first", "second", "a", "b")
add("self-loop", model([node("Add", ["x", "y"], ["y"])], _X, _Y), "the_add", "y")
add("dangling-input", model([node("Relu", ["nowhere"], ["y"])], _X, _Y), "nowhere")
add("dangling-output", model([node("Relu", ["x"], ["z"])], _X, _Y), "y")
add("output-made-twice", model([node("Relu", ["x"], ["y"], "one"), node("Neg", ["x"], ["y"], "two")],
                               _X, _Y), "y", "two")
add("output-shadows-input", model([node("Relu", ["x"], ["x"])], _X, [("x", [4])]), "x")
add("output-shadows-weight", model([node("Relu", ["x"], ["w"], "shadow"),
                                    node("Add", ["x", "w"], ["y"])], _X, _Y,
                                   [weight("w", [4])]), "w", "shadow")
add("weight-twice", model([node("Add", ["x", "w"], ["y"])], _X, _Y,
                          [weight("w", [4]), weight("w", [1])]), "w")
add("input-twice", model([node("Relu", ["x"], ["y"])], [("x", [4]), ("x", [5])], _Y), "x")
add("op-unknown", model([node("NoSuchOp", ["x"], ["y"])], _X, _Y), "the_nosuchop",
    codes=frozenset({3, 4}))
add("op-empty", model([node("", ["x"], ["y"], "nameless")], _X, _Y), "nameless")
add("domain-unknown", model([node("Relu", ["x"], ["y"], domain="com.example")], _X, _Y),
    "the_relu")
add("inputs-too-many", model([node("Relu", ["x", "x", "x"], ["y"])], _X, _Y), "the_relu")
add("inputs-too-few", model([node("Add", ["x"], ["y"])], _X, _Y), "the_add")
add("inputs-none", model([node("Concat", [], ["y"], axis=0)], _X, _Y), "the_concat")
add("input-required-empty", model([node("Add", ["", "x"], ["y"])], _X, _Y), "the_add")
add("outputs-none", model([node("Relu", ["x"], [])], _X, _X), "the_relu", "x")
add("outputs-too-many", model([node("Relu", ["x"], ["y", "z"])], _X, _Y), "the_relu")
add("attribute-missing", model([node("Cast", ["x"], ["y"])], _X, _Y), "the_cast")
add("attribute-unknown", model([node("Relu", ["x"], ["y"], colour=3)], _X, _Y), "the_relu")
add("types-differ", model([node("Add", ["x", "i"], ["y"])], _X, _Y, [ints("i", 1, 2, 3, 4)]),
    "the_add")
add("type-unfit", model([node("Not", ["x"], ["y"])], _X, _Y), "the_not")

_IMAGE, _KERNEL = [("x", [1, 3, 8, 8])], [weight("w", [4, 3, 3, 3])]
for _name, _value in {"float": 1.5, "string": "two", "floats": [1.0, 2.0], "int": 2,
                      "tensor": weight("", [2])}.items():
    add(f"attribute-{_name}", model([node("Conv", ["x", "w"], ["y"], strides=_value)], _IMAGE,
                                    [("y", None)], _KERNEL), "the_conv")


def _attribute(**fields) -> onnx.ModelProto:
    """A Conv with an attribute `strides` put together by hand."""
    conv = node("Conv", ["x", "w"], ["y"])
    conv.attribute.add(name="strides", **fields)
    return model([conv], _IMAGE, [("y", None)], _KERNEL)


add("attribute-type-lies", _attribute(type=onnx.AttributeProto.FLOATS, ints=[1, 1]), "the_conv")
add("attribute-type-undefined", _attribute(ints=[]), "the_conv")
add("attribute-reference", _attribute(type=onnx.AttributeProto.INTS, ref_attr_name="outer"),
    "the_conv")


def _attribute_twice() -> onnx.ModelProto:
    result = _attribute(type=onnx.AttributeProto.INTS, ints=[1, 1])
    result.graph.node[0].attribute.add(name="strides", type=onnx.AttributeProto.INTS, ints=[2, 2])
    return result


add("attribute-twice", _attribute_twice, "the_conv")


def _function(name: str, calls: list[str]) -> onnx.FunctionProto:
    """A function of one operand that applies `calls` in turn."""
    body = [node(call, [f"t{i}"], [f"t{i + 1}"], f"call_{call}", domain="local")
            for i, call in enumerate(calls)]
    return helper.make_function("local", name, ["t0"], [f"t{len(calls)}"], body,
                                [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])


def _calling(*functions: onnx.FunctionProto) -> onnx.ModelProto:
    call = node(functions[0].name, ["x"], ["y"], "call", domain="local")
    return model([call], _X, _Y, functions=functions, imports=[helper.make_opsetid("local", 1)])


add("function-recursion", _calling(_function("F", ["F"])), "F", "call")
add("function-recursion-mutual", _calling(_function("F", ["G"]), _function("G", ["F"])),
    "F", "G", "call")
add("function-twice", _calling(_function("F", ["G"]), _function("F", ["G"])), "F")
# Each function calls the next one twice: 2^40 nodes after inlining.
add("function-doubling",
    lambda: _calling(*(_function(f"F{i}", [f"F{i + 1}"] * 2) for i in range(40)),
                     helper.make_function("local", "F40", ["t0"], ["t1"],
                                          [node("Relu", ["t0"], ["t1"])],
                                          [helper.make_opsetid("", 17)])), "F", "call")


def _graph(nodes, outputs, inputs=()) -> onnx.GraphProto:
    return helper.make_graph(
        nodes, "branch", [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
        [helper.make_tensor_value_info(name, FLOAT, [4]) for name in outputs])


_C = [("x", [4]), ("c", [], TensorProto.BOOL)]
_BRANCH = _graph([node("Relu", ["x"], ["r"])], ["r"])
add("if-one-branch", model([node("If", ["c"], ["y"], then_branch=_BRANCH)], _C, _Y), "the_if")
add("if-branches-differ",
    model([node("If", ["c"], ["y"], then_branch=_BRANCH,
                else_branch=_graph([node("Relu", ["x"], ["r"])], ["r", "r"]))], _C, _Y), "the_if")
add("if-outer-name-missing",
    model([node("If", ["c"], ["y"], then_branch=_BRANCH,
                else_branch=_graph([node("Relu", ["ghost"], ["r"], "inner")], ["r"]))], _C, _Y),
    "ghost", "inner")
add("if-branch-output-missing",
    model([node("If", ["c"], ["y"], then_branch=_BRANCH, else_branch=_graph([], ["r"]))], _C, _Y),
    "the_if", "r")
add("loop-body-inputs",
    model([node("Loop", ["", "c", "x"], ["y"],
                body=_graph([node("Relu", ["v"], ["r"])], ["r"], [("v", FLOAT, [4])]))], _C, _Y),
    "the_loop")
add("scan-inputs",
    model([node("Scan", ["x"], ["y"], num_scan_inputs=7, body=_BRANCH)], _X, _Y), "the_scan")
