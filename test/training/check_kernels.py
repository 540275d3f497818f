#!/usr/bin/env python3
#===- check_kernels.py - kernels of the backward pass ----------------------===#
"""Run operations of backward passes as kernels and in the reference evaluator.

  test/training/check_kernels.py                   all cases
  test/training/check_kernels.py --filter='conv-*' some of them
  test/training/check_kernels.py --modes=cpu       on some targets: cpu, v3, sm_75, sm_80

The cases of kernel_cases.py, each in several types: compiled for this CPU, for
one without AVX-512 and for GPUs of two architectures in the simulator, whose
checks of memory and of races are on. The evaluator computes in float64; each
result is within the type's bound of it, by relative Frobenius norm, and a
program gives the same bytes with one thread and with three. The last line is
`N passed, N failed`.
"""

import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts")]
from ampctest import env

env.enter()

import numpy as np

from ampctest.report import Tally
from kernel_cases import cases

MODES = {"cpu": (), "v3": ("--march=x86-64-v3",), "sm_75": ("--simulate", "--cuda-arch=sm_75"),
         "sm_80": ("--simulate", "--cuda-arch=sm_80")}
# What the evaluator rounds to at the end, and sums of products of that type.
BOUNDS = {"f32": 1e-5, "f16": 2e-3, "bf16": 1e-2}
SIGNATURE = re.compile(r"func\.func @main\((.*?)\) ->", re.DOTALL)
ARGUMENT = re.compile(r"%(\w+): (tensor<[^>]*>)")


def execute(*command) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                          timeout=300)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise RuntimeError(f"exit {done.returncode}: {said[0]}")


def load(path: pathlib.Path) -> np.ndarray:
    """A tensor as float64; files hold bf16 as two bytes of no type."""
    array = np.load(path)
    if array.dtype.kind == "V":
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


def evaluate(text: str, folder: pathlib.Path, options: list) -> list[np.ndarray]:
    folder.mkdir()
    (folder / "main.mlir").write_text(text)
    execute(env.ampc_path().with_name("ampc-eval"), folder / "main.mlir", f"--output-dir={folder}",
            "--print-limit=0", *options)
    return sorted(folder.glob("*.npy"), key=lambda path: int(path.stem))


def draw(text: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """Seeded inputs for the arguments; integers are below the bound that a case sets in its first line."""
    arguments = ARGUMENT.findall(SIGNATURE.search(text).group(1))
    values = ", ".join(f"%{name}" for name, _ in arguments)
    types = ", ".join(type for _, type in arguments)
    signature = ", ".join(f"%{name}: {type}" for name, type in arguments)
    paths = evaluate(f"func.func @main({signature}) -> ({types}) {{\n  return {values} : {types}\n}}\n",
                     folder / "inputs", ["--seed=3"])
    limit = re.search(r"// integers below (\d+)", text)
    for i, (path, (_, type)) in enumerate(zip(paths, arguments)):
        if type.endswith("i64>"):
            shape = np.load(path).shape
            np.save(path, np.random.default_rng(i).integers(-1, int(limit.group(1)), shape))
    return paths


def run(names: list[str], inputs: list[pathlib.Path], results: int, folder: pathlib.Path, mode: str, threads: int):
    folder.mkdir(exist_ok=True)
    named = zip(names, inputs)
    execute(env.ampc_path(), "run", folder.parent / "named.mlir", "--compile-from=import", "--amp=off", *MODES[mode],
            f"--threads={threads}", *(f"--input={name}=@{path}" for name, path in named),
            *(f"--output=out{i}=@{folder / f'{i}.npy'}" for i in range(results)))
    return [folder / f"{i}.npy" for i in range(results)]


def name_values(text: str) -> tuple[str, list[str]]:
    """The function with names for arguments and results, and those of the arguments."""
    names = [name for name, _ in ARGUMENT.findall(SIGNATURE.search(text).group(1))]
    head, rest = text.split(") -> (", 1)
    head = ARGUMENT.sub(lambda m: f'{m.group(0)} {{amp.name = "{m.group(1)}"}}', head)
    types, body = rest.split(") {", 1)
    parts = [f'{type} {{amp.name = "out{i}"}}' for i, type in enumerate(re.findall(r"tensor<[^>]*>", types))]
    return f"{head}) -> ({', '.join(parts)}) {{{body}", names


def check(tally: Tally, name: str, text: str, bound: float, modes: list[str]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        inputs = draw(text, folder)
        expected = [load(path)
                    for path in evaluate(text, folder / "expected", [f"--input={path}" for path in inputs])]
        named, names = name_values(text)
        (folder / "named.mlir").write_text(named)
        for mode in modes:
            problems = []
            try:
                paths = run(names, inputs, len(expected), folder / mode, mode, 1)
                for i, (path, wanted) in enumerate(zip(paths, expected, strict=True)):
                    got = load(path)
                    scale = np.linalg.norm(wanted)
                    error = np.linalg.norm(got - wanted) / (scale or 1)
                    if got.shape != wanted.shape or not error <= bound:
                        problems.append(f"result {i} is {error:.2g} off")
                if mode in ("cpu", "v3"):
                    others = run(names, inputs, len(expected), folder / f"{mode}-3", mode, 3)
                    for path, other in zip(paths, others):
                        if path.read_bytes() != other.read_bytes():
                            problems.append("three threads give other bytes than one")
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                problems.append(str(error))
            tally.report(f"{name} on {mode}", problems)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="*", help="a glob of cases")
    parser.add_argument("--modes", default=",".join(MODES), help="targets, separated by commas")
    options = parser.parse_args()
    env.require_ampc()
    tally = Tally()
    for case in cases():
        if fnmatch.fnmatchcase(case.name, options.filter):
            # An architecture without bf16 computes it all the same.
            check(tally, case.name, case.text, BOUNDS[case.type], options.modes.split(","))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
