#!/usr/bin/env python3
#===- check_gradients.py - gradients against differences -------------------===#
"""Compare the gradient of every differentiable op with central differences.

  test/training/check_gradients.py                all ops
  test/training/check_gradients.py --filter=conv*

Each op is differentiated in f64 by the compiler, run by the reference evaluator
and compared with (f(x + h) - f(x - h)) / 2h, in three shapes or more. An op of
the dialect that has a float result and is neither here nor listed as untrained
is a failure, as is a listed one that is not there. The last line is
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
sys.path.insert(0, str(ROOT / "tools" / "scripts"))
from ampctest import env

env.enter()

from ampctest.report import Tally
from gradient_cases import CASES, UNTRAINED, tensor

TOLERANCE = 1e-6
DEFINITIONS = ROOT / "dialects" / "Amp" / "IR"
# The ops whose results are never floats.
WITHOUT_FLOATS = {"and", "or", "xor", "shift_left", "shift_right", "bitwise_not", "logical_not", "compare", "is_nan",
                  "is_inf", "arg_max", "arg_min", "yield", "kernel", "weight"}


def dialect() -> set[str]:
    """The mnemonics of all ops that TableGen knows."""
    include = ["-I", str(ROOT), "-I", "/usr/lib/llvm-22/include"]
    done = subprocess.run(["/usr/lib/llvm-22/bin/llvm-tblgen", "-dump-json", *include, str(DEFINITIONS / "AmpOps.td")],
                          capture_output=True, text=True, check=True)
    import json
    records = json.loads(done.stdout)
    return {records[name]["opName"] for name in records["!instanceof"]["Op"]
            if records[name]["opDialect"]["def"] == "Amp_Dialect"}


def argument(index: int, given) -> str:
    if isinstance(given, list):
        return f"%{index}: {tensor(given)}"
    shape, what, *rest = given
    if what == "i1":
        return f"%{index}: {tensor(shape, 'i1')}"
    if what == "i64":
        return f"%{index}: {tensor(shape, 'i64')} {{amp.below = array<i64: {rest[0]}>}}"
    low, high = what
    return f"%{index}: {tensor(shape)} {{amp.range = array<f64: {float(low)}, {float(high)}>}}"


def function(name: str, arguments, text: str, result) -> str:
    results = result if isinstance(result, tuple) else (result,)
    names = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
    count = f":{len(results)}" if len(results) > 1 else ""
    return (f"func.func @{name}({', '.join(argument(i, a) for i, a in enumerate(arguments))}) -> "
            f"({', '.join(results)}) {{\n  %r{count} = {text}\n  return {names} : {', '.join(results)}\n}}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="*", metavar="GLOB")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    tally = Tally()
    for name, cases in CASES.items():
        if not fnmatch.fnmatchcase(name, args.filter):
            continue
        problems = [] if len(cases) >= 3 else [f"{len(cases)} cases"]
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write("".join(function(f"{name}_{i}", *case) for i, case in enumerate(cases)))
            file.flush()
            done = subprocess.run([env.BUILD / "bin" / "ampc-eval", file.name, "--check-gradients",
                                   f"--tolerance={TOLERANCE}"], capture_output=True, text=True)
        checked = re.findall(r"relative error (\S+)", done.stdout)
        worst = max(map(float, checked), default=float("nan"))
        if done.returncode:
            bad = [line for line in done.stdout.splitlines()
                   if not float(line.rsplit(" ", 1)[1]) <= TOLERANCE]
            problems += (bad or done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[:3]
        elif len(checked) < len(cases):
            problems.append(f"{len(checked)} gradients of {len(cases)} cases")
        tally.report(name, problems, f"{len(checked)} gradients, at most {worst:.1g}", args.verbose)
    if args.filter == "*":
        known = dialect()
        for name in sorted(known - set(CASES) - set(UNTRAINED) - WITHOUT_FLOATS):
            tally.report(name, ["neither differentiated nor listed"])
        for name in sorted((set(CASES) | set(UNTRAINED) | WITHOUT_FLOATS) - known):
            tally.report(name, ["there is no such op"])
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
