#!/usr/bin/env python3
#===- digits.py - a small network and handwritten digits to train it on ---===#
"""Write an untrained network and the data to train it on.

  digits.py FOLDER     FOLDER/digits.onnx, FOLDER/train.npz, FOLDER/test.npz

The data are scikit-learn's 1797 images of 8 by 8 pixels, 360 of which are kept
for the test. Needs onnx and scikit-learn. The same bytes in each run.
"""

import math
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

BATCH, CLASSES, TEST = 32, 10, 360


class Network:
    """Convolutions with batch norms, each weight after He."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, name: str, value) -> str:
        self.weights.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def normal(self, *shape: int) -> np.ndarray:
        return self.random.standard_normal(shape) * math.sqrt(2 / math.prod(shape[1:]))

    def node(self, operator: str, *inputs: str, name: str, **attributes) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [f"{name}.out"], name=name, **attributes))
        return f"{name}.out"

    def block(self, x: str, name: str, cin: int, cout: int, stride: int) -> str:
        x = self.node("Conv", x, self.weight(f"{name}.conv.weight", self.normal(cout, cin, 3, 3)),
                      name=f"/{name}/conv/Conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[stride, stride])
        statistics = [self.weight(f"{name}.bn.{part}", np.full(cout, value)) for part, value in
                      (("weight", 1), ("bias", 0), ("running_mean", 0), ("running_var", 1))]
        x = self.node("BatchNormalization", x, *statistics, name=f"/{name}/bn/BatchNormalization", momentum=0.9)
        return self.node("Relu", x, name=f"/{name}/Relu")

    def model(self) -> onnx.ModelProto:
        x = self.block("image", "layer1", 1, 16, 1)
        x = self.block(x, "layer2", 16, 32, 2)
        x = self.block(x, "layer3", 32, 32, 2)
        x = self.node("GlobalAveragePool", x, name="/pool/GlobalAveragePool")
        x = self.node("Flatten", x, name="/Flatten")
        x = self.node("Gemm", x, self.weight("fc.weight", self.normal(CLASSES, 32)),
                      self.weight("fc.bias", np.zeros(CLASSES)), name="/fc/Gemm", transB=1)
        self.nodes[-1].output[0] = "logits"
        graph = helper.make_graph(
            self.nodes, "digits",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, [BATCH, 1, 8, 8])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [BATCH, CLASSES])], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return model


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "digits.onnx").write_bytes(Network(seed=1).model().SerializeToString(deterministic=True))
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    order = np.random.default_rng(0).permutation(len(images))
    for name, rows in (("train", order[TEST:]), ("test", order[:TEST])):
        np.savez(folder / f"{name}.npz", image=images[rows], labels=labels[rows].astype(np.int64))
    return 0


if __name__ == "__main__":
    sys.exit(main())
