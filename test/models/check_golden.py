#!/usr/bin/env python3
#===- check_golden.py - how many kernels whole models take ----------------===#
"""Compare the launches and casts of whole models with golden.tsv.

  test/models/check_golden.py            all rows
  test/models/check_golden.py resnet50   one model
  test/models/check_golden.py --update   write what is measured into golden.tsv

Counted in the program before code is generated: launches, copies, the casts
that run inside the kernels launched, and kernels that only convert or move
(`lone`); in the precision report, the casts after the precision phase that run
(`decided`) and those of constants (`narrowed`). A compiled program must then
launch as many (`OUT bench --profile`), which is tried of the generated models
in f32 and bf16. Whatever golden.tsv says, ResNet-50 takes at most 60 launches and BERT-base at
most 12 a layer and 6 more, and no kernel of either only converts. The last line
is `N passed, N failed`.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"))
from ampctest import env

env.enter()

import catalogue
import verified
from ampctest.report import Tally

TABLE = pathlib.Path(__file__).with_name("golden.tsv")
MODELS = ("resnet50", "mobilenetv2", "bert-base", "gpt2", "unet", "ocr-det", "ocr-cls", "ocr-rec")
AMPS = ("off", "fp16", "bf16")
EXECUTED_AMPS = ("off", "bf16")
FIELDS = ("launches", "copies", "casts", "lone", "decided", "narrowed")
LIMITS = {"resnet50": 60, "bert-base": 12 * 12 + 6}

LAUNCH = re.compile(r'rt\.launch @"?([^"\s]+)"?')
KERNEL = re.compile(r'amp\.kernel private @"?([^"(\s]+)"?\((.*?)\n  \}', re.DOTALL)
OPERATION = re.compile(r"= amp\.(\w+)")
MOVING = {"cast", "reshape", "transpose", "slice", "broadcast", "constant"}
PROFILE = re.compile(r"([\d.]+) launches, ([\d.]+) copies a run")


def execute(command: list) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", timeout=600)
    if done.returncode != 0:
        said = (done.stderr.strip() or "no message").splitlines()
        raise RuntimeError(f"exit {done.returncode}: {said[0]}")
    return done.stdout


def count(program: str) -> dict[str, int]:
    """The figures of a program's MLIR after the memory phase."""
    launches = collections.Counter(LAUNCH.findall(program))
    kernels = {name: OPERATION.findall(body) for name, body in KERNEL.findall(program)}
    return {
        "launches": launches.total(),
        "copies": program.count("rt.copy "),
        "casts": sum(kernels[name].count("cast") * times for name, times in launches.items()),
        "lone": sum(times for name, times in launches.items() if set(kernels[name]) <= MOVING),
    }


def problems(model: str, static: dict[str, int], run: tuple[int, int] | None,
             golden: dict[str, int] | None) -> list[str]:
    found = []
    if golden is None:
        found.append("not in golden.tsv")
    else:
        found += [f"expected {golden[field]} {field}, got {static[field]}" for field in FIELDS
                  if golden[field] != static[field]]
    if run and run != (static["launches"], static["copies"]):
        found.append(f"runs {run[0]} launches and {run[1]} copies")
    if static["launches"] > LIMITS.get(model, static["launches"]):
        found.append(f"more than {LIMITS[model]} launches")
    if model in LIMITS and static["lone"]:
        found.append(f"{static['lone']} kernels that only convert or move")
    return found


def measure(name: str, amp: str, folder: pathlib.Path) -> tuple[dict[str, int], tuple | None]:
    """Figures of the program as text; launches and copies when it runs."""
    # Figures of any machine: the width of vectors decides on some views.
    common = [env.ampc_path(), *verified.compile_arguments(name), "--target=cpu", "--march=x86-64-v3",
              f"--amp={amp}"]
    text, report, program = folder / "memory.mlir", folder / "report.json", folder / "program"
    execute([*common, "--emit=mlir", "--compile-to=memory", f"--precision-report={report}",
             "-o", text])
    totals = json.loads(report.read_text())["totals"]
    figures = count(text.read_text()) | {"decided": totals["casts"],
                                         "narrowed": totals["constant_casts"]}
    if name not in catalogue.GENERATED or amp not in EXECUTED_AMPS:
        return figures, None
    execute([*common, "-o", program])
    match = PROFILE.search(execute([program, "bench", "--profile", "--iterations=1",
                                    "--warm-up=0", "--duration=0"]))
    if not match:
        raise RuntimeError("bench --profile printed no line of launches and copies")
    return figures, (int(float(match[1])), int(float(match[2])))


def load() -> dict[tuple[str, str], dict[str, int]]:
    rows = [line.split("\t") for line in TABLE.read_text().splitlines()
            if line and not line.startswith("#")] if TABLE.exists() else []
    return {(row[0], row[1]): dict(zip(FIELDS, map(int, row[2:]))) for row in rows}


def save(table: dict) -> None:
    lines = ["# " + "\t".join(("model", "amp", *FIELDS))]
    lines += ["\t".join([*key, *(str(row[field]) for field in FIELDS)])
              for key, row in sorted(table.items())]
    TABLE.write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in MODELS]
    if unknown:
        parser.error(f"unknown model {unknown[0]}")
    env.require_ampc()
    golden, tally = load(), Tally()
    for name in args.names or MODELS:
        for amp in AMPS:
            try:
                with tempfile.TemporaryDirectory() as folder:
                    static, run = measure(name, amp, pathlib.Path(folder))
                if args.update:
                    golden[name, amp] = static
                found = problems(name, static, run, golden.get((name, amp)))
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                static, found = {}, [str(error)]
            tally.add(not found)
            figures = ", ".join(f"{value} {field}" for field, value in static.items())
            print(f"{'FAIL' if found else 'ok  '} {name} {amp}: {'; '.join(found) or figures}",
                  flush=True)
    if args.update:
        save(golden)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
