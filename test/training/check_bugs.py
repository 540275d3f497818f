#!/usr/bin/env python3
#===- check_bugs.py - defects of mixed-precision training elsewhere --------===#
"""Small trainers that other frameworks have got wrong.

  test/training/check_bugs.py                    all
  test/training/check_bugs.py --filter='*scale*'
  test/training/check_bugs.py -v                 name those that pass

Each case names the public report it follows; its model is trained for a few
steps as a compiled program and compared with JAX in float64, with a state
machine, or with what has to stay as it was. The last line is `N passed, N failed`.
"""

import argparse
import fnmatch
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "models")]
from ampctest import env

env.enter("venv-training")

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import jax_reference
import models
import small
from ampctest.report import Tally
from builder import GraphBuilder
from check_updates import model_scale
from trainers import Compiled, TrainerError

CASES = {}
F16, BF16 = 2.0**-11, 2.0**-8


def case(name: str):
    """Register a function that returns what is wrong."""
    def register(run):
        CASES[name] = run
        return run

    return register


def network(seed=5, scale=1.0) -> onnx.ModelProto:
    model = small.mlp("mlp", batch=6, sizes=(5, 9, 4), seed=seed)
    for weight in model.graph.initializer if scale != 1 else []:
        weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * np.float32(scale), weight.name))
    return model


def batch(seed: int, scale=1.0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(seed)
    return {"input": np.float32(scale) * random.standard_normal((6, 5)).astype(np.float32)}, random.integers(0, 4, 6)


def spoilt(value: float, seed=0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    inputs, labels = batch(seed)
    inputs["input"][2, 3] = value
    return inputs, labels


def masters(trainer: Compiled, model: onnx.ModelProto) -> dict[str, np.ndarray]:
    return {name: trainer.read(name) for name in models.parameters(model)}


def moved(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> list[str]:
    return [name for name in before if not np.array_equal(before[name], after[name])]


def moments_of(model: onnx.ModelProto, *suffixes: str) -> list[str]:
    return [f"{name}.{suffix}" for name in models.parameters(model) for suffix in suffixes]


def mean_gradients(trainer: Compiled, model: onnx.ModelProto, labels: np.ndarray) -> dict[str, np.ndarray]:
    factor = labels.size / (float(trainer.read("train.scale")) * float(trainer.read("train.weight")))
    return {name: trainer.read(f"{name}.gradient") * factor for name in models.parameters(model)}


def differences(got: dict[str, np.ndarray], expected: dict[str, np.ndarray], allowed: float) -> list[str]:
    problems = []
    for name, value in expected.items():
        error = np.linalg.norm(got[name].astype(np.float64) - value) / max(np.linalg.norm(value), 1e-30)
        if not error <= allowed:
            problems.append(f"{name} is {error:.2g} off")
    return problems


#===----------------------------------------------------------------------===#
# Gradients and casts
#===----------------------------------------------------------------------===#


@case("B40 a bias gradient sums 16-bit rows in f32, and keeps none of them in f32 (tensorflow#28298)")
def bias_gradient() -> list[str]:
    rows, width = 5003, 7
    g = GraphBuilder("bias", 17, 3)
    x = g.node("Relu", g.linear(g.input("input", [rows, 5]), 5, width, std=0.5, name="hidden"))
    g.output("logits", g.gemm(x, width, 3, std=0.5))
    model = g.finish()
    random = np.random.default_rng(1)
    inputs = {"input": random.standard_normal((rows, 5)).astype(np.float32)}
    # All gradients of a bias have one sign: a sum in f16 would stop growing.
    labels = np.zeros(rows, np.int64)
    problems = []
    for amp, u in (("fp16", F16), ("bf16", BF16)):
        trainer = Compiled(model, amp)
        trainer.step(inputs, labels)
        weights = models.parameters(model)
        _, expected = jax_reference.Reference(model, models.CROSS_ENTROPY, weights).gradients(inputs, labels)
        problems += differences(mean_gradients(trainer, model, labels), expected, 4 * u)
        launches = trainer.launches("step")
        narrow = [line for line in launches if re.search(rf"tensor<{rows}x{width}xb?f16>", line)]
        wide = [line.strip() for line in launches if f"tensor<{rows}x{width}xf32>" in line]
        if wide or not narrow:
            problems.append(f"{amp}: the hidden layer in f32: {wide}")
    return problems


@case("B41 a step uses the weights that the last update wrote, cast anew (tensorflow PR 31178)")
def cast_after_update() -> list[str]:
    problems, model = [], network()
    for amp, u in (("fp16", F16), ("bf16", BF16)):
        trainer = Compiled(model, amp)
        losses = []
        for update in range(3):
            inputs, labels = batch(0)
            reference = jax_reference.Reference(model, models.CROSS_ENTROPY, masters(trainer, model))
            loss, expected = reference.gradients(inputs, labels)
            trainer.step(inputs, labels)
            losses.append(float(trainer.read("train.loss")) / float(trainer.read("train.weight")))
            if not abs(losses[-1] - loss) <= 8 * u * loss:
                problems.append(f"{amp}, update {update}: loss {losses[-1]} of weights that give {loss}")
            problems += differences(mean_gradients(trainer, model, labels), expected, 16 * u)
            trainer.apply(learning_rate=0.5)
        if not losses[2] < 0.9 * losses[0]:
            problems.append(f"{amp}: losses {losses}")
    return problems


@case("B42 a cast shared with a branch that stops gradients still hands them on (pytorch#112583)")
def shared_cast() -> list[str]:
    """Sign has no gradient; both products use the same 16-bit copy of the weight."""
    problems = []
    for order in ((0, 1), (1, 0)):
        g = GraphBuilder("shared", 17, 7)
        x, w = g.input("input", [6, 5]), g.weight("w", g.normal(5, 4))
        def stopped():
            return g.node("Sign", g.node("MatMul", x, w))
        def live():
            return g.node("MatMul", x, w)
        parts = [(stopped, live)[i]() for i in order]
        g.output("logits", g.node("Add", *parts))
        model = g.finish()
        inputs, labels = batch(0)
        _, expected = jax_reference.Reference(model, models.CROSS_ENTROPY, models.parameters(model)).gradients(
            inputs, labels)
        for amp, u in (("fp16", F16), ("bf16", BF16)):
            trainer = Compiled(model, amp)
            trainer.step(inputs, labels)
            problems += differences(mean_gradients(trainer, model, labels), expected, 8 * u)
    return problems


@case("B55 BatchNormalization of opsets 14 and 15 keeps f32 statistics beside f16 data (pytorch#72494)")
def batch_norm_opsets() -> list[str]:
    problems = []
    for opset in (9, 14, 15):
        model = models.resnet_basic("bn", batch=6, size=5, widths=(4,), classes=4)
        model.opset_import[0].version = opset
        onnx.checker.check_model(model)
        statistics = {name for node in model.graph.node if node.op_type == "BatchNormalization"
                      for name in node.input[3:5]}
        trainer = Compiled(model, "fp16")
        for name in sorted(statistics):
            if not trainer.has(name) or trainer.read(name).dtype != np.float32:
                problems.append(f"opset {opset}: {name} is no state of f32")
        random = np.random.default_rng(0)
        inputs = {"input": random.standard_normal((6, 3, 5, 5)).astype(np.float32)}
        labels = random.integers(0, 4, 6)
        before = {name: trainer.read(name) for name in statistics}
        trainer.step(inputs, labels)
        if len(moved(before, {name: trainer.read(name) for name in statistics})) != len(statistics):
            problems.append(f"opset {opset}: running statistics stay")
        _, expected = jax_reference.Reference(model, models.CROSS_ENTROPY, models.parameters(model)).gradients(
            inputs, labels)
        problems += differences(mean_gradients(trainer, model, labels), expected, 32 * F16)
    return problems


@case("B56 a 16-bit initializer is trained through an f32 master of its exact value (pytorch#74739)")
def half_parameters() -> list[str]:
    problems = []
    for kind, dtype, u in ((TensorProto.FLOAT16, np.float16, F16), (TensorProto.BFLOAT16, None, BF16)):
        dtype = dtype or helper.tensor_dtype_to_np_dtype(kind)
        random = np.random.default_rng(0)
        weight = random.standard_normal((5, 4)).astype(dtype)
        nodes = [helper.make_node("Cast", ["w"], ["wide"], to=TensorProto.FLOAT),
                 helper.make_node("MatMul", ["input", "wide"], ["logits"], name="/MatMul")]
        graph = helper.make_graph(
            nodes, "half", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [6, 5])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [6, 4])],
            [numpy_helper.from_array(weight, "w")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        trainer = Compiled(model)
        if trainer.read("w").dtype != np.float32 or not np.array_equal(trainer.read("w"), weight.astype(np.float32)):
            problems.append(f"{dtype}: the state of w is {trainer.read('w').dtype}")
        inputs, labels = batch(0)
        trainer.step(inputs, labels)
        _, expected = jax_reference.Reference(model, models.CROSS_ENTROPY, {"w": weight}).gradients(inputs, labels)
        problems += differences(mean_gradients(trainer, model, labels), expected, 4 * u)
        # An update far below the spacing of the 16-bit type is not lost.
        trainer.apply(learning_rate=1e-6)
        if np.array_equal(trainer.read("w"), weight.astype(np.float32)):
            problems.append(f"{dtype}: a small update is lost")
    return problems


#===----------------------------------------------------------------------===#
# The scale
#===----------------------------------------------------------------------===#


def follow_scale(trainer: Compiled, start: float, sequence: list[bool], data, bad, interval: int) -> list[str]:
    """Updates with and without overflow; scale and tracker as the state machine has them."""
    trainer.write("train.scale", start)
    states = model_scale(np.float32(start), sequence, 2.0, 0.5, interval, 2.0**-24)
    for i, (found, (scale, tracker)) in enumerate(zip(sequence, states)):
        trainer.step(*(bad if found else data))
        trainer.apply(learning_rate=0.0, growth_interval=np.int32(interval))
        got = trainer.read("train.scale"), trainer.read("train.tracker")
        if got != (scale, tracker):
            return [f"update {i}: scale and tracker {got}, not {scale}, {tracker}"]
    return []


@case("B45 the scale does not grow to infinity (pytorch#98828, flax#2547)")
def growth_guard() -> list[str]:
    """Gradients so small that no finite scale makes them overflow."""
    trainer = Compiled(network(scale=1e-3))
    data = batch(0, 1e-30)[0], batch(0)[1]
    # The bias of the head has the gradient p - y, which overflows at 2^127
    # where samples add up: weight one sample, and none of its classes fully.
    data[1][:5] = -100
    trainer.write("train.tracker", 0)
    return follow_scale(trainer, 1.0, [False] * 150, data, data, 1)


@case("B46 a constant NaN ends at the floor of the scale, and leaves it again (pytorch#99640)")
def floor() -> list[str]:
    trainer, model = Compiled(network()), network()
    before = masters(trainer, model)
    sequence = [True] * 200 + [False] * 3
    problems = follow_scale(trainer, 65536.0, sequence, batch(0), spoilt(math.nan), 2)
    if moved(before, masters(trainer, model)):
        problems.append("parameters moved")
    if not problems and trainer.read("train.skipped") != 200:
        problems.append(f"skipped {trainer.read('train.skipped')} updates")
    return problems


@case("B46 a gradient that overflows when it is unscaled is skipped (pytorch#96755)")
def overflow_in_unscaling() -> list[str]:
    trainer, model = Compiled(network()), network()
    trainer.write("train.scale", 2.0**-24)
    trainer.step(*batch(0))
    trainer.write("fc1.bias.gradient", 1e35)
    before = masters(trainer, model)
    trainer.apply()
    after = masters(trainer, model)
    if not all(np.isfinite(value).all() for value in after.values()):
        return ["an infinite number reached a parameter"]
    return [f"{', '.join(moved(before, after))} moved"] if moved(before, after) else []


@case("B47 gradients of bf16 networks are checked and unscaled too (pytorch#127176)")
def bf16_scaler() -> list[str]:
    problems = follow_scale(Compiled(network(), "bf16"), 1024.0, [False, True, False, False, False, True],
                            batch(0), spoilt(math.inf), 2)
    results = []
    for scale in (1.0, 65536.0):
        trainer = Compiled(network(), "bf16")
        trainer.write("train.scale", scale)
        trainer.step(*batch(0))
        trainer.apply()
        results.append(masters(trainer, network()))
    # A power of two scales every bf16 exactly.
    return problems + [f"{name} depends on the scale" for name in results[0]
                       if not np.allclose(results[0][name], results[1][name], rtol=1e-6, atol=1e-7)]


#===----------------------------------------------------------------------===#
# What a skipped update leaves alone
#===----------------------------------------------------------------------===#


@case("B48 clipping does not hide an overflow from the optimizer (pytorch#95781)")
def clipped_overflow() -> list[str]:
    problems = []
    for optimizer, moments in (("momentum", ["momentum_buffer"]), ("adamw", ["mean", "square"])):
        for value in (math.inf, -math.inf, math.nan):
            trainer, model = Compiled(network(), optimizer=optimizer), network()
            trainer.step(*batch(0))
            trainer.apply(max_norm=1.0, momentum=0.9)
            names = [*models.parameters(model), *moments_of(model, *moments)]
            before = {name: trainer.read(name) for name in names}
            trainer.step(*spoilt(value))
            trainer.apply(max_norm=1.0, max_value=0.5, momentum=0.9)
            problems += [f"{optimizer}, {value}: {name} moved"
                         for name in moved(before, {name: trainer.read(name) for name in names})]
    return problems


@case("B49 a skip is counted, and counters of the optimizer stay (accelerate#4242)")
def skip_is_told() -> list[str]:
    """After a skip, Adam's next step is its first: lr * g / (|g| + eps)."""
    trainer, model = Compiled(network(), optimizer="adam"), network()
    trainer.step(*spoilt(math.inf))
    trainer.apply()
    counts = [int(trainer.read(name)) for name in ("train.taken", "train.skipped")]
    problems = [] if counts == [0, 1] else [f"taken and skipped are {counts}"]
    before = masters(trainer, model)
    inputs, labels = batch(1)
    _, gradients = jax_reference.Reference(model, models.CROSS_ENTROPY, before).gradients(inputs, labels)
    trainer.step(inputs, labels)
    trainer.apply(learning_rate=0.01)
    expected = {name: -0.01 * g / (np.abs(g) + 1e-8) for name, g in gradients.items()}
    return problems + differences({name: trainer.read(name) - value for name, value in before.items()}, expected, 1e-4)


@case("B50 gradients are unscaled once, however often an update is asked for (transformers#23905)")
def unscaled_once() -> list[str]:
    """An update without a micro-step before it changes nothing."""
    trainer, model = Compiled(network(), optimizer="sgd"), network()
    inputs, labels = batch(1)
    weights = masters(trainer, model)
    _, gradients = jax_reference.Reference(model, models.CROSS_ENTROPY, weights).gradients(inputs, labels)
    trainer.step(inputs, labels)
    trainer.apply(learning_rate=1.0)
    once = masters(trainer, model)
    problems = differences({name: weights[name] - once[name] for name in weights}, gradients, 1e-4)
    scale = trainer.read("train.scale")
    trainer.apply(learning_rate=1.0, momentum=0.9)
    problems += [f"{name} moved in an update of nothing" for name in moved(once, masters(trainer, model))]
    if trainer.read("train.scale") != scale:
        problems.append("an update of nothing lowers the scale")
    return problems


@case("B50 a window whose samples all have weight 0 changes nothing")
def weightless() -> list[str]:
    trainer, model = Compiled(network(), optimizer="momentum"), network()
    names = [*models.parameters(model), *moments_of(model, "momentum_buffer"), "train.scale", "train.skipped"]
    trainer.step(*batch(0))
    trainer.apply(momentum=0.9)
    before = {name: trainer.read(name) for name in names}
    inputs, labels = batch(1)
    trainer.step(inputs, np.full_like(labels, -100))
    trainer.apply(learning_rate=1.0, momentum=0.9)
    return [f"{name} moved" for name in moved(before, {name: trainer.read(name) for name in names})]


@case("B51 the norm that is clipped is that of unscaled gradients (milesial/Pytorch-UNet#468)")
def clip_unscaled() -> list[str]:
    problems, model = [], network()
    inputs, labels = batch(2, 4.0)
    _, gradients = jax_reference.Reference(model, models.CROSS_ENTROPY, models.parameters(model)).gradients(
        inputs, labels)
    norm = math.sqrt(sum(float(np.sum(g * g)) for g in gradients.values()))
    # A bound below the norm clips; one above must not, whatever the scale is.
    for bound in (norm / 2, norm * 2):
        factor = min(1.0, bound / (norm + 1e-6))
        for scale in (1.0, 65536.0):
            trainer = Compiled(model)
            trainer.write("train.scale", scale)
            before = masters(trainer, model)
            trainer.step(inputs, labels)
            trainer.apply(learning_rate=1.0, max_norm=bound)
            problems += [f"bound {bound:.3g}, scale {scale}: {problem}" for problem in differences(
                {name: value - trainer.read(name) for name, value in before.items()},
                {name: factor * g for name, g in gradients.items()}, 1e-4)]
    return problems


@case("B52 a model of which nothing is trained is refused (WeatherGenerator#356)")
def all_frozen() -> list[str]:
    try:
        Compiled(network(), "off", "sgd", "--freeze=*")
    except TrainerError as error:
        return [] if "nothing is trained" in str(error) else [str(error)]
    return ["compiled"]


@case("B53 a skipped window leaves nothing in the sums (PaddlePaddle#67895)")
def skip_clears() -> list[str]:
    trainer, model = Compiled(network()), network()
    trainer.write("train.scale", 1024.0)
    trainer.step(*spoilt(math.nan))
    trainer.step(*batch(1))
    trainer.apply()
    problems = [] if trainer.read("train.skipped") == 1 else ["the window was not skipped"]
    weights = masters(trainer, model)
    expected = {name: np.zeros(value.shape) for name, value in weights.items()}
    for seed in (2, 3):
        inputs, labels = batch(seed)
        _, gradients = jax_reference.Reference(model, models.CROSS_ENTROPY, weights).gradients(inputs, labels)
        expected = {name: expected[name] + 0.5 * g for name, g in gradients.items()}
        trainer.step(inputs, labels)
    trainer.apply(learning_rate=1.0)
    if trainer.read("train.scale") != 512.0:
        problems.append(f"scale {trainer.read('train.scale')} after one skip at 1024")
    return problems + differences({name: value - trainer.read(name) for name, value in weights.items()}, expected, 1e-4)


@case("B54 summed gradients carry an overflow to every rank, which then agree (pytorch#136009)")
def ranks_agree() -> list[str]:
    """Two ranks that add their sums of gradients, loss and weight before the update."""
    ranks = [Compiled(network(), optimizer="momentum") for _ in range(2)]
    problems, model = [], network()
    summed = [*(f"{name}.gradient" for name in models.parameters(model)), "train.loss", "train.weight"]
    for window in range(3):
        ranks[0].step(*(spoilt(math.inf) if window == 1 else batch(window)))
        ranks[1].step(*batch(10 + window))
        for name in summed:
            total = ranks[0].read(name) + ranks[1].read(name)
            for rank in ranks:
                rank.write(name, total)
        for rank in ranks:
            rank.apply(growth_interval=np.int32(2), momentum=0.9)
        states = [*models.parameters(model), "train.scale", "train.tracker", "train.taken", "train.skipped"]
        problems += [f"window {window}: ranks differ in {name}" for name in states
                     if not np.array_equal(ranks[0].read(name), ranks[1].read(name))]
    if ranks[1].read("train.skipped") != 1:
        problems.append(f"{ranks[1].read('train.skipped')} windows are skipped")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="*", metavar="GLOB")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    tally = Tally()
    for name, run in CASES.items():
        if not fnmatch.fnmatchcase(name, args.filter):
            continue
        try:
            problems = run()
        except (TrainerError, KeyError) as error:
            problems = [f"{type(error).__name__}: {error}"]
        tally.report(name, problems, verbose=args.verbose)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
