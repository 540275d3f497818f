#!/usr/bin/env python3
#===- boundary.py - what the forward pass keeps for the backward pass ------===#
"""Count the bytes that live where the backward pass begins.

  test/training/boundary.py MODEL.onnx --amp=off,fp16,bf16
  test/training/boundary.py MODEL.onnx --amp=fp16 -v      each tensor

A step is compiled up to the fusion phase, where each launch of a kernel is one
operation on whole tensors. The backward pass begins with the first launch that
reads the loss scale and something computed from the inputs. Counted is what was
written before it and is read by it or later; views of one tensor count once;
inputs, parameters and their copies in other types are no activations.
"""

import argparse
import dataclasses
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts")]
from ampctest import env

env.enter("venv-training")

from trainers import fused

BITS = {"i1": 8, "i8": 8, "i16": 16, "f16": 16, "bf16": 16, "f32": 32, "i32": 32, "f64": 64, "i64": 64}
OPERATION = re.compile(r"^ +(?:(%\w+)(?::(\d+))? = )?(amp\.[\w.]+|return)(?: @\"?([^\"(\s]+)\"?)?(.*)$")
VALUE = re.compile(r"%\w+(?:#\d+)?")
TENSOR = re.compile(r"tensor<([^>]*)>")
VIEWS = {"amp.reshape"}


def size(tensor: str) -> int:
    *dims, kind = tensor.split("x")
    return math.prod(map(int, dims)) * BITS[kind] // 8


@dataclasses.dataclass
class Operation:
    """A launch, a view or the return of the step."""

    name: str
    operands: list[str]
    results: dict[str, str]  # with types


def parse(text: str) -> tuple[list[Operation], dict[str, str]]:
    """(operations of @step, argument -> its state or input)."""
    body = text[text.index("func.func @step("):]
    body = body[:body.index("\n  }")]
    head, *lines = body.splitlines()
    arguments = {}
    for name, attributes in re.findall(r"(%\w+): tensor<[^>]*>(?: \{(.*?)\})?", head.split(") -> ")[0]):
        state = re.search(r'train\.state = @"?([\w./:-]+)"?', attributes)
        arguments[name] = state.group(1) if state else ""
    operations = []
    for line in lines:
        match = OPERATION.match(line)
        if not match:
            raise ValueError(f"unexpected line: {line:.100}")
        result, count, op, kernel, rest = match.groups()
        signature = rest.rsplit(" -> ", 1)
        types = TENSOR.findall(signature[-1]) if result else []
        names = [f"{result}#{i}" for i in range(int(count))] if count else [result] if result else []
        operations.append(Operation(kernel or op, VALUE.findall(signature[0]), dict(zip(names, types))))
    return operations, arguments


def kept(text: str) -> tuple[dict[str, tuple[str, str]], str]:
    """(value -> (tensor, kernel that wrote it) of what is kept, first kernel of the backward pass)."""
    operations, arguments = parse(text)
    # Activations follow from the inputs; the rest from parameters and scale alone.
    scaled = {name for name, state in arguments.items() if state == "train.scale"}
    active = {name for name, state in arguments.items() if not state}
    root: dict[str, str] = {}
    written: dict[str, tuple[str, str]] = {}
    begin = None
    for index, op in enumerate(operations):
        is_scaled, is_active = (any(name in group for name in op.operands) for group in (scaled, active))
        if begin is None and is_scaled and is_active and op.results and op.name not in VIEWS:
            begin = index
        for name, tensor in op.results.items():
            if is_scaled:
                scaled.add(name)
            if is_active:
                active.add(name)
            if op.name in VIEWS:
                root[name] = root.get(op.operands[0], op.operands[0])
            elif begin is None and is_active:
                written[name] = tensor, op.name
    if begin is None:
        raise ValueError("nothing reads the loss scale and an activation")
    read = {root.get(name, name) for op in operations[begin:] if op.name not in (*VIEWS, "return")
            for name in op.operands}
    return {name: value for name, value in written.items() if name in read}, operations[begin].name


def measure(model: pathlib.Path, amp: str) -> tuple[int, dict[str, tuple[str, str]], str]:
    """(bytes, tensors, first kernel of the backward pass)."""
    tensors, first = kept(fused(model, amp))
    return sum(size(tensor) for tensor, _ in tensors.values()), tensors, first


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--amp", default="off,fp16,bf16")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    whole = None
    for amp in args.amp.split(","):
        total, tensors, first = measure(args.model, amp)
        whole = whole or total
        print(f"{amp:5} {total:14} bytes in {len(tensors)} tensors, {total / whole:.3f}; then {first}")
        if args.verbose:
            for name, (tensor, kernel) in tensors.items():
                print(f"  {size(tensor):14} {name:8} {tensor:24} {kernel}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
