#!/usr/bin/env python3
#===- check_casts.py - no cast of a whole model is superfluous -------------===#
"""Look for casts that models could do without after the precision phase.

  test/models/check_casts.py            all models
  test/models/check_casts.py --quick    those of two layers
  test/models/check_casts.py bert-tiny  some

`ampc-cast-check` looks at every cast that the phase left (unread, exact, undone,
doubled) and, by the rules of the operations that read it, at every cast that
autocast inserts into the graph. The last line is `N passed, N failed`, counting
models in a type.
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

import catalogue
import verified
from ampctest.report import Tally

QUICK = ("conv-bn", "resnet-tiny", "unet-resize", "bert-tiny", "bert-tiny-fused",
         "bert-tiny-attention", "gpt2-tiny", "gpt2-tiny-fused", "gpt2-tiny-attention")
MODELS = (*QUICK, "resnet50", "bert-base", "gpt2", "unet", "ocr-det", "ocr-cls", "ocr-rec",
          "magika")
TYPES = {"fp16": "f16", "bf16": "bf16"}
COUNT = re.compile(r"(\d+) casts, (\d+) not needed")


def execute(command: list, codes=(0,)) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", timeout=300)
    if done.returncode not in codes:
        said = (done.stderr.strip() or "no message").splitlines()
        raise RuntimeError(f"exit {done.returncode}: {said[0]}")
    return done.stdout


def check(name: str, amp: str, folder: pathlib.Path) -> tuple[int, list[str]]:
    """How many casts a model has, and those that are not needed."""
    execute([env.ampc_path(), *verified.compile_arguments(name), "--target=cpu", f"--amp={amp}",
             "--emit=mlir", "--compile-to=precision", f"--dump-phases-to={folder}",
             "-o", folder / "result.mlir"])
    tool = env.ampc_path().with_name("ampc-cast-check")
    casts, found = 0, []
    for phase, options in (("precision", []), ("graph", [f"--amp={TYPES[amp]}"])):
        text = execute([tool, next(folder.glob(f"*-{phase}.mlir")), *options], codes=(0, 1))
        casts += int(COUNT.search(text)[1])
        found += text.strip().splitlines()[:-1]
    return casts, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="models of two layers only")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in MODELS]
    if unknown:
        parser.error(f"unknown model {unknown[0]}")
    env.require_ampc()
    tally = Tally()
    for name in args.names or (QUICK if args.quick else MODELS):
        for amp in TYPES:
            try:
                with tempfile.TemporaryDirectory() as folder:
                    casts, found = check(name, amp, pathlib.Path(folder))
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                casts, found = 1, [str(error)]
            # Autocast that inserts nothing has not run.
            good = casts > 0 and not found
            tally.add(good)
            said = f"{len(found)} not needed: {'; '.join(found[:3])}" if found else ""
            print(f"{'ok  ' if good else 'FAIL'} {name} {amp}: {casts} casts {said}", flush=True)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
