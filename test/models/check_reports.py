#!/usr/bin/env python3
#===- check_reports.py - reports and policies fit their schemas -----------===#
"""Check the precision reports of whole models against docs/schemas.

  test/models/check_reports.py              all models
  test/models/check_reports.py resnet-tiny  one model

For each model and policy: the report fits its schema; its entries and totals
agree with each other; and every rule holds again when the types that it states
are asked for by path in a policy file, which fits its own schema. A few broken
reports and policies must not fit. The last line is `N passed, N failed`.
"""

import argparse
import collections
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"))
from ampctest import env

env.enter()

import catalogue
from ampctest import schema
from ampctest.report import Tally

SCHEMAS = env.ROOT / "docs" / "schemas"
MODELS = ("mlp", "resnet-tiny", "bert-tiny", "gpt2-tiny", "unet")
RUNS = {
    "auto": [],
    "off": ["--amp=off"],
    "tf32": ["--amp=tf32"],
    "fp16": ["--amp=fp16", "--constants=saturate"],
    "bf16": ["--amp=bf16", "--norm-output=fp32"],
    "pure-bf16": ["--amp=pure-bf16", "--strict-rounding"],
}
TYPES = {"f32": "fp32", "f16": "fp16", "bf16": "bf16"}


def load(name: str):
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text())


def explain(model: pathlib.Path, options: list[str]):
    """The report of a model."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = subprocess.run(
            [str(env.ampc_path()), str(model), "--compile-to=precision", "-o", "/dev/null",
             f"--precision-report={file.name}", *options],
            capture_output=True, text=True, errors="replace", timeout=600)
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip().splitlines()[0]}")
        return json.loads(pathlib.Path(file.name).read_text())


def check_sums(report) -> list[str]:
    """What of a report contradicts the rest of it."""
    wrong = []
    types = collections.Counter(op["type"] for op in report["ops"])
    if dict(types) != report["totals"]["ops"]:
        wrong.append(f"totals.ops: expected {dict(types)}, got {report['totals']['ops']}")
    width = {"f32": 4, "f16": 2, "bf16": 2}
    for cast in report["casts"]:
        if cast["bytes"] != cast["elements"] * width[cast["to"]]:
            wrong.append(f"cast of {cast['value']}: {cast['elements']} elements in {cast['bytes']} bytes")
    for loss in report["constants"]:
        if loss["overflow"] + loss["subnormal"] + loss["flushed"] > loss["elements"]:
            wrong.append(f"constant {loss['value']}: more losses than elements")
    if not report["ops"]:
        wrong.append("no operation")
    return wrong


def make_policy(report):
    """A policy that asks for the type of each operation by its path."""
    layers = {}
    for op in report["ops"]:
        movable = op["rule"] not in ("pinned", "kept") and op["type"] in TYPES
        for path in op["paths"] if movable else []:
            layers.setdefault(path, set()).add(TYPES[op["type"]])
    # A node that became several operations of different types has no one type.
    return {"version": 1, "layers": {path: types.pop() for path, types in layers.items()
                                     if len(types) == 1}}


def record(tally: Tally, name: str, wrong: list[str]) -> None:
    if wrong:
        print(f"FAIL {name}: {'; '.join(wrong[:3])}")
    tally.add(not wrong)


def check_model(name: str, tally: Tally, report_schema, policy_schema) -> None:
    model = catalogue.generate(name, env.BUILD / "models")
    for run, options in RUNS.items():
        try:
            report = explain(model, options)
            wrong = schema.check(report, report_schema) + check_sums(report)
            policy = make_policy(report)
            wrong += schema.check(policy, policy_schema)
            if run in ("fp16", "bf16"):
                with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                    json.dump(policy, file)
                    file.flush()
                    again = explain(model, [*options, f"--precision-policy={file.name}"])
                for before, after in zip(report["ops"], again["ops"], strict=True):
                    if before["type"] != after["type"]:
                        wrong.append(f"{before['nodes']}: asked for {before['type']}, got {after['type']}")
        except RuntimeError as error:
            wrong = [str(error)]
        record(tally, f"{name} {run}", wrong)


def run_ampc(*words) -> str:
    done = subprocess.run([str(env.ampc_path()), *map(str, words)], capture_output=True, text=True,
                          errors="replace", timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip().splitlines()[0]}")
    return done.stdout


def check_kernels(name: str, tally: Tally) -> None:
    """The report of a model's kernels, of the program's, and the index of a
    folder of them; the first two tell the same."""
    model = catalogue.generate(name, env.BUILD / "models")
    target = ["--cuda-arch=sm_80,sm_90a", "--amp=fp16", "--constants=saturate"]
    with tempfile.TemporaryDirectory() as made:
        program, folder = pathlib.Path(made) / "program", pathlib.Path(made) / "kernels"
        try:
            report = json.loads(run_ampc("inspect", "--kernels", "--json", model, *target))
            run_ampc(model, "-o", program, *target)
            again = json.loads(run_ampc("inspect", "--kernels", "--json", program))
            run_ampc(model, "-o", folder, "--emit=kernels", *target)
            index = json.loads((folder / "index.json").read_text())
        except RuntimeError as error:
            record(tally, f"{name} kernels", [str(error)])
            return
    record(tally, f"{name} kernels", schema.check(report, load("kernel-report")))
    record(tally, f"{name} program", schema.check(again, load("kernel-report")))
    record(tally, f"{name} index", schema.check(index, load("kernel-index")))
    wrong = []
    for key in ("memory", "totals"):
        if report[key] != again[key]:
            wrong.append(f"{key}: {report[key]} of the model, {again[key]} of the program")
    for one, other in zip(report["kernels"], again["kernels"], strict=True):
        for ours, theirs in zip(one["variants"], other["variants"], strict=True):
            differing = [key for key in theirs if key != "main_loop" and ours[key] != theirs[key]]
            if differing:
                wrong.append(f"{one['name']} {ours['architecture']}: {', '.join(differing)}")
        spills = sum(variant.get("spill_store_bytes", 0) for variant in one["variants"])
        if spills:
            wrong.append(f"{one['name']}: {spills} bytes of spills")
    if sum(kernel["launches"] for kernel in report["kernels"]) != report["totals"][0]["launches"]:
        wrong.append("launches do not add up")
    record(tally, f"{name} program as model", wrong)


def check_broken(tally: Tally, report_schema, policy_schema) -> None:
    """What must not fit."""
    report = explain(catalogue.generate("mlp", env.BUILD / "models"), ["--amp=bf16"])

    def without(key):
        broken = copy.deepcopy(report)
        del broken[key]
        return broken

    def with_op(key, value):
        broken = copy.deepcopy(report)
        broken["ops"][0][key] = value
        return broken

    rows = [("no policy", without("policy"), report_schema),
            ("no totals", without("totals"), report_schema),
            ("a class of its own", with_op("class", "lowest"), report_schema),
            ("an unknown key", with_op("why", ""), report_schema),
            ("a number for a name", with_op("op", 1), report_schema),
            ("policy: an unknown key", {"layer": {}}, policy_schema),
            ("policy: an unknown type", {"ops": {"Exp": "fp8"}}, policy_schema),
            ("policy: a rule without a type", {"layers": [{"pattern": "a"}]}, policy_schema),
            ("policy: an array of operators", {"ops": []}, policy_schema),
            ("policy: another version", {"version": True}, policy_schema)]
    for name, value, chosen in rows:
        record(tally, name, [] if schema.check(value, chosen) else ["it fits"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS)
    args = parser.parse_args()
    env.require_ampc()
    report_schema, policy_schema = load("precision-report"), load("precision-policy")
    tally = Tally()
    check_broken(tally, report_schema, policy_schema)
    for name in args.models:
        check_model(name, tally, report_schema, policy_schema)
        check_kernels(name, tally)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
