#===- reduction_cases.py - sums, means and long products -------------------===#
"""Sums are accumulated in f32 and divided before they are rounded."""

import numpy as np

from case import case


def convolved(g, x) -> str:
    """`x` as a value of the mode's 16-bit type: a convolution by the identity."""
    channels = x.shape[1]
    return g.node("Conv", g.input("x", x),
                  g.weight("eye", np.eye(channels).reshape(channels, channels, 1, 1)))


# onnxconverter-common#323
@case("mean-of-a-large-image")
def _(g):
    x = g.rng.integers(0, 129, (1, 2, 512, 512)) / 128
    y = g.node("ReduceMean", convolved(g, x), g.constant([2, 3], 7))
    g.output(y, x.mean(axis=(2, 3), keepdims=True), roundings=1, rtol=1e-6)

    def check(d):
        d.expect_type("ReduceMean_0", g.low, "follow")
    return check if g.mode != "off" else None


# pytorch#12115, #91597, tinygrad PR 4327, ncnn#3561: 65536 overflows in f16
@case("global-average-of-ones")
def _(g):
    x = np.ones((1, 1, 256, 256))
    g.output(g.node("GlobalAveragePool", convolved(g, x)), np.ones((1, 1, 1, 1)))


# tinygrad#11705
@case("sum-beyond-the-range-of-f16")
def _(g):
    x, w = np.ones((1, 64)), np.full((64, 2048), 137 / 256)
    low = g.node("MatMul", g.input("x", x), g.weight("w", w))
    g.output(g.node("ReduceSum", low, g.constant([1], 7), keepdims=0), np.array([70144.0]))

    def check(d):
        d.expect_type("MatMul_0", g.low, "lower")
        d.expect_type("ReduceSum_0", "f32", "fp32")
    return check if g.mode != "off" else None


# onnxruntime#21345: blocked nodes side by side, casts between them
@case("neighbours-in-f32-are-joined")
def _(g):
    x = g.normal(2, 8) + 1e5
    g.options = ["--layer-precisions=*:fp32"] if g.mode != "off" else []
    squares = g.node("Pow", g.node("Add", g.input("x", x), g.constant(1.0)), g.constant(2.0))
    y = g.node("Sqrt", g.node("ReduceSum", squares, g.constant([1], 7)))
    g.output(y, np.sqrt(((x + 1)**2).sum(axis=1, keepdims=True)), rtol=1e-6)
    return lambda d: d.expect_casts(0)


@case("chain-of-f32-classes-has-no-casts")
def _(g):
    """The same without being asked: each reads what the one before returned."""
    x, w = g.normal(2, 8) + 512, np.eye(8) * 64
    low = g.node("MatMul", g.input("x", x), g.weight("w", w))
    squares = g.node("Pow", low, g.constant(2.0))
    g.options = ["--strict-rounding"]
    y = g.node("Sqrt", g.node("ReduceSum", squares, g.constant([1], 7)))
    exact = np.sqrt(((x * 64)**2).sum(axis=1, keepdims=True))
    g.output(y, exact, roundings=2)

    def check(d):
        d.expect(not [row for row in d.report["casts"] if row["from"] == "f32"
                      and not {use["op"] for use in row["uses"]} <= {"matmul"}],
                 "a cast to 16 bits between operations in f32")
    return check if g.mode != "off" else None


# pytorch#52501, #112329
@case("sum-and-product-are-joined-in-f32")
def _(g):
    x, w = g.normal(4, 8), g.normal(8, 4)
    low = g.node("MatMul", g.input("x", x), g.weight("w", w))
    total = g.node("ReduceSum", low, g.constant([1], 7))
    y = g.node("Concat", total, low, axis=1)
    exact = x @ w
    g.output(y, np.concatenate([exact.sum(axis=1, keepdims=True), exact], axis=1), roundings=2)

    def check(d):
        d.expect_type("Concat_0", "f32", "promote")
    return check if g.mode != "off" else None


# modular#7165, FlagGems PR 5876, pytorch#116870: partial sums of 131072
@case("halves-of-a-long-product-cancel")
def _(g):
    w = np.where(np.arange(8192) < 4096, 32.0, -32.0)[:, None] * np.ones((1, 16))
    w[0] += 0.5
    x = np.ones((16, 8192))
    g.output(g.node("MatMul", g.input("x", x), g.weight("w", w)), np.full((16, 16), 0.5))


@case("long-convolution-accumulates-in-f32")
def _(g):
    x = np.ones((1, 4096, 2, 2))
    w = np.where(np.arange(4096) < 2048, 32.0, -32.0)[None, :, None, None] * np.ones((4, 1, 1, 1))
    w[:, 0] += 0.5
    g.output(g.node("Conv", g.input("x", x), g.weight("w", w)), np.full((1, 4, 2, 2), 0.5))


@case("cumulative-sum-is-f32")
def _(g):
    x = np.ones((1, 4096))
    low = g.node("MatMul", g.input("x", x[:, :1]), g.weight("ones", x[:1]))
    g.output(g.node("CumSum", low, g.constant(1, 7)), np.cumsum(x, axis=1))

    def check(d):
        d.expect_type("CumSum_0", "f32", "fp32")
    return check if g.mode != "off" else None


@case("scatter-add-of-ones")
def _(g):
    """4096 ones on one element: a sum in 16 bits ends at 2048, or 256."""
    low = g.node("MatMul", g.input("x", np.ones((4096, 1))), g.weight("one", [[1.0]]))
    start = g.node("MatMul", g.input("y", np.zeros((1, 1))), "one")
    y = g.node("ScatterElements", start, g.input("index", np.zeros((4096, 1)), 7), low,
               axis=0, reduction="add")
    g.output(y, np.array([[4096.0]]))
