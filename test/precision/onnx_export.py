#!/usr/bin/env python3
#===- onnx_export.py - models written with the decided types --------------===#
"""Check `ampc MODEL --emit=onnx` on small cases and whole models.

  test/precision/onnx_export.py             cases and small models
  test/precision/onnx_export.py --full      large and trained ones too
  test/precision/onnx_export.py NAME...     some of either

Each model is exported in fp16 and bf16. The result must

* pass ONNX's checker and strict shape inference;
* hold the nodes of the original in their order, and casts that are needed;
* run: in ONNX Runtime (fp16) or ONNX's reference (bf16, small ones), near the
  original in f32, as ampc's own program of it is (with --full);
* mean what the compiler decided: compiled as it is, with --strict-rounding, its
  results are those of the original compiled with --amp, bit for bit. Models
  whose constants are folded across casts are listed in NOT_EXACT;
* not change when it is exported again.

The last line is `N passed, N failed`, counting models and types.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "models")]
from ampctest import env

env.enter()

import numpy as np
import onnx
import onnx.reference
import onnxruntime

import export_cases
import export_structure as structure
import verified
from ampctest.report import Tally
from ampctest.tensors import frobenius_error

QUICK = ("mlp", "conv-bn", "resnet-tiny", "bert-tiny", "bert-tiny-fused", "bert-tiny-attention",
         "gpt2-tiny", "gpt2-tiny-fused", "gpt2-tiny-attention")
FULL = ("conv-pool", "resnet50", "mobilenetv2", "unet", "unet-resize", "bert-base",
        "bert-base-fused", "gpt2", "ocr-det", "ocr-cls", "ocr-rec", "magika")
# ONNX's reference runs these in bf16 in seconds. It adds up the elements of a
# bf16 mean in bf16, so networks that end in a mean over pixels are missing.
REFERENCE = ("mlp", "bert-tiny", "bert-tiny-fused", "gpt2-tiny", "gpt2-tiny-fused")
FOLDED = "a batch normalization is folded into the weights of a convolution, which are then " \
         "rounded; in the exported model they are rounded first"
NOT_EXACT = {
    "conv-bn": FOLDED, "resnet-tiny": FOLDED, "resnet50": FOLDED, "mobilenetv2": FOLDED,
    "unet": FOLDED, "unet-resize": FOLDED, "ocr-det": FOLDED, "ocr-cls": FOLDED,
    "ocr-rec": FOLDED,
}
BOUNDS = {"fp16": 5e-3, "bf16": 3e-2}


def execute(*command) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", timeout=900, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = (done.stderr.strip() or "no message").splitlines()
        raise RuntimeError(f"exit {done.returncode}: {said[0]}")


def run_ampc(model: pathlib.Path, feeds: dict, folder: pathlib.Path, names: list[str],
             *options: str) -> list[np.ndarray]:
    """The outputs of the compiled model, in order."""
    command = [env.ampc_path(), "run", model, "--target=cpu", "--quiet", "-O1", *options]
    for index, (name, array) in enumerate(feeds.items()):
        np.save(folder / f"in{index}.npy", array)
        command.append(f"--input={name}=@{folder / f'in{index}.npy'}")
    files = [folder / f"out{index}.npy" for index in range(len(names))]
    command += [f"--output={name}=@{file}" for name, file in zip(names, files)]
    execute(*command)
    return [np.load(file) for file in files]


def run_ort(model, feeds: dict) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    data = str(model) if isinstance(model, pathlib.Path) else model.SerializeToString()
    session = onnxruntime.InferenceSession(data, options, ["CPUExecutionProvider"])
    return session.run(None, feeds)


def worst(got: list[np.ndarray], want: list[np.ndarray]) -> float:
    for a, b in zip(got, want, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return float("inf")
    return max(frobenius_error(a, b) for a, b in zip(got, want))


class Check:
    """One model in one type; collects problems and figures."""

    def __init__(self, path, feeds, amp, folder, *, options=(), shapes=(), bound=None,
                 keeps_io=True):
        self.path, self.feeds, self.amp, self.folder = path, feeds, amp, folder
        self.options = [f"--amp={amp}", *options]
        self.shapes = list(shapes)
        self.keeps_io = keeps_io
        self.bound = BOUNDS[amp] if bound is None else bound
        self.problems: list[str] = []
        self.figures: list[str] = []
        self.out = folder / "exported.onnx"

    def export(self) -> onnx.ModelProto:
        execute(env.ampc_path(), self.path, *self.options, *self.shapes, "--emit=onnx", "-o",
                self.out)
        old, new = onnx.load(self.path), onnx.load(self.out)
        try:
            structure.check(new)
            self.problems += structure.kept(old, new, self.keeps_io)
            self.problems += structure.casts(old, new)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
            self.problems.append(str(error).strip().splitlines()[0])
        count = sum(node.op_type == "Cast" for body in structure.bodies(new) for node in body.node)
        self.figures.append(f"{count} casts")
        return new

    def idempotent(self) -> None:
        again = self.folder / "again.onnx"
        execute(env.ampc_path(), self.out, *self.options, *self.shapes, "--emit=onnx", "-o", again)
        if again.read_bytes() != self.out.read_bytes():
            self.problems.append("a second export differs")

    def values(self, exact: bool, runs: bool, reference: bool, own: bool = False) -> None:
        names = [value.name for value in onnx.load(self.path).graph.output]
        want = run_ort(self.path, self.feeds)
        if own:
            self.near("the compiled model", run_ampc(self.path, self.feeds, self.folder, names,
                                                     *self.options, *self.shapes), want)
        direct = run_ampc(self.path, self.feeds, self.folder, names, *self.options, *self.shapes,
                          "--strict-rounding")
        written = run_ampc(self.out, self.feeds, self.folder, names, "--amp=off", *self.shapes,
                           "--strict-rounding")
        same = all(a.tobytes() == b.tobytes() for a, b in zip(direct, written, strict=True))
        self.figures.append("bit-identical" if same else "not bit-identical")
        if exact and not same:
            self.problems.append("the exported model, compiled, is not what was decided: "
                                 f"{worst(written, direct):.1e}")
        self.near("the exported model", written, want)
        if runs:
            self.near("ONNX Runtime", run_ort(self.out, self.feeds), want)
        if reference:
            evaluator = onnx.reference.ReferenceEvaluator(str(self.out))
            self.near("ONNX's reference", evaluator.run(None, self.feeds), want)

    def narrow_values(self) -> None:
        """ONNX Runtime's outputs for inputs and outputs of other types."""
        wanted = {value.name: onnx.helper.tensor_dtype_to_np_dtype(
            value.type.tensor_type.elem_type) for value in onnx.load(self.out).graph.input}
        feeds = {name: array.astype(wanted[name]) for name, array in self.feeds.items()}
        got = [array.astype(np.float32) for array in run_ort(self.out, feeds)]
        self.near("ONNX Runtime", got, run_ort(self.path, self.feeds))

    def near(self, who: str, got: list[np.ndarray], want: list[np.ndarray]) -> None:
        error = worst(got, want)
        self.figures.append(f"{who} {error:.1e}")
        if not error <= self.bound and self.bound != float("inf"):
            self.problems.append(f"{who}: relative error {error:.1e} above {self.bound:.0e}")

    def verdict(self, name: str) -> list[tuple[bool, str]]:
        text = "; ".join(self.problems) or ", ".join(self.figures)
        return [(not self.problems, f"{name} {self.amp}: {text}")]


def check_case(case: export_cases.Case) -> list[tuple[bool, str]]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        path = folder / "case.onnx"
        onnx.checker.check_model(case.model, full_check=True)
        onnx.save(case.model, path)
        check = Check(path, case.feeds, case.amp, folder, options=case.options, bound=case.bound,
                      keeps_io=case.keeps_io)
        try:
            check.problems += case.check(check.export())
            check.idempotent()
            if case.keeps_io:
                check.values(case.exact, case.runs, reference=case.amp == "bf16")
            else:
                check.narrow_values()
        except (RuntimeError, OSError, KeyError, subprocess.TimeoutExpired) as error:
            check.problems.append(str(error))
        except Exception as error:  # ONNX Runtime raises classes of its own
            check.problems.append(f"{type(error).__name__}: {error}".splitlines()[0][:300])
        return check.verdict(case.name)


def check_model(model: verified.Model, amp: str, full: bool) -> list[tuple[bool, str]]:
    path = model.path()
    shapes = [f"--shapes={name}:{'x'.join(map(str, dims))}"
              for name, dims in model.shapes.items()]
    with tempfile.TemporaryDirectory() as temporary:
        check = Check(path, model.feeds(path), amp, pathlib.Path(temporary), shapes=shapes)
        opset = max(entry.version for entry in onnx.load(path, load_external_data=False).opset_import
                    if entry.domain in ("", "ai.onnx"))
        try:
            if amp == "bf16" and opset < 13:
                # There is no such Cast; the opset is not converted silently.
                try:
                    check.export()
                    check.problems.append("exported in a type that the opset lacks")
                except RuntimeError as error:
                    if "needs a newer operator set" not in str(error):
                        raise
                    check.figures.append("refused")
            else:
                check.export()
                check.idempotent()
                check.values(model.name not in NOT_EXACT, runs=amp == "fp16",
                             reference=amp == "bf16" and model.name in REFERENCE, own=full)
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            check.problems.append(str(error))
        except Exception as error:
            check.problems.append(f"{type(error).__name__}: {error}".splitlines()[0][:300])
        return check.verdict(model.name)


def arrays(path: pathlib.Path) -> dict[str, tuple]:
    """Name -> type and bytes of each initializer, wherever it is stored."""
    return {tensor.name: (tensor.data_type, onnx.numpy_helper.to_array(tensor).tobytes())
            for tensor in onnx.load(path).graph.initializer}


def places(path: pathlib.Path) -> dict[str, str]:
    """Name -> file of each initializer that is stored beside the model."""
    graph = onnx.load(path, load_external_data=False).graph
    return {tensor.name: next(e.value for e in tensor.external_data if e.key == "location")
            for tensor in graph.initializer if tensor.external_data}


def data_problems(folder: pathlib.Path) -> dict[str, str | None]:
    """What is wrong with models whose data lies beside them, by situation."""
    inside, other = folder / "inside.onnx", folder / "other"
    other.mkdir()
    source = next(m for m in verified.models() if m.name == "bert-tiny").path()
    beside = folder / "model.onnx"
    onnx.save(onnx.load(source), beside, save_as_external_data=True, location="model.data",
              size_threshold=1024)
    run = [env.ampc_path(), "--amp=fp16", "--emit=onnx", "-o"]
    execute(*run, inside, source)
    wanted = arrays(inside)
    low = {name for name, (dtype, _) in wanted.items() if dtype == onnx.TensorProto.FLOAT16}
    problems = {}

    def check(what: str, out: pathlib.Path, expect, *options) -> None:
        execute(*run, out, beside, *options)
        onnx.checker.check_model(str(out), full_check=True)
        files = places(out)
        if arrays(out) != wanted:
            problems[what] = "the tensors differ"
        elif any(files.get(name) != expect(name) for name in places(beside)):
            problems[what] = f"tensors are in {sorted(set(files.values()))}"
        else:
            problems[what] = None

    old, new = "model.data", "out.onnx.data"
    large = {name for name, (_, data) in wanted.items() if len(data) >= 1024}
    check("in the same folder", folder / "out.onnx",
          lambda name: old if name not in low else new if name in large else None)
    check("in another folder", other / "out.onnx", lambda name: new if name in large else None)
    check("with a name", folder / "named.onnx",
          lambda name: "w.bin" if name in large else None, "--external-weights=w.bin")
    check("embedded", folder / "embedded.onnx", lambda name: None, "--external-weights=embed")
    before = (folder / old).read_bytes()
    try:
        execute(*run, folder / "over.onnx", beside, "--external-weights=model.data")
        problems["over the old data"] = "the old data was overwritten"
    except RuntimeError as error:
        fine = "would be overwritten" in str(error) and (folder / old).read_bytes() == before
        problems["over the old data"] = None if fine else str(error)
    return problems


def check_data() -> list[tuple[bool, str]]:
    with tempfile.TemporaryDirectory() as temporary:
        try:
            problems = data_problems(pathlib.Path(temporary))
        except (RuntimeError, OSError, onnx.checker.ValidationError) as error:
            problems = {"": str(error)}
    return [(problem is None, f"data beside the model, {what}: {problem or 'equal'}")
            for what, problem in problems.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--full", action="store_true")
    args = parser.parse_args()
    env.require_ampc()
    cases = [make() for make in export_cases.CASES]
    models = {model.name: model for model in verified.models()}
    wanted = args.names or [*(case.name for case in cases), "data", *QUICK,
                            *(FULL if args.full else ())]
    unknown = [name for name in wanted if name not in models
               and name not in {"data", *(case.name for case in cases)}]
    if unknown:
        parser.error(f"unknown name {unknown[0]}")
    for name in wanted:
        if name in models:
            models[name].path()  # is generated once
    tally = Tally()
    # Most of the time goes to programs that this one starts.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = [pool.submit(check_case, case) for case in cases if case.name in wanted]
        if "data" in wanted:
            waiting.append(pool.submit(check_data))
        waiting += [pool.submit(check_model, models[name], amp, args.full or bool(args.names))
                    for name in wanted if name in models for amp in BOUNDS]
        for job in waiting:
            for good, line in job.result():
                tally.add(good)
                print(f"{'ok  ' if good else 'FAIL'} {line}", flush=True)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
