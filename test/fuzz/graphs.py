#!/usr/bin/env python3
#===- graphs.py - random graphs against ONNX Runtime ----------------------===#
"""Compile small random ONNX graphs and compare them with ONNX Runtime.

  test/fuzz/graphs.py                   the 300 seeds that tools/check runs
  test/fuzz/graphs.py --seeds=300:5000  others
  test/fuzz/graphs.py --shrink          also make each failing graph small

  test/fuzz/graphs.py --modes=fp16      also pure-bf16, strict-bf16

Every graph runs in fp32 and with --amp=bf16. How far a result may be from
ONNX Runtime's is measured, not guessed: the same graph runs in ONNX Runtime
with a little noise multiplied onto every value, of the size of the type's
rounding, and a result may differ by a few times what the noise does. Graphs
whose results are infinite, or drown in noise, prove nothing and count as
skipped. Failing graphs stay in build/fuzz. The last line is
`N passed, N failed`.
"""

import argparse
import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"),
                str(pathlib.Path(__file__).resolve().parents[1] / "backend")]
from ampctest import env

env.enter()

import numpy as np
import onnx

import random_graph
import reference
import shrink
import suite
from ampctest.report import Tally

FOLDER = env.BUILD / "fuzz"
OPTIONS = {"fp32": ["--amp=off"], "bf16": ["--amp=bf16"], "fp16": ["--amp=fp16"],
           "pure-bf16": ["--amp=pure-bf16"], "strict-bf16": ["--amp=bf16", "--strict-rounding"]}


class Case:
    """A graph, its inputs and what it should compute in one precision."""

    def __init__(self, name: str, mode: str, model: onnx.ModelProto, feeds: dict):
        self.name, self.mode, self.model, self.feeds = name, mode, model, feeds
        self.answer = reference.evaluate(model, feeds, mode)

    def write(self) -> str:
        """Write the files; the case's line in a suite's list."""
        folder = FOLDER / self.name
        reference.write(folder, self.model, self.feeds, self.answer)
        options = [*OPTIONS[self.mode], f"--max-error=frobenius:{self.answer.bound:.3g}"]
        return suite.line(self.name, str(folder / "model.onnx"), str(folder), 0, 0, options)

    def remove(self) -> None:
        folder = FOLDER / self.name
        for path in folder.glob("*"):
            path.unlink()
        folder.rmdir()


def run(cases: list[Case], jobs: int, timeout: int) -> dict[str, suite.Result]:
    if not cases:
        return {}
    return suite.run([case.write() for case in cases], FOLDER / "list.txt", jobs, timeout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:300", metavar="FIRST:LAST")
    parser.add_argument("--modes", default="fp32,bf16")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=20, metavar="SECONDS")
    args = parser.parse_args()
    first, last = map(int, args.seeds.split(":"))
    modes = args.modes.split(",")
    if not set(modes) <= set(OPTIONS):
        parser.error(f"--modes: expected some of {', '.join(OPTIONS)}")
    env.require_ampc()
    FOLDER.mkdir(parents=True, exist_ok=True)
    tally, cases = Tally(), []
    for seed in range(first, last):
        for mode in modes:
            # Where 16-bit rounding may turn a comparison around, results jump.
            model, feeds = random_graph.make(seed, smooth=mode != "fp32")
            case = Case(f"{mode}-{seed}", mode, model, feeds)
            if case.answer.bound is None:
                tally.skipped += 1
            else:
                cases.append(case)
    results = run(cases, args.jobs, args.timeout)
    for case in cases:
        result = results[case.name]
        tally.add(result.status == "pass")
        if result.status == "pass":
            case.remove()
            continue
        print(f"FAIL {case.name}: {result.status}: {result.message}", flush=True)
        if args.shrink:
            small = shrink.shrink(case, result.status, lambda tries: run(tries, args.jobs,
                                                                         args.timeout))
            print(f"     {FOLDER / small.name}/model.onnx")
            print(onnx.printer.to_text(small.model.graph), flush=True)
    if tally.passed < tally.skipped:
        print("error: most graphs prove nothing")
        tally.add(False)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
