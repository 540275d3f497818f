#!/usr/bin/env python3
#===- generate.py - write the generated models to build/models ------------===#
"""Write models with seeded weights as ONNX files.

  test/models/generate.py               all of them
  test/models/generate.py mlp resnet50  those
  test/models/generate.py --list        their names
  test/models/generate.py --check ...   also run them in ONNX Runtime: outputs must
                                        be finite with a deviation of 0.05 to 20
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"))
from ampctest import env

env.enter()

import numpy as np

import catalogue


def check(path: pathlib.Path) -> list[str]:
    """What is wrong with the outputs of the model in ONNX Runtime."""
    import onnxruntime

    from inputs import random_inputs

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    problems = []
    for output, value in zip(session.get_outputs(), session.run(None, random_inputs(path))):
        deviation = float(np.std(value))
        print(f"  {output.name} {list(value.shape)} deviation {deviation:.3f}")
        if not np.isfinite(value).all() or not 0.05 <= deviation <= 20:
            problems.append(f"{path.name}: {output.name}: deviation {deviation}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=env.BUILD / "models")
    args = parser.parse_args()
    if args.list:
        print("\n".join(catalogue.GENERATED))
        return 0
    unknown = [name for name in args.names if name not in catalogue.GENERATED]
    if unknown:
        parser.error(f"unknown model {unknown[0]}; --list names them")
    problems = []
    for name in args.names or catalogue.GENERATED:
        path = catalogue.generate(name, args.out)
        print(f"{path} {path.stat().st_size / 1e6:.1f} MB", flush=True)
        if args.check:
            problems += check(path)
    for problem in problems:
        print(f"error: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
