#===- logs.py - what a run tells ------------------------------------------===#
"""Lines on the terminal, JSON lines, TensorBoard events; the last are read by a
reader of their own, with their checksums."""

import os
import pty
import re
import struct
import subprocess

import numpy as np

from loop import toy
from loop.reference import crc32c

TRAIN = ("train", "--data=d.npz", "--eval-data=e.npz", "--epochs=2", "--lr=0.1", "--accumulate=2", "--grad-stats=2",
         "--clip-norm=1")
REAL, WHOLE, TEXT, FLAG = (float, int), int, str, bool
SCHEMA = {
    "config": {"program": TEXT, "producer": TEXT, "data": TEXT, "samples": WHOLE, "batch": WHOLE, "accumulate": WHOLE,
               "last_batch": TEXT, "epochs": WHOLE, "steps": WHOLE, "first_step": WHOLE, "seed": WHOLE, "schedule": TEXT,
               "warmup_steps": WHOLE, "loss_scaling": TEXT, "learning_rate": REAL, "weight_decay": REAL, "max_norm": REAL,
               "max_value": REAL, "growth_factor": REAL, "backoff_factor": REAL, "growth_interval": WHOLE,
               "scale_floor": REAL, "scaler": WHOLE, "momentum": REAL},
    "step": {"step": WHOLE, "epoch": WHOLE, "loss": REAL, "weight": REAL, "accuracy": REAL, "norm": REAL, "lr": REAL,
             "scale": REAL, "next_scale": REAL, "growth_tracker": WHOLE, "found_inf": FLAG, "taken": WHOLE,
             "skipped": WHOLE, "samples": WHOLE, "ms": REAL, "data_ms": REAL},
    "epoch": {"epoch": WHOLE, "step": WHOLE, "loss": REAL, "accuracy": REAL, "eval_loss": REAL, "eval_accuracy": REAL,
              "seconds": REAL},
    "checkpoint": {"step": WHOLE, "path": TEXT, "ms": REAL},
    "end": {"step": WHOLE, "reason": TEXT, "seconds": REAL},
}
NUMBER = r"-?\d+(\.\d+)?(e[-+]\d+)?"
STEP_LINE = re.compile(rf"step \d+/\d+ \| loss {NUMBER} \| norm {NUMBER} \| lr \d\.\de[-+]\d\d \| scale {NUMBER} \| "
                       rf"skipped \d+ \| \d+\.\d ms \| {NUMBER}[kM]? samples/s")
EPOCH_LINE = re.compile(rf"epoch \d/2 \| loss {NUMBER} \| accuracy {NUMBER} \| eval loss {NUMBER} \| "
                        rf"eval accuracy {NUMBER} \| \d+\.\d s")


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def fields(data: bytes):
    """(number, value) of each field of a protobuf message."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            value = varint()
        elif key & 7 == 2:
            length = varint()
            value, at = data[at:at + length], at + length
        else:
            size, form = {1: (8, "<d"), 5: (4, "<f")}[key & 7]
            value, at = struct.unpack_from(form, data, at)[0], at + size
        yield key >> 3, value


def read_events(data: bytes) -> list[tuple[int, dict[str, float]]]:
    """(step, scalars) of each event after the first, which has the version."""
    at, events = 0, []
    while at < len(data):
        length, crc = struct.unpack_from("<QI", data, at)
        assert crc == masked(data[at:at + 8]), "checksum of a length"
        body = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(body), "checksum of an event"
        at += 16 + length
        event = dict(fields(body))
        assert 1.7e9 < event[1] < 1e10, "wall time"
        if not events:
            assert event[3] == b"brain.Event:2", "version"
        scalars = {}
        for number, value in fields(event.get(5, b"")):
            value = dict(fields(value))
            scalars[value[1].decode()] = value[2]
        events.append((event.get(2, 0), scalars))
    return events[1:]


def check(tally, folder, programs) -> None:
    program = programs["toy"]
    np.savez(folder / "d.npz", **dict(zip(("x", "labels"), toy.samples(44))))
    np.savez(folder / "e.npz", **dict(zip(("x", "labels"), toy.samples(10, seed=5))))
    done = program.run(*TRAIN, "--log=l.jsonl", "--tensorboard=tb", "--checkpoint-dir=c", cwd=folder)
    tally.report("logs run", [] if done.code == 0 else [done.err])
    lines = done.out.splitlines()
    wanted = [STEP_LINE] * 6 + [EPOCH_LINE] + [STEP_LINE] * 6 + [EPOCH_LINE]
    tally.report("logs lines", [] if len(lines) == 14 and all(map(re.fullmatch, wanted, lines)) else [done.out])
    tally.report("logs no bar in a pipe", [done.err] if done.err else [])
    schema(tally, folder)
    tensorboard(tally, folder)
    appended(tally, folder, program)
    terminal(tally, folder, program)
    code = program.run(*TRAIN, "--log=/dev/full", cwd=folder).code
    tally.report("logs full disk", [] if code == 5 else [f"exit {code}"])
    for option in ("--log=none/l.jsonl", "--tensorboard=none/tb"):
        done = program.run(*TRAIN, option, cwd=folder)
        tally.report(f"logs {option}", [] if done.code == 5 and "none/" in done.err else [done.err])


def schema(tally, folder) -> None:
    log = toy.read_log(folder / "l.jsonl")
    order = [line["event"] for line in log]
    steps = ["step"] * 6 + ["epoch", "checkpoint"]
    tally.report("json order", [] if order == ["config", *steps, *steps, "end"] else [str(order)])
    problems = []
    for line in log:
        wanted = dict(SCHEMA[line.pop("event")])
        stats = line.pop("grad_stats", None)
        if (stats is not None) != ("lr" in line and line["step"] % 2 == 0):
            problems.append(f"statistics of step {line['step']}")
        for stat in stats or ():
            if stat.keys() != {"name", "mean_abs", "zero_share", "norm"}:
                problems.append(str(stat))
        if line.keys() != wanted.keys():
            problems.append(f"keys {line.keys() ^ wanted.keys()}")
        problems += [f"{key}: {line[key]}" for key, kind in wanted.items() if key in line and not isinstance(line[key], kind)]
    tally.report("json schema", problems)
    # The norm of all gradients is that of each parameter's together.
    for line in toy.events(folder / "l.jsonl"):
        if "grad_stats" in line:
            norm = sum(stat["norm"]**2 for stat in line["grad_stats"])**0.5
            tally.report(f"json norms {line['step']}", [] if abs(norm - line["norm"]) < 1e-4 else [f"{norm}"])


def tensorboard(tally, folder) -> None:
    files = list((folder / "tb").iterdir())
    tally.report("events file", [] if len(files) == 1 and ".tfevents." in files[0].name else [str(files)])
    try:
        got = read_events(files[0].read_bytes())
    except (AssertionError, KeyError, struct.error, IndexError) as error:
        tally.report("events", [repr(error)])
        return
    steps = {step: scalars for step, scalars in got if "train/loss" in scalars}
    epochs = {step: scalars for step, scalars in got if "eval/loss" in scalars}
    names = {"loss": "train/loss", "accuracy": "train/accuracy", "norm": "train/norm", "lr": "train/lr",
             "scale": "train/scale", "skipped": "train/skipped"}
    problems = []
    for line in toy.events(folder / "l.jsonl"):
        scalars = dict(steps.get(line["step"], {}))
        wanted = {tag: line[key] for key, tag in names.items()}
        for stat in line.get("grad_stats", ()):
            wanted |= {f"gradients/{stat['name']}/{key}": stat[key] for key in ("mean_abs", "zero_share", "norm")}
        if scalars.keys() != wanted.keys() or any(abs(scalars[tag] - value) > 1e-6 * abs(value) + 1e-30
                                                  for tag, value in wanted.items()):
            problems.append(f"step {line['step']}: {scalars}, expected {wanted}")
    for line in toy.events(folder / "l.jsonl", "epoch"):
        if abs(epochs.get(line["step"], {}).get("eval/loss", 0) - line["eval_loss"]) > 1e-6:
            problems.append(f"epoch {line['epoch']}")
    tally.report("events numbers", problems)


def appended(tally, folder, program) -> None:
    """A second run is written behind the first, also behind half a line of it."""
    log = folder / "l.jsonl"
    before = log.read_bytes()[:-7]
    log.write_bytes(before)
    program.run(*TRAIN, "--log=l.jsonl", cwd=folder)
    after = log.read_bytes()
    good = after.startswith(before + b"\n{\"event\": \"config\"") and after.endswith(b"}\n")
    tally.report("json appended", [] if good else [after[len(before):len(before) + 40].decode()])


def terminal(tally, folder, program) -> None:
    """On a terminal there is a bar beside the lines; --quiet has neither."""
    for words, bars in (((), True), (("--quiet",), False)):
        main, other = pty.openpty()
        done = subprocess.run([str(program.path), *TRAIN, *words], cwd=folder, stdout=subprocess.PIPE, stderr=other)
        os.close(other)
        shown = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        os.close(main)
        good = done.returncode == 0 and (b"12/12, 0 s left" in shown) == bars and bool(shown) == bars
        tally.report(f"bar {' '.join(words)}", [] if good else [shown.decode()])
