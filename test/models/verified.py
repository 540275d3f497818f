#===- verified.py - the models that tools/verify-models runs --------------===#
"""The table of verified models: where each comes from, its inputs, its judge."""

import dataclasses
import pathlib
from collections.abc import Callable

import numpy as np
import onnx
from onnx import numpy_helper

from ampctest import env

import catalogue
import filled
import inputs
import trained


@dataclasses.dataclass
class Model:
    """One row: how to get the file, its inputs, and how outputs are judged."""

    name: str
    path: Callable[[], pathlib.Path]
    feeds: Callable[[pathlib.Path], dict[str, np.ndarray]]
    # Input name -> static shape, for models with free dimensions.
    shapes: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    # Expected outputs that came with the model; ONNX Runtime is asked otherwise.
    expected: list[pathlib.Path] = dataclasses.field(default_factory=list)
    rtol: float = 1e-3
    # For trained models: the decision drawn from an output, compared exactly.
    decision: Callable[[np.ndarray], np.ndarray] | None = None
    quick: bool = False
    # Values inside exceed 65504, so that fp16 cannot compute the model: its
    # fp16 program must run, and the claim is checked instead of the outputs.
    leaves_fp16: bool = False


def largest_value(path: pathlib.Path, feeds: dict[str, np.ndarray]) -> float:
    """The largest finite magnitude of any float tensor inside a model, in fp32."""
    import onnxruntime

    model = onnx.load(path)
    outputs = {output.name for output in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in outputs:
                model.graph.output.append(onnx.ValueInfoProto(name=name))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           ["CPUExecutionProvider"])
    floats = [value for value in session.run(None, feeds)
              if value is not None and value.dtype == np.float32 and value.size]
    return max(float(np.abs(value).max()) for value in floats)


def _light(name: str, quick=False, rtol=1e-3, leaves_fp16=False) -> Model:
    path = filled.LIGHT / f"light_{name}.onnx"

    def ramp(path: pathlib.Path) -> dict[str, np.ndarray]:
        # ONNX's own runner feeds these models i / n.
        values = {}
        for value in inputs.real_inputs(onnx.load(path)):
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            n = int(np.prod(shape))
            values[value.name] = (np.arange(n).reshape(shape) / n).astype(np.float32)
        return values

    return Model(f"light-{name}", lambda: path, ramp, rtol=rtol, quick=quick,
                 leaves_fp16=leaves_fp16,
                 expected=[filled.LIGHT / f"light_{name}_output_0.pb"])


def _generated(name: str) -> Model:
    quick = "tiny" in name or name in ("mlp", "conv-bn", "resnet50", "bert-base", "unet-resize",
                                       "filled-squeezenet", "filled-shufflenet")
    return Model(name, lambda: catalogue.generate(name, env.BUILD / "models"),
                 inputs.random_inputs, quick=quick)


def _ocr(part: str, image, quick=False, **fields) -> Model:
    tensor = trained.image_tensor(image)
    return Model(f"ocr-{part}", lambda: trained.ocr_path(part), lambda _: {"x": tensor},
                 shapes={"x": list(tensor.shape)}, quick=quick, **fields)


def _best_class(scores: np.ndarray) -> np.ndarray:
    return scores.argmax(axis=-1)


def _magika() -> Model:
    # This project's own text, a real file of a known kind.
    source = env.ROOT / "tools" / "scripts" / "bootstrap.sh"
    features = trained.magika_features(source.read_bytes())
    return Model("magika", trained.magika_path, lambda _: {"bytes": features},
                 shapes={"bytes": [1, 2048]}, decision=_best_class, quick=True)


def models() -> list[Model]:
    rows = [_light(name, leaves_fp16=True) for name in ("bvlc_alexnet", "inception_v1", "resnet50",
                                                        "vgg19", "zfnet512")]
    rows += [_light("inception_v2"), _light("shufflenet"), _light("densenet121", rtol=2e-3),
             _light("squeezenet", quick=True, leaves_fp16=True)]
    rows += [_generated(name) for name in catalogue.GENERATED]
    rows += [
        _ocr("det", trained.render_page(), decision=lambda heat: heat > 0.3),
        _ocr("cls", trained.render_line(trained.TEXT, width=192), decision=_best_class,
             quick=True),
        # A line of which the network is sure at every step: where two letters tie,
        # no rounding keeps their order.
        _ocr("rec", trained.render_line("HELLO WORLD 2026", width=320), decision=_best_class),
        _magika(),
    ]
    return sorted(rows, key=lambda model: model.name)


def compile_arguments(name: str) -> list:
    """The path of a generated or trained model, and the shapes of its inputs."""
    if name in catalogue.GENERATED:
        return [catalogue.generate(name, env.BUILD / "models")]
    model = next(model for model in models() if model.name == name)
    shapes = ",".join(f"{key}:{'x'.join(map(str, dims))}" for key, dims in model.shapes.items())
    return [model.path(), *([f"--shapes={shapes}"] if shapes else [])]


def load_expected(model: Model) -> list[np.ndarray]:
    values = []
    for path in model.expected:
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        values.append(numpy_helper.to_array(tensor))
    return values
