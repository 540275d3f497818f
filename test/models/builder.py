#===- builder.py - write an ONNX graph node by node -----------------------===#
"""A small ONNX graph writer with seeded weights.

Names follow PyTorch's exporter, `/layer1/layer1.0/conv1/Conv` for nodes and
`layer1.0.conv1.weight` for parameters, so that reports on the generated models
read like reports on exported ones.
"""

import contextlib
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# The IR version that came with each opset used here; newer ones would be
# refused by older readers for no reason.
_IR_VERSION = {13: 7, 17: 8, 20: 9, 23: 11}


class GraphBuilder:
    """Collects nodes, weights, inputs and outputs of one graph."""

    def __init__(self, name: str, opset: int, seed: int):
        self.name = name
        self.opset = opset
        self.rng = np.random.default_rng(seed)
        self._scopes: list[str] = []
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[str] = []
        self._taken: dict[str, int] = {}

    @contextlib.contextmanager
    def scope(self, name: str):
        """Prefix the names made inside with `name`."""
        self._scopes.append(name)
        yield
        self._scopes.pop()

    def _unique(self, base: str) -> str:
        count = self._taken.get(base, 0)
        self._taken[base] = count + 1
        return base if count == 0 else f"{base}_{count}"

    def input(self, name: str, shape, dtype=TensorProto.FLOAT) -> str:
        self._inputs.append(helper.make_tensor_value_info(name, dtype, list(shape)))
        return name

    def output(self, name: str, value: str) -> None:
        """Make `value`, the result of the last node, the output `name`."""
        for node in reversed(self._nodes):
            if value in node.output:
                node.output[list(node.output).index(value)] = name
                break
        for node in self._nodes:
            for i, operand in enumerate(node.input):
                if operand == value:
                    node.input[i] = name
        self._outputs.append(name)

    def weight(self, name: str, array) -> str:
        """An initializer, in float32 unless it holds integers or bools."""
        array = np.asarray(array)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        name = self._unique(".".join([*self._scopes, name]))
        self._weights.append(numpy_helper.from_array(array, name))
        return name

    def constant(self, value, dtype=np.float32) -> str:
        """A Constant node, as exporters write scalars and shapes."""
        tensor = numpy_helper.from_array(np.asarray(value, dtype=dtype))
        return self.node("Constant", value=tensor)

    def node(self, op: str, *inputs: str, outputs: int = 1, **attributes):
        """Append a node; returns its result's name, or a list of several."""
        path = "".join(f"/{scope}" for scope in self._scopes)
        name = self._unique(f"{path}/{op}")
        results = [f"{name}_output_{i}" for i in range(outputs)]
        self._nodes.append(helper.make_node(op, inputs, results, name=name, **attributes))
        return results[0] if outputs == 1 else results

    def normal(self, *shape: int, std: float = 1.0) -> np.ndarray:
        return self.rng.standard_normal(shape, dtype=np.float32) * np.float32(std)

    def uniform(self, low: float, high: float, *shape: int) -> np.ndarray:
        return self.rng.uniform(low, high, shape).astype(np.float32)

    # Layers that several models share.

    def conv(self, x: str, cin: int, cout: int, kernel: int, *, stride=1, groups=1,
             bias=False, name="conv") -> str:
        """2-d convolution with "same" padding, weights after He."""
        with self.scope(name):
            fan_in = cin // groups * kernel * kernel
            operands = [x, self.weight("weight", self.normal(
                cout, cin // groups, kernel, kernel, std=math.sqrt(2 / fan_in)))]
            if bias:
                operands.append(self.weight("bias", self.normal(cout, std=0.05)))
            return self.node("Conv", *operands, dilations=[1, 1], group=groups,
                             kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4,
                             strides=[stride, stride])

    def batch_norm(self, x: str, channels: int, *, gain=1.0, name="bn") -> str:
        """BatchNormalization at inference; `gain` scales its result."""
        with self.scope(name):
            return self.node(
                "BatchNormalization", x,
                self.weight("weight", gain * self.uniform(0.8, 1.2, channels)),
                self.weight("bias", self.normal(channels, std=0.1)),
                self.weight("running_mean", self.normal(channels, std=0.1)),
                self.weight("running_var", self.uniform(0.8, 1.2, channels)),
                epsilon=1e-5, momentum=0.9)

    def gemm(self, x: str, cin: int, cout: int, *, std=None, name="fc") -> str:
        """A linear layer on a matrix, as Gemm with the weight stored [out, in]."""
        std = math.sqrt(1 / cin) if std is None else std
        with self.scope(name):
            return self.node("Gemm", x, self.weight("weight", self.normal(cout, cin, std=std)),
                             self.weight("bias", self.normal(cout, std=0.02)),
                             alpha=1.0, beta=1.0, transB=1)

    def linear(self, x: str, cin: int, cout: int, *, std: float, name: str) -> str:
        """A linear layer on a batch of matrices: MatMul, then Add with the bias first."""
        with self.scope(name):
            weight = self.weight("weight_t", self.normal(cin, cout, std=std))
            bias = self.weight("bias", self.normal(cout, std=0.02))
            return self.node("Add", bias, self.node("MatMul", x, weight))

    def finish(self) -> onnx.ModelProto:
        """The checked model; every output has an inferred static shape."""
        graph = helper.make_graph(
            self._nodes, self.name, self._inputs,
            [onnx.ValueInfoProto(name=name) for name in self._outputs], self._weights)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)],
            ir_version=_IR_VERSION[self.opset], producer_name="ampc-test-models")
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
        del model.graph.output[:]
        model.graph.output.extend(inferred.graph.output)
        for output in model.graph.output:
            dims = output.type.tensor_type.shape.dim
            assert all(dim.HasField("dim_value") for dim in dims), output.name
        onnx.checker.check_model(model)
        return model
