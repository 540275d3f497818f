#===- type_cases.py - types that the model states --------------------------===#
"""Casts of the model, declared types of inputs and outputs, and types that no
policy touches."""

import numpy as np

from case import BFLOAT16, DOUBLE, FLOAT, FLOAT16, INT64, LOW_MODES, case

# onnxconverter-common#320, #331, onnxruntime#25522
@case("cast-of-the-model-is-a-barrier")
def _(g):
    x, w, b = g.normal(2, 4), g.normal(4, 4), g.normal(4) + 2.0**-12
    y = g.node("MatMul", g.input("x", x), g.weight("w", w))
    wide = g.node("Cast", y, to=FLOAT)
    g.output(g.node("Add", wide, g.weight("b", b)), x @ w + b.astype(np.float32), roundings=1)

    def check(d):
        d.expect_type("Cast_0", "f32", None if g.mode == "off" else "pinned")
        d.expect_type("Add_0", "f32", None if g.mode == "off" else "promote")
    if g.mode != "off":
        return check


@case("cast-of-the-model-to-16-bits-is-kept")
def _(g):
    """A number between two neighbours of f16 is rounded where the model says so."""
    x = np.array([1 + 2.0**-12, 1 + 3 * 2.0**-12, -2049.5, 1e-9])
    narrow = g.node("Cast", g.node("Exp", g.node("Log", g.input("x", np.abs(x)))), to=FLOAT16)
    g.output(g.node("Cast", narrow, to=FLOAT), np.abs(x).astype(np.float16).astype(float),
             rtol=2.0**-10)
    g.output(g.node("Cast", g.node("Cast", g.input("y", x), to=FLOAT16), to=FLOAT),
             x.astype(np.float16).astype(float))


# onnxconverter-common#271, onnxruntime#19689, #19437: 91000 overflows in f16
@case("no-narrowing-between-two-f32-operations")
def _(g):
    x = np.arange(1.0, 7).reshape(1, 1, 6, 1)
    g.options = ["--layer-precisions=*:fp32"] if g.mode != "off" else []
    turned = g.node("Transpose", g.input("x", x), perm=[0, 1, 3, 2])
    product = g.node("MatMul", turned, g.weight("c", np.arange(1.0, 13).reshape(2, 6).T))
    large = g.node("Mul", g.node("Mul", product, g.constant(100.0)), g.constant(10.0))
    flat = g.node("Reshape", large, g.weight("shape", [2], INT64))
    g.output(g.node("Div", flat, g.constant(999.0)), np.array([91000, 217000]) / 999, rtol=2e-7)
    return lambda d: d.expect_casts(0)


# Model-Optimizer PR 1943
@case("cast-that-is-an-output-is-kept")
def _(g):
    x = np.array([1 + 2.0**-12, 70000.0, -1e-9, 0.333])
    with np.errstate(over="ignore"):
        rounded = x.astype(np.float16)
    first = g.node("Cast", g.input("x", x), to=FLOAT16)
    g.output(first, rounded, FLOAT16)
    g.output(g.node("Cast", first, to=FLOAT), rounded.astype(float))


# Model-Optimizer PR 1946
@case("bf16-target-with-an-f16-weight")
def _(g):
    x, w = g.normal(2, 4), g.normal(4, 4)
    y = g.node("MatMul", g.node("Cast", g.input("x", x), to=FLOAT16), g.weight("w", w, FLOAT16))
    g.output(y, x @ w, FLOAT16, roundings=2, rtol=2.0**-10)

    def check(d):
        d.expect_type("MatMul_0", g.low, "lower")
        d.expect_casts(1 if g.mode == "bf16" else 0, value="w", to="bf16")
    return check if g.mode != "off" else None


# tvm#17254, PR 17263
@case("model-in-16-bits-stays-so")
def _(g):
    """Operations that follow or promote keep f16, whatever the policy's type is."""
    x, s = g.normal(2, 8), g.normal(8)
    y = g.node("Mul", g.input("x", x, FLOAT16), g.weight("s", s, FLOAT16))
    z = g.node("Relu", g.node("Add", y, g.constant(0.5, FLOAT16)))
    g.output(z, np.maximum(x * s + 0.5, 0), FLOAT16, rtol=2.0**-10, atol=2.0**-10)
    return lambda d: d.expect_casts(0)


# tvm PR 11142
@case("declared-types-are-kept", ("fp16", "bf16", "pure-fp16", "pure-bf16"))
def _(g):
    x, w = g.normal(4, 8), g.normal(8, 2)
    y = g.node("MatMul", g.input("x", x), g.weight("w", w))
    g.output(y, x @ w, roundings=2)
    g.output(g.node("Identity", "x"), x)

    def check(d):
        head = next(line for line in d.phase("precision").splitlines() if "func.func @main" in line)
        d.expect("f16" not in head, f"the signature is {head.strip()}")
    return check


# pytorch#132715, PR 191125
@case("f16-and-bf16-meet-in-f32", LOW_MODES)
def _(g):
    x, w = g.normal(4, 4), g.normal(4, 4)
    g.options = ["--layer-precisions=left:fp16,right:bf16"]
    left = g.node("MatMul", g.input("x", x), g.weight("w", w), name="left")
    right = g.node("MatMul", "w", "x", name="right")
    g.output(g.node("Add", left, right), x @ w + w @ x, atol=2.0**-8 * np.abs(w @ x).max())

    def check(d):
        d.expect_type("left", "f16", "override")
        d.expect_type("right", "bf16", "override")
        d.expect_type("Add_0", "f32", "promote")
    return check


@case("f16-and-bf16-inputs-meet-in-f32")
def _(g):
    """Inputs of both types, joined where the model makes them one type."""
    a, b = g.normal(4, 4), g.normal(4, 4)
    left = g.node("Relu", g.input("a", a, FLOAT16))
    right = g.node("Relu", g.input("b", b, BFLOAT16))
    joined = g.node("Add", left, g.node("CastLike", right, left))
    g.output(joined, np.maximum(a, 0) + np.maximum(b, 0), FLOAT16, rtol=2.0**-10)


# pytorch#72494
def _batch_norm(opset):
    def write(g):
        g.opset = opset
        x, w = g.normal(2, 3, 4, 4), g.normal(3, 3, 1, 1, scale=0.5)
        low = np.maximum(np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]), 0)
        scale, shift, mean, variance = (g.rng.uniform(0.5, 2, 3) for _ in range(4))
        y = g.node("Relu", g.node("Conv", g.input("x", x), g.weight("w", w)))
        z = g.node("BatchNormalization", y, g.weight("scale", scale), g.weight("shift", shift),
                   g.weight("mean", mean), g.weight("variance", variance), epsilon=1e-5)
        column = [p.reshape(1, 3, 1, 1) for p in (scale, shift, mean, variance)]
        g.output(z, (low - column[2]) / np.sqrt(column[3] + 1e-5) * column[0] + column[1],
                 roundings=4)

        def check(d):
            d.expect_type("BatchNormalization_0", g.low, "follow")
            for parameter in ("scale", "shift", "mean", "variance"):
                d.expect_casts(0, value=parameter)
        return check if g.mode != "off" else None
    return write


case("batch-norm-14-keeps-f32-parameters")(_batch_norm(14))
case("batch-norm-15-keeps-f32-parameters")(_batch_norm(15))


@case("f64-and-integers-are-not-touched")
def _(g):
    a, b, k = g.rng.standard_normal((4, 4)), g.rng.standard_normal((4, 4)), np.arange(16)
    y = g.node("MatMul", g.input("a", a, DOUBLE), g.input("b", b, DOUBLE))
    g.output(g.node("Relu", y), np.maximum(a @ b, 0), DOUBLE, rtol=1e-14)
    large = k.reshape(4, 4) + 2**40
    m = g.node("Mul", g.input("k", large, INT64), g.constant(3, INT64))
    g.output(m, large * 3, INT64)
    return lambda d: d.expect_casts(0)


@case("f64-beside-f32-is-not-touched")
def _(g):
    x, w = g.normal(4, 4), g.normal(4, 4)
    y = g.node("Cast", g.node("MatMul", g.input("x", x), g.weight("w", w)), to=DOUBLE)
    third = 1 / 3
    g.output(g.node("Mul", y, g.constant(third, DOUBLE)), (x @ w) * third, DOUBLE, roundings=1)

    def check(d):
        d.expect("xf64>, tensor<f64>) -> tensor<4x4xf64>" in d.phase("precision"),
                 "the product in f64 is gone")
    return check


# onnxconverter-common#304
@case("one-copy-of-a-weight-per-type")
def _(g):
    x, c = g.normal(4, 4, scale=0.25), g.normal(4, 4, scale=0.25)
    y = g.node("MatMul", g.input("x", x), g.weight("c", c))
    z = g.node("Exp", g.node("Add", "x", "c"))
    g.output(y, x @ c, roundings=2)
    g.output(z, np.exp(x + c), rtol=1e-6)
    g.output(g.node("MatMul", "c", "x"), c @ x, roundings=2)

    def check(d):
        d.expect_casts(0 if g.mode == "off" else 1, value="c")
        d.expect_casts(0 if g.mode == "off" else 1, value="x")
        if g.mode != "off":
            d.expect_type("Add_0", "f32", "promote")
            d.expect(len(d.casts(value="c")[0]["uses"]) == 2, "the copy has not two readers")
    return check
