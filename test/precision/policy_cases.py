#===- policy_cases.py - policies, names, order, storage --------------------===#
"""What each policy means, that names and order of nodes do not matter, and
where values are stored in 16 bits."""

import numpy as np
from onnx import helper

from case import INT64, LOW_MODES, case

PURE = ("pure-fp16", "pure-bf16")


# onnxconverter-common#276, PR 310: names of inserted casts that are taken
@case("names-that-casts-would-have", LOW_MODES)
def _(g):
    x, w = g.normal(4, 4), g.normal(4, 4)
    first = g.node("MatMul", g.input("x", x), g.weight("w", w), name="x_cast_to_fp16")
    second = g.node("Relu", first, name="w_cast_to_fp16")
    third = g.node("MatMul", second, "w", name="x_cast_to_fp16")
    g.output(g.node("Exp", g.node("Neg", g.node("Abs", third)), name="Cast_0"),
             np.exp(-np.abs(np.maximum(x @ w, 0) @ w)), roundings=0,
             atol=g.rounding * 4 * np.abs(x @ w).max() * np.abs(w).sum(axis=0).max())

    def check(d):
        d.expect_casts(1, value="x")
        d.expect_casts(1, value="w")
    return check


# onnxconverter-common#208, #240, #261
@case("casts-stand-before-their-readers", LOW_MODES)
def _(g):
    """Nodes in an order that ONNX allows, where a cast is needed by the first reader."""
    x = g.rng.permutation(64).reshape(1, 64) / 64
    low = g.node("MatMul", g.input("x", x), g.weight("eye", np.eye(64)))
    values, indices = g.node("TopK", low, g.weight("k", [5], INT64), outputs=2)
    g.output(values, -np.sort(-x)[:, :5])
    g.output(indices, np.argsort(-x)[:, :5], INT64)
    g.output(g.node("Exp", low), np.exp(x), rtol=1e-6)

    def check(d):
        d.expect_type("TopK_0", g.low, "follow")
    return check


@case("no-names-at-all", LOW_MODES)
def _(g):
    """ONNX's names are optional; what stays unique is the place in the graph."""
    x, w = g.normal(4, 4), g.normal(4, 4)
    y = g.node("Relu", g.node("MatMul", g.input("x", x), g.weight("w", w)))
    g.output(y, np.maximum(x @ w, 0), roundings=2)
    for node in g.nodes:
        node.name = ""

    def check(d):
        paths = [path for op in d.report["ops"] for path in op["paths"]]
        d.expect(sorted(paths) == ["main/0", "main/1"], f"paths are {paths}")
    return check


@case("pure-runs-all-in-16-bits", PURE)
def _(g):
    x, w = g.normal(4, 4, scale=0.25), g.normal(4, 4, scale=0.25)
    y = g.node("Softmax", g.node("MatMul", g.input("x", x), g.weight("w", w)))
    z = g.node("ReduceSum", g.node("Exp", y), g.constant([1], INT64), keepdims=0)
    exact = np.exp(x @ w)
    exact = np.exp(exact / exact.sum(axis=1, keepdims=True)).sum(axis=1)
    g.output(z, exact, roundings=4)

    def check(d):
        for node in ("MatMul_0", "Softmax_0", "Exp_0", "ReduceSum_0"):
            d.expect_type(node, g.low, "pure")
        # One of the input, one of the weight, one for the output.
        d.expect(len(d.report["casts"]) == 3, f"{len(d.report['casts'])} casts")
    return check


@case("pure-keeps-positions", PURE)
def _(g):
    inverse, positions = np.arange(1, 5).reshape(4, 1) / 8, 65536.0 + np.arange(7)[None]
    angle = g.node("MatMul", g.weight("inverse", inverse), g.input("positions", positions))
    g.output(g.node("Cos", angle), np.cos(inverse * positions), atol=2 * g.rounding)
    return lambda d: d.expect_type("MatMul_0", "f32", "position")


@case("pure-saturates-constants", PURE)
def _(g):
    x, w = g.normal(2, 4), np.diag([1e6, 1, -1e6, 1])
    y = g.node("MatMul", g.input("x", np.abs(x) / 64 + 0.25), g.weight("w", w))
    largest = 65504 if g.low == "f16" else 1e6
    exact = (np.abs(x) / 64 + 0.25) @ np.clip(w, -largest, largest)
    g.output(y, exact, roundings=4)

    def check(d):
        d.expect_loss("w", g.low, **({"overflow": 2} if g.low == "f16" else {}))
    return check


@case("off-inserts-no-cast", ("off",))
def _(g):
    x, w = g.normal(4, 4), g.normal(4, 4)
    y = g.node("Exp", g.node("MatMul", g.input("x", x), g.weight("w", w)))
    g.output(y, np.exp(x @ w), rtol=1e-5)
    return lambda d: d.expect("amp.cast" not in d.phase("precision"), "a cast")


@case("auto-follows-the-target", ("off",))
def _(g):
    """On a CPU without 16-bit arithmetic, `auto` computes in f32; else in 16 bits."""
    x, w = g.normal(4, 4), g.normal(4, 4)
    g.options = ["--amp=auto"]
    y = g.node("MatMul", g.input("x", x), g.weight("w", w))
    g.output(y, x @ w, rtol=2.0**-7, atol=2.0**-4)

    def check(d):
        native = "native_16bit = true" in d.phase("graph")
        lowered = "bf16" in d.phase("precision") or "f16" in d.phase("precision")
        d.expect(native == lowered, f"native {native}, lowered {lowered}")
    return check


@case("override-by-name-goes-before-operator", LOW_MODES)
def _(g):
    x, w = g.normal(4, 4), g.normal(4, 4)
    g.options = ["--op-precisions=MatMul:fp32", "--layer-precisions=/head/*:" + g.mode]
    y = g.node("MatMul", g.input("x", x), g.weight("w", w), name="/body/MatMul")
    g.output(g.node("MatMul", y, "w", name="/head/MatMul"), x @ w @ w, roundings=4)

    def check(d):
        d.expect_type("/body/MatMul", "f32", "override")
        d.expect_type("/head/MatMul", g.low, "override")
    return check


@case("function-follows-the-rules-inside", LOW_MODES)
def _(g):
    """A function of the model is typed by the operators that it is made of."""
    x, w = g.normal(4, 4, scale=0.25), g.normal(4, 4, scale=0.25)
    y = g.node("MatMulExp", g.input("x", x), g.weight("w", w), domain="local")
    g.output(y, np.exp(x @ w), roundings=4)
    g.functions.append(helper.make_function(
        "local", "MatMulExp", ["a", "b"], ["c"],
        [helper.make_node("MatMul", ["a", "b"], ["p"], name="product"),
         helper.make_node("Exp", ["p"], ["c"], name="exp")],
        [helper.make_opsetid("", 22)]))

    def check(d):
        d.expect_type("product", g.low, "lower")
        d.expect_type("exp", "f32", "fp32")
    return check


# Values that only lowered operations read are stored in 16 bits.


@case("f32-result-read-by-products-only", LOW_MODES)
def _(g):
    """Softmax returns f32, two products read it: one rounding, where it is stored."""
    q, k, v = g.normal(8, 32, scale=0.25), g.normal(32, 16, scale=0.25), g.normal(16, 8)
    low = g.node("MatMul", g.input("q", q), g.weight("k", k))
    p = g.node("Softmax", low)
    g.input("v", v)
    exact = np.exp(q @ k)
    exact /= exact.sum(axis=1, keepdims=True)
    g.output(g.node("MatMul", p, "v"), exact @ v, roundings=4)
    g.output(g.node("MatMul", p, g.weight("u", -v[:, :3])), -exact @ v[:, :3], roundings=4)

    def check(d):
        d.expect_type("Softmax_0", "f32", "fp32")
        d.expect_casts(1, value="Softmax_0")
        d.expect(len(d.casts(value="Softmax_0")[0]["uses"]) == 2, "expected two readers of the cast")
        d.expect_stored("softmax", [g.low])
        d.expect_no_standalone_casts()
    return check


@case("f32-sum-read-by-a-product-only", LOW_MODES)
def _(g):
    """A residual in f32 whose only reader is lowered is stored once, in 16 bits."""
    x, w, b = g.normal(8, 32), g.normal(32, 32, scale=0.2), g.normal(8, 32) + 2.0**-12
    low = g.node("MatMul", g.input("x", x), g.weight("w", w))
    y = g.node("Add", low, g.input("b", b))
    g.output(g.node("MatMul", y, g.weight("v", w.T)), (x @ w + b) @ w.T, roundings=6)

    def check(d):
        d.expect_type("Add_0", "f32", "promote")
        d.expect_casts(1, value="Add_0")
        d.expect_no_standalone_casts()
        stored = d.kernel_results()
        # The first product with its residual, then the one that is an output.
        d.expect(stored == [g.low, "f32"], f"kernels store {stored}")
    return check


@case("f32-result-read-by-both", LOW_MODES)
def _(g):
    """Read by a product and by an operation in f32: stored in both types at most."""
    x, w = g.normal(8, 16, scale=0.25), g.normal(16, 16, scale=0.2)
    y = g.node("Exp", g.node("MatMul", g.input("x", x), g.weight("w", w)))
    exact = np.exp(x @ w)
    g.output(g.node("MatMul", y, g.weight("v", w.T)), exact @ w.T, roundings=6)
    g.output(g.node("Log", y), x @ w, roundings=4)

    def check(d):
        d.expect_casts(1, value="Exp_0")
        d.expect_no_standalone_casts()
    return check


@case("input-read-by-a-product-only", LOW_MODES)
def _(g):
    """An input in f32 is narrowed in the kernel that reads it."""
    x, w = g.normal(8, 32), g.normal(32, 16)
    g.output(g.node("MatMul", g.input("x", x), g.weight("w", w)), x @ w, roundings=2)

    def check(d):
        d.expect_casts(1, value="x")
        d.expect_no_standalone_casts()
    return check


@case("view-between-f32-and-a-product", LOW_MODES)
def _(g):
    """The rounding goes before views, so that they move half of the bytes."""
    x, w = g.normal(2, 8, 16, scale=0.25), g.normal(16, 16, scale=0.2)
    p = g.node("Softmax", g.node("MatMul", g.input("x", x), g.weight("w", w)))
    turned = g.node("Transpose", p, perm=[0, 2, 1])
    exact = np.exp(x @ w)
    exact /= exact.sum(axis=-1, keepdims=True)
    v = g.normal(8, 8)
    g.output(g.node("MatMul", turned, g.weight("v", v)), exact.swapaxes(1, 2) @ v, roundings=4)

    def check(d):
        d.expect_stored("softmax", [g.low])
        d.expect_no_standalone_casts()
    return check
