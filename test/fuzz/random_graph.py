#===- random_graph.py - small random ONNX graphs --------------------------===#
"""Seeded random graphs of about forty operators, for comparing compilers.

They aim at what kernel formation and memory planning can get wrong: values
read by several nodes, outputs that are also read, broadcasting, odd sizes,
rank 0, views between all else, several outputs, empty-handed results.
"""

import numpy as np
from onnx import TensorProto

from graph_writer import SIZES, GraphWriter, Value

_UNARY = ("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Erf", "Gelu", "LeakyRelu", "HardSwish",
          "HardSigmoid", "Softplus", "Elu", "Identity", "Softsign", "Sin", "Mish")
_BINARY = ("Add", "Sub", "Mul", "Max", "Min")


class RandomGraph(GraphWriter):
    """Grows one graph; `smooth` leaves out operators that jump."""

    def __init__(self, seed: int, smooth: bool):
        super().__init__(seed)
        self.smooth = smooth

    # One method for each family of operators.

    def unary(self):
        x = self.float_value()
        op = self.pick(_UNARY if self.smooth else (*_UNARY, "Floor", "Sign"))
        self.node(op, [x], x.shape)

    def safe_unary(self):
        """Functions that need a domain: of x^2 + 1 or tanh(x)."""
        x = self.float_value()
        op = self.pick(("Sqrt", "Log", "Reciprocal", "Exp"))
        if op == "Exp":
            inner = self.node("Tanh", [x], x.shape)
        else:
            square = self.node("Mul", [x, x], x.shape)
            inner = self.node("Add", [square, self.tensor(np.float32(1))], x.shape)
        self.node(op, [inner], x.shape)

    def clip(self):
        x = self.float_value()
        self.node("Clip", [x, self.tensor(np.float32(-0.7)), self.tensor(np.float32(1.1))],
                  x.shape)

    def partner(self, x: Value):
        """Something that broadcasts with x: (operand, shape of the result)."""
        others = [v for v in self.values if v.dtype == np.float32
                  and _broadcast(x.shape, v.shape) is not None]
        if self.chance(0.6):
            other = self.pick(others)
            return other, _broadcast(x.shape, other.shape)
        cut = int(self.rng.integers(0, x.rank + 1))
        shape = tuple(1 if self.chance(0.4) else d for d in x.shape[cut:])
        return self.weight(shape), x.shape

    def binary(self):
        x = self.float_value()
        other, shape = self.partner(x)
        operands = [x, other] if self.chance(0.5) else [other, x]
        self.node(self.pick(_BINARY), operands, shape)

    def divide(self):
        x = self.float_value()
        other, shape = self.partner(x)
        positive = self.node("Softplus", [other], other.shape if isinstance(other, Value) else
                             _weight_shape(self.weights[-1]))
        below = self.node("Add", [positive, self.tensor(np.float32(0.5))], positive.shape)
        self.node("Div", [x, below], shape)

    def choose(self):
        if self.smooth:
            return
        x = self.float_value()
        other, shape = self.partner(x)
        condition = self.node(self.pick(("Greater", "Less", "LessOrEqual")), [x, other], shape,
                              np.bool_)
        if condition is not None:
            self.node("Where", [condition, x, self.weight(())], shape)

    def matmul(self):
        x = self.float_value(least_rank=1)
        k = x.shape[-1]
        others = [v for v in self.values if v.dtype == np.float32 and v.rank >= 2
                  and v.shape[-2] == k and _broadcast(x.shape[:-2], v.shape[:-2]) is not None]
        if others and self.chance(0.4):
            other = self.pick(others)
            n, batch = other.shape[-1], _broadcast(x.shape[:-2], other.shape[:-2])
        else:
            n, batch = int(self.pick(SIZES)), x.shape[:-2]
            other = self.weight((k, n), k ** -0.5)
        rows = x.shape[-2:-1]
        self.node("MatMul", [x, other], (*batch, *rows, n))

    def gemm(self):
        x = self.float_value(2, 2)
        transposed, kinds = int(self.chance(0.3)), int(self.chance(0.5))
        m, k = x.shape[::-1] if transposed else x.shape
        n = int(self.pick(SIZES))
        w = self.weight((n, k) if kinds else (k, n), k ** -0.5)
        bias = [self.weight(self.pick(((n,), (1,), (m, 1), (m, n), ())))]
        self.node("Gemm", [x, w, *(bias if self.chance(0.8) else [])], (m, n), transA=transposed,
                  transB=kinds, alpha=self.pick((1.0, 0.5)))

    def window(self, x: Value, kernels=(1, 2, 3, 5)):
        """Kernel, strides, dilations, pads and result sizes over x's last dimensions."""
        rank = x.rank - 2
        kernel = [int(self.pick(kernels)) for _ in range(rank)]
        strides = [int(self.pick((1, 1, 2, 3))) for _ in range(rank)]
        dilations = [int(self.pick((1, 1, 1, 2))) for _ in range(rank)]
        extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        most = [min(2, k - 1) for k in kernel]
        pads = [int(self.rng.integers(0, m + 1)) for m in [*most, *most]]
        out = [(size + pads[i] + pads[i + rank] - extent[i]) // strides[i] + 1
               for i, size in enumerate(x.shape[2:])]
        return kernel, strides, dilations, pads, out

    def conv(self):
        x = self.float_value(3, 4)
        kernel, strides, dilations, pads, out = self.window(x)
        if min(out) < 1:
            return
        c = x.shape[1]
        group = c if self.chance(0.3) else self.pick([g for g in (1, 1, 2, 4) if c % g == 0])
        cout = group * int(self.pick((1, 2, 3, 8)))
        fan = c // group * int(np.prod(kernel))
        operands = [x, self.weight((cout, c // group, *kernel), fan ** -0.5)]
        if self.chance(0.6):
            operands.append(self.weight((cout,)))
        self.node("Conv", operands, (x.shape[0], cout, *out), kernel_shape=kernel, group=group,
                  strides=strides, dilations=dilations, pads=pads)

    def conv_transpose(self):
        x = self.float_value(3, 4)
        rank, cout = x.rank - 2, int(self.pick((1, 2, 5)))
        kernel = [int(self.pick((1, 2, 3))) for _ in range(rank)]
        strides = [int(self.pick((1, 2))) for _ in range(rank)]
        out = [s * (d - 1) + k for s, d, k in zip(strides, x.shape[2:], kernel)]
        w = self.weight((x.shape[1], cout, *kernel), x.shape[1] ** -0.5)
        self.node("ConvTranspose", [x, w], (x.shape[0], cout, *out), kernel_shape=kernel,
                  strides=strides)

    def pool(self):
        x = self.float_value(3, 4)
        if self.chance(0.25):
            op = self.pick(("GlobalAveragePool", "GlobalMaxPool"))
            self.node(op, [x], (*x.shape[:2], *[1] * (x.rank - 2)))
            return
        kernel, strides, dilations, pads, out = self.window(x, (1, 2, 3))
        if min(out) < 1:
            return
        op = self.pick(("MaxPool", "AveragePool"))
        if op == "MaxPool":
            attributes = {"dilations": dilations}
        elif max(dilations) > 1:
            return
        else:
            attributes = {"count_include_pad": int(self.chance(0.5))}
        self.node(op, [x], (*x.shape[:2], *out), kernel_shape=kernel, strides=strides, pads=pads,
                  **attributes)

    def softmax(self):
        x = self.float_value(1)
        self.node(self.pick(("Softmax", "LogSoftmax")), [x], x.shape,
                  axis=int(self.rng.integers(-x.rank, x.rank)))

    def norm(self):
        x = self.float_value(2, 4, size=8)
        if self.chance(0.6):
            axis = int(self.rng.integers(1, x.rank))
            if np.prod(x.shape[axis:]) < 4:
                return
            scale, bias = self.weight(x.shape[axis:]), self.weight(x.shape[axis:])
            self.node("LayerNormalization", [x, scale, bias], x.shape, axis=axis, epsilon=1e-2)
        elif x.rank > 2 and np.prod(x.shape[2:]) >= 4:
            c = x.shape[1]
            self.node("InstanceNormalization", [x, self.weight((c,)), self.weight((c,))], x.shape,
                      epsilon=1e-2)
        else:
            c = x.shape[1]
            statistics = [self.weight((c,)) for _ in range(3)]
            variance = self.tensor(self.rng.uniform(0.5, 2, c).astype(np.float32))
            self.node("BatchNormalization", [x, *statistics, variance], x.shape)

    def reduce(self):
        x = self.float_value()
        axes = [i for i in range(x.rank) if self.chance(0.5)]
        keep = int(self.chance(0.5))
        shape = [1 if i in axes else d for i, d in enumerate(x.shape) if keep or i not in axes]
        op = self.pick(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"))
        self.node(op, [x, self.ints(*axes)], shape, keepdims=keep, noop_with_empty_axes=1)

    def transpose(self):
        x = self.float_value(2)
        order = [int(i) for i in self.rng.permutation(x.rank)]
        self.node("Transpose", [x], [x.shape[i] for i in order], perm=order)

    def reshape(self):
        x = self.float_value()
        dims, rest = [], x.size
        while rest > 1 and len(dims) < 4:
            divisors = [d for d in range(2, rest + 1) if rest % d == 0][:6]
            dims.append(self.pick([*divisors, rest]))
            rest //= dims[-1]
        dims += [rest] * (rest > 1)
        for _ in range(int(self.rng.integers(0, 3))):
            dims.insert(int(self.rng.integers(0, len(dims) + 1)), 1)
        self.node("Reshape", [x, self.ints(*dims)], dims[:6]) if len(dims) <= 6 else None

    def slice(self):
        x = self.float_value(1)
        starts, ends, steps, shape = [], [], [], []
        for size in x.shape:
            start, step = int(self.rng.integers(0, size)), int(self.pick((1, 1, 2)))
            end = int(self.rng.integers(start + 1, size + 1))
            if self.chance(0.15):
                start, end, step = size - 1, -size - 1, -1
                shape.append(size)
            else:
                shape.append(-(-(end - start) // step))
            starts.append(start), ends.append(end), steps.append(step)
        self.node("Slice", [x, self.ints(*starts), self.ints(*ends),
                            self.ints(*range(x.rank)), self.ints(*steps)], shape)

    def split(self):
        x = self.float_value(1)
        axis = self.pick(range(x.rank))
        if x.shape[axis] < 2:
            return
        cut = int(self.rng.integers(1, x.shape[axis]))
        shapes = [(*x.shape[:axis], part, *x.shape[axis + 1:]) for part in
                  (cut, x.shape[axis] - cut)]
        self.node_of_many("Split", [x, self.ints(cut, x.shape[axis] - cut)],
                          [(shape, np.float32) for shape in shapes], axis=axis)

    def concat(self):
        x = self.float_value(1)
        axis = self.pick(range(x.rank))
        others = [v for v in self.values if v.dtype == np.float32 and v.rank == x.rank and
                  all(i == axis or a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)))]
        parts = [x] + [self.pick(others) for _ in range(int(self.rng.integers(1, 3)))]
        length = sum(part.shape[axis] for part in parts)
        self.node("Concat", parts, (*x.shape[:axis], length, *x.shape[axis + 1:]), axis=axis)

    def pad(self):
        x = self.float_value(1, 4)
        amounts = [int(self.rng.integers(0, 3)) for _ in range(2 * x.rank)]
        mode = self.pick(("constant", "edge"))
        shape = [d + amounts[i] + amounts[i + x.rank] for i, d in enumerate(x.shape)]
        self.node("Pad", [x, self.ints(*amounts)], shape, mode=mode)

    def expand(self):
        x = self.float_value(0, 3)
        shape = [int(self.pick((2, 3))) if d == 1 else d for d in x.shape]
        shape = [*([2] * int(self.chance(0.4))), *shape]
        self.node("Expand", [x, self.ints(*shape)], shape)

    def gather(self):
        x = self.float_value(1)
        axis = self.pick(range(x.rank))
        indices = self.rng.integers(0, x.shape[axis], self.shape_of_rank(self.pick((0, 1, 1, 2))))
        if indices.size > 64:
            return
        self.node("Gather", [x, self.tensor(indices)],
                  (*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]), axis=axis)

    def cast(self):
        """There and back: a barrier that rounds to a 16-bit type."""
        x = self.float_value()
        half = self.node("Cast", [x], x.shape, np.float16, to=TensorProto.FLOAT16)
        self.node("Cast", [half], x.shape, to=TensorProto.FLOAT)

    def cumsum(self):
        x = self.float_value(1)
        self.node("CumSum", [x, self.tensor(np.int64(self.pick(range(x.rank))))], x.shape,
                  exclusive=int(self.chance(0.5)), reverse=int(self.chance(0.5)))

    def order(self):
        if self.smooth:
            return
        x = self.float_value(1)
        axis = self.pick(range(x.rank))
        rest = x.shape[axis + 1:]
        if self.chance(0.5):
            self.node("ArgMax", [x], (*x.shape[:axis], *rest), np.int64, axis=axis, keepdims=0)
            return
        k = int(self.rng.integers(1, x.shape[axis] + 1))
        shape = (*x.shape[:axis], k, *rest)
        self.node_of_many("TopK", [x, self.ints(k)], [(shape, np.float32), (shape, np.int64)],
                          axis=axis)

    def resize(self):
        x = self.float_value(4, 4)
        shape = (*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3])
        scales = self.tensor(np.array([1, 1, 2, 2], np.float32))
        self.node("Resize", [x, "", scales], shape, mode=self.pick(("nearest", "linear")),
                  coordinate_transformation_mode="half_pixel")

    def attention(self):
        """softmax(q k^T / sqrt d) v, node by node."""
        x = self.float_value(3, 4)
        turn = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
        other = self.node("Tanh", [x], x.shape) if self.chance(0.5) else x
        turned = self.node("Transpose", [other], [x.shape[i] for i in turn], perm=turn)
        square = (*x.shape[:-1], x.shape[-2])
        scores = self.node("MatMul", [x, turned], square)
        if scores is None:
            return
        scale = self.tensor(np.float32(x.shape[-1] ** -0.5))
        scaled = self.node("Mul", [scores, scale], square)
        shares = self.node("Softmax", [scaled], square, axis=-1)
        self.node("MatMul", [shares, x], x.shape)

    GROWERS = ((unary, 6), (safe_unary, 2), (clip, 1), (binary, 7), (divide, 1), (choose, 2),
               (matmul, 3), (gemm, 2), (conv, 3), (conv_transpose, 1), (pool, 2), (softmax, 2),
               (norm, 2), (reduce, 3), (transpose, 3), (reshape, 3), (slice, 2), (split, 1),
               (concat, 2), (pad, 1), (expand, 1), (gather, 2), (cast, 1), (cumsum, 1), (order, 1),
               (resize, 1), (attention, 1))

    def grow(self, count: int) -> None:
        families = [family for family, share in self.GROWERS for _ in range(share)]
        while len(self.nodes) < count:
            self.pick(families)(self)


def _broadcast(a, b):
    """The shape that two shapes broadcast to, or None."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None


def _weight_shape(tensor: TensorProto):
    return tuple(tensor.dims)


def make(seed: int, smooth: bool):
    """(model, feeds) of a seed."""
    graph = RandomGraph(seed, smooth)
    graph.add_input(graph.shape_of_rank(int(graph.rng.integers(0, 5))))
    graph.grow(int(graph.rng.integers(3, 14)))
    model = graph.finish()
    feeds = {v.name: graph.rng.standard_normal(v.shape).astype(np.float32) for v in graph.inputs}
    return model, feeds
