#===- size_cases.py - sizes, scales, coordinates and positions -------------===#
"""Floats that say where, not how much: they are never rounded to 16 bits."""

import numpy as np

from case import FLOAT, INT64, LOW_MODES, case


def nearest(x: np.ndarray, height: int, width: int) -> np.ndarray:
    """Asymmetric nearest-neighbour resize, the coordinate rounded down."""
    rows = (np.arange(height) * x.shape[2]) // height
    columns = (np.arange(width) * x.shape[3]) // width
    return x[:, :, rows][:, :, :, columns]


NEAREST = dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")


# onnxconverter-common#306, onnxruntime#9789, onnxruntime#14827
@case("resize-scales-stay-f32")
def _(g):
    x, w = g.normal(1, 3, 4, 4), g.normal(3, 3, 1, 1, scale=0.5)
    y = g.node("Conv", g.input("x", x), g.weight("w", w))
    z = g.node("Resize", y, "", g.weight("scales", [1, 1, 2, 2]), **NEAREST)
    g.output(z, nearest(np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]), 8, 8), roundings=2)

    def check(d):
        if g.mode != "off":
            d.expect_type("Conv_0", g.low, "lower")
            d.expect_type("Resize_0", "f32", "fp32")
        d.expect_casts(0, value="scales")
        d.expect(not [row for row in d.report["casts"] if row["elements"] == 4],
                 "a cast of the four scales")
    return check


# onnxconverter-common#272, tensorflow-onnx#2305
@case("resize-empty-inputs-stay")
def _(g):
    g.opset = 11
    x, w = g.normal(1, 1, 4, 4), [[[[2.0]]]]
    y = g.node("Conv", g.input("x", x), g.weight("w", w))
    z = g.node("Resize", y, g.constant(np.zeros(0)), g.constant(np.zeros(0)),
               g.weight("sizes", [1, 1, 8, 8], INT64), **NEAREST)
    g.output(z, nearest(2 * x, 8, 8), roundings=1)

    def check(d):
        d.expect(all(row["elements"] for row in d.report["casts"]),
                 "a cast of a tensor without elements")
        d.expect_casts(0 if g.mode == "off" else 1, constant=True)
    return check


# pytorch#104157
@case("resize-coordinates-beyond-2048")
def _(g):
    x = g.normal(1, 1, 2, 64)
    low = g.node("Conv", g.input("x", x), g.weight("w", [[[[1.0]]]]))
    y = g.node("Resize", low, "", "", g.weight("sizes", [1, 1, 2, 4096], INT64), mode="cubic")
    # Keys' kernel with a = -0.75 around x = (i + 0.5) / 64 - 0.5, edges repeated.
    at = (np.arange(4096) + 0.5) / 64 - 0.5
    first = np.floor(at).astype(int)
    expected = np.zeros((1, 1, 2, 4096))
    for tap in range(-1, 3):
        distance = np.abs(at - (first + tap))
        a = -0.75
        weight = np.where(distance <= 1, ((a + 2) * distance - (a + 3)) * distance**2 + 1,
                          ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a)
        expected += x[..., np.clip(first + tap, 0, 63)] * weight
    g.output(y, expected, atol=2e-6)

    def check(d):
        if g.mode != "off":
            d.expect_type("Resize_0", "f32", "fp32")
    return check


# openvino PR 4524, PR 14204: 0.4 in f16 is 0.39990, and 35 * 0.39990 < 14
@case("shape-arithmetic-stays-exact")
def _(g):
    x = g.normal(1, 1, 35, 40)
    low = g.node("Conv", g.input("x", x), g.weight("w", [[[[1.0]]]]))
    shape = g.node("Cast", g.node("Shape", low), to=FLOAT)
    scaled = g.node("Floor", g.node("Mul", shape, g.weight("scales", [1, 1, 0.4, 0.4])))
    sizes = g.node("Cast", scaled, to=INT64)
    g.output(g.node("Resize", low, "", "", sizes, **NEAREST), nearest(x, 14, 16))

    def check(d):
        d.expect_casts(0, value="scales")
    return check


@case("computed-index-stays-exact", LOW_MODES)
def _(g):
    """A float that a model computes from an input and then truncates."""
    positions, table = np.arange(256.0).reshape(1, 256) * 17, np.arange(5000.0)
    at = g.node("MatMul", g.weight("k", [[1.0]]), g.input("positions", positions))
    index = g.node("Cast", g.node("Floor", at), to=INT64)
    g.output(g.node("Gather", g.input("table", table), index), table[(positions).astype(int)])

    def check(d):
        d.expect_type("MatMul_0", "f32", "position")
    return check


# tvm PR 8644: beyond 2048, integers merge in f16; beyond 256 in bf16
@case("range-stays-f32")
def _(g):
    index = np.array([255, 257, 2047, 2049, 4095, 4999])
    values = g.node("Range", *(g.constant(number) for number in (0.0, 5000.0, 1.0)))
    g.output(g.node("Gather", values, g.input("index", index, INT64)), index)
    g.output(g.node("ReduceSum", values, keepdims=0), 5000 * 4999 / 2)


# diffusers#13920, Megatron-LM#535, gpt-neox#1003, transformers PR 29285: one
# step of bf16 at 65536 is 512
@case("angles-of-positions-stay-f32")
def _(g):
    inverse, positions = np.arange(1, 33).reshape(32, 1) / 128, 65536.0 + np.arange(257)[None]
    angle = g.node("MatMul", g.weight("inverse", inverse), g.input("positions", positions))
    g.output(g.node("Cos", angle), np.cos(inverse * positions), atol=1e-6)
    g.output(g.node("Sin", angle), np.sin(inverse * positions), atol=1e-6)

    def check(d):
        if g.mode != "off":
            d.expect_type("MatMul_0", "f32", "position")
        d.expect_casts(0)
    return check


@case("rotary-tables-meet-activations-in-f32")
def _(g):
    """Integer positions, as exporters write rotary embeddings."""
    positions, inverse = np.array([[0, 1, 65536, 65793]]), np.array([[1.0], [0.25]])
    x, w = g.normal(2, 2), g.normal(2, 4)
    floats = g.node("Cast", g.input("positions", positions, INT64), to=FLOAT)
    angle = g.node("MatMul", g.weight("inverse", inverse), floats)
    low = g.node("MatMul", g.input("x", x), g.weight("w", w))
    g.output(g.node("Mul", low, g.node("Cos", angle)),
             (x @ w) * np.cos(inverse * positions), roundings=2)

    def check(d):
        if g.mode == "off":
            return
        d.expect_type("MatMul_0", "f32", "position")
        d.expect_type("MatMul_1", g.low, "lower")
        d.expect_type("Mul_0", "f32", "promote")
    return check


@case("sine-of-activations-is-no-position", LOW_MODES)
def _(g):
    x, w = g.normal(4, 4, scale=0.25), g.normal(4, 4, scale=0.25)
    y = g.node("MatMul", g.input("x", x), g.weight("w", w))
    z = g.node("MatMul", g.node("Relu", y), "w")
    g.output(g.node("Sin", z), np.sin(np.maximum(x @ w, 0) @ w), roundings=4)

    def check(d):
        d.expect_type("MatMul_1", g.low, "lower")
        d.expect_type("Sin_0", g.low, "follow")
    return check
