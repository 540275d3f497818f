#===- region_cases.py - branches, loops and functions ----------------------===#
"""The same rules inside of subgraphs, and one type where they meet."""

import numpy as np
from onnx import helper

from case import BOOL, INT64, case


def taken(g, name: str, value: bool) -> str:
    """A condition that is not known when the model is compiled."""
    return g.input(name, value, BOOL)


# onnxconverter-common PR 260, PR 291
def _one_branch_lowered(condition):
    def write(g):
        x, w = g.normal(2, 2), g.normal(2, 2)
        g.input("x", x)
        g.weight("w", w)
        one = g.body("then", [helper.make_node("MatMul", ["x", "w"], ["a"], name="product")],
                     [("a", [2, 2])])
        other = g.body("else", [helper.make_node("Identity", ["x"], ["b"], name="same")],
                       [("b", [2, 2])])
        y = g.node("If", taken(g, "c", condition), then_branch=one, else_branch=other)
        # The branch that is not lowered hands on f32: nothing may round it.
        g.output(y, x @ w if condition else x, **(dict(roundings=2) if condition else {}))

        def check(d):
            d.expect_type("product", g.low, "lower")
        return check if g.mode != "off" else None
    return write


case("branch-lowered-and-taken")(_one_branch_lowered(True))
case("branch-lowered-and-not-taken")(_one_branch_lowered(False))


# Model-Optimizer PR 1628
def _capture(condition):
    def write(g):
        x, w = g.normal(2, 4), g.normal(4, 4, scale=0.5)
        y = g.node("Exp", g.input("x", x))
        g.weight("w", w)
        one = g.body("then", [helper.make_node("Gemm", [y, "w"], ["a"], name="gemm")],
                     [("a", [2, 4])])
        other = g.body("else", [helper.make_node("Identity", [y], ["b"], name="same")],
                       [("b", [2, 4])])
        z = g.node("If", taken(g, "c", condition), then_branch=one, else_branch=other)
        g.output(z, np.exp(x) @ w if condition else np.exp(x), roundings=4 if condition else 0,
                 rtol=1e-6)

        def check(d):
            d.expect_type("gemm", g.low, "lower")
            d.expect_type("Exp_0", "f32", "fp32")
        return check if g.mode != "off" else None
    return write


case("captured-activation-lowered")(_capture(True))
case("captured-activation-kept")(_capture(False))


# Model-Optimizer PR 717
def _nested(outer, inner):
    def write(g):
        x, w = g.normal(4, 4), g.normal(4, 4)
        y = g.node("Relu", g.node("MatMul", g.input("x", x), g.weight("w", w)))
        c, k = taken(g, "c", outer), taken(g, "k", inner)
        inside = helper.make_node(
            "If", [k], ["n"], name="inside",
            then_branch=g.body("deep", [helper.make_node("Add", [y, y], ["p"], name="twice")],
                               [("p", [4, 4])]),
            else_branch=g.body("deeper", [helper.make_node("MatMul", [y, "w"], ["q"], name="again")],
                               [("q", [4, 4])]))
        z = g.node("If", c, then_branch=g.body("then", [inside], [("n", [4, 4])]),
                   else_branch=g.body("else", [helper.make_node("Neg", [y], ["m"], name="neg")],
                                      [("m", [4, 4])]))
        exact = np.maximum(x @ w, 0)
        g.output(z, (exact * 2 if inner else exact @ w) if outer else -exact, roundings=6)

        def check(d):
            for node in ("twice", "again", "neg", "Relu_0"):
                d.expect_type(node, g.low)
            # Typed by the outer decision, so none of them reads a cast.
            d.expect_casts(1, to="f32")
        return check if g.mode != "off" else None
    return write


for _outer, _inner in ((True, True), (True, False), (False, True)):
    case(f"captured-in-nested-branches-{int(_outer)}{int(_inner)}")(_nested(_outer, _inner))


# onnxruntime#7981
@case("loop-state-of-two-classes")
def _(g):
    s, w = g.normal(2, 2, scale=0.25), g.normal(2, 2, scale=0.25)
    g.weight("w", w)
    body = g.body("body", [
        helper.make_node("MatMul", ["s", "w"], ["p"], name="product"),
        helper.make_node("Exp", ["p"], ["t"], name="exp"),
        helper.make_node("Identity", ["c"], ["d"], name="go")],
        [("d", [], BOOL), ("t", [2, 2])], [("i", [], INT64), ("c", [], BOOL), ("s", [2, 2])])
    y = g.node("Loop", g.constant(3, INT64), g.constant(True, BOOL), g.input("s0", s), body=body)
    for _ in range(3):
        s = np.exp(s @ w)
    g.output(y, s, roundings=8)

    def check(d):
        d.expect_type("product", g.low, "lower")
        d.expect_type("exp", "f32", "fp32")
        d.expect_casts(1, value="w")
    return check if g.mode != "off" else None


@case("scan-state-of-one-class")
def _(g):
    s, x, w = g.normal(1, 4, scale=0.25), g.normal(5, 4, scale=0.25), g.normal(4, 4, scale=0.25)
    g.weight("w", w)
    body = g.body("body", [
        helper.make_node("MatMul", ["s", "w"], ["p"], name="product"),
        helper.make_node("Add", ["p", "e"], ["t"], name="add"),
        helper.make_node("Identity", ["t"], ["o"], name="out")],
        [("t", [1, 4]), ("o", [1, 4])], [("s", [1, 4]), ("e", [4])])
    last, every = g.node("Scan", g.input("s0", s), g.input("x", x), body=body, num_scan_inputs=1,
                         outputs=2)
    states = []
    for row in x:
        s = s @ w + row
        states.append(s)
    g.output(last, s, roundings=8)
    g.output(every, np.array(states), roundings=8)

    def check(d):
        # The elements are f32 inputs, which the sum with a product keeps.
        d.expect_type("add", "f32", "promote")
        d.expect_casts(1, value="w")
    return check if g.mode != "off" else None
