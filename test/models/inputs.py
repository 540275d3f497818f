#===- inputs.py - seeded inputs for a model -------------------------------===#
"""Inputs made from the declared types of a model's inputs."""

import pathlib

import numpy as np
import onnx
from onnx import helper

# Integer inputs are indices into tables; every generated model accepts ids
# below this one. Masks and types are known by their names.
_SMALLEST_TABLE = 1000


def real_inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """The inputs of the graph that are not initializers."""
    weights = {weight.name for weight in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in weights]


def random_inputs(path: pathlib.Path, seed: int = 0, shapes=None) -> dict[str, np.ndarray]:
    """Name -> array for each input; `shapes` binds those that are not static."""
    model = onnx.load(path, load_external_data=False)
    rng = np.random.default_rng(seed)
    values = {}
    for value in real_inputs(model):
        tensor = value.type.tensor_type
        shape = (shapes or {}).get(value.name)
        shape = shape or [dim.dim_value for dim in tensor.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        values[value.name] = _random(value.name, shape, dtype, rng)
    return values


def _random(name: str, shape, dtype, rng) -> np.ndarray:
    if np.issubdtype(dtype, np.floating):
        return rng.standard_normal(shape).astype(dtype)
    if "mask" in name:
        # A real sequence followed by padding, a fifth of it.
        mask = np.ones(shape, dtype)
        mask[..., shape[-1] - shape[-1] // 5:] = 0
        return mask
    if "type" in name:
        types = np.zeros(shape, dtype)
        types[..., shape[-1] // 2:] = 1
        return types
    return rng.integers(0, _SMALLEST_TABLE, shape).astype(dtype)
