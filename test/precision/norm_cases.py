#===- norm_cases.py - normalizations and their epsilons --------------------===#
"""Statistics are f32 whatever comes in, and an epsilon never becomes zero."""

import numpy as np

from case import FLOAT16, LOW_MODES, case


def identity(g, x, name="x"):
    """`x` as a value of the mode's 16-bit type."""
    size = x.shape[-1]
    return g.node("MatMul", g.input(name, x), g.weight(f"{name}.eye", np.eye(size)))


def decomposed(g, x: str, epsilon: float, axes=(-1,)) -> str:
    """A normalization as exporters before opset 17 wrote it."""
    centred = g.node("Sub", x, g.node("ReduceMean", x, g.constant(axes, 7)))
    squares = g.node("Pow", centred, g.constant(2.0))
    variance = g.node("ReduceMean", squares, g.constant(axes, 7))
    deviation = g.node("Sqrt", g.node("Add", variance, g.constant(epsilon)))
    return g.node("Div", centred, deviation)


# pytorch#86580: an epsilon of 1e-8 is 0 in f16
@case("epsilon-of-a-decomposed-norm")
def _(g):
    x = np.repeat(np.arange(8.0).reshape(8, 1), 4, axis=1)
    g.output(decomposed(g, identity(g, x), 1e-8), np.zeros((8, 4)))


@case("epsilon-of-an-odd-norm")
def _(g):
    """A sum in place of the mean, which no pattern raises."""
    x = np.repeat(np.arange(4.0).reshape(4, 1), 4, axis=1)
    low = identity(g, x)
    centred = g.node("Sub", low, g.node("ReduceMean", low, g.constant([-1], 7)))
    power = g.node("ReduceMean", g.node("Abs", centred), g.constant([-1], 7))
    deviation = g.node("Sqrt", g.node("Add", power, g.constant(1e-8)))
    g.output(g.node("Div", centred, deviation), np.zeros((4, 4)))

    def check(d):
        if g.mode == "fp16":
            d.expect_type("Add_0", "f32", "constant")
            d.expect_type("Div_0", "f32", "promote")
    return check


# pytorch#41527, tensorflow PR 24979
@case("layer-norm-of-zeros")
def _(g):
    shift = g.normal(10)
    y = g.node("LayerNormalization", identity(g, np.zeros((2, 10))),
               g.weight("scale", np.ones(10)), g.weight("shift", shift), epsilon=1e-12)
    g.output(y, np.tile(shift, (2, 1)))


# pytorch#32137: max(norm, 1e-12) is 0 in f16
@case("normalize-zeros-by-l2")
def _(g):
    x = np.array([[0.0, 0, 0, 0], [3, 0, 4, 0]])
    low = identity(g, x)
    norm = g.node("Clip", g.node("ReduceL2", low, g.constant([-1], 7)), g.constant(1e-12))
    g.output(g.node("Div", low, norm), x / np.array([[1.0], [5]]), roundings=2)

    def check(d):
        d.expect_type("ReduceL2_0", "f32", "fp32")
        d.expect_type("Div_0", "f32", "promote")
    return check if g.mode != "off" else None


@case("tiny-lower-bound-of-a-16-bit-value")
def _(g):
    """max(|x|, 1e-12) of a value of the 16-bit type guards a division by zero."""
    x = np.array([[0.0, 0, 0.5, 0], [3, 0, 4, 0]])
    low = identity(g, x)
    g.options = ["--strict-rounding"]
    bound = g.node("Max", g.node("Abs", low), g.constant(1e-12))
    g.output(g.node("Div", low, bound), np.sign(x), roundings=2)


@case("tiny-clip-of-a-16-bit-value")
def _(g):
    x = np.array([[0.0, 0, 0.5, 0], [3, 0, 4, 0]])
    low = identity(g, x)
    g.options = ["--strict-rounding"]
    bound = g.node("Clip", g.node("Abs", low), g.constant(1e-12))
    g.output(g.node("Div", low, bound), np.sign(x), roundings=2)

    def check(d):
        if g.mode == "fp16":
            d.expect_type("Clip_0", "f32", "constant")
    return check


@case("lower-bound-beyond-the-range")
def _(g):
    """max(x, 1e6) is 1e6, though f16 has no such number."""
    x = g.normal(2, 4)
    g.output(g.node("Clip", identity(g, x), g.constant(1e6)), np.full((2, 4), 1e6), rtol=2.0**-9)


# TensorRT#2564, #1262, onnxruntime PR 13639: 3008 squared is beyond f16
@case("square-of-a-decomposed-norm")
def _(g):
    x = g.normal(1, 64)
    x[0, 7] = 3008
    expected = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
    g.output(decomposed(g, identity(g, x), 1e-5), expected, roundings=4)


@case("square-is-f32")
def _(g):
    x = g.normal(1, 64)
    x[0, 7] = 3008
    low = identity(g, x)
    squares = g.node("Pow", low, g.constant(2.0))
    g.output(g.node("ReduceMean", squares, g.constant([-1], 7)),
             (x**2).mean(axis=-1, keepdims=True), rtol=1e-6)

    def check(d):
        d.expect_type("Pow_0", "f32", "fp32")
        d.expect_type("ReduceMean_0", "f32", "follow")
    return check if g.mode != "off" else None


# onnxruntime#29034
@case("rms-norm-of-large-f16")
def _(g):
    g.opset = 23
    x = g.input("x", np.full((1, 4096), 8000.0), FLOAT16)
    y = g.node("RMSNormalization", x, g.weight("scale", np.ones(4096), FLOAT16), axis=-1)
    g.output(y, np.ones((1, 4096)), FLOAT16, rtol=2.0**-11)


# lc0 PR 1921: stash_type=1 says that the statistics are f32
@case("layer-norm-of-large-f16")
def _(g):
    x = np.where(np.arange(256) % 2, 496.0, -496.0).reshape(1, 256)
    y = g.node("LayerNormalization", g.input("x", x, FLOAT16),
               g.weight("scale", np.ones(256), FLOAT16), stash_type=1)
    g.output(y, np.sign(x), FLOAT16, rtol=2.0**-11)


def _large_mean(op, opset):
    def write(g):
        g.opset = opset
        x = np.where(g.rng.permutation(256) % 2, 9999.0, 10001.0).reshape(1, 4, 64)
        centred = x - x.mean(axis=-1, keepdims=True)
        expected = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
        size = 64 if op == "LayerNormalization" else 4
        one, zero = g.weight("one", np.ones(size)), g.weight("zero", np.zeros(size))
        more = {"num_groups": 4} if op == "GroupNormalization" else {}
        y = g.node(op, g.input("x", x), one, zero, epsilon=1e-5, **more)
        g.output(y, expected, rtol=1e-4)
    return write


# E[x^2] - E[x]^2 loses all digits of a variance of 1
case("variance-of-a-large-mean-layer")(_large_mean("LayerNormalization", 17))
case("variance-of-a-large-mean-instance")(_large_mean("InstanceNormalization", 17))
case("variance-of-a-large-mean-group")(_large_mean("GroupNormalization", 21))


@case("variance-of-a-large-mean-decomposed")
def _(g):
    x = np.where(g.rng.permutation(64) % 2, 9999.0, 10001.0).reshape(1, 64)
    g.output(decomposed(g, g.input("x", x), 1e-5), (x - x.mean()) / np.sqrt(x.var() + 1e-5),
             rtol=1e-4)


# tvm#12763
@case("norm-behind-a-convolution")
def _(g):
    x, w, b = g.normal(1, 4, 4, 4), g.normal(4, 4, 1, 1, scale=0.5), g.normal(4, 1, 1)
    scale, shift = g.rng.uniform(0.5, 2, 4), g.normal(4) + 2.0**-12
    y = g.node("Add", g.node("Conv", g.input("x", x), g.weight("w", w)), g.weight("b", b))
    z = g.node("LayerNormalization", y, g.weight("scale", scale), g.weight("shift", shift),
               epsilon=1e-5)
    exact = np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]) + b
    centred = exact - exact.mean(axis=-1, keepdims=True)
    g.output(z, centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) * scale + shift,
             roundings=4)

    def check(d):
        d.expect_casts(0, value="scale")
        d.expect_casts(0, value="shift")
    return check


def _fused_norm(op, opset):
    def write(g):
        g.opset = opset
        x, w, v = g.normal(8, 32), g.normal(32, 32, scale=0.2), g.normal(32, 16, scale=0.2)
        scale = g.rng.uniform(0.5, 2, 32)
        low = g.node("MatMul", g.input("x", x), g.weight("w", w))
        y = g.node(op, low, g.weight("scale", scale), axis=-1, epsilon=1e-5)
        g.output(g.node("MatMul", y, g.weight("v", v)), _norm(op, x @ w, scale) @ v, roundings=4)

        def check(d):
            d.expect_type(f"{op}_0", g.low, "follow")
            d.expect_casts(0, value="scale")
            d.expect_no_standalone_casts()
            d.expect_stored(op.lower().replace("layernormalization", "layer_norm")
                            .replace("rmsnormalization", "rms_norm"), [g.low])
        return check if g.mode != "off" else None
    return write


def _norm(op: str, x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True) if op.startswith("Layer") else x
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) * scale


# pytorch#188955: no cast of the whole tensor around the norm
case("rms-norm-casts-nothing-by-itself")(_fused_norm("RMSNormalization", 23))
case("layer-norm-casts-nothing-by-itself")(_fused_norm("LayerNormalization", 17))


@case("norm-output-fp32", LOW_MODES)
def _(g):
    """PyTorch's rule: the norm returns f32, and what follows reads f32."""
    x, w, v = g.normal(8, 32), g.normal(32, 32, scale=0.2), g.normal(32, 16, scale=0.2)
    g.options = ["--norm-output=fp32"]
    low = g.node("MatMul", g.input("x", x), g.weight("w", w))
    y = g.node("LayerNormalization", low, g.weight("scale", np.ones(32)), epsilon=1e-5)
    z = g.node("MatMul", g.node("Relu", y), g.weight("v", v))
    exact = _norm("LayerNormalization", x @ w, np.ones(32))
    g.output(z, np.maximum(exact, 0) @ v, roundings=4)

    def check(d):
        d.expect_type("LayerNormalization_0", "f32", "fp32")
        d.expect_type("Relu_0", "f32", "follow")
        d.expect_type("MatMul_1", g.low, "lower")
        d.expect_no_standalone_casts()
        # What only the product reads is rounded once, where it is stored.
        d.expect_stored("layer_norm", [g.low])
    return check
