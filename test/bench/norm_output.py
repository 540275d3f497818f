#!/usr/bin/env python3
#===- norm_output.py - what --norm-output=fp32 costs and gains -------------===#
"""Compare --norm-output=follow with fp32, PyTorch's rule, on one model.

  test/bench/norm_output.py                     BERT-base in bf16
  test/bench/norm_output.py projected           its encoder behind a projection,
                                                where the residuals are 16-bit
  test/bench/norm_output.py bert-base fp16      another model or type
  test/bench/norm_output.py --rounds=20

Error is the relative Frobenius error of the outputs to the fp32 program on the
same inputs, the worst of a few; casts and bytes are the precision report's;
time is the median, over rounds in which both run in turn, of the ratio to
`follow` in the same round. Prints the table of docs/precision.md. The last line is
`N passed, N failed`: both programs must run, and errors stay within the bound.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "models")]
from ampctest import env

env.enter()

import numpy as np

import catalogue
import inputs
import transformers
from ampctest.report import Tally
from ampctest.tensors import frobenius_error

BOUND = {"fp16": 5e-3, "bf16": 3e-2}
SEEDS = range(3)
SHORTEST = re.compile(r"min = ([\d.]+) ms")


def execute(command: list) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", timeout=600)
    if done.returncode != 0:
        said = (done.stderr.strip() or "no message").splitlines()
        raise RuntimeError(f"exit {done.returncode}: {said[0]}")
    return done.stdout


class Program:
    """A compiled model with its precision report."""

    def __init__(self, model: pathlib.Path, folder: pathlib.Path, name: str, options: list[str]):
        self.path, self.folder = folder / name, folder
        report = folder / f"{name}.json"
        execute([env.ampc_path(), model, "-o", self.path, "--target=cpu",
                 f"--precision-report={report}", *options])
        self.totals = json.loads(report.read_text())["totals"] if report.exists() else {}
        self.times: list[float] = []

    def run(self, feeds: list[str]) -> list[np.ndarray]:
        out = self.folder / f"{self.path.name}-out"
        out.mkdir(exist_ok=True)
        execute([self.path, "run", *feeds, f"--output-dir={out}"])
        return [np.load(path) for path in sorted(out.glob("*.npy"))]

    def bench(self, feeds: list[str]) -> None:
        text = execute([self.path, "bench", *feeds, "--iterations=3", "--warm-up=0",
                        "--duration=0", "--threads=1"])
        self.times.append(float(SHORTEST.search(text)[1]))


def write_feeds(model: pathlib.Path, folder: pathlib.Path, seed: int) -> list[str]:
    feeds = []
    for name, array in inputs.random_inputs(model, seed).items():
        path = folder / f"{name}-{seed}.npy"
        np.save(path, array)
        feeds.append(f"--input={name}=@{path}")
    return feeds


def projected(folder: pathlib.Path) -> pathlib.Path:
    """Six layers of BERT on features that go through a matrix product first."""
    g = transformers.Transformer("projected", "decomposed", 11, 768, 12, 1, 128)
    x = g.linear(g.input("input", [1, 128, 768]), 768, 768, std=0.04, name="projection")
    penalty = g.constant(np.zeros((1, 1, 1, 128)))
    for layer in range(6):
        with g.scope(f"encoder.layer.{layer}"):
            x = transformers._bert_layer(g, x, penalty, 0.04)
    g.output("hidden", x)
    path = folder / "projected.onnx"
    path.write_bytes(g.finish().SerializeToString())
    return path


def measure(name: str, amp: str, rounds: int, folder: pathlib.Path) -> list[tuple]:
    """(setting, error, totals, relative time) of both settings."""
    model = projected(folder) if name == "projected" \
        else catalogue.generate(name, env.BUILD / "models")
    exact = Program(model, folder, "fp32", ["--amp=off"])
    programs = {setting: Program(model, folder, f"{amp}-{setting}",
                                 [f"--amp={amp}", f"--norm-output={setting}"])
                for setting in ("follow", "fp32")}
    feeds = [write_feeds(model, folder, seed) for seed in SEEDS]
    wanted = [exact.run(feed) for feed in feeds]
    errors = {setting: max(frobenius_error(got, want)
                           for feed, results in zip(feeds, wanted)
                           for got, want in zip(program.run(feed), results))
              for setting, program in programs.items()}
    for _ in range(rounds):
        for program in programs.values():
            program.bench(feeds[0])
    base = programs["follow"].times
    return [(setting, errors[setting], program.totals,
             statistics.median(time / other for time, other in zip(program.times, base)))
            for setting, program in programs.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="bert-base", choices=["projected", *catalogue.GENERATED])
    parser.add_argument("amp", nargs="?", default="bf16", choices=list(BOUND))
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    env.require_ampc()
    with tempfile.TemporaryDirectory(dir=env.BUILD) as folder:
        rows = measure(args.model, args.amp, args.rounds, pathlib.Path(folder))
    print("| `--norm-output=` | error to fp32 | casts | they write | activations | time |")
    print("|---|---|---|---|---|---|")
    tally = Tally()
    for setting, error, totals, time in rows:
        print(f"| `{setting}` | {error:.2e} | {totals['casts']} | "
              f"{totals['cast_bytes'] / 2**20:.1f} MiB | "
              f"{totals['activation_bytes'] / 2**20:.1f} MiB | {time:.2f} |")
        tally.add(error <= BOUND[args.amp])
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
