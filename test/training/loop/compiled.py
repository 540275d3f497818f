#===- compiled.py - the loop on trainers from the compiler ----------------===#
"""A perceptron of two layers, for the CPU and for a simulated GPU: resuming, values
that are not finite, and the export, by the facts that the compiler writes."""

import pathlib
import shutil
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ampctest import env
from loop import resume, toy

BATCH = 16
TRAIN = ("train", "--data=d.npz", "--eval-data=d.npz", "--epochs=3", "--lr=0.01", "--schedule=cosine", "--accumulate=2",
         "--grad-stats=4", "--checkpoint-dir=c", "--checkpoint-every=2", "--log=l.jsonl")
PROGRAMS = {"off": ("--amp=off",), "fp16": ("--amp=fp16",),
            "sim": ("--amp=fp16", "--target=cuda", "--cuda-arch=sm_80", "--simulate")}


class Compiled(toy.Toy):
    def __init__(self, folder: pathlib.Path, name: str, *flags: str):
        self.path = folder / name
        subprocess.run([env.ampc_path(), folder / "m.onnx", "--train", "--loss=softmax-cross-entropy",
                        "--optimizer=adamw", *flags, "-o", self.path], check=True)


def make_model(folder: pathlib.Path) -> None:
    random = np.random.default_rng(0)
    values = {"w0": random.standard_normal((3, 24)), "b0": np.zeros(24), "w1": random.standard_normal((24, 3)) / 5,
              "b1": np.zeros(3)}
    nodes = [helper.make_node("Gemm", ["x", "w0", "b0"], ["h"], name="/fc0"), helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("Gemm", ["r", "w1", "b1"], ["logits"], name="/fc1")]
    graph = helper.make_graph(
        nodes, "perceptron", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [BATCH, 3])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [BATCH, 3])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "m.onnx")


def check(tally, folder, _) -> None:
    env.require_ampc()
    make_model(folder)
    x, labels = toy.samples(150)
    np.savez(folder / "d.npz", x=x, labels=labels)
    programs = {name: Compiled(folder, name, *flags) for name, flags in PROGRAMS.items()}
    losses = {name: trained(tally, folder, name, program) for name, program in programs.items()}
    # Of one another, no further than rounding to f16 takes them in so few updates.
    for name in ("fp16", "sim"):
        good = len(losses[name]) == len(losses["off"]) and np.allclose(losses[name], losses["off"], rtol=5e-3)
        tally.report(f"compiled {name} losses", [] if good else [f"{losses[name]}, expected {losses['off']}"])
    wrong(tally, folder, programs, x, labels)


def trained(tally, folder, name: str, program: toy.Toy) -> list[float]:
    whole = resume.fresh(folder, "whole")
    done = program.run(*TRAIN, "--export-onnx=e.onnx", cwd=whole)
    tally.report(f"compiled {name}", [] if done.code == 0 else [done.err])
    lines = resume.told(whole)
    for at in (3, 8):
        part = resume.fresh(folder, "part")
        fault = {"LD_PRELOAD": resume.build_fault(folder), "FAULT_PATH": "l.jsonl", "FAULT_ONLY": "write",
                 "FAULT_KIND": "kill", "FAULT_AT": str(at)}
        killed = program.run(*TRAIN, cwd=part, environment=fault)
        again = program.run(*TRAIN, "--resume", cwd=part)
        good = (killed.code == -9 and again.code == 0 and resume.last(part) == resume.last(whole)
                and resume.told(part) == lines)
        tally.report(f"compiled {name} killed at line {at}", [] if good else [again.err])
    _, states = toy.read_checkpoint(whole / "c" / toy.checkpoints(whole / "c")[-1])
    exported = {tensor.name: numpy_helper.to_array(tensor)
                for tensor in onnx.load(whole / "e.onnx").graph.initializer}
    first = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(folder / "m.onnx").graph.initializer}
    good = all(np.array_equal(exported[key], states[key]) and not np.array_equal(exported[key], first[key])
               for key in first)
    tally.report(f"compiled {name} export", [] if good else ["other values"])
    return [line["loss"] for (kind, _), line in lines if kind == "step"]


def wrong(tally, folder, programs, x, labels) -> None:
    """The node that makes a number infinite is named as in the model."""
    for name, scale, said in (("off", 3e38, "'/fc0"), ("fp16", 1e5, "'x'"), ("sim", 1e5, "'x'")):
        part = resume.fresh(folder, "wrong")
        np.savez(part / "d.npz", x=np.full_like(x, scale), labels=labels)
        done = programs[name].run("train", "--data=d.npz", "--lr=0", "--steps=30", "--quiet", cwd=part)
        good = done.code == 1 and "the first node that writes one is " + said in done.err
        tally.report(f"compiled {name} infinite", [] if good else [f"exit {done.code}: {done.err}"])
    part = resume.fresh(folder, "wrong")
    np.savez(part / "d.npz", x=x, labels=labels + 1)
    done = programs["off"].run("eval", "--data=d.npz", cwd=part)
    tally.report("compiled labels", [] if done.code == 3 and "a label from 0 to 2, got 3" in done.err else [done.err])
    shutil.rmtree(part)
