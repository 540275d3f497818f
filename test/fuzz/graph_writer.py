#===- graph_writer.py - random choices and an ONNX graph that grows ---------===#
"""What the families of operators in random_graph.py are written with."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

_OPSET = 20
SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33)
_MAX_ELEMENTS = 4096


class Value:
    """A tensor of the graph: its name, shape and element type."""

    def __init__(self, name: str, shape, dtype=np.float32):
        self.name, self.shape, self.dtype = name, tuple(int(d) for d in shape), np.dtype(dtype)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


class GraphWriter:
    """A graph of nodes, weights and inputs, and the dice that choose them."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs = [], [], []
        self.values: list[Value] = []
        self.counter = 0

    # Choosing.

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def float_value(self, least_rank=0, most_rank=5, size=1) -> Value:
        """A float value, recent ones more likely; a new input if none fits."""
        fitting = [v for v in self.values if v.dtype == np.float32
                   and least_rank <= v.rank <= most_rank and v.size >= size]
        if not fitting or (self.chance(0.04) and len(self.inputs) < 4):
            return self.add_input(self.shape_of_rank(self.rng.integers(least_rank, most_rank + 1)))
        if self.chance(0.6):
            fitting = fitting[-4:]
        return self.pick(fitting)

    def shape_of_rank(self, rank: int) -> tuple[int, ...]:
        while True:
            shape = tuple(int(self.pick(SIZES)) for _ in range(rank))
            if np.prod(shape) <= _MAX_ELEMENTS:
                return shape

    # Building.

    def name(self, base: str) -> str:
        self.counter += 1
        return f"{base}_{self.counter}"

    def add_input(self, shape) -> Value:
        value = Value(self.name("input"), shape)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def weight(self, shape, scale=1.0) -> str:
        array = self.rng.standard_normal(shape) * scale
        if self.chance(0.15):
            array = np.full(shape, self.rng.standard_normal())
        return self.tensor(array.astype(np.float32))

    def tensor(self, array) -> str:
        name = self.name("weight")
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *values) -> str:
        return self.tensor(np.array(values, np.int64))

    def node(self, op, inputs, shape, dtype=np.float32, **attributes) -> Value | None:
        """Append a node with one result; nothing where that would be too large."""
        return self.node_of_many(op, inputs, [(shape, dtype)], **attributes)[0]

    def node_of_many(self, op, inputs, results, **attributes) -> list:
        if any(np.prod(shape, dtype=np.int64) > 4 * _MAX_ELEMENTS for shape, _ in results):
            return [None] * len(results)
        values = [Value(self.name(op.lower()), shape, dtype) for shape, dtype in results]
        names = [i.name if isinstance(i, Value) else i for i in inputs]
        self.nodes.append(helper.make_node(op, names, [v.name for v in values],
                                           name=self.name(f"/{op}"), **attributes))
        self.values += values
        return values

    def renamed(self, value: Value) -> Value:
        """A second output of the same value."""
        return self.node("Identity", [value], value.shape, value.dtype)

    def finish(self):
        """The model: its unread results and a few others are outputs."""
        read = {name for node in self.nodes for name in node.input}
        made = [v for v in self.values if v not in self.inputs]
        outputs = [v for v in made if v.name not in read or self.chance(0.15)]
        # Some results, and what computes them, nobody reads.
        if len(outputs) > 1 and self.chance(0.15):
            outputs.remove(self.pick(outputs))
        if self.chance(0.05):
            outputs.append(self.renamed(self.pick(outputs)))
        if self.inputs and self.chance(0.05):
            outputs.append(self.pick(self.inputs))
        results = [helper.make_tensor_value_info(
            v.name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for v in outputs]
        inputs = [helper.make_tensor_value_info(v.name, TensorProto.FLOAT, v.shape)
                  for v in self.inputs]
        graph = helper.make_graph(self.nodes, "random", inputs, results, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)],
                                 ir_version=9, producer_name="ampc-fuzz")
