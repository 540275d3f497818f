#!/usr/bin/env python3
#===- edges.py - hard graphs against the reference evaluator --------------===#
"""Run the graphs of edges.mlir compiled and in the reference evaluator.

Written by hand for what is hard to fuse and to place: values stored in two
types, empty tensors, splats in every position, results that are inputs,
constants or each other, views in prologues and epilogues. Each runs as it is
and with --strict-rounding, on seeded inputs; outputs agree to 1e-2, one rounding
of bf16. The last line is `N passed, N failed`.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"))
from ampctest import env

env.enter()

from ampctest.report import Tally

GRAPHS = pathlib.Path(__file__).with_name("edges.mlir")
SIGNATURE = re.compile(r"func\.func @main\((.*?)\) ->", re.DOTALL)
TENSOR = re.compile(r"tensor<[^>]*>")


def execute(command: list) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", timeout=120)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise RuntimeError(f"exit {done.returncode}: {said[0]}")


def evaluate(text: str, folder: pathlib.Path, kind: str) -> None:
    """Run `text` on the inputs of one seed; results are <folder>/<kind>_<i>.npy."""
    (folder / "results").mkdir()
    (folder / "evaluated.mlir").write_text(text)
    execute([env.ampc_path().with_name("ampc-eval"), folder / "evaluated.mlir", "--seed=3",
             f"--output-dir={folder / 'results'}", "--print-limit=0"])
    for path in (folder / "results").iterdir():
        path.rename(folder / f"{kind}_{path.name}")
    (folder / "results").rmdir()


def identity(text: str) -> str:
    """A function that returns the arguments of the one in `text`."""
    types = TENSOR.findall(SIGNATURE.search(text).group(1))
    arguments = ", ".join(f"%arg{index}: {type}" for index, type in enumerate(types))
    values = ", ".join(f"%arg{index}" for index in range(len(types)))
    return (f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n"
            f"  return {values} : {', '.join(types)}\n}}\n")


def main() -> int:
    env.require_ampc()
    tally = Tally()
    for text in GRAPHS.read_text().split("// -----\n"):
        title = text.strip().splitlines()[0].removeprefix("// ")
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            (folder / "graph.mlir").write_text(text)
            for options in ([], ["--strict-rounding"]):
                problem = None
                try:
                    if not options:
                        evaluate(identity(text), folder, "input")
                        evaluate(text, folder, "output")
                    execute([env.ampc_path(), "verify", folder / "graph.mlir", f"--data={folder}",
                             "--amp=off", "--rtol=1e-2", "--atol=1e-2", *options])
                except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                    problem = str(error)
                tally.add(problem is None)
                if problem:
                    print(f"FAIL {' '.join([title, *options])}: {problem}", flush=True)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
