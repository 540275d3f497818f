#!/usr/bin/env python3
#===- check_classes.py - the autocast class of every operator --------------===#
"""Compare how each imported ONNX operator is typed with the table of classes.

  test/precision/check_classes.py                 all operators
  test/precision/check_classes.py --filter=Reduce*

Models are ONNX's own backend tests, and a few of operators that have none. Each
is compiled to the precision phase under --amp=bf16, three times:

  as it is          the class that the report gives the node's operations
  low               every float input made bf16 before it: `lower`, `promote`
                    and `follow` run in bf16, `fp32` in f32
  mixed             all but the last made bf16: `promote` ends in f32

test/data/onnx_autocast_classes.tsv says what is expected. Operators that are
typed otherwise stand in class_deviations.tsv with a reason, beside a class:
`none` where nothing is typed, `body` where a body's operators have classes of
their own, `-` where the operator is not imported. An entry that is not needed
is a failure, as is an operator in neither table. The last line is
`N passed, N failed`, counting operators.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "backend")]
from ampctest import env

env.enter()

import onnx
from onnx import TensorProto, helper

import collect
import expectations
import modes
from ampctest.report import Tally
from operator_models import MODELS

TABLE = ROOT / "test" / "data" / "onnx_autocast_classes.tsv"
DEVIATIONS = pathlib.Path(__file__).with_name("class_deviations.tsv")
# What moves elements beside the operation that computes.
MOVING = {"reshape", "transpose", "slice", "gather", "concat", "broadcast", "cast", "pad"}
MODELS_PER_OPERATOR = 2
# Inputs that keep their type whatever the class: they say where to read, or
# which type is meant.
POSITIONS = {"CastLike": {1}, "GridSample": {1}}
# The oldest opset with the operator put before inputs.
OLDEST = 7


def table(path: pathlib.Path) -> dict[str, str]:
    """Operator -> class."""
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    assert all(len(row) >= 3 and row[2] for row in rows), f"{path}: a row lacks its reason"
    return {row[0]: row[1] for row in rows}


def declared_classes() -> dict[str, str]:
    """Operator -> class, as `ampc ops` prints them."""
    text = subprocess.run([env.ampc_path(), "ops"], capture_output=True, text=True,
                          check=True).stdout
    rows = [line.split() for line in text.splitlines()[1:]]
    return {row[0]: row[1] for row in rows if len(row) > 2}


class Variant:
    """A model, and which of its inputs are made bf16 by a node before them."""

    def __init__(self, operator: str, model: onnx.ModelProto, data: str, bind: list[str],
                 low: list[str]):
        self.model, self.low = onnx.ModelProto(), low
        self.model.CopyFrom(model)
        graph = self.model.graph
        names = [value.name for value in graph.input]
        self.bound = [f"--bind-input={name}=@{data}/input_{names.index(name)}.pb" for name in bind]
        for node in graph.node:
            for index, value in enumerate(node.input):
                if value in low:
                    node.input[index] = f"low.{value}"
        nodes = [helper.make_node("Sin", [value], [f"low.{value}"], name=f"low.{value}")
                 for value in low] + list(graph.node)
        del graph.node[:]
        graph.node.extend(nodes)
        at = [node.op_type for node in nodes].index(operator.rsplit(".", 1)[-1])
        self.path = f"main/{at}"
        if all(entry.domain for entry in self.model.opset_import):
            self.model.opset_import.append(helper.make_opsetid("", OLDEST))

    def rows(self) -> list[dict] | None:
        """The report's rows of the operator; None where the compiler refuses."""
        with tempfile.TemporaryDirectory() as folder:
            model, report = pathlib.Path(folder, "model.onnx"), pathlib.Path(folder, "report")
            model.write_bytes(self.model.SerializeToString())
            options = [f"--layer-precisions={','.join(f'low.{x}:bf16' for x in self.low)}"] \
                if self.low else []
            done = subprocess.run(
                [env.ampc_path(), model, "--target=cpu", "--amp=bf16", "--emit=mlir",
                 "--compile-to=precision", "-o", os.devnull, f"--precision-report={report}",
                 *options, *self.bound], capture_output=True, text=True, timeout=60)
            if done.returncode != 0:
                return None
            return [row for row in json.loads(report.read_text())["ops"]
                    if any(path == self.path or path.startswith(self.path + "/")
                           for path in row["paths"])]


def float_inputs(model: onnx.ModelProto, bind: list[str]) -> list[str]:
    """The inputs of f32 that say what and not where, in order."""
    if any(entry.version < OLDEST for entry in model.opset_import if not entry.domain):
        return []
    node = model.graph.node[0]
    positions = {node.input[slot] for slot in POSITIONS.get(node.op_type, ())}
    return [value.name for value in model.graph.input
            if value.name not in bind and value.name not in positions
            and value.type.tensor_type.elem_type == TensorProto.FLOAT]


def models_of(operator: str, tests: list) -> list[tuple]:
    """(model, data folder, bound inputs) of an operator, those with floats first."""
    if operator in MODELS:
        return [(MODELS[operator](), "", [])]
    return [(onnx.load(test.model, load_external_data=False), test.data, test.bind)
            for test in sorted(tests, key=lambda test: ("float" not in test.dtypes, test.name))
            [:MODELS_PER_OPERATOR]]


def judge(operator: str, expected: str, tests: list) -> list[str]:
    """What is wrong with how an operator is typed."""
    problems, seen = [], 0
    for model, data, bind in models_of(operator, tests):
        floats = float_inputs(model, bind)
        kinds = [("as it is", [])]
        if floats and expected not in ("none", "body"):
            kinds.append(("low", floats))
        if expected == "promote" and len(floats) > 1:
            kinds.append(("mixed", floats[:-1]))
        for kind, low in kinds:
            rows = Variant(operator, model, data, bind, low).rows()
            if rows is None:
                problems.append(f"{kind}: the compiler refuses {model.graph.name}")
                continue
            seen += len(rows)
            problems += [f"{model.graph.name}, {kind}: {text}"
                         for text in compare(rows, expected, kind)]
    if not seen and expected != "none":
        problems.append("no operation in any report")
    if seen and expected == "none":
        problems.append(f"{seen} operations in the reports")
    return problems


def compare(rows: list[dict], expected: str, kind: str) -> list[str]:
    if expected == "body":
        return []
    computing = [row for row in rows if row["op"] not in MOVING or row["class"] == expected]
    found = [f"{row['op']} is {row['class']}" for row in computing or rows
             if row["class"] != expected]
    typed = [row for row in computing if row["rule"] not in ("pinned", "position")]
    if kind == "mixed":
        # A chain meets the f32 operand in its last link.
        typed = typed[-1:]
    wanted = {"as it is": None, "low": "f32" if expected == "fp32" else "bf16", "mixed": "f32"}[kind]
    return found + [f"{row['op']} runs in {row['type']}, not in {wanted}: {row['reason']}"
                    for row in typed if wanted not in (None, row["type"])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", action="append", default=[], metavar="GLOB")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    env.require_ampc()
    declared = declared_classes()
    listed = expectations.load(modes.MODES["cpu-fp32"])
    tests = collections.defaultdict(list)
    for test in collect.collect():
        if test.op and test.name not in listed:
            tests[test.op].append(test)
    classes, deviations = table(TABLE), table(DEVIATIONS)

    def check(operator: str) -> list[str]:
        expected = deviations.get(operator, classes.get(operator))
        if expected is None:
            return ["in neither table"]
        if (operator in declared) != (expected != "-"):
            return [f"{'' if operator in declared else 'not '}imported"]
        if operator in deviations and deviations[operator] == classes.get(operator):
            return ["an entry of class_deviations.tsv that is not needed"]
        if expected == "-":
            return []
        printed = declared[operator]
        told = [] if printed in ("-", expected) or expected in ("none", "body") \
            else [f"ampc ops calls it {printed}"]
        return told + judge(operator, expected, tests[operator])

    operators = [name for name in sorted({*declared, *classes, *deviations})
                 if not args.filter or any(fnmatch.fnmatchcase(name, p) for p in args.filter)]
    tally = Tally()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for operator, problems in zip(operators, pool.map(check, operators)):
            tally.report(operator, problems, deviations.get(operator, classes.get(operator)),
                         args.verbose)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
