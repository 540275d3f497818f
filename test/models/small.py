#===- small.py - small networks for quick tests and training --------------===#
"""Networks small enough to train on a CPU in a test, and plain GEMMs."""

import math

from builder import GraphBuilder


def mlp(name: str, *, batch=32, sizes=(128, 256, 256, 10), opset=13, seed=1):
    """Linear layers with ReLU between them."""
    g = GraphBuilder(name, opset, seed)
    x = g.input("input", [batch, sizes[0]])
    for index, (cin, cout) in enumerate(zip(sizes, sizes[1:])):
        last = index == len(sizes) - 2
        x = g.gemm(x, cin, cout, std=math.sqrt((1 if last else 2) / cin), name=f"fc{index}")
        x = x if last else g.node("Relu", x)
    g.output("logits", x)
    return g.finish()


def conv_bn(name: str, *, batch=8, size=32, width=32, classes=10, opset=13, seed=3):
    """Two conv-BN-ReLU layers, global mean, linear."""
    g = GraphBuilder(name, opset, seed)
    x, cin = g.input("input", [batch, 3, size, size]), 3
    for index in range(2):
        x = g.conv(x, cin, width, 3, name=f"conv{index}")
        x = g.node("Relu", g.batch_norm(x, width, name=f"bn{index}"))
        cin = width
    x = g.node("ReduceMean", x, axes=[2, 3], keepdims=0)
    g.output("logits", g.gemm(x, width, classes, std=3 / math.sqrt(width)))
    return g.finish()


def conv_pool(name: str, *, batch=64, size=224, classes=10, opset=13, seed=4):
    """Two conv-ReLU-maxpool blocks and a linear layer on what is left."""
    g = GraphBuilder(name, opset, seed)
    x, cin = g.input("input", [batch, 3, size, size]), 3
    for index, cout in enumerate((16, 32)):
        x = g.node("Relu", g.conv(x, cin, cout, 3, bias=True, name=f"conv{index}"))
        x = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        cin = cout
    x = g.node("Flatten", x, axis=1)
    g.output("logits", g.gemm(x, cin * (size // 4) ** 2, classes))
    return g.finish()


def matmul(name: str, *, m: int, n: int, k: int, constant_b: bool, opset=13, seed=9):
    """One MatMul [m, k] x [k, n]; B is an input or a weight."""
    g = GraphBuilder(name, opset, seed)
    a = g.input("A", [m, k])
    if constant_b:
        b = g.weight("B", g.normal(k, n, std=1 / math.sqrt(k)))
    else:
        b = g.input("B", [k, n])
    g.output("C", g.node("MatMul", a, b))
    return g.finish()
