#===- mask_cases.py - attention masks and other numbers at the edge ---------===#
"""Large and tiny constants: none becomes infinite, none becomes zero unseen."""

import numpy as np

from case import BOOL, LOW_MODES, case


def softmax(x: np.ndarray) -> np.ndarray:
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def scores(g):
    """Scores of a query and a key: a value of the 16-bit type, and what it is."""
    q, k = g.normal(1, 1, 4, 8, scale=0.5), g.normal(1, 1, 8, 4, scale=0.5)
    return g.node("MatMul", g.input("q", q), g.input("k", k), name="scores"), q @ k


# coremltools PR 2669: one row is masked as a whole
@case("lowest-float-as-mask")
def _(g):
    low, exact = scores(g)
    keep = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]], bool)
    mask = g.node("Where", g.input("keep", keep, BOOL), g.constant(0.0),
                  g.constant(-3.4028235e38))
    y = g.node("Softmax", g.node("Add", low, mask))
    expected = softmax(np.where(keep, exact, -1e30))
    expected[0, 0, 1] = 0.25
    g.output(y, expected, roundings=4)

    def check(d):
        d.expect_type("Where_0", "f32")
        d.expect_type("Add_0", "f32")
        d.expect_type("Softmax_0", "f32", "fp32")
    return check if g.mode != "off" else None


def _scaled_mask(number):
    def write(g):
        low, exact = scores(g)
        inverse = g.node("Sub", g.constant(1.0), g.input("m", np.ones((1, 4))))
        masked = g.node("Add", low, g.node("Mul", inverse, g.constant(number)))
        g.output(g.node("Softmax", masked), softmax(exact), roundings=4)

        def check(d):
            d.expect_type("Mul_0", "f32")
            d.expect_type("Add_0", "f32", "promote")
        return check if g.mode != "off" else None
    return write


# executorch PR 18076: -1e5 becomes -inf, then 0 * -inf
case("zero-times-a-large-mask")(_scaled_mask(-1e5))
# transformers PR 20562: the lowest f32 rounds to -inf in bf16
case("zero-times-the-lowest-float")(_scaled_mask(-3.4028235e38))


@case("scaled-mask-of-16-bit-data")
def _(g):
    """The mask is made of a tensor that was lowered: the product runs in f32."""
    low, exact = scores(g)
    ones = g.node("MatMul", g.input("m", np.ones((1, 4))), g.weight("eye", np.eye(4)))
    inverse = g.node("Sub", g.constant(1.0), ones)
    masked = g.node("Add", low, g.node("Mul", inverse, g.constant(-3.4028235e38)))
    g.output(g.node("Softmax", masked), softmax(exact), roundings=4)

    def check(d):
        d.expect_type("Sub_0", g.low, "promote")
        d.expect_type("Mul_0", "f32", "constant")
    return check if g.mode != "off" else None


# transformers PR 17306, tensorflow PR 59657: -65504 - 40 overflows in f16
@case("mask-at-the-edge-of-f16")
def _(g):
    q, k = np.full((1, 1, 4, 8), 1.0), np.full((1, 1, 8, 4), -5.0) - np.arange(4) / 4
    low = g.node("MatMul", g.input("q", q), g.input("k", k))
    y = g.node("Softmax", g.node("Add", low, g.weight("mask", np.full((1, 1, 1, 4), -65504.0))))
    g.options = ["--strict-rounding"]
    g.output(y, softmax(q @ k - 65504), roundings=4, atol=2.0**-8)

    def check(d):
        d.expect_type("Add_0", "f32", "promote")
    return check if g.mode != "off" else None


@case("mask-of-scores-is-no-bias")
def _(g):
    """One row of a mask, as an input: the sum is no `linear`."""
    q, k, mask = np.full((4, 8), 1.0), np.full((4, 8), -5.0), np.full(4, -65504.0)
    keys = g.node("Relu", g.node("Neg", g.input("k", k)))
    low = g.node("MatMul", g.input("q", q), g.node("Transpose", g.node("Neg", keys), perm=[1, 0]))
    y = g.node("Softmax", g.node("Add", low, g.input("mask", mask)))
    g.output(y, np.full((4, 4), 0.25), roundings=4)
    g.options = ["--strict-rounding"]

    def check(d):
        d.expect_type("Add_0", "f32", "promote")
    return check if g.mode != "off" else None


# onnx PR 8068, pytorch PR 159973, iree#24175
@case("attention-row-without-keys")
def _(g):
    g.opset = 23
    q, k, v = (g.normal(1, 2, 4, 8, scale=0.5) for _ in range(3))
    keep = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0]], bool)
    y = g.node("Attention", g.input("q", q), g.input("k", k), g.input("v", v),
               g.input("keep", keep, BOOL))
    masked = np.where(keep, q @ k.swapaxes(2, 3) / np.sqrt(8), -1e30)
    weights = softmax(masked)
    weights[:, :, 1] = 0
    g.output(y, weights @ v, roundings=4)

    def check(d):
        d.expect_type("Attention_0", g.low, "lower")
    return check if g.mode != "off" else None


@case("attention-with-the-lowest-float-as-mask")
def _(g):
    """A finite mask on a whole row leaves the mean of the values."""
    g.opset = 23
    q, k, v = (g.normal(1, 2, 4, 8, scale=0.5) for _ in range(3))
    keep = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0]], bool)
    y = g.node("Attention", g.input("q", q), g.input("k", k), g.input("v", v),
               g.input("mask", np.where(keep, 0, -3.4028235e38)))
    weights = softmax(np.where(keep, q @ k.swapaxes(2, 3) / np.sqrt(8), -1e30))
    weights[:, :, 1] = 0.25
    g.output(y, weights @ v, roundings=4)

    def check(d):
        d.expect_casts(0, value="mask")
    return check


@case("softmax-of-a-long-row")
def _(g):
    """65536 equal scores: their sum is beyond f16, each weight is subnormal there."""
    low = g.node("MatMul", g.input("x", np.zeros((1, 1))), g.weight("w", np.ones((1, 65536))))
    g.output(g.node("Softmax", low), np.full((1, 65536), 2.0**-16), rtol=1e-5)
    g.output(g.node("LogSoftmax", low), np.full((1, 65536), -16 * np.log(2)), rtol=1e-5)


@case("logsumexp-of-large-scores")
def _(g):
    """exp(1000) is beyond f32: the largest score is taken off first."""
    low = g.node("MatMul", g.input("x", np.full((2, 1), 1000.0)), g.weight("w", np.ones((1, 8))))
    y = g.node("ReduceLogSumExp", low, g.constant([1], 7), keepdims=0)
    g.output(y, np.full(2, 1000 + np.log(8)), rtol=1e-6)


# apex#1052, #1105, fairseq#3575
@case("fill-beyond-the-range")
def _(g):
    low, exact = scores(g)
    keep = np.array([[1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]], bool)
    y = g.node("Softmax", g.node("Where", g.input("keep", keep, BOOL), low, g.constant(-1e9)))
    g.output(y, softmax(np.where(keep, exact, -1e9)), roundings=4)

    def check(d):
        if g.mode == "fp16":
            d.expect_type("Where_0", "f32", "constant")
        else:
            d.expect_type("Where_0", "bf16", "promote")
    return check if g.mode != "off" else None


# tvm PR 15461, tvm#17744
@case("clip-bound-beyond-the-range")
def _(g):
    x, w = g.normal(4, 4), g.normal(4, 4)
    y = g.node("MatMul", g.input("x", x), g.weight("w", w))
    g.output(g.node("Clip", y, g.constant(0.0), g.constant(1e6)), np.maximum(x @ w, 0),
             roundings=2)

    def check(d):
        d.expect_type("Clip_0", g.low, "follow")
    return check if g.mode != "off" else None


@case("clip-bounds-that-are-inputs")
def _(g):
    """Bounds take the type of what they bound; one beyond the range bounds nothing."""
    x, w = g.normal(4, 4), g.normal(4, 4)
    y = g.node("MatMul", g.input("x", x), g.weight("w", w))
    low, high = g.input("low", -1.0), g.input("high", 1e6)
    g.output(g.node("Clip", y, low, high), np.maximum(x @ w, -1), roundings=2)

    def check(d):
        d.expect_type("Clip_0", g.low, "follow")
    return check if g.mode != "off" else None


@case("unpooled-zeros-have-no-type", LOW_MODES)
def _(g):
    x = g.normal(1, 1, 4, 4)
    low = g.node("Conv", g.input("x", x), g.weight("w", [[[[2.0]]]]))
    pooled, where = g.node("MaxPool", low, kernel_shape=[2, 2], strides=[2, 2], outputs=2)
    blocks = (2 * x).reshape(2, 2, 2, 2).swapaxes(1, 2).reshape(2, 2, 4)
    kept = np.where(np.arange(4) == blocks.argmax(axis=-1)[..., None], blocks, 0)
    expected = kept.reshape(2, 2, 2, 2).swapaxes(1, 2).reshape(1, 1, 4, 4)
    g.output(g.node("MaxUnpool", pooled, where, kernel_shape=[2, 2], strides=[2, 2]), expected,
             roundings=1)
    return lambda d: d.expect_type("MaxUnpool_0", g.low, "follow")


# TensorRT#3101: nothing becomes infinite, and the report counts
@case("weight-beyond-the-range")
def _(g):
    """A weight whose data lies outside the program, as of a real network, saturates."""
    w = np.zeros((64, 32))
    w[0, 0], w[1, 1], w[2, 2], w[3, 3], w[4, 4] = 1e6, 1e-9, 1e-6, -2e5, 0.5
    x = np.full((2, 64), 1 / 64)
    g.output(g.node("MatMul", g.input("x", x), g.weight("w", w)),
             x @ (np.clip(w, -65504, 65504) if g.mode == "fp16" else w),
             rtol=2.0**-7, atol=1e-9)

    def check(d):
        if g.mode == "fp16":
            d.expect_loss("w", "f16", overflow=2, flushed=1, subnormal=1)
        elif g.mode == "bf16":
            d.expect(not d.report["constants"] or not any(
                row["overflow"] or row["flushed"] for row in d.report["constants"]),
                "losses that bf16 does not have")
    return check


@case("small-weight-beyond-the-range")
def _(g):
    """A matrix that stands in the program is looked at: its product stays f32."""
    w = np.eye(4)
    w[0, 0], w[1, 1] = 1e6, 1e-9
    x = np.full((2, 4), 0.25)
    g.output(g.node("MatMul", g.input("x", x), g.weight("w", w)), x @ w, rtol=2.0**-7)

    def check(d):
        d.expect_type("MatMul_0", "f32" if g.mode == "fp16" else g.low)
    return check if g.mode != "off" else None


@case("rank-0-constants-are-weak")
def _(g):
    x, w = g.normal(4, 4), g.normal(4, 4)
    y = g.node("MatMul", g.input("x", x), g.weight("w", w))
    z = g.node("Add", g.node("Mul", y, g.constant(0.5)), g.weight("one", 1.0))
    g.output(g.node("MatMul", z, "w"), (x @ w * 0.5 + 1) @ w, roundings=6)

    def check(d):
        for node in ("Mul_0", "Add_0", "MatMul_1"):
            d.expect_type(node, g.low)
        # The product alone is cast back, for the output.
        d.expect_casts(1, to="f32")
        d.expect_casts(1, value="x")
    return check if g.mode != "off" else None


@case("constant-tensors-are-strong", LOW_MODES)
def _(g):
    x, w, b = g.normal(4, 4), g.normal(4, 4), g.normal(4, 1) + 2.0**-12
    y = g.node("MatMul", g.input("x", x), g.weight("w", w))
    g.output(g.node("Mul", y, g.weight("b", b)), (x @ w) * b, roundings=1)
    return lambda d: d.expect_type("Mul_0", "f32", "promote")


# What a weight becomes when a batch norm is folded into it counts, too.


@case("folded-weight-beyond-the-range")
def _(g):
    """300 times 1 / sqrt(1.1e-5) is beyond f16: it saturates, is reported, and no
    product with zero is NaN."""
    w = np.zeros((64, 32, 1, 1))
    w[np.arange(32), np.arange(32)] = 1.0
    w[0, 0] = 300.0
    x = np.zeros((1, 32, 2, 2))
    x[:, 1] = 1 / 64
    y = g.node("Conv", g.input("x", x), g.weight("w", w))
    ones, zeros = np.ones(64), np.zeros(64)
    z = g.node("BatchNormalization", y, g.weight("scale", ones), g.weight("shift", zeros),
               g.weight("mean", zeros), g.weight("variance", np.full(64, 1e-6)), epsilon=1e-5)
    g.output(z, np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]) / np.sqrt(1.1e-5), roundings=3)

    def check(d):
        d.expect_casts(0, value="Conv_0", constant=False, to=g.low)
        d.expect_loss("Conv_0", g.low, **({"overflow": 1} if g.mode == "fp16" else {}))
    return check if g.mode != "off" else None
