#!/usr/bin/env python3
#===- check_dropout.py - dropout in a training step ------------------------===#
"""Compare steps of a model with dropouts with a model in NumPy that draws alike.

  test/training/check_dropout.py

A network of two dropouts of one ratio each is trained by the reference
evaluator. A Philox4x32-10 in NumPy draws the same elements from the states
train.seed, train.taken, train.skipped and train.micro; loss and gradients are
within 1e-5 of float64, for several values of each state, in f32 and (within the
type's bound) in bf16, and evaluation and prediction drop nothing. The last line
is `N passed, N failed`.
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "training")]
from ampctest import env

env.enter()

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ampctest.report import Tally
from check_steps import Trainer

BATCH, INPUTS, HIDDEN, CLASSES = 6, 5, 16, 3
RATIOS = (0.25, 0.6)
BOUNDS = {"off": 1e-5, "bf16": 3e-2}
# (seed, taken, skipped, micro)
STATES = [(0, 0, 0, 0), (7, 0, 0, 0), (2**40 + 7, 0, 0, 0), (7, 3, 0, 0), (7, 2, 1, 0), (7, 3, 0, 1), (-5, 100, 7, 2)]


def philox(counter: list[np.ndarray], key: list[int]) -> np.ndarray:
    """The first word, for arrays of counters."""
    mask = np.uint64(0xFFFFFFFF)
    c = [np.asarray(word, np.uint64) & mask for word in counter]
    k = [np.uint64(word & 0xFFFFFFFF) for word in key]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(second >> np.uint64(32)) ^ c[1] ^ k[0], second & mask, (first >> np.uint64(32)) ^ c[3] ^ k[1], first & mask]
        k = [(k[0] + np.uint64(0x9E3779B9)) & mask, (k[1] + np.uint64(0xBB67AE85)) & mask]
    return c[0]


def kept(shape, stream: int, ratio: float, state) -> np.ndarray:
    seed, taken, skipped, micro = state
    index = np.arange(np.prod(shape), dtype=np.uint64)
    words = philox([index, np.full_like(index, stream), np.full_like(index, micro), np.full_like(index, taken + skipped)],
                   [seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF])
    return (words < np.round((1 - float(np.float32(ratio))) * 2.0**32)).reshape(shape)


def make_model(weights) -> onnx.ModelProto:
    nodes = [helper.make_node("MatMul", ["x", "w0"], ["h"]), helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("Dropout", ["r", "p0", "training"], ["d", "unread"]),
             helper.make_node("MatMul", ["d", "w1"], ["z"]), helper.make_node("Dropout", ["z", "p1"], ["logits"])]
    numbers = [numpy_helper.from_array(np.float32(ratio), f"p{i}") for i, ratio in enumerate(RATIOS)]
    numbers.append(numpy_helper.from_array(np.bool_(True), "training"))
    graph = helper.make_graph(
        nodes, "dropouts", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [BATCH, INPUTS])],
        [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, [BATCH, CLASSES])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()] + numbers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


class DropoutTrainer(Trainer):
    """Made by `ampc --train`, which keeps dropouts."""

    def __init__(self, folder: pathlib.Path, model: onnx.ModelProto, amp: str):
        self.folder = folder
        onnx.save(model, folder / "model.onnx")
        subprocess.run([env.BUILD / "bin" / "ampc", folder / "model.onnx", "--train", "--loss=softmax-cross-entropy",
                        f"--amp={amp}", "--compile-to=training", "--elide-above=1G", "--quiet", "-o",
                        folder / "trainer.mlir"], check=True, capture_output=True)
        self.load()


def step(weights, x, labels, masks) -> tuple[float, dict[str, np.ndarray]]:
    """(summed loss, its gradients)"""
    scales = [mask / (1 - float(np.float32(ratio))) for mask, ratio in zip(masks, RATIOS)]
    hidden = x @ weights["w0"]
    dropped = np.maximum(hidden, 0) * scales[0]
    logits = dropped @ weights["w1"] * scales[1]
    logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    g = (np.exp(logs) - np.eye(CLASSES)[labels]) * scales[1]
    back = (g @ weights["w1"].T) * scales[0] * (hidden > 0)
    return -logs[np.arange(BATCH), labels].sum(), {"w1": dropped.T @ g, "w0": x.T @ back}


def check(amp: str) -> list[str]:
    random = np.random.default_rng(4)
    weights = {"w0": random.normal(size=(INPUTS, HIDDEN)).astype(np.float32),
               "w1": random.normal(size=(HIDDEN, CLASSES)).astype(np.float32)}
    exact = {name: value.astype(np.float64) for name, value in weights.items()}
    x, labels = random.normal(size=(BATCH, INPUTS)).astype(np.float32), random.integers(0, CLASSES, BATCH)
    problems = []

    def compare(what, got, expected) -> None:
        error = np.linalg.norm(got - expected) / np.linalg.norm(expected)
        if not error <= BOUNDS[amp]:
            problems.append(f"{what} is {error:.2g} off")

    with tempfile.TemporaryDirectory() as folder:
        trainer = DropoutTrainer(pathlib.Path(folder), make_model(weights), amp)
        for name, value in weights.items():
            trainer.view(name)[...] = value
        trainer.refresh()
        whole = {"x": x, "labels": labels, "samples": np.int64(BATCH)}
        ones = [np.ones((BATCH, HIDDEN)), np.ones((BATCH, CLASSES))]
        for state in STATES:
            for name, value in zip(("seed", "taken", "skipped", "micro"), state):
                trainer.memory[f"train.{name}"][...] = value
            for name in ("train.loss", "train.weight", "gradients"):
                trainer.memory[name][...] = 0
            trainer.run("step", whole)
            masks = [kept(part.shape, i, RATIOS[i], state) for i, part in enumerate(ones)]
            loss, gradients = step(exact, x.astype(np.float64), labels, masks)
            compare(f"{state}: loss", trainer.memory["train.loss"], loss)
            for name, gradient in gradients.items():
                # The step is seeded for the mean over the batch, times the scale.
                factor = BATCH / float(trainer.memory["train.scale"])
                compare(f"{state}: gradient of {name}", trainer.view(f"{name}.gradient") * factor, gradient)
        logits = np.maximum(x.astype(np.float64) @ exact["w0"], 0) @ exact["w1"]
        compare("predict: logits", trainer.run("predict", {"x": x})["logits"], logits)
        logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        compare("eval: loss", trainer.run("eval", whole)["loss"], -logs[np.arange(BATCH), labels].sum())
    return problems


def main() -> int:
    tally = Tally()
    for amp in BOUNDS:
        tally.report(amp, check(amp))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
