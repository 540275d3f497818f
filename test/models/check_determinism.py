#!/usr/bin/env python3
#===- check_determinism.py - the same model gives the same bytes ----------===#
"""Compile models several times and compare every byte that is written.

  test/models/check_determinism.py            the models that tools/check uses
  test/models/check_determinism.py resnet50   others

The programs, the library and its header, a folder of GPU kernels, the precision and the memory report
must not depend on the folder of the model, the working folder, the number of
threads of the compiler or chance. The last line is `N passed, N failed`,
counting files.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"))
from ampctest import env

env.enter()

import catalogue
from ampctest.report import Tally

MODELS = ("mlp", "conv-bn", "bert-tiny")


def compile_all(model: pathlib.Path, folder: pathlib.Path, amp: str, jobs: int) -> dict[str, str]:
    """Name of each file written for a copy of the model in `folder` -> its hash."""
    folder.mkdir(parents=True)
    shutil.copy(model, folder / "model.onnx")
    cpu, gpu = ["--target=cpu"], ["--cuda-arch=sm_80,sm_90a", "--no-cache"]
    for name, extra in (("program", cpu), ("library.so", [*cpu, "--emit=lib"]),
                        ("memory.mlir", [*cpu, "--emit=mlir", "--compile-to=memory"]),
                        ("gpu-program", gpu), ("kernels", [*gpu, "--emit=kernels"])):
        command = [str(env.ampc_path()), "model.onnx", "-o", name, f"--amp={amp}", f"-j{jobs}", "--precision-report=precision.json", "--memory-report=memory.json",
                   *extra]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip().splitlines()[:1]}")
    (folder / "model.onnx").unlink()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def check(name: str, amp: str, tally: Tally) -> None:
    model = catalogue.generate(name, env.BUILD / "models")
    # Not below one folder: then the depth of the paths differs too.
    with tempfile.TemporaryDirectory() as near, tempfile.TemporaryDirectory() as far:
        first = compile_all(model, pathlib.Path(near) / "a", amp, 1)
        again = compile_all(model, pathlib.Path(near) / "b", amp, 1)
        other = compile_all(model, pathlib.Path(far) / "some" / "other folder", amp, 2)
    for file in sorted({*first, *again, *other}):
        same = first.get(file) == again.get(file) == other.get(file)
        tally.add(same)
        print(f"{'ok  ' if same else 'FAIL'} {name} {amp} {file}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in catalogue.GENERATED]
    if unknown:
        parser.error(f"unknown model {unknown[0]}")
    env.require_ampc()
    os.environ.pop("NO_COLOR", None)
    tally = Tally()
    for name in args.names or MODELS:
        for amp in ("off", "bf16"):
            try:
                check(name, amp, tally)
            except (RuntimeError, OSError) as error:
                tally.add(False)
                print(f"FAIL {name} {amp}: {error}", flush=True)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
