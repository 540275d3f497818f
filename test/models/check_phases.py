#!/usr/bin/env python3
#===- check_phases.py - what each phase of the compiler computes ----------===#
"""Compare small models phase by phase in the reference evaluator.

  test/models/check_phases.py            all of them
  test/models/check_phases.py bert-tiny  some

Each model is dumped after import, graph, precision and fusion, in fp32 and in
bf16, and `ampc-eval` runs every phase's output on the same inputs. Evaluated
in float64 and rounded only where types and casts say so, a phase may change
results by what it is for and nothing else:

  import -> graph        reassociation, folded batch norms: 2e-6
  graph -> precision     0 in fp32; autocast's roundings in bf16: 2e-2
  precision -> fusion    0 in fp32; roundings left out in bf16: 2e-2, none of
                         them with --strict-rounding: 0

The last line is `N passed, N failed`, counting steps between phases.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"))
from ampctest import env

env.enter()

import numpy as np
import onnx

import catalogue
import inputs
from ampctest.report import Tally

MODELS = ("mlp", "conv-bn", "resnet-tiny", "bert-tiny", "bert-tiny-fused", "bert-tiny-attention",
          "gpt2-tiny", "gpt2-tiny-fused", "gpt2-tiny-attention")
PHASES = ("import", "graph", "precision", "fusion")
# Relative Frobenius error from the phase before.
# Fusion cuts long sums into parts, which changes the order of f32 additions.
BOUNDS = {"off": {"graph": 2e-6, "precision": 0.0, "fusion": 2e-7},
          "bf16": {"graph": 2e-6, "precision": 2e-2, "fusion": 2e-2},
          "bf16 --strict-rounding": {"graph": 2e-6, "precision": 2e-2, "fusion": 0.0}}
DIFFERENCE = re.compile(r"result (\d+): relative difference (\S+),")


def execute(command: list) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", timeout=300)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise RuntimeError(f"exit {done.returncode}: {said[0]}")
    return done.stdout


def dump(model: pathlib.Path, amp: str, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """Phase -> its MLIR with all constants in it."""
    execute([env.ampc_path(), model, "--target=cpu", *f"--amp={amp}".split(), "--emit=mlir",
             "--compile-to=fusion", "--elide-above=4G", f"--dump-phases-to={folder}",
             "-o", folder / "result.mlir"])
    return {phase: next(folder.glob(f"*-{phase}.mlir")) for phase in PHASES}


def check(name: str, amp: str, tally: Tally) -> None:
    model = catalogue.generate(name, env.BUILD / "models")
    feeds = inputs.random_inputs(model)
    ordered = [feeds[value.name] for value in inputs.real_inputs(onnx.load(model))]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        options = []
        for index, array in enumerate(ordered):
            np.save(folder / f"input-{index}.npy", array)
            options.append(f"--input={folder / f'input-{index}.npy'}")
        dumps = dump(model, amp, folder)
        evaluator = env.ampc_path().with_name("ampc-eval")
        execute([evaluator, dumps["import"], *options, f"--output-dir={folder}",
                 "--print-limit=0"])
        for index in range(len(onnx.load(model).graph.output)):
            result = np.load(folder / f"{index}.npy")
            if not np.isfinite(result).all() or np.std(result) == 0:
                raise RuntimeError(f"result {index} proves nothing")
        for before, after in zip(PHASES, PHASES[1:]):
            text = execute([evaluator, "--check-phases", dumps[before], dumps[after], *options])
            errors = [float(value) for _, value in DIFFERENCE.findall(text)]
            worst = max(errors)
            good = worst <= BOUNDS[amp][after]
            # Autocast that rounds nothing has not run.
            good = good and not (amp != "off" and after == "precision" and worst == 0)
            tally.add(good)
            print(f"{'ok  ' if good else 'FAIL'} {name} {amp} {before} -> {after}: "
                  f"{worst:.2e} of {BOUNDS[amp][after]:.0e}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in catalogue.GENERATED]
    if unknown:
        parser.error(f"unknown model {unknown[0]}")
    env.require_ampc()
    tally = Tally()
    for name in args.names or MODELS:
        for amp in BOUNDS:
            try:
                check(name, amp, tally)
            except (RuntimeError, OSError, StopIteration) as error:
                tally.add(False)
                print(f"FAIL {name} {amp}: {error}", flush=True)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
