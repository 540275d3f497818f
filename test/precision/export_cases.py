#===- export_cases.py - small models that mixed precision tools break ------===#
"""Models of a few nodes, each after a bug that users of such tools reported.

A case has a model, the type to export it in, and a check of the result that
returns what is wrong. The names refer to what must hold.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import export_structure as structure

F32, F16, BF16, I64, BOOL = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16,
                             TensorProto.INT64, TensorProto.BOOL)


@dataclasses.dataclass
class Case:
    name: str
    model: onnx.ModelProto
    feeds: dict[str, np.ndarray]
    check: Callable[[onnx.ModelProto], list[str]]
    amp: str = "fp16"
    options: tuple[str, ...] = ()
    # False where ampc folds a constant into weights that are rounded afterwards.
    exact: bool = True
    # ONNX Runtime can run the result.
    runs: bool = True
    bound: float = 5e-3
    # Inputs and outputs have other types than the model's, so only ONNX Runtime
    # and the structure judge.
    keeps_io: bool = True


CASES: list[Callable[[], Case]] = []


def case(make):
    CASES.append(make)
    return make


def _rng(seed=0):
    return np.random.default_rng(seed)


def _normal(*shape, seed=0) -> np.ndarray:
    return _rng(seed).standard_normal(shape).astype(np.float32)


def tensor(name: str, array) -> onnx.TensorProto:
    array = np.asarray(array)
    return numpy_helper.from_array(
        array.astype(np.float32) if array.dtype == np.float64 else array, name)


def value(name: str, shape, dtype=F32) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def node(op: str, inputs: str, outputs: str, **attributes) -> onnx.NodeProto:
    """`inputs` and `outputs` are names apart by blanks, `_` for none."""
    return helper.make_node(op, ["" if name == "_" else name for name in inputs.split()],
                            outputs.split(), name=f"node_{outputs.split()[0]}", **attributes)


def model(nodes, inputs, outputs, weights=(), *, opset=17, functions=(), imports=(),
          **fields) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "case", inputs, outputs, list(weights))
    made = helper.make_model(
        graph, ir_version=10, functions=list(functions),
        opset_imports=[helper.make_opsetid("", opset), *imports], producer_name="case")
    for key, text in fields.items():
        setattr(made, key, text)
    return made


def graph(nodes, outputs, weights=(), inputs=()) -> onnx.GraphProto:
    return helper.make_graph(nodes, "inner", list(inputs), outputs, list(weights))


def type_of(result: onnx.ModelProto, name: str) -> int:
    return structure.element_types(result).get(name, 0)


def find(result: onnx.ModelProto, output: str) -> onnx.NodeProto:
    """The node whose result is `output`, or became it through a Cast behind."""
    for body in structure.bodies(result):
        for made in body.node:
            if made.name == f"node_{output}":
                return made
    raise KeyError(output)


def expect(condition: bool, text: str) -> list[str]:
    return [] if condition else [text]


def computes_in(result: onnx.ModelProto, output: str, dtype: int, slot: int = 0) -> list[str]:
    made = find(result, output)
    got = type_of(result, made.input[slot])
    return expect(got == dtype, f"{output} reads input {slot} as {got}, not {dtype}")


@case
def resize_scales_stay_f32():
    x, w = _normal(1, 3, 4, 4), _normal(3, 3, 1, 1, seed=1)
    made = model([node("Conv", "x w", "c"), node("Resize", "c _ s", "y", mode="nearest")],
                 [value("x", [1, 3, 4, 4])], [value("y", [1, 3, 8, 8])],
                 [tensor("w", w), tensor("s", [1.0, 1, 2, 2])])
    return Case("resize-scales", made, {"x": x},
                lambda r: computes_in(r, "c", F16) + computes_in(r, "y", F32, 2))


@case
def empty_optional_inputs_stay():
    x = _normal(1, 1, 4, 4)
    empty = helper.make_node("Constant", [], ["e"], name="node_e",
                             value=numpy_helper.from_array(np.zeros([0], np.float32)))
    made = model([node("Conv", "x w", "c"), empty, node("Resize", "c _ e s", "y")],
                 [value("x", [1, 1, 4, 4])], [value("y", [1, 1, 8, 8])],
                 [tensor("w", _normal(1, 1, 1, 1, seed=1)),
                  tensor("s", np.array([1, 1, 8, 8], np.int64))])
    return Case("resize-empty-scales", made, {"x": x},
                lambda r: expect(find(r, "y").input[2] == "e", "the empty input was changed"))


@case
def casts_of_the_model_stay():
    made = model([node("MatMul", "x w", "m"), node("Cast", "m", "k", to=F32),
                  node("Add", "k b", "y")],
                 [value("x", [2, 4])], [value("y", [2, 4])],
                 [tensor("w", _normal(4, 4)), tensor("b", _normal(4, seed=1))])
    return Case("cast-barrier", made, {"x": _normal(2, 4, seed=2)},
                lambda r: computes_in(r, "m", F16) + computes_in(r, "y", F32)
                + expect(type_of(r, "k") == F32, "the Cast's result changed its type"))


@case
def no_rounding_between_f32_nodes():
    names = "m a b y".split()
    made = model([node("Transpose", "x", "t", perm=[0, 1, 3, 2]), node("MatMul", "t c", "m"),
                  node("Mul", "m hundred", "a"), node("Mul", "a ten", "b"),
                  node("Reshape", "b two", "r"), node("Div", "r d", "y")],
                 [value("x", [1, 1, 6, 1])], [value("y", [2])],
                 [tensor("c", np.arange(1.0, 13).reshape(6, 2)), tensor("hundred", [100.0]),
                  tensor("ten", [10.0]), tensor("two", np.array([2], np.int64)),
                  tensor("d", [999.0])])
    x = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 6, 1)
    return Case("all-f32", made, {"x": x},
                lambda r: expect(not any(structure.cast_target(n) for n in r.graph.node),
                                 "casts among nodes that are all f32"),
                options=("--layer-precisions=" + ",".join(f"node_{n}:fp32" for n in names),))


@case
def fresh_names_collide_with_nothing():
    made = model([node("Identity", "x", "x_fp16"), node("MatMul", "x w", "m"),
                  node("Add", "m x_fp16", "y")],
                 [value("x", [4, 4])], [value("y", [4, 4])], [tensor("w", _normal(4, 4))])
    made.graph.node[0].name = "x_fp16_1"
    return Case("name-clash", made, {"x": _normal(4, 4, seed=1)},
                lambda r: computes_in(r, "m", F16))


@case
def topological_order():
    made = model([node("MatMul", "x w", "m"), node("TopK", "m k", "v i")],
                 [value("x", [1, 8])], [value("v", [1, 2]), value("i", [1, 2], I64)],
                 [tensor("w", _normal(8, 8)), tensor("k", np.array([2], np.int64))])
    return Case("topk", made, {"x": _normal(1, 8, seed=1)}, lambda r: computes_in(r, "m", F16))


@case
def casts_stand_in_the_branch():
    then = graph([node("MatMul", "x w", "a")], [value("a", [2, 2])])
    other = graph([node("Identity", "x", "b")], [value("b", [2, 2])])
    made = model([node("If", "c", "y", then_branch=then, else_branch=other)],
                 [value("c", [], BOOL), value("x", [2, 2])], [value("y", [2, 2])],
                 [tensor("w", _normal(2, 2))])

    def check(r):
        outer = [n for n in r.graph.node if n.op_type == "Cast"]
        return computes_in(r, "a", F16) + expect(not outer, "a Cast stands outside the branch")

    return Case("if-captures", made, {"c": np.array(True), "x": _normal(2, 2, seed=1)}, check)


@case
def captures_are_bracketed_in_the_branch():
    then = graph([node("Gemm", "e w", "a")], [value("a", [2, 4])])
    other = graph([node("Identity", "e", "b")], [value("b", [2, 4])])
    made = model([node("Exp", "x", "e"),
                  node("If", "c", "y", then_branch=then, else_branch=other)],
                 [value("c", [], BOOL), value("x", [2, 4])], [value("y", [2, 4])],
                 [tensor("w", _normal(4, 4))])
    return Case("if-capture-of-f32", made, {"c": np.array(True), "x": _normal(2, 4, seed=1)},
                lambda r: computes_in(r, "e", F32) + computes_in(r, "a", F16))


@case
def captures_have_the_outer_type():
    inner = graph([node("Add", "r r", "a")], [value("a", [2, 4])])
    inner_else = graph([node("Identity", "r", "b")], [value("b", [2, 4])])
    outer = graph([node("If", "c", "i", then_branch=inner, else_branch=inner_else)],
                  [value("i", [2, 4])])
    outer_else = graph([node("Mul", "r r", "d")], [value("d", [2, 4])])
    made = model([node("MatMul", "x w", "m"), node("Relu", "m", "r"),
                  node("If", "c", "y", then_branch=outer, else_branch=outer_else)],
                 [value("c", [], BOOL), value("x", [2, 4])], [value("y", [2, 4])],
                 [tensor("w", _normal(4, 4))])
    return Case("nested-if", made, {"c": np.array(True), "x": _normal(2, 4, seed=1)},
                lambda r: computes_in(r, "r", F16) + computes_in(r, "a", F16))


@case
def loops_carry_declared_types():
    body = graph([node("MatMul", "s w", "m"), node("Exp", "m", "e"),
                  node("Identity", "k", "k2")],
                 [value("k2", [], BOOL), value("e", [2, 2])],
                 inputs=[value("n", [], I64), value("k", [], BOOL), value("s", [2, 2])])
    made = model([node("Loop", "trips _ x", "y", body=body)],
                 [value("x", [2, 2])], [value("y", [2, 2])],
                 [tensor("w", _normal(2, 2) * 0.1), tensor("trips", np.array(3, np.int64))])

    def check(r):
        inner = find(r, "y").attribute[0].g
        return computes_in(r, "m", F16) + computes_in(r, "e", F32) + expect(
            inner.output[1].type.tensor_type.elem_type == F32, "the carried value changed")

    return Case("loop", made, {"x": _normal(2, 2, seed=1)}, check)


@case
def scans_carry_declared_types():
    body = graph([node("MatMul", "s w", "m"), node("Add", "m e", "t"), node("Relu", "t", "u")],
                 [value("t", [2, 2]), value("u", [2, 2])],
                 inputs=[value("s", [2, 2]), value("e", [2, 2])])
    made = model([node("Scan", "x z", "y ys", body=body, num_scan_inputs=1)],
                 [value("x", [2, 2]), value("z", [3, 2, 2])],
                 [value("y", [2, 2]), value("ys", [3, 2, 2])], [tensor("w", _normal(2, 2))])
    return Case("scan", made, {"x": _normal(2, 2, seed=1), "z": _normal(3, 2, 2, seed=2)},
                lambda r: computes_in(r, "m", F16))


@case
def outputs_that_are_casts_stay():
    made = model([node("Cast", "x", "t1", to=F16), node("Cast", "t1", "t2", to=F32)],
                 [value("x", [4])], [value("t1", [4], F16), value("t2", [4])])
    return Case("cast-outputs", made, {"x": _normal(4)},
                lambda r: expect(len(r.graph.node) == 2, "nodes were added or removed"))


@case
def other_low_type_goes_through_f32():
    made = model([node("Cast", "x", "h", to=F16), node("MatMul", "h w", "y16"),
                  node("Cast", "y16", "y", to=F32)],
                 [value("x", [4, 4])], [value("y", [4, 4])],
                 [tensor("w", _normal(4, 4).astype(np.float16))])
    return Case("f16-weight-in-bf16", made, {"x": _normal(4, 4, seed=1)},
                lambda r: computes_in(r, "y16", BF16) + computes_in(r, "y16", BF16, 1),
                amp="bf16", runs=False, bound=2e-2)


@case
def declared_outputs_stay():
    made = model([node("MatMul", "x w", "y"), node("Relu", "y", "z")],
                 [value("x", [2, 4])], [value("y", [2, 4]), value("z", [2, 4])],
                 [tensor("w", _normal(4, 4))])
    return Case("outputs-f32", made, {"x": _normal(2, 4, seed=1)},
                lambda r: computes_in(r, "z", F16))


@case
def one_copy_of_a_weight_per_type():
    made = model([node("MatMul", "x c", "m"), node("Add", "x c", "a"), node("Exp", "a", "e"),
                  node("Add", "m e", "y")],
                 [value("x", [4, 4])], [value("y", [4, 4])], [tensor("c", _normal(4, 4))])

    def check(r):
        types = sorted(t.data_type for t in r.graph.initializer)
        return expect(types == [F32, F16], f"copies of types {types}") + computes_in(
            r, "m", F16, 1) + computes_in(r, "a", F32, 1)

    return Case("shared-weight", made, {"x": _normal(4, 4, seed=1)}, check)


def _batch_norm(opset: int, folds: bool) -> onnx.ModelProto:
    nodes = [node("Conv", "x w", "c"), node("Relu", "c", "r"),
             node("BatchNormalization", "c s b m v" if folds else "r s b m v", "n"),
             node("Relu", "n", "y")]
    if folds:
        del nodes[1]
    return model(nodes, [value("x", [1, 3, 4, 4])], [value("y", [1, 3, 4, 4])],
                 [tensor("w", _normal(3, 3, 1, 1)), tensor("s", _normal(3, seed=1)),
                  tensor("b", _normal(3, seed=2)), tensor("m", _normal(3, seed=3)),
                  tensor("v", np.abs(_normal(3, seed=4)) + 0.5)], opset=opset)


def _batch_norm_case(opset: int, folds: bool, data: int) -> Case:
    return Case(f"batch-norm-{opset}{'-folded' if folds else ''}", _batch_norm(opset, folds),
                {"x": _normal(1, 3, 4, 4, seed=5)},
                lambda r: computes_in(r, "c", F16) + computes_in(r, "n", data)
                + computes_in(r, "n", F32, 1) + computes_in(r, "n", F32, 4)
                + computes_in(r, "y", F16), exact=not folds)


@case
def batch_norm_of_old_opsets_is_bracketed():
    return _batch_norm_case(14, False, F32)


@case
def batch_norm_parameters_stay_f32():
    return _batch_norm_case(15, False, F16)


@case
def folded_batch_norm_parameters_stay_f32():
    return _batch_norm_case(15, True, F16)


@case
def no_low_type_in_the_opset():
    made = model([node("Conv", "x w b", "c"), node("Relu", "c", "r"),
                  node("Conv", "r w b", "y")],
                 [value("x", [1, 3, 4, 4])], [value("y", [1, 3, 4, 4])],
                 [tensor("w", _normal(3, 3, 1, 1)), tensor("b", _normal(3, seed=1))])

    def check(r):
        weight = next(t for t in r.graph.initializer if t.name == "w")
        return computes_in(r, "c", F32) + computes_in(r, "r", BF16) + expect(
            weight.data_type == BF16, "the weight is not rounded")

    return Case("conv-17-bf16", made, {"x": _normal(1, 3, 4, 4, seed=2)}, check, amp="bf16",
                runs=False, bound=2e-2)


@case
def layer_norm_is_bracketed():
    made = model([node("MatMul", "x w", "m"), node("LayerNormalization", "m s b", "n"),
                  node("MatMul", "n w", "y")],
                 [value("x", [2, 8])], [value("y", [2, 8])],
                 [tensor("w", _normal(8, 8)), tensor("s", _normal(8, seed=1)),
                  tensor("b", _normal(8, seed=2))])
    return Case("layer-norm", made, {"x": _normal(2, 8, seed=3)},
                lambda r: computes_in(r, "n", F32) + computes_in(r, "n", F32, 1)
                + computes_in(r, "y", F16))


@case
def rms_norm_is_bracketed():
    made = model([node("MatMul", "x w", "m"), node("RMSNormalization", "m s", "n"),
                  node("MatMul", "n w", "y")],
                 [value("x", [2, 8])], [value("y", [2, 8])],
                 [tensor("w", _normal(8, 8)), tensor("s", _normal(8, seed=1))], opset=23)
    return Case("rms-norm", made, {"x": _normal(2, 8, seed=3)},
                lambda r: computes_in(r, "n", F32) + computes_in(r, "n", F32, 1)
                + computes_in(r, "y", F16))


@case
def gelu_of_several_nodes_rounds_once():
    made = model([node("MatMul", "x w", "m"), node("Div", "m r2", "d"), node("Erf", "d", "e"),
                  node("Add", "e one", "a"), node("Mul", "m a", "p"), node("Mul", "p half", "g"),
                  node("MatMul", "g w", "y")],
                 [value("x", [2, 8])], [value("y", [2, 8])],
                 [tensor("w", _normal(8, 8)), tensor("r2", np.float32(2 ** 0.5)),
                  tensor("one", np.float32(1)), tensor("half", np.float32(0.5))])
    return Case("gelu", made, {"x": _normal(2, 8, seed=1)},
                lambda r: computes_in(r, "m", F16) + computes_in(r, "d", F32)
                + computes_in(r, "e", F32) + computes_in(r, "g", F32) + computes_in(r, "y", F16))


@case
def weak_numbers_are_narrowed():
    made = model([node("MatMul", "x w", "m"), node("Mul", "m half", "h"),
                  node("Sub", "h half", "y")],
                 [value("x", [2, 4])], [value("y", [2, 4])],
                 [tensor("w", _normal(4, 4)), tensor("half", np.float32(0.5))])
    return Case("weak-number", made, {"x": _normal(2, 4, seed=1)},
                lambda r: computes_in(r, "h", F16) + computes_in(r, "h", F16, 1)
                + computes_in(r, "y", F16), exact=False)


@case
def constants_saturate():
    w = _normal(4, 4)
    w[0, 0], w[1, 1], w[2, 2] = 1e6, -1e6, np.inf
    made = model([node("MatMul", "x w", "y")], [value("x", [2, 4])], [value("y", [2, 4])],
                 [tensor("w", w)])

    def check(r):
        got = numpy_helper.to_array(r.graph.initializer[0])
        return expect(got[0, 0] == 65504 and got[1, 1] == -65504 and np.isinf(got[2, 2]),
                      f"{got[0, 0]}, {got[1, 1]}, {got[2, 2]}")

    x = _normal(2, 4, seed=1) * np.float32(1e-3)
    x[:, 2] = 1
    # The compiler's own rounding bounds infinities of a weight, too.
    return Case("saturate", made, {"x": x}, check, amp="pure-fp16", bound=float("inf"),
                runs=False, exact=False)


@case
def shape_arithmetic_is_not_narrowed():
    made = model([node("Conv", "x w", "c"), node("Shape", "c", "s"),
                  node("Cast", "s", "f", to=F32), node("Mul", "f q", "q4"),
                  node("Floor", "q4", "l"), node("Cast", "l", "i", to=I64),
                  node("Resize", "c _ _ i", "y")],
                 [value("x", [1, 3, 10, 10])], [value("y", ["n", "c", "h", "w"])],
                 [tensor("w", _normal(3, 3, 1, 1)),
                  tensor("q", np.array([1, 1, 0.4, 0.4], np.float32))])
    return Case("shape-arithmetic", made, {"x": _normal(1, 3, 10, 10, seed=1)},
                lambda r: computes_in(r, "q4", F32) + computes_in(r, "l", F32))


@case
def functions_are_edited():
    body = helper.make_function(
        "local", "Linear", ["a", "w"], ["o"],
        [node("MatMul", "a w", "p"), node("Relu", "p", "o")],
        [helper.make_opsetid("", 17)])
    calls = [helper.make_node("Linear", ["x", "w"], ["h"], "call_h", domain="local"),
             helper.make_node("Linear", ["h", "w"], ["i"], "call_i", domain="local"),
             node("Exp", "i", "y")]
    made = model(calls, [value("x", [4, 4])], [value("y", [4, 4])],
                 [tensor("w", _normal(4, 4) * 0.3)], functions=[body],
                 imports=[helper.make_opsetid("local", 1)])
    return Case("functions", made, {"x": _normal(4, 4, seed=1)},
                lambda r: expect("Cast" in {n.op_type for f in r.functions for n in f.node},
                                 "the function was not changed"))


@case
def functions_without_a_decision_stay():
    body = helper.make_function("local", "Twice", ["a"], ["o"], [node("Add", "a a", "o")],
                                [helper.make_opsetid("", 17)])
    made = model([node("MatMul", "x w", "m"),
                  helper.make_node("Twice", ["m"], ["n"], "call_n", domain="local"),
                  helper.make_node("Twice", ["x"], ["k"], "call_k", domain="local"),
                  node("Add", "n k", "y")],
                 [value("x", [4, 4])], [value("y", [4, 4])], [tensor("w", _normal(4, 4))],
                 functions=[body], imports=[helper.make_opsetid("local", 1)])
    return Case("function-untouched", made, {"x": _normal(4, 4, seed=1)},
                lambda r: expect(list(r.functions) == [body], "the function was changed"))


@case
def functions_have_a_form_per_typing():
    body = helper.make_function("local", "Both", ["a"], ["o"],
                                [node("Add", "a a", "t"), node("Exp", "t", "o")],
                                [helper.make_opsetid("", 17)])
    made = model([node("MatMul", "x w", "m"),
                  *(helper.make_node("Both", [source], [name], f"call_{name}", domain="local")
                    for source, name in (("m", "n"), ("x", "k"), ("m", "l"))),
                  node("Add", "n k", "p"), node("Add", "p l", "y")],
                 [value("x", [4, 4])], [value("y", [4, 4])], [tensor("w", _normal(4, 4) * 0.3)],
                 functions=[body], imports=[helper.make_opsetid("local", 1)])
    return Case("function-forms", made, {"x": _normal(4, 4, seed=1)},
                lambda r: expect(len(r.functions) == 2 and r.functions[0] == body,
                                 "expected the function and one other form"))


@case
def sequences_keep_their_type():
    made = model([node("MatMul", "x w", "m"), node("SequenceConstruct", "m x", "s"),
                  node("SequenceAt", "s zero", "t"), node("MatMul", "t w", "y")],
                 [value("x", [4, 4])], [value("y", [4, 4])],
                 [tensor("w", _normal(4, 4)), tensor("zero", np.array(0, np.int64))])
    return Case("sequence", made, {"x": _normal(4, 4, seed=1)},
                lambda r: computes_in(r, "m", F16) + computes_in(r, "s", F32)
                + computes_in(r, "y", F16))


@case
def attention_rounds_at_each_product():
    made = model([node("MatMul", "q k", "s"), node("Mul", "s c", "t"),
                  node("Softmax", "t", "p", axis=-1), node("MatMul", "p v", "y")],
                 [value("q", [1, 2, 4, 8]), value("k", [1, 2, 8, 4]), value("v", [1, 2, 4, 8])],
                 [value("y", [1, 2, 4, 8])], [tensor("c", np.float32(8 ** -0.5))])
    return Case("attention", made, {"q": _normal(1, 2, 4, 8), "k": _normal(1, 2, 8, 4, seed=1),
                                    "v": _normal(1, 2, 4, 8, seed=2)},
                lambda r: computes_in(r, "s", F16) + computes_in(r, "t", F16)
                + computes_in(r, "p", F32) + computes_in(r, "y", F16))


@case
def equal_nodes_are_typed_alike():
    made = model([node("MatMul", "x w", "a"), node("MatMul", "x w", "b"), node("Relu", "a", "c"),
                  node("Add", "c b", "y")],
                 [value("x", [4, 4])], [value("y", [4, 4])], [tensor("w", _normal(4, 4))])
    return Case("equal-nodes", made, {"x": _normal(4, 4, seed=1)},
                lambda r: computes_in(r, "a", F16) + computes_in(r, "b", F16))


@case
def numbers_of_constant_nodes_are_narrowed():
    made = model([helper.make_node("Constant", [], ["k"], "node_k", value_float=0.25),
                  helper.make_node("Constant", [], ["l"], "node_l",
                                   value_floats=[1.0, 2.0, 3.0, 4.0]),
                  node("MatMul", "x w", "m"), node("Mul", "m k", "n"), node("MatMul", "n l", "y")],
                 [value("x", [4, 4])], [value("y", [4])], [tensor("w", _normal(4, 4))])
    return Case("constant-numbers", made, {"x": _normal(4, 4, seed=1)},
                lambda r: computes_in(r, "n", F16, 1) + computes_in(r, "y", F16, 1), exact=False)


@case
def moved_constants_are_stored_narrow():
    # More elements than the compiler looks at while it folds.
    made = model([node("Transpose", "w", "t", perm=[1, 0]), node("Reshape", "t s", "r"),
                  node("MatMul", "x r", "y")],
                 [value("x", [2, 128])], [value("y", [2, 128])],
                 [tensor("w", _normal(64, 256)), tensor("s", np.array([128, 128], np.int64))])
    return Case("moved-constant", made, {"x": _normal(2, 128, seed=1)},
                lambda r: computes_in(r, "t", F16) + computes_in(r, "r", F16)
                + expect(r.graph.initializer[0].data_type == F16, "the weight is stored wide"))


@case
def fields_stay():
    made = model([node("MatMul", "x w", "m"), node("Relu", "m", "y")],
                 [value("x", [2, 4])], [value("y", [2, 4])], [tensor("w", _normal(4, 4))],
                 doc_string="of the model")
    made.graph.doc_string = "of the graph"
    made.graph.node[0].doc_string = "of a node"
    made.graph.initializer[0].doc_string = "of a weight"
    made.graph.value_info.append(value("m", [2, 4]))
    helper.set_model_props(made, {"origin": "test"})
    annotation = made.graph.quantization_annotation.add()
    annotation.tensor_name = "m"

    def check(r):
        return (expect(r.graph.doc_string == "of the graph", "the graph's text is lost")
                + expect(r.graph.initializer[0].doc_string == "of a weight",
                         "the weight's text is lost")
                + expect(len(r.graph.quantization_annotation) == 1, "an unknown field is lost")
                + expect(r.graph.value_info[0].type.tensor_type.elem_type == F16,
                         "value_info is stale"))

    return Case("fields", made, {"x": _normal(2, 4, seed=1)}, check)


@case
def old_files_list_weights_as_inputs():
    made = model([node("MatMul", "x w", "m"), node("Mul", "m w", "y")],
                 [value("x", [4, 4]), value("w", [4, 4])], [value("y", [4, 4])],
                 [tensor("w", _normal(4, 4))], opset=8)
    made.ir_version = 3
    return Case("ir-3", made, {"x": _normal(4, 4, seed=1)}, lambda r: computes_in(r, "m", F16))


@case
def replaceable_weights_are_cast():
    made = model([node("MatMul", "x w", "y")],
                 [value("x", [4, 4]), value("w", [4, 4])], [value("y", [4, 4])],
                 [tensor("w", _normal(4, 4))])
    return Case("replaceable-weight", made, {"x": _normal(4, 4, seed=1)},
                lambda r: computes_in(r, "y", F16, 1)
                + expect(r.graph.initializer[0].data_type == F32, "an input changed its type"))


@case
def inputs_and_outputs_are_narrowed_if_asked():
    # `z` is computed in f32, and `u` is read in f32 too.
    made = model([node("MatMul", "x w", "y"), node("Exp", "y", "z"), node("MatMul", "u w", "m"),
                  node("Exp", "u", "e"), node("Add", "m e", "v")],
                 [value("x", [4, 4]), value("u", [4, 4])],
                 [value("y", [4, 4]), value("z", [4, 4]), value("v", [4, 4])],
                 [tensor("w", 0.3 * _normal(4, 4))])

    def check(r):
        def types(values):
            return [value.type.tensor_type.elem_type for value in values]
        return (expect(types(r.graph.input) == [F16, F32], "the inputs have other types")
                + expect(types(r.graph.output) == [F16, F32, F32], "the outputs have other types"))

    return Case("narrow-io", made, {"x": _normal(4, 4, seed=1), "u": _normal(4, 4, seed=2)},
                check, options=("--keep-io-types=false",), keeps_io=False)
