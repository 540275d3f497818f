#!/usr/bin/env python3
#===- check_simulated.py - whole models on simulated GPUs -----------------===#
"""Run whole models in the simulator and compare them with the CPU's programs.

  test/models/check_simulated.py                  the tier that tools/check runs
  test/models/check_simulated.py --full           all models, targets and precisions
  test/models/check_simulated.py mobilenetv2-64   one model, all its rows
  test/models/check_simulated.py --filter='*-sm_90a-bf16'

Both programs are compiled with the same precision and run on the same seeded
inputs. The simulated one must report no fault (its exit code would be 8), and
its results be within the precision's bound of the CPU's, by relative Frobenius
norm: f32 1e-4, fp16 5e-3, bf16 3e-2. It must launch as many kernels as the
CPU's, but for what EXTRA_LAUNCHES says. The last line is `N passed, N failed`.
"""

import argparse
import dataclasses
import fnmatch
import functools
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"))
from ampctest import env

env.enter()

import inputs
import small
import transformers
import vision
from ampctest import tensors
from ampctest.report import Tally
from check_golden import count

_LAYER = dict(layers=1, length=16, vocabulary=1000, positions=64)

# Real widths, but few layers and small images: the simulator takes some
# nanoseconds for each multiplication.
MODELS = {
    "mlp": small.mlp,
    "resnet-2-blocks": functools.partial(vision.resnet, size=64, width=32, blocks=(1, 1)),
    "mobilenetv2-64": functools.partial(vision.mobilenet_v2, size=64),
    "unet-64": functools.partial(vision.unet, size=64, width=16),
    "bert-layer": functools.partial(transformers.bert, **_LAYER),
    "gpt2-block": functools.partial(transformers.gpt2, **_LAYER),
}
BOUNDS = {"off": 1e-4, "fp16": 5e-3, "bf16": 3e-2}
TARGETS = {"sm_75": ("off", "fp16"), "sm_80": ("off", "fp16", "bf16"),
           "sm_90a": ("off", "fp16", "bf16")}
# Rows that tools/check runs: each model, target and precision at least once.
QUICK = {"mlp-sm_75-fp16", "mlp-sm_80-off", "mlp-sm_90a-bf16", "resnet-2-blocks-sm_80-fp16",
         "bert-layer-sm_90a-bf16", "gpt2-block-sm_80-bf16", "unet-64-sm_75-fp16",
         "mobilenetv2-64-sm_80-fp16"}
# (model, precision) -> kernels that a GPU launches more than the CPU does, and
# why. None at present.
EXTRA_LAUNCHES: dict[tuple[str, str], int] = {}


@dataclasses.dataclass(frozen=True)
class Row:
    model: str
    arch: str
    amp: str

    @property
    def name(self) -> str:
        return f"{self.model}-{self.arch}-{self.amp}"


ROWS = [Row(model, arch, amp) for model in MODELS for arch, amps in TARGETS.items()
        for amp in amps]


def execute(command: list, timeout: int = 900) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", timeout=timeout, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = (done.stderr.strip() or "no message").splitlines()
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: exit {done.returncode}: {said[0]}")


class Folder:
    """Models, inputs and the CPU's results, each made once."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self._feeds: dict[str, list[str]] = {}
        self._expected: dict[tuple[str, str], tuple] = {}

    def model(self, name: str) -> pathlib.Path:
        path = self.path / f"{name}.onnx"
        if not path.exists():
            path.write_bytes(MODELS[name](name).SerializeToString(deterministic=True))
        return path

    def feeds(self, name: str) -> list[str]:
        if name not in self._feeds:
            words = []
            for number, (key, value) in enumerate(inputs.random_inputs(self.model(name)).items()):
                file = self.path / f"{name}-input-{number}.pb"
                tensors.save_tensor(file, value, key)
                words.append(f"--input={key}=@{file}")
            self._feeds[name] = words
        return self._feeds[name]

    def run(self, name: str, amp: str, target: list[str]):
        """Results by name, launches, and the seconds of the run."""
        program, text = self.path / "program", self.path / "memory.mlir"
        command = [env.ampc_path(), self.model(name), f"--amp={amp}", "--quiet", *target]
        execute([*command, "-o", program])
        execute([*command, "--emit=mlir", "--compile-to=memory", "-o", text])
        names = output_names(self.model(name))
        files = {key: self.path / f"result-{number}.npy" for number, key in enumerate(names)}
        start = time.monotonic()
        execute([program, "run", *self.feeds(name),
                 *(f"--output={key}=@{file}" for key, file in files.items())])
        seconds = time.monotonic() - start
        results = {key: tensors.load_tensor(file) for key, file in files.items()}
        program.unlink()
        return results, count(text.read_text())["launches"], seconds

    def expected(self, name: str, amp: str):
        if (name, amp) not in self._expected:
            self._expected[name, amp] = self.run(name, amp, ["--target=cpu"])
        return self._expected[name, amp]


@functools.cache
def output_names(model: pathlib.Path) -> list[str]:
    import onnx

    return [value.name for value in onnx.load(model, load_external_data=False).graph.output]


def check(folder: Folder, row: Row) -> tuple[list[str], str]:
    """(problems, figures) of a row."""
    wanted, launches, _ = folder.expected(row.model, row.amp)
    got, launched, seconds = folder.run(row.model, row.amp,
                                        ["--target=cuda", f"--cuda-arch={row.arch}", "--simulate"])
    bound, problems, worst = BOUNDS[row.amp], [], 0.0
    for key, want in wanted.items():
        if problem := tensors.compare(got[key], want, frobenius=bound):
            problems.append(f"{key}: {problem}")
        worst = max(worst, tensors.frobenius_error(got[key], want))
    allowed = launches + EXTRA_LAUNCHES.get((row.model, row.amp), 0)
    if launched != allowed:
        problems.append(f"expected {allowed} launches, got {launched}")
    return problems, f"relative error {worst:.1e}, {launched} launches, {seconds:.1f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="MODEL")
    parser.add_argument("--filter", metavar="GLOB", help="rows by MODEL-ARCH-AMP")
    parser.add_argument("--full", action="store_true", help="every row")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in MODELS]
    if unknown:
        parser.error(f"unknown model {unknown[0]}; there are {', '.join(MODELS)}")
    rows = [row for row in ROWS
            if (args.full or args.names or args.filter or row.name in QUICK)
            and (not args.names or row.model in args.names)
            and (not args.filter or fnmatch.fnmatchcase(row.name, args.filter))]
    if not rows:
        parser.error("no row matches")
    env.require_ampc()
    tally = Tally()
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(pathlib.Path(path))
        for row in rows:
            try:
                problems, figures = check(folder, row)
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                problems, figures = [str(error)], ""
            tally.add(not problems)
            print(f"{'FAIL' if problems else 'ok  '} {row.name}: "
                  f"{'; '.join(problems + [figures])}", flush=True)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
