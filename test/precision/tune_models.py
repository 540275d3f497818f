#===- tune_models.py - networks that fp16 breaks in one place --------------===#
"""Seeded networks of ordinary size with one trouble each.

Each function returns a model of one input `x` and one output `y`, and the name
of the node at which plain fp16 breaks.
"""

import pathlib
import sys

import numpy as np
import onnx

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "models"))

from builder import GraphBuilder

ROWS, WIDTH = 16, 64


def _linear(graph: GraphBuilder, x: str, scale: float = 1.0, shift=0.0) -> str:
    """A matrix product that keeps the size of its input but for `scale`, and a bias."""
    weight = graph.rng.standard_normal((WIDTH, WIDTH)) * scale / np.sqrt(WIDTH)
    product = graph.node("MatMul", x, graph.weight("weight", weight))
    bias = 0.1 * scale * graph.rng.standard_normal(WIDTH) + shift
    return graph.node("Add", product, graph.weight("bias", bias))


def _norm(graph: GraphBuilder, x: str) -> str:
    return graph.node("LayerNormalization", x,
                      graph.weight("norm.weight", 1 + 0.1 * graph.rng.standard_normal(WIDTH)),
                      graph.weight("norm.bias", 0.1 * graph.rng.standard_normal(WIDTH)),
                      axis=-1, epsilon=1e-5)


def wide_product() -> tuple[onnx.ModelProto, str]:
    """A matrix product of up to some 600,000 between norms, in a perceptron."""
    graph = GraphBuilder("wide_product", opset=17, seed=1)
    x = graph.input("x", (ROWS, WIDTH))
    for layer in range(11):
        with graph.scope(f"layer{layer}"):
            x = _linear(graph, x, scale=2e5 if layer == 6 else 1.4)
            x = graph.node("Relu", x)
            if layer % 3 == 0:
                x = _norm(graph, x)
    graph.output("y", x)
    return graph.finish(), "/layer6/MatMul"


def residual_stream() -> tuple[onnx.ModelProto, str]:
    """Blocks that add 30,000 each to a few channels, as large models do."""
    graph = GraphBuilder("residual_stream", opset=20, seed=2)
    x = graph.input("x", (ROWS, WIDTH))
    with graph.scope("embed"):
        stream = _linear(graph, x)
    for block in range(8):
        with graph.scope(f"block{block}"):
            hidden = _norm(graph, stream)
            with graph.scope("up"):
                hidden = _linear(graph, hidden)
            hidden = graph.node("Gelu", hidden)
            massive = np.zeros(WIDTH)
            if 1 <= block <= 4:
                massive[[5, 40]] = 30000, -28000
            with graph.scope("down"):
                hidden = _linear(graph, hidden, shift=massive)
            stream = graph.node("Add", stream, hidden)
    with graph.scope("head"):
        graph.output("y", _linear(graph, _norm(graph, stream)))
    return graph.finish(), "/block3/Add"


def tiny_weights() -> tuple[onnx.ModelProto, str]:
    """A matrix of numbers around 2e-8, whose product a scale brings back."""
    graph = GraphBuilder("tiny_weights", opset=17, seed=3)
    x = graph.input("x", (ROWS, WIDTH))
    for layer in range(12):
        with graph.scope(f"layer{layer}"):
            if layer == 5:
                weight = 2e-8 * graph.rng.standard_normal((WIDTH, WIDTH)).clip(-2.5, 2.5)
                x = graph.node("MatMul", x, graph.weight("weight", weight))
                x = graph.node("Relu", x)
                scale = 1 / (2e-8 * np.sqrt(WIDTH)) * (1 + 0.1 * graph.rng.standard_normal(WIDTH))
                x = graph.node("Mul", x, graph.weight("scale", scale))
            else:
                x = graph.node("Relu", _linear(graph, x, scale=1.4))
    graph.output("y", x)
    return graph.finish(), "/layer5/MatMul"


MODELS = {make.__name__: make for make in (wide_product, residual_stream, tiny_weights)}
