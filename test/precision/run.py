#!/usr/bin/env python3
#===- run.py - mixed precision on the small models of known defects --------===#
"""Compile and run small models that mixed precision gets wrong elsewhere.

  test/precision/run.py                       all cases
  test/precision/run.py --filter='*mask*'     some
  test/precision/run.py -v                    name those that pass

Each case is one model in several modes, its right value computed in float64.
All run in one process, `ampc verify --suite` (see tools/onnx-backend); then the
decisions are checked in the precision report and in the MLIR of the phases, and
a second run of the precision phase must change nothing. The files stay in build/precision. The last line is `N passed, N failed`.
"""

import argparse
import fnmatch
import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "backend")]
from ampctest import env

env.enter()

import onnx

import suite
from ampctest.report import Tally
from ampctest.tensors import save_tensor
from case import CASES, Graph
from decisions import Decisions

FOLDER = env.BUILD / "precision"
THEMES = ("mask", "norm", "policy", "reduction", "region", "size", "type")


def write(name: str, graph: Graph, folder: pathlib.Path) -> str:
    """Write model and data; the line of the suite."""
    model = graph.model()
    onnx.checker.check_model(model, full_check=True)
    (folder / "data").mkdir(parents=True)
    (folder / "phases").mkdir()
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for kind, rows in (("input", graph.inputs), ("output", graph.outputs)):
        for index, (info, array) in enumerate(rows):
            save_tensor(folder / "data" / f"{kind}_{index}.pb", array, info.name)
    options = ["--target=cpu", *graph.options, f"--precision-report={folder / 'report.json'}",
               f"--dump-phases-to={folder / 'phases'}"]
    if not any(option.startswith("--amp=") for option in options):
        options.append(f"--amp={graph.mode}")
    return suite.line(name, str(folder / "model.onnx"), str(folder / "data"), graph.rtol,
                      graph.atol, options)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", action="append", default=[], metavar="GLOB")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    env.require_ampc()
    for theme in THEMES:
        __import__(f"{theme}_cases")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    lines, graphs, checks = [], {}, {}
    for one in CASES:
        for mode in one.modes:
            name = f"{one.name}-{mode}"
            if args.filter and not any(fnmatch.fnmatch(name, p) for p in args.filter):
                continue
            assert name not in graphs, f"two cases are called {one.name}"
            graphs[name] = Graph(one.name, mode)
            checks[name] = one.write(graphs[name])
            lines.append(write(name, graphs[name], FOLDER / name))
    if not lines:
        parser.error("no case matches")
    results = suite.run(lines, FOLDER / "suite.list", args.jobs, timeout=60)
    tally = Tally()
    for name, result in results.items():
        decisions = Decisions(FOLDER / name, graphs[name].options)
        if result.status == "pass":
            if checks[name]:
                checks[name](decisions)
            if not graphs[name].options:
                decisions.expect_idempotent(graphs[name].mode)
        problems = decisions.problems
        if result.status != "pass":
            problems = [f"{result.status} (exit {result.code}): {result.message}"]
        tally.report(name, problems, verbose=args.verbose)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
