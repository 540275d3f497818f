#!/usr/bin/env python3
#===- check_updates.py - loss scaling and optimizers -----------------------===#
"""Compare the operations of the train dialect with independent models of them.

  test/training/check_updates.py

* The loss scale and its tracker after every of the 2^12 sequences of twelve
  steps with and without overflow, for several settings, equal those of a state
  machine written after GradScaler, bit for bit; with a floor, and at the largest
  scale that f32 holds.
* The check for infinities and the norm, on finite gradients, with an infinity
  and NaNs of either sign, and with squares that overflow.
* SGD, Adam and Adagrad, in their variants, against float64 over ten steps with some
  skipped: within 1e-5 of the largest element, and bit for bit unchanged where
  skipped.

The programs are expanded by ampc-opt and run by the reference evaluator. The
last line is `N passed, N failed`.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "scripts"))
from ampctest import env

env.enter()

import numpy as np

from ampctest.report import Tally

STEPS = 12
KINDS = {"float32": "f32", "int32": "i32", "bool": "i1"}


def type_of(array) -> str:
    return f"tensor<{''.join(f'{size}x' for size in array.shape)}{KINDS[str(array.dtype)]}>"


def run(arguments: list, body: str, results: list[str], types: list[str]) -> list:
    """Run a function of `arguments`, whose body names them %0, %1 and so on."""
    signature = ", ".join(f"%{i}: {type_of(a)}" for i, a in enumerate(arguments))
    text = (f"func.func @main({signature}) -> ({', '.join(types)}) {{\n{body}\n"
            f"return {', '.join(results)} : {', '.join(types)}\n}}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "train.mlir").write_text(text)
        subprocess.run([env.BUILD / "bin" / "ampc-opt", path / "train.mlir", "--training-expand-updates", "-o",
                        path / "amp.mlir"], check=True)
        inputs = []
        for i, array in enumerate(arguments):
            np.save(path / f"in{i}.npy", np.asarray(array, order="C"))
            inputs.append(f"--input={path / f'in{i}.npy'}")
        subprocess.run([env.BUILD / "bin" / "ampc-eval", path / "amp.mlir", f"--output-dir={folder}",
                        "--print-limit=0", *inputs], check=True, stdout=subprocess.DEVNULL)
        return [np.load(path / f"{i}.npy") for i in range(len(results))]


def f32(value) -> np.ndarray:
    return np.array(value, np.float32)


#===----------------------------------------------------------------------===#
# The scale
#===----------------------------------------------------------------------===#


def model_scale(scale: np.float32, sequence, growth, backoff, interval: int, floor):
    """GradScaler's update, one step at a time, with a floor."""
    tracker, states = 0, []
    for found in sequence:
        if found:
            lowered = np.float32(scale * np.float32(backoff))
            scale = max(lowered, min(scale, np.float32(floor)))
            tracker = 0
        else:
            tracker += 1
            if tracker == interval:
                with np.errstate(over="ignore"):
                    raised = np.float32(scale * np.float32(growth))
                if np.isfinite(raised):
                    scale = raised
                tracker = 0
        states.append((scale, tracker))
    return states


def check_scale(tally: Tally) -> None:
    sequences = np.array(list(itertools.product([False, True], repeat=STEPS)))
    count = len(sequences)
    for name, start, growth, backoff, interval, floor in (
            ("defaults", 65536.0, 2.0, 0.5, 3, 2.0**-24),
            ("every step grows", 1.0, 2.0, 0.5, 1, 2.0**-24),
            ("odd factors", 1000.0, 1.7, 0.3, 2, 0.01),
            ("floor", 2.0**-20, 2.0, 0.5, 4, 2.0**-24),
            ("below the floor", 2.0**-26, 2.0, 0.5, 4, 2.0**-24),
            ("no room to grow", 2.0**127, 2.0, 0.5, 2, 2.0**-24)):
        columns = [np.ascontiguousarray(sequences[:, i]) for i in range(STEPS)]
        arguments = [np.full(count, start, np.float32), np.zeros(count, np.int32), f32(growth), f32(backoff),
                     np.array(interval, np.int32), f32(floor), *columns]
        body, results, scale, tracker = [], [], "%0", "%1"
        vector, counts, flags = f"tensor<{count}xf32>", f"tensor<{count}xi32>", f"tensor<{count}xi1>"
        for i in range(STEPS):
            body.append(f"%s{i}, %t{i} = train.update_scale {scale}, {tracker}, %{6 + i}, %2, %3, %4, %5 : "
                        f"({vector}, {counts}, {flags}, tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>) -> "
                        f"({vector}, {counts})")
            scale, tracker = f"%s{i}", f"%t{i}"
            results += [scale, tracker]
        got = run(arguments, "\n".join(body), results, [vector, counts] * STEPS)
        problems = []
        for row, sequence in enumerate(sequences):
            for i, (scale, tracker) in enumerate(model_scale(np.float32(start), sequence, growth, backoff, interval,
                                                             floor)):
                if got[2 * i][row] != scale or got[2 * i + 1][row] != tracker:
                    problems.append(f"{sequence.astype(int)} step {i}: {got[2 * i][row]}, {got[2 * i + 1][row]} "
                                    f"instead of {scale}, {tracker}")
                    break
        tally.report(f"scale, {name}", problems[:2])


#===----------------------------------------------------------------------===#
# Gradients
#===----------------------------------------------------------------------===#


def check_finite(tally: Tally) -> None:
    random = np.random.default_rng(0)
    plain = random.normal(size=(3, 50)).astype(np.float32)

    def spoilt(value, other=0.0):
        array = plain.copy()
        array[1, 17], array[2, 3] = value, other
        return array

    for name, gradients, multiplier, found in (
            ("finite", plain, 0.25, False), ("infinity", spoilt(np.inf), 0.25, True),
            ("negative infinity", spoilt(-np.inf), 0.25, True), ("NaN", spoilt(np.nan), 0.25, True),
            ("infinities of both signs", spoilt(np.inf, -np.inf), 0.25, True),
            ("squares overflow", spoilt(1e30), 1.0, False), ("zero", plain * 0, 1.0, False),
            ("largest number", spoilt(3.4e38), 2.0**-24, False),
            ("overflow when unscaled", spoilt(1e35), 2.0**24, True)):
        gradients = gradients.astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = np.sqrt(np.sum(np.square(gradients.astype(np.float64) * multiplier)))
            if expected > 1.8e19:
                expected = np.inf
        got_found, norm = run([gradients, f32(multiplier)],
                              f"%f, %n = train.check %0, %1 : ({type_of(gradients)}, tensor<f32>) -> "
                              "(tensor<i1>, tensor<f32>)", ["%f", "%n"], ["tensor<i1>", "tensor<f32>"])
        problems = []
        if bool(got_found) != found:
            problems.append(f"found_inf is {bool(got_found)}")
        if not found and not (norm == expected or abs(norm - expected) <= 1e-6 * expected):
            problems.append(f"norm {norm} instead of {expected}")
        tally.report(f"check, {name}", problems)
    for norm, bound, expected in ((4.0, 1.0, 1 / (4 + 1e-6)), (0.5, 1.0, 1.0), (np.inf, 1.0, 0.0), (4.0, 0.0, 1.0)):
        got, = run([f32(norm), f32(bound)], "%c = train.clip %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>",
                   ["%c"], ["tensor<f32>"])
        tally.report(f"clip, {norm} to {bound}", [] if abs(got - expected) < 1e-7 else [f"{got} instead of {expected}"])


#===----------------------------------------------------------------------===#
# Optimizers
#===----------------------------------------------------------------------===#


def sgd(state, g, step, settings):
    w, b = state
    g = g + settings["decay"] * w
    b = settings["momentum"] * b + g
    move = g + settings["momentum"] * b if settings["flag"] else b
    return w - settings["rate"] * move, b


def adam(state, g, step, settings):
    w, m, v = state
    if settings["flag"]:
        w = w * (1 - settings["rate"] * settings["decay"])
    else:
        g = g + settings["decay"] * w
    m = settings["beta1"] * m + (1 - settings["beta1"]) * g
    v = settings["beta2"] * v + (1 - settings["beta2"]) * g * g
    root = np.sqrt(v) / np.sqrt(1 - settings["beta2"]**step)
    return w - settings["rate"] / (1 - settings["beta1"]**step) * m / (root + settings["epsilon"]), m, v


def adam_epsilon_hat(state, g, count, settings):
    """ai.onnx.preview.training.Adam: `count` steps were made before."""
    w, m, v = state
    g = g + settings["decay"] * w
    m = settings["beta1"] * m + (1 - settings["beta1"]) * g
    v = settings["beta2"] * v + (1 - settings["beta2"]) * g * g
    rate = settings["rate"]
    if count > 0:
        rate = rate * np.sqrt(1 - settings["beta2"]**count) / (1 - settings["beta1"]**count)
    return w - rate * m / (np.sqrt(v) + settings["epsilon"]), m, v


def adagrad(state, g, step, settings):
    """torch.optim.Adagrad."""
    w, total = state
    g = g + settings["decay"] * w
    total = total + g * g
    rate = settings["rate"] / (1 + (step - 1) * settings["rate_decay"])
    return w - rate * g / (np.sqrt(total) + settings["epsilon"]), total


def check_optimizer(tally: Tally, name: str, model, count: int, settings: dict, operands: list[str],
                    flag: str = "", first: int | None = 1) -> None:
    """Ten steps, of which some are skipped; `first` is the number of the first one that the operation reads."""
    random = np.random.default_rng(1)
    size, scale = 33, 1024.0
    state = [random.normal(size=size).astype(np.float32)] + [np.zeros(size, np.float32)] * (count - 1)
    exact = [part.astype(np.float64) for part in state]
    # What is rounded to f32 before the step is the same number in both.
    exact_settings = {key: float(np.float32(value)) for key, value in settings.items()}
    vector, taken, problems = f"tensor<{size}xf32>", 0, []
    for i in range(10):
        skip = i in (3, 4, 8)
        g = random.normal(size=size).astype(np.float32)
        scaled = g * np.float32(scale)
        if skip:
            scaled[5] = np.inf
        arguments = [*state, scaled, f32(1 / scale), np.array(skip)]
        if first is not None:
            arguments.append(np.array(taken + first, np.int32))
        arguments += [f32(settings[key]) for key in operands]
        types = ", ".join(type_of(a) for a in arguments)
        names = ", ".join(f"%{k}" for k in range(len(arguments)))
        results = [f"%r#{k}" for k in range(count)]
        new = run(arguments, f"%r:{count} = {name} {names} {{{flag}}} : ({types}) -> ({', '.join([vector] * count)})",
                  results, [vector] * count)
        if skip:
            problems += [f"step {i}: a skipped step changed its state"] * any(
                not np.array_equal(a, b) for a, b in zip(new, state))
        else:
            exact = model(exact, g.astype(np.float64), taken + (first or 0), exact_settings)
            taken += 1
            for k, (got, expected) in enumerate(zip(new, exact)):
                error = np.max(np.abs(got - expected)) / np.max(np.abs(expected))
                if not error <= 1e-5:
                    problems.append(f"step {i}: result {k} is {error:.2g} off")
        state = new
    text = ", ".join(f"{key} {value}" for key, value in settings.items())
    tally.report(f"{name} {flag}, {text}", problems)


def main() -> int:
    tally = Tally()
    check_scale(tally)
    check_finite(tally)
    for flag, momentum, decay in ((False, 0.0, 0.0), (False, 0.9, 0.0), (True, 0.9, 1e-2), (False, 0.5, 1e-1)):
        check_optimizer(tally, "train.sgd", sgd, 2, {"flag": flag, "rate": 0.1, "momentum": momentum, "decay": decay},
                        ["rate", "momentum", "decay"], "nesterov" if flag else "", first=None)
    for flag, decay in ((False, 0.0), (False, 1e-2), (True, 0.0), (True, 1e-1)):
        check_optimizer(tally, "train.adam", adam, 3,
                        {"flag": flag, "rate": 1e-2, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "decay": decay},
                        ["rate", "beta1", "beta2", "epsilon", "decay"], "decoupled" if flag else "")
    for first, decay in ((0, 0.0), (1, 0.0), (0, 1e-2)):
        check_optimizer(tally, "train.adam", adam_epsilon_hat, 3,
                        {"flag": True, "rate": 1e-2, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6, "decay": decay},
                        ["rate", "beta1", "beta2", "epsilon", "decay"], "epsilon_hat", first)
    for rate_decay, decay in ((0.0, 0.0), (0.25, 0.0), (0.1, 1e-2)):
        check_optimizer(tally, "train.adagrad", adagrad, 2,
                        {"flag": False, "rate": 1e-2, "rate_decay": rate_decay, "epsilon": 1e-10, "decay": decay},
                        ["rate", "rate_decay", "epsilon", "decay"])
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
