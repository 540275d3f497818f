#!/usr/bin/env python3
#===- gpu_check.py - tests of tools/gpu-check ------------------------------===#
"""tools/gpu-check with the simulator in the place of a GPU: what it prepares
passes, and what is wrong in the folder fails.

The last line is `N passed, N failed`.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts")]
from ampctest import env

env.enter()

import numpy as np

import gpu_cases
from ampctest.report import Tally


def gpu_check(*words) -> tuple[int, str]:
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "gpu-check"), *map(str, words)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    return done.returncode, done.stdout


def main() -> int:
    env.require_ampc()
    tally = Tally()

    def expect(what: str, good: bool, said: str = "") -> None:
        if not good:
            print(f"FAIL {what}: {said[-1000:]}")
        tally.add(good)

    with tempfile.TemporaryDirectory() as made:
        folder, rows = pathlib.Path(made) / "programs", pathlib.Path(made) / "rows.json"

        def run() -> tuple[int, str, dict]:
            code, said = gpu_check(folder, "--device=sim", f"--json={rows}")
            found = json.loads(rows.read_text())["rows"]
            return code, said, {(row["part"], row["name"]): row["status"] for row in found}

        code, said = gpu_check("--prepare", folder, "--quick", "--archs=sm_80",
                               f"--ampc={env.ampc_path()}")
        expect("prepares", code == 0, said)
        names = [case.name for case in gpu_cases.cases() if case.quick]
        exact = [case.name for case in gpu_cases.cases() if case.quick and case.exact]
        code, said, status = run()
        wanted = {("numerics", name): "passed" for name in names}
        wanted |= {("simulator", name): "passed" for name in exact}
        expect("passes", code == 0 and status == wanted, said)

        # One element off by more than the tolerance; a bit of a matrix product.
        for file, change, row in (
                (f"{names[0]}.reference.npy", lambda a: a + np.abs(a).max(), ("numerics", names[0])),
                (f"{exact[1]}.sm_80.npy", lambda a: np.nextafter(a, np.float32(9)),
                 ("simulator", exact[1]))):
            kept = np.load(folder / file)
            broken = kept.copy()
            broken.flat[3] = change(kept.flat[3])
            np.save(folder / file, broken)
            code, said, status = run()
            expect(f"tells of {file}", code == 1 and status == {**wanted, row: "FAILED"}, said)
            np.save(folder / file, kept)

        program = folder / f"{names[-1]}.sm_80.sim"
        program.write_bytes(b"#!/bin/false\n")
        code, said, status = run()
        expect("tells of a program", code == 1 and status[("numerics", names[-1])] == "FAILED", said)
        code, said = gpu_check(folder, "--device=sim", "--minutes=0")
        expect("ends in time", code == 1 and said.count("skipped") == len(names), said)
    code, said = gpu_check(ROOT / "nowhere", "--device=sim")
    expect("needs a folder", code == 1 and "--prepare makes it" in said, said)

    # Which code a GPU runs, as the runtime chooses.
    namespace = {"__name__": "gpu-check", "__file__": str(ROOT / "tools" / "gpu-check")}
    exec(compile((ROOT / "tools" / "gpu-check").read_text(), "gpu-check", "exec"), namespace)
    for capability, image in (("8.0", "sm_80"), ("8.9", "sm_86"), ("9.0", "sm_90a"), ("7.5", None),
                              ("10.0", None), ("12.0", "sm_120")):
        got = namespace["image_of"](capability, ["sm_80", "sm_86", "sm_90a", "sm_120"])
        expect(f"image of {capability}", got == image, str(got))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
