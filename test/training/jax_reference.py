#===- jax_reference.py - losses and gradients of ONNX models by JAX -------===#
"""An ONNX graph as a function in JAX, with which JAX differentiates it.

Only the operators that models.py uses are known. Everything is computed in
float64. Batch norms have their training form: the statistics of the batch, with
the variance of the population, as ONNX's `training_mode` and PyTorch normalize.

How far 16-bit types may be off follows from a Monte Carlo arithmetic (Parker,
"Monte Carlo Arithmetic", 1997): every weight, input and result, and every
gradient on the way back, is multiplied by 1 + d with random |d| <= u, the unit
roundoff, unless the type holds it. What such roundings do to a gradient, through
cancellation or a ReLU that changes sides, so will the type's.
"""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from jax import lax
from onnx import helper, numpy_helper

jax.config.update("jax_enable_x64", True)
# Compiling takes longer than running.
jax.config.update("jax_disable_most_optimizations", True)


def _attributes(node: onnx.NodeProto) -> dict:
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def _pairs(pads: list[int]) -> list[tuple[int, int]]:
    half = len(pads) // 2
    return list(zip(pads[:half], pads[half:]))


def _spatial(rank: int) -> tuple[str, str, str]:
    letters = "DHW"[3 - (rank - 2):]
    return "NC" + letters, "OI" + letters, "NC" + letters


def _conv(x, w, b=None, *, strides, pads, dilations=None, group=1, **_):
    y = lax.conv_general_dilated(x, w, strides, _pairs(pads), rhs_dilation=dilations,
                                 dimension_numbers=_spatial(x.ndim), feature_group_count=group)
    return y if b is None else y + b.reshape([-1] + [1] * (x.ndim - 2))


def _conv_transpose(x, w, b=None, *, strides, pads, dilations, group=1, **_):
    """The gradient of a convolution, as a convolution of the dilated input."""
    assert group == 1
    flipped = jnp.flip(jnp.swapaxes(w, 0, 1), range(2, w.ndim))
    reach = [(size - 1) * d for size, d in zip(w.shape[2:], dilations)]
    padding = [(r - before, r - after) for r, (before, after) in zip(reach, _pairs(pads))]
    y = lax.conv_general_dilated(x, flipped, [1] * len(reach), padding, lhs_dilation=strides,
                                 rhs_dilation=dilations, dimension_numbers=_spatial(x.ndim))
    return y if b is None else y + b.reshape([-1] + [1] * (x.ndim - 2))


def _batch_norm(x, scale, bias, _mean, _variance, *, epsilon=1e-5, **_):
    axes, shape = (0, *range(2, x.ndim)), [-1] + [1] * (x.ndim - 2)
    centred = x - jnp.mean(x, axes, keepdims=True)
    variance = jnp.mean(centred * centred, axes, keepdims=True)
    return centred / jnp.sqrt(variance + epsilon) * scale.reshape(shape) + bias.reshape(shape)


def _layer_norm(x, scale, bias, *, axis=-1, epsilon=1e-5, **_):
    axes = tuple(range(axis % x.ndim, x.ndim))
    centred = x - jnp.mean(x, axes, keepdims=True)
    return centred / jnp.sqrt(jnp.mean(centred * centred, axes, keepdims=True) + epsilon) * scale + bias


def _pool(x, start, combine, kernel_shape, strides, pads):
    return lax.reduce_window(x, start, combine, (1, 1, *kernel_shape), (1, 1, *strides),
                             [(0, 0), (0, 0), *_pairs(pads)])


def _max_pool(x, *, kernel_shape, strides, pads=None, **_):
    return _pool(x, -jnp.inf, lax.max, kernel_shape, strides, pads or [0] * 2 * len(kernel_shape))


def _average_pool(x, *, kernel_shape, strides, pads=None, count_include_pad=0, **_):
    assert not count_include_pad
    arguments = kernel_shape, strides, pads or [0] * 2 * len(kernel_shape)
    return _pool(x, 0.0, lax.add, *arguments) / _pool(jnp.ones_like(x), 0.0, lax.add, *arguments)


def _gemm(a, b, c=None, *, alpha=1.0, beta=1.0, transA=0, transB=0):
    y = alpha * ((a.T if transA else a) @ (b.T if transB else b))
    return y if c is None else y + beta * c


def _gelu(x, *, approximate=b"none"):
    return jax.nn.gelu(x, approximate=approximate == b"tanh")


def _resize(x, _roi, scales, **attributes):
    assert attributes["mode"] == b"linear" and attributes["coordinate_transformation_mode"] == b"half_pixel"
    shape = [int(size * scale) for size, scale in zip(x.shape, np.asarray(scales))]
    return jax.image.resize(x, shape, "bilinear", antialias=False)


def _reduce_mean(x, axes=None, *, keepdims=1, **attributes):
    axes = attributes.get("axes", axes)
    return jnp.mean(x, tuple(int(a) for a in axes), keepdims=bool(keepdims))


def _unsqueeze(x, axes):
    return jnp.expand_dims(x, tuple(int(a) for a in axes))


def _split(x, sizes, *, axis=0):
    return jnp.split(x, np.cumsum(np.asarray(sizes))[:-1].tolist(), axis)


def _gather(x, indices, *, axis=0):
    return jnp.take(x, indices, axis)


def _cast(x, *, to):
    kind = helper.tensor_dtype_to_np_dtype(to)
    return x.astype(np.float64 if np.issubdtype(kind, np.floating) else kind)


def _reshape(x, shape, **_):
    return x.reshape([int(size) or x.shape[i] for i, size in enumerate(shape)])


OPERATORS = {
    "Sign": jnp.sign, "Add": jnp.add, "Sub": jnp.subtract, "Mul": jnp.multiply, "Div": jnp.divide, "Pow": jnp.power,
    "Sqrt": jnp.sqrt, "Erf": jax.scipy.special.erf, "Tanh": jnp.tanh, "Sigmoid": jax.nn.sigmoid,
    "Relu": lambda x: jnp.maximum(x, 0), "Clip": jnp.clip,
    "HardSwish": lambda x: x * jnp.clip(x / 6 + 0.5, 0, 1), "Gelu": _gelu,
    "MatMul": jnp.matmul, "Gemm": _gemm, "Conv": _conv, "ConvTranspose": _conv_transpose,
    "BatchNormalization": _batch_norm, "LayerNormalization": _layer_norm,
    "MaxPool": _max_pool, "AveragePool": _average_pool,
    "GlobalAveragePool": lambda x: jnp.mean(x, tuple(range(2, x.ndim)), keepdims=True),
    "Flatten": lambda x, axis=1: x.reshape([int(np.prod(x.shape[:axis])), -1]),
    "Reshape": _reshape, "Transpose": lambda x, perm: jnp.transpose(x, perm),
    "Softmax": lambda x, axis=-1: jax.nn.softmax(x, axis), "Where": jnp.where, "Split": _split,
    "Gather": _gather, "Unsqueeze": _unsqueeze, "Cast": _cast,
    "Concat": lambda *xs, axis: jnp.concatenate(xs, axis), "Resize": _resize, "ReduceMean": _reduce_mean,
}


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64) if array.dtype.kind == "f" or array.dtype.name == "bfloat16" else array


@jax.custom_vjp
def _perturb(x, ahead, _back):
    return x * ahead


_perturb.defvjp(lambda x, ahead, back: (x * ahead, back), lambda back, g: (g * back, None, None))


class Roundings:
    """Random roundings to unit roundoff `u`."""

    def __init__(self, u, seed):
        self.u, self.seed, self.count = u, seed, 0

    def _factors(self, shape):
        """Numbers about 1 that depend on place, seed and call: a hash that compiles quickly."""
        self.count += 1
        place = jnp.arange(np.prod(shape, dtype=np.int64), dtype=np.uint32).reshape(shape)
        mixed = (place + 1) * np.uint32(2654435761) + self.seed * np.uint32(40503) + np.uint32(self.count * 977)
        for _ in range(2):
            mixed = (mixed ^ (mixed >> 15)) * np.uint32(2246822519)
        return 1 + self.u * ((mixed ^ (mixed >> 13)).astype(np.float64) * 2.0**-31 - 1)

    def __call__(self, x):
        if not isinstance(x, (np.ndarray, jax.Array)) or x.dtype != np.float64:
            return x
        ahead, back = self._factors(x.shape), self._factors(x.shape)
        # Veltkamp's splitting: the part of x that has the bits of the type.
        split = lax.stop_gradient(x) * (1 / self.u + 1)
        is_exact = split - (split - x) == x
        return _perturb(x, jnp.where(is_exact, 1.0, ahead), back)


def forward(model: onnx.ModelProto, weights: dict, inputs: dict, rounded=lambda x: x):
    """The first output of `model`, with `weights` in place of initializers of their names."""
    values = {w.name: _wide(numpy_helper.to_array(w)) for w in model.graph.initializer}
    values |= {name: _wide(value) for name, value in inputs.items()} | weights
    values = {name: rounded(value) for name, value in values.items()} | {"": None}
    for node in model.graph.node:
        attributes = _attributes(node)
        if node.op_type == "Constant":
            values[node.output[0]] = _wide(numpy_helper.to_array(attributes["value"]))
            continue
        if node.op_type not in OPERATORS:
            raise NotImplementedError(f"{node.name}: {node.op_type}")
        results = OPERATORS[node.op_type](*(values[name] for name in node.input), **attributes)
        results = results if isinstance(results, (list, tuple)) else [results]
        values.update(zip(node.output, map(rounded, results)))
    return values[model.graph.output[0].name]


def mean_loss(kind: str, y, labels):
    """The mean that torch.nn.functional.cross_entropy and mse_loss define."""
    if kind == "mse":
        return jnp.mean((y - labels)**2)
    axis = 1 if y.ndim in (2, 4) else y.ndim - 1
    logs = jax.nn.log_softmax(y, axis)
    return -jnp.mean(jnp.take_along_axis(logs, jnp.expand_dims(labels, axis), axis))


class Reference:
    """The mean loss of a model as a function of the arrays `weights`."""

    def __init__(self, model: onnx.ModelProto, kind: str, weights: dict[str, np.ndarray]):
        self.weights = {name: _wide(w) for name, w in weights.items()}

        def loss(wide, inputs, labels, rounded=lambda x: x):
            return mean_loss(kind, forward(model, wide, inputs, rounded), _wide(labels))

        def sample(wide, inputs, labels, u, seed):
            return loss(wide, inputs, labels, Roundings(u, seed))

        self._exact = jax.jit(jax.value_and_grad(loss))
        self._sample = jax.jit(jax.value_and_grad(sample))

    def gradients(self, inputs: dict, labels: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
        """(loss, gradients) in float64."""
        return self._arrays(self._exact(self.weights, inputs, labels))

    def sample(self, inputs: dict, labels: np.ndarray, u: float, seed: int) -> tuple[float, dict[str, np.ndarray]]:
        """The same with random roundings to unit roundoff `u`."""
        return self._arrays(self._sample(self.weights, inputs, labels, u, np.uint32(seed)))

    @staticmethod
    def _arrays(results) -> tuple[float, dict[str, np.ndarray]]:
        value, found = results
        return float(value), {name: np.asarray(g) for name, g in found.items()}
