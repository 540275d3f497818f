#!/usr/bin/env python3
#===- check_simulated.py - trainers on simulated GPUs ---------------------===#
"""Train networks in the simulator and compare with the program for the CPU.

  test/training/check_simulated.py [--models=mlp,...] [--archs=sm_80,sm_90a]

Each network trains 3 steps in f32 and fp16, all detectors on. Loss, gradient
norm, scale and parameters agree with those of the program for the CPU within
the bound of the type. The list of what the device has done shows that nothing
is copied to the host within a step, that each step is one graph, and how many
kernels an update launches. The last line is `N passed, N failed`.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "models")]
from ampctest import env

env.enter()

import numpy as np
import onnx

import models
from ampctest.report import Tally
from loop.toy import events, read_checkpoint

STEPS = 3
# Of loss, norm and parameters, and of the first step's gradients, which are its
# momentum, as a share. Later gradients may differ more: a ReLU that changes sides
# for a rounding moves those of a small batch norm by percents.
BOUNDS = {"off": (2e-5, 2e-4), "fp16": (4e-3, 4e-3)}
# Launches of an update: one checks, one moves.
UPDATE_LAUNCHES = 2


def train(folder: pathlib.Path, name: str, trained: models.Trained, amp: str, arch: str | None) -> dict:
    """Compile and train; the log, the parameters, and on a GPU what it did."""
    program = folder / f"{name}-{amp}-{arch or 'cpu'}"
    target = ["--target=cuda", "--simulate", f"--cuda-arch={arch}"] if arch else []
    subprocess.run([env.ampc_path(), folder / f"{name}.onnx", "--train", f"--loss={trained.loss}", "--optimizer=momentum",
                    f"--amp={amp}", "-o", program, *target], check=True, capture_output=True, text=True)
    log, work = folder / f"{program.name}.jsonl", folder / f"{program.name}.work"
    checkpoints = folder / f"{program.name}.checkpoints"
    result = subprocess.run([program, "train", f"--data={folder / name}.npz", f"--steps={STEPS}", "--lr=0.05", "--momentum=0.9",
                             "--clip-norm=1", "--seed=3", "--init-scale=1024", f"--log={log}",
                             f"--checkpoint-dir={checkpoints}", "--checkpoint-every=1", f"--keep={STEPS}"],
                            env=os.environ | {"AMPC_SIM_LOG": str(work)}, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(result.stderr.strip())
    kept = [read_checkpoint(path)[1] for path in sorted(checkpoints.glob("*.safetensors"))]
    tensors = {name: value for name, value in kept[-1].items() if not name.endswith(".momentum_buffer")}
    tensors |= {name: value for name, value in kept[0].items() if name.endswith(".momentum_buffer")}
    done = [json.loads(line) for line in work.read_text().splitlines()] if arch else []
    return {"steps": events(log), "tensors": tensors, "work": done}


def differences(got: dict, expected: dict, bounds: tuple[float, float]) -> list[str]:
    problems = []
    bound, gradient_bound = bounds
    for mine, other in zip(got["steps"], expected["steps"], strict=True):
        for key in ("loss", "norm"):
            if not abs(mine[key] - other[key]) <= bound * max(abs(other[key]), 1):
                problems.append(f"step {other['step']}: {key} {mine[key]}, on the CPU {other[key]}")
        if mine["scale"] != other["scale"] or mine["skipped"] != other["skipped"]:
            problems.append(f"step {other['step']}: another scale or skip")
    for name, value in expected["tensors"].items():
        if value.dtype.kind == "f" and value.size:
            error = np.linalg.norm(got["tensors"][name] - value) / max(np.linalg.norm(value), 1e-6)
            if not error <= (gradient_bound if name.endswith(".momentum_buffer") else bound):
                problems.append(f"{name} is {error:.2g} off")
    return problems


def misdeeds(work: list[dict]) -> list[str]:
    """What a step does beyond its graph, or in it and must not."""
    problems = []
    graphs: dict[int, list[dict]] = {}
    for item in work:
        if item["graph"] is not None:
            graphs.setdefault(item["graph"], []).append(item)
    steps = [items for items in graphs.values() if any("gradient of" in (item["label"] or "") for item in items)]
    if len(steps) != STEPS:
        problems.append(f"{len(steps)} graphs compute gradients, expected {STEPS}")
    for items in steps:
        if any(item["kind"] == "copy" and item["to"] == "host" for item in items):
            problems.append("a step copies to the host")
        last = max(i for i, item in enumerate(items) if "gradient of" in (item["label"] or ""))
        # Behind the last gradient: the numbers of the micro-step, and the update.
        update = [item["kernel"].removeprefix("k_") for item in items[last + 1:] if item["kind"] == "kernel"]
        first = next((i for i, name in enumerate(update) if name.startswith("reduce_sum_") and "_and" in name), None)
        if first is None or len(update) - first > UPDATE_LAUNCHES:
            problems.append(f"an update launches {', '.join(update)}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default="mlp,resnet,gpt2-block")
    parser.add_argument("--archs", default="sm_80,sm_90a")
    chosen = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in chosen.models.split(","):
            trained = models.MODELS[model]
            made = trained.make()
            onnx.save(made, folder / f"{model}.onnx")
            batches = [trained.batch(made, seed) for seed in range(STEPS)]
            arrays = {key: np.concatenate([inputs[key] for inputs, _ in batches]) for key in batches[0][0]}
            np.savez(folder / f"{model}.npz", labels=np.concatenate([labels for _, labels in batches]), **arrays)
            for amp, bounds in BOUNDS.items():
                expected = train(folder, model, trained, amp, None)
                for arch in chosen.archs.split(","):
                    try:
                        got = train(folder, model, trained, amp, arch)
                        problems = differences(got, expected, bounds) + misdeeds(got["work"])
                    except (RuntimeError, subprocess.CalledProcessError) as error:
                        problems = [getattr(error, "stderr", None) or str(error)]
                    tally.report(f"{model}, {amp}, {arch}", problems)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
