#===- faults.py - disks and files that fail -------------------------------===#
"""Each operation of writing a checkpoint is killed, torn or refused; checkpoints are
flipped and cut. Always there is one that is whole, and the run goes on from it as
if nothing had been."""

import os
import random
import shutil

import numpy as np

from loop import resume, toy
from loop.resume import TRAIN, fresh, last

WORDS = (*TRAIN, "--checkpoint-every=5")


def check(tally, folder, programs) -> None:
    program = programs["toy16"]
    np.savez(folder / "d.npz", **dict(zip(("x", "labels"), toy.samples(50))))
    whole = fresh(folder, "whole")
    environment = {"LD_PRELOAD": resume.build_fault(folder), "FAULT_PATH": "/c"}
    counted = environment | {"FAULT_COUNT": str(folder / "count")}
    words = [word.replace("--checkpoint-dir=c", f"--checkpoint-dir={whole / 'c'}") for word in WORDS]
    program.run(*words, cwd=whole, environment=counted)
    count, expected = int((folder / "count").read_text()), last(whole)
    tally.report("faults found", [] if count > 15 else [f"{count} operations"])

    def attempt(name: str, code: int, settings: dict) -> None:
        part = fresh(folder, "part")
        words = [word.replace("--checkpoint-dir=c", f"--checkpoint-dir={part / 'c'}") for word in WORDS]
        first = program.run(*words, cwd=part, environment=environment | settings)
        problems = [] if first.code == code else [f"exit {first.code}: {first.err}"]
        if code == 5 and "c/step-" not in first.err:
            problems.append(f"no path: {first.err}")
        left = [path.name for path in (part / "c").iterdir() if ".tmp" in path.name] if code == 5 else []
        problems += [f"left {name}" for name in left if settings.get("FAULT_ONLY") != "unlink"]
        second = program.run(*words, "--resume", cwd=part)
        if second.code or last(part) != expected:
            problems.append(f"resume: exit {second.code}: {second.err}")
        tally.report(f"faults {name}", problems)

    for at in range(1, count + 1):
        for kind in ("kill", "tear"):
            attempt(f"{kind} at {at}", -9, {"FAULT_KIND": kind, "FAULT_AT": str(at)})
    for at in range(1, 13):
        attempt(f"full disk at {at}", 5, {"FAULT_KIND": "ENOSPC", "FAULT_ONLY": "write", "FAULT_AT": str(1 + at % 4)}
                if at > 8 else {"FAULT_KIND": "ENOSPC", "FAULT_AT": str(at)})
    for at in range(1, 7):
        attempt(f"failed sync {at}", 5, {"FAULT_KIND": "EIO", "FAULT_ONLY": "fsync", "FAULT_AT": str(at)})
    for only in ("open", "rename", "unlink"):
        attempt(f"refused {only}", 5, {"FAULT_KIND": "EIO", "FAULT_ONLY": only, "FAULT_AT": "1"})
    read_only(tally, folder, program)
    damage(tally, folder, program, expected)
    foreign(tally, folder, programs)


def read_only(tally, folder, program) -> None:
    part = fresh(folder, "part")
    (part / "c").write_text("a file")
    done = program.run(*WORDS, cwd=part)
    tally.report("faults folder is a file", [] if done.code == 5 else [f"exit {done.code}: {done.err}"])
    done = program.run(*WORDS, "--checkpoint-dir=/proc/self/c", cwd=part)
    tally.report("faults folder cannot be made", [] if done.code == 5 else [f"exit {done.code}: {done.err}"])
    if os.geteuid():  # to root, no folder is read-only
        (part / "r").mkdir(mode=0o500)
        done = program.run(*WORDS, "--checkpoint-dir=r", cwd=part)
        tally.report("faults read-only folder", [] if done.code == 5 else [f"exit {done.code}: {done.err}"])


def damage(tally, folder, program, expected) -> None:
    """Of two checkpoints the newer is damaged: the older is taken, with a note."""
    base = fresh(folder, "base")
    program.run(*WORDS, "--steps=10", cwd=base)
    older, newer = toy.checkpoints(base / "c")
    data = (base / "c" / newer).read_bytes()
    generator = random.Random(2)

    def attempt(name: str, damaged: bytes, second: bytes | None = None) -> None:
        part = folder / "part"
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(base, part)
        (part / "c" / newer).write_bytes(damaged)
        if second is not None:
            (part / "c" / older).write_bytes(second)
        done = program.run(*WORDS, "--resume", cwd=part)
        if second is not None:
            good = done.code == 10 and "none of 2 checkpoints is usable" in done.err
        else:
            good = done.code == 0 and last(part) == expected and f"note: c/{newer}: unusable checkpoint" in done.err
        tally.report(f"damage {name}", [] if good else [f"exit {done.code}: {done.err}"])

    header = int.from_bytes(data[:8], "little") + 8
    places = [*range(0, 16), *(generator.randrange(16, header) for _ in range(60)),
              *(generator.randrange(header, len(data)) for _ in range(120)), *range(len(data) - 4, len(data))]
    for place in places:
        flipped = bytearray(data)
        flipped[place] ^= 1 << generator.randrange(8)
        attempt(f"bit at {place}", bytes(flipped))
    for cut in [0, 1, 7, 8, 9, header - 1, header, header + 1, len(data) - 1,
                *(generator.randrange(len(data)) for _ in range(50))]:
        attempt(f"cut at {cut}", data[:cut])
    for extra in (b"\0", b"\0" * 4096, data):
        attempt(f"{len(extra)} bytes more", data + extra)
    attempt("both", data[:100], data[:-1])


def foreign(tally, folder, programs) -> None:
    """A checkpoint of another program is refused, not passed over."""
    part = fresh(folder, "part")
    programs["other"].run(*WORDS, "--steps=4", cwd=part)
    done = programs["toy"].run(*WORDS, "--resume", cwd=part)
    tally.report("foreign resume", [] if done.code == 10 and "of another program ('toy')" in done.err else [done.err])
    checkpoint = part / "c" / toy.checkpoints(part / "c")[-1]
    for words in (("eval", "--data=d.npz"), ("run", "--input=x=1")):
        done = programs["toy"].run(*words, f"--checkpoint={checkpoint}", cwd=part)
        tally.report(f"foreign {words[0]}", [] if done.code == 10 else [f"exit {done.code}: {done.err}"])
    # The f16 variant has the same states, so that a run may change its precision.
    part = fresh(folder, "part")
    programs["toy16"].run(*WORDS, "--steps=4", cwd=part)
    done = programs["toy"].run(*WORDS, "--resume", cwd=part)
    tally.report("other precision", [] if done.code == 0 else [done.err])
    (part / "c" / "step-99999999.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    done = programs["toy"].run("eval", "--data=d.npz", "--checkpoint=c/step-99999999.safetensors", cwd=part)
    tally.report("no checkpoint", [] if done.code == 10 and "expected a checkpoint" in done.err else [done.err])
