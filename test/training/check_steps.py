#!/usr/bin/env python3
#===- check_steps.py - whole training steps --------------------------------===#
"""Run the functions of a trainer and compare them with a model in NumPy.

  test/training/check_steps.py

A perceptron of two layers is imported, given a loss and an optimizer, and its
step and update are run by the reference evaluator: three updates of two
micro-batches each, of which one counts only in part, one update with gradients
that overflow; then evaluation and prediction. In f32, the loss, the gradient
norm and all parameters are within 1e-4 of a float64 model written by hand, for
each optimizer; the skipped update leaves every parameter as it was and halves
the scale. Under bf16 and fp16 they stay within the type's bound. The last line
is `N passed, N failed`.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "models")]
from ampctest import env

env.enter()

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ampctest.report import Tally

BATCH, INPUTS, HIDDEN, CLASSES = 6, 5, 8, 3
NUMBERS = {"learning_rate": 0.05, "weight_decay": 0.01, "max_norm": 0.4, "growth_factor": 2.0, "backoff_factor": 0.5,
           "scale_floor": 2.0**-24, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "momentum": 0.9,
           "max_value": 0.0, "rate_decay": 0.3}
GROWTH_INTERVAL = 2
BOUNDS = {"off": 1e-4, "fp16": 5e-3, "bf16": 3e-2}
# NumPy knows no bf16: two raw bytes.
DTYPES = {"f16": np.float16, "bf16": np.dtype("V2"), "f32": np.float32, "i32": np.int32, "i64": np.int64, "i1": np.bool_}


def perceptron(parameters: dict[str, np.ndarray]) -> onnx.ModelProto:
    nodes = [helper.make_node("Gemm", ["x", "w0", "b0"], ["h"]), helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("Gemm", ["r", "w1", "b1"], ["logits"], transB=1)]
    graph = helper.make_graph(
        nodes, "perceptron", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [BATCH, INPUTS])],
        [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, [BATCH, CLASSES])],
        [numpy_helper.from_array(value, name) for name, value in parameters.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


class Reference:
    """The same in float64, written by hand."""

    def __init__(self, parameters, optimizer: str):
        self.w = {name: value.astype(np.float64) for name, value in parameters.items()}
        self.first = {name: np.zeros_like(value) for name, value in self.w.items()}
        self.second = {name: np.zeros_like(value) for name, value in self.w.items()}
        self.optimizer, self.taken = optimizer, 0
        self.start()

    def start(self) -> None:
        self.sums = {name: np.zeros_like(value) for name, value in self.w.items()}
        self.loss = self.weight = 0.0

    def logits(self, x) -> np.ndarray:
        w = self.w
        return np.maximum(x @ w["w0"] + w["b0"], 0) @ w["w1"].T + w["b1"]

    def evaluate(self, x, labels, samples: int) -> dict[str, float]:
        logits = self.logits(x)
        logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        counts = (labels != -100) & (np.arange(BATCH) < samples)
        return {"loss": -np.sum(logs[np.arange(BATCH), np.where(counts, labels, 0)] * counts),
                "loss_weight": counts.sum(), "correct": np.sum(counts & (logits.argmax(1) == labels)),
                "count": counts.sum()}

    def step(self, x, labels, samples: int) -> None:
        w = self.w
        hidden = x @ w["w0"] + w["b0"]
        active = np.maximum(hidden, 0)
        logits = active @ w["w1"].T + w["b1"]
        logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        counts = (labels != -100) & (np.arange(BATCH) < samples)
        chosen = np.where(counts, labels, 0)
        self.loss -= np.sum(np.where(counts, logs[np.arange(BATCH), chosen], 0))
        self.weight += counts.sum()
        g = (np.exp(logs) - np.eye(CLASSES)[chosen]) * counts[:, None]
        back = (g @ w["w1"]) * (hidden > 0)
        for name, gradient in (("w1", g.T @ active), ("b1", g.sum(0)), ("w0", x.T @ back), ("b0", back.sum(0))):
            self.sums[name] += gradient

    def apply(self) -> tuple[float, float]:
        n = NUMBERS
        gradients = {name: value / self.weight for name, value in self.sums.items()}
        norm = np.sqrt(sum(np.sum(g * g) for g in gradients.values()))
        loss, clip = self.loss / self.weight, min(1, n["max_norm"] / (norm + 1e-6))
        self.taken += 1
        for name, g in gradients.items():
            g, w = g * clip, self.w[name]
            if self.optimizer in ("sgd", "momentum", "nesterov"):
                g = g + n["weight_decay"] * w
                momentum = 0 if self.optimizer == "sgd" else n["momentum"]
                self.first[name] = momentum * self.first[name] + g
                move = g + n["momentum"] * self.first[name] if self.optimizer == "nesterov" else self.first[name]
                self.w[name] = w - n["learning_rate"] * move
                continue
            if self.optimizer == "adagrad":
                g = g + n["weight_decay"] * w
                self.second[name] = self.second[name] + g * g
                rate = n["learning_rate"] / (1 + (self.taken - 1) * n["rate_decay"])
                self.w[name] = w - rate * g / (np.sqrt(self.second[name]) + n["epsilon"])
                continue
            if self.optimizer == "adamw":
                w = w * (1 - n["learning_rate"] * n["weight_decay"])
            else:
                g = g + n["weight_decay"] * w
            self.first[name] = n["beta1"] * self.first[name] + (1 - n["beta1"]) * g
            self.second[name] = n["beta2"] * self.second[name] + (1 - n["beta2"]) * g * g
            if self.optimizer == "adam-epsilon-hat":
                # Adam of ONNX's operators, which counts the steps before.
                count, rate = self.taken - 1, n["learning_rate"]
                if count > 0:
                    rate *= np.sqrt(1 - n["beta2"]**count) / (1 - n["beta1"]**count)
                self.w[name] = w - rate * self.first[name] / (np.sqrt(self.second[name]) + n["epsilon"])
                continue
            mean = self.first[name] / (1 - n["beta1"]**self.taken)
            root = np.sqrt(self.second[name] / (1 - n["beta2"]**self.taken))
            self.w[name] = w - n["learning_rate"] * mean / (root + n["epsilon"])
        self.start()
        return loss, norm


class Trainer:
    """The functions of a trainer, run by the evaluator on state kept here."""

    def __init__(self, folder: pathlib.Path, model: onnx.ModelProto, amp: str, optimizer: str):
        self.folder = folder
        onnx.save(model, folder / "model.onnx")
        subprocess.run([env.BUILD / "bin" / "ampc", folder / "model.onnx", "--compile-to=import", "--emit=mlir",
                        "--elide-above=1G", "-o", folder / "import.mlir"], check=True, capture_output=True)
        options = f"amp={amp} training optimizer={optimizer}"
        subprocess.run([env.BUILD / "bin" / "ampc-opt", folder / "import.mlir", "--ampc-training-entry-pipeline",
                        f"--ampc-graph-pipeline={options}", f"--ampc-precision-pipeline={options}",
                        f"--ampc-training-pipeline={options}", "-o", folder / "trainer.mlir"], check=True)
        self.load()

    def load(self) -> None:
        """Reads the states and signatures of the trainer in the folder."""
        text = (self.folder / "trainer.mlir").read_text()
        assert "train.check" not in text and "train.adam" not in text
        self.places = {name: (shape, arena, int(offset)) for name, shape, arena, offset in re.findall(
            r"train\.state (?:\w+ )?@\"?([\w.]+)\"? : tensor<([^>]*)> in @\"?([\w.]+)\"? at (\d+)", text)}
        self.memory = {}
        for name, shape in re.findall(r"train\.arena @\"?([\w.]+)\"? : tensor<([^>]*)>", text):
            self.memory[name] = self.zeros(shape)
        for name, shape in re.findall(r"train\.state (?:\w+ )?@\"?([\w.]+)\"? : tensor<([^>]*)>(?! in @)", text):
            self.memory[name] = self.zeros(shape)
        self.memory["train.scale"] = np.array(1024.0, np.float32)
        self.functions = {}
        for name, arguments, results in re.findall(
                r"func\.func @(\w+)\((.*?)\) -> \((.*?)\) (?:attributes \{.*?\} )?\{\n", text):
            self.functions[name] = (self.split(arguments), self.split(results))

    @staticmethod
    def zeros(shape: str) -> np.ndarray:
        *sizes, kind = shape.split("x")
        return np.zeros([int(size) for size in sizes], DTYPES[kind])

    @staticmethod
    def split(signature: str) -> list[tuple[str, str]]:
        """(name, state) of each argument or result."""
        parts = []
        for attributes in re.findall(r"tensor<[^>]*>(?: \{(.*?)\})?", signature):
            name = re.search(r'amp\.name = "([^"]*)"', attributes)
            state = re.search(r'train\.state = @"?([\w.]+)"?', attributes)
            parts.append((name.group(1) if name else "", state.group(1) if state else ""))
        return parts

    def view(self, state: str) -> np.ndarray:
        if state in self.memory:
            return self.memory[state]
        shape, arena, offset = self.places[state]
        sizes = [int(size) for size in shape.split("x")[:-1]]
        return self.memory[arena][offset:offset + int(np.prod(sizes))].reshape(sizes)

    def refresh(self) -> None:
        """Bring parameters that were written from outside into their copies."""
        if "refresh" in self.functions:
            self.run("refresh", {})

    def run(self, function: str, inputs: dict) -> dict:
        arguments, results = self.functions[function]
        command = [env.BUILD / "bin" / "ampc-eval", self.folder / "trainer.mlir", f"--function={function}",
                   f"--output-dir={self.folder}", "--print-limit=0"]
        for i, (name, state) in enumerate(arguments):
            path = self.folder / f"in{i}.npy"
            np.save(path, np.asarray(self.view(state) if state else inputs[name], order="C"))
            command.append(f"--input={path}")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        named = {}
        for i, (name, state) in enumerate(results):
            value = np.load(self.folder / f"{i}.npy")
            if state:
                self.view(state)[...] = value
            else:
                named[name] = value
        return named


def check(tally: Tally, amp: str, optimizer: str) -> None:
    random = np.random.default_rng(3)
    parameters = {"w0": random.normal(size=(INPUTS, HIDDEN)).astype(np.float32),
                  "b0": random.normal(size=HIDDEN).astype(np.float32),
                  "w1": random.normal(size=(CLASSES, HIDDEN)).astype(np.float32),
                  "b1": random.normal(size=CLASSES).astype(np.float32)}
    numbers = {name: np.array(value, np.float32) for name, value in NUMBERS.items()}
    numbers["growth_interval"] = np.array(GROWTH_INTERVAL, np.int32)
    numbers["scaler"] = np.array(2, np.int32)
    problems, bound = [], BOUNDS[amp]

    def compare(what: str, got, expected) -> None:
        error = np.linalg.norm(got - expected) / np.linalg.norm(expected)
        if not error <= bound:
            problems.append(f"{what} is {error:.2g} off")

    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(pathlib.Path(folder), perceptron(parameters), amp, optimizer)
        for name, value in parameters.items():
            trainer.view(name)[...] = value
        trainer.refresh()
        reference = Reference(parameters, optimizer)
        for update in range(3):
            overflows = update == 1
            for micro in range(2):
                x = random.normal(size=(BATCH, INPUTS)).astype(np.float32)
                labels = random.integers(0, CLASSES, BATCH)
                labels[micro:2 * micro] = -100
                if overflows and micro:
                    x[2, 3] = np.inf
                samples = BATCH - micro
                trainer.run("step", {"x": x, "labels": labels, "samples": np.int64(samples)})
                if not overflows:
                    reference.step(x.astype(np.float64), labels, samples)
            before = trainer.memory["parameters"].copy()
            scale = float(trainer.memory["train.scale"])
            trainer.run("apply", numbers)
            metrics = {name: trainer.memory[f"metrics.{name}"] for name in ("loss", "norm", "found_inf")}
            if bool(metrics["found_inf"]) != overflows:
                problems.append(f"update {update}: found_inf is {metrics['found_inf']}")
            if overflows:
                if not np.array_equal(before, trainer.memory["parameters"]):
                    problems.append("a skipped update moved parameters")
                if float(trainer.memory["train.scale"]) != scale / 2:
                    problems.append(f"scale {trainer.memory['train.scale']} after {scale}")
                continue
            loss, norm = reference.apply()
            compare(f"update {update}: loss", metrics["loss"], loss)
            compare(f"update {update}: norm", metrics["norm"], norm)
            for name in parameters:
                compare(f"update {update}: {name}", trainer.view(name), reference.w[name])
        x = random.normal(size=(BATCH, INPUTS)).astype(np.float32)
        labels = random.integers(0, CLASSES, BATCH)
        labels[1] = -100
        logits = trainer.run("predict", {"x": x})["logits"]
        compare("predict: logits", logits, reference.logits(x.astype(np.float64)))
        for samples in (BATCH, 3):
            got = trainer.run("eval", {"x": x, "labels": labels, "samples": np.int64(samples)})
            for name, value in reference.evaluate(x.astype(np.float64), labels, samples).items():
                compare(f"eval of {samples}: {name}", got[name], value)
        for state, expected in (("train.taken", 2), ("train.skipped", 1), ("train.tracker", 1), ("train.micro", 0)):
            if trainer.memory[state] != expected:
                problems.append(f"{state} is {trainer.memory[state]}, not {expected}")
    tally.report(f"{optimizer}, {amp}", problems)


def main() -> int:
    tally = Tally()
    for optimizer in ("sgd", "momentum", "nesterov", "adam", "adamw", "adam-epsilon-hat", "adagrad"):
        check(tally, "off", optimizer)
    for amp in ("fp16", "bf16"):
        check(tally, amp, "sgd")
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
