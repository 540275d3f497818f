#!/usr/bin/env python3
#===- check_losses.py - losses against their definitions -------------------===#
"""Compare losses with formulas in NumPy float64.

  test/training/check_losses.py [--filter=GLOB]

Each loss is attached to a function that returns its argument, and the loss, its
weight, what counts as right, and the gradient are computed by the reference
evaluator. Expected is what PyTorch documents: CrossEntropyLoss with weights,
ignore_index and label_smoothing, with classes or probabilities as targets
(aten/src/ATen/native/LossNLL.cpp), BCEWithLogitsLoss, MSELoss, L1Loss, HuberLoss;
and ONNX's SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss with each
reduction. Gradients are those of the formula, by central differences. Every
case also runs with fewer samples than the batch has: the rest counts nothing. A
label that is no class makes the loss NaN and leaves the gradient of its row 0.
The last line is `N passed, N failed`.
"""

import argparse
import fnmatch
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts")]
from ampctest import env

env.enter()

import numpy as np

from ampctest.report import Tally

BOUND = 2e-5  # of sums of f32 numbers
WEIGHTS = [0.5, 2.0, 0.0, 1.25]


def evaluate(folder, text: str, options: list[str], inputs: list) -> list:
    """The results of @main after passes."""
    source, module = folder / "in.mlir", folder / "out.mlir"
    source.write_text(text)
    subprocess.run([env.BUILD / "bin" / "ampc-opt", source, *options, "-o", module], check=True, capture_output=True)
    command = [env.BUILD / "bin" / "ampc-eval", module, "--function=main", f"--output-dir={folder}",
               "--print-limit=0"]
    for i, value in enumerate(inputs):
        np.save(folder / f"in{i}.npy", np.asarray(value, order="C"))
        command.append(f"--input={folder}/in{i}.npy")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    results = []
    while (folder / f"{len(results)}.npy").exists():
        results.append(np.load(folder / f"{len(results)}.npy"))
        (folder / f"{len(results) - 1}.npy").unlink()
    return results


def rows_that_count(rows: int, batch: int, samples: int) -> np.ndarray:
    return np.arange(rows) < samples * (rows // batch)


def log_softmax(x, axis):
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def cross_entropy(axis=1, smoothing=0.0, weights=None, ignore=-100, of_logs=False):
    def sums(x, y, counts):
        classes = x.shape[axis]
        w = np.ones(classes) if weights is None else np.array(weights)
        logs = np.moveaxis(x if of_logs else log_softmax(x, axis), axis, -1)
        active = counts.reshape([-1] + [1] * (y.ndim - 1)) & (y != ignore) & (y >= 0) & (y < classes)
        chosen = np.where(active, y, 0)
        each = -w[chosen] * np.take_along_axis(logs, chosen[..., None], -1)[..., 0]
        each = (1 - smoothing) * each - smoothing / classes * (w * logs).sum(-1)
        right = active & (logs.argmax(-1) == y)
        return [np.where(active, each, 0).sum(), np.where(active, w[chosen], 0).sum(), right.sum(), active.sum()]

    return sums


def cross_entropy_of_probabilities(smoothing=0.0, weights=None):
    def sums(x, y, counts):
        classes = x.shape[1]
        w = np.ones(classes) if weights is None else np.array(weights)
        target = y * (1 - smoothing) + smoothing / classes
        each = -(w * target * log_softmax(x, 1)).sum(1)
        right = counts & (x.argmax(1) == y.argmax(1))
        return [np.where(counts, each, 0).sum(), counts.sum(), right.sum(), counts.sum()]

    return sums


def elementwise(formula, right=None):
    def sums(x, y, counts):
        each = formula(x, y).reshape(len(counts), -1).mean(1)
        results = [np.where(counts, each, 0).sum(), counts.sum()]
        if right:
            share = right(x, y).reshape(len(counts), -1).mean(1)
            results += [np.where(counts, share, 0).sum(), counts.sum()]
        return results

    return sums


def huber(x, y):
    d = np.abs(x - y)
    return np.where(d < 1, d * d / 2, d - 0.5)


def bce(x, y):
    return np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x)))


def reduced(sums, reduction):
    """ONNX's `reduction` of a loss by classes."""
    def apply(x, y, counts):
        loss, weight, correct, count = sums(x, y, counts)
        if reduction == "sum":
            weight = float(counts.any())
        elif reduction == "none":
            weight = counts.sum() * (y.size // len(counts))
        return [loss, weight, correct, count]

    return apply


class Case:
    def __init__(self, options, sums, x, y, batch=None, own=None):
        self.options, self.sums, self.x, self.y = options, sums, x, y
        self.batch = batch or x.shape[0]
        self.own = own  # (operator, reduction, ignore_index or None, weights or None)


def make_cases(random) -> dict[str, Case]:
    x, y = random.normal(size=(5, 4)).astype(np.float32), random.integers(0, 4, 5)
    y[1] = 3
    ignored = y.copy()
    ignored[[0, 3]] = 1
    image, mask = random.normal(size=(2, 4, 3, 2)).astype(np.float32), random.integers(0, 4, (2, 3, 2))
    mask[0, 1, 1] = -100
    text, words = random.normal(size=(3, 2, 4)).astype(np.float32), random.integers(0, 4, (3, 2))
    soft = random.dirichlet(np.ones(4), 5).astype(np.float32)
    values, targets = (random.normal(scale=2, size=(3, 2, 2)).astype(np.float32) for _ in range(2))
    bits = random.integers(0, 2, (3, 2, 2)).astype(np.float32)
    large = np.array([[30.0, -30.0], [-90.0, 90.0], [1000.0, -1000.0], [2.0, -0.5]], np.float32)
    large_bits = np.array([[1, 0], [1, 0], [1, 1], [0.25, 0.75]], np.float32)
    weights = "class-weights=" + ",".join(map(str, WEIGHTS))
    ce = "loss=softmax-cross-entropy"
    cases = {
        "ce": Case(ce, cross_entropy(), x, y),
        "ce-ignore": Case(f"{ce} ignore-index=1", cross_entropy(ignore=1), x, ignored),
        "ce-smooth": Case(f"{ce} smoothing=0.1", cross_entropy(smoothing=0.1), x, y),
        "ce-weights": Case(f"{ce} {weights}", cross_entropy(weights=WEIGHTS), x, y),
        "ce-all": Case(f"{ce} {weights} smoothing=0.2 ignore-index=1",
                       cross_entropy(weights=WEIGHTS, smoothing=0.2, ignore=1), x, ignored),
        "ce-image": Case(f"{ce} smoothing=0.1", cross_entropy(smoothing=0.1), image, mask),
        "ce-text": Case(f"{ce}", cross_entropy(axis=2), text, words),
        "ce-rows": Case(f"{ce} {weights}", cross_entropy(weights=WEIGHTS), text.reshape(6, 4), words.reshape(6), batch=3),
        "soft": Case(f"{ce} probabilities", cross_entropy_of_probabilities(), x, soft),
        "soft-all": Case(f"{ce} probabilities smoothing=0.1 {weights}",
                         cross_entropy_of_probabilities(0.1, WEIGHTS), x, soft),
        "mse": Case("loss=mse", elementwise(lambda x, y: (x - y)**2), values, targets),
        "l1": Case("loss=l1", elementwise(lambda x, y: np.abs(x - y)), values, targets),
        "huber": Case("loss=huber", elementwise(huber), values, targets),
        "bce": Case("loss=bce-with-logits", elementwise(bce, lambda x, y: (x > 0) == (y > 0.5)), values, bits),
        "bce-large": Case("loss=bce-with-logits", elementwise(bce, lambda x, y: (x > 0) == (y > 0.5)), large, large_bits),
    }
    for reduction in ("mean", "sum", "none"):
        for operator, of_logs in (("SoftmaxCrossEntropyLoss", False), ("NegativeLogLikelihoodLoss", True)):
            scores = log_softmax(x.astype(np.float64), 1).astype(np.float32) if of_logs else x
            for ignore, own_weights in ((None, None), (1, WEIGHTS)):
                sums = reduced(cross_entropy(ignore=-10**9 if ignore is None else ignore, weights=own_weights,
                                             of_logs=of_logs), reduction)
                name = f"own-{'nll' if of_logs else 'ce'}-{reduction}{'-weights' if own_weights else ''}"
                cases[name] = Case("loss=none output=loss", sums, scores, ignored,
                                   own=(operator, reduction, ignore, own_weights))
    return cases


def tensor(value: np.ndarray) -> str:
    kind = {"float32": "f32", "int64": "i64"}[value.dtype.name]
    return f"tensor<{''.join(f'{size}x' for size in value.shape)}{kind}>"


def write_module(case: Case) -> str:
    x, y = tensor(case.x), tensor(case.y)
    batch = f"%batch: tensor<{case.batch}xf32>"
    if not case.own:
        return f"func.func @main({batch}, %x: {x} {{amp.trainable}}) -> {x} {{\n  return %x : {x}\n}}\n"
    operator, reduction, ignore, weights = case.own
    loss = y.replace("i64", "f32") if reduction == "none" else "tensor<f32>"
    attributes = f'amp.reduction = "{reduction}"' + (f", amp.ignore_index = {ignore} : i64" if ignore is not None else "")
    names, types, blocks, constant = "%x, %y", f"{x}, {y}", f"%a: {x}, %b: {y}", ""
    if weights:
        names, types, blocks = names + ", %w", types + ", tensor<4xf32>", blocks + ", %c: tensor<4xf32>"
        constant = f"  %w = amp.constant dense<{weights}> : tensor<4xf32>\n"
    # The body does not matter: the loss is made from what the operator says.
    return f"""func.func @main({batch}, %x: {x} {{amp.trainable}}, %y: {y}) -> ({loss} {{amp.name = "loss"}}) {{
{constant}  %0 = amp.composite "{operator}" fp32({names}) {{{attributes}}} : ({types}) -> {loss} {{
  ^bb0({blocks}):
    %1 = amp.constant dense<0.0> : {loss}
    amp.yield %1 : {loss}
  }}
  return %0 : {loss}
}}
"""


def run(case: Case, labels, samples: int):
    """(sums, gradient of the loss)"""
    passes = [f"--training-attach-loss={case.options}", "--precision-inline-composites", "--training-differentiate"]
    with tempfile.TemporaryDirectory() as folder:
        inputs = [np.zeros(case.batch, np.float32), case.x, labels, np.int64(samples), np.float32(1)]
        results = evaluate(pathlib.Path(folder), write_module(case), passes, inputs)
    return results[1:-1], results[-1]


def close(got, expected) -> bool:
    return bool(np.all(np.abs(got - expected) <= BOUND * (1 + np.abs(expected))))


def gradient(loss, x) -> np.ndarray:
    result, step = np.zeros_like(x), 1e-5
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        result[i] = (loss(up) - loss(down)) / (2 * step)
    return result


def check(case: Case) -> list[str]:
    problems = []
    rows = case.x.shape[0]
    for samples in (case.batch, 1, 0):
        counts = rows_that_count(rows, case.batch, samples)
        x = case.x.astype(np.float64)
        expected = case.sums(x, case.y, counts)
        got, slope = run(case, case.y, samples)
        if len(got) != len(expected):
            return [f"{len(got)} results, not {len(expected)}"]
        for name, value, want in zip(("loss", "weight", "correct", "count"), got, expected):
            if not close(value, want):
                problems.append(f"{samples} samples: {name} is {value}, not {want}")
        want = gradient(lambda v: case.sums(v, case.y, counts)[0], x)
        if not np.allclose(slope, want, rtol=1e-4, atol=1e-5):
            problems.append(f"{samples} samples: gradient is {np.abs(slope - want).max():.2g} off")
    return problems


def check_wild(case: Case) -> list[str]:
    """One label is no class."""
    problems = []
    for wild in (4, -1, 2**40, -2**62):
        labels = case.y.copy()
        labels.flat[2] = wild
        got, slope = run(case, labels, case.batch)
        expected = case.sums(case.x.astype(np.float64), labels, np.ones(len(case.x), bool))
        if not np.isnan(got[0]):
            problems.append(f"label {wild}: loss is {got[0]}")
        for name, value, want in zip(("weight", "correct", "count"), got[1:], expected[1:]):
            if not close(value, want):
                problems.append(f"label {wild}: {name} is {value}, not {want}")
        if not np.isfinite(slope).all() or np.any(slope[2]):
            problems.append(f"label {wild}: gradient {slope[2]}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="*")
    pattern = parser.parse_args().filter
    tally = Tally()
    cases = make_cases(np.random.default_rng(11))
    for name, case in cases.items():
        if fnmatch.fnmatch(name, pattern):
            tally.report(name, check(case))
    for name in ("ce", "ce-weights", "own-ce-mean"):
        if fnmatch.fnmatch(f"{name}-wild", pattern):
            tally.report(f"{name}-wild", check_wild(cases[name]))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
