#!/usr/bin/env python3
#===- check_own_training.py - models that say how they are trained ---------===#
"""Compare trainers of models with a training step of their own.

  test/training/check_own_training.py [--filter=GLOB]

A linear model with a TrainingInfoProto, or with a Gradient and an optimizer in
its graph, is compiled with `--train` alone. Five updates of its step and update,
run by the reference evaluator, are compared with ONNX's definitions of Adam,
Adagrad and Momentum in float64 (docs/Operators.md of onnx): within 1e-5, with
counts that begin with 0 and with 1, one optimizer for all parameters and one for
each, and each reduction of the loss. The last line is `N passed, N failed`.
"""

import argparse
import fnmatch
import pathlib
import re
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

BATCH, INPUTS, CLASSES = 5, 4, 3
DOMAIN = "ai.onnx.preview.training"
RATE, BOUND, UPDATES = 0.25, 1e-5, 5
F, I = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
STATES = {"Adam": ["v", "h"], "Adagrad": ["h"], "Momentum": ["v"]}
CASES = {
    "adam": dict(op="Adam"),
    "adam-from-1": dict(op="Adam", first=1),
    "adam-attributes": dict(op="Adam", attributes=dict(alpha=0.8, beta=0.95, epsilon=1e-3, norm_coefficient=0.1)),
    "adam-each": dict(op="Adam", each=True),
    "adam-sum": dict(op="Adam", reduction="sum"),
    "adam-in-graph": dict(op="Adam", in_graph=True),
    "adagrad": dict(op="Adagrad", attributes=dict(decay_factor=0.1, norm_coefficient=0.01)),
    "adagrad-from-3": dict(op="Adagrad", first=3, attributes=dict(decay_factor=0.1)),
    "momentum": dict(op="Momentum", attributes=dict(alpha=0.9, beta=1.0, norm_coefficient=0.01, mode="standard")),
    "nesterov": dict(op="Momentum", attributes=dict(alpha=0.9, beta=1.0, norm_coefficient=0.0, mode="nesterov"),
                     in_graph=True, each=True),
}


def make_model(weights, op, first=0, attributes=None, each=False, reduction="mean", in_graph=False) -> onnx.ModelProto:
    names = list(weights)
    initializers = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    own = [numpy_helper.from_array(np.array(value), name)
           for name, value in (("rate", np.float32(RATE)), ("count", np.int64(first)), ("one", np.int64(1)))]
    for state in STATES[op]:
        own += [numpy_helper.from_array(np.zeros_like(weights[name]), f"{name}.{state}") for name in names]
    forward = [helper.make_node("Gemm", ["x", *names], ["y"])]
    nodes = [helper.make_node("SoftmaxCrossEntropyLoss", ["y", "label"], ["loss"], reduction=reduction),
             helper.make_node("Gradient", [*names, "x"], [f"{name}.g" for name in names], domain=DOMAIN, xs=names,
                              zs=["x"], y="loss")]
    for group in ([[name] for name in names] if each else [names]):
        inputs = ["rate", "count", *group, *(f"{name}.g" for name in group)]
        outputs = [f"{name}.new" for name in group]
        for state in STATES[op]:
            inputs += [f"{name}.{state}" for name in group]
            outputs += [f"{name}.{state}.new" for name in group]
        nodes.append(helper.make_node(op, inputs, outputs, domain=DOMAIN, **(attributes or {})))
    nodes.append(helper.make_node("Add", ["one", "count"], ["count.new"]))
    x, y = (helper.make_tensor_value_info(name, F, [BATCH, size]) for name, size in (("x", INPUTS), ("y", CLASSES)))
    label = helper.make_tensor_value_info("label", I, [BATCH])
    updated = [name for node in nodes[2:] for name in node.output]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    if in_graph:
        outputs = [y, *(helper.make_tensor_value_info(name, I if name == "count.new" else F, None) for name in updated)]
        graph = helper.make_graph(forward + nodes, "linear", [x, label], outputs, initializers + own)
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)
    model = helper.make_model(helper.make_graph(forward, "linear", [x], [y], initializers), opset_imports=opsets,
                              ir_version=8)
    info = model.training_info.add()
    info.algorithm.CopyFrom(helper.make_graph(nodes, "step", [label], [helper.make_tensor_value_info("loss", F, [])],
                                              own))
    for name in updated:
        info.update_binding.add(key=name.removesuffix(".new"), value=name)
    return model


class Reference:
    """The same in float64."""

    def __init__(self, weights, op, first=0, attributes=None, reduction="mean", **_):
        self.w = {name: value.astype(np.float64) for name, value in weights.items()}
        self.v, self.h = ({name: np.zeros_like(value) for name, value in self.w.items()} for _ in range(2))
        defaults = {"Adam": dict(alpha=0.9, beta=0.999, epsilon=1e-6), "Adagrad": dict(epsilon=1e-6, decay_factor=0.0),
                    "Momentum": {}}[op]
        numbers = {"norm_coefficient": 0.0, **defaults, **(attributes or {})}
        self.a = {key: float(np.float32(n)) if isinstance(n, float) else n for key, n in numbers.items()}
        self.op, self.count, self.reduction = op, first, reduction

    def update(self, x, labels) -> None:
        logits = x @ self.w["w"] + self.w["c"]
        p = np.exp(logits - logits.max(1, keepdims=True))
        slope = p / p.sum(1, keepdims=True) - np.eye(CLASSES)[labels]
        if self.reduction == "mean":
            slope /= BATCH
        a = self.a
        for name, g in (("w", x.T @ slope), ("c", slope.sum(0))):
            g = g + a["norm_coefficient"] * self.w[name]
            if self.op == "Adam":
                self.v[name] = a["alpha"] * self.v[name] + (1 - a["alpha"]) * g
                self.h[name] = a["beta"] * self.h[name] + (1 - a["beta"]) * g * g
                rate = RATE
                if self.count > 0:
                    rate = RATE * np.sqrt(1 - a["beta"]**self.count) / (1 - a["alpha"]**self.count)
                self.w[name] = self.w[name] - rate * self.v[name] / (np.sqrt(self.h[name]) + a["epsilon"])
            elif self.op == "Adagrad":
                self.h[name] = self.h[name] + g * g
                rate = RATE / (1 + self.count * a["decay_factor"])
                self.w[name] = self.w[name] - rate * g / (np.sqrt(self.h[name]) + a["epsilon"])
            else:
                self.v[name] = a["alpha"] * self.v[name] + g
                move = g + a["alpha"] * self.v[name] if a["mode"] == "nesterov" else self.v[name]
                self.w[name] = self.w[name] - RATE * move
        self.count += 1


class OwnTrainer(Trainer):
    """A trainer that `ampc --train` makes of the model alone."""

    def __init__(self, folder: pathlib.Path, model: onnx.ModelProto):
        self.folder = folder
        onnx.save(model, folder / "model.onnx")
        subprocess.run([env.BUILD / "bin" / "ampc", folder / "model.onnx", "--train", "--amp=off",
                        "--compile-to=training", "--elide-above=1G", "--quiet", "-o", folder / "trainer.mlir"],
                       check=True, capture_output=True)
        self.load()
        text = (folder / "trainer.mlir").read_text()
        defaults = re.search(r"defaults = \{(.*?)\}", text).group(1)
        self.defaults = {name: float(value) for name, value in re.findall(r"(\w+) = ([-+.\deE]+) : f64", defaults)}


def check(case: dict) -> list[str]:
    random = np.random.default_rng(5)
    weights = {"w": random.normal(size=(INPUTS, CLASSES)).astype(np.float32),
               "c": random.normal(size=CLASSES).astype(np.float32)}
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        trainer = OwnTrainer(pathlib.Path(folder), make_model(weights, **case))
        reference = Reference(weights, **case)
        for name, value in weights.items():
            trainer.view(name)[...] = value
        # No option is given but for the loss scale; the rest are the model's.
        numbers = {name: np.float32(value) for name, value in {
            "max_norm": 0, "max_value": 0, "growth_factor": 2, "backoff_factor": 0.5, "scale_floor": 2.0**-24,
            **trainer.defaults}.items()}
        numbers |= {"growth_interval": np.int32(100), "scaler": np.int32(2)}
        for i in range(UPDATES):
            x = random.normal(size=(BATCH, INPUTS)).astype(np.float32)
            labels = random.integers(0, CLASSES, BATCH)
            trainer.run("step", {"x": x, "label": labels, "samples": np.int64(BATCH)})
            trainer.run("apply", numbers)
            reference.update(x.astype(np.float64), labels)
            for name, expected in reference.w.items():
                error = np.linalg.norm(trainer.view(name) - expected) / np.linalg.norm(expected)
                if not error <= BOUND:
                    problems.append(f"update {i}: {name} is {error:.2g} off")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="*")
    pattern = parser.parse_args().filter
    tally = Tally()
    for name, case in CASES.items():
        if fnmatch.fnmatch(name, pattern):
            tally.report(name, check(case))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
