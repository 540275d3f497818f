#===- filled.py - ONNX's light models with seeded weights -----------------===#
"""The onnx package's "light" models with weights worth computing with.

These networks keep their weights as ConstantOfShape nodes, so that every
output is the same number whatever is computed in between. Here each of those
nodes becomes an initializer with random values fit for its place.
"""

import math
import pathlib

import numpy as np
import onnx
from onnx import numpy_helper

LIGHT = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"

# Variance of a convolution's weights times its fan-in: He's 2, lowered because
# maxima and convolutions without ReLU raise the mean square on the way.
_VARIANCE = {"inception_v1": 1.0, "shufflenet": 1.0}


def fill(light: str, seed: int = 19) -> onnx.ModelProto:
    """The light model `light` ("resnet50", ...) with random weights."""
    model = onnx.load(LIGHT / f"light_{light}.onnx")
    graph = model.graph
    rng = np.random.default_rng(seed)
    variance = _VARIANCE.get(light, 1.5)
    shapes = {weight.name: numpy_helper.to_array(weight).tolist() for weight in graph.initializer}
    consumers = {}
    for node in graph.node:
        for slot, name in enumerate(node.input):
            consumers.setdefault(name, (node, slot))

    sums = {name for node in graph.node if node.op_type == "Sum" for name in node.input}
    kept, weights, used_shapes = [], [], set()
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        shape = shapes[node.input[0]]
        used_shapes.add(node.input[0])
        values = _values(*_user(node.output[0], consumers), shape, sums,
                         variance, rng).astype(np.float32)
        weights.append(numpy_helper.from_array(values, node.output[0]))
    del graph.node[:]
    graph.node.extend(kept)
    still_read = {name for node in kept for name in node.input}
    weights += [w for w in graph.initializer if w.name not in used_shapes or w.name in still_read]
    # Since IR version 4 an initializer need not be an input too.
    model.ir_version = 4
    names = {weight.name for weight in graph.initializer}
    inputs = [value for value in graph.input if value.name not in names]
    del graph.initializer[:], graph.input[:]
    graph.initializer.extend(weights)
    graph.input.extend(inputs)
    _drop_softmax(graph)
    onnx.checker.check_model(model)
    return model


def _user(name: str, consumers: dict) -> tuple[onnx.NodeProto, int]:
    """The node that computes with a weight, past changes of its shape."""
    node, slot = consumers[name]
    while node.op_type in ("Unsqueeze", "Reshape"):
        node, slot = consumers[node.output[0]]
    return node, slot


def _drop_softmax(graph: onnx.GraphProto) -> None:
    """Let the logits be the output; probabilities of random logits are nearly 0 or 1."""
    last = graph.node[-1]
    if last.op_type != "Softmax":
        return
    for node in graph.node:
        for index, name in enumerate(node.output):
            if name == last.input[0]:
                node.output[index] = last.output[0]
    graph.node.remove(last)


def _values(user: onnx.NodeProto, slot: int, shape: list[int], sums: set[str],
            variance: float, rng) -> np.ndarray:
    if user.op_type == "Conv" and slot == 1:
        deviation = math.sqrt(variance / math.prod(shape[1:]))
        return rng.standard_normal(shape, dtype=np.float32) * deviation
    if user.op_type == "Gemm" and slot == 1:
        return rng.standard_normal(shape, dtype=np.float32) * math.sqrt(1 / shape[1])
    positive = (user.op_type == "BatchNormalization" and slot in (1, 4)) or user.op_type == "Mul"
    if positive:
        # Summands are small, or residual sums would grow with depth.
        gain = 0.5 if slot == 1 and user.output[0] in sums else 1.0
        return rng.uniform(0.8, 1.2, shape) * gain
    return rng.standard_normal(shape, dtype=np.float32) * 0.05
