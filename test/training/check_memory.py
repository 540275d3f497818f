#!/usr/bin/env python3
#===- check_memory.py - what a trainer needs, and what it can do without ----===#
"""Recomputation and memory limits of trainers.

  test/training/check_memory.py

For a GPT-2 of six layers: each mode of --recompute needs less memory than the one
before and gives the same losses and parameters; a limit that
only a mode with recomputation meets is met, and said so; one that none meets is
exit 6 with a batch and an accumulation that fit, which then do. The report's
numbers are those of the program. For ResNet-50 at batch 32, 16-bit types keep at
most 0.57 of f32's bytes. The last line is `N passed, N failed`.
"""

import json
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

import transformers
import vision
from ampctest.report import Tally
from loop.toy import events, read_checkpoint

BATCH, LENGTH, VOCABULARY = 8, 32, 29
# Of f32's bytes at the boundary of forward and backward pass.
HALF = 0.57


def gpt2(batch: int) -> onnx.ModelProto:
    return transformers.gpt2("gpt2", batch=batch, length=LENGTH, layers=6, hidden=32, heads=2, vocabulary=VOCABULARY,
                             positions=LENGTH)


def compile(folder: pathlib.Path, model: str, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run([env.ampc_path(), folder / f"{model}.onnx", "--train", "--loss=softmax-cross-entropy",
                           *options], capture_output=True, text=True)


def plan(folder: pathlib.Path, model: str, *options: str) -> dict:
    """The memory report; `total` is what --memory-limit bounds."""
    report = folder / "memory.json"
    done = compile(folder, model, f"--memory-report={report}", "--compile-to=memory", "-o", str(folder / "memory.mlir"),
                   *options)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(report.read_text())
    found["saved"] = next(entry["saved_bytes"] for entry in found["entries"] if entry["name"] == "step")
    found["total"] = found["arena_bytes"] + found["state_bytes"] + found["constant_bytes"]
    return found


def train(folder: pathlib.Path, mode: str, model: str = "gpt2") -> tuple[list[float], dict[str, np.ndarray]]:
    program = folder / f"{model}-{mode}"
    log, checkpoints = program.with_suffix(".jsonl"), program.with_suffix(".checkpoints")
    done = compile(folder, model, f"--recompute={mode}", "--optimizer=adam", "-o", str(program))
    if done.returncode:
        raise RuntimeError(done.stderr)
    subprocess.run([program, "train", f"--data={folder}/{model}.npz", "--steps=4", "--lr=1e-3", f"--log={log}", "--quiet",
                    f"--checkpoint-dir={checkpoints}", "--checkpoint-every=4"], check=True)
    _, tensors = read_checkpoint(sorted(checkpoints.glob("*.safetensors"))[-1])
    return [step["loss"] for step in events(log)], tensors


def check_modes(tally: Tally, folder: pathlib.Path) -> dict[str, dict]:
    plans = {mode: plan(folder, "gpt2", f"--recompute={mode}") for mode in ("none", "blocks", "all")}
    arena = [found["arena_bytes"] for found in plans.values()]
    names = ", ".join(f"{mode} {found['arena_bytes']}" for mode, found in plans.items())
    tally.report(f"activations: {names} bytes",
                 [] if arena[0] > 2 * arena[1] > 2 * arena[2] else ["each mode must need less than the one before"])
    losses, tensors = train(folder, "none")
    for mode in ("blocks", "all"):
        got, others = train(folder, mode)
        problems = [f"loss {a} instead of {b}" for a, b in zip(got, losses, strict=True) if not abs(a - b) <= 1e-5 * b]
        problems += [f"{name} differs" for name, value in tensors.items()
                     if value.dtype == np.float32 and not np.allclose(others[name], value, rtol=1e-3, atol=1e-4)]
        tally.report(f"--recompute={mode} trains alike", problems)
    return plans


def dropouts() -> onnx.ModelProto:
    """Eight layers with dropouts, of which each block has to draw the same again."""
    random = np.random.default_rng(2)
    nodes, weights, value = [], [numpy_helper.from_array(np.float32(0.4), "ratio")], "input"
    for i in range(8):
        weights.append(numpy_helper.from_array(random.normal(0, 0.2, (24, 24)).astype(np.float32), f"w{i}"))
        nodes += [helper.make_node("MatMul", [value, f"w{i}"], [f"m{i}"]), helper.make_node("Tanh", [f"m{i}"], [f"t{i}"]),
                  helper.make_node("Dropout", [f"t{i}", "ratio"], [f"d{i}"])]
        value = f"d{i}"
    shape = [16, 24]
    graph = helper.make_graph(nodes, "dropouts", [helper.make_tensor_value_info("input", 1, shape)],
                              [helper.make_tensor_value_info(value, 1, shape)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def check_dropout(tally: Tally, folder: pathlib.Path) -> None:
    onnx.save(dropouts(), folder / "dropouts.onnx")
    random = np.random.default_rng(6)
    np.savez(folder / "dropouts.npz", input=random.standard_normal((64, 24)).astype(np.float32),
             labels=random.integers(0, 24, 64))
    plans = [plan(folder, "dropouts", f"--recompute={mode}")["saved"] for mode in ("none", "blocks")]
    problems = [] if plans[1] < plans[0] else ["nothing is computed again"]
    (losses, tensors), (others, values) = (train(folder, mode, "dropouts") for mode in ("none", "blocks"))
    problems += [f"loss {a} instead of {b}" for a, b in zip(others, losses, strict=True) if not abs(a - b) <= 1e-5 * b]
    problems += [f"{name} differs" for name, value in tensors.items()
                 if value.dtype == np.float32 and not np.allclose(values[name], value, rtol=1e-3, atol=1e-5)]
    tally.report(f"dropouts are drawn again alike, {plans[0]} bytes kept, {plans[1]} with blocks", problems)


def check_limits(tally: Tally, folder: pathlib.Path, plans: dict[str, dict]) -> None:
    limit = (plans["none"]["total"] + plans["blocks"]["total"]) // 2
    done = compile(folder, "gpt2", f"--memory-limit={limit}", "--compile-to=memory", "-o", str(folder / "o.mlir"))
    met = done.returncode == 0 and "as with --recompute=blocks" in done.stderr
    tally.report("a limit that recomputation meets", [] if met else [f"exit {done.returncode}: {done.stderr}"])

    least = min(found["total"] for found in plans.values())
    limit = least - plans["all"]["arena_bytes"] // 3
    done = compile(folder, "gpt2", f"--memory-limit={limit}", "--compile-to=memory", "-o", str(folder / "o.mlir"))
    hint = re.search(r"batch of (\d+) would fit, trained with --accumulate=(\d+)", done.stderr)
    problems = [] if done.returncode == 6 and hint else [f"exit {done.returncode}: {done.stderr}"]
    if hint:
        micro, accumulate = map(int, hint.groups())
        if not micro < BATCH <= micro * accumulate:
            problems.append(f"a batch of {micro}, {accumulate} times")
        onnx.save(gpt2(micro), folder / "smaller.onnx")
        again = compile(folder, "smaller", f"--memory-limit={limit}", "--compile-to=memory", "-o",
                        str(folder / "o.mlir"))
        if again.returncode:
            problems.append(f"a batch of {micro} does not fit: {again.stderr}")
    tally.report("a limit that nothing meets names what would", problems)


def check_report(tally: Tally, folder: pathlib.Path, plans: dict[str, dict]) -> None:
    found = json.loads(subprocess.run([folder / "gpt2-none", "inspect", "--json"], check=True, capture_output=True,
                                      text=True).stdout)
    expected = plan(folder, "gpt2", "--recompute=none", "--optimizer=adam")
    problems = [f"{key}: {found.get(key)} in the program, {expected[key]} in the report"
                for key in ("arena_bytes", "state_bytes") if found.get(key) != expected[key]]
    tally.report("the report tells what the program has", problems)


def check_half(tally: Tally, folder: pathlib.Path) -> None:
    onnx.save(vision.resnet("resnet50", batch=32, size=224), folder / "resnet50.onnx")
    saved = {amp: plan(folder, "resnet50", f"--amp={amp}")["saved"] for amp in ("off", "fp16", "bf16")}
    for amp in ("fp16", "bf16"):
        share = saved[amp] / saved["off"]
        tally.report(f"ResNet-50 at batch 32 in {amp}: {saved[amp]} bytes, {share:.3f} of f32's",
                     [] if share <= HALF else [f"more than {HALF}"])


def main() -> int:
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        onnx.save(gpt2(BATCH), folder / "gpt2.onnx")
        random = np.random.default_rng(5)
        tokens = random.integers(0, VOCABULARY, (4 * BATCH, LENGTH))
        inputs = [value.name for value in gpt2(BATCH).graph.input]
        np.savez(folder / "gpt2.npz", labels=np.roll(tokens, -1, 1), **{inputs[0]: tokens})
        plans = check_modes(tally, folder)
        check_dropout(tally, folder)
        check_limits(tally, folder, plans)
        check_report(tally, folder, plans)
        check_half(tally, folder)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
