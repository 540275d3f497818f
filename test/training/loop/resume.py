#===- resume.py - runs that end early and go on ---------------------------===#
"""A run that is ended, by a signal, a kill or a lost disk operation, and resumed,
gives the bytes of one that was not."""

import os
import random
import shutil
import signal
import subprocess
import time

import numpy as np

from loop import toy

# Overflowing gradients, a schedule, windows with a remainder: all that has state.
TRAIN = ("train", "--data=d.npz", "--eval-data=d.npz", "--epochs=4", "--lr=0.1", "--schedule=cosine", "--warmup-steps=4",
         "--accumulate=3", "--init-scale=2^20", "--growth-interval=5", "--seed=7", "--checkpoint-dir=c")


def last(folder) -> bytes:
    return (folder / "c" / toy.checkpoints(folder / "c")[-1]).read_bytes()


def fresh(folder, name):
    made = folder / name
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    shutil.copy(folder / "d.npz", made)
    return made


def told(folder) -> list:
    """Steps and epochs of the log; what a later process tells again replaces it."""
    lines = {}
    for kind in ("step", "epoch"):
        for line in toy.events(folder / "l.jsonl", kind):
            lines[kind, line["step"]] = line
    return sorted(lines.items())


def check(tally, folder, programs) -> None:
    program = programs["toy16"]
    np.savez(folder / "d.npz", **dict(zip(("x", "labels"), toy.samples(50))))
    whole = fresh(folder, "whole")
    done = program.run(*TRAIN, "--log=l.jsonl", "--checkpoint-every=2", cwd=whole)
    expected, lines = last(whole), told(whole)
    kept = toy.checkpoints(whole / "c")
    good = done.code == 0 and kept == ["step-00000014.safetensors", "step-00000016.safetensors"]
    tally.report("resume whole", [] if good else [f"exit {done.code}, {kept}: {done.err}"])
    skips = lines[-1][1]["skipped"]
    tally.report("resume has skips", [] if skips > 1 else [str(skips)])

    for steps in range(1, 16):
        for every in ("1", "3", "5"):
            part = fresh(folder, "part")
            words = (*TRAIN, "--log=l.jsonl", f"--checkpoint-every={every}")
            # The schedule of the whole run; a signal to end would come at any time.
            environment = {"LD_PRELOAD": str(folder / "fault.so"), "FAULT_PATH": "l.jsonl", "FAULT_ONLY": "write",
                           "FAULT_KIND": "kill", "FAULT_AT": str(steps + 1)}
            build_fault(folder)
            program.run(*words, cwd=part, environment=environment)
            done = program.run(*words, "--resume", cwd=part)
            good = done.code == 0 and last(part) == expected and told(part) == lines
            tally.report(f"resume killed at line {steps}, every {every}", [] if good else [f"exit {done.code}: {done.err}"])
    for threads in (1, 3):
        part = fresh(folder, "part")
        program.run(*TRAIN, f"--threads={threads}", "--debug-arena", cwd=part)
        tally.report(f"the same bytes with {threads} threads", [] if last(part) == expected else ["others"])
    identity(tally, folder, program)
    kills(tally, folder, program, expected, lines)
    signals(tally, folder, program)


def build_fault(folder) -> str:
    library = folder / "fault.so"
    if not library.exists():
        source = toy.ROOT / "test" / "training" / "loop" / "fault.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return str(library)


def identity(tally, folder, program) -> None:
    """What may change when a run goes on, and what may not."""
    base = fresh(folder, "base")
    program.run(*TRAIN, "--steps=6", cwd=base)
    cases = [
        (("--seed=8",), 2, "--seed was 7 and is 8"), (("--accumulate=2",), 2, "--accumulate was 3 and is 2"),
        (("--last-batch=pad",), 2, "--last-batch=pad was 0 and is 1"), (("--lr=0.2",), 0, "note: the schedule was"),
        (("--steps=6",), 0, "there is nothing left to train"),
    ]
    for words, code, text in cases:
        part = folder / "part"
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(base, part)
        done = program.run(*TRAIN, *words, "--resume", cwd=part)
        tally.report(f"resume with {words[0]}", [] if done.code == code and text in done.err else [done.err])
    np.savez(part / "d.npz", **dict(zip(("x", "labels"), toy.samples(49))))
    done = program.run(*TRAIN, "--resume", cwd=part)
    tally.report("resume other data", [] if done.code == 2 and "samples in the data was 50" in done.err else [done.err])
    # Without --seed, the checkpoint's goes on; without --resume, a used folder is refused.
    unseeded = [word for word in TRAIN if not word.startswith("--seed")]
    shutil.copy(base / "d.npz", part)
    done = program.run(*unseeded, "--resume", cwd=part)
    tally.report("resume takes the seed", [] if done.code == 0 else [done.err])
    done = program.run(*TRAIN, cwd=part)
    tally.report("used folder", [] if done.code == 2 and "holds checkpoints of another run" in done.err else [done.err])
    new = fresh(folder, "new")
    done = program.run(*TRAIN, "--resume", cwd=new)
    tally.report("resume from nothing", [] if done.code == 0 else [done.err])


def kills(tally, folder, program, expected, lines) -> None:
    """SIGKILL at random times, again and again, until a process gets to the end."""
    generator = random.Random(1)
    part = fresh(folder, "killed")
    words = (*TRAIN, "--log=l.jsonl", "--checkpoint-every=1", "--resume")
    killed = 0
    for _ in range(15):
        process = program.start(*words, cwd=part)
        time.sleep(generator.uniform(0.001, 0.03))
        process.kill()
        killed += process.wait() != 0
        process.stderr.close()
    done = program.run(*words, cwd=part)
    good = done.code == 0 and last(part) == expected and told(part) == lines and killed
    tally.report("resume after 15 kills", [] if good else [f"exit {done.code}, {killed} killed: {done.err}"])
    left = [path.name for path in (part / "c").iterdir() if ".tmp" in path.name]
    tally.report("nothing unfinished is left", left)


def signals(tally, folder, program) -> None:
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        part = fresh(folder, "signalled")
        words = [word for word in TRAIN if not word.startswith("--epochs")]
        process = program.start(*words, "--steps=100000000", "--log=l.jsonl", cwd=part)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not ((part / "l.jsonl").exists() and len(
                (part / "l.jsonl").read_text().splitlines()) > 50):
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        log = toy.read_log(part / "l.jsonl")
        step = log[-1]["step"]
        good = (process.returncode == code and log[-1]["event"] == "end" and log[-1]["reason"] == "signal"
                and toy.checkpoints(part / "c")[-1] == f"step-{step:08}.safetensors")
        tally.report(f"signal {number}", [] if good else [f"exit {process.returncode}: {err}"])
        done = program.run(*words, f"--steps={step + 3}", "--resume", cwd=part)
        tally.report(f"resume after signal {number}", [] if done.code == 0 and f"step {step + 3}/" in done.out else [done.err])
    interrupted_evaluation(tally, folder, program)
    # A folder is for one process at a time.
    part = fresh(folder, "shared")
    process = program.start(*words, "--steps=100000000", cwd=part)
    while not (part / "c").exists():
        time.sleep(0.01)
    time.sleep(0.05)
    done = program.run(*TRAIN, "--resume", cwd=part)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    tally.report("folder in use", [] if done.code == 5 and "another process trains" in done.err else [done.err])


def interrupted_evaluation(tally, folder, program) -> None:
    """Ended in an evaluation, a run evaluates again, and tells of the epoch once."""
    part = fresh(folder, "evaluated")
    np.savez(part / "large.npz", **dict(zip(("x", "labels"), toy.samples(2_000_000))))
    words = ("train", "--data=d.npz", "--eval-data=large.npz", "--epochs=1", "--lr=0.1", "--checkpoint-dir=c", "--log=l.jsonl")
    process = program.start(*words, cwd=part)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not ((part / "l.jsonl").exists() and '"step": 12,' in (part / "l.jsonl").read_text()):
        time.sleep(0.001)
    process.terminate()
    _, err = process.communicate(timeout=30)
    epochs = toy.events(part / "l.jsonl", "epoch")
    tally.report("signal in an evaluation", [] if process.returncode == 143 and not epochs
                 and toy.checkpoints(part / "c") == ["step-00000012.safetensors"] else [f"exit {process.returncode}: {err}"])
    for count in (1, 1):
        done = program.run(*words, "--resume", cwd=part)
        epochs = toy.events(part / "l.jsonl", "epoch")
        good = done.code == 0 and len(epochs) == count and epochs[0]["loss"] is not None
        tally.report("resume in an evaluation", [] if good else [f"{epochs}: {done.err}"])
