#===- models.py - networks to train ---------------------------------------===#
"""The networks that the tests of training use, with data to train them on.

Weights and data follow from fixed seeds. The small ones have sizes that no
vector width divides, so that the reference evaluator gets through them in
seconds and every tail of a kernel is reached.
"""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper, numpy_helper

import small
import transformers
import vision
from builder import GraphBuilder

CROSS_ENTROPY, MSE = "softmax-cross-entropy", "mse"


@dataclasses.dataclass
class Trained:
    """A network, its loss, and batches of data."""

    make: Callable[[], onnx.ModelProto]
    # Labels of a batch: classes below this number, or floats where it is 0.
    classes: int
    loss: str = CROSS_ENTROPY
    # Large ones are run as compiled programs only.
    large: bool = False

    def batch(self, model: onnx.ModelProto, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """(inputs, labels), drawn from what a class has in common where there are classes."""
        random = np.random.default_rng(seed)
        inputs = {value.name: _values(model, value, random) for value in _inputs(model)}
        shape = [dim.dim_value for dim in model.graph.output[0].type.tensor_type.shape.dim]
        if not self.classes:
            x = inputs["input"]
            teacher = np.random.default_rng(0).standard_normal((x.shape[1], shape[1])).astype(np.float32)
            return inputs, np.float32(TINY / math.sqrt(x.shape[1])) * (x @ teacher)
        axis = 1 if len(shape) in (2, 4) else len(shape) - 1
        return inputs, random.integers(0, self.classes, shape[:axis] + shape[axis + 1:])


def _inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    weights = {weight.name for weight in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in weights]


def _values(model: onnx.ModelProto, value: onnx.ValueInfoProto, random) -> np.ndarray:
    tensor = value.type.tensor_type
    shape = [dim.dim_value for dim in tensor.shape.dim]
    if tensor.elem_type == onnx.TensorProto.FLOAT:
        return random.standard_normal(shape).astype(np.float32)
    if "mask" in value.name:
        mask = np.ones(shape, np.int64)
        mask[0, shape[1] - 2:] = 0
        return mask
    limit = 2 if "type" in value.name else _vocabulary(model)
    return random.integers(0, limit, shape)


def _vocabulary(model: onnx.ModelProto) -> int:
    """Rows of the table that token ids index."""
    table = next(node.input[0] for node in model.graph.node
                 if node.op_type == "Gather" and node.input[1] == "input_ids")
    return next(weight.dims[0] for weight in model.graph.initializer if weight.name == table)


def parameters(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The initializers that are trained: all floats but a batch norm's statistics."""
    statistics = {name for node in model.graph.node if node.op_type == "BatchNormalization"
                  for name in node.input[3:5]}
    return {weight.name: numpy_helper.to_array(weight) for weight in model.graph.initializer
            if weight.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16,
                                    onnx.TensorProto.BFLOAT16) and weight.name not in statistics}


def with_head(model: onnx.ModelProto, value: str, classes: int, seed: int) -> onnx.ModelProto:
    """`model` with a linear classifier on `value` as its only output."""
    random = np.random.default_rng(seed)
    output = next(o for o in model.graph.output if o.name == value)
    batch, width = (dim.dim_value for dim in output.type.tensor_type.shape.dim)
    weight = random.standard_normal((classes, width)) / math.sqrt(width)
    model.graph.initializer.extend([
        numpy_helper.from_array(weight.astype(np.float32), "classifier.weight"),
        numpy_helper.from_array(np.zeros(classes, np.float32), "classifier.bias")])
    model.graph.node.append(helper.make_node(
        "Gemm", [value, "classifier.weight", "classifier.bias"], ["logits"], name="/classifier/Gemm",
        transB=1))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT,
                                                            [batch, classes]))
    onnx.checker.check_model(model)
    return model


def resnet_basic(name: str, *, batch=5, size=9, widths=(6, 10), classes=5, seed=21) -> onnx.ModelProto:
    """Basic residual blocks of two 3x3 convolutions, the second with stride 2."""
    g = GraphBuilder(name, 17, seed)
    x = g.input("input", [batch, 3, size, size])
    x = g.node("Relu", g.batch_norm(g.conv(x, 3, widths[0], 3, name="conv1"), widths[0], name="bn1"))
    cin = widths[0]
    for index, cout in enumerate(widths):
        stride = 2 if cout != cin else 1
        with g.scope(f"layer{index + 1}"):
            y = g.conv(x, cin, cout, 3, stride=stride, name="conv1")
            y = g.node("Relu", g.batch_norm(y, cout, name="bn1"))
            y = g.batch_norm(g.conv(y, cout, cout, 3, name="conv2"), cout, name="bn2")
            if stride != 1:
                with g.scope("downsample"):
                    x = g.batch_norm(g.conv(x, cin, cout, 1, stride=2, name="0"), cout, name="1")
            x = g.node("Relu", g.node("Add", y, x))
        cin = cout
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.output("logits", g.gemm(x, cin, classes))
    return g.finish()


def mobile(name: str, *, batch=3, size=11, classes=4, seed=22) -> onnx.ModelProto:
    """Depthwise and grouped convolutions with biases, ReLU6, hard-swish, pools."""
    g = GraphBuilder(name, 17, seed)
    x = g.input("input", [batch, 3, size, size])
    x = g.conv(x, 3, 8, 3, stride=2, bias=True, name="stem")
    x = g.node("Clip", x, g.constant(0.0), g.constant(6.0))
    x = g.conv(x, 8, 8, 3, groups=8, bias=True, name="depthwise")
    x = g.node("HardSwish", g.batch_norm(x, 8, name="bn"))
    x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    x = g.node("Sigmoid", g.conv(x, 8, 12, 1, groups=2, bias=True, name="grouped"))
    x = g.node("AveragePool", x, kernel_shape=[2, 2], strides=[1, 1], pads=[0, 0, 1, 1], count_include_pad=0)
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.output("logits", g.gemm(x, 12, classes))
    return g.finish()


# The size of the targets of `tiny_gradients`.
TINY = 2e-6


def tiny_gradients(name: str, *, batch=64, inputs=16, hidden=32, outputs=8, seed=23) -> onnx.ModelProto:
    """A regression of small quantities.

    The gradient of a result is 2 (y - t) / (batch * outputs), about 8e-9 where
    targets are about 2e-6: below 2^-25, half of the smallest f16.
    """
    g = GraphBuilder(name, 17, seed)
    x = g.node("Relu", g.gemm(g.input("input", [batch, inputs]), inputs, hidden,
                              std=math.sqrt(2 / inputs), name="hidden"))
    with g.scope("head"):
        weight = g.weight("weight", g.normal(outputs, hidden, std=0.1 * TINY))
        g.output("y", g.node("Gemm", x, weight, transB=1))
    return g.finish()


# Name -> network. Those that are not large are also run by the evaluator.
MODELS = {
    "mlp": Trained(lambda: small.mlp("mlp", batch=6, sizes=(10, 17, 12, 5)), 5),
    "resnet": Trained(lambda: resnet_basic("resnet"), 5),
    "mobile": Trained(lambda: mobile("mobile"), 4),
    "bert-layer": Trained(lambda: with_head(
        transformers.bert("bert-layer", batch=2, length=7, layers=1, hidden=24, heads=3, vocabulary=19,
                          positions=11), "pooler_output", 3, 1), 3),
    "bert-fused": Trained(lambda: with_head(
        transformers.bert("bert-fused", batch=2, length=5, layers=1, hidden=18, heads=2, vocabulary=13,
                          positions=5, form="fused"), "pooler_output", 3, 2), 3),
    "gpt2-block": Trained(lambda: transformers.gpt2(
        "gpt2-block", batch=2, length=6, layers=1, hidden=24, heads=3, vocabulary=29, positions=10), 29),
    "unet": Trained(lambda: vision.unet("unet", batch=2, size=12, width=4, depth=2, classes=3), 3),
    "unet-resize": Trained(lambda: vision.unet("unet-resize", batch=2, size=12, width=3, depth=1, classes=3,
                                               upsample="resize"), 3),
    "tiny-gradients": Trained(lambda: tiny_gradients("tiny-gradients"), 0, loss=MSE),
    "bert-base-2": Trained(lambda: with_head(
        transformers.bert("bert-base-2", batch=2, length=32, layers=2, vocabulary=2000), "pooler_output", 3, 3),
        3, large=True),
    "gpt2-2": Trained(lambda: transformers.gpt2("gpt2-2", batch=1, length=32, layers=2, vocabulary=2000), 2000,
                      large=True),
    "resnet50-32": Trained(lambda: vision.resnet("resnet50-32", batch=4, size=64, classes=10), 10, large=True),
}
