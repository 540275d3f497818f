#!/usr/bin/env python3
#===- check_plan.py - the memory of trainers, told and taken ---------------===#
"""Check that all that tells the memory of a trainer says the same.

  test/training/check_plan.py [--models=mlp,...]

For each network in f32, fp16 and bf16: --memory-report, `inspect --json` and
`bench --train --json` agree, and the last fits its schema; a session maps the
arena and the state in just that size; and every entry, run on an arena full of
a pattern, writes it as far as the report says, none beyond, so that the peak is
what is used. Loss and skipped steps of the table are those of the same steps
made here. The last line is `N passed, N failed`.
"""

import argparse
import ctypes
import json
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
import trainers
from ampctest import schema
from ampctest.report import Tally

ALIGNMENT, OVERREAD = 64, 64  # of abi.h
OPTIMIZER, THREADS, STEPS, RATE = "adamw", 2, 3, 0.01
FIRST_SCALE = 65536.0  # of loss scaling, where gradients are f16
PATTERN = 0xFF  # what a session with debug_arena fills the arena with
WIDEST = 8  # bytes of an element: the last one may happen to be the pattern
ROLES = {"parameter": "parameters", "statistic": "statistics", "moment": "moments", "control": "control"}
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "bench-report.schema.json").read_text())
LINK = (str(pathlib.Path(__file__).with_name("mappings.c")), "-Wl,--wrap=mmap")


def align(count: int) -> int:
    return -(-count // ALIGNMENT) * ALIGNMENT


def compare(name: str, got, expected) -> list[str]:
    return [] if got == expected else [f"{name}: expected {expected}, got {got}"]


def ends(report: dict) -> dict[str, int]:
    """Where the last buffer in the arena ends, by entry."""
    lists = [{"name": "main", **report}, *report["entries"]]
    return {each["name"]: max((buffer["offset"] + buffer["bytes"] for step in each["steps"]
                               for buffer in step["buffers"] if buffer["region"] == "arena"), default=0)
            for each in lists}


def check_inspect(report: dict, told: dict) -> list[str]:
    """What `inspect` says otherwise than the report."""
    problems = compare("arena", told["arena_bytes"], report["arena_bytes"])
    problems += compare("state", told["state_bytes"], report["state_bytes"])
    problems += compare("weights", told["weights_bytes"], report["weight_bytes"])
    sums = dict.fromkeys(report["states"], 0)
    for state in told["states"]:
        gradient = state["role"] == "transient" and state["name"].endswith(".gradient")
        sums["gradients" if gradient else ROLES.get(state["role"], "transient")] += state["bytes"]
    problems += compare("states", sums, report["states"])
    for mine, other in zip(told["entries"], report["entries"], strict=True):
        for kind in ("input", "output"):
            problems += compare(f"{kind}s of {other['name']}", sum(each["bytes"] for each in mine[f"{kind}s"]),
                                other[f"{kind}_bytes"])
    return problems


def bench(model: pathlib.Path, loss: str, amp: str, inputs: dict, labels) -> dict:
    """The table of `ampc bench` on a batch."""
    given = []
    for name, value in (inputs | {"labels": labels}).items():
        np.save(model.with_name(f"{name}.npy"), value)
        given.append(f"--input={name}=@{model.with_name(f'{name}.npy')}")
    done = subprocess.run([env.ampc_path(), "bench", model, "--train", f"--loss={loss}", f"--optimizer={OPTIMIZER}",
                           f"--amp={amp}", "--json", "--iterations=1", "--duration=0", "--warm-up=0", "--quiet",
                           f"--threads={THREADS}", f"--steps={STEPS}", f"--lr={RATE}", "--target=cpu", *given],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def check_loss(trainer: trainers.Compiled, row: dict, amp: str, inputs: dict, labels) -> list[str]:
    """The loss after the same steps."""
    scaled = amp == "fp16"
    trainer.write("train.scale", FIRST_SCALE if scaled else 1)
    numbers = {"scaler": np.int32(2 if scaled else 0)}
    for _ in range(STEPS):
        trainer.step(inputs, labels)
        trainer.apply(learning_rate=RATE, **numbers)
    skipped = int(trainer.read("train.skipped"))
    trainer.step(inputs, labels)
    loss = trainer.apply(learning_rate=0, **numbers)["loss"]
    return compare("loss", row["loss"], loss) + compare("skipped steps", row["skipped_steps"], skipped)


def check_table(table: dict, amp: str, report: dict, told: dict) -> list[str]:
    """What the table says otherwise."""
    problems = schema.check(table, SCHEMA)
    problems += compare("threads, steps", (table["threads"], table["steps"]), (THREADS, STEPS))
    memory = table["rows"][0]["memory"]
    kept = memory["weights"] + memory["masters_and_moments"] + memory["gradients"]
    problems += compare("constants and state", kept, report["constant_bytes"] + report["state_bytes"])
    problems += compare("gradients", memory["gradients"], report["states"]["gradients"])
    problems += compare("activations", memory["activations"], report["arena_bytes"])
    scratch = max(kernel["scratch_bytes"] for kernel in told["kernels"])
    problems += compare("workspace", memory["workspace"], align(scratch) * THREADS)
    problems += compare("sum", memory["sum"], kept + memory["activations"] + memory["workspace"])
    # In f32 nothing has a copy; in 16 bits every large parameter is a master.
    states = report["states"]
    if amp == "off":
        problems += compare("weights", memory["weights"],
                            report["constant_bytes"] + states["parameters"] + states["statistics"])
    elif not memory["masters_and_moments"] > states["moments"] + states["parameters"] / 2:
        problems.append(f"{memory['masters_and_moments']} bytes of masters and moments")
    return problems


def check_mapped(trainer: trainers.Compiled, report: dict) -> tuple[list[str], ctypes.Array | None]:
    """Whether a session maps what was planned; the arena."""
    library = trainer.library
    library.mappings_bytes.restype = ctypes.c_size_t
    library.mappings_address.restype = ctypes.c_void_p
    mapped = {library.mappings_bytes(i): library.mappings_address(i) for i in range(library.mappings_count())}
    problems = [f"no mapping of the {name}, {report[f'{name}_bytes']} bytes" for name in ("arena", "state")
                if report[f"{name}_bytes"] + OVERREAD not in mapped]
    if problems:
        return problems, None
    arena = mapped[report["arena_bytes"] + OVERREAD]
    return [], (ctypes.c_uint8 * (report["arena_bytes"] + OVERREAD)).from_address(arena)


def check_extents(trainer: trainers.Compiled, arena, expected: dict[str, int], inputs: dict, labels) -> list[str]:
    """How far each entry writes the arena."""
    given = {**inputs, "labels": labels, "samples": np.int64(labels.shape[0]), **trainers.NUMBERS}
    problems = []
    for entry in trainer.entries:
        trainer.run(entry, given)
        planned = np.frombuffer(arena, np.uint8)[:-OVERREAD]
        written = int(np.flatnonzero(planned != PATTERN)[-1]) + 1 if (planned != PATTERN).any() else 0
        # What has no buffer runs on the arena as it is.
        if expected[entry] and not expected[entry] - WIDEST < written <= expected[entry]:
            problems.append(f"{entry} writes {written} bytes, planned {expected[entry]}")
        if np.frombuffer(arena, np.uint8)[-OVERREAD:].any():
            problems.append(f"{entry} writes behind the arena")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default="mlp,resnet,gpt2-block,unet")
    chosen = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in chosen.models.split(","):
            trained = models.MODELS[model]
            made = trained.make()
            path = folder / f"{model}.onnx"
            onnx.save(made, path)
            inputs, labels = trained.batch(made, 0)
            for amp in ("off", "fp16", "bf16"):
                what, program, plan = f"{model}, {amp}", folder / "program", folder / "plan.json"
                options = (f"--loss={trained.loss}", f"--optimizer={OPTIMIZER}", f"--memory-report={plan}")
                trainers.compile_trainer(path, program, amp, *options)
                report = json.loads(plan.read_text())
                told = json.loads(subprocess.run([program, "inspect", "--json"], check=True, capture_output=True).stdout)
                tally.report(f"inspect of {what}", check_inspect(report, told))
                table = bench(path, trained.loss, amp, inputs, labels)
                tally.report(f"bench of {what}", check_table(table, amp, report, told))
                # More than a vector may be read behind the last buffer.
                expected = ends(report)
                tally.report(f"peak of {what}", compare("arena", report["arena_bytes"],
                                                        align(max(expected.values()) + OVERREAD)))
                trainer = trainers.Compiled(made, amp, OPTIMIZER, f"--loss={trained.loss}", link=LINK, threads=THREADS)
                tally.report(f"loss of {what}", check_loss(trainer, table["rows"][0], amp, inputs, labels))
                problems, arena = check_mapped(trainer, report)
                tally.report(f"mappings of {what}", problems)
                if arena:
                    tally.report(f"extents of {what}", check_extents(trainer, arena, expected, inputs, labels))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
