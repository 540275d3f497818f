#===- reference.py - what a graph computes, and how exactly that is known --===#
"""Answers of ONNX Runtime, with the error that rounding alone explains."""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from ampctest import tensors

# Relative size of one rounding, and the least error that is allowed.
_NOISE = {"fp32": 2.0**-22, "fp16": 2.0**-11, "bf16": 2.0**-8}
_LEAST = {"fp32": 2e-6, "fp16": 1e-3, "bf16": 1e-2}
# Beyond this relative error a result says nothing.
_USELESS = {"fp32": 1e-2, "fp16": 0.05, "bf16": 0.15}
_FACTOR = 6
_RUNS = 3


class Answer:
    """Outputs in order, and the relative Frobenius error allowed to each of
    them; `bound` is None where the outputs cannot be compared."""

    def __init__(self, outputs, bound):
        self.outputs, self.bound = outputs, bound


def execute(model: onnx.ModelProto, feeds: dict) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # As written: its own fusions have tolerances of their own.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           ["CPUExecutionProvider"])
    return session.run(None, feeds)


def with_noise(model: onnx.ModelProto, shapes: dict, size: float, seed: int) -> onnx.ModelProto:
    """The model with every float32 value multiplied by 1 + noise."""
    rng = np.random.default_rng(seed)
    noisy = onnx.ModelProto()
    noisy.CopyFrom(model)
    graph = noisy.graph
    nodes = list(graph.node)
    del graph.node[:]
    renamed = {}

    def add_noise(name: str, fresh: str) -> None:
        factor = 1 + size * rng.choice([-1.0, 1.0], shapes[name]).astype(np.float32)
        graph.initializer.append(numpy_helper.from_array(factor.astype(np.float32), f"{fresh}_by"))
        graph.node.append(helper.make_node("Mul", [name, f"{fresh}_by"], [fresh]))

    for value in model.graph.input:
        renamed[value.name] = f"{value.name}_noisy"
        add_noise(value.name, renamed[value.name])
    outputs = {value.name for value in model.graph.output}
    for node in nodes:
        for i, name in enumerate(node.input):
            node.input[i] = renamed.get(name, name)
        graph.node.append(node)
        for name in node.output:
            # Outputs keep their names, so that theirs stands before the node's.
            if name in shapes and name not in outputs:
                renamed[name] = f"{name}_noisy"
                add_noise(name, renamed[name])
    return noisy


def float_shapes(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """Name -> shape of each float32 input and result."""
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    graph = inferred.graph
    return {value.name: tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
            for value in [*graph.input, *graph.value_info, *graph.output]
            if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT}


def evaluate(model: onnx.ModelProto, feeds: dict, mode: str) -> Answer:
    mode = mode.rsplit("-", 1)[-1]
    outputs = execute(model, feeds)
    worst = _LEAST[mode]
    floats = [o for o in outputs if np.issubdtype(o.dtype, np.floating)]
    if any(not np.isfinite(o).all() or np.abs(o).max(initial=0) > 1e6 for o in floats):
        return Answer(outputs, None)
    shapes = float_shapes(model)
    for seed in range(_RUNS):
        noisy = execute(with_noise(model, shapes, _NOISE[mode], seed), feeds)
        for clean, other in zip(outputs, noisy):
            if np.issubdtype(clean.dtype, np.floating):
                worst = max(worst, _FACTOR * tensors.frobenius_error(other, clean))
            elif not np.array_equal(clean, other):
                return Answer(outputs, None)
    return Answer(outputs, worst if worst <= _USELESS[mode] else None)


def write(folder: pathlib.Path, model: onnx.ModelProto, feeds: dict, answer: Answer) -> None:
    """The model and its data in the layout that `ampc verify` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    for index, value in enumerate(model.graph.input):
        tensors.save_tensor(folder / f"input_{index}.pb", feeds[value.name], value.name)
    for index, (value, array) in enumerate(zip(model.graph.output, answer.outputs)):
        tensors.save_tensor(folder / f"output_{index}.pb", array, value.name)
