#!/usr/bin/env python3
#===- check_trainers.py - compiled trainers, from data to a model ----------===#
"""Compile networks as trainers and train them.

  test/training/check_trainers.py                    all
  test/training/check_trainers.py --filter='learn*'
  test/training/check_trainers.py -v                 with figures

* Each small network of models.py learns in twenty updates, in f32, fp16 and bf16,
  and each large one in fp16: BERT-base and GPT-2 of two layers, ResNet-50.
* Launches of a micro-step and an update, and bytes, as in golden.tsv (--update
  writes it); what ResNet-50 at batch 32 keeps for its backward pass in 16 bits is
  at most 0.57 of f32's.
* Accumulation is training on a larger batch; resuming ends in the same bytes;
  what is frozen stays; the exported model computes in ONNX Runtime what the
  trainer predicts.
* examples/digits: f32, fp16 and bf16 from one seed end above 97 % of the test
  images, with losses within 0.02 and accuracies within a point of each other, also
  from a scale that overflows first.
* Gradients below the range of f16 train with a scaler, and not without.

The last line is `N passed, N failed`.
"""

import argparse
import fnmatch
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "models")]
from ampctest import env

env.enter("venv-training")

import numpy as np
import onnx
from onnx import numpy_helper

import boundary
import models
import vision
from ampctest.report import Tally
from trainers import TrainerError, compile_trainer

AMPS = ("off", "fp16", "bf16")
GOLDEN = pathlib.Path(__file__).with_name("golden.tsv")
FIELDS = ("step", "apply", "arena", "state", "kept")
KEPT_SHARE = 0.57
CASES = {}


def case(name: str, *parameters):
    """Register a function of a folder and `parameters`; it returns what is wrong and a remark."""
    def register(run):
        for values in parameters or [()]:
            values = values if isinstance(values, tuple) else (values,)
            CASES[" ".join([name, *map(str, values)])] = lambda folder, values=values: run(folder, *values)
        return run

    return register


def build(folder: pathlib.Path, model: onnx.ModelProto, amp: str, *options: str) -> pathlib.Path:
    onnx.save(model, folder / "model.onnx")
    compile_trainer(folder / "model.onnx", folder / "trainer", amp, *options)
    return folder / "trainer"


def execute(program: pathlib.Path, *arguments, code=0) -> str:
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=600)
    if done.returncode != code:
        raise TrainerError(f"{arguments[0]} ends with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def train(program: pathlib.Path, data: pathlib.Path, *arguments) -> list[dict]:
    """The steps of a run, as its log has them."""
    log = program.with_name("log.jsonl")
    log.unlink(missing_ok=True)
    execute(program, "train", f"--data={data}", f"--log={log}", "--quiet", *arguments)
    return [record for line in log.read_text().splitlines() if (record := json.loads(line))["event"] == "step"]


def write_data(path: pathlib.Path, network: models.Trained, model: onnx.ModelProto, batches: int) -> pathlib.Path:
    parts = [network.batch(model, seed) for seed in range(batches)]
    inputs = {name: np.concatenate([part[0][name] for part in parts]) for name in parts[0][0]}
    np.savez(path, labels=np.concatenate([part[1] for part in parts]), **inputs)
    return path


#===----------------------------------------------------------------------===#
# Networks
#===----------------------------------------------------------------------===#

SMALL = [name for name, network in models.MODELS.items() if not network.large and network.classes]
LARGE = [name for name, network in models.MODELS.items() if network.large]


@case("learns", *[(name, amp) for name in SMALL for amp in AMPS], *[(name, "fp16") for name in LARGE])
def learns(folder: pathlib.Path, name: str, amp: str):
    network = models.MODELS[name]
    model = network.make()
    program = build(folder, model, amp, "--optimizer=adamw")
    data = write_data(folder / "data.npz", network, model, 2)
    rate = 1e-3 if network.large else 1e-2
    steps = train(program, data, "--steps=20", "--epochs=100", f"--lr={rate}", "--init-scale=1024")
    losses = [step["loss"] for step in steps]
    problems = [] if len(steps) == 20 else [f"{len(steps)} steps"]
    if any(loss is None or not np.isfinite(loss) for loss in losses):
        problems.append("a loss is not finite")
    elif not np.mean(losses[-2:]) < 0.9 * np.mean(losses[:2]):
        problems.append(f"losses {losses[0]:.3f} to {losses[-1]:.3f}")
    if steps and steps[-1]["skipped"]:
        problems.append(f"{steps[-1]['skipped']} updates are skipped")
    return problems, f"loss {losses[0]:.3f} to {losses[-1]:.3f}"


@case("small gradients need a scaler")
def tiny_gradients(folder: pathlib.Path):
    network = models.MODELS["tiny-gradients"]
    model = network.make()
    program = build(folder, model, "fp16", f"--loss={network.loss}", "--optimizer=sgd")
    data = write_data(folder / "data.npz", network, model, 4)
    shares = {}
    for scaler in ("off", "dynamic"):
        losses = [step["loss"] for step in train(program, data, "--epochs=100", "--lr=0.2", f"--scaler={scaler}")]
        shares[scaler] = np.mean(losses[-4:]) / np.mean(losses[:4])
    problems = [] if shares["off"] > 0.9 else [f"without a scaler the loss ends at {shares['off']:.3f} of the first"]
    if not shares["dynamic"] < 0.5:
        problems.append(f"with a scaler the loss ends at {shares['dynamic']:.3f} of the first")
    return problems, f"{shares['off']:.3f} and {shares['dynamic']:.3f} of the first loss"


#===----------------------------------------------------------------------===#
# Options together
#===----------------------------------------------------------------------===#


def initializers(path: pathlib.Path) -> dict[str, np.ndarray]:
    return {w.name: numpy_helper.to_array(w) for w in onnx.load(path).graph.initializer}


@case("accumulation and clipping are those of a larger batch")
def accumulate(folder: pathlib.Path):
    """Four micro-batches of 4 and one batch of 16, by SGD with a norm that is clipped."""
    import small
    results = []
    for batch, arguments in ((4, ["--accumulate=4"]), (16, [])):
        where = folder / str(batch)
        where.mkdir()
        model = small.mlp("mlp", batch=batch, sizes=(7, 11, 3), seed=4)
        program = build(where, model, "off", "--optimizer=momentum")
        random = np.random.default_rng(0)
        np.savez(where / "data.npz", input=random.standard_normal((32, 7)).astype(np.float32),
                 labels=random.integers(0, 3, 32))
        steps = train(program, where / "data.npz", "--epochs=3", "--lr=0.5", "--momentum=0.9", "--clip-norm=0.3",
                      f"--export-onnx={where / 'trained.onnx'}", *arguments)
        results.append((steps, initializers(where / "trained.onnx")))
    (small_steps, small_weights), (large_steps, large_weights) = results
    problems = [] if len(small_steps) == len(large_steps) == 6 else [f"{len(small_steps)}, {len(large_steps)} updates"]
    if not all(step["norm"] > 0.3 for step in large_steps):
        problems.append("nothing was clipped")
    for a, b in zip(small_steps, large_steps):
        if not np.allclose([a["loss"], a["norm"]], [b["loss"], b["norm"]], rtol=1e-4):
            problems.append(f"update {a['step']}: loss and norm {a['loss']}, {a['norm']} and {b['loss']}, {b['norm']}")
    for name, value in large_weights.items():
        error = np.linalg.norm(small_weights[name] - value) / np.linalg.norm(value)
        if not error <= 1e-5:
            problems.append(f"{name} is {error:.2g} off")
    return problems, ""


def interrupt(program: pathlib.Path, log: pathlib.Path, steps: int, *arguments) -> None:
    """Train, and ask to stop when the log has so many steps."""
    with subprocess.Popen([program, "train", f"--log={log}", "--quiet", *map(str, arguments)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            if log.exists() and log.read_text().count('"step"') > steps:
                process.terminate()
                break
            time.sleep(0.002)
        said = process.communicate()[1]
    if process.returncode != 128 + signal.SIGTERM:
        raise TrainerError(f"an interrupted run ends with {process.returncode}: {said.strip()[-300:]}")


@case("resuming ends in the same bytes", *AMPS)
def resume(folder: pathlib.Path, amp: str):
    """Stopped somewhere, with batch norms, moments, windows and a scale that moves."""
    network = models.MODELS["resnet"]
    model = network.make()
    program = build(folder, model, amp, "--optimizer=adamw")
    data = write_data(folder / "data.npz", network, model, 5)
    common = ["--epochs=60", "--lr=1e-3", "--schedule=cosine", "--warmup-steps=3", "--accumulate=2",
              "--scaler=dynamic", "--growth-interval=3", "--init-scale=1e9", "--seed=7"]
    whole = train(program, data, *common, f"--export-onnx={folder / 'whole.onnx'}")
    where = f"--checkpoint-dir={folder / 'run'}"
    interrupt(program, folder / "first.jsonl", 4, f"--data={data}", *common, where)
    rest = train(program, data, *common, where, "--resume", f"--export-onnx={folder / 'resumed.onnx'}")
    problems = [] if 0 < len(rest) < len(whole) == 180 else [f"{len(whole)} and {len(rest)} updates"]
    timed = {"ms", "data_ms"}
    for one, other in zip(reversed(whole), reversed(rest)):
        if {k: v for k, v in one.items() if k not in timed} != {k: v for k, v in other.items() if k not in timed}:
            problems.append(f"update {one['step']} differs: {one}, {other}")
            break
    if (folder / "whole.onnx").read_bytes() != (folder / "resumed.onnx").read_bytes():
        problems.append("the exported models differ")
    return problems, f"resumed after {len(whole) - len(rest)} of {len(whole)} updates, {whole[-1]['skipped']} skipped"


@case("what is frozen stays, and the exported model predicts as the trainer does", *AMPS)
def frozen_export(folder: pathlib.Path, amp: str):
    import onnxruntime
    network = models.MODELS["bert-fused"]
    model = network.make()
    program = build(folder, model, amp, "--optimizer=adamw", "--freeze=embeddings.*,*.bias")
    data = write_data(folder / "data.npz", network, model, 3)
    train(program, data, "--epochs=4", "--lr=1e-2", f"--export-onnx={folder / 'trained.onnx'}",
          f"--checkpoint-dir={folder / 'run'}", "--checkpoint-every=4")
    before, after = initializers(folder / "model.onnx"), initializers(folder / "trained.onnx")
    trainable = models.parameters(model)
    problems = []
    for name, value in before.items():
        is_frozen = name not in trainable or any(fnmatch.fnmatchcase(name, glob) for glob in ("embeddings.*", "*.bias"))
        if np.array_equal(value, after[name]) != is_frozen:
            problems.append(f"{name} {'changed' if is_frozen else 'is as it was'}")
    inputs, _ = network.batch(model, 9)
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value)
    checkpoint = sorted((folder / "run").glob("*.safetensors"))[-1]
    execute(program, "run", f"--checkpoint={checkpoint}", f"--output={folder / 'got.npy'}",
            *[f"--input={name}=@{folder / name}.npy" for name in inputs])
    session = onnxruntime.InferenceSession(str(folder / "trained.onnx"), providers=["CPUExecutionProvider"])
    expected = session.run(None, inputs)[0]
    error = np.linalg.norm(np.load(folder / "got.npy") - expected) / np.linalg.norm(expected)
    if not error <= {"off": 1e-5, "fp16": 1e-2, "bf16": 5e-2}[amp]:
        problems.append(f"predictions differ by {error:.2g}")
    return problems, f"predictions differ by {error:.1e}"


#===----------------------------------------------------------------------===#
# Digits
#===----------------------------------------------------------------------===#

DIGITS: dict[str, tuple[float, float]] = {}
DIGITS_RUNS = {
    "fp32": ("off", []),
    "fp16": ("fp16", []),
    "bf16": ("bf16", []),
    "fp16 from a scale that overflows": ("fp16", ["--init-scale=1e12"]),
}


@case("digits", *DIGITS_RUNS)
def digits(folder: pathlib.Path, name: str):
    subprocess.run([sys.executable, ROOT / "examples" / "digits" / "digits.py", folder], check=True)
    amp, arguments = DIGITS_RUNS[name]
    compile_trainer(folder / "digits.onnx", folder / "trainer", amp, "--optimizer=adamw")
    log = folder / "log.jsonl"
    execute(folder / "trainer", "train", f"--data={folder / 'train.npz'}", f"--eval-data={folder / 'test.npz'}",
            "--epochs=10", "--lr=1e-2", "--schedule=cosine", "--weight-decay=0.01", "--seed=1", "--quiet",
            f"--log={log}", *arguments)
    records = [json.loads(line) for line in log.read_text().splitlines()]
    last = [record for record in records if record["event"] == "epoch"][-1]
    skipped = [record for record in records if record["event"] == "step"][-1]["skipped"]
    DIGITS[name] = last["eval_loss"], last["eval_accuracy"]
    problems = []
    if not last["eval_accuracy"] >= 0.97:
        problems.append(f"accuracy {last['eval_accuracy']:.4f}")
    if (skipped > 10) != ("overflows" in name):
        problems.append(f"{skipped} updates are skipped")
    first = DIGITS.get("fp32", DIGITS[name])
    if abs(first[0] - last["eval_loss"]) > 0.02 or abs(first[1] - last["eval_accuracy"]) > 0.01:
        problems.append(f"loss and accuracy {last['eval_loss']:.4f}, {last['eval_accuracy']:.4f}; in fp32 {first}")
    return problems, (f"loss {last['eval_loss']:.4f}, accuracy {last['eval_accuracy']:.4f}, {skipped} skipped, "
                      f"{last['seconds']:.1f} s an epoch")


#===----------------------------------------------------------------------===#
# Golden figures
#===----------------------------------------------------------------------===#


def load_golden() -> dict[tuple[str, str], list[int]]:
    rows = [line.split("\t") for line in GOLDEN.read_text().splitlines()
            if not line.startswith("#")] if GOLDEN.exists() else []
    return {(row[0], row[1]): list(map(int, row[2:])) for row in rows}


def save_golden(table: dict[tuple[str, str], list[int]]) -> None:
    lines = ["# " + "\t".join(("model", "amp", *FIELDS))]
    lines += ["\t".join([*key, *map(str, row)]) for key, row in sorted(table.items())]
    GOLDEN.write_text("\n".join(lines) + "\n")


GOLDEN_MODELS = ("mlp", "resnet", "unet", "bert-layer", "gpt2-block")
MEASURED: dict[tuple[str, str], list[int]] = {}


def measure(folder: pathlib.Path, model: onnx.ModelProto, amp: str) -> list[int]:
    """FIELDS of a trainer for a fixed kind of machine, from its MLIR before code is generated."""
    onnx.save(model, folder / "model.onnx")
    # Figures of any machine: the width of vectors decides on some views.
    compile_trainer(folder / "model.onnx", folder / "memory.mlir", amp, "--optimizer=adamw", "--march=x86-64-v3",
                    "--compile-to=memory", emit="mlir")
    text = (folder / "memory.mlir").read_text()
    program = text[text.index("rt.program "):]
    parts = re.split(r'\n +rt\.entry "(\w+)"', program)
    launches = {name: body.count("rt.launch ") for name, body in zip(parts[1::2], parts[2::2])}
    arena, state = (int(re.search(pattern, parts[0]).group(1)) for pattern in (r" arena <(\d+)", r"state_bytes = (\d+)"))
    kept, _, _ = boundary.measure(folder / "model.onnx", amp)
    return [launches["step"], launches["apply"], arena, state, kept]


@case("golden", *[(name, amp) for name in (*GOLDEN_MODELS, *LARGE) for amp in AMPS])
def golden(folder: pathlib.Path, name: str, amp: str):
    MEASURED[name, amp] = row = measure(folder, models.MODELS[name].make(), amp)
    expected = load_golden().get((name, amp))
    problems = [f"expected {want} {field}, got {got}" for field, want, got in zip(FIELDS, expected or row, row)
                if want != got]
    return problems or ([] if expected else ["not in golden.tsv"]), f"{dict(zip(FIELDS, row))}"


@case("ResNet-50 keeps half for its backward pass in 16 bits")
def kept_share(folder: pathlib.Path):
    onnx.save(vision.resnet("resnet50", batch=32), folder / "model.onnx")
    kept = {amp: boundary.measure(folder / "model.onnx", amp)[0] for amp in AMPS}
    shares = {amp: kept[amp] / kept["off"] for amp in AMPS[1:]}
    return ([f"{amp}: {share:.3f} of f32's bytes" for amp, share in shares.items() if not share <= KEPT_SHARE],
            f"{kept['off'] / 1e9:.2f} GB in f32, of which {shares}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="*", metavar="GLOB")
    parser.add_argument("--update", action="store_true", help="write golden.tsv")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    env.require_ampc()
    tally = Tally()
    for name, run in CASES.items():
        if not fnmatch.fnmatchcase(name, args.filter):
            continue
        try:
            with tempfile.TemporaryDirectory() as folder:
                problems, remark = run(pathlib.Path(folder))
        except (TrainerError, subprocess.SubprocessError, OSError, KeyError, IndexError, ValueError) as error:
            problems, remark = [f"{type(error).__name__}: {error}"], ""
        tally.report(name, problems, remark, args.verbose)
    if args.update:
        save_golden(load_golden() | MEASURED)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
