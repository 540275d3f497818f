#!/usr/bin/env python3
#===- check_time.py - the precision phase takes linear time ----------------===#
"""Compile graphs of 2,500 and 20,000 nodes as far as the precision phase.

  test/precision/check_time.py       compare the times
  test/precision/check_time.py -v    print them

Eight times the nodes take about eight times as long, where something quadratic
would take 64 times; a bound of 24 leaves room for a busy machine. The graphs:

  chain       blocks of shared weights, residuals, norms, numbers, composites
  overrides   the same, with a rule for each product by its name
  comb        views of views, a product behind each: casts that move and merge
  fan         one value that every node reads

The time is what --time-report gives the phase, the best of a few runs. The last
line is `N passed, N failed`, counting graphs.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"))
from ampctest import env

env.enter()

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ampctest.report import Tally

SMALL, LARGE = 2_500, 20_000
MOST, RUNS = 24.0, 2
# Another look where a busy machine may have been in the way.
TRIES = 3
TIME = re.compile(r"^precision\s+([\d.]+) s", re.MULTILINE)


class Writer:
    """Nodes that know their names."""

    def __init__(self):
        self.nodes: list[onnx.NodeProto] = []

    def node(self, op: str, *operands: str, **attributes) -> str:
        name = f"/block.{len(self.nodes) // 10}/{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, operands, [name], name=name, **attributes))
        return name

    def model(self, results: dict[str, list[int]], weights: dict) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes, "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 32])],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
             for name, dims in results.items()],
            [numpy_helper.from_array(array, name) for name, array in weights.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _matrix(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def chain(count: int) -> onnx.ModelProto:
    w, x = Writer(), "x"
    for block in range(count // 10):
        p = w.node("Elu", w.node("MatMul", x, f"w{block % 8}"))
        e = w.node("Softmax", w.node("MatMul", x, f"w{(block + 3) % 8}"))
        m = w.node("Neg", w.node("Mul", w.node("Mul", p, e), "half"))
        x = w.node("LayerNormalization", w.node("Add", m, x), "scale")
        x = w.node("Relu", x)
    return w.model({x: [16, 32]}, {**{f"w{i}": _matrix(32, 32) + np.float32(i) for i in range(8)},
                                   "half": np.float32(0.5), "scale": np.ones(32, np.float32)})


def comb(count: int) -> onnx.ModelProto:
    w, results = Writer(), []
    x = w.node("Exp", "x")
    for _ in range(count // 3):
        turned = w.node("Transpose", x, perm=[1, 0])
        results.append(w.node("MatMul", turned, "w"))
        x = w.node("Reshape", turned, "shape")
    y = w.node("Concat", *results, axis=0)
    return w.model({y: [32 * len(results), 4]},
                   {"w": _matrix(16, 4), "shape": np.array([16, 32], np.int64)})


def fan(count: int) -> onnx.ModelProto:
    w, weights = Writer(), {}
    e = w.node("Exp", "x")
    low, wide = [], []
    for index in range(count // 2):
        weights[f"w{index}"] = np.full((32, 1), index, np.float32)
        weights[f"p{index}"] = np.float32(index + 0.5)
        low.append(w.node("MatMul", e, f"w{index}"))
        wide.append(w.node("Pow", e, f"p{index}"))
    y, z = w.node("Concat", *low, axis=1), w.node("Concat", *wide, axis=1)
    return w.model({y: [16, len(low)], z: [16, 32 * len(wide)]}, weights)


def rules(model: onnx.ModelProto, path: pathlib.Path) -> list[str]:
    names = [node.name for node in model.graph.node if node.op_type == "MatMul"]
    path.write_text(json.dumps({"layers": {name: "fp32" for name in names[::2]}}))
    return [f"--precision-policy={path}"]


GRAPHS = {"chain": chain, "overrides": chain, "comb": comb, "fan": fan}


def measure(name: str, count: int, folder: pathlib.Path) -> float:
    """Seconds of the precision phase, the best of some runs."""
    model = GRAPHS[name](count)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    options = rules(model, folder / "policy.json") if name == "overrides" else []
    times = []
    for _ in range(RUNS):
        done = subprocess.run(
            [env.ampc_path(), path, "--target=cpu", "--amp=bf16", "--emit=mlir", "--time-report",
             "--compile-to=precision", f"--precision-report={folder / 'report.json'}",
             "-o", os.devnull, *options], capture_output=True, text=True, timeout=120)
        match = TIME.search(done.stdout + done.stderr)
        if done.returncode != 0 or not match:
            said = (done.stderr.strip() or "no message").splitlines()
            raise RuntimeError(f"exit {done.returncode}: {said[0]}")
        times.append(float(match[1]))
    return min(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    env.require_ampc()
    tally = Tally()
    for name in GRAPHS:
        try:
            small = large = float("inf")
            with tempfile.TemporaryDirectory() as folder:
                for _ in range(TRIES):
                    small = min(small, measure(name, SMALL, pathlib.Path(folder)))
                    large = min(large, measure(name, LARGE, pathlib.Path(folder)))
                    if large < MOST * small:
                        break
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            tally.add(False)
            print(f"FAIL {name}: {error}")
            continue
        good = large < MOST * small
        tally.add(good)
        if args.verbose or not good:
            print(f"{'ok  ' if good else 'FAIL'} {name}: {small:.3f} s, and {large:.3f} s for eight "
                  f"times the nodes: {large / small:.2f} times", flush=True)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
